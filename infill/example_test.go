package infill_test

import (
	"context"
	"fmt"
	"log"

	"infill/infill"
	"infill/infill/open"
)

// A model of the program fills a sentence.
func Example() {
	e, err := open.Engine("small")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	r, err := e.FillText(context.Background(), "She opened the [MASK] and walked in.", infill.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Fillings[0].Text)
	// Output: She opened the door and walked in.
}
