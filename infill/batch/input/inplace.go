package input

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/jsonwords"
	"infill/internal/textline"
)

// usual are the paths of texts of other tools: Label Studio, Hugging Face's data sets, spaCy's
// pairs.
var usual = []string{"data.text", "tokens", "[0]"}

// place finds the path of the texts by the first record: the one that was asked for, or a usual one
// where a record has no text. A member that is a text needs none, whatever its name.
func (o *options) place(first *jsonl.Node) error {
	path, err := jsonl.ParsePath(o.TextField)
	if n := first.Member(o.TextField); o.Lists || o.Sentence != "" || n != nil && n.Kind == '"' {
		return nil
	}
	if err != nil {
		return &table.Error{Reason: err.Error()}
	}
	if o.path = path; len(path) > 1 {
		return nil
	}
	for _, name := range append([]string{o.TextField}, usual...) {
		path, _ := jsonl.ParsePath(name)
		found := path.Find(first)
		if len(found) == 0 || name != o.TextField && o.TextField != "text" {
			continue
		}
		n := found[0].Node
		if _, list := n.Texts(); list || name != o.TextField && n.Kind == '"' {
			o.path, o.TextField = path, name
			return nil
		}
	}
	o.path = nil
	return nil
}

// InPlace reports whether an output has the records of the input with other texts in their places.
func (in *Reader) InPlace() bool { return in.options.inPlace() }

func (o *options) inPlace() bool {
	return o.Format == settings.FormatCoNLL || o.path != nil || o.Records != ""
}

// items are the texts of a record of JSON. All have its Source, and all but the last say there that
// more follow.
func (o *options) items(line int, body string) []Item {
	it := Item{Line: line, TextField: o.TextField, Source: &jsonl.Source{Body: body}}
	bad := func(kind error, format string, args ...any) []Item {
		if it.Text == "" {
			it.Text = body
		}
		it.Err = &jsonl.Error{Line: line, Kind: kind, Field: o.TextField,
			Reason: fmt.Sprintf(format, args...)}
		return []Item{it}
	}
	root, err := jsonl.Tree([]byte(body))
	if err != nil {
		return bad(jsonl.ErrJSON, "%v", err)
	}
	if root.Kind == '{' {
		in, err := jsonl.Decoder{TextField: "\x00"}.Input(line, []byte(body))
		named := func(f jsonl.Field) bool { return f.Name == o.TextField }
		it.ID, it.Fields = in.ID, slices.DeleteFunc(in.Fields, named)
		if err != nil && !errors.Is(err, jsonl.ErrNoText) {
			return bad(jsonl.ErrJSON, "%v", err)
		}
	}
	path := o.path
	if path == nil {
		path, _ = jsonl.ParsePath(o.TextField)
	}
	found := path.Find(root)
	if len(found) == 0 {
		return bad(jsonl.ErrNoText, "no field %q", o.TextField)
	}
	var out []Item
	for i := range found {
		it, n := it, found[i].Node
		it.At = &found[i]
		if words, ok := n.Texts(); ok {
			it.Text, it.Words = jsonl.Joined(words)
		} else if body[n.From:n.To] == "null" {
			it.Left = "null"
		} else if it.Text = n.Text; n.Kind != '"' {
			it.Err = &jsonl.Error{Line: line, Field: it.At.Path, Kind: jsonl.ErrJSON,
				Reason: it.At.Path + " is not a text"}
		} else if jsonwords.HalfPair([]byte(body[n.From:n.To])) {
			it.Err = &jsonl.Error{Line: line, Field: it.At.Path, Kind: jsonl.ErrJSON,
				Reason: it.At.Path + " has half of a surrogate pair, which is not a character"}
		}
		source := *it.Source
		source.More, it.Source = i+1 < len(found), &source
		out = append(out, it)
	}
	return out
}

// A source of bodies reads the parts of a file that texts stand in. All together are the file, byte
// for byte.
type bodies struct {
	options *options
	part    func() (line int, s *jsonl.Source, err error) // the next one
	ahead   []Item                                        // of the part that was last read
}

func (b *bodies) next() (Item, error) {
	for len(b.ahead) == 0 {
		line, s, err := b.part()
		if err != nil {
			return Item{}, err
		}
		if b.options.Format == settings.FormatCoNLL {
			it := Item{Line: line, Source: s, WordTags: b.options.wordTags}
			it.readTokens()
			return it, nil
		}
		b.ahead = b.options.items(line, s.Body)
		for i := range b.ahead {
			of := b.ahead[i].Source
			of.Before, of.Between, of.After = s.Before, s.Between, s.After
		}
	}
	it := b.ahead[0]
	b.ahead = b.ahead[1:]
	return it, nil
}

// newBodies reads a file in whose parts texts are put in place.
func newBodies(r *bufio.Reader, o *options) (source, error) {
	if !o.Shard.Whole() {
		return source{}, fmt.Errorf("%w: files whose texts are filled in place are not cut", ErrShard)
	}
	b, mark := &bodies{options: o}, ""
	if head, _ := r.Peek(3); string(head) == "\ufeff" {
		mark = "\ufeff"
		_, _ = r.Discard(len(mark)) // which were peeked at
	}
	if o.Format == settings.FormatJSON {
		e := &elementParts{read: &recorder{r: r}, mark: mark, records: o.Records}
		e.decoder = json.NewDecoder(e.read)
		b.part = e.next
	} else {
		l := &lineParts{r: r, sentences: o.Format == settings.FormatCoNLL, mark: mark}
		b.part = l.next
	}
	return source{next: b.next}, nil
}

// errPart is the error of a sentence or an element that has no end in sight.
var errPart = fmt.Errorf("%w: a sentence has more than %d bytes; put empty lines between "+
	"sentences", table.ErrTable, jsonl.MaxInput)

// lineParts are lines, or sentences of lines that have a token each, with what stands between them.
type lineParts struct {
	r         *bufio.Reader
	sentences bool
	mark      string // at the start of the file
	line      int    // the number of the line that was last read
	ahead     string // that line, where the next part begins with it
}

// read is the next line with its end, "" at the end of the file.
func (s *lineParts) read() (string, error) {
	if line := s.ahead; line != "" {
		s.ahead = ""
		return line, nil
	}
	line, err := textline.Read(s.r, jsonl.MaxInput)
	switch {
	case errors.Is(err, textline.ErrTooLong):
		return "", errPart
	case err != nil && err != io.EOF:
		return "", fmt.Errorf("after line %d: %w", s.line, err)
	case len(line) > 0:
		s.line++
	}
	return string(line), nil
}

func (s *lineParts) next() (number int, of *jsonl.Source, err error) {
	before, body, after := []byte(s.mark), []byte(nil), []byte(nil)
	s.mark = ""
	for {
		line, err := s.read()
		if err != nil {
			return 0, nil, err
		}
		is := s.sentences && isToken(line) || !s.sentences && strings.TrimSpace(line) != ""
		if line == "" || is && body != nil && (after != nil || !s.sentences) {
			s.ahead = line
			break
		}
		switch {
		case is && body == nil:
			number, body = s.line, []byte(line)
		case is:
			body = append(body, line...)
		case body == nil:
			before = append(before, line...)
		default:
			after = append(after, line...)
		}
		if len(before) > jsonl.MaxInput || len(body) > jsonl.MaxInput || len(after) > jsonl.MaxInput {
			return 0, nil, errPart
		}
	}
	if body == nil {
		return 0, nil, io.EOF
	}
	text := textline.Trim(body)
	of = &jsonl.Source{Before: string(before), Body: string(text), Between: "\n"}
	end := string(body[len(text):])
	of.After = end + string(after)
	if end == "\r\n" {
		of.Between = end
	}
	if s.sentences {
		of.Between += of.Between
	}
	return number, of, nil
}

// elementParts are the elements of a list of JSON, which may be a member of objects.
type elementParts struct {
	read    *recorder
	decoder *json.Decoder
	mark    string
	records string // the path to the list, "" for the file itself
	number  int
}

// A recorder keeps what is read, from a place on.
type recorder struct {
	r    io.Reader
	buf  []byte
	from int64
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.buf = append(r.buf, p[:n]...)
	return n, err
}

// take are the bytes up to a place, which are then forgotten.
func (r *recorder) take(to int64) string {
	out := string(r.buf[:to-r.from])
	r.buf, r.from = append([]byte(nil), r.buf[to-r.from:]...), to
	return out
}

// open goes into the list.
func (s *elementParts) open() error {
	for _, name := range strings.Split(s.records, ".") {
		t, err := s.decoder.Token()
		if err != nil || s.records == "" {
			return err
		}
		for t != nil && s.decoder.More() {
			t, err = s.decoder.Token()
			if t == name || err != nil {
				break
			}
			var other json.RawMessage
			if err := s.decoder.Decode(&other); err != nil {
				return err
			}
		}
		if err != nil || t != name {
			return cmp.Or(err, fmt.Errorf("it has no list %q", s.records))
		}
	}
	_, err := s.decoder.Token()
	return err
}

func (s *elementParts) next() (int, *jsonl.Source, error) {
	bad := func(err error) error { return &table.Error{Row: s.number + 1, Reason: err.Error()} }
	if s.number == 0 {
		if err := s.open(); err != nil {
			return 0, nil, bad(err)
		}
	}
	if !s.decoder.More() {
		return 0, nil, io.EOF
	}
	var raw json.RawMessage
	if err := s.decoder.Decode(&raw); err != nil {
		return 0, nil, bad(err)
	}
	s.number++
	end := s.decoder.InputOffset()
	of := &jsonl.Source{Between: ",\n", Before: s.mark + s.read.take(end-int64(len(raw)))}
	s.mark, of.Body = "", s.read.take(end)
	if len(of.Body) > jsonl.MaxInput {
		return 0, nil, bad(errPart)
	}
	if !s.decoder.More() { // the rest belongs to the last
		if _, err := io.Copy(io.Discard, s.read); err != nil {
			return 0, nil, err
		}
		of.After = s.read.take(s.read.from + int64(len(s.read.buf)))
		if err := s.closed(of.After); err != nil {
			return 0, nil, bad(err)
		}
	}
	return s.number, of, nil
}

// closed refuses a rest of the file that does not close the list and the objects around it.
func (s *elementParts) closed(rest string) error {
	whole := "[" + rest
	if s.records != "" {
		whole = strings.Repeat(`{"":`, strings.Count(s.records, ".")+1) + whole
	}
	if !json.Valid([]byte(whole)) {
		return fmt.Errorf("%.40q follows the last", strings.TrimSpace(rest))
	}
	return nil
}

// document finds the list of records of a file that is one object: the one that is asked for, or
// the only list of objects. It is "" for lines of objects.
func document(head []byte, r *bufio.Reader, o *options) (records string, err error) {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	first, rest, _ := bytes.Cut(head, []byte("\n"))
	if !bytes.HasPrefix(head, []byte("{")) ||
		o.Records == "" && (o.Format == settings.FormatJSONL || len(rest) > 0 && json.Valid(first)) {
		return "", nil
	}
	all, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err == nil && len(all) > maxDocument {
		err = &table.Error{Reason: fmt.Sprintf("it is one object of more than %d bytes; make JSON lines "+
			"of its records", maxDocument)}
	}
	*r = *bufio.NewReaderSize(bytes.NewReader(all), textline.PeekSize)
	if err != nil {
		return "", err
	}
	root, err := jsonl.Tree(bytes.TrimPrefix(all, []byte("\ufeff")))
	if err != nil {
		return o.Records, nil // the error comes again, where it lies
	}
	lists := listsOf(root, "", o.Records)
	path, _ := jsonl.ParsePath(o.TextField)
	found := path.Find(root)
	switch {
	case o.Records == "" && (len(found) > 0 && found[0].Node.Kind == '"' || len(lists) == 0):
		return "", nil
	case len(lists) == 1:
		return lists[0], nil
	case len(lists) == 0:
		return "", &table.Error{Reason: fmt.Sprintf("it has no list of records %q", o.Records)}
	}
	return "", &RecordsError{lists}
}

// maxDocument bounds a file that is one object of JSON, in bytes: it is in memory.
const maxDocument = 1 << 30

// listsOf are the paths of lists of objects in objects, or the one of this path.
func listsOf(n *jsonl.Node, path, wanted string) (out []string) {
	for i, kid := range n.Kids {
		at := strings.TrimPrefix(path+"."+n.Names[i], ".")
		switch {
		case kid.Kind == '{':
			out = append(out, listsOf(kid, at, wanted)...)
		case kid.Kind != '[':
		case at == wanted, wanted == "" && len(kid.Kids) > 0 && kid.Kids[0].Kind == '{':
			out = append(out, at)
		}
	}
	return out
}

// A RecordsError is a file with several lists that may be its records. It wraps [table.ErrTable].
type RecordsError struct{ Lists []string }

// Error says what is wrong and what helps.
func (e *RecordsError) Error() string {
	return fmt.Sprintf("%v: it has several lists of objects, %s; say which are the records",
		table.ErrTable, strings.Join(e.Lists, ", "))
}

// Is says that the error is a [table.ErrTable].
func (e *RecordsError) Is(target error) bool { return target == table.ErrTable }
