package lengths

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"infill/infill/text"
	"infill/internal/gate"
	"infill/internal/textline"
	"infill/mlm"
)

// Options steer [Learn]. The zero value is the usual.
type Options struct {
	Gaps int    // gaps to learn from, those held out among them; 0 means 6,000
	Seed uint64 // picks lines and gaps
	// Progress, if set, is told how many of the gaps the model has read.
	Progress func(done, of int)
}

// Bounds of what Learn reads.
const (
	defaultGaps = 6000
	// minGaps is the least number of gaps: with fewer the shares would be noise.
	minGaps = 300
	// MaxGaps bounds the memory that the states take.
	MaxGaps = 50_000

	shortLine, longLine = 8, 26 // words
	heldOut             = 6     // every sixth gap is
	atOnce              = 64    // gaps that the model reads at the same time
	maxLine             = 1 << 20
)

// drawnWords are the numbers of words of a gap, each as often as it is there.
var drawnWords = [...]int{1, 1, 2, 2, 3, 4}

// Report is what learning gained, on the gaps held out.
type Report struct {
	Gaps    int `json:"gaps"`     // that were learned from
	HeldOut int `json:"held_out"` // others
	// Constant and Learned are the mean of −log P(n) in nats a gap: of constant shares, and with the
	// text.
	Constant float64 `json:"constant"`
	Learned  float64 `json:"learned"`
	// Gain is Constant − Learned, and GainError half of its 95 % interval.
	Gain      float64 `json:"gain"`
	GainError float64 `json:"gain_error"`
}

// ErrFewGaps is returned for a text with fewer gaps than minGaps.
var ErrFewGaps = errors.New("too few gaps in the text")

// Learn fits the shares of a model's gaps to a text with one sentence or paragraph a line. One to
// four words side by side are taken out of each line that it draws, and the model reads the rest.
//
// Errors: ErrFewGaps, [mlm.ErrNoState], those of the model, of reading, and [text.ErrOption].
func Learn(ctx context.Context, m *mlm.Model, from io.Reader, o Options) (*Shares, *Report, error) {
	if o.Gaps == 0 {
		o.Gaps = defaultGaps
	}
	if o.Gaps < minGaps || o.Gaps > MaxGaps {
		return nil, nil, fmt.Errorf("%w: %d gaps, want %d to %d", text.ErrOption, o.Gaps, minGaps,
			MaxGaps)
	}
	if m.StateWidth() == 0 {
		return nil, nil, mlm.ErrNoState
	}
	all, err := gapsOf(m, from, o)
	if err != nil {
		return nil, nil, err
	}
	if err := read(ctx, m, all, o.Progress); err != nil {
		return nil, nil, err
	}
	var seen, held []*example
	for i, e := range all {
		if i%heldOut == 0 {
			held = append(held, e)
		} else {
			seen = append(seen, e)
		}
	}
	s := fit(seen)
	if s, err = Parse(s.Bytes()); err != nil { // with the numbers that are kept
		return nil, nil, err
	}
	return s, s.report(len(seen), held), nil
}

// report compares the shares with constant ones.
func (s *Shares) report(learned int, held []*example) *Report {
	r := &Report{Gaps: learned, HeldOut: len(held)}
	gains := make([]float64, len(held))
	for i, e := range held {
		always := -math.Log(float64(s.prior[class(e.n)]))
		now := -s.regress(e.read)[class(e.n)]
		r.Constant += always / float64(len(held))
		r.Learned += now / float64(len(held))
		gains[i] = always - now
	}
	r.Gain = r.Constant - r.Learned
	square := 0.0
	for _, g := range gains {
		square += (g - r.Gain) * (g - r.Gain)
	}
	n := float64(len(gains))
	r.GainError = 1.96 * math.Sqrt(square/(n-1)/n)
	return r
}

// gapsOf draws lines, and a gap of each.
func gapsOf(m *mlm.Model, from io.Reader, o Options) ([]*example, error) {
	lines, err := drawn(from, o)
	if err != nil {
		return nil, err
	}
	var out []*example
	for i, line := range lines {
		if len(out) == o.Gaps {
			break
		}
		if e := gapOf(m, line, o.Seed, i); e != nil {
			out = append(out, e)
		}
	}
	if len(out) < minGaps {
		return nil, fmt.Errorf("%w: %d of %d lines of %d to %d words have a gap, and %d are needed",
			ErrFewGaps, len(out), len(lines), shortLine, longLine, minGaps)
	}
	return out, nil
}

// drawn is a random choice of the lines that may have a gap, in a random order: some more than gaps
// are wanted, since not all have one.
func drawn(from io.Reader, o Options) ([]string, error) {
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	var out []string
	in := textline.NewReader(from, maxLine)
	for seen := 0; ; {
		b, err := in.Next()
		if err == io.EOF {
			break
		}
		if errors.Is(err, textline.ErrTooLong) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n := len(strings.Fields(string(b))); n < shortLine || n > longLine {
			continue
		}
		seen++
		if len(out) < 2*o.Gaps {
			out = append(out, string(b))
		} else if at := rng.IntN(seen); at < len(out) {
			out[at] = string(b)
		}
	}
	rng.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
	return out, nil
}

// gapOf is a gap of a line, nil where it has none. number is the line's number.
func gapOf(m *mlm.Model, line string, seed uint64, number int) *example {
	tok := m.Tokenizer()
	rng := rand.New(rand.NewPCG(seed, uint64(number)+1))
	masking := text.Masking{Words: drawnWords[rng.IntN(len(drawnWords))], Adjacent: true,
		Fits: func(text string, w [2]int) bool {
			return w[0] > 0 && strings.IndexFunc(text[w[0]:w[1]],
				func(r rune) bool { return !unicode.IsLetter(r) }) < 0
		}}
	plain, err := text.Read(tok, line)
	if err != nil {
		return nil
	}
	chosen, err := masking.Choose(plain, seed, fmt.Sprint(number))
	if err != nil {
		return nil // no such words, or a line that has blanks
	}
	span := [2]int{chosen[0][0], chosen[len(chosen)-1][1]}
	whole, err := text.Encode(tok, plain.Text, nil)
	if err != nil {
		return nil
	}
	n := 0
	for p, s := range whole.Spans {
		if !whole.Special[p] && max(s[0], span[0]) < min(s[1], span[1]) {
			n++
		}
	}
	t, _, err := text.BlankOut(tok, plain.Text, [][2]int{span})
	if limit := m.MaxLength(); err != nil || n == 0 || limit > 0 && len(t.IDs)+2 > limit {
		return nil
	}
	return &example{n: n, words: len(chosen), gap: func(masks int) (*mlm.Sentence, int) {
		s, start := t.Stretch([]int{masks})
		return s, start[0]
	}}
}

// read has the model read the gaps.
func read(ctx context.Context, m *mlm.Model, all []*example, progress func(done, of int)) error {
	done := 0
	for some := range slices.Chunk(all, atOnce) {
		err := gate.Each(ctx, len(some), func(ctx context.Context, i int) (err error) {
			some[i].read, _, err = states(ctx, m, some[i].gap)
			return err
		})
		if err != nil {
			return err
		}
		if done += len(some); progress != nil {
			progress(done, len(all))
		}
	}
	return nil
}
