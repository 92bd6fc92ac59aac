package server

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/server/api"
)

// A request is what a client asks for: an item, as of a batch file, and what only a server knows.
type request struct {
	item   input.Item
	model  string // its name, "" for the default
	stream bool
}

// readBody reads a body of at most maxBody bytes within its time.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(s.bodyTime)) // writers of tests have none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	// At the end of a body net/http takes the deadline away, so that it does not end the work.
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		f := fail(tooLong, "the body has more than %d bytes", maxBody)
		f.large = true
		return nil, f
	case err == nil:
		return bytes.TrimPrefix(body, []byte("\ufeff")), nil // as batch files may begin
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fail(codeSlow, "the body took longer than %v", s.bodyTime)
	}
	return nil, fail("bad_json", "the body ends too early")
}

// decode reads a body as a JSON line of a file, whose text may be a list of words where lists says
// so, and takes the fields of a server out of it.
func decode(body []byte, lists bool) (*request, error) {
	in, err := jsonl.Decoder{Bytes: maxBody, Lists: lists}.Input(1, body)
	if err != nil {
		return nil, err
	}
	q := &request{item: input.Item{Line: 1, ID: in.ID, TextField: "text", Text: in.Text,
		Words: in.Words}}
	for _, f := range in.Fields {
		var err error
		switch f.Name {
		case "model":
			err = member(f, &q.model, "the name of a model")
		case "stream":
			err = member(f, &q.stream, "true or false")
		default:
			q.item.Fields = append(q.item.Fields, f)
		}
		if err != nil {
			return nil, err
		}
	}
	return q, nil
}

// member decodes a field that only a server knows. null leaves v as it is.
func member(f jsonl.Field, v any, want string) error {
	if json.Unmarshal(f.Value, v) != nil {
		return fail("bad_option", "%q is %s, want %s", f.Name, short(f.Value), want)
	}
	return nil
}

// addressed are the parameters of the address of a request, if all of them can be read.
func addressed(r *http.Request) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fail("bad_json", "the address: %v", err)
	}
	return q, nil
}

// queryFields are the settings of an address. A value is JSON, or else a text, or for a setting
// that takes a list, words with commas between.
func queryFields(q url.Values) ([]jsonl.Field, error) {
	var out []jsonl.Field
	for _, name := range slices.Sorted(maps.Keys(q)) { // the first error is the same each time
		values, set := q[name], settings.FillTable().OfLine(name)
		switch {
		case len(values) > 1:
			return nil, fail("bad_json", "the address has %q %d times", name, len(values))
		case !utf8.ValidString(values[0]) || !utf8.ValidString(name):
			return nil, fail("invalid_utf8", "%q is not UTF-8", name)
		case name == "text" || name == "id":
			return nil, fail("bad_option", "texts and their ids stand in the lines of the body")
		case set == nil:
			return nil, fail("bad_option", "%q is not a setting", name)
		}
		out = append(out, jsonl.Field{Name: name, Value: queryValue(set, values[0])})
	}
	return out, nil
}

// queryValue is the JSON of a parameter: of those that a text may stand for, the first that the
// setting takes.
func queryValue(set *settings.Setting[settings.Fill], text string) json.RawMessage {
	quoted, _ := json.Marshal(text) // strings have JSON
	words, _ := json.Marshal(strings.Split(text, ","))
	forms := []json.RawMessage{quoted, words}
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(text)) == nil {
		forms = slices.Insert(forms, 0, compact.Bytes())
	}
	for _, form := range forms {
		if set.SetJSON(settings.Defaults(), form) == nil {
			return form
		}
	}
	return forms[0]
}

// seeded gives the item a seed if it has none.
func (q *request) seeded() {
	for _, f := range q.item.Fields {
		if f.Name == "seed" && string(f.Value) != "null" {
			return
		}
	}
	q.item.Fields = append(q.item.Fields, jsonl.Field{Name: "seed", Value: newSeed()})
}

// newSeed draws a seed that is short enough to be typed.
func newSeed() json.RawMessage {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, says its documentation
	return strconv.AppendUint(nil, binary.LittleEndian.Uint64(b[:])%1_000_000, 10)
}

// identify puts into a record what its item says of itself, and the fields that are not settings.
func identify(rec jsonl.Record, it *input.Item, setting func(string) bool) {
	rec.Of().ID, rec.Of().Line = it.ID, it.Line
	rec.By().Fields = slices.DeleteFunc(slices.Clone(it.Fields),
		func(f jsonl.Field) bool { return setting(f.Name) })
}

// A maskRequest is what clients of Hugging Face's fill-mask task send.
type maskRequest struct {
	texts []string
	model string // its name, "" for the default
	topK  int
	// targets are the only words that count, nil for all.
	targets []string
	joint   bool
	fields  []jsonl.Field // further parameters, which are settings
}

// decodeMask reads a body of that task.
func decodeMask(body []byte) (*maskRequest, error) {
	fields, err := jsonl.Decoder{Bytes: maxBody, Depth: 64}.Object(1, body)
	if err != nil {
		return nil, err
	}
	q := &maskRequest{topK: api.DefaultTopK}
	for _, f := range fields {
		switch f.Name {
		case "inputs":
			err = q.inputs(f)
		case "parameters":
			err = q.parameters(f)
		case "model":
			err = member(f, &q.model, "the name of a model")
		case "options": // which other servers of that task know
		default:
			err = fail("bad_json", "%q is not a field of this request", f.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case q.texts == nil:
		return nil, fail("bad_json", "no field %q", "inputs")
	case len(q.texts) > api.MaxTexts:
		return nil, fail(codeTooManyTexts, `"inputs" has %d texts, at most %d`, len(q.texts),
			api.MaxTexts)
	case !q.joint && len(q.fields) > 0:
		return nil, fail("bad_option", `parameter %q goes with "joint": true`, q.fields[0].Name)
	}
	return q, nil
}

// inputs reads a text or a list of texts.
func (q *maskRequest) inputs(f jsonl.Field) error {
	var one string
	if json.Unmarshal(f.Value, &one) == nil && string(f.Value) != "null" {
		q.texts = []string{one}
		return nil
	}
	var many []*string
	if json.Unmarshal(f.Value, &many) != nil || len(many) == 0 || slices.Contains(many, nil) {
		return fail("bad_json", `"inputs" is %s, want a text or a list of texts`, short(f.Value))
	}
	for _, text := range many {
		q.texts = append(q.texts, *text)
	}
	return nil
}

// parameters reads the object of parameters.
func (q *maskRequest) parameters(f jsonl.Field) error {
	if string(f.Value) == "null" {
		return nil
	}
	fields, err := jsonl.Decoder{}.Object(1, f.Value)
	if err != nil {
		return fail("bad_json", `"parameters": %s`, asFailure(err).message)
	}
	for _, p := range fields {
		if string(p.Value) == "null" {
			continue
		}
		switch p.Name {
		case "top_k":
			if json.Unmarshal(p.Value, &q.topK) != nil || q.topK < 1 || q.topK > infill.Ranges.Top.Max {
				err = fail("bad_option", `"top_k" is %s, want a whole number from 1 to %d`, short(p.Value),
					infill.Ranges.Top.Max)
			}
		case "targets":
			var one string
			if json.Unmarshal(p.Value, &one) == nil {
				q.targets = []string{one}
			} else {
				err = member(p, &q.targets, "a word or a list of words")
			}
			if err == nil && len(q.targets) == 0 {
				err = fail("bad_option", `"targets" is empty, want a word or a list of words`)
			}
		case "joint":
			err = member(p, &q.joint, "true or false")
		default:
			if !settings.FillTable().Has(p.Name) || p.Name == "allow" || p.Name == "top" {
				err = fail("bad_option", "%q is not a parameter of this request", p.Name)
			}
			q.fields = append(q.fields, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
