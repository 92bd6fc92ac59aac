package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/batch"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/infill/text"
	"infill/internal/ort"
	"infill/mlm"
	"infill/models/hub"
	"infill/report"
	"infill/samplers"
)

// Each kind of error gets the flag or command that helps, whatever it is wrapped in.
func TestAdvice(t *testing.T) {
	t.Parallel()
	v := settings.Defaults()
	v.Masking = text.Masking{Rate: 0.5, Words: 2}
	mismatch := &batch.MismatchError{Differences: []batch.Difference{
		{What: "steps", Setting: true, Was: "3", Is: "4"}, {What: "seed", Was: "1", Is: "2"},
		{What: platformSetting, Setting: true, Was: "a/b", Is: "c/d"}, // no flag sets it
	}}
	for _, c := range []struct {
		err  error
		says string // in the message; "" where the error says all
	}{
		{v.Check(), "--mask-rate and --mask-words: give one of them"},
		{mismatch, "--steps was 3, is 4; seed was 1, is 2; platform was a/b, is c/d; "},
		{&batch.ExistsError{Path: "o"}, "--resume"},
		{&batch.ExistsError{Path: "o"}, "--force"},
		{&batch.ExistsError{Path: "o", Link: true}, ""},
		{&batch.ExistsError{Path: "o", Join: true}, "(--force overwrites it)"},
		{&batch.ManifestError{Path: "o", Force: true}, "--force"},
		{&batch.ManifestError{Path: "o"}, ""},
		{text.ErrManyWords, "--allow FILE"},
		{table.ErrCell, "--quote"},
		{infill.ErrNoCandidates, "--candidates"},
		{infill.ErrUnfilled, "infill fill"},
		{text.ErrNoBlank, ""},
		{&batch.NotLinesError{Text: true}, ", or say that it is text: --format text"},
		{&batch.NotLinesError{}, ""},
		{jsonl.ErrNoText, ": --text-field NAME"},
		{fmt.Errorf("%w: %w", report.ErrFormat, jsonl.ErrNoText), ""},
		{jsonl.ErrJSON, ""},
		{orMask(text.ErrNoBlank), "--mask-words"},
		{orMask(text.ErrBlank), ""},
		{ofRanking(text.ErrEmptySupport), "(words to rank: --candidates)"},
		{ofRanking(text.ErrBlank), ""},
		{text.ErrEmptySupport, "--min-distance"},
		{infill.ErrFiltered, "--max-drop"},
		{text.ErrEmptySupport, "--no-repeat"},
		{&infill.LengthError{}, "--long window"},
		{fmt.Errorf("%w: have fewer", samplers.ErrTooMany), "--shortlist N"},
		{&report.PairedError{Record: 2, Sentences: 3}, ": --top 1"},
		{&report.PairedError{Record: 2}, ""},
		{mlm.ErrNotFinite, "infill model check"},
		{ort.ErrRuntimeMissing, "infill doctor --install"},
		{ort.ErrRuntimeVersion, "infill doctor --install"},
		{ort.ErrRuntimeCorrupt, "infill doctor --install"},
		{hub.ErrManyExports, "--file PATH"},
		{hub.ErrNotMasked, "--file PATH"},
		{hub.ErrFetch, ""},
		{context.Canceled, "interrupted"},
	} {
		got := message(fmt.Errorf("line 3: %w", c.err))
		if !strings.Contains(got, c.says) || c.says == "" && got != "line 3: "+c.err.Error() {
			t.Errorf("%v: %s", c.err, got)
		}
		if strings.Contains(c.err.Error(), "--") {
			t.Errorf("the library names a flag: %v", c.err)
		}
	}
	if got := message(errors.New("other")); got != "other" {
		t.Errorf("%s", got)
	}
}

// Only commands that can mask words advise it, and only on standard error: the records have the
// error alone.
func TestAdviceToMask(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", "the dog sleeps .\n")
	for command, want := range map[string]bool{"batch": true, "fill": true, "score": false} {
		args := withTiny(command, in, "-o", in+".jsonl", "--output-format", "jsonl", "--seed", "1")
		switch command {
		case "fill":
			args = withTiny("fill", "--json", "the dog sleeps .")
		case "score":
			args = withTiny("score", "--file", in, "-o", in+".scores", "--candidates", "dog,cat")
		}
		r := infillRun("", args...)
		if !strings.Contains(r.err, "no blank") || strings.Contains(r.err, "--mask-words") != want {
			t.Errorf("%s: %s", command, r.err)
		}
		if out := r.out + existing(in+".jsonl"); strings.Contains(out, "--mask-words") {
			t.Errorf("%s: %s", command, out)
		}
	}
}

// A command that ranks words does not advise the flags of one that fills, for a text or for a file.
func TestAdviceToRank(t *testing.T) {
	t.Parallel()
	const text = "the [MASK/x+/] sleeps ."
	in := write(t, "in.txt", text+"\n")
	for _, args := range [][]string{{text}, {"--file", in, "-o", in + ".jsonl"}} {
		r := infillRun("", withTiny(append([]string{"score", "--candidates", "dog"}, args...)...)...)
		if !strings.Contains(r.err, "no token may fill") || !strings.Contains(r.err, "--candidates") ||
			strings.Contains(r.err, "--min-distance") {
			t.Errorf("%q: %s", args, r.err)
		}
	}
}

func existing(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// What was probably meant as a blank is told of, if another blank lets the run go on.
func TestBlankSlip(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"the [mask] sleeps in the [MASK] .":    "[mask] is not a blank",
		"the [MASK sleeps in the [MASK] .":     "[MASK is not closed",
		"[Mask] [MASK] .":                      "[Mask] is not a blank",
		"the [MAK] sleeps in the [MASK] .":     "[MAK] is not a blank",
		"the [MASK] and the [MASKS] sleep .":   "[MASKS] is not a blank",
		"the [SEP] sleeps in the [MASK] [A] .": "",
		"the [MASK][MASK] sleep .":             "",
		`the \[MSK] sleeps in the [MASK] .`:    "",
		`the \[mask] sleeps in the [MASK] .`:   "",
		"the [MASK|dog|cat] sleeps .":          "",
		"the [MASK*1-2] sleeps in the [x] .":   "",
		"the [MASK/^[a-d]/] sleeps [MASK:a] .": "",
	} {
		r := infillRun("", withTiny("fill", "--seed", "1", "--steps", "2", "--chains", "2", text)...)
		if got := strings.Contains(r.err, "[MASK]"); r.code != 0 || got != (want != "") ||
			!strings.Contains(r.err, want) {
			t.Errorf("%s: exit %d, %s", text, r.code, r.err)
		}
		if r := infillRun("", withTiny("fill", "--seed", "1", "--steps", "2", "--quiet", text)...); r.err != "" {
			t.Errorf("%s: quiet: %s", text, r.err)
		}
	}
}
