package main

import (
	"fmt"
	"strings"

	"infill/infill"
)

// energiesOf writes the parts of a filling's score, the model's first.
func energiesOf(f *infill.Filling, terms []infill.Weighted) string {
	names := []string{infill.ModelEnergy}
	for _, t := range terms {
		names = append(names, t.Term.Name())
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %.2f", n, f.Energies[n])
	}
	return "(" + strings.Join(names, ", ") + ")"
}
