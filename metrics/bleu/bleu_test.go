package bleu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"infill/metrics/corpus"
	"infill/metrics/ngram"
)

func split(lines ...string) [][]string {
	out := make([][]string, len(lines))
	for i, l := range lines {
		out[i] = strings.Fields(l)
	}
	return out
}

func randomSentences(rng *rand.Rand, n, words, longest int) [][]string {
	out := make([][]string, n)
	for i := range out {
		out[i] = make([]string, rng.IntN(longest+1))
		for k := range out[i] {
			out[i][k] = fmt.Sprint(rng.IntN(words))
		}
	}
	return out
}

// Papineni et al. 2002, section 2.1: "the the the the the the the" against two
// references has a clipped unigram precision of 2/7.
func TestClippingOfPapineni(t *testing.T) {
	t.Parallel()
	r, err := Sentence(strings.Fields("the the the the the the the"),
		split("the cat is on the mat", "there is a cat on the mat"), Options{Order: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Matches[0] != 2 || r.Totals[0] != 7 || r.RefLen != 7 || r.BP != 1 {
		t.Errorf("matches %d of %d, reference length %d, BP %v; want 2 of 7, 7, 1", r.Matches[0],
			r.Totals[0], r.RefLen, r.BP)
	}
}

func TestClosestLengthTieTakesShorter(t *testing.T) {
	t.Parallel()
	r, err := Sentence(split("a b c d")[0], split("a b c d e", "a b c"), Options{Order: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.RefLen != 3 || r.BP != 1 {
		t.Errorf("reference length %d, BP %v; want 3 and 1", r.RefLen, r.BP)
	}
}

// Self-BLEU without pairs must equal corpus BLEU with pairs, sentence by sentence.
func TestSelfEqualsPairs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for trial := range 300 {
		hyps := randomSentences(rng, 2+rng.IntN(12), 1+rng.IntN(8), rng.IntN(15))
		if trial%5 == 0 {
			hyps[0] = slices.Clone(hyps[1]) // duplicates
		}
		refs := make([][][]string, len(hyps))
		for i := range hyps {
			refs[i] = append(slices.Clone(hyps[:i]), hyps[i+1:]...)
		}
		self, err := Self(fromTokens(nil, hyps), SelfOptions{})
		if err != nil {
			t.Fatal(err)
		}
		pairs, err := PairedTokens(hyps, refs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(self.stats.Matches, pairs.stats.Matches) ||
			!slices.Equal(self.stats.RefLens, pairs.stats.RefLens) {
			t.Fatalf("trial %d %q:\nself  %v %v\npairs %v %v", trial, hyps,
				self.stats.Matches, self.stats.RefLens, pairs.stats.Matches, pairs.stats.RefLens)
		}
		if self.Score != pairs.Score {
			t.Fatalf("trial %d: self %v, pairs %v", trial, self.Score, pairs.Score)
		}
	}
}

func TestSelfOfDuplicatesIsOne(t *testing.T) {
	t.Parallel()
	r, err := Self(fromTokens(nil, split("a b c d e", "a b c d e")), SelfOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Score != 1 || len(r.Warnings) != 0 {
		t.Errorf("score %v, warnings %v; want 1 and none", r.Score, r.Warnings)
	}
}

func TestVariants(t *testing.T) {
	t.Parallel()
	lines := split("a b c d", "a b c e", "x y z w", "x y z v", "lonely")
	c := fromTokens(nil, lines)
	pooled := func(l ...string) float64 {
		r, err := Self(fromTokens(nil, split(l...)),
			SelfOptions{Options: Options{Order: 3}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Score
	}
	o := SelfOptions{Options: Options{Order: 3}, Variant: group,
		Groups: []int{0, 0, 1, 1, 2}}
	r, err := Self(c, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := (pooled("a b c d", "a b c e") + pooled("x y z w", "x y z v")) / 2; r.Score != want ||
		len(r.Groups) != 2 {
		t.Errorf("group score %v (%v), want %v", r.Score, r.Groups, want)
	}
	if len(r.Warnings) != 1 || !errors.Is(r.Warnings[0], errFewSentences) {
		t.Errorf("warnings %v, want one about the group of one sentence", r.Warnings)
	}
	if want := "selfBLEU|n:3|agg:group2|N:4|tok:ws|case:mixed|smooth:none|den:nltk|v:1"; r.Signature != want {
		t.Errorf("signature %s, want %s", r.Signature, want)
	}
	r, err = Self(c, SelfOptions{Options: Options{Order: 3}, Variant: firstN,
		First: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r.Score != pooled("a b c d", "a b c e") || r.N != 2 {
		t.Errorf("first-2 score %v of %d sentences", r.Score, r.N)
	}
	if _, err = Self(c, SelfOptions{Variant: "pairs"}); !errors.Is(err, ErrOption) {
		t.Errorf("unknown variant: %v", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	v := &corpus.Vocab{}
	one := fromTokens(v, split("a b c"))
	none := corpus.New(v, nil)
	empty, err := ngram.NewIndex(4, v)
	if err != nil {
		t.Fatal(err)
	}
	half := 0.5
	nan := math.NaN()
	for name, c := range map[string]struct {
		run  func() (*Result, error)
		want error
	}{
		"no hypotheses": {func() (*Result, error) {
			return Corpus(none, empty,
				Options{})
		}, errNoHypotheses},
		"no references": {func() (*Result, error) {
			return Corpus(one, empty,
				Options{})
		}, errNoReferences},
		"no paired refs": {func() (*Result, error) { return Paired(one, nil, Options{}) },
			errNoReferences},
		"unequal": {func() (*Result, error) {
			return Paired(one, []*corpus.Corpus{none},
				Options{})
		}, ErrUnequal},
		"unequal lists": {func() (*Result, error) {
			return PairedTokens(split("a"), nil,
				Options{})
		}, ErrUnequal},
		"self of one": {func() (*Result, error) { return Self(one, SelfOptions{}) },
			errFewSentences},
		"order": {func() (*Result, error) {
			return Self(one,
				opt(Options{Order: 65}))
		}, ErrOption},
		"weights": {func() (*Result, error) {
			return Self(one, opt(Options{Order: 2, Weights: []float64{1}}))
		}, ErrOption},
		"negative weight": {func() (*Result, error) {
			return Self(one,
				opt(Options{Weights: []float64{-1}}))
		}, ErrOption},
		"NaN weight": {func() (*Result, error) {
			return Self(one,
				opt(Options{Weights: []float64{nan}}))
		}, ErrOption},
		"weights of 0": {func() (*Result, error) {
			return Self(one, opt(Options{Weights: []float64{0, 0}}))
		}, ErrOption},
		"smoothing": {func() (*Result, error) {
			return Self(one,
				opt(Options{Smoothing: "some"}))
		}, ErrOption},
		"value of none": {func() (*Result, error) {
			return Self(one,
				opt(Options{SmoothValue: &half}))
		}, ErrOption},
		"NaN value": {func() (*Result, error) {
			return Self(one, opt(Options{Smoothing: "floor", SmoothValue: &nan}))
		}, ErrOption},
		"denominator": {func() (*Result, error) {
			return Self(one,
				opt(Options{Denominator: "moses"}))
		}, ErrOption},
		"effective weights": {func() (*Result, error) {
			return Self(one, opt(Options{Weights: []float64{1, 0}, EffectiveOrder: true}))
		}, ErrOption},
		"resamples": {func() (*Result, error) {
			return Self(one, opt(Options{Confidence: &Confidence{Resamples: -1}}))
		}, ErrOption},
		"level": {func() (*Result, error) {
			return Self(one, opt(Options{Confidence: &Confidence{Level: 1}}))
		}, ErrOption},
		"other vocabulary": {func() (*Result, error) {
			return Paired(one, []*corpus.Corpus{fromTokens(nil, split("a"))}, Options{})
		}, nil},
	} {
		r, err := c.run()
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, error %v; want %v", name, r, err, c.want)
		}
	}
}

func opt(o Options) SelfOptions { return SelfOptions{Options: o} }

// A zero order must never give a bare 0: NLTK's convention and its warning.
func TestZeroOrdersWarn(t *testing.T) {
	t.Parallel()
	hyps, refs := split("a b x c", "d"), [][][]string{split("a b y c"), split("d")}
	r, err := PairedTokens(hyps, refs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Score <= 0 || r.Score > 1e-70 {
		t.Errorf("NLTK convention: score %v, want tiny and above 0", r.Score)
	}
	if n := count(r.Warnings, errZeroMatches); n != 2 {
		t.Errorf("%d zero-match warnings (%v), want 2 (orders 3 and 4)", n, r.Warnings)
	}
	r, err = PairedTokens(hyps, refs, Options{Denominator: sacrebleu})
	if err != nil {
		t.Fatal(err)
	}
	if r.Score != 0 || count(r.Warnings, errZeroMatches) == 0 {
		t.Errorf("sacrebleu convention: score %v, warnings %v; want 0 with a warning", r.Score,
			r.Warnings)
	}
	r, err = PairedTokens(split("a b"), [][][]string{split("a b")},
		Options{Denominator: sacrebleu, EffectiveOrder: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Score != 1 || count(r.Warnings, errShort) != 1 {
		t.Errorf("effective order: score %v, warnings %v; want 1 with one ErrShort", r.Score, r.Warnings)
	}
	r, err = PairedTokens(split("", "a b c d"), [][][]string{split("a"), split("a b c d")},
		Options{})
	if err != nil {
		t.Fatal(err)
	}
	if count(r.Warnings, errEmptySentence) != 1 {
		t.Errorf("warnings %v, want one about the empty hypothesis", r.Warnings)
	}
}

// What has no weight in the score is not warned of.
func TestNoWarningOfWeightZero(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hyp, ref string
		weights  []float64
		warns    error
	}{
		{"a b c d", "d c b a", []float64{1, 0, 0, 0}, nil},
		{"a", "a", []float64{1, 0}, nil},
		{"a b", "a b", []float64{.5, 0, .5}, errShort}, // of order 3, which has a weight
		{"a b c", "c b a", []float64{.5, .5, 0}, errZeroMatches},
	} {
		r, err := PairedTokens(split(c.hyp), [][][]string{split(c.ref)},
			Options{Weights: c.weights})
		if err != nil {
			t.Fatal(err)
		}
		right := c.warns == nil && len(r.Warnings) == 0 && r.Score == 1 ||
			c.warns != nil && len(r.Warnings) == 1 && count(r.Warnings, c.warns) == 1 && r.Score < 1e-70
		if !right {
			t.Errorf("%q of %q with %v: %v, %v", c.hyp, c.ref, c.weights, r.Score, r.Warnings)
		}
	}
}

func count(warnings []error, target error) int {
	n := 0
	for _, w := range warnings {
		if errors.Is(w, target) {
			n++
		}
	}
	return n
}

// The bootstrap's spread of a mean-like score must match theory: with order 1 and
// equal lengths BLEU is the mean of the sentences' precisions, whose standard error
// is known.
func TestBootstrapSpread(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	const n, length = 400, 10
	hyps, refs := make([][]string, n), make([][][]string, n)
	values := make([]float64, n)
	for i := range hyps {
		ref := make([]string, length)
		hyp := make([]string, length)
		for k := range hyp {
			ref[k] = fmt.Sprint("r", k)
			hyp[k] = ref[k]
			if rng.IntN(3) == 0 {
				hyp[k] = "wrong"
			} else {
				values[i] += 1.0 / length
			}
		}
		hyps[i], refs[i] = hyp, [][]string{ref}
	}
	mean, sq := 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		sq += (v - mean) * (v - mean) / n
	}
	se := math.Sqrt(sq / n)
	run := func(seed uint64) *Result {
		r, err := PairedTokens(hyps, refs, Options{Order: 1,
			Confidence: &Confidence{Resamples: 4000, Seed: seed}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run(1)
	iv := r.Interval
	if math.Abs(r.Score-mean) > 1e-12 || math.Abs(iv.Mean-mean) > 0.2*se {
		t.Errorf("score %v, bootstrap mean %v; want %v", r.Score, iv.Mean, mean)
	}
	for what, got := range map[string]float64{"low": r.Score - iv.Low, "high": iv.High - r.Score} {
		if math.Abs(got-1.96*se) > 0.25*se {
			t.Errorf("%s end is %.3f standard errors away, want 1.96", what, got/se)
		}
	}
	if again := run(1); *again.Interval != *iv {
		t.Errorf("same seed, other interval: %+v, %+v", again.Interval, iv)
	}
	if other := run(2); other.Interval.Low == iv.Low && other.Interval.Mean == iv.Mean {
		t.Error("another seed gave the same resamples")
	}
	if want := "|bs:4000|rs:1|ci:0.95|v:1"; !strings.HasSuffix(r.Signature, want) {
		t.Errorf("signature %s does not end in %s", r.Signature, want)
	}
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	pipe, err := corpus.NewPipeline(corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := corpus.New(nil, pipe)
	for i := range 100 {
		if err := c.Add(fmt.Sprintf("a b c d %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Self(c, SelfOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "selfBLEU|n:4|agg:corpus|N:100|tok:ws|case:lc|smooth:none|den:nltk|v:1"; r.Signature != want {
		t.Errorf("signature\n%s, want\n%s", r.Signature, want)
	}
	value := 0.25
	r, err = Self(c, opt(Options{Weights: []float64{0.5, 0.25}, Smoothing: "floor",
		SmoothValue: &value, Denominator: sacrebleu}))
	if err != nil {
		t.Fatal(err)
	}
	if want := "selfBLEU|n:2|agg:corpus|N:100|w:0.5,0.25|tok:ws|case:lc|smooth:floor[0.25]|den:sacrebleu|v:1"; r.Signature != want {
		t.Errorf("signature\n%s, want\n%s", r.Signature, want)
	}
}
