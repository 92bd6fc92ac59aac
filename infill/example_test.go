package infill_test

import (
	"context"
	"fmt"
	"log"

	"infill/infill"
	"infill/mlm"
	"infill/models"
)

// The default model fills a sentence; the same seed gives the same fillings.
func Example() {
	ctx := context.Background()
	m, err := mlm.Open(ctx, models.Default(), mlm.Options{Threads: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	t, err := infill.Parse(m.Tokenizer(), "She opened the [MASK] and walked in.")
	if err != nil {
		log.Fatal(err)
	}
	r, err := infill.New(m).Fill(ctx, t, infill.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Fillings[0].Text)
	// Output: She opened the door and walked in.
}
