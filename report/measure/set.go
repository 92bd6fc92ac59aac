package measure

import (
	"cmp"
	"fmt"

	"infill/metrics/corpus"
	"infill/metrics/judge"
	"infill/metrics/ngram"
	"infill/report/read"
)

// set is one set of generated sentences, ready to be measured.
type set struct {
	name     string
	corpus   *corpus.Corpus
	groups   []int // the record that each sentence came from
	distinct map[string]bool
	gzip     *ngram.Compressor       // of files only
	scores   []scores                // of the sentences
	labels   map[string]map[int]bool // the groups of each label
	sources  map[int]origin          // what the sentences of a group were made from; nil: nobody asks
	scoring  string                  // what the scores of a file are
	judged   bool                    // by a judge, who needs the texts and has verdicts on them
	texts    []string
	verdicts []judge.Verdict
	// gold counts the records that say which sentence was infilled, known those
	// of them whose sentence is among the references.
	gold, known int
}

// An origin is the text that sentences were made from, and the same with its blanks; "" where
// unknown.
type origin struct{ text, blanked string }

// scores are the scores of a sentence in nats, nil where unknown, by kind.
type scores [scoreKinds]*float64

// Kinds of scores: the first two as records have them, the last of samplers only.
const (
	ofSentence = iota
	perToken
	perBlank
	scoreKinds
)

// mean is the mean of a kind of score.
func (s *set) mean(kind int) mean {
	var m mean
	for _, of := range s.scores {
		m.add(of[kind])
	}
	return m
}

func (p *plan) newSet(name string, v *corpus.Vocab) *set {
	return &set{name: name, corpus: corpus.New(v, p.generated), distinct: map[string]bool{},
		judged: p.Judge != nil, labels: map[string]map[int]bool{}}
}

func (s *set) add(x read.Sentence) error {
	if err := s.corpus.Add(x.Text); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.groups = append(s.groups, x.Group)
	s.distinct[x.Text] = true
	if s.judged {
		s.texts = append(s.texts, x.Text)
	}
	s.scores = append(s.scores, scores{ofSentence: x.Score, perToken: x.PerToken})
	if x.Label != "" && len(s.labels) <= mostLabels {
		if s.labels[x.Label] == nil {
			s.labels[x.Label] = map[int]bool{}
		}
		s.labels[x.Label][x.Group] = true
	}
	if s.sources != nil {
		s.sources[x.Group] = origin{cmp.Or(x.Gold, x.Blanked), x.Blanked}
	}
	if s.gzip == nil {
		return nil
	}
	return s.gzip.Add(x.Text)
}

// addRun adds the best fillings of every sentence of a sampler.
func (s *set) addRun(run *SamplerRun, top int) error {
	for i, x := range run.Sentences {
		for k, f := range x.Fillings {
			if k == top {
				break
			}
			score := f.Score
			if err := s.add(read.Sentence{Text: f.Text, Group: i, Score: &score}); err != nil {
				return err
			}
			if n := float64(len(f.Spans)); n > 0 {
				each := f.Score / n
				s.scores[len(s.scores)-1][perBlank] = &each
			}
		}
	}
	return nil
}

// of is the part of the set that came from some groups. It can be measured where neither the
// different sentences nor their compression are asked for.
func (s *set) of(groups map[int]bool) *set {
	out := &set{name: s.name, scoring: s.scoring}
	var at []int
	for i, g := range s.groups {
		if groups[g] {
			at = append(at, i)
			out.groups, out.scores = append(out.groups, g), append(out.scores, s.scores[i])
			if s.verdicts != nil {
				out.verdicts = append(out.verdicts, s.verdicts[i])
			}
		}
	}
	out.corpus = s.corpus.Select(at)
	return out
}

// blanked are the texts with blanks that some groups were made from.
func (s *set) blanked(groups []int) []string {
	var out []string
	for _, g := range groups {
		out = append(out, s.sources[g].blanked)
	}
	return out
}
