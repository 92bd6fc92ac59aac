package records

import (
	"errors"
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
)

// itemOf reads the first item of a file.
func itemOf(t *testing.T, o input.Options, data string) *input.Item {
	t.Helper()
	in, err := input.OpenStream("a test", strings.NewReader(data), o)
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
		// Names without B- and I-, tags of words, and a token with a space that does not break.
		{"Ann PER\nLee PER\nslept O", []string{"+Lee", "van ", "slept", "ran"}, "Ann PER\nvan PER\nLee PER\nran O"},
		{"we PRP\nsaw VBD\n10\u00a0km CD", []string{"saw", "ran"}, "we PRP\nran VBD\n10\u00a0km CD"},
		{"Ann\tB-PER\nold car\tO", []string{"Ann", "Bo"}, "Bo\tB-PER\nold car\tO"},
	} {
		it := itemOf(t, input.Options{Format: settings.FormatCoNLL}, c.body)
		l, err := labelsOf(it, "")
		if err != nil {
			t.Fatal(err)
		}
		filled, edits := swap(t, it.Text, c.edits...)
		if got, err := l.render(filled, change{edits}); err != nil || got != c.want {
			t.Errorf("%q, %q: %v\n%q\nwant\n%q", c.body, c.edits, err, got, c.want)
		}
	}
	l, err := labelsOf(itemOf(t, input.Options{Format: settings.FormatCoNLL}, bio), "")
	if err != nil || len(l.kept) != 2 || l.kept[0].Start != 0 || l.kept[0].End != 8 || l.kept[1].Label != "PER" {
		t.Errorf("%+v, %v", l, err)
	}
}

// forms are records of tools, as they come and as they are when words of their texts are others. All
// offsets were counted by Python's slices.
var forms = []struct {
	name, field, body string
	edits             []string
	want              string
	kept              string // the words with labels, with | between
}{
	{"doccano", "", `{"label": [[4, 7, "PER"], [0, 3, "X"]], "text": "Zoë Ann slept", "k": 1.50}`,
		[]string{"+Ann", "and ", "slept", "ran"}, `{"label":[[8,11,"PER"],[0,3,"X"]]}`, "Ann|Zoë"},
	{"doccano, entities", "", `{"text": "Ann slept", "entities": [{"id": 4, "label": "PER", "start_offset": 0, "end_offset": 3}]}`,
		[]string{"Ann", "Mary"}, `{"entities":[{"id":4,"label":"PER","start_offset":0,"end_offset":4}]}`, "Ann"},
	{"nothing is left of it", "", `{"text": "Ann slept", "label": [[0, 3, "PER"]]}`, []string{"Ann ", ""}, `{"label":[]}`, "Ann"},
	{"the first and the last of three go", "", `{"text": "A b C", "label": [[0, 1, "x"], [2, 3, "y"], [4, 5, "z"]]}`,
		[]string{"A ", "", " C", ""}, `{"label":[[0,1,"y"]]}`, "A|b|C"},
	{"JSON-MIN", "", `{"text": "𝒜 old Ann", "label": [{"start": 7, "end": 10, "text": "Ann", "labels": ["PER"]}]}`,
		[]string{"old", "young"}, `{"label":[{"start":9,"end":12,"text":"Ann","labels":["PER"]}]}`, "Ann"},
	{"folded", "", `{"text": "the old\n car", "label": [{"start": 4, "end": 12, "text": "old car", "labels": ["X"]}]}`,
		[]string{"the", "a"}, `{"label":[{"start":2,"end":10,"text":"old car","labels":["X"]}]}`, "old\n car"},
	{"bytes", "", `{"text": "Zoë met Ann", "mentions": [{"from": 9, "to": 12, "surface": "Ann"}]}`,
		[]string{"met", "saw off"}, `{"mentions":[{"from":13,"to":16,"surface":"Ann"}]}`, "Ann"},
	{"SQuAD", "context", `{"context": "A mill in Lund.", "question": "Where?", "answers": {"text": ["Lund"], "answer_start": [10]}}`,
		[]string{"mill", "bridge"}, `{"answers":{"text":["Lund"],"answer_start":[12]}}`, "Lund"},
	{"SQuAD of lists", "context", `{"context": "A mill in Lund.", "qas": [{"answers": [{"text": "mill", "answer_start": 2}, {"text": "in Lund", "answer_start": 7}]}]}`,
		[]string{"A", "One", "Lund", "Graz"},
		`{"qas":[{"answers":[{"text":"mill","answer_start":4},{"text":"in Graz","answer_start":9}]}]}`, "mill|in Lund"},
	{"Rasa", "", `{"text": "from NYC to Rome", "intent": "go", "entities": [{"start": 5, "end": 8, "value": "New York", "entity": "city"}, {"start": 12, "end": 16, "value": "Rome", "entity": "city"}]}`,
		[]string{"to", "via", "Rome", "Oslo"},
		`{"entities":[{"start":5,"end":8,"value":"New York","entity":"city"},{"start":13,"end":17,"value":"Oslo","entity":"city"}]}`, "NYC|Rome"},
	{"SemEval", "", `{"text": "The soup was cold.", "aspects": [{"term": "soup", "from": "4", "to": "8", "polarity": "negative"}]}`,
		[]string{"The", "My"}, `{"aspects":[{"term":"soup","from":"3","to":"7","polarity":"negative"}]}`, "soup"},
	{"columns of a list", "", `{"text": "Ann met Bo.", "spans": {"start": [0, 8], "end": [3, 10], "label": ["P", "Q"]}}`,
		[]string{"+met", "once ", "Bo", ""}, `{"spans":{"start":[0],"end":[3],"label":["P"]}}`, "Ann|Bo"},
	{"char_span", "", `{"text": "Ann met Bo.", "obj": {"char_span": [8, 10]}}`, []string{"met", "saw"}, ``, "Bo"},
	{"by label", "", `{"text": "Ann met Bo.", "entities": {"PER": [[0, 3], [8, 10]]}}`, []string{"met", "left"},
		`{"entities":{"PER":[[0,3],[9,11]]}}`, "Ann|Bo"},
	{"brat", "", `{"text": "Ann met Bo.", "entities": [["T1", "PER", [[8, 10]]]]}`, []string{"met", "left"},
		`{"entities":[["T1","PER",[[9,11]]]]}`, "Bo"},
	{"offset and length", "", `{"text": "Ann 𝒜 met Bo.", "entities": [{"offset": 11, "length": 2, "type": "mention", "text": "Bo"}]}`,
		[]string{"Ann", "I"}, `{"entities":[{"offset":9,"length":2,"type":"mention","text":"Bo"}]}`, "Bo"},
	{"flat", "", `{"text": "Ann met Bo.", "x": {"at": "8-10", "text": "Bo"}, "y": {"at": "1-2", "text": "Bo"}}`,
		[]string{"met", "left"}, `{"x":{"at":"9-11","text":"Bo"}}`, "Bo"},
	{"Prodigy", "", `{"text": "Bo ran.", "tokens": [{"text": "Bo", "start": 0, "end": 2, "id": 0}, {"text": "ran", "start": 3, "end": 6, "id": 1}, {"text": ".", "start": 6, "end": 7, "id": 2}], "spans": [{"start": 3, "end": 7, "token_start": 1, "token_end": 2, "label": "V"}]}`,
		[]string{"+ran", "then ", "ran", "sat"},
		`{"tokens":[{"text":"Bo","start":0,"end":2,"id":0},{"text":"then","start":3,"end":7,"id":1},{"text":"sat","start":8,"end":11,"id":2},{"text":".","start":11,"end":12,"id":3}],"spans":[{"start":8,"end":12,"token_start":2,"token_end":3,"label":"V"}]}`, "ran."},
	{"another text", "", `{"text": "Ann met Bo.", "other": [{"text": "Bo met Ann.", "spans": [[0, 2]]}], "label": [[0, 3, "P"]]}`,
		[]string{"Ann", "Mary"}, `{"label":[[0,4,"P"]]}`, "Ann"},
	{"spaCy", "", `["é Ann", {"entities": [[2, 5, "PER"]], "cats": {"a": 1.0}}]`, []string{"+Ann", "old ", "Ann", "Mary"},
		`["é old Mary", {"entities": [[6, 10, "PER"]], "cats": {"a": 1.0}}]`, "Ann"},
	{"Label Studio", "", `{"data": {"text": "Ann met Bo."}, "annotations": [{"result": [{"value": {"start": 8, "end": 10, "text": "Bo", "labels": ["P"]}}]}]}`,
		[]string{"met", "left"},
		`{"data": {"text": "Ann left Bo."}, "annotations": [{"result": [{"value": {"start": 9, "end": 11, "text": "Bo", "labels": ["P"]}}]}]}`, "Bo"},
	{"tokens and tags", "", `{"tokens": ["New", "York", "is", "big"], "ner_tags": [5, 6, 0, 0], "pos": ["A", "B", "C", "D"], "n": 4}`,
		[]string{"big", "old"}, `{"tokens": ["New", "York", "is", "old"], "ner_tags": [5, 6, 0, 0], "pos": ["A", "B", "C", "D"], "n": 4}`, "New York"},
	{"more tokens", "", `{"tokens":["Ann","is","big"],"ner":["B-P","O","O"],"pos":["A","B","C"]}`, []string{"+big", "so ", "Ann", ""},
		``, "Ann"},
	{"messages", "messages[role=user].content", `{"messages": [{"role": "bot", "content": "Hi."}, {"role": "user", "content": "Bo ran.", "spans": [[0, 2]]}]}`,
		[]string{"+Bo", "So "}, `{"messages": [{"role": "bot", "content": "Hi."}, {"role": "user", "content": "So Bo ran.", "spans": [[3, 5]]}]}`, "Bo"},
}

// What says where words stand follows them, in the fields, the order and the numbers of the record.
func TestLabelsFollow(t *testing.T) {
	t.Parallel()
	for _, c := range forms {
		if c.want == "" {
			continue
		}
		it := itemOf(t, input.Options{Format: settings.FormatJSONL, TextField: c.field}, c.body+"\n")
		l, err := labelsOf(it, "")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var kept []string
		for _, k := range l.kept {
			kept = append(kept, it.Text[k.Start:k.End])
		}
		if got := strings.Join(kept, "|"); got != c.kept {
			t.Errorf("%s: keeps %q, want %q", c.name, got, c.kept)
		}
		filled, edits := swap(t, it.Text, c.edits...)
		f := &jsonl.Filling{Text: filled}
		if err := l.put(f, change{edits}); err != nil || string(f.Moved)+f.Labelled != c.want {
			t.Errorf("%s: %v\n%s%s\nwant\n%s", c.name, err, f.Moved, f.Labelled, c.want)
		}
		same := &jsonl.Filling{Text: it.Text}
		if err := l.put(same, change{}); err != nil || same.Moved != nil || it.Source != nil && same.Labelled != c.body {
			t.Errorf("%s: nothing changed, and it is %s%s, %v", c.name, same.Moved, same.Labelled, err)
		}
	}
}

// A place that is none of the text is an error that names its field.
func TestLabelsMisfit(t *testing.T) {
	t.Parallel()
	for body, field := range map[string]string{
		`"label": [[0, 19, "X"]]`: "label[0]",
		`"label": [[2, 1, "X"]]`:  "label[0]",
		`"label": [{"start": 0, "end": 3, "text": "Bob", "labels": ["X"]}]`:                      "label[0]",
		`"spans": [{"start": 0, "end": 3, "label": "a"}, {"start": 1, "end": 99, "label": "b"}]`: "spans[1]",
		`"answers": {"text": ["Ann"], "answer_start": [1]}`:                                      "answers[0]",
		`"x": {"char_span": [0, 40]}`:                                                            "x.char_span",
		`"entities": [{"start_offset": 5, "end_offset": 50, "label": "P"}]`:                      "entities[0]",
		`"tokens": ["Ann", "sat"], "ner_tags": [1, 0]`:                                           "tokens",
		`"tokens": ["Ann", "met", "Ann"], "ner_tags": [1, 0]`:                                    "ner_tags",
	} {
		_, err := labelsOf(itemOf(t, input.Options{Format: settings.FormatJSONL}, `{"text": "Ann slept", `+body+"}\n"), "")
		var e *jsonl.Error
		if !errors.As(err, &e) || e.Field != field || jsonl.Code(err) != "bad_span" {
			t.Errorf("%s: %v, field %+v", body, err, e)
		}
		if l, err := labelsOf(itemOf(t, input.Options{Format: settings.FormatJSONL}, `{"text": "Ann slept", `+body+"}\n"), "off"); field != "tokens" && field != "ner_tags" && (err != nil || l.any()) {
			t.Errorf("%s, off: %+v, %v", body, l, err)
		}
	}
}

// Numbers that are no places of words are left alone.
func TestNumbersThatAreNone(t *testing.T) {
	t.Parallel()
	const line = "The city was founded in 1240 and had a wall of stone until it burnt down in 1703."
	for _, body := range []string{
		`"years": [1240, 1703]`, `"from": 1240, "to": 1703`, `"start": 1240, "end": 1703`, `"score": 17`, `"count": 4`,
		`"price": {"from": 10, "to": 20}`, `"range": [3, 12]`, `"pages": {"start": 4, "end": 12}`, `"time": {"start": 0, "end": 12}`,
		`"scores": [1, 4]`, `"ratings": [[1, 4], [4, 8]]`, `"box": [4, 8, 24, 28]`, `"bbox": [[4, 8], [24, 28]]`, `"size": [4, 8]`,
		`"start": 0.5, "end": 3.2`, `"segments": [{"start": 0, "end": 3, "label": "speech"}]`, `"id": 8, "offset": 4`,
		`"meta": {"offset": 4, "length": 8}`, `"begin": 4, "end": 8`, `"year": 4`, `"label": 1`, `"label": [1, 0, 1]`,
		`"label": [[1, 0], [0, 1]]`, `"labels": ["a", "b"]`, `"label": "pos"`, `"stars": 4, "votes": 8`, `"ages": {"from": 18, "to": 24}`,
		`"date": "4-8"`, `"span": "a long one"`, `"dates": [{"start": 4, "end": 8, "label": "May"}]`, `"token_start": 4, "token_end": 8`,
		`"matrix": [[4, 8], [8, 12]]`, `"vector": [4, 8, 12, 13]`, `"history": [{"year": 4, "price": 8}]`, `"entities": []`,
		`"spans": null`, `"events": [{"label": "war", "start": 1618, "end": 1648}]`, `"durations": [[4, 8, "s"]]`,
		`"answers": {"text": [], "answer_start": []}`, `"answer_start": -1`, `"rows": {"from": 4, "to": 8}`, `"length": 4, "offset": "8"`,
	} {
		it := itemOf(t, input.Options{Format: settings.FormatJSONL}, `{"text": "`+line+`", `+body+"}\n")
		l, err := labelsOf(it, "")
		if err != nil || l.any() {
			t.Errorf("%s: %v, %+v", body, err, l)
			if l != nil && len(l.marks) > 0 {
				t.Logf("%+v", *l.marks[0])
			}
		}
	}
}

// Any record has labels within its text, which stay where nothing changes.
func FuzzLabels(f *testing.F) {
	for _, c := range forms {
		f.Add(c.body, c.field, "")
	}
	f.Add(`{"text": "a", "tokens": [], "spans": [[0, 1, "x"], [0, 1]], "x": {"start": [0], "end": [1]}}`, "text", "bytes")
	f.Add("[\"\x80\"]", "[0]", "")
	f.Fuzz(func(t *testing.T, body, field, units string) {
		in, err := input.OpenStream("a test", strings.NewReader(body+"\n"), input.Options{Format: settings.FormatJSONL, TextField: field})
		if err != nil {
			return
		}
		for it, err := in.Next(); err == nil; it, err = in.Next() {
			if it.Err != nil {
				continue
			}
			l, err := labelsOf(&it, units)
			if err != nil {
				continue
			}
			for _, k := range l.kept {
				if k.Start < 0 || k.End <= k.Start && l.tokens == nil || k.End > len(it.Text) {
					t.Errorf("%+v of %q", k, it.Text)
				}
			}
			same := &jsonl.Filling{Text: it.Text}
			if err := l.put(same, change{}); err != nil || same.Moved != nil || it.Source != nil && it.Words == nil &&
				same.Labelled != it.Source.Body {
				t.Errorf("%s: nothing changed, and it is %s%s, %v", body, same.Moved, same.Labelled, err)
			}
			_ = l.put(&jsonl.Filling{Text: ""}, change{{{jsonl.Span{0, len(it.Text)}, jsonl.Span{0, 0}}}})
		}
	})
}

// any reports whether something moves with the text.
func (l *labels) any() bool { return len(l.marks) > 0 || l.tokens != nil || l.rows != nil }
