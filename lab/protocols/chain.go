package protocols

import (
	"infill/infill"
	"infill/mlm"
)

// remembered bounds the memory for what the model said in the runs of a chain, in bytes: enough for
// the 2,600 gradients that BERT-base is asked for in the longest ones here.
const remembered = 1 << 30

// A chain makes the runs that differ in their budget alone. The longer ones of them are the shorter
// ones with more steps, so what the model said in one is not computed again in the next.
type chain struct {
	model  *mlm.Model
	key    key // of its runs, without a budget
	engine *infill.Engine
	made   []record // its runs, in the order in which they were made
}

// of is the engine for a run. It remembers nothing of other chains.
func (c *chain) of(k key) *infill.Engine {
	if k.Budget = ""; c.engine == nil || k != c.key {
		c.key, c.engine, c.made = k, infill.New(c.model).WithMemo(remembered), nil
	}
	return c.engine
}

// add notes a run. To its seconds come those of the evaluations that an earlier one has saved it.
func (c *chain) add(r *record) {
	saved, most := 0.0, 0
	for _, before := range c.made {
		if n := min(before.Evals, r.Evals); n > most {
			saved, most = before.Seconds*float64(n)/float64(before.Evals), n
		}
	}
	r.Seconds += saved
	c.made = append(c.made, *r)
}
