package text_test

import (
	"fmt"
	"log"
	"os"

	"infill/infill/text"
	"infill/tokenize"
)

// A blank says in the text what may fill it.
func ExampleParse() {
	tok, err := tokenize.Load(os.DirFS("../../tokenize/testdata/uncased"))
	if err != nil {
		log.Fatal(err)
	}
	t, err := text.Parse(tok, "The [MASK|red|light blue] car is [MASK*1-3], it is ___.")
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range t.Blanks {
		fmt.Printf("%s: %d to %d tokens, words %q\n", t.Text[b.Start:b.End], b.Min, b.Max, b.Words)
	}
	// Output:
	// [MASK|red|light blue]: 1 to 1 tokens, words ["red" "light blue"]
	// [MASK*1-3]: 1 to 3 tokens, words []
	// ___: 1 to 1 tokens, words []
}

// Words of a complete sentence become blanks.
func ExampleMasking_Template() {
	tok, err := tokenize.Load(os.DirFS("../../tokenize/testdata/uncased"))
	if err != nil {
		log.Fatal(err)
	}
	m := text.Masking{Words: 2}
	t, taken, err := m.Template(tok, "My old friend went home by train.", 1, "")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Text)
	fmt.Println(taken)
	// Output:
	// My [MASK] friend [MASK] home by train.
	// [old went]
}
