package report

import (
	"fmt"
	"strings"

	"infill/internal/count"
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
	or := func(s, d string) string {
		if s == "" {
			return d
		}
		return s
	}
	order := p.Order
	if order == 0 {
		order = 4
	}
	parts := []string{
		fmt.Sprintf("tokens %s, case %s", or(gen.Tokenizer, "ws"), or(gen.Case, "lc")),
		fmt.Sprintf("cleaning: references %s, generated %s",
			or(ref.Clean, "none"), or(gen.Clean, "none")),
		fmt.Sprintf("BLEU-%d, smoothing %s, denominator %s", order, or(p.Smoothing, "none"),
			or(p.Denominator, "nltk")),
		"self-BLEU " + or(p.SelfBLEU, "corpus"),
	}
	if p.EffectiveOrder {
		parts[2] += ", effective order"
	}
	if p.SelfBLEU == "first" {
		parts[3] += fmt.Sprintf(" %d", p.First)
	}
	if b := p.bleu.Bootstrap; b != nil {
		n, level := b.Resamples, b.Level
		if n == 0 {
			n = 1000
		}
		if level == 0 {
			level = 0.95
		}
		parts = append(parts, fmt.Sprintf("intervals of level %g from %d resamples", level, n))
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
