package report

import (
	"cmp"
	"fmt"
	"strings"

	"infill/internal/count"
	"infill/metrics/bleu"
)

// facts are the lines under the title.
func (r *CompareResult) facts() [][2]string {
	out := given([][2]string{
		{"protocol", r.Protocol}, {"model", r.Model}, {"second model", r.Second}, {"command", r.Command},
		{"version", r.Version}, {"date", r.Date}, {"settings", r.Settings},
	})
	return append(out, [2]string{"seed", uintString(r.Seed)})
}

// facts are the lines under the title.
func (r *EvalResult) facts() [][2]string {
	var out [][2]string
	for _, f := range r.Files {
		n := fmt.Sprintf("%s sentences (%s)", decimal(float64(f.N), 0), f.Format)
		out = append(out, [2]string{f.Name, n})
	}
	return append(out, given([][2]string{
		{"command", r.Command}, {"version", r.Version}, {"date", r.Date}, {"settings", r.Settings},
		{"seed", uintString(r.Seed)},
	})...)
}

// given are the facts that have a value.
func given(facts [][2]string) [][2]string {
	var out [][2]string
	for _, f := range facts {
		if f[1] != "" {
			out = append(out, f)
		}
	}
	return out
}

// settings says in words how sentences are measured.
func (p *plan) settings() string {
	gen, ref := p.generated.Options(), p.reference.Options()
	parts := []string{
		fmt.Sprintf("tokens %s, case %s", gen.Tokenizer, gen.Case),
		fmt.Sprintf("cleaning: references %s, generated %s", ref.Clean, gen.Clean),
		fmt.Sprintf("BLEU-%d, smoothing %s, denominator %s",
			cmp.Or(p.Order, len(p.Weights), bleu.DefaultOrder),
			cmp.Or(p.Smoothing, bleu.DefaultSmoothing), cmp.Or(p.Denominator, string(bleu.NLTK))),
		"self-BLEU " + cmp.Or(p.SelfBLEU, "corpus"),
	}
	if p.EffectiveOrder {
		parts[2] += ", effective order"
	}
	if p.SelfBLEU == "first" {
		parts[3] += fmt.Sprintf(" %d", p.First)
	}
	if b := p.bleu.Confidence; b != nil {
		parts = append(parts, fmt.Sprintf(
			"intervals of level %g, from %d resamples of whole sources, or a jackknife over them",
			cmp.Or(b.Level, bleu.DefaultLevel), cmp.Or(b.Resamples, bleu.DefaultResamples)))
	}
	if n := len(p.excluded); n > 0 {
		parts = append(parts, fmt.Sprintf("excluded from the references: %d", n))
	}
	return strings.Join(parts, "; ")
}

// read says in words which sentences of the files count; "" for all of them.
func (o EvalOptions) read() string {
	var parts []string
	if o.Top > 0 {
		parts = append(parts, fmt.Sprintf("the best %d filling%s of each record", o.Top,
			count.S(o.Top)))
	}
	if o.Sample > 0 {
		parts = append(parts, fmt.Sprintf("samples of %d sentence%s", o.Sample,
			count.S(o.Sample)))
	}
	if o.Paired {
		parts = append(parts, "paired line by line")
	}
	return strings.Join(parts, "; ")
}
