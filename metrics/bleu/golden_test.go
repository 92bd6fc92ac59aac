package bleu

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/testmode"
	"infill/metrics/corpus"
	"infill/metrics/ngram"
)

func readCorpus(t testing.TB, v *corpus.Vocab, o corpus.Options, path string) *corpus.Corpus {
	t.Helper()
	p, err := corpus.NewPipeline(o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := corpus.New(v, p)
	for line := range strings.Lines(string(text)) {
		if err := c.Add(strings.TrimRight(line, "\r\n")); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

var generated = map[string]string{
	"bert-base": "bert-base-uncased-len40-burnin250-topk100-temp1.000.txt",
	"gpt":       "gpt-len40-topk100-temp1.000.txt",
}

func TestGoldenWangCho(t *testing.T) {
	t.Parallel()
	dir := testmode.Shared(t, "data")
	for _, g := range []struct {
		file string
		want [5]string // TBC, Wiki, half and half, all, self
	}{
		{"bert-base", [5]string{"7.90", "8.70", "9.22", "12.12", "9.27"}},
		{"gpt", [5]string{"30.75", "10.81", "26.11", "32.34", "40.02"}},
	} {
		t.Run(g.file, func(t *testing.T) {
			v := &corpus.Vocab{}
			wc := corpus.Options{Clean: "wc"}
			hyps := readCorpus(t, v, corpus.Options{}, filepath.Join(dir, "metrics", generated[g.file]))
			tbc := readCorpus(t, v, wc, filepath.Join(dir, "eval", "tbc.5k.txt"))
			wiki := readCorpus(t, v, wc, filepath.Join(dir, "eval", "wiki103.5k.txt"))
			for i, refs := range [][]*corpus.Corpus{{tbc}, {wiki}, {tbc.Head(2500), wiki.Head(2500)},
				{tbc, wiki}} {
				x, err := ngram.NewIndex(4, v)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range refs {
					if err := addCorpus(x, r, nil); err != nil {
						t.Fatal(err)
					}
				}
				r, err := Corpus(hyps, x, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprintf("%.2f", r.Percent()); got != g.want[i] {
					t.Errorf("reference set %d: BLEU %s (%v), want %s", i, got, r.Score, g.want[i])
				}
			}
			r, err := Self(hyps, SelfOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%.2f", r.Percent()); got != g.want[4] {
				t.Errorf("self-BLEU %s, want %s", got, g.want[4])
			}
		})
	}
}

// The gold sentences are decoded from BERT's basic tokens. Both figures are
// against the references that are not task sentences; "removed" means equal but
// for quotation marks and case, because the task's makers dropped the quotes.
func TestGoldenTaskSentences(t *testing.T) {
	t.Parallel()
	dir := testmode.Shared(t, "data")
	data, err := os.ReadFile(filepath.Join(dir, "eval", "discs-infilling-task.json"))
	if err != nil {
		t.Fatal(err)
	}
	var task []struct {
		Gold string `json:"gt_sentence"`
	}
	if err := json.Unmarshal(data, &task); err != nil {
		t.Fatal(err)
	}
	excluded := map[string]bool{}
	for _, g := range task {
		excluded[corpus.LooseKey(g.Gold)] = true
	}
	bert, err := corpus.NewPipeline(corpus.Options{Tokenizer: "bert"})
	if err != nil {
		t.Fatal(err)
	}
	for tok, want := range map[string]string{"ws": "25.53", "glued": "17.19"} {
		v := &corpus.Vocab{}
		pipe, err := corpus.NewPipeline(corpus.Options{Tokenizer: tok})
		if err != nil {
			t.Fatal(err)
		}
		hyps := corpus.New(v, pipe)
		for _, g := range task {
			if err := hyps.Add(strings.Join(bert.Tokens(g.Gold), " ")); err != nil {
				t.Fatal(err)
			}
		}
		x, err := ngram.NewIndex(4, v)
		if err != nil {
			t.Fatal(err)
		}
		removed := 0
		for _, name := range []string{"tbc.5k.txt", "wiki103.5k.txt"} {
			path := filepath.Join(dir, "eval", name)
			c := readCorpus(t, v, corpus.Options{Clean: "wc"}, path)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(text), "\n")
			err = addCorpus(x, c, func(i int) bool {
				out := excluded[corpus.LooseKey(lines[i])]
				if out {
					removed++
				}
				return !out
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if removed != len(task) {
			t.Errorf("%d references removed for %d task sentences", removed, len(task))
		}
		r, err := Corpus(hyps, x, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%.2f", r.Percent()); got != want {
			t.Errorf("%s: BLEU %s (%v), want %s", tok, got, r.Score, want)
		}
	}
}

func TestGoldenSelfFirstLines(t *testing.T) {
	t.Parallel()
	dir := testmode.Shared(t, "data")
	c := readCorpus(t, nil, corpus.Options{}, filepath.Join(dir, "metrics", generated["bert-base"]))
	for n, want := range map[int]string{100: "0.030590517899909", 200: "0.048215611828166",
		400: "0.056061201155733"} {
		r, err := Self(c, SelfOptions{Variant: firstN, First: n})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%.15f", r.Score); got != want {
			t.Errorf("first %d: self-BLEU %s, want %s", n, got, want)
		}
	}
}

// addCorpus adds the sentences of a corpus for which keep is nil or true.
func addCorpus(x *ngram.Index, c *corpus.Corpus, keep func(i int) bool) error {
	if c.Vocab() != x.Vocab() {
		return ngram.ErrVocab
	}
	x.Cleaning = c.Pipeline().Options().Clean
	for i := range c.Len() {
		if keep == nil || keep(i) {
			x.Add(c.Sentence(i))
		}
	}
	return nil
}
