package infill

import "testing"

func TestSplice(t *testing.T) {
	tok := tinyTokenizer(t)
	for _, c := range []struct {
		text   string
		pieces []string
		want   string
	}{
		{"the ___ sleeps .", []string{"dog"}, "the dog sleeps ."},
		{"[MASK] sleeps.", []string{"he"}, "He sleeps."},
		{"The\tdog [MASK]\r\n", []string{"runs"}, "The\tdog runs\r\n"},
		{"dog[MASK] run", []string{"##s"}, "dogs run"},
		{"the [MASK][MASK] run", []string{"dog", "##s"}, "the dogs run"},
		{"[MASK]\u00a0\U0001F600 [MASK]", []string{"she", "."}, "She\u00a0\U0001F600 ."},
		// Sentence starts.
		{"He runs. [MASK] sleeps.", []string{"she"}, "He runs. She sleeps."},
		{"Does he run? \"[MASK] sleeps.\"", []string{"she"}, "Does he run? \"She sleeps.\""},
		{"He ate 3.[MASK] apples.", []string{"four"}, "He ate 3.four apples."},
		{"Mr. [MASK] runs.", []string{"fox"}, "Mr. fox runs."},
		{"He runs, [MASK] sleeps.", []string{"she"}, "He runs, she sleeps."},
		// Text that its author wrote in lower case stays so.
		{"[MASK] is big . the dog runs .", []string{"she"}, "she is big . the dog runs ."},
		{"[MASK] ate the apple .", []string{"she"}, "she ate the apple ."},
		{"he runs. [MASK] sleeps.", []string{"she"}, "he runs. she sleeps."},
	} {
		tm, err := Parse(tok, c.text)
		if err != nil {
			t.Fatalf("%q: %v", c.text, err)
		}
		ids := make([]int32, len(c.pieces))
		for i, p := range c.pieces {
			id, ok := tok.ID(p)
			if !ok {
				t.Fatalf("the vocabulary lacks %q", p)
			}
			ids[i] = id
		}
		got, _ := splice(tm, tok, ids, CaseAuto)
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
		for i := range ids {
			ids[i], _ = tok.ID("dog")
		}
		if got, _ := splice(tm, tok, ids, CaseModel); got == c.want && c.pieces[0] != "dog" {
			t.Errorf("%q: the pieces do not matter", c.text)
		}
	}
}
