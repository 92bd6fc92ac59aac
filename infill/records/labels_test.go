package records

import (
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
)

// itemOf reads the only item of a labelled file.
func itemOf(t *testing.T, f settings.Format, data string) *input.Item {
	t.Helper()
	in, err := input.OpenStream("a test", strings.NewReader(data), input.Options{Format: f})
	if err != nil {
		t.Fatal(err)
	}
	it, err := in.Next()
	if err != nil || it.Err != nil {
		t.Fatal(err, it.Err)
	}
	return &it
}

// swap replaces parts of a text, in order: an empty one puts words in before it.
func swap(t *testing.T, line string, pairs ...string) (string, []edit) {
	t.Helper()
	out, at := "", 0
	var edits []edit
	for i := 0; i < len(pairs); i += 2 {
		old, put := strings.CutPrefix(pairs[i], "+") // before this word
		n := strings.Index(line[at:], old)
		if n < 0 {
			t.Fatalf("%q is not in %q", old, line[at:])
		}
		out += line[at : at+n]
		at += n
		from := jsonl.Span{at, at + len(old)}
		if put {
			from[1] = at
		}
		to := jsonl.Span{len(out), len(out) + len(pairs[i+1])}
		out, at = out+pairs[i+1], from[1]
		edits = append(edits, edit{from, to})
	}
	return out + line[at:], edits
}

// Tags follow the words: a replaced word keeps its own, one that is put in is inside of the entity
// around it or outside of all, and an entity that loses or gains words is tagged by its scheme.
func TestColumnsFollow(t *testing.T) {
	t.Parallel()
	const bio = "New X B-LOC\nYork X I-LOC\nand X O\nAnn\tX\tB-PER\nslept X O"
	for _, c := range []struct {
		body  string
		edits []string
		want  string
	}{
		{bio, nil, bio},
		{bio, []string{"slept", "ran"}, strings.Replace(bio, "slept", "ran", 1)},
		{bio, []string{"+York", "old "}, "New X B-LOC\nold _ I-LOC\nYork X I-LOC\nand X O\nAnn\tX\tB-PER\nslept X O"},
		{bio, []string{"+New", "in ", "+Ann", "both "}, "in _ O\nNew X B-LOC\nYork X I-LOC\nand X O\nboth\t_\tO\nAnn\tX\tB-PER\nslept X O"},
		{bio, []string{"New ", ""}, "York X B-LOC\nand X O\nAnn\tX\tB-PER\nslept X O"},
		{bio, []string{"York ", ""}, "New X B-LOC\nand X O\nAnn\tX\tB-PER\nslept X O"},
		{bio, []string{"Ann", "Mary Jane"}, "New X B-LOC\nYork X I-LOC\nand X O\nMary\tX\tB-PER\nJane\t_\tI-PER\nslept X O"},
		{bio, []string{"slept", "went home"}, strings.Replace(bio, "slept X O", "went X O\nhome _ O", 1)},
		{bio, []string{"and Ann", "while"}, "New X B-LOC\nYork X I-LOC\nwhile X O\nslept X O"},
		{"A B-X\nB I-Y\nC B-Y", []string{"B", "D"}, "A B-X\nD I-Y\nC B-Y"}, // three entities
		{"a O \r\nB S-PER\r\nc B-L\r\nd E-L", []string{"B", "x y z"},
			"a O \r\nx B-PER\r\ny I-PER\r\nz E-PER\r\nc B-L\r\nd E-L"},
		{"B U-PER\nc B-L\nd L-L", []string{"c ", ""}, "B U-PER\nd U-L"},
		{"c B-L\nd I-L\ne E-L", []string{" e", ""}, "c B-L\nd E-L"},
	} {
		it := itemOf(t, settings.FormatCoNLL, c.body)
		l, err := labelled(it)
		if err != nil {
			t.Fatal(err)
		}
		filled, edits := swap(t, it.Text, c.edits...)
		if got, err := l.render(filled, change{edits}); err != nil || got != c.want {
			t.Errorf("%q, %q: %v\n%q\nwant\n%q", c.body, c.edits, err, got, c.want)
		}
	}
	l, err := labelled(itemOf(t, settings.FormatCoNLL, bio))
	if err != nil || len(l.List) != 2 || l.List[0].Start != 0 || l.List[0].End != 8 || l.List[1].Label != "PER" {
		t.Errorf("%+v, %v", l, err)
	}
}

// Offsets in JSON follow the words, counted as they were.
func TestOffsetsFollow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		form       settings.Format
		body, want string
		edits      []string
	}{
		{settings.FormatDoccano, `{"label": [[4, 7, "PER"], [0, 3, "X"]], "text": "Zoë Ann slept", "k": 1}`,
			`{"label":[[8,11,"PER"],[0,3,"X"]],"text":"Zoë and Ann ran","k":1}`,
			[]string{"+Ann", "and ", "slept", "ran"}},
		{settings.FormatDoccano, `{"text": "Ann slept", "entities": [{"id": 4, "label": "PER", "start_offset": 0, "end_offset": 3}]}`,
			`{"text":"Mary slept","entities":[{"id":4,"label":"PER","start_offset":0,"end_offset":4}]}`,
			[]string{"Ann", "Mary"}},
		{settings.FormatDoccano, `{"text": "Ann slept", "label": [[0, 3, "PER"]]}`, `{"text":"slept","label":[]}`,
			[]string{"Ann ", ""}},
		{settings.FormatLabelStudio, `{"text": "𝒜 old Ann", "label": [{"start": 7, "end": 10, "text": "Ann", "labels": ["PER"]}]}`,
			`{"text":"𝒜 young Ann","label":[{"start":9,"end":12,"text":"Ann","labels":["PER"]}]}`,
			[]string{"old", "young"}}, // units of UTF-16, as its text shows
		{settings.FormatSpaCy, `["é Ann", {"entities": [[2, 5, "PER"]], "cats": {}}]`,
			`["é old Mary",{"entities":[[6,10,"PER"]],"cats":{}}]`, []string{"+Ann", "old ", "Ann", "Mary"}},
	} {
		it := itemOf(t, c.form, c.body+"\n")
		l, err := labelled(it)
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		filled, edits := swap(t, it.Text, c.edits...)
		if got, err := l.render(filled, change{edits}); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.body, err, got, c.want)
		}
	}
	for _, body := range []string{`{"text": "Ann"}`, `{"text": "Ann", "label": [[0, 9, "X"]]}`, `{"text": "Ann", "label": 3}`,
		`{"text": "Ann", "label": [[2, 1, "X"]]}`, `{"text": "Ann", "label": [{"start": 0}]}`,
		`{"text": "Ann", "label": [], "more": [[0, 3, "X"]]}`, `{"text": "Ann", "label": [], "annotations": []}`,
		`{"text": "Ann", "label": [{"start": 0, "end": 3, "text": "Bob", "labels": ["X"]}]}`} {
		if l, err := labelled(itemOf(t, settings.FormatDoccano, body)); err == nil {
			t.Errorf("%s: %+v", body, l)
		}
	}
}
