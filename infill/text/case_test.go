package text

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"infill/internal/testmode"
	"infill/internal/truecase"
	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

// Words have the capitals of running English text.
func TestNames(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	for _, c := range []struct {
		text, words, want string // words of several blanks have / between
	}{
		{"Paris is the capital of [MASK].", "france", "Paris is the capital of France."},
		{"[MASK] is the capital of [MASK].", "paris/france", "Paris is the capital of France."},
		{"They met in [MASK] and again in [MASK].", "october/may", "They met in October and again in May."},
		{"They [MASK] meet on [MASK] 5.", "may/march", "They may meet on March 5."},
		{"The soldiers [MASK] to the river.", "march", "The soldiers march to the river."},
		{"We ate [MASK] for dinner and flew to [MASK].", "turkey/turkey", "We ate turkey for dinner and flew to Turkey."},
		{"He moved from [MASK] to [MASK].", "los angeles/san francisco",
			"He moved from Los Angeles to San Francisco."},
		{"The [MASK] [MASK] is a [MASK] house.", "white/house/white", "The White House is a white house."},
		{"He told [MASK] that [MASK] Smith was there.", "us/will", "He told us that Will Smith was there."},
		{"The [MASK] government [MASK] reply.", "us/will", "The US government will reply."},
		{"She lives in the [MASK] [MASK].", "united/states", "She lives in the United States."},
		{"They were [MASK] again.", "united", "They were united again."},
		{"She works for the [MASK].", "bbc", "She works for the BBC."},
		{"The [MASK] beat the Bears.", "lions", "The Lions beat the Bears."},
		{"The [MASK] lost to the [MASK] in the NFL.", "lions/rams", "The Lions lost to the Rams in the NFL."},
		{"The [MASK] won the Super Bowl.", "raiders", "The Raiders won the Super Bowl."},
		{"The [MASK] won the war against the [MASK].", "giants/lions",
			"The giants won the war against the lions."},
		{"The Bears saw the [MASK] of the NFL.", "kings", "The Bears saw the kings of the NFL."},
		{"[MASK] is a molecule.", "dna", "DNA is a molecule."},
		{"Here is [MASK]. Jones with [MASK] dog.", "mr/his", "Here is Mr. Jones with his dog."},
		{"He moved to [MASK].", "los angeles", "He moved to Los Angeles."},
		{"He moved to [MASK] [MASK].", "los/angeles", "He moved to Los Angeles."},
		{"He moved to [MASK] York, a [MASK] city.", "new/new", "He moved to New York, a new city."},
		{"She is a [MASK]-speaking [MASK].", "french/doctor", "She is a French-speaking doctor."},
		{"It was [MASK]'s idea, wasn'[MASK] it?", "john/t", "It was John's idea, wasn't it?"},
		{"It is [MASK]. [MASK] sleeps.", "i/she", "It is I. She sleeps."},
		// Of a word in parts only the filled ones change, if the others agree.
		{"He lives in [MASK]ton.", "washing", "He lives in Washington."},
		{"He lives in [MASK][MASK].", "wash/ington", "He lives in Washington."},
		{"He lives in [MASK]TON.", "washing", "He lives in washingTON."},
		// Texts in lower case, and in capitals.
		{"paris is the capital of [MASK].", "france", "paris is the capital of france."},
		{"THE [MASK] OF FRANCE IS [MASK].", "capital/paris", "THE CAPITAL OF FRANCE IS PARIS."},
		{"I [MASK].", "sleep", "I sleep."},
		// Direct speech.
		{`"Is it far?" [MASK] asked.`, "he", `"Is it far?" he asked.`},
		{`"Is it far?" [MASK] [MASK].`, "peter/asked", `"Is it far?" Peter asked.`},
		{`"Is it far?" [MASK] [MASK].`, "asked/peter", `"Is it far?" asked Peter.`},
		{`"Is it far?" [MASK] old man asked.`, "the", `"Is it far?" the old man asked.`},
		{`"Is it far?" [MASK] walked on.`, "he", `"Is it far?" He walked on.`},
		{`"It is late." [MASK] said no more.`, "he", `"It is late." He said no more.`},
		{`Is it far? [MASK] asked.`, "he", `Is it far? He asked.`},
		{`"[MASK]!" she cried. “[MASK] are late.”`, "no/we", `"No!" she cried. “We are late.”`},
		{`"come!" she cried. "[MASK] are late."`, "we", `"come!" she cried. "we are late."`},
		{`He asked, "[MASK] you tired?"`, "are", `He asked, "Are you tired?"`},
		{`She said: “[MASK] are tired,” and left.`, "we", `She said: “We are tired,” and left.`},
		{`"Come," she said, "[MASK] we are late."`, "or", `"Come," she said, "or we are late."`},
		{`It is red, "[MASK]" or green.`, "blue", `It is red, "blue" or green.`},
		// Titles.
		{"How to Make the Perfect [MASK] in [MASK] Minutes", "cake/five",
			"How to Make the Perfect Cake in Five Minutes"},
		{"Chapter One: The [MASK] of [MASK] [MASK]", "end/the/world",
			"Chapter One: The End of the World"},
		{"How to Make the Perfect [MASK].", "cake", "How to Make the Perfect cake."},
		{"President Lincoln Was [MASK]! He Was [MASK]", "tall/old", "President Lincoln Was tall! He Was old"},
		{"Stainless Steel Water [MASK] with Straw, 32 oz, Keeps Drinks [MASK] for 24 [MASK]",
			"bottle/cold/hours", "Stainless Steel Water Bottle with Straw, 32 oz, Keeps Drinks Cold for 24 Hours"},
		{"Anna and Peter met Paul in the [MASK]", "park", "Anna and Peter met Paul in the park"},
		{"Anna, Peter and Paul [MASK]", "laugh", "Anna, Peter and Paul laugh"},
		// Titles in quotation marks, of which a word has a capital.
		{`She read "Pride and [MASK]" twice.`, "prejudice", `She read "Pride and Prejudice" twice.`},
		{`The film “The [MASK] and the Sea”`, "man", `The film “The Man and the Sea”`},
		{`"[MASK] and Prejudice" is a book.`, "pride", `"Pride and Prejudice" is a book.`},
		{`He read "Crime [MASK] Punishment".`, "and", `He read "Crime and Punishment".`},
		{`He said "Come and [MASK]" to them.`, "eat", `He said "Come and eat" to them.`},
		{`She calls, "Come and [MASK]" to them.`, "eat", `She calls, "Come and eat" to them.`},
		{`They sell "Paris and [MASK]" tours.`, "beyond", `They sell "Paris and beyond" tours.`},
		{`A sign says it: "We are [MASK]" there.`, "closed", `A sign says it: "We are closed" there.`},
		// What stands beside a word decides.
		{"It is the best [MASK] I've ever seen.", "picture", "It is the best picture I've ever seen."},
		{"Man is to woman as [MASK] is to [MASK]", "king/queen", "Man is to woman as king is to queen"},
		{"Man is to [MASK] as woman is to [MASK].", "queen/king", "Man is to queen as woman is to king."},
		{"The Chicago [MASK] won the game.", "rockets", "The Chicago Rockets won the game."},
		{"The Chicago [MASK] won the game.", "cubs", "The Chicago Cubs won the game."},
		{"The Soviet [MASK] flew.", "rockets", "The Soviet rockets flew."},
		{"They visited the United [MASK].", "nation", "They visited the United Nation."},
		{"They visited the United [MASK].", "state", "They visited the United State."},
		// Other languages.
		{"Il fait [MASK]", "un", "Il fait un"}, {"Il fait [MASK].", "un", "Il fait un."},
		{"Ich bin in Berlin und [MASK].", "us", "Ich bin in Berlin und us."},
		{"Las Vegas, [MASK]", "nevada", "Las Vegas, Nevada"},
		// Programmers.
		{"The [MASK] is for [MASK] and [MASK].", "gpu/nlp/ml", "The GPU is for NLP and ML."},
		{"We read up to [MASK] and report [MASK].", "eof/bleu", "We read up to EOF and report BLEU."},
		{"An [MASK] decomposition, a [MASK] address.", "lu/mac", "An LU decomposition, a MAC address."},
		{"He gave [MASK] Xun 5 [MASK] on a [MASK].", "lu/ml/mac", "He gave Lu Xun 5 ml on a Mac."},
		// Speakers.
		{"A: Do you want [MASK] or [MASK]? B: [MASK], please.", "coffee/tea/yes",
			"A: Do you want coffee or tea? B: Yes, please."},
		{"He left. At 3: [MASK] again.", "gone", "He left. At 3: gone again."},
		{"ZC: [MASK] is late.", "it", "ZC: It is late."}, {"Q: [MASK] is it?", "who", "Q: Who is it?"},
		{"ZC: Who is it?\nDr. Smith: [MASK] is me.", "it", "ZC: Who is it?\nDr. Smith: It is me."},
		{"Peter: [MASK] is late.", "it", "Peter: It is late."},
		{"We need three things: [MASK] and milk.", "sugar", "We need three things: sugar and milk."},
		{"Colours: [MASK] and green.", "red", "Colours: red and green."},
		// Addresses.
		{"Write to John@[MASK].com or see www.[MASK].com.", "google/london",
			"Write to John@google.com or see www.london.com."},
		{"See (https://[MASK].org/[MASK]) in [MASK].", "london/paris/paris",
			"See (https://london.org/paris) in Paris."},
		{"Look into “/home/[MASK]” or ask [MASK].", "paris/paris", "Look into “/home/paris” or ask Paris."},
	} {
		tm, err := Parse(tok, c.text)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Split(c.words, "/")
		got, spans := tm.Splice(words)
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
		for i, s := range spans {
			if !strings.EqualFold(got[s[0]:s[1]], words[i]) {
				t.Errorf("%q: blank %d is said to be %q", got, i+1, got[s[0]:s[1]])
			}
		}
		if got, _ := tm.Write(words); !strings.EqualFold(got, c.want) {
			t.Errorf("%q: as the model has it %q", c.text, got)
		}
	}
	// Another language has other names.
	la := tokenizerOf(t, "la", "the", "france", "paris")
	tm, err := Parse(la, "Paris, [MASK].")
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := tm.Splice([]string{"france"}); got != "Paris, france." {
		t.Errorf("in another language: %q", got)
	}
}

// The model reads a word of the table as it reads the word in lower case.
func TestNamesRead(t *testing.T) {
	t.Parallel()
	tok, n := tokenizetest.Small(t), 0
	table, err := os.ReadFile("../../internal/truecase/table.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		n++
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		lower, err := tok.Word(strings.ToLower(word), tokenize.AfterSpace)
		if err != nil {
			t.Fatal(err)
		}
		if form, err := tok.Word(word, tokenize.AfterSpace); err != nil ||
			!slices.Equal(form.IDs, lower.IDs) {
			t.Errorf("%s is read as %v, its lower case as %v (%v)", word, form.Tokens, lower.Tokens, err)
		}
	}
	if n < 10_000 {
		t.Errorf("the table has %d words", n)
	}
}

// The words of held-out lines, each filled in where it stood, alone and with the word before, are
// spelt as the line has them. The corpus of the table has none of these lines.
func TestNamesHeldOut(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	for _, c := range []struct {
		name  string
		least float64 // share of the words that are spelt as they were
		most  float64 // share of the words in lower case that get a capital
	}{{"wt103_valid.sents.txt", .95, .004}, {"tbc.5k.txt", 1, 0}} {
		for together := 1; together <= 2; together++ {
			var right, plain, lower, over, words int
			eachHeldOut(t, tok, c.name, together, func(tm *Template, spelt []string) {
				keys := make([]string, len(spelt))
				for i, w := range spelt {
					keys[i] = strings.ToLower(w)
				}
				got, spans := tm.Splice(keys)
				for i, word := range spelt {
					filled := got[spans[i][0]:spans[i][1]]
					words++
					if filled == word {
						right++
					}
					if word == keys[i] {
						lower++
						if filled != word && !truecase.StartsSentence(tm.Text[:tm.Blanks[i].Start]) {
							over++
						}
					}
					if withoutTable(tm, i, keys[i]) == word {
						plain++
					}
				}
			})
			share := func(n, of int) float64 { return float64(n) / float64(of) }
			t.Logf("%s, %d filled together: %d words, %.2f %% right, %.2f %% without the table, "+
				"%.2f %% of %d in lower case get a capital", c.name, together, words,
				100*share(right, words), 100*share(plain, words), 100*share(over, lower), lower)
			if share(right, words) < c.least || right < plain || share(over, lower) > c.most {
				t.Errorf("%s: want %.0f %% right, no fewer than without the table, at most %.1f %% too "+
					"many", c.name, 100*c.least, 100*c.most)
			}
		}
	}
}

// eachHeldOut calls do with a text that has blanks for some words of a file's lines, which follow
// each other and are pieces of the vocabulary, and with these words.
func eachHeldOut(t *testing.T, tok *tokenize.Tokenizer, name string, together int,
	do func(tm *Template, spelt []string)) {
	t.Helper()
	f, err := os.Open(testmode.Shared(t, "data", "eval", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for n := 0; in.Scan(); n++ {
		if n%4 > 0 && !testmode.All() {
			continue
		}
		line := in.Text()
		var blanks []Blank
		var spelt []string
		for a, b := range truecase.Words(line) {
			_, ok := tok.ID(strings.ToLower(line[a:b]))
			if n := len(blanks); !ok || !unicode.IsLetter(firstRune(line[a:])) ||
				n > 0 && strings.TrimSpace(line[blanks[n-1].End:a]) != "" {
				blanks, spelt = nil, nil
			}
			if !ok || !unicode.IsLetter(firstRune(line[a:])) {
				continue
			}
			blanks, spelt = append(blanks, Blank{Start: a, End: b}), append(spelt, line[a:b])
			if n := len(blanks) - together; n >= 0 {
				do(&Template{Tok: tok, Text: line, Blanks: blanks[n:]}, spelt[n:])
			}
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
}

// withoutTable is a word with a capital at the start of a sentence, and the pronoun I.
func withoutTable(tm *Template, blank int, word string) string {
	if !writtenLower(tm) && (word == "i" || truecase.StartsSentence(tm.Text[:tm.Blanks[blank].Start])) {
		return capitalise(word)
	}
	return word
}
