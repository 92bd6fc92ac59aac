package report

import (
	"fmt"

	"infill/metrics/corpus"
	"infill/metrics/ngram"
)

// set is one set of generated sentences, ready to be measured.
type set struct {
	name     string
	corpus   *corpus.Corpus
	groups   []int // the record that each sentence came from
	distinct map[string]bool
	gzip     *ngram.Compressor // of files only
	// The means of the scores in nats: score and perToken as the records have
	// them, the others for samplers only.
	score, perToken, perBlank, secondPerBlank mean
	// gold counts the records that say which sentence was infilled, known those
	// of them whose sentence is among the references.
	gold, known int
}

func (p *plan) newSet(name string, v *corpus.Vocab) *set {
	return &set{name: name, corpus: corpus.New(v, p.generated), distinct: map[string]bool{}}
}

func (s *set) add(x Sentence) error {
	if err := s.corpus.Add(x.Text); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.groups = append(s.groups, x.Group)
	s.distinct[x.Text] = true
	s.score.add(x.Score)
	s.perToken.add(x.PerToken)
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
			if n := float64(len(f.Spans)); n > 0 {
				perBlank, second := f.Score/n, f.SecondScore/n
				s.perBlank.add(&perBlank)
				s.secondPerBlank.add(&second)
			}
			if err := s.add(Sentence{Text: f.Text, Group: i, Score: &score}); err != nil {
				return err
			}
		}
	}
	return nil
}
