package input

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"infill/infill/jsonl"
)

var (
	// tag is the label of a token in the schemes BIO, IOBES and BILOU.
	tag = regexp.MustCompile(`^(?:O|[BIESLU]-[\pL_][\pL\d_.-]*)$`)
	// treeRow is a token of a treebank in the form CoNLL-U.
	treeRow = regexp.MustCompile(`^\d+(?:[-.]\d+)?(?:\t[^\t]+){9}$`)
	// pair is a text and its entities in one list, alone or in a list of such.
	pair = regexp.MustCompile(`^\s*\[(\s*\[)?\s*"(?:[^"\\]|\\.)*"\s*,\s*\{\s*` +
		`(?:\}|"(?:entities|cats|spans|links|tags|heads|deps)"\s*:)`)
)

// leastRows is how many lines have to be rows of labels.
const leastRows = 3

// columns reports whether all whole lines are rows of labels with as many columns each, or rows of
// a treebank. Lines between sentences are empty, comments, or say that a document starts. words
// says that no tag is O: then they are tags of words, not of names.
func columns(head []byte) (is, treebank, words bool) {
	lines := bytes.Split(head, []byte("\n"))
	if n := len(lines) - 1; n > leastRows {
		lines = lines[:n] // the last may be cut
	}
	rows, width := 0, 0
	is, words = true, true
	for _, l := range lines {
		line := strings.TrimRight(string(l), " \r")
		if !isToken(line) {
			continue
		}
		cells := rowOf(line).Cells
		last := cells[len(cells)-1]
		treebank = treebank || treeRow.MatchString(line)
		is = is && len(cells) > 1 && tag.MatchString(last) && (width == 0 || len(cells) == width)
		words = words && last != "O" && !tag.MatchString(last)
		width = len(cells)
		rows++
	}
	return is && rows >= leastRows && !treebank, rows >= leastRows && treebank, words
}

// isToken reports whether a line of columns has a token, and not a comment or the start of a
// document.
func isToken(line string) bool {
	return strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "-DOCSTART-") &&
		!strings.HasPrefix(line, "# ")
}

// readTokens makes the text of the tokens of a sentence.
func (it *Item) readTokens() {
	var tokens []string
	first := true // the tags stand first
	for i, line := range strings.Split(it.Source.Body, "\n") {
		row := rowOf(line)
		it.Rows = append(it.Rows, row)
		cells := row.Cells
		tokens = append(tokens, cells[0])
		if it.Err == nil && (len(cells) < 3 || cells[0] == "") {
			it.Err = &jsonl.Error{Line: it.Line + i, Kind: jsonl.ErrRow, Reason: fmt.Sprintf(
				"line %d is not a token and its tag, such as \"Ann B-PER\": %.60q", it.Line+i, line)}
		}
		first = first && tag.MatchString(cells[0]) && !tag.MatchString(cells[len(cells)-1])
	}
	if it.Err == nil && first {
		it.Err = &jsonl.Error{Line: it.Line, Kind: jsonl.ErrRow, Reason: fmt.Sprintf(
			"line %d has its tag first; put the token first and the tag last", it.Line)}
	}
	it.Text, it.Words = jsonl.Joined(tokens)
}

// A Row is a line of columns: the cells with what stands between them, and the rest of the line.
type Row struct {
	Cells []string
	Rest  string
}

// rowOf takes a row apart. Tabs separate where there are any, else spaces do.
func rowOf(line string) (row Row) {
	apart := " \r"
	if strings.Contains(line, "\t") {
		apart = "\t\r"
	}
	for row.Rest = line; row.Rest != ""; {
		n := strings.IndexAny(row.Rest, apart)
		if n < 0 {
			n = len(row.Rest)
		}
		m := n + len(row.Rest[n:]) - len(strings.TrimLeft(row.Rest[n:], apart))
		row.Cells, line = append(row.Cells, row.Rest[:n]), row.Rest
		if row.Rest = line[n:]; m == len(line) {
			break // what is behind the last cell
		}
		row.Cells, row.Rest = append(row.Cells, line[n:m]), line[m:]
	}
	return row
}
