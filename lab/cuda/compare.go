package cuda

import (
	"bufio"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"infill/mlm"
)

// difference is how far the rows of a file's masked pieces are from those of the processor.
type difference struct {
	What      string  `json:"what"`
	Device    string  `json:"device"`
	Precision string  `json:"precision"`
	File      string  `json:"file"`
	Rows      int     `json:"rows"`
	Most      float64 `json:"most_nats"` // of log f of the piece that was there
	Mean      float64 `json:"mean_nats"`
	KL        float64 `json:"kl_mean"` // nats, from the processor's row
	KLMost    float64 `json:"kl_most"`
	Same      float64 `json:"same_top1"` // share of rows with the same most likely piece
	Top1      float64 `json:"top1"`      // share with the piece that was there
	CPUTop1   float64 `json:"cpu_top1"`
}

// compare masks one piece of each sentence.
func (o *options) compare(ctx context.Context, file string, cpu, other *mlm.Model) (*difference,
	error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	d := &difference{What: "scores", File: file}
	lines := bufio.NewScanner(f)
	for n := 0; n < o.lines && lines.Scan(); {
		enc, err := cpu.Tokenizer().Encode(lines.Text())
		if err != nil || enc.Len() < 6 || enc.Len() > 100 {
			continue
		}
		n++
		rng := rand.New(rand.NewPCG(o.seed, uint64(n)))
		at := 1 + rng.IntN(enc.Len()-2)
		s := &mlm.Sentence{IDs: enc.IDs, Blanks: []int{at}}
		gold := enc.IDs[at]
		rows := [2][]float32{make([]float32, cpu.VocabSize()), make([]float32, cpu.VocabSize())}
		for k, m := range []*mlm.Model{cpu, other} {
			if err := m.Conditional(ctx, s, [][]int32{{gold}}, []int{0}, [][]float32{rows[k]}); err != nil {
				return nil, err
			}
		}
		d.add(rows[0], rows[1], int(gold))
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	n := float64(max(d.Rows, 1))
	d.Mean, d.KL, d.Same, d.Top1, d.CPUTop1 = d.Mean/n, d.KL/n, d.Same/n, d.Top1/n, d.CPUTop1/n
	return d, nil
}

func (d *difference) add(want, got []float32, gold int) {
	d.Rows++
	off := math.Abs(float64(want[gold] - got[gold]))
	d.Most, d.Mean = max(d.Most, off), d.Mean+off
	kl := 0.0
	for i, w := range want {
		kl += math.Exp(float64(w)) * float64(w-got[i])
	}
	d.KL, d.KLMost = d.KL+kl, max(d.KLMost, kl)
	top := func(row []float32) int { return slices.Index(row, slices.Max(row)) }
	a, b := top(want), top(got)
	for share, is := range map[*float64]bool{&d.Same: a == b, &d.Top1: b == gold,
		&d.CPUTop1: a == gold} {
		if is {
			*share++
		}
	}
}
