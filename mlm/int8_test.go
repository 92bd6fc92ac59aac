package mlm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"infill/internal/ort/orttest"
)

// fixtureFiles is a folder with one of the models that package onnxgrad keeps
// and a vocabulary of as many words as it has.
func fixtureFiles(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	data, err := os.ReadFile("onnxgrad/testdata/" + name + ".onnx")
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for i := len(words); i < 97; i++ {
		words = append(words, fmt.Sprintf("w%d", i))
	}
	files := fstest.MapFS{"model.onnx": {Data: data},
		"vocab.txt": {Data: []byte(strings.Join(words, "\n") + "\n")}}
	if weights, err := os.ReadFile("onnxgrad/testdata/" + name + ".onnx_data"); err == nil {
		files[name+".onnx_data"] = &fstest.MapFile{Data: weights}
	}
	return files
}

// TestQuantised: models quantised to 8 bits give the results that the runtime
// gives for each row alone, whatever shares a batch; gradients are refused
// with the remedy.
func TestQuantised(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	ctx := context.Background()
	for i, name := range []string{"bert-int8", "bert-int8-ort", "distilbert-int8", "roberta-int8",
		"bert-int8", "bert-int8-ort", "distilbert-int8", "roberta-int8"} {
		o := of(Options{Threads: 2})
		if i > 3 {
			o.unsigned = true // as on processors whose signed products saturate
		}
		dir := t.TempDir() // there the runtime reads the weights from the file
		if err := os.CopyFS(dir, fixtureFiles(t, name)); err != nil {
			t.Fatal(err)
		}
		m, err := openDir(ctx, dir, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		raw, err := os.ReadFile("onnxgrad/testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Calls []map[string]struct {
				Shape []int
				Data  []float64
			}
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		compared := 0
		for k, c := range want.Calls {
			chains, blanks, length := c["blanks"].Shape[0], c["blanks"].Shape[1], c["input_ids"].Shape[1]
			for chain := range chains {
				first := chain * blanks
				if c["attention_mask"].Data[(first+1)*length-1] == 0 {
					continue // padded
				}
				s, state := &Sentence{}, make([]int32, blanks)
				for _, id := range c["input_ids"].Data[first*length : (first+1)*length] {
					s.IDs = append(s.IDs, int32(id))
				}
				for i := range blanks {
					s.Blanks = append(s.Blanks, int(c["positions"].Data[first+i]))
					state[i] = int32(c["targets"].Data[first+i])
					s.IDs[s.Blanks[i]] = state[i]
				}
				got := [][]float32{make([]float32, blanks)}
				if err := m.LogProb(ctx, s, [][]int32{state}, got); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for i := range blanks {
					// One step of an 8-bit number is what two releases of the runtime may differ by.
					if d := math.Abs(float64(got[0][i]) - c["log_prob"].Data[first+i]); !(d < 2e-3) {
						t.Errorf("%s, call %d, chain %d, blank %d: %v, want %v", name, k, chain, i, got[0][i],
							c["log_prob"].Data[first+i])
					}
					compared++
				}
				// Neighbours make no difference.
				other := append([]int32(nil), state...)
				other[0] = (other[0]+7)%90 + 6
				both := [][]float32{make([]float32, blanks), make([]float32, blanks)}
				if err := m.LogProb(ctx, s, [][]int32{other, state}, both); err != nil {
					t.Fatal(err)
				}
				for i := range blanks {
					if both[1][i] != got[0][i] {
						t.Errorf("%s: blank %d is %v with a neighbour, %v alone", name, i, both[1][i], got[0][i])
					}
				}
				if blanks > 1 {
					err := m.Gradient(ctx, s, [][]int32{state}, Full, table(1, blanks), table(1, blanks*97))
					if !errors.Is(err, ErrNoGradient) || !strings.Contains(err.Error(), "gibbs") ||
						!strings.Contains(err.Error(), "MatMulInteger") {
						t.Errorf("%s: gradient: %v", name, err)
					}
				}
			}
		}
		if compared < 6 {
			t.Errorf("%s: only %d values compared", name, compared)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
