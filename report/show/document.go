// Package show writes what package measure found: as a table for a terminal, in Markdown, as one
// self-contained page with charts, and as JSON.
package show

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"

	"infill/report/measure"
)

// A Document is a result, laid out once for every writer.
type Document struct {
	page   page
	result any // what JSON has
}

// A page is what templates see.
type page struct {
	Opening     []string // what a terminal has above the tables
	Title, Lede string
	Facts       [][2]string
	Tables      []*table
	Gold        *measure.Metric // of the original sentences
	Figures     figures         // of HTML, as the style
	Style       template.CSS
	Examples    []measure.Example
	OfFiles     bool // the examples are of files, not of samplers

	References, Notes, Warnings []string
	Signatures                  []signed
	Version                     string // of the program
}

// JSON writes the result as one indented JSON object.
func (d *Document) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(d.result)
}

// inWords says things in words.
func inWords[T fmt.Stringer](list []T) []string {
	var out []string
	for _, x := range list {
		out = append(out, x.String())
	}
	return out
}

// given are the facts that have a value.
func given(facts [][2]string) [][2]string {
	return slices.DeleteFunc(facts, func(f [2]string) bool { return f[1] == "" })
}
