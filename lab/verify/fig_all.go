package verify

import (
	"context"
	"fmt"
	"io"

	"infill/lab/compare"
	"infill/lab/internal/kernels"
)

// figAll runs every sampler on one target of each kind but peaks, which section 7 has.
func figAll(ctx context.Context, w io.Writer, e *env) error {
	fmt.Fprint(w, text("all"))
	var entries []compare.Entry
	for _, name := range kernels.Names() {
		entry, err := compare.ParseEntry(name)
		if err != nil {
			return err
		}
		entries = append(entries, entry)
	}
	for _, name := range []string{"bernoulli", "categorical", "ising", "potts", "rbm:d=12,h=4",
		"fhmm:length=10,chains=2", "gaussbern", "logreg", "modes"} {
		p, err := compare.ParseProblem(name)
		if err != nil {
			return err
		}
		r, err := compare.Compare(ctx, p, entries, compare.Config{Chains: 8, Steps: 4000, Burnin: 500,
			Seed: e.seed})
		if err != nil {
			return err
		}
		file := "compare-" + firstWord(name) + ".svg"
		if err := e.svg(file, func(w io.Writer) error { return r.WriteSVG(w, false) }); err != nil {
			return err
		}
		fmt.Fprintf(w, "\n### %s\n\n%d chains × %d steps after %d of burn-in, truth by %s.\n\n", p.Name,
			r.Config.Chains, r.Config.Steps, r.Config.Burnin, p.Source)
		if err := r.WriteMarkdown(w); err != nil {
			return err
		}
		fmt.Fprintf(w, "\n![%s](verification/%s)\n", firstWord(name), file)
	}
	return nil
}

func firstWord(spec string) string {
	for i, c := range spec {
		if c == ':' {
			return spec[:i]
		}
	}
	return spec
}
