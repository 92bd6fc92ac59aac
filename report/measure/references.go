package measure

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"slices"
	"strings"

	"infill/internal/count"
	"infill/metrics/corpus"
	"infill/metrics/ngram"
	"infill/report/read"
)

// Reference says what a reference file held.
type Reference struct {
	// Name is the label in tables, Path the input's name.
	Name string `json:"name"`
	Path string `json:"path"`
	// Sentences is the number of those in use. Excluded ones were infilled and
	// are left out, as blank lines are.
	Sentences int `json:"sentences"`
	Excluded  int `json:"excluded"`
	Blank     int `json:"blank"`
}

// String says it in words.
func (r Reference) String() string {
	s := fmt.Sprintf("%s: %s sentence%s from %s", r.Name, count.Thousands(r.Sentences),
		count.S(r.Sentences), r.Path)
	if r.Excluded > 0 {
		s += fmt.Sprintf(", %d infilled one%s left out", r.Excluded, count.S(r.Excluded))
	}
	if r.Blank > 0 {
		s += fmt.Sprintf(", %d blank line%s dropped", r.Blank, count.S(r.Blank))
	}
	return s
}

// references are the indexed reference files.
type references struct {
	vocab *corpus.Vocab
	info  []Reference
	each  []*ngram.Index
	all   *ngram.Index     // every file together; nil without references
	lines []*corpus.Corpus // paired mode only
	seed  maphash.Seed
	keys  map[uint64]struct{} // hashes of all sentences; nil in paired mode
}

// has reports whether a sentence is among the references.
func (r *references) has(sentence string) bool {
	_, ok := r.keys[maphash.String(r.seed, corpus.LooseKey(sentence))]
	return ok
}

// names makes short labels of paths: the base name without extension, or the path
// where two would be equal. Keys of metrics have them, so all of them differ.
func names(inputs []read.Input) []string {
	out, whole := make([]string, len(inputs)), make([]bool, len(inputs))
	for i, in := range inputs {
		base := filepath.Base(in.Name)
		out[i] = cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), base)
	}
	for again := true; again; { // a path may be what another label is
		again = false
		seen := map[string]int{}
		for _, taken := range slices.Concat(ownNames, out) {
			seen[taken]++
		}
		for i, in := range inputs {
			if seen[out[i]] == 1 || whole[i] {
				continue
			}
			if out[i] = in.Name; slices.Contains(ownNames, in.Name) {
				out[i] = "./" + in.Name
			}
			whole[i], again = true, true
		}
	}
	// What is left are files that were given twice.
	taken, seen := map[string]bool{}, map[string]bool{}
	for _, label := range out {
		taken[label] = true
	}
	for i, label := range out {
		for n := 2; seen[label] && taken[out[i]]; n++ {
			out[i] = fmt.Sprintf("%s (%d)", label, n)
		}
		seen[label], taken[out[i]] = true, true
	}
	return out
}

// ownNames are what the keys of metrics call all references together, and the texts themselves.
var ownNames = []string{"all", "self"}

// readReferences streams the reference files into indices. Paired lines, blank
// ones too, are kept in order besides.
func (p *plan) readReferences(inputs []read.Input, paired bool) (*references, error) {
	refs := &references{vocab: &corpus.Vocab{}, seed: maphash.MakeSeed()}
	if !paired {
		refs.keys = map[uint64]struct{}{}
	}
	newIndex := func() (*ngram.Index, error) {
		x, err := ngram.NewIndex(p.order, refs.vocab)
		if err == nil {
			x.Cleaning = p.reference.Options().Clean
		}
		return x, err
	}
	var err error
	if len(inputs) > 1 {
		if refs.all, err = newIndex(); err != nil {
			return nil, err
		}
	}
	for i, name := range names(inputs) {
		x, err := newIndex()
		if err != nil {
			return nil, err
		}
		refs.each = append(refs.each, x)
		info, err := p.readReference(inputs[i], name, refs, x, paired)
		if err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
		refs.info = append(refs.info, info)
	}
	if len(inputs) == 1 {
		refs.all = refs.each[0]
	}
	return refs, nil
}

// readReference streams one file into its own index and into the pooled one.
func (p *plan) readReference(in read.Input, name string, refs *references, x *ngram.Index,
	paired bool) (Reference, error) {
	info := Reference{Name: name, Path: in.Name}
	var kept *corpus.Corpus
	if paired {
		kept = corpus.New(refs.vocab, p.reference)
		refs.lines = append(refs.lines, kept)
	}
	var ids []uint32
	err := in.Lines(func(_ int, line string) error {
		if paired {
			if err := kept.Add(line); err != nil {
				return err
			}
		}
		if strings.TrimSpace(line) == "" {
			info.Blank++
			return nil
		}
		key := corpus.LooseKey(line)
		if p.excluded[key] {
			info.Excluded++
			return nil
		}
		if refs.keys != nil && key != "" {
			refs.keys[maphash.String(refs.seed, key)] = struct{}{}
		}
		ids = ids[:0]
		p.reference.Each(line, func(t string) { ids = append(ids, refs.vocab.ID(t)) })
		info.Sentences++
		x.Add(ids)
		if refs.all != nil {
			refs.all.Add(ids)
		}
		return nil
	})
	if err != nil {
		return info, err
	}
	if info.Sentences == 0 {
		return info, fmt.Errorf("%s: %w left after dropping %d blank and %d excluded lines",
			in.Name, read.ErrNoSentences, info.Blank, info.Excluded)
	}
	return info, nil
}
