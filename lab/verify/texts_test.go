package verify

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"infill/lab/internal/diag"
)

// TestTextsOfPage looks up every text in the page, with any numbers. Making the page
// takes half an hour, so that a change of words alone is made in both places.
func TestTextsOfPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../notebook/verification.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("text/*.txt")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d texts, %v", len(files), err)
	}
	verb := regexp.MustCompile(`%([+.0-9]*[dfsg]|%)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var pattern strings.Builder
		from := 0
		for _, m := range verb.FindAllIndex(text, -1) {
			pattern.WriteString(regexp.QuoteMeta(string(text[from:m[0]])))
			if string(text[m[0]:m[1]]) == "%%" {
				pattern.WriteString("%")
			} else {
				pattern.WriteString(`[-+.\d \[\]]+`)
			}
			from = m[1]
		}
		pattern.WriteString(regexp.QuoteMeta(string(text[from:])))
		if n := len(regexp.MustCompile(pattern.String()).FindAll(page, -1)); n != 1 {
			t.Errorf("%s is %d times in the page, want once", file, n)
		}
	}
}

// TestOneSectionOfPage makes section 1 again inside a copy of the page, which must
// come out as it was.
func TestOneSectionOfPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../notebook/verification.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "verification.md")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-only", "1", "-seed", "1", "-write", dir}
	if err := run(t.Context(), sections, io.Discard, io.Discard, args); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, page) {
		t.Error("the page has changed")
	}
}

// TestESSOfIndependent: section 5 says what its estimator makes of 2000 independent numbers.
func TestESSOfIndependent(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 5))
	each := make([]float64, 400)
	for k := range each {
		x := make([]float64, 2000)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		each[k] = diag.ESS(x) / float64(len(x))
	}
	got := over(each)
	scatter := got.se * math.Sqrt(float64(len(each)))
	if math.Abs(got.mean-.97) > .01 || math.Abs(scatter-.06) > .01 {
		t.Errorf("the ESS is %.3f a number and scatters by %.3f, want .97 and .06", got.mean, scatter)
	}
}
