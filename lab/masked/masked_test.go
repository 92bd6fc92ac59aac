package masked

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/mlm"
	"infill/models"
)

// The figures are what the model says of the masked pieces one by one, in lines that are counted by
// their numbers in the file. Lines that have no piece, or too many, are left out.
func TestFigures(t *testing.T) {
	t.Parallel()
	lines := []string{"The old man sat down on the bench in the park.", "", "Hello.",
		strings.Repeat("a ", 600), "She put the letter back into the drawer and locked it."}
	path := filepath.Join(t.TempDir(), "text.txt")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := mlm.Open(t.Context(), models.Small(), mlm.Options{Threads: 1, Forward: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	masked, top1, top5, nll := 0, 0, 0, 0.0
	for _, i := range []int{0, 2, 4} {
		enc, err := m.Tokenizer().Encode(lines[i])
		if err != nil {
			t.Fatal(err)
		}
		var places []int
		for p := 1; p < len(enc.IDs)-1; p++ { // between [CLS] and [SEP]
			places = append(places, p)
		}
		blanks := choose(places, 7, i+1)
		for k, p := range blanks {
			out := make([][]float32, len(blanks))
			for j := range out {
				out[j] = make([]float32, m.VocabSize())
			}
			if err := m.Independent(context.Background(), &mlm.Sentence{IDs: enc.IDs,
				Blanks: blanks}, out); err != nil {
				t.Fatal(err)
			}
			right := out[k][enc.IDs[p]]
			slices.Sort(out[k])
			at := slices.Index(out[k], right)
			masked, nll = masked+1, nll-float64(right)
			if at == len(out[k])-1 {
				top1++
			}
			if at >= len(out[k])-5 {
				top5++
			}
		}
	}
	want := fmt.Sprintf("3 of 5 lines, %d masked pieces: top-1 %.2f %%, top-5 %.2f %%, perplexity %.2f\n",
		masked, 100*float64(top1)/float64(masked), 100*float64(top5)/float64(masked),
		math.Exp(nll/float64(masked)))
	var out bytes.Buffer
	err = Command(t.Context(), []string{"-model", "small", "-seed", "7", path}, nil, &out, io.Discard)
	if err != nil || out.String() != want {
		t.Errorf("%v: %s, want %s", err, out.String(), want)
	}
}

// The share of masked pieces is as the cards say, each place as often as another, and the choice
// depends on the seed and the line only.
func TestMasksFifteenPercent(t *testing.T) {
	t.Parallel()
	places := make([]int, 40)
	for i := range places {
		places[i] = i + 1
	}
	seen := make([]int, 42)
	for n := range 4000 {
		c := choose(places, 9, n)
		if len(c) != 6 || !slices.IsSorted(c) || len(slices.Compact(slices.Clone(c))) != 6 ||
			!slices.Equal(c, choose(places, 9, n)) {
			t.Fatalf("line %d: %v", n, c)
		}
		for _, p := range c {
			seen[p]++
		}
	}
	// Each place is chosen with probability 0.15: 600 ± 5 standard deviations.
	for p, k := range seen[1:41] {
		if math.Abs(float64(k)-600) > 5*math.Sqrt(4000*.15*.85) {
			t.Errorf("place %d was chosen %d times, expected about 600", p+1, k)
		}
	}
	if c := choose(places[:2], 9, 1); len(c) != 1 {
		t.Errorf("a short line has %d masks", len(c))
	}
	if slices.Equal(choose(places, 9, 1), choose(places, 10, 1)) &&
		slices.Equal(choose(places, 9, 2), choose(places, 10, 2)) {
		t.Error("the seed does not matter")
	}
}

// A text that gives nothing to predict has no perplexity.
func TestNothingToPredict(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "empty.txt")
	if err := os.WriteFile(path, []byte("\n  \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Command(t.Context(), []string{"-model", "small", path}, nil, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "no line with a piece") {
		t.Error(err)
	}
}
