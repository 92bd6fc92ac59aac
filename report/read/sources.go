package read

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"infill/infill/batch/input"
	"infill/infill/settings"
	"infill/internal/textline"
)

// Source is one sentence that was infilled.
type Source struct {
	ID string
	// Text is the sentence with its blanks as the user wrote it.
	Text string
	// Gold is the sentence before it was masked, "" when unknown. Gold sentences
	// are left out of the references and give the plane's reference line.
	Gold string
}

// maxTask bounds a task file, which is read whole because it is one JSON value.
const maxTask = 64 << 20

// task is a sentence of the DISCS text-infilling task. Our own names for the text and the gold
// sentence are taken too.
type task struct {
	ID        json.RawMessage `json:"id"`
	Text      *string         `json:"text"`
	Gold      string          `json:"gold"`
	Sentence  *string         `json:"sentence"`
	GT        string          `json:"gt_sentence"`
	Positions *[]int          `json:"infill_pos"`
}

// taskFile matches what begins as an array of objects.
var taskFile = regexp.MustCompile(`^\[\s*\{`)

// Sources reads the sentences to infill, of a file or, for "-", of stdin: one text per line,
// JSON lines, an array of JSON or a table with text and, if known, gold and id, or the DISCS task
// format. That is a JSON array of objects with sentence, gt_sentence and infill_pos, and the
// number of blanks must agree with infill_pos. Blank lines are skipped. Gzip and zstd data are
// decompressed. A number as an id keeps its spelling. Errors are those of [input.Open],
// [ErrFormat] and [ErrNoSentences].
func Sources(path string, stdin io.Reader) ([]Source, error) {
	if path != "-" && settings.FormatOf(path).Table() {
		in, err := input.Open(path, nil, input.Options{})
		return sourcesOf(in, err)
	}
	file := Files([]string{path}, stdin)[0]
	open, err := file.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = open.Close() }() // only read
	r := bufio.NewReaderSize(open, textline.PeekSize)
	head, _ := r.Peek(textline.PeekSize) // an error comes again when reading
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	line, _, _ := bytes.Cut(head, []byte("\n"))
	var o input.Options
	switch {
	case taskFile.Match(head):
		return readTask(r, file.Name)
	case object(string(line)):
		o.Format = settings.FormatJSONL
	case input.LooksArray(head): // of texts
		o.Format = settings.FormatJSON
	}
	return sourcesOf(input.OpenStream(file.Name, r, o))
}

// sourcesOf reads an input that was opened, and closes it.
func sourcesOf(in *input.Reader, err error) ([]Source, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // only read
	var out []Source
	for {
		it, err := in.Next()
		switch {
		case err == io.EOF && len(out) == 0:
			return nil, fmt.Errorf("%s: %w", in.Name, ErrNoSentences)
		case err == io.EOF:
			return out, nil
		case err != nil:
			return nil, err
		}
		s, err := itemSource(&it)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", in.Name, it.Line, err)
		}
		out = append(out, s)
	}
}

// object reports whether a line is meant as a JSON object, whole or broken. A text can begin
// with a brace too.
func object(line string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "{")
	rest = strings.TrimSpace(rest)
	return ok && (rest == "" || rest[0] == '"' || json.Valid([]byte(line)))
}

// itemSource is the source of a line or a row.
func itemSource(it *input.Item) (Source, error) {
	if it.Err != nil {
		return Source{}, fmt.Errorf("%w: %w", ErrFormat, it.Err)
	}
	s := Source{Text: it.Text}
	for _, f := range it.Fields {
		if f.Name == "gold" && json.Unmarshal(f.Value, &s.Gold) != nil {
			return s, fmt.Errorf("%w: gold is not a string", ErrFormat)
		}
	}
	return s, s.name(it.Line, it.ID)
}

func readTask(r io.Reader, name string) ([]Source, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxTask+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxTask {
		return nil, fmt.Errorf("%s: %w: a JSON array over %d bytes; use JSON lines",
			name, ErrFormat, maxTask)
	}
	var tasks []task
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &tasks); err != nil {
		return nil, fmt.Errorf("%s: %w: %v; want the DISCS task format", name, ErrFormat, err)
	}
	out := make([]Source, 0, len(tasks))
	for i, t := range tasks {
		s, err := t.source(i + 1)
		if err != nil {
			return nil, fmt.Errorf("%s: sentence %d: %w", name, i+1, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// source checks a task and turns it into a Source. Without an id, its number n is the id.
func (t task) source(n int) (Source, error) {
	s := Source{Gold: t.Gold}
	switch {
	case t.Text != nil:
		s.Text = *t.Text
	case t.Sentence != nil:
		s.Text = *t.Sentence
	default:
		return s, fmt.Errorf("%w: a JSON object without text or sentence", ErrFormat)
	}
	if t.GT != "" {
		s.Gold = t.GT
	}
	if t.Positions != nil {
		if blanks := strings.Count(s.Text, "[MASK]"); blanks != len(*t.Positions) {
			return s, fmt.Errorf("%w: %d blanks in the sentence, %d in infill_pos",
				ErrFormat, blanks, len(*t.Positions))
		}
	}
	return s, s.name(n, t.ID)
}

// name gives a source its id, a JSON string or number, or else the number n. The text must not
// be empty.
func (s *Source) name(n int, id json.RawMessage) error {
	switch {
	case id == nil || string(id) == "null":
		s.ID = fmt.Sprint(n)
	case id[0] == '"':
		if err := json.Unmarshal(id, &s.ID); err != nil {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
	case id[0] == '-' || id[0] >= '0' && id[0] <= '9':
		s.ID = string(id)
	default:
		return fmt.Errorf("%w: id is neither text nor a number", ErrFormat)
	}
	if strings.TrimSpace(s.Text) == "" {
		return fmt.Errorf("%w: the text is empty", ErrFormat)
	}
	return nil
}
