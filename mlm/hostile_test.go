package mlm

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"infill/internal/ort/orttest"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
	"infill/tokenize"
)

// mutate spoils a copy of data in one of the ways in which files go wrong or
// are made to.
func mutate(data []byte, rng *rand.Rand) []byte {
	b := append([]byte(nil), data...)
	// Weights are most of a file and say little; half of the damage goes to
	// the graph, which comes first and last.
	place := func() int {
		if rng.IntN(2) == 0 {
			return rng.IntN(min(len(b), 30_000))
		}
		return rng.IntN(len(b))
	}
	switch rng.IntN(6) {
	case 0: // bit flips
		for range 1 + rng.IntN(8) {
			b[place()] ^= 1 << rng.IntN(8)
		}
	case 1: // truncation
		b = b[:place()]
	case 2: // a length or a value inflated
		b[place()] = 0xff
	case 3: // a piece of the file repeated elsewhere
		from, to, n := place(), place(), 1+rng.IntN(200)
		piece := append([]byte(nil), b[from:min(from+n, len(b))]...)
		b = append(b[:to:to], append(piece, b[to:]...)...)
	case 4: // a piece cut out
		from, n := place(), 1+rng.IntN(200)
		b = append(b[:from:from], b[min(from+n, len(b)):]...)
	case 5: // bytes overwritten
		at := place()
		for i := at; i < min(at+1+rng.IntN(16), len(b)); i++ {
			b[i] = byte(rng.IntN(256))
		}
	}
	return b
}

// kindOf gives the one of the errors that a bad model may give which err is,
// nil if it is none.
func kindOf(err error) error {
	for _, e := range []error{ErrNoModel, ErrNotMasked, errVocabulary, ErrNotFinite, errSentence,
		ErrTooLong, onnx.ErrExternal, tokenize.ErrFormat} {
		if errors.Is(err, e) {
			return e
		}
	}
	if file := (*onnx.Error)(nil); errors.As(err, &file) {
		return file.Kind
	}
	if graph := (*onnxgrad.Error)(nil); errors.As(err, &graph) {
		return graph.Kind
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	for _, runtime := range []string{"onnx runtime refuses the model", "onnx runtime failed"} {
		if err != nil && strings.Contains(err.Error(), runtime) {
			return errors.New(runtime)
		}
	}
	return nil
}

// hostile are the folders of which mutated copies are made: the tiny model
// with weights inside and outside its file, and every fixture of onnxgrad.
func hostile(t *testing.T) (names []string, folders []fstest.MapFS) {
	t.Helper()
	tiny := tinyFiles(t)
	m, err := onnx.Parse(tiny["model.onnx"].Data, "weights.bin", tiny)
	if err != nil {
		t.Fatal(err)
	}
	thin, err := m.MarshalExternal(256, nil)
	if err != nil {
		t.Fatal(err)
	}
	outside := tinyFiles(t)
	outside["weights.bin"] = &fstest.MapFile{Data: outside["model.onnx"].Data}
	outside["model.onnx"] = &fstest.MapFile{Data: thin}
	names, folders = []string{"tiny", "tiny, weights outside"}, []fstest.MapFS{tiny, outside}
	files, err := filepath.Glob("onnxgrad/testdata/*.onnx")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".onnx")
		names, folders = append(names, name), append(folders, fixtureFiles(t, name))
	}
	return names, folders
}

// TestHostileModels opens mutated copies of every fixture and, where that
// works, evaluates a sentence: an error of a known kind or a result, never a
// panic, never the end of the process. INFILL_MUTANTS sets their number,
// INFILL_MUTANT_SEED makes others, INFILL_MUTANT is the only one to try.
func TestHostileModels(t *testing.T) {
	orttest.Load(t)
	n, seed, only := 150, 99, -1
	for name, to := range map[string]*int{"INFILL_MUTANTS": &n, "INFILL_MUTANT_SEED": &seed,
		"INFILL_MUTANT": &only} {
		if s := os.Getenv(name); s != "" {
			var err error
			if *to, err = strconv.Atoi(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	names, folders := hostile(t)
	opened, works, slow, most := 0, 0, time.Duration(0), uint64(0)
	kinds := map[string]int{}
	for i := range max(n, only+1) {
		if only >= 0 && i != only {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(i), uint64(seed)))
		which := i % len(folders)
		files := maps.Clone(folders[which])
		data := files["model.onnx"].Data
		if i/len(folders)%3 == 2 {
			data = splice(data, rng)
		} else {
			data = mutate(data, rng)
		}
		files["model.onnx"] = &fstest.MapFile{Data: data}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		m, err := Open(context.Background(), files, Options{})
		if err == nil {
			opened++
			err = use(m)
			if cerr := m.Close(); cerr != nil {
				t.Errorf("mutant %d of %s: closing: %v", i, names[which], cerr)
			}
		}
		took := time.Since(begin)
		if slow = max(slow, took); took > 5*time.Second { // no failure: the machine may be busy
			t.Logf("mutant %d of %s took %v: %v", i, names[which], took, err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > most {
			most = used
		}
		switch kind := kindOf(err); {
		case err == nil:
			works++
		case kind == nil:
			t.Errorf("mutant %d of %s: an error of no known kind: %v", i, names[which], err)
		default:
			kinds[kind.Error()]++
		}
	}
	t.Logf("%d mutants, %d could be opened, %d gave results, the slowest took %v, the most that "+
		"Go allocated for one is %d MB", n, opened, works, slow, most>>20)
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%5d %s", kinds[k], k)
	}
	// Fixtures have 0.1 to 0.3 MB; the limits of the reader must hold, whatever lengths and shapes a
	// file claims. What Go allocated counts what was freed again; the peak of the process counts the
	// runtime's memory too.
	if most > 96<<20 {
		t.Errorf("a file of 0.3 MB made Go allocate %d MB", most>>20)
	}
	if peak := peakMB(); peak > 0 {
		t.Logf("peak resident memory of the process %d MB", peak)
		if peak > 1024 {
			t.Errorf("files of 0.3 MB made the process take %d MB", peak)
		}
	}
}

// peakMB is the largest resident memory that this process has had, 0 where
// the system does not say.
func peakMB() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	f := strings.Fields(rest)
	if len(f) == 0 {
		return 0
	}
	kb, _ := strconv.Atoi(f[0])
	return kb >> 10
}

func use(m *Model) error {
	s, states := &Sentence{IDs: []int32{2, 7, 26, 50, 10, 3}, Blanks: []int{2, 4}},
		[][]int32{{26, 10}, {30, 11}}
	v := m.VocabSize()
	if v < 60 || v > 10_000 || m.MaxLength() > 0 && m.MaxLength() < len(s.IDs) {
		return errVocabulary
	}
	ctx := context.Background()
	if err := m.LogProb(ctx, s, states, table(2, 2)); err != nil {
		return err
	}
	err := m.Gradient(ctx, s, states, Full, table(2, 2), table(2, 2*v))
	if errors.Is(err, ErrNoGradient) {
		return nil
	}
	return err
}
