package input

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"infill/infill/jsonl"
)

var (
	// tag is the label of a token in the schemes BIO, IOBES and BILOU.
	tag = regexp.MustCompile(`^(?:O|[BIESLU]-[\pL_][\pL\d_.-]*)$`)
	// sign is a tag in capitals, as PER or NN.
	sign = regexp.MustCompile(`^[^\p{Ll}]*[\p{Lu}\d_][^\p{Ll}]*$`)
	// treeRow is a token of a treebank in the form CoNLL-U.
	treeRow = regexp.MustCompile(`^\d+(?:[-.]\d+)?(?:\t[^\t]+){9}$`)
	// pair is a text and its entities in one list, alone or in a list of such.
	pair = regexp.MustCompile(`^\s*\[(\s*\[)?\s*"(?:[^"\\]|\\.)*"\s*,\s*\{\s*` +
		`(?:\}|"(?:entities|cats|spans|links|tags|heads|deps)"\s*:)`)
)

// leastRows is how many lines have to be rows of labels.
const leastRows = 3

// A look is the kind of columns that the beginning of a file has.
type look struct {
	is       bool // all lines are rows of labels with as many columns each
	treebank bool
	words    bool // no tag is O: then they are tags of words, not of names
	named    bool // most lines look like a token and its tag, as the name of the file has it
}

// wholeLines are the lines of the beginning of a file without spaces at their ends, and without the
// last, which may be cut, where there are enough.
func wholeLines(head []byte) []string {
	lines := strings.Split(string(head), "\n")
	if n := len(lines) - 1; n > leastRows {
		lines = lines[:n]
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	return lines
}

// columns looks at whole lines. Those between sentences are empty, comments, or say that a document
// starts.
func columns(head []byte) look {
	l := look{is: true, words: true}
	rows, tags, signs, tabs := 0, 0, 0, 0
	kinds, widths := map[string]bool{}, map[int]int{}
	for _, line := range wholeLines(head) {
		if !isToken(line) {
			continue
		}
		cells := rowOf(line).Cells
		last, width := cells[len(cells)-1], len(cells)
		l.treebank = l.treebank || treeRow.MatchString(line)
		l.is = l.is && width > 1 && tag.MatchString(last)
		l.words = l.words && last != "O" && !tag.MatchString(last)
		rows++
		widths[width]++
		kinds[last] = true
		tags += count(width > 1 && (tag.MatchString(last) || tag.MatchString(cells[0])))
		signs += count(width > 1 && 2*widths[width] > rows && sign.MatchString(last))
		tabs += count(strings.Contains(line, "\t"))
	}
	l.is = l.is && rows >= leastRows && len(widths) == 1 && !l.treebank
	l.treebank = l.treebank && rows >= leastRows
	equal := len(widths) == 1 && widths[1] == 0 && (tabs == rows || 2*len(kinds) <= rows)
	l.named = rows == 0 || equal || 2*max(tags, signs) >= rows
	return l
}

// count is 1 for true.
func count(holds bool) int {
	if holds {
		return 1
	}
	return 0
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
	first, numbered := true, true // the tags, or the numbers of the tokens, stand first
	bad := func(line int, format string, args ...any) {
		if it.Err == nil {
			it.Err = &jsonl.Error{Line: line, Kind: jsonl.ErrRow,
				Reason: fmt.Sprintf("line %d %s", line, fmt.Sprintf(format, args...))}
		}
	}
	for i, line := range strings.Split(it.Source.Body, "\n") {
		row := rowOf(line)
		it.Rows = append(it.Rows, row)
		cells, width := row.Cells, len(it.Rows[0].Cells)
		tokens = append(tokens, cells[0])
		if len(cells) < 3 || cells[0] == "" {
			bad(it.Line+i, "is not a token and its tag, such as \"Ann B-PER\": %.60q", line)
		} else if len(cells) != width {
			bad(it.Line+i, "has %d columns, and line %d has %d", len(cells)/2+1, it.Line, width/2+1)
		}
		first = first && tag.MatchString(cells[0]) && !tag.MatchString(cells[len(cells)-1])
		numbered = numbered && cells[0] == strconv.Itoa(i+1)
	}
	if first {
		bad(it.Line, "has its tag first; put the token first and the tag last")
	} else if numbered && len(tokens) > 1 {
		bad(it.Line, "has the number of its token first; put the token first and the tag last")
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
