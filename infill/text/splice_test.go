package text

import (
	"strings"
	"testing"

	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

func TestSplice(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
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
		{"Dogs etc. [MASK] run.", []string{"fox"}, "Dogs etc. fox run."},
		{"Mr. [MASK] runs.", []string{"fox"}, "Mr. Fox runs."},
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
		words := make([]string, len(c.pieces))
		for i, p := range c.pieces {
			id, ok := tok.ID(p)
			if !ok {
				t.Fatalf("the vocabulary lacks %q", p)
			}
			words[i] = BoundaryOf(tok).Join([]int32{id})
		}
		got, _ := tm.Splice(words)
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
		for i := range words {
			words[i] = "dog"
		}
		if got, _ := tm.Write(words); got == c.want && c.pieces[0] != "dog" {
			t.Errorf("%q: the pieces do not matter", c.text)
		}
	}
}

// The pronoun I is a capital where the text is not written in lower case.
func TestPronoun(t *testing.T) {
	t.Parallel()
	the := tokenizerOf(t, "the", "la", "i", "am")
	for _, c := range []struct {
		text  string
		words []string
		want  string
	}{
		{"Yesterday [MASK] went home.", []string{"i"}, "Yesterday I went home."},
		{"Yesterday [MASK] went home, [MASK]'m sure.", []string{"i", "i"}, "Yesterday I went home, I'm sure."},
		{"It is [MASK].", []string{"i"}, "It is I."},
		{"He knows what [MASK].", []string{"i am and i do"}, "He knows what I am and I do."},
		{"Later [MASK] went home.", []string{"it"}, "Later it went home."},
		{"A word, [MASK].e. this.", []string{"i"}, "A word, i.e. this."},
		{"An [MASK]-beam.", []string{"i"}, "An i-beam."},
		{"A sk[MASK] slope.", []string{"i"}, "A ski slope."},
		{"A [MASK][MASK] slope.", []string{"i", "s"}, "A is slope."},
		{"yesterday [MASK] went home.", []string{"i"}, "yesterday i went home."},
	} {
		tm, err := Parse(the, c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := tm.Splice(c.words); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
		if got, _ := tm.Write(c.words); strings.Contains(
			got, "I",
		) != strings.Contains(
			c.text, "I",
		) {
			t.Errorf("%q: as the model has it %q", c.text, got)
		}
	}
	la := tokenizerOf(t, "la", "the", "i", "am")
	tm, err := Parse(la, "Vedo [MASK] gatti.")
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := tm.Splice([]string{"i"}); got != "Vedo i gatti." {
		t.Errorf("in another language: %q", got)
	}
	if !english(tokenizetest.Small(t)) {
		t.Error("the model small is not English")
	}
}

// tokenizerOf is an uncased tokenizer of some words.
func tokenizerOf(t *testing.T, words ...string) *tokenize.Tokenizer {
	t.Helper()
	pieces := append([]string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}, words...)
	return tokenizetest.Of(t, false, pieces...)
}

func TestJoin(t *testing.T) {
	t.Parallel()
	tok := tokenizerOf(t, "dog", "cat", "s", "##s", "##ing", ",", "(", ")", "'", "-", ".", "猫", "犬",
		"$", "5")
	for pieces, want := range map[string]string{
		"dog cat":       "dog cat",
		"dog ##s cat":   "dogs cat",
		"dog , cat":     "dog, cat",
		"dog ( cat ) .": "dog (cat).",
		"dog ' s cat":   "dog's cat",
		"dog - cat":     "dog-cat",
		"猫 犬 dog":       "猫犬 dog",
		"$ 5 dog":       "$5 dog",
		", dog ##ing":   ", doging",
	} {
		var ids []int32
		for _, p := range strings.Fields(pieces) {
			id, ok := tok.ID(p)
			if !ok {
				t.Fatalf("the vocabulary lacks %q", p)
			}
			ids = append(ids, id)
		}
		got := BoundaryOf(tok).Join(ids)
		if got != want {
			t.Errorf("%s: %q, want %q", pieces, got, want)
		}
		// The model reads what it wrote: the tokenizer makes the same pieces of it.
		enc, err := tok.Pieces(got)
		if err != nil || strings.Join(enc.Tokens, " ") != pieces {
			t.Errorf("%q is read as %v (%v), written as %s", got, enc.Tokens, err, pieces)
		}
	}
}

// A word in the place of one that was masked takes its case.
func TestCaseOfMasked(t *testing.T) {
	t.Parallel()
	uncased := tokenizetest.Small(t)
	pieces := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "The", "my", "dog", "like"}
	with := tokenizetest.Of(t, true, pieces...)
	for _, c := range []struct {
		text, masked, words, want string // the text with its words, which are masked in this order
		cased                     bool
	}{
		{"the dog sleeps", "the dog", "a/cat", "a cat sleeps", false},
		{"dogs run. they sleep", "dogs they", "france/i", "france run. i sleep", false},
		{"The dog sleeps.", "The", "this", "This dog sleeps.", false},
		{"The dog sleeps", "dog", "cat", "The cat sleeps", false},
		{"dogs like Ann.", "dogs Ann", "cats/peter", "cats like Peter.", false},
		{"We met Ann there.", "Ann", "him", "We met him there.", false},
		{"We met Smirks there.", "Smirks", "blocks", "We met Blocks there.", false},
		{"The DOG sleeps.", "DOG", "cat", "The CAT sleeps.", false},
		{"THE DOG SLEEPS.", "THE", "a", "A DOG SLEEPS.", false},
		{"We saw an iPhone.", "iPhone", "house", "We saw an house.", false},
		{"iPhone users wait", "iPhone", "the", "The users wait", false},
		{"So he left the city.", "he city", "i/france", "So I left the France.", false},
		{"So I left.", "I", "he", "So he left.", false},
		{"Many U.S. adults", "U.S.", "american", "Many American adults", false},
		{"the dog sleeps", "the", "The", "the dog sleeps", true},
		{"dogs like Ann", "dogs", "The", "the like Ann", true},
		{"The dog sleeps", "The", "my", "My dog sleeps", true},
	} {
		tok := uncased
		if c.cased {
			tok = with
		}
		var spans [][2]int
		last := 0
		for _, w := range strings.Fields(c.masked) {
			a := last + strings.Index(c.text[last:], w)
			last = a + len(w)
			spans = append(spans, [2]int{a, last})
		}
		tm, _, err := BlankOut(tok, c.text, spans)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := tm.Splice(strings.Split(c.words, "/")); got != c.want {
			t.Errorf("%q, %s masked: %q, want %q", c.text, c.masked, got, c.want)
		}
		raw := strings.Split(c.words, "/")
		if got, _ := tm.Write(raw); !strings.Contains(got, raw[0]) {
			t.Errorf("as the model spells: %q", got)
		}
	}
}
