package verify

import (
	"embed"
	"fmt"
)

// The texts between the tables, as formats for fmt.Sprintf.
//
//go:embed text/*.txt
var texts embed.FS

// text returns a text with its numbers. The files are part of the program, so a
// name that does not exist is a mistake in it.
func text(name string, numbers ...any) string {
	format := must(texts.ReadFile("text/" + name + ".txt"))
	return fmt.Sprintf(string(format), numbers...)
}
