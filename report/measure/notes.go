package measure

import (
	"fmt"
	"math"

	"infill/infill"
	"infill/internal/count"
)

// maxApart is by how many percent of the smaller one budgets may differ that count as equal.
// Samplers end with whole steps, so small budgets differ by more for that alone.
const maxApart = 2

// notes are the remarks on comparability. It finds out whether the budgets are
// unequal. gold is the number of sources whose original is known, refs that of the
// Reference files.
func (c *Comparison) notes(out *CompareResult, gold, refs int) []string {
	notes := []string{c.fillingsNote(out)}
	if s := c.budgetNote(out); s != "" {
		notes = append(notes, s)
	}
	switch unknown := len(c.Sources) - gold; {
	case refs == 0:
		notes = append(notes,
			"no references were given: columns against references and corpus BLEU are missing")
	case unknown > 0:
		notes = append(notes, fmt.Sprintf("the original of %d of %d sentences is unknown; "+
			"if the references hold it, corpus BLEU is too high", unknown, len(c.Sources)))
	}
	return append(notes, c.Notes...)
}

// fillingsNote says how many fillings count, and whether they are equally many.
func (c *Comparison) fillingsNote(out *CompareResult) string {
	first := -1
	for _, run := range c.Samplers {
		n := 0
		for _, s := range run.Sentences {
			n += min(len(s.Fillings), out.Top)
		}
		switch {
		case first < 0:
			first = n
		case n != first:
			return "the samplers have different numbers of fillings; self-BLEU and unique n-grams " +
				"depend on the number, so their columns are not comparable"
		}
	}
	few := ""
	if first < len(c.Sources)*out.Top {
		few = " at most" // chains can end alike
	}
	return fmt.Sprintf("%d sentence%s, the best %d filling%s of each%s: N = %d sentence%s per sampler",
		len(c.Sources), count.S(len(c.Sources)), out.Top, count.S(out.Top), few, first, count.S(first))
}

// budgetNote says by how much the samplers miss equal budgets; "" if that is not
// known.
func (c *Comparison) budgetNote(out *CompareResult) string {
	unit := c.Budget
	if unit == infill.BudgetSteps {
		unit = infill.BudgetEvaluations
	}
	name := unit.Names()[unit]
	least, most := math.Inf(1), 0.0
	for _, row := range out.Rows {
		m, _ := row.Get(name)
		least, most = min(least, m.Value), max(most, m.Value)
	}
	between := fmt.Sprintf("%s to %s", decimal(least, 0), decimal(most, 0))
	switch {
	case !(least > 0) || len(c.Samplers) < 2:
		return ""
	case c.Budget == infill.BudgetSteps:
		return "equal numbers of steps, not of model evaluations: " + between
	case 100*(most-least) > maxApart*least:
		out.Unequal = true
		return fmt.Sprintf("unequal budgets: %s model %s, which is more than %d %% apart; sampling goes "+
			"on in whole steps, at least one and at most twenty times as many as were asked for", between,
			name, maxApart)
	}
	return fmt.Sprintf("equal budgets: %s model %s, which is at most %d %% apart; sampling ends with "+
		"the step that comes nearest", between, name, maxApart)
}
