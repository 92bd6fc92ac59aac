package mlm_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/text"
	"infill/internal/ort/orttest"
	"infill/mlm"
)

// architectures are the kinds of models that masked language models are, by
// their folder in testdata/architectures (made by make_folders.py there), with
// the fixtures of mlm/onnxgrad that are models of the kind, or have its kind of
// tokenizer.
var architectures = []struct {
	folder   string
	fixtures []string // file names in onnxgrad/testdata, without .onnx
}{
	{"bert", []string{"bert-sdpa-tied", "bert-eager-tied", "bert-untied", "bert-tanh", "bert-dynamo",
		"bert-positions", "bert-external", "bert-float16", "bert-bfloat16", "bert-ort-float16",
		"neobert", "neobert-dynamo"}},
	{"distilbert", []string{"distilbert"}},
	{"roberta", []string{"roberta", "roberta-positions", "roberta-float16"}},
	{"electra", []string{"electra"}},
	{"albert", []string{"albert"}},
	{"mpnet", []string{"mpnet"}},
	{"deberta-v2", []string{"deberta-v2", "deberta-v2-conv"}},
	{"modernbert", []string{"modernbert", "modernbert-dynamo", "eurobert", "eurobert-dynamo"}},
	// Masked diffusion: the tokenizer of GPT-2 with a mask behind it, and nothing around a text.
	{"../unmarked", []string{"eurobert"}},
}

// exportFolder makes a folder as an exporter leaves it: the fixture as
// model.onnx, config.json and the tokenizer's files.
func exportFolder(t testing.TB, architecture, fixture string) string {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join("testdata", "architectures", architecture, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of %s: %v", architecture, err)
	}
	names := map[string]string{filepath.Join("onnxgrad", "testdata", fixture+".onnx"): "model.onnx"}
	for _, f := range files {
		if name := filepath.Base(f); name != "expected.json" {
			names[f] = name
		}
	}
	if weights := filepath.Join("onnxgrad", "testdata", fixture+".onnx_data"); fileThere(weights) {
		names[weights] = fixture + ".onnx_data"
	}
	for from, to := range names {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func fileThere(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// folderTruth is expected.json: ids from transformers, log-probabilities from
// onnxruntime on the fixture that it names.
type folderTruth struct {
	Fixture string
	Scores  []struct {
		Text    string
		IDs     []int32
		LogProb []float64 `json:"log_prob"`
	}
	Masked []struct {
		Text string
		IDs  []int32
		Best [][][2]float64 // of each mask: id and log f
	}
}

func readTruth(t testing.TB, architecture string) folderTruth {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "architectures", architecture, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out folderTruth
	if err := json.Unmarshal(data, &out); err != nil || len(out.Scores) == 0 || len(out.Masked) == 0 {
		t.Fatalf("expected.json: %v, %d texts", err, len(out.Scores))
	}
	return out
}

// near is the bound on differences of log-probabilities between two runs of
// the same file, in nats: float32, in graphs of other shapes.
const near = 2e-4

// TestArchitectures opens a whole folder of each architecture, compares ids and
// scores with transformers and onnxruntime, and fills blanks.
func TestArchitectures(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	for _, a := range architectures {
		for _, fixture := range a.fixtures {
			t.Run(fixture, func(t *testing.T) {
				dir := exportFolder(t, a.folder, fixture)
				m, err := mlm.OpenDir(context.Background(), dir, mlm.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := m.Close(); err != nil {
						t.Error(err)
					}
				}()
				truth := readTruth(t, a.folder)
				compareFolder(t, m, truth, fixture == truth.Fixture)
				fillFolder(t, m)
				if !m.Info().Gradients { // onnxgrad's TestModels checks them
					t.Error(m.Info().NoGradients)
				}
			})
		}
	}
}

// TestArchitecturesInIntegers: in 8 bits every fixture gives the conditionals of float32 but for
// what their text may lose, or is refused with what it loses.
func TestArchitecturesInIntegers(t *testing.T) {
	orttest.Load(t)
	for _, a := range architectures {
		for _, fixture := range a.fixtures {
			t.Run(fixture, func(t *testing.T) {
				t.Parallel()
				dir := exportFolder(t, a.folder, fixture)
				var logP [2][]float32
				for i, p := range []mlm.Precision{mlm.Float32, mlm.Int8} {
					m, err := mlm.OpenDir(t.Context(), dir, mlm.Options{Precision: p, Forward: true})
					if err != nil {
						t.Fatal(err)
					}
					s := &mlm.Sentence{IDs: []int32{max(0, m.Tokenizer().CLSID()), 17, 9, 23, 31, 12,
						max(0, m.Tokenizer().SEPID())}, Blanks: []int{2, 4}}
					for range s.Blanks {
						out := make([]float32, m.VocabSize())
						logP[i] = append(logP[i], out...)
					}
					v := m.VocabSize()
					err = m.Independent(t.Context(), s, [][]float32{logP[i][:v], logP[i][v:]})
					if err := errors.Join(err, m.Close()); err != nil {
						t.Fatal(err)
					}
				}
				kl := 0.0
				for k, p := range logP[0] {
					kl += math.Exp(float64(p)) * float64(p-logP[1][k]) / 2
				}
				if t.Logf("KL %.2g", kl); !(kl > 1e-12 && kl < .01) {
					t.Errorf("KL %.2g", kl)
				}
			})
		}
	}
}

// compareFolder compares ids, and where the weights are the expected ones,
// scores and the likeliest tokens.
func compareFolder(t *testing.T, m *mlm.Model, truth folderTruth, weights bool) {
	t.Helper()
	ctx := context.Background()
	tok := m.Tokenizer()
	e := infill.New(m)
	for _, c := range truth.Scores {
		s, err := e.Score(ctx, c.Text, infill.ScoreOptions{By: infill.ScorePLL})
		if err != nil {
			t.Fatalf("%q: %v", c.Text, err)
		}
		enc, err := tok.Encode(c.Text)
		if err != nil || !slices.Equal(enc.IDs, c.IDs) {
			t.Errorf("%q is %q, %v; want %d", c.Text, enc.Tokens, err, c.IDs)
		}
		if !weights {
			continue
		}
		if len(s.Pieces) != len(c.LogProb) {
			t.Fatalf("%q: %d scores, want %d", c.Text, len(s.Pieces), len(c.LogProb))
		}
		for i, p := range s.Pieces {
			if !(math.Abs(p.LogProb-c.LogProb[i]) <= near) {
				t.Errorf("%q: log f of %q is %v, want %v", c.Text, p.Piece, p.LogProb, c.LogProb[i])
			}
		}
	}
	for _, c := range truth.Masked {
		tm, err := text.Parse(tok, c.Text)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(tm.IDs, c.IDs) {
			t.Errorf("%q is %d, want %d", c.Text, tm.IDs, c.IDs)
		}
		s := &mlm.Sentence{IDs: tm.IDs, Blanks: tm.Positions()}
		out := make([][]float32, len(s.Blanks))
		for i := range out {
			out[i] = make([]float32, m.VocabSize())
		}
		if err := m.Independent(ctx, s, out); err != nil {
			t.Fatal(err)
		}
		for i, best := range c.Best {
			for _, b := range best {
				if got := float64(out[i][int(b[0])]); weights && !(math.Abs(got-b[1]) <= near) {
					t.Errorf("%q: log f of %q at blank %d is %v, want %v", c.Text, tok.Token(int32(b[0])), i+1,
						got, b[1])
				}
			}
		}
	}
}

// fillFolder fills blanks in every way that constraints offer, and looks at
// the texts: what is outside the blanks stays, and words stand apart.
func fillFolder(t *testing.T, m *mlm.Model) {
	t.Helper()
	ctx := context.Background()
	tok := m.Tokenizer()
	e := infill.New(m)
	allow, err := text.NewWordList(tok, []string{"cat", "dog", "old man"})
	if err != nil {
		t.Fatal(err)
	}
	ban, err := text.NewWordList(tok, []string{"cat", "sat"})
	if err != nil {
		t.Fatal(err)
	}
	words := func(s ...string) func(string) bool {
		return func(f string) bool { return slices.Contains(s, f) }
	}
	whole := func(f string) bool {
		return f != "" && strings.Trim(strings.ToLower(f), "abcdefghijklmnopqrstuvwxyz") == ""
	}
	for _, c := range []struct {
		text string
		opt  infill.Options
		ok   func(filling string) bool // of every blank
	}{
		{"the [MASK]  sat\ton the [MASK].", infill.Options{},
			func(f string) bool { return f != "" && strings.TrimSpace(f) == f }},
		{"the ___ sat on " + tok.Token(tok.MaskID()) + ", he",
			infill.Options{Words: infill.WordOptions{Vocab: text.VocabWholeWords}}, whole},
		{"the [MASK] sat", infill.Options{Words: infill.WordOptions{Vocab: text.VocabWholeWords, Ban: ban}},
			func(f string) bool { return whole(f) && f != "cat" && f != "sat" }},
		{"the [MASK/^[cd]..$/] ran to a [MASK/^[cd]..$/]", infill.Options{Words: infill.WordOptions{NoRepeat: text.RepeatText}},
			words("cat", "dog")},
		{"a [MASK|dog|red cat|old man] sat.", infill.Options{Results: infill.ResultOptions{AsModel: true}},
			words("dog", "red cat", "old man")},
		{"the [MASK] sat on a [MASK]", infill.Options{Words: infill.WordOptions{Allow: allow}},
			words("cat", "dog", "old man")},
		{"the [MASK*2] sat", infill.Options{Words: infill.WordOptions{Vocab: text.VocabWholeWords}},
			func(f string) bool {
				a, b, two := strings.Cut(f, " ")
				return two && whole(a) && whole(b)
			}},
		{"the [MASK*2] sat", infill.Options{}, func(f string) bool {
			return f != "" &&
				strings.TrimSpace(f) == f
		}},
		{"a [MASK:x] sat on a [MASK:x].", infill.Options{}, func(f string) bool { return f != "" }},
		{"(the “[MASK|cat|dog]” sat)", infill.Options{}, words("cat", "dog")},
		{"[MASK|the|a] cat", infill.Options{Results: infill.ResultOptions{AsModel: true}},
			words("the", "a")},
	} {
		c.opt.Sampling.Chains, c.opt.Sampling.Steps, c.opt.Seed = 3, 4, 7
		tm, err := text.Parse(tok, c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		r, err := e.Fill(ctx, tm, c.opt)
		if errors.Is(err, text.ErrEmptySupport) && tok.UNKID() >= 0 && len(tok.WholeWords()) < 3 {
			t.Errorf("%q: the fixture has %d whole words: %v", c.text, len(tok.WholeWords()), err)
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		for _, f := range r.Fillings {
			checkFilling(t, e, tm, f, c.ok)
		}
	}
}

// checkFilling checks one filled text: outside the blanks it is the template's,
// and where the tokenizer makes the same pieces of it again its score is found
// again.
func checkFilling(t *testing.T, e *infill.Engine, tm *text.Template, f infill.Filling,
	ok func(string) bool) {
	t.Helper()
	var rebuilt strings.Builder
	last := 0
	for i, b := range tm.Blanks {
		word := f.Text[f.Spans[i][0]:f.Spans[i][1]]
		if !ok(word) {
			t.Errorf("%q: the filling %q (%s)", tm.Text, word, f.Pieces[i])
		}
		if !strings.EqualFold(word, f.Tokens[i]) {
			t.Errorf("%q: the filling %q has the tokens %q", tm.Text, word, f.Tokens[i])
		}
		rebuilt.WriteString(tm.Text[last:b.Start] + word)
		last = b.End
	}
	if rebuilt.WriteString(tm.Text[last:]); rebuilt.String() != f.Text {
		t.Errorf("%q is filled as %q", tm.Text, f.Text)
	}
	if len(tm.Blanks) != 1 || math.IsNaN(f.Score) || f.Score > 0 {
		return
	}
	s, err := e.Score(context.Background(), f.Text, infill.ScoreOptions{By: infill.ScorePLL})
	if err != nil {
		t.Fatal(err)
	}
	sum, n := 0.0, 0
	var tokens []string
	for _, p := range s.Pieces {
		if p.Span[0] >= f.Spans[0][0] && p.Span[1] <= f.Spans[0][1] {
			sum, n = sum+p.LogProb, n+1
			tokens = append(tokens, p.Piece)
		}
	}
	if strings.Join(tokens, " ") != f.Pieces[0] {
		t.Logf("%q: filled with %s, read as %s", f.Text, f.Pieces[0], tokens)
		return
	}
	if !(math.Abs(sum-f.Parts.PLL) <= near*float64(n)) {
		t.Errorf("%q: U of the filling is %v, of the text there %v", f.Text, f.Parts.PLL, sum)
	}
}

// No export that is sound is doubted.
func TestNoWarnings(t *testing.T) {
	t.Parallel()
	for _, a := range architectures {
		info, problems := mlm.InspectDir(exportFolder(t, a.folder, a.fixtures[0]), "")
		if len(problems) > 0 || len(info.Warnings) > 0 {
			t.Errorf("%s: %q, %v", a.folder, info.Warnings, problems)
		}
	}
}
