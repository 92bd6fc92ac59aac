// Package advice says of an error which flag or command helps, and what the command exits with.
// The libraries know neither.
package advice

import (
	"context"
	"errors"
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
	var ranked unranked
	if errors.As(err, &ranked) {
		return " (words to rank: --candidates)"
	}
	for _, a := range advices {
		if errors.Is(err, a.kind) {
			return a.text
		}
	}
	var long *infill.LengthError
	var exists *output.ExistsError
	var manifest *output.ManifestError
	var column *input.ColumnError
	var lines *input.NotLinesError
	var pull *hub.PullError
	var paired *read.PairedError
	var masks maskable
	var file named
	switch {
	case errors.As(err, &file):
		return "; " + ReadsFile(file.path, "infill batch")
	case asText(err) != "":
		return asText(err)
	case errors.As(err, &masks):
		return "; or let words of it be masked: --mask-words 1"
	case errors.As(err, &long):
		return ": --long window"
	case errors.As(err, &exists) && exists.Join && !exists.Link:
		return " (--force overwrites it)"
	case errors.As(err, &exists) && !exists.Link:
		return " (--resume goes on with it, --force overwrites it)"
	case errors.As(err, &manifest) && manifest.Force:
		return "; --force overwrites what is there"
	case errors.As(err, &lines) && lines.Text:
		return ": --format text"
	case errors.Is(err, samplers.ErrTooMany):
		return ": --shortlist N"
	case errors.As(err, &column):
		switch d := column.Delimiter(); d {
		case ";", "|", ",":
			return ": --delimiter '" + d + "'"
		case "\t":
			return ": --format tsv"
		}
		return ": --" + column.Setting + " NAME"
	case errors.Is(err, jsonl.ErrNoText) && !errors.Is(err, read.ErrFormat):
		return ": --text-field NAME" // infill compare has no such flag
	case errors.As(err, &paired) && paired.Sentences > 1:
		return ": --top 1"
	case errors.As(err, &pull):
		return pulls(pull)
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

// maskable is the error of a text without a blank, in a command that can mask words of it.
type maskable struct{ error }

func (m maskable) Unwrap() error { return m.error }

// OrMask is err, with the advice to mask words where that helps.
func OrMask(err error) error {
	if errors.Is(err, text.ErrNoBlank) {
		return maskable{err}
	}
	return err
}

// unranked is the error of a blank that none of its words may fill, in a command that ranks them.
type unranked struct{ error }

func (u unranked) Unwrap() error { return u.error }

// OfRanking is err, without the advice on flags that a command that ranks words does not have.
func OfRanking(err error) error {
	if errors.Is(err, text.ErrEmptySupport) {
		return unranked{err}
	}
	return err
}

// advices are the kinds of errors that say all about what helps.
var advices = []struct {
	kind error
	text string
}{
	{lengths.ErrFile, "; infill model learn-lengths MODEL TEXT makes it again"},
	{lengths.ErrFewGaps, "; give a text of more sentences, one a line"},
	{mlm.ErrNoState, "; lengths are learned of float models with the usual head"},
	{table.ErrCell, ": --quote writes it so, and an output in .csv, too"},
	{text.ErrManyWords, ": --allow FILE"},
	{infill.ErrNoCandidates, ", or: --candidates"},
	{infill.ErrUnfilled, ": infill fill; or rank words for it: --candidates WORDS"},
	{text.ErrEmptySupport,
		" (flags that take fillings away: --allow, --ban, --vocab, --min-distance, --no-repeat)"},
	{infill.ErrFiltered, " (filters: --min-edits, --max-edits, --max-drop, --min-similarity, " +
		"--max-similarity)"},
	{output.ErrMismatch, " (--force begins again)"},
	{mlm.ErrNotFinite, "; pull or export the model again"},
	{device.ErrDevice, " (infill doctor lists the devices; without --device the best is taken)"},
	{ort.ErrNotInstalled, ": run `infill doctor --install` with its name"},
	{ort.ErrNamed, " (without --ort and INFILL_ORT: infill doctor --install)"},
	{ort.ErrRuntime, ": run `infill doctor --install`"},
	{ort.ErrMemory, "; end other programs on it, or take --device cpu"},
	{ort.ErrLost, "; see what nvidia-smi says; a batch goes on with --resume"},
	{hub.ErrFile, ": --file PATH"},
}

// PlatformSetting is the name of the machine among the settings of a manifest. No flag sets it.
const PlatformSetting = "platform"
