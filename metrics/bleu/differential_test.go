package bleu

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"testing"

	"infill/metrics/corpus"
	"infill/metrics/ngram"
)

// differential is testdata/differential.json. The script differential.py made it with NLTK
// and sacrebleu.
type differential struct {
	Paired []struct {
		Hyps    [][]string
		Refs    [][][]string
		Weights []float64
		Uniform bool
		Scores  map[string]*float64
	}
	Self []struct {
		Hyps   [][]string
		Order  int
		Scores map[string]*float64
		Mean   float64 `json:"mean_method1"`
	}
	Shared []struct {
		Hyps, Refs [][]string
		Order      int
		Scores     map[string]*float64
	}
	Sacre []struct {
		Hyps    []string
		Streams [][]string
		Opt     struct {
			Tokenize  string   `json:"tokenize"`
			Smooth    string   `json:"smooth_method"`
			Value     *float64 `json:"smooth_value"`
			Lower     bool     `json:"lowercase"`
			Effective bool     `json:"effective_order"`
			Order     int      `json:"max_ngram_order"`
		}
		Score      float64
		Counts     []int64
		Totals     []int64
		Precisions []float64
		BP         float64
		SysLen     int64 `json:"sys_len"`
		RefLen     int64 `json:"ref_len"`
	}
}

func loadDifferential(t *testing.T) *differential {
	t.Helper()
	data, err := os.ReadFile("testdata/differential.json")
	if err != nil {
		t.Fatal(err)
	}
	d := &differential{}
	if err := json.Unmarshal(data, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// same compares to 12 significant digits.
func same(got, want float64) bool {
	return got == want || math.Abs(got-want) <= 5e-13*math.Abs(want)
}

// compareScores checks one corpus under every smoothing method of NLTK.
func compareScores(t *testing.T, name string, i, order int, scores map[string]*float64,
	run func(o Options) (*Result, error)) {
	t.Helper()
	if len(scores) != 8 {
		t.Fatalf("%s %d: %d methods stored, want 8", name, i, len(scores))
	}
	for method, want := range scores {
		r, err := run(Options{Smoothing: method})
		if method == "method6" && order < 3 {
			// NLTK fails with an index error, or returns 0 when nothing matches at all.
			if !errors.Is(err, ErrOption) {
				t.Errorf("%s %d method6 at order %d: error %v, want ErrOption", name, i, order, err)
			}
			continue
		}
		if want == nil {
			if !errors.Is(err, errSmoothing) {
				t.Errorf("%s %d %s: error %v; NLTK refuses this corpus", name, i, method, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %d %s: %v, want %v", name, i, method, err, *want)
			continue
		}
		if !same(r.Score, *want) {
			t.Errorf("%s %d %s: %.17g, NLTK has %.17g", name, i, method, r.Score, *want)
		}
		if r.Score == 0 && len(r.Warnings) == 0 {
			t.Errorf("%s %d %s: score 0 without a warning", name, i, method)
		}
	}
}

func TestAgainstNLTKPaired(t *testing.T) {
	t.Parallel()
	for i, c := range loadDifferential(t).Paired {
		compareScores(t, "paired", i, len(c.Weights), c.Scores,
			func(o Options) (*Result, error) {
				o.Order = len(c.Weights)
				if !c.Uniform {
					o.Weights = c.Weights
				}
				return PairedTokens(c.Hyps, c.Refs, o)
			})
	}
}

func TestAgainstNLTKSelf(t *testing.T) {
	t.Parallel()
	for i, c := range loadDifferential(t).Self {
		set := fromTokens(nil, c.Hyps)
		compareScores(t, "self", i, c.Order, c.Scores, func(o Options) (*Result, error) {
			o.Order = c.Order
			return Self(set, SelfOptions{Options: o})
		})
		r, err := Self(set, SelfOptions{
			Options: Options{Order: c.Order, Smoothing: "method1"}, Variant: mean})
		if err != nil {
			t.Fatal(err)
		}
		if !same(r.Score, c.Mean) {
			t.Errorf("self mean %d: %.17g, NLTK has %.17g", i, r.Score, c.Mean)
		}
	}
}

func TestAgainstNLTKShared(t *testing.T) {
	t.Parallel()
	for i, c := range loadDifferential(t).Shared {
		compareScores(t, "shared", i, c.Order, c.Scores, func(o Options) (*Result, error) {
			o.Order = c.Order
			order, err := o.IndexOrder()
			if err != nil {
				return nil, err
			}
			v := &corpus.Vocab{}
			hyps, refs := fromTokens(v, c.Hyps), fromTokens(v, c.Refs)
			x, err := ngram.NewIndex(order, v)
			if err != nil {
				return nil, err
			}
			if err := addCorpus(x, refs, nil); err != nil {
				return nil, err
			}
			return Corpus(hyps, x, o)
		})
	}
}

func TestAgainstSacreBLEU(t *testing.T) {
	t.Parallel()
	for i, c := range loadDifferential(t).Sacre {
		text := corpus.Options{Tokenizer: c.Opt.Tokenize, Case: "mixed"}
		if c.Opt.Lower {
			text.Case = "lc"
		}
		pipe, err := corpus.NewPipeline(text)
		if err != nil {
			t.Fatal(err)
		}
		v := &corpus.Vocab{}
		read := func(lines []string) *corpus.Corpus {
			out := corpus.New(v, pipe)
			for _, l := range lines {
				if err := out.Add(l); err != nil {
					t.Fatal(err)
				}
			}
			return out
		}
		var streams []*corpus.Corpus
		for _, s := range c.Streams {
			streams = append(streams, read(s))
		}
		r, err := Paired(read(c.Hyps), streams, Options{
			Order: c.Opt.Order, Smoothing: c.Opt.Smooth, SmoothValue: c.Opt.Value,
			Denominator: sacrebleu, EffectiveOrder: c.Opt.Effective,
		})
		if err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		if !same(r.Percent(), c.Score) {
			t.Errorf("%d %+v: %.17g, sacrebleu has %.17g", i, c.Opt, r.Percent(), c.Score)
		}
		if !slices.Equal(r.Matches, c.Counts) || !slices.Equal(r.Totals, c.Totals) {
			t.Errorf("%d: counts %v of %v, sacrebleu has %v of %v", i, r.Matches, r.Totals, c.Counts,
				c.Totals)
		}
		if r.HypLen != c.SysLen || r.RefLen != c.RefLen || c.SysLen > 0 && !same(r.BP, c.BP) {
			t.Errorf("%d: lengths %d, %d, BP %v; sacrebleu has %d, %d, %v", i, r.HypLen, r.RefLen, r.BP,
				c.SysLen, c.RefLen, c.BP)
		}
		if r.Score > 0 {
			for k := range r.Precisions {
				if !same(100*r.Precisions[k], c.Precisions[k]) {
					t.Errorf("%d order %d: precision %v, sacrebleu has %v", i, k+1, 100*r.Precisions[k],
						c.Precisions[k])
				}
			}
		} else if len(r.Warnings) == 0 {
			t.Errorf("%d: score 0 without a warning", i)
		}
	}
}

// sacrebleu 2.6.0 knows no marker: --lowercase makes [unk] of [UNK].
func TestMarkersAgainstSacreBLEU(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tokenizer, letters string
		score              float64
		matches            []int64
	}{
		{"char", "lc", 35.182825799069754, []int64{16, 12, 8, 5}},
		{"char", "mixed", 22.781056182931298, []int64{15, 9, 5, 2}},
		{"13a", "lc", 13.485111859503691, []int64{4, 2, 0, 0}},
		{"13a", "mixed", 10.552670315936318, []int64{3, 1, 0, 0}},
		{"intl", "lc", 13.485111859503691, []int64{4, 2, 0, 0}},
		{"none", "lc", 16.10230726602675, []int64{4, 2, 0, 0}},
	} {
		pipe, err := corpus.NewPipeline(corpus.Options{Tokenizer: c.tokenizer, Case: c.letters})
		if err != nil {
			t.Fatal(err)
		}
		v := &corpus.Vocab{}
		hyp, ref := corpus.New(v, pipe), corpus.New(v, pipe)
		if err := errors.Join(hyp.Add("an [UNK] sat on a trunk ."),
			ref.Add("the unknown man sat on the TRUNK .")); err != nil {
			t.Fatal(err)
		}
		r, err := Paired(hyp, []*corpus.Corpus{ref},
			Options{Order: 4, Smoothing: "exp", Denominator: sacrebleu})
		if err != nil {
			t.Fatal(err)
		}
		if !same(r.Percent(), c.score) || !slices.Equal(r.Matches, c.matches) {
			t.Errorf("%s, %s: %.17g, matches %v; sacrebleu has %.17g, %v", c.tokenizer, c.letters,
				r.Percent(), r.Matches, c.score, c.matches)
		}
	}
}
