package infill_test

import (
	"context"
	"fmt"
	"log"

	"infill/infill"
	"infill/infill/open"
)

// brevity is a part of an energy: minus the number of bytes that are filled in.
type brevity struct{}

func (brevity) Name() string { return "brevity" }
func (brevity) Rows() int    { return 0 } // it asks no network

func (brevity) Values(_ context.Context, texts []infill.Finished, v []float64) error {
	for k, t := range texts {
		v[k] = 0
		for _, s := range t.Spans {
			v[k] -= float64(s[1] - s[0])
		}
	}
	return nil
}

// A part of one's own makes short words likelier, by three nats a letter.
func ExampleTerm() {
	ctx := context.Background()
	e, err := open.Engine("small")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	short := infill.Weighted{Term: brevity{}, Weight: 3}
	for _, terms := range [][]infill.Weighted{nil, {short}} {
		r, err := e.FillText(ctx, "He sat down on the [MASK].",
			infill.Options{Results: infill.ResultOptions{Top: 1}, Words: infill.WordOptions{Terms: terms}})
		if err != nil {
			log.Fatal(err)
		}
		best := r.Fillings[0]
		fmt.Printf("%.2f %s (%.0f for brevity)\n", best.Score, best.Text, best.Energies["brevity"])
	}
	// Output:
	// -1.56 He sat down on the table. (0 for brevity)
	// -11.61 He sat down on the bed. (-9 for brevity)
}
