// Package records does with a model what a line of input asks for, and says what came of it as a
// record of package jsonl. A [Filler] fills blanks, a [Scorer] scores texts and ranks candidates.
// Files, requests and single commands make their records here, so that the same text, settings and
// seed give the same bytes everywhere.
package records
