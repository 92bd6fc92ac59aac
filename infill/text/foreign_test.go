package text

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"infill/internal/testmode"
	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

// foreignTo is the script of a text that is foreign to a vocabulary.
func foreignTo(t *testing.T, tok *tokenize.Tokenizer, s string) string {
	t.Helper()
	p, err := Read(tok, s)
	if err != nil {
		t.Fatal(err)
	}
	return foreignScript(p)
}

// Sentences of other languages are foreign to an English vocabulary, and English ones are not, with
// names and terms of any field.
func TestForeign(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	for text, want := range map[string]string{
		"東京は[MASK]の首都です。":                                                         "Hiragana",
		"今天天气很好，我们去[MASK]吧。":                                                      "Han",
		"개가 [MASK]에서 자고 있다.":                                                      "Hangul",
		"สุนัขกำลัง[MASK]อยู่ในสวน":                                               "Thai",
		"कुत्ता [MASK] में सो रहा है।":                                            "Devanagari",
		"הכלב ישן [MASK].":                                                        "Hebrew",
		"الكلب نائم في [MASK].":                                                   "Arabic",
		"Ο σκύλος [MASK] στον κήπο.":                                              "Greek",
		"Собака [MASK] в саду, пока дети играют.":                                 "Cyrillic",
		"ძაღლი ბაღში [MASK].":                                                     "Georgian",
		"Le chat [MASK] sur le canapé pendant que les enfants jouent dehors.":     "Latin",
		"Nous avons mangé une [MASK] délicieuse hier soir.":                       "Latin",
		"Der Hund [MASK] im Garten, während die Kinder in der Schule lernen.":     "Latin",
		"Pies śpi w [MASK], a dzieci bawią się na podwórku.":                      "Latin",
		"Köpek [MASK] uyuyor, çocuklar oynuyor.":                                  "Latin",
		"Anjing itu [MASK] di taman sementara anak-anak bermain.":                 "Latin",
		"The [MASK] sat on the mat.":                                              "",
		"[MASK]":                                                                  "",
		"The word 東京 means [MASK] in Japanese.":                                   "",
		"The patient received acetylsalicylic acid and [MASK] for an infarction.": "",
		"def tokenize(self, [MASK]): return self.tokenizer.encode(text)":          "",
		"Håkan Söderström works at the institute in [MASK].":                      "",
		"Otho overthrew [MASK].":                                                  "",
		"The HNRNPA2B1 gene and the SLC6A4 [MASK].":                               "",
		"3.14 + 2.71 = [MASK]":                                                    "",
		"[MASK|Собака спит в саду|dog|東京は] and the cat sleep.":                    "",
	} {
		if got := foreignTo(t, tok, text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Hardly any English line is foreign to an English vocabulary.
func TestForeignLines(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	for _, file := range []string{"wiki103.5k.txt", "wt103_valid.sents.txt"} {
		b, err := os.ReadFile(testmode.Shared(t, "data/eval/"+file))
		if err != nil {
			t.Fatal(err)
		}
		n, foreign := 0, 0
		for line := range strings.Lines(string(b)) {
			n++
			if foreignTo(t, tok, line) != "" {
				foreign++
			}
		}
		if t.Logf("%s: %d of %d", file, foreign, n); 500*foreign > n {
			t.Errorf("%s: %d of %d English lines are foreign", file, foreign, n)
		}
	}
}

// Vocabularies of bytes have no unknown token. One of Chinese characters knows them.
func TestForeignVocabularies(t *testing.T) {
	t.Parallel()
	if got := foreignTo(t, tokenizetest.Marked(t, "roberta"), "今天天气很好，我们去<mask>吧。"); got != "Han" {
		t.Errorf("%q", got)
	}
	vocab := "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"
	for _, r := range "今天气很好我们去散步吧，。" {
		vocab += string(r) + "\n"
	}
	tok, err := tokenize.Load(fstest.MapFS{"vocab.txt": {Data: []byte(vocab)}})
	if err != nil {
		t.Fatal(err)
	}
	if got := foreignTo(t, tok, "今天天气很好，我们去[MASK]吧。"); got != "" {
		t.Errorf("%q", got)
	}
	if got := foreignTo(t, tok, "The cat [MASK] on the mat."); got != "Latin" {
		t.Errorf("%q", got)
	}
}

// The language of a text is told by its function words, but not by names in an English one.
func TestLanguage(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	for s, want := range map[string]string{
		"Me gusta [MASK] en la [MASK].":                              "Spanish",
		"Il fait [MASK] aujourd'hui.":                                "French",
		"Der Hund läuft durch den [MASK].":                           "German",
		"La [MASK] è molto bella, ma non è mia.":                     "Italian",
		"Ela não [MASK] em casa com os filhos.":                      "Portuguese",
		"Ik heb een [MASK] voor mijn moeder.":                        "Dutch",
		"Jag har en [MASK] och du har två.":                          "Swedish",
		"Jeg har ikke en [MASK], men hun har to.":                    "Danish",
		"Nie wiem, czy to jest [MASK].":                              "Polish",
		"Bu [MASK] benim için çok güzel.":                            "Turkish",
		"She moved from Los Angeles to Las [MASK].":                  "",
		"General de Gaulle spoke in [MASK].":                         "",
		"Charles de Gaulle, Simone de [MASK], Leonardo da Vinci":     "",
		"Los Angeles [MASK]":                                         "",
		"The bar mitzvah of Ludwig van Beethoven die [MASK] hard":    "",
		"War and [MASK]":                                             "",
		"The words “el” and “la” are [MASK].":                        "",
		"[MASK] man and men come at a fast pace, so war must [MASK]": "",
	} {
		p, err := Read(tok, s)
		if err != nil {
			t.Fatal(err)
		}
		if got := unknownLanguage(tok, outside(p.Text, p.Blanks)); got != want {
			t.Errorf("%s: %q, want %q", s, got, want)
		}
	}
}
