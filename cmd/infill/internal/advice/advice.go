// Package advice says of an error which flag or command helps, and what the command exits with.
// The libraries know neither.
package advice

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/jsonl"
	"infill/infill/lengths"
	"infill/infill/table"
	"infill/infill/text"
	"infill/internal/count"
	"infill/internal/ort"
	"infill/mlm"
	"infill/mlm/device"
	"infill/models/hub"
	"infill/report/read"
	"infill/samplers"
)

// Message is an error in the command's words: settings are flags, and the kind of the error says
// which flag or command helps.
func Message(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	text := err.Error()
	var s speller
	if errors.As(err, &s) {
		spelt := s.Spell(func(name string) string {
			if name == PlatformSetting || name == lengths.File { // no flags
				return name
			}
			return "--" + name
		})
		text = strings.Replace(text, s.Error(), spelt, 1)
	}
	return text + adviceOn(err)
}

// A speller is an error that names settings.
type speller interface {
	error
	Spell(name func(string) string) string
}

// adviceOn says which flags or commands help against an error of the libraries. It is empty where
// the error says all.
func adviceOn(err error) string {
	for _, match := range advices {
		if text := match(err); text != "" {
			return text
		}
	}
	return ""
}

// A match says what helps against an error, "" for an error of another kind.
type match func(error) string

// kind matches errors that are of a kind.
func kind(of error, text string) match {
	return func(err error) string {
		if errors.Is(err, of) {
			return text
		}
		return ""
	}
}

// typed matches errors of a type. A function says more of them.
func typed[E error](say func(E) string) match {
	return func(err error) string {
		var e E
		if errors.As(err, &e) {
			return say(e)
		}
		return ""
	}
}

// where is a text if a condition holds.
func where(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

// pulls is the command that fetches a model.
func pulls(e *hub.PullError) string {
	text := ": infill model pull " + e.Name
	if e.File != "" {
		text += " --file " + e.File
	}
	if e.Bytes > 0 {
		text += " (" + count.Bytes(e.Bytes) + ")"
	}
	return text
}

// helped is an error with the advice of a command that knows more of it.
type helped struct {
	error
	text string
}

func (h helped) Unwrap() error { return h.error }

// with is err, with advice if it is of a kind and has none yet.
func with(err, kind error, text string) error {
	if h := (helped{}); errors.Is(err, kind) && !errors.As(err, &h) {
		return helped{err, text}
	}
	return err
}

// OrMask is err, with the advice to mask words where that helps.
func OrMask(err error) error {
	return with(err, text.ErrNoBlank, "; or let words of it be masked: --mask-words 1")
}

// OfRanking is err, without the advice on flags that a command that ranks words does not have.
func OfRanking(err error) error {
	return with(err, text.ErrEmptySupport, " (words to rank: --candidates)")
}

// advices say what helps; the first match does.
var advices = []match{
	typed(func(e helped) string { return e.text }),
	kind(lengths.ErrFile, "; infill model learn-lengths MODEL TEXT makes it again"),
	kind(lengths.ErrFewGaps, "; give a text of more sentences, one a line"),
	kind(mlm.ErrNoState, "; lengths are learned of float models with the usual head"),
	kind(table.ErrCell, ": --quote writes it so, and an output in .csv, too"),
	kind(text.ErrManyWords, ": --allow FILE"),
	kind(infill.ErrNoCandidates, ", or: --candidates"),
	kind(infill.ErrUnfilled, ": infill fill; or rank words for it: --candidates WORDS"),
	kind(text.ErrEmptySupport,
		" (flags that take fillings away: --allow, --ban, --vocab, --min-distance, --no-repeat)"),
	kind(infill.ErrFiltered, " (filters: --min-edits, --max-edits, --max-drop, --min-similarity, "+
		"--max-similarity)"),
	kind(output.ErrMismatch, " (--force begins again)"),
	kind(mlm.ErrNotFinite, "; pull or export the model again"),
	kind(device.ErrDevice, " (infill doctor lists the devices; without --device the best is taken)"),
	kind(ort.ErrNotInstalled, ": run `infill doctor --install` with its name"),
	kind(ort.ErrNamed, " (without --ort and INFILL_ORT: infill doctor --install)"),
	kind(ort.ErrRuntime, ": run `infill doctor --install`"),
	kind(ort.ErrMemory, "; end other programs on it, or take --device cpu"),
	kind(ort.ErrLost, "; see what nvidia-smi says; a batch goes on with --resume"),
	kind(hub.ErrFile, ": --file PATH"),
	asText,
	typed(func(e *mlm.InputError) string { return where(!e.Absent, ": --input "+e.Name+"=0") }),
	typed(func(*infill.LengthError) string { return ": --long window" }),
	typed(func(e *output.ExistsError) string {
		if e.Join {
			return where(!e.Link, " (--force overwrites it)")
		}
		return where(!e.Link, " (--resume goes on with it, --force overwrites it)")
	}),
	typed(func(e *output.ManifestError) string {
		return where(e.Force, "; --force overwrites what is there")
	}),
	typed(func(e *input.NotLinesError) string {
		of := ""
		if e.Header != "" {
			of = ": --format tsv --text-field " + e.Header + ", or"
		} else if e.Texts > 0 {
			of = fmt.Sprintf(": --format tsv --no-header --text-field %d, or", e.Texts)
		}
		return of + where(e.Text, ": --format text")
	}),
	kind(samplers.ErrTooMany, ": --shortlist N"),
	typed(func(e *input.ColumnError) string {
		switch d := e.Delimiter(); d {
		case ";", "|", ",":
			return ": --delimiter '" + d + "'"
		case "\t":
			return ": --format tsv"
		}
		if e.Texts > 0 {
			return fmt.Sprintf(": --no-header --text-field %d", e.Texts)
		}
		return ": --" + e.Setting + " NAME"
	}),
	func(err error) string { // infill compare has no such flag
		return where(errors.Is(err, jsonl.ErrNoText) && !errors.Is(err, read.ErrFormat),
			": --text-field NAME")
	},
	typed(func(e *read.PairedError) string { return where(e.Sentences > 1, ": --top 1") }),
	typed(pulls),
}

// PlatformSetting is the name of the machine among the settings of a manifest. No flag sets it.
const PlatformSetting = "platform"
