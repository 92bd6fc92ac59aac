package report

import (
	"fmt"
	"hash/maphash"
	"path/filepath"
	"strings"

	"infill/metrics/bleu"
	"infill/metrics/corpus"
	"infill/metrics/ngram"
)

// Reference says what a reference file held.
type Reference struct {
	// Name is the label in tables, Path the input's name.
	Name string `json:"name"`
	Path string `json:"path"`
	// Sentences is how many are used; Excluded were infilled and left out, Blank
	// lines are no sentences.
	Sentences int `json:"sentences"`
	Excluded  int `json:"excluded"`
	Blank     int `json:"blank"`
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

// has tells whether a sentence is among the references.
func (r *references) has(sentence string) bool {
	_, ok := r.keys[maphash.String(r.seed, corpus.LooseKey(sentence))]
	return ok
}

// names makes short labels of paths: the base name without extension, or the path
// where two would be equal.
func names(inputs []Input) []string {
	out := make([]string, len(inputs))
	seen := map[string]int{}
	for i, in := range inputs {
		base := filepath.Base(in.Name)
		out[i] = strings.TrimSuffix(base, filepath.Ext(base))
		if out[i] == "" {
			out[i] = base
		}
		seen[out[i]]++
	}
	full := map[string]int{}
	for i, in := range inputs {
		if seen[out[i]] > 1 {
			out[i] = in.Name
			full[out[i]]++
			if n := full[out[i]]; n > 1 {
				out[i] = fmt.Sprintf("%s (%d)", in.Name, n)
			}
		}
	}
	return out
}

// readReferences streams the reference files into indices. With paired set, lines
// are kept in order, blank ones too, instead of being indexed.
func (p *plan) readReferences(inputs []Input, paired bool) (*references, error) {
	refs := &references{vocab: &corpus.Vocab{}, seed: maphash.MakeSeed()}
	if !paired {
		refs.keys = map[uint64]struct{}{}
	}
	newIndex := func() (*ngram.Index, error) {
		x, err := ngram.NewIndex(p.order, refs.vocab)
		if err == nil {
			x.Describe(p.reference.Options().Clean)
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
func (p *plan) readReference(in Input, name string, refs *references, x *ngram.Index, paired bool) (Reference, error) {
	info := Reference{Name: name, Path: in.Name}
	r, err := in.Open()
	if err != nil {
		return info, err
	}
	defer func() { _ = r.Close() }() // only read
	var kept *corpus.Corpus
	if paired {
		kept = corpus.New(refs.vocab, p.reference)
		refs.lines = append(refs.lines, kept)
	}
	var ids []uint32
	err = corpus.Lines(r, in.Name, func(_ int, line string) error {
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
		return info, fmt.Errorf("%s: %w left after dropping %d blank and %d excluded lines", in.Name, ErrNoSentences, info.Blank, info.Excluded)
	}
	return info, nil
}

// set is one set of generated sentences, ready to be measured.
type set struct {
	name     string
	corpus   *corpus.Corpus
	groups   []int
	distinct map[string]bool
	gzip     *ngram.Compressor
	score    mean
	perToken mean
	// gold counts the records that say which sentence was infilled, known those of
	// them whose sentence is among the references.
	gold, known int
}

type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x *float64) {
	if x != nil {
		m.sum += *x
		m.n++
	}
}

func (p *plan) newSet(name string, v *corpus.Vocab) *set {
	return &set{name: name, corpus: corpus.New(v, p.generated), distinct: map[string]bool{}, gzip: ngram.NewCompressor()}
}

func (s *set) add(x Sentence) error {
	if err := s.corpus.Add(x.Text); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.groups = append(s.groups, x.Group)
	s.distinct[x.Text] = true
	s.score.add(x.Score)
	s.perToken.add(x.PerToken)
	return s.gzip.Add(x.Text)
}

// selfBLEU is the self-BLEU column.
func (p *plan) selfBLEU(s *set) Metric {
	m := newMetric("self_bleu", "self-BLEU")
	m.Better = -1
	r, err := bleu.Self(s.corpus, bleu.SelfOptions{
		Options: p.bleu, Variant: bleu.Variant(p.SelfBLEU), First: p.First, Groups: s.groups,
	})
	m.bleu(r, err)
	return m
}

// bleuAgainst is a corpus BLEU column.
func (p *plan) bleuAgainst(s *set, key, label string, x *ngram.Index) Metric {
	m := newMetric(key, label)
	m.Better = +1
	r, err := bleu.Corpus(s.corpus, x, p.bleu)
	m.bleu(r, err)
	return m
}

// bleu takes over a BLEU result, times 100.
func (m *Metric) bleu(r *bleu.Result, err error) {
	if err != nil {
		m.fail(err)
		return
	}
	m.Value = r.Percent()
	m.Signature = r.Signature
	if iv := r.Interval; iv != nil {
		m.Low, m.High = 100*iv.Low, 100*iv.High
	}
	prec := make([]string, len(r.Precisions))
	for k, q := range r.Precisions {
		prec[k] = fmt.Sprintf("%.2f", 100*q)
	}
	m.Detail = fmt.Sprintf("precisions %s, BP %.4f, hyp_len %d, ref_len %d", strings.Join(prec, "/"), r.BP, r.HypLen, r.RefLen)
	m.warn(r.Warnings...)
}

// unique are the columns of unique n-grams against self and each reference.
func (p *plan) unique(s *set, refs *references) ([]Metric, []ngram.Counts) {
	if len(p.Ngrams) == 0 {
		return nil, nil
	}
	counts, err := ngram.Count(s.corpus, p.maxUnique(), refs.each...)
	var out []Metric
	for r := -1; r < len(refs.each); r++ {
		name := "self"
		against := ""
		if r >= 0 {
			name = refs.info[r].Name
			against = fmt.Sprintf("|refs:set%d", refs.info[r].Sentences)
			if c := refs.each[r].Cleaning(); c != "none" {
				against += "|refclean:" + c
			}
		}
		for _, n := range p.Ngrams {
			m := newMetric(fmt.Sprintf("unique.%s.%d", name, n), fmt.Sprintf("n=%d", n))
			m.Group, m.Unit, m.Better = "unique vs "+name, "%", +1
			kind := "ref"
			if r < 0 {
				kind = "self"
			}
			m.Signature = fmt.Sprintf("unique|n:%d|vs:%s|N:%d%s|%s|v:1", n, kind, s.corpus.Len(), against, p.generated.Signature())
			var x float64
			e := err
			if e == nil {
				if r < 0 {
					x, e = counts[n-1].UniqueSelf()
				} else {
					x, e = counts[n-1].UniqueReference(r)
				}
			}
			if e != nil {
				m.fail(e)
			} else {
				m.Value = 100 * x
				m.Detail = fmt.Sprintf("of %d %d-grams", counts[n-1].Total, n)
			}
			out = append(out, m)
		}
	}
	return out, counts
}
