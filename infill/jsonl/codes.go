package jsonl

import (
	"errors"

	"infill/infill"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
	"infill/tokenize"
)

// codes are the errors of a single line and their names in records.
var codes = []struct {
	err  error
	code string
}{
	{text.ErrEmpty, "empty"},
	{text.ErrNoBlank, "no_blank"},
	{text.ErrBlank, "bad_blank"},
	{text.ErrEmptySupport, "empty_support"},
	{text.ErrFewWords, "too_few_words"},
	{infill.ErrStart, "bad_start"},
	{infill.ErrNoOriginal, "no_original"},
	{infill.ErrFiltered, "filtered"},
	{text.ErrSpan, "bad_span"},
	{ErrLineTooLong, "too_long"},
	{ErrJSON, "bad_json"},
	{ErrRow, "bad_row"},
	{settings.ErrSetting, "bad_option"},
	{errNotFinite, "bad_option"},
	{tokenize.ErrInvalidUTF8, "invalid_utf8"},
	{ErrFault, "fault"},
	{mlm.ErrTooLong, "too_long"},
	{tokenize.ErrTooLarge, "too_long"},
}

// Code is the name that records give an error of a single line: empty, no_blank, bad_blank,
// empty_support, too_few_words, bad_start, no_original, filtered, bad_span, too_long, bad_json,
// bad_row, bad_option, invalid_utf8, fault or unsupported. It is "" for an error that would befall
// every line.
func Code(err error) string {
	if errors.Is(err, samplers.ErrTooMany) {
		return "unsupported" // other lines may have fewer states
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return ""
}
