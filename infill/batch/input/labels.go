package input

import (
	"bytes"
	"regexp"
	"strings"

	"infill/infill/settings"
)

// labelled is the format of an input that begins so, if it has labels for the words of texts and
// cannot be anything else, as its name may say. treebank says that it is columns in a form that is
// not read.
func labelled(named settings.Format, head []byte) (f settings.Format, treebank bool) {
	if named != settings.FormatCoNLL && entities.Match(head) {
		return settings.FormatSpaCy, false
	}
	is, treebank := columns(head)
	if is {
		f = settings.FormatCoNLL
	}
	return f, treebank
}

// entities is a text and its entities in one list, alone or in a list of such.
var entities = regexp.MustCompile(
	`^\s*\[(?:\s*\[)?\s*"(?:[^"\\]|\\.)*"\s*,\s*\{\s*"entities"\s*:\s*\[`)

var (
	// tag is the label of a token in the schemes BIO, IOBES and BILOU.
	tag = regexp.MustCompile(`^(?:O|[BIESLU]-[\pL_][\pL\d_.-]*)$`)
	// row is a token of a treebank in the form CoNLL-U.
	row = regexp.MustCompile(`^\d+(?:[-.]\d+)?(?:\t[^\t]+){9}$`)
)

// leastRows is how many lines have to be rows of labels.
const leastRows = 3

// columns reports whether all whole lines are rows of labels with as many columns each, one label
// of them of a name, or rows of a treebank. Lines between sentences are empty, comments, or say
// that a document starts.
func columns(head []byte) (is, treebank bool) {
	lines := bytes.Split(head, []byte("\n"))
	if n := len(lines) - 1; n > leastRows {
		lines = lines[:n] // the last may be cut
	}
	rows, width, named := 0, 0, false
	for _, l := range lines {
		line := strings.TrimRight(string(l), " \r")
		if !isToken(line) {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) == 1 {
			fields = strings.Fields(line)
		}
		last := fields[len(fields)-1]
		switch {
		case row.MatchString(line):
			treebank = true
		case len(fields) < 2 || !tag.MatchString(last):
			return false, false
		case last != "O":
			named = true
		}
		if width == 0 {
			width = len(fields)
		}
		if len(fields) != width {
			return false, false
		}
		rows++
	}
	return rows >= leastRows && named && !treebank, rows >= leastRows && treebank
}
