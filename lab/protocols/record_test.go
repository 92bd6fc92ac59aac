package protocols

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/lab/internal/runlog"
)

// A line that has no vocabulary is of words, as all lines were that are older than the field. A run
// with another vocabulary is another run.
func TestVocabOfRun(t *testing.T) {
	const old = `{"model":"small","data":"in.txt","protocol":"A","budget":"steps","steps":50,` +
		`"chains":25,"sampler":"gibbs","sentence":"1","seed":1,`
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	if err := os.WriteFile(path, []byte(old+`"blanks":4,"states":null}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, _, err := runlog.Read[record](path)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	j := job{data: "in.txt", protocols: "A", budgets: "steps", samplers: "gibbs", steps: 50, chains: 25}
	seen := map[key]string{}
	for _, vocab := range []string{"words", "all", "whole-words"} {
		j.vocab = vocab
		k := j.keys("1", 1)[0]
		if other, ok := seen[k]; ok {
			t.Errorf("runs of %s and of %s have the same key", vocab, other)
		}
		seen[k] = vocab
		if done := k == all[0].key; done != (vocab == "words") {
			t.Errorf("the old line counts as a run of %s: %v", vocab, done)
		}
		b, err := json.Marshal(record{key: k})
		if err != nil {
			t.Fatal(err)
		}
		if vocab == "words" && !strings.HasPrefix(string(b), old) {
			t.Errorf("a run of words begins\n%.200s, want\n%s", b, old)
		}
		var back record
		if err := json.Unmarshal(b, &back); err != nil || back.key != k {
			t.Errorf("%s is read as %+v, %v", b, back.key, err)
		}
	}
}

// Runs of two vocabularies, or of two precisions, in one file have tables of their own, which name
// what is not words or fp32, in whatever order the runs were made.
func TestTwoVocabs(t *testing.T) {
	for name, set := range map[string]func(r *record){
		"vocabulary all": func(r *record) { r.Vocab = "all" },
		"chains in bf16": func(r *record) { r.Precision = "bf16" },
	} {
		t.Run(name, func(t *testing.T) { twoGroups(t, name, set) })
	}
}

func twoGroups(t *testing.T, name string, set func(r *record)) {
	t.Helper()
	var all []record
	for i, r := range runs() {
		all = append(all, r)
		set(&r)
		if r.Sampler == "b" { // by four nats a blank in place of one
			r.States = slices.Clone(r.States)
			for i := range r.States {
				r.States[i].Score += 6
			}
		}
		all = append(all, r)
		if i%3 == 0 { // now the one is first, now the other
			n := len(all)
			all[n-1], all[n-2] = all[n-2], all[n-1]
		}
	}
	var b strings.Builder
	if err := (&tabler{top: 5}).write(&b, all); err != nil {
		t.Fatal(err)
	}
	table := b.String()
	b.Reset()
	p := &pager{job: &job{samplers: "a b"}, top: 5}
	if err := p.write(&b, all); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for text, want := range map[string][]string{
		table: {"sentences: 4, seeds: 2.", "sentences: 4, " + name + ", seeds: 2.", "+1.00 ± 0.00",
			"+4.00 ± 0.00"},
		page: {"\n## Protocol A, equal steps\n", "\n## Protocol A, equal steps, " + name + "\n",
			"| 4 | A | steps | 2 |", "| 4, " + name + " | A | steps | 2 |", "+1.00 ± 0.00", "+4.00 ± 0.00"},
	} {
		for _, want := range want {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in\n%s", want, text)
			}
		}
	}
	if n := strings.Count(page, "\n## "); n != 2 {
		t.Errorf("%d sections in\n%s", n, page)
	}
}
