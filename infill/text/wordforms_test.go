package text

import (
	"slices"
	"strings"
	"testing"
)

// What looks like several words and is one is masked whole or not at all. The words of each line
// are those that may be masked, with / between; in brackets those of classEverything alone.
func TestWordForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Many older U.S. adults sleep.":        "Many/older/U.S./adults/sleep",
		"He lives in the U.S. The dog left.":   "He/lives/in/the/U.S/The/dog/left",
		"the U.S. Army of (the U.S.) and":      "the/U.S./Army/of/the/U.S./and",
		"It is in D.C.":                        "It/is/in/D.C",
		"up at 9 a.m. on weekdays":             "up/at/9/a.m./on/weekdays",
		"up at 9 a.m. Then he left":            "up/at/9/a.m/Then/he/left",
		"fruit, e.g. apples (i.e., food)":      "fruit/e.g./apples/i.e./food",
		"a U.S.-led team, a Ph.D. thesis":      "a/U.S.-led/team/a/Ph.D./thesis",
		"by J. R. R. Tolkien":                  "by/(J.)/(R.)/(R.)/Tolkien",
		"e.g. Ann, 9 a.m. Monday in Jan. 2020": "e.g./Ann/9/a.m./Monday/in/Jan./2020",
		"5 ft. tall, et al. found word(s)":     "5/ft./tall/et/al./found/word(s)",
		"Smith Bros., a.k.a. Bob, f(x), A+":    "Smith/Bros./a.k.a./Bob/f(x)/(A+)",
		"J.R.R. Tolkien wrote":                 "J.R.R./Tolkien/wrote",
		"We take plan B. Then we go":           "We/take/plan/B/Then/we/go",
		"See No. 5 and p. 7. I say no.":        "See/No./5/and/p./7/I/say/no",
		"Dr. Ann, Gen. Lee, Acme Inc. etc.":    "Dr./Ann/Gen./Lee/Acme/Inc./etc",
		"costs 3.50 or 1,000.5 (2.5%)":         "costs/3.50/or/1,000.5/2.5",
		"at 10:30 or 9:15pm, not 12:00:01":     "at/10:30/or/9:15pm/not/12:00:01",
		"version 0.0.0.16 or v2.1-rc1":         "version/(0.0.0.16)/or/(v2.1-rc1)",
		"host 192.168.0.1, fe80::1":            "host/(192.168.0.1)/(fe80::1)",
		"<ann.b+c@example.org>, or write":      "(ann.b+c@example.org)/or/write",
		"see https://a.org/b?c=1&d=2#e.":       "see/(https://a.org/b?c=1&d=2#e)",
		"at www.example.org/~ann, folks":       "at/(www.example.org/~ann)/folks",
		"about #golang and @ann_b's cat":       "about/(#golang)/and/(@ann_b's)/cat",
		"open report.pdf or ~/a/b.txt":         "open/(report.pdf)/or/(~/a/b.txt)",
		`in C:\Users\ann\x.doc, .gitignore`:    `in/(C:\Users\ann\x.doc)/(.gitignore)`,
		"C++ and C# beat snake_case":           "(C++)/and/(C#)/beat/(snake_case)",
		"[COL] title [VAL] red shoes[1]":       "([COL])/title/([VAL])/red/shoes/([1])",
		`<b>bold</b> <a href="x y">z</a>`:      `(<b>)/bold/(</b>)/(<a href="x y">)/z/(</a>)`,
		"Hi {{name}}, {0} ${user} {% if x %}": "Hi/({{name}})/({0})/(${user})/" +
			"({% if x %})",
		"%(user)s owes %s, 50%sure": "(%(user)s)/owes/(%s)/(50%sure)",
		"if $x$ or $a + b$ then $HOME": "if/($x$)/or/($a + b$)/then/" +
			"($HOME)",
		"costs $5 or $6, US$5":           "costs/5/or/6/(US$5)",
		"R&amp;D :smile: :D <3 AT&T":     "R/(&amp;)/D/(:smile:)/(:D)/(<3)/AT&T",
		"\"don't\" state-of-the-art (x)": "don't/state-of-the-art/x",
		"a < b and c > d, 2024-01-05":    "a/b/and/c/d/2024-01-05",
		"今天天好，我们看コーヒー。":                  "今/天/天/好/我/们/看/コーヒー",
		"私はXMLを読む":                       "私/は/XML/を/読/む",
		"나는 책을 읽는다":                      "나는/책을/읽는다",
		"ฉันกินข้าว rice":                "(ฉันกินข้าว)/rice",
	} {
		var got, free []string
		for _, w := range wordsOf(text) {
			s := text[w.span[0]:w.span[1]]
			if !w.fixed {
				free = append(free, s)
			} else {
				s = "(" + s + ")"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "/"); s != want {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
		if got := maskable(t, Masking{}, text); !slices.Equal(got, free) {
			t.Errorf("%q: %q may be masked, want %q", text, got, free)
		}
	}
}
