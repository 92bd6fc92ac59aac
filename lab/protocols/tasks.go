package protocols

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"infill/infill"
	"infill/infill/records"
	"infill/infill/text"
	"infill/report/read"
	"infill/tokenize"
)

// A task is a sentence to fill.
type task struct {
	id, gold string
	opt      infill.Options // what the masking found out
	template *text.Template
}

// files are the files of the sentences.
func (j *job) files() []string {
	return strings.FieldsFunc(j.data, func(r rune) bool { return r == ',' })
}

// dataName is what the records call the files.
func (j *job) dataName() string {
	var names []string
	for _, f := range j.files() {
		names = append(names, filepath.Base(f))
	}
	return strings.Join(names, ", ")
}

// tasks reads the sentences of all files. Those of several files are numbered as in tbc.txt:7.
func (j *job) tasks(tok *tokenize.Tokenizer) ([]task, error) {
	var out []task
	for _, path := range j.files() {
		sources, err := read.Sources(path, nil)
		if err != nil {
			return nil, err
		}
		prefix := ""
		if len(j.files()) > 1 {
			prefix = filepath.Base(path) + ":"
		}
		some, err := j.selected(tok, path, prefix, sources)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no sentence is left of -only and -words", j.data)
	}
	return out, nil
}

// selected makes tasks of the sentences of a file that the flags ask for.
func (j *job) selected(
	tok *tokenize.Tokenizer, path, prefix string, sources []read.Source,
) ([]task, error) {
	vocab, ok := map[string]text.Vocab{
		"words": text.VocabWords, "all": text.VocabAll, "whole-words": text.VocabWholeWords,
	}[j.vocab]
	if !ok {
		return nil, fmt.Errorf("-vocab %s: want words, all or whole-words", j.vocab)
	}
	fewest, most, err := j.lengths()
	if err != nil {
		return nil, err
	}
	only := strings.FieldsFunc(j.only, func(r rune) bool { return r == ',' })
	var out []task
	for i, s := range sources {
		t := task{id: prefix + fmt.Sprint(i+1), gold: s.Gold}
		n := len(strings.Fields(s.Text))
		if len(only) > 0 && !slices.Contains(only, t.id) || n < fewest || n > most {
			continue
		}
		if j.limit > 0 && len(out) == j.limit {
			break
		}
		// The words to mask are the same for all seeds.
		t.opt = infill.Options{ID: t.id, Seed: 1, Words: infill.WordOptions{Vocab: vocab},
			Results: infill.ResultOptions{Score: infill.ScorePLL}}
		if j.rate > 0 {
			t.gold = s.Text
		}
		t.template, _, err = records.Blanks(tok, s.Text, text.Masking{Rate: j.rate}, &t.opt)
		if err != nil {
			return nil, fmt.Errorf("%s: sentence %s: %w", path, t.id, err)
		}
		out = append(out, t)
	}
	return out, nil
}

// lengths reads -words.
func (j *job) lengths() (fewest, most int, err error) {
	if j.words == "" {
		return 0, 1 << 30, nil
	}
	if n, err := fmt.Sscanf(j.words, "%d-%d", &fewest, &most); n != 2 || err != nil || most < fewest {
		return 0, 0, fmt.Errorf("-words %s: want two numbers as in 10-25", j.words)
	}
	return fewest, most, nil
}

// seedNumbers reads -seeds.
func (j *job) seedNumbers() ([]uint64, error) {
	first, last, found := strings.Cut(j.seeds, "-")
	if !found {
		first, last = "1", j.seeds
	}
	from, err := strconv.ParseUint(first, 10, 32)
	to, err2 := strconv.ParseUint(last, 10, 32)
	if err != nil || err2 != nil || from < 1 || to < from {
		return nil, fmt.Errorf("-seeds %s: want how many, or two numbers as in 2-5", j.seeds)
	}
	var out []uint64
	for s := from; s <= to; s++ {
		out = append(out, s)
	}
	return out, nil
}

// early reads -at: steps before the last one.
func (j *job) early() ([]int, error) {
	var out []int
	for _, s := range strings.FieldsFunc(j.at, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n >= j.steps {
			return nil, fmt.Errorf("-at %s: want steps from 1, fewer than the %d of -steps", j.at, j.steps)
		}
		out = append(out, n)
	}
	return out, nil
}
