package advice

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/infill/text"
	"infill/internal/ort"
	"infill/internal/program"
	"infill/mlm"
	"infill/models/hub"
	"infill/report/read"
	"infill/samplers"
	"infill/tokenize"
)

// Each kind of error gets the flag or command that helps, whatever it is wrapped in.
func TestAdvice(t *testing.T) {
	t.Parallel()
	v := settings.Defaults()
	v.Masking = text.Masking{Rate: 0.5, Words: 2}
	mismatch := &output.MismatchError{Differences: []output.Difference{
		{What: "steps", Setting: true, Was: "3", Is: "4"}, {What: "seed", Was: "1", Is: "2"},
		{What: PlatformSetting, Setting: true, Was: "a/b", Is: "c/d"}, // no flag sets it
	}}
	for _, c := range []struct {
		err  error
		says string // in the message; "" where the error says all
	}{
		{v.Check(), "--mask-rate and --mask-words: give one of them"},
		{mismatch, "--steps was 3, is 4; seed was 1, is 2; platform was a/b, is c/d; "},
		{&output.ExistsError{Path: "o"}, "--resume"},
		{&output.ExistsError{Path: "o"}, "--force"},
		{&output.ExistsError{Path: "o", Link: true}, ""},
		{&output.ExistsError{Path: "o", Join: true}, "(--force overwrites it)"},
		{&output.ManifestError{Path: "o", Force: true}, "--force"},
		{&output.ManifestError{Path: "o"}, ""},
		{text.ErrManyWords, "--allow FILE"},
		{&mlm.InputError{Name: "timesteps"}, ": --input timesteps=0"},
		{&mlm.InputError{Name: "timesteps", Absent: true}, ""},
		{table.ErrCell, "--quote"},
		{infill.ErrNoCandidates, "--candidates"},
		{infill.ErrUnfilled, "infill fill"},
		{text.ErrNoBlank, ""},
		{&input.NotLinesError{Text: true}, ", or say that it is text: --format text"},
		{&input.NotLinesError{}, ""},
		{&input.NotLinesError{Text: true, Texts: 2}, ": --format tsv --no-header --text-field 2, or: --format text"},
		{&input.NotLinesError{Text: true, Texts: 2, Header: "t"}, ": --format tsv --text-field t, or: --format text"},
		{&input.ColumnError{Setting: "text-field", Have: []string{"a", "b"}, Texts: 2}, ": --no-header --text-field 2"},
		{jsonl.ErrNoText, ": --text-field NAME"},
		{fmt.Errorf("%w: %w", read.ErrFormat, jsonl.ErrNoText), ""},
		{jsonl.ErrJSON, ""},
		{OrMask(text.ErrNoBlank), "--mask-words"},
		{OrMask(text.ErrBlank), ""},
		{OfRanking(text.ErrEmptySupport), "(words to rank: --candidates)"},
		{OfRanking(text.ErrBlank), ""},
		{text.ErrEmptySupport, "--min-distance"},
		{infill.ErrFiltered, "--max-drop"},
		{text.ErrEmptySupport, "--no-repeat"},
		{&infill.LengthError{}, "--long window"},
		{fmt.Errorf("%w: have fewer", samplers.ErrTooMany), "--shortlist N"},
		{&read.PairedError{Record: 2, Sentences: 3}, ": --top 1"},
		{&read.PairedError{Record: 2}, ""},
		{mlm.ErrNotFinite, "export the model again"},
		{ort.ErrRuntime, "infill doctor --install"},
		{hub.ErrFile, "--file PATH"},
		{context.Canceled, "interrupted"},
	} {
		got := Message(fmt.Errorf("line 3: %w", c.err))
		if !strings.Contains(got, c.says) || c.says == "" && got != "line 3: "+c.err.Error() {
			t.Errorf("%v: %s", c.err, got)
		}
		if strings.Contains(c.err.Error(), "--") {
			t.Errorf("the library names a flag: %v", c.err)
		}
	}
	if got := Message(errors.New("other")); got != "other" {
		t.Errorf("%s", got)
	}
}

// A text that is too large is bad input. A file of a model is trouble, too large and damaged alike.
func TestExitCodeOfLarge(t *testing.T) {
	t.Parallel()
	for _, kind := range []error{tokenize.ErrTooLarge, tokenize.ErrFormat, tokenize.ErrInvalidUTF8} {
		err := fmt.Errorf("model x: %w", &tokenize.FileError{File: "vocab.txt", Err: kind})
		if code := ExitCode(err); code != program.Trouble {
			t.Errorf("%v: exit code %d", err, code)
		}
	}
	if code := ExitCode(&tokenize.TextError{Err: tokenize.ErrTooLarge}); code != program.Usage {
		t.Errorf("a text that is too large: exit code %d", code)
	}
}
