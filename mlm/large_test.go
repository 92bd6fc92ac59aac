package mlm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm/onnx"
)

// largeRows is the vocabulary of the large model: its table and its head, of 32
// numbers a word, have 2.15 GB, more than an ONNX file can hold.
const largeRows = 8_400_000

// makeLarge writes the tiny model with largeRows words to a folder, the two large
// weights in a file beside it. Their numbers are random, a block of them again and again.
func makeLarge(t *testing.T) string {
	t.Helper()
	dir := copyTiny(t)
	m, err := onnx.Load(os.DirFS(tinyDir), "model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	const small = 70
	rng := rand.New(rand.NewPCG(1, 2))
	block := make([]byte, 4*1_000_003)
	for i := 0; i < len(block); i += 4 {
		binary.LittleEndian.PutUint32(block[i:], math.Float32bits(float32(rng.NormFloat64()*0.05)))
	}
	file, err := os.Create(filepath.Join(dir, "weights.bin"))
	if err != nil {
		t.Fatal(err)
	}
	at := int64(0)
	for _, w := range m.Graph.Initializers {
		i := slices.Index(w.Dims, small)
		if i < 0 {
			continue
		}
		w.Dims[i] = largeRows
		size := w.ByteLen()
		if _, err := io.CopyN(file, &repeated{b: block}, size); err != nil {
			_ = file.Close()
			t.Skipf("no room for a model of 2.2 GB: %v", err)
		}
		w.Origin.File, w.Origin.Offset, w.Origin.Length = "weights.bin", at, size
		at += size
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if at <= 1<<31 {
		t.Fatalf("%d bytes are not more than 2 GiB", at)
	}
	for _, o := range m.Graph.Outputs {
		o.Shape[2].Value = largeRows
	}
	data, err := m.MarshalExternal(1<<20, nil)
	if err != nil {
		t.Fatal(err)
	}
	// A tokenizer.json may know fewer words than the model has rows, if config.json says that it is
	// meant.
	words, err := os.ReadFile("testdata/architectures/bert/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`{"model_type": "bert", "vocab_size": %d, "max_position_embeddings": 40,
		"unused_logits": true}`, largeRows)
	write := func(name string, b []byte) error {
		return os.WriteFile(filepath.Join(dir, name), b,
			0o644)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "vocab.txt")), write("tokenizer.json", words),
		write("model.onnx", data), write("config.json", []byte(config))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// repeated is b over and over.
type repeated struct {
	b  []byte
	at int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.b[r.at:])
	r.at = (r.at + n) % len(r.b)
	return n, nil
}

// A model above 2 GB, its weights beside it: opened, its graph derived, cached and
// taken from the cache, with and without LowMemory; conditionals are distributions
// over its 8.4 million words, and the two ways of using its weights agree.
func TestAbove2GB(t *testing.T) {
	testmode.Long(t) // it writes 2.2 GB and takes a minute; not beside others, for its memory
	if free := availableMB(); free < 12<<10 {
		testmode.Missing(t, fmt.Sprintf("12,288 MB of memory; %d are available", free))
	}
	orttest.Load(t)
	dir, cacheDir := makeLarge(t), t.TempDir()
	ctx := context.Background()
	var first []float32
	for _, c := range []struct{ low, fromCache bool }{{true, false}, {true, true}, {false, false},
		{false, true}} {
		m, err := OpenDir(ctx, dir, Options{Threads: 1, LowMemory: c.low, CacheDir: cacheDir})
		if err != nil {
			t.Fatal(err)
		}
		if info := m.Info(); info.Bytes <= 1<<31 || !info.Gradients || info.Vocab != largeRows ||
			m.info.fromCache != c.fromCache {
			t.Errorf("low %v: %+v", c.low, info)
		}
		s := &Sentence{IDs: []int32{2, 10, m.tok.MaskID(), 12, m.tok.MaskID(), 3}, Blanks: []int{2, 4}}
		v := m.VocabSize()
		lp, grad, cond := table(1, 2), table(1, 2*v), table(1, v)
		states := [][]int32{{20, largeRows - 1}}
		if err := errors.Join(m.Gradient(ctx, s, states, Full, lp, grad),
			m.Conditional(ctx, s, states, []int{1}, cond), m.Close()); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, x := range cond[0] {
			sum += math.Exp(float64(x))
		}
		if math.Abs(sum-1) > 1e-3 {
			t.Errorf("low %v: probabilities add up to %v", c.low, sum)
		}
		if lp[0][1] != cond[0][largeRows-1] {
			t.Errorf("low %v: log f of the last word is %v and %v", c.low, lp[0][1], cond[0][largeRows-1])
		}
		if first == nil {
			first = grad[0]
			continue
		}
		worst, scale := 0.0, 0.0
		for i, x := range grad[0] {
			worst, scale = max(worst, math.Abs(float64(x-first[i]))), max(scale, math.Abs(float64(x)))
		}
		if !(worst <= 1e-4*scale) {
			t.Errorf("low %v: gradients differ by %v of %v", c.low, worst, scale)
		}
	}
}

// availableMB is the memory that can be had, 0 where the system does not say.
func availableMB() int {
	b, _ := os.ReadFile("/proc/meminfo")
	_, rest, _ := strings.Cut(string(b), "MemAvailable:")
	if f := strings.Fields(rest); len(f) > 0 {
		kb, _ := strconv.Atoi(f[0])
		return kb >> 10
	}
	return 0
}
