package ort_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
)

// The few ONNX messages a test graph needs, written by field number.

func str(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func num(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func msg(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

func node(op string, in, out []string, attrs ...[]byte) []byte {
	var n []byte
	for _, s := range in {
		n = str(n, 1, s)
	}
	for _, s := range out {
		n = str(n, 2, s)
	}
	n = str(n, 4, op)
	for _, a := range attrs {
		n = msg(n, 5, a)
	}
	return n
}

// value is a ValueInfoProto; dims are symbolic names.
func value(name string, elem uint64, dims ...string) []byte {
	var shape []byte
	for _, d := range dims {
		shape = msg(shape, 1, str(nil, 2, d))
	}
	tensor := msg(num(nil, 1, elem), 2, shape)
	return msg(str(nil, 1, name), 2, msg(nil, 1, tensor))
}

func model(nodes [][]byte, inputs, outputs [][]byte) []byte {
	var g []byte
	for _, n := range nodes {
		g = msg(g, 1, n)
	}
	g = str(g, 2, "test")
	for _, v := range inputs {
		g = msg(g, 11, v)
	}
	for _, v := range outputs {
		g = msg(g, 12, v)
	}
	m := num(nil, 1, 8)
	m = msg(m, 8, num(str(nil, 1, ""), 2, 17))
	return msg(m, 7, g)
}

const (
	tFloat, tInt64, tBool = 1, 7, 9
)

// everyType doubles a float and an int64, and negates a boolean and a scalar boolean.
func everyType() ([]byte, []string, []string) {
	var nodes, in, out [][]byte
	var ins, outs []string
	for _, x := range []struct {
		name string
		elem uint64
	}{{"f", tFloat}, {"l", tInt64}} {
		nodes = append(nodes, node("Add", []string{x.name, x.name}, []string{x.name + "2"}))
		in = append(in, value(x.name, x.elem, "n", "k"))
		out = append(out, value(x.name+"2", x.elem, "n", "k"))
		ins, outs = append(ins, x.name), append(outs, x.name+"2")
	}
	nodes = append(nodes, node("Not", []string{"b"}, []string{"nb"}),
		node("Xor", []string{"b", "s"}, []string{"bs"}))
	in = append(in, value("b", tBool, "n", "k"), value("s", tBool))
	out = append(out, value("nb", tBool, "n", "k"), value("bs", tBool, "n", "k"))
	return model(nodes, in, out), append(ins, "b", "s"), append(outs, "nb", "bs")
}

func tensor[T ort.Element](t testing.TB, shape []int64, data []T) *ort.Tensor {
	t.Helper()
	x, err := ort.NewTensor(shape, data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	return x
}

func TestSessionTypes(t *testing.T) {
	orttest.Load(t)
	m, ins, outs := everyType()
	saved := filepath.Join(t.TempDir(), "optimised.onnx")
	profile := filepath.Join(t.TempDir(), "profile")
	t.Cleanup(func() { // the session is closed by then
		if found, _ := filepath.Glob(profile + "*.json"); len(found) != 1 {
			t.Errorf("profiles: %v", found)
		}
	})
	for name, open := range map[string]func() (*ort.Session, error){
		"default": func() (*ort.Session, error) { return ort.OpenBytes("m", m, ins, outs, ort.Config{}) },
		"changed": func() (*ort.Session, error) {
			return ort.OpenBytes("m", m, ins, outs, ort.Config{Threads: 2, Plain: true, NoArena: true,
				NoPrepack: true, SaveTo: saved, Profile: profile,
				Entries: map[string]string{"optimization.disable_specified_optimizers": "GeluFusion"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			shape := []int64{2, 3}
			f, l, b := make([]float32, 6), make([]int64, 6), make([]bool, 6)
			for j := range 6 {
				f[j], l[j], b[j] = float32(j)+.5, int64(j)<<40, j%2 == 0
			}
			f2, l2, nb, bs := make([]float32, 6), make([]int64, 6), make([]bool, 6), make([]bool, 6)
			in := []*ort.Tensor{tensor(t, shape, f), tensor(t, shape, l), tensor(t, shape, b),
				tensor(t, nil, []bool{true})}
			out := []*ort.Tensor{tensor(t, shape, f2), tensor(t, shape, l2), tensor(t, shape, nb),
				tensor(t, shape, bs)}
			if err := s.Run(context.Background(), in, out); err != nil {
				t.Fatal(err)
			}
			for j := range 6 {
				if f2[j] != 2*f[j] || l2[j] != 2*l[j] || nb[j] == b[j] || bs[j] == b[j] {
					t.Errorf("element %d: %v %v %v %v", j, f2[j], l2[j], nb[j], bs[j])
				}
			}
			// Outputs allocated by the runtime.
			out[0], out[1] = nil, nil
			ctx, cancel := context.WithCancel(context.Background())
			if err := s.Run(ctx, in, out); err != nil {
				t.Fatal(err)
			}
			got, ok := out[0].Floats()
			if !ok || len(got) != 6 || got[5] != 11 || out[0].Shape()[1] != 3 {
				t.Errorf("allocated output: %v", got)
			}
			if _, ok := out[1].Floats(); ok {
				t.Error("an int64 tensor passed for float32")
			}
			out[0].Close()
			out[1].Close()
			cancel()
			if err := s.Run(ctx, in, out); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
			if err := s.Run(context.Background(), in, out); !errors.Is(err, ort.ErrClosed) {
				t.Errorf("closed tensor: %v", err)
			}
			if err := s.Run(context.Background(), in[:1], out); !errors.Is(err, ort.ErrRun) {
				t.Errorf("too few inputs: %v", err)
			}
			// A preallocated output of the wrong shape is refused, not overrun.
			wrong := []*ort.Tensor{tensor(t, []int64{6}, f2), tensor(t, shape, l2), tensor(t, shape, nb),
				tensor(t, shape, bs)}
			if err := s.Run(context.Background(), in, wrong); !errors.Is(err, ort.ErrRun) {
				t.Errorf("wrong shape: %v", err)
			}
			// So is a wrong type.
			in[0] = tensor(t, shape, l)
			if err := s.Run(context.Background(), in, wrong); !errors.Is(err, ort.ErrRun) {
				t.Errorf("wrong type: %v", err)
			}
			if err := errors.Join(s.Close(), s.Close()); err != nil {
				t.Error(err)
			}
			if err := s.Run(context.Background(), in, wrong); !errors.Is(err, ort.ErrClosed) {
				t.Errorf("closed session: %v", err)
			}
		})
	}
	if info, err := os.Stat(saved); err != nil || info.Size() == 0 {
		t.Errorf("the optimised model was not saved: %v", err)
	}
}

func TestSessionErrors(t *testing.T) {
	orttest.Load(t)
	m, ins, outs := everyType()
	if _, err := ort.OpenBytes("m", m, nil, outs, ort.Config{}); !errors.Is(err, ort.ErrModel) {
		t.Errorf("no inputs: %v", err)
	}
	if _, err := ort.OpenBytes("m", m, ins, outs, ort.Config{Threads: -1}); !errors.Is(err,
		ort.ErrModel) {
		t.Errorf("negative threads: %v", err)
	}
	if _, err := ort.OpenBytes("m", m[:len(m)-4], ins, outs, ort.Config{}); !errors.Is(err,
		ort.ErrModel) {
		t.Errorf("truncated: %v", err)
	}
	custom := model([][]byte{node("NoSuchOp", []string{"f"}, []string{"g"})},
		[][]byte{value("f", tFloat, "n")}, [][]byte{value("g", tFloat, "n")})
	if _, err := ort.OpenBytes("m", custom, []string{"f"}, []string{"g"},
		ort.Config{}); !errors.Is(err, ort.ErrModel) {
		t.Errorf("unknown op: %v", err)
	}
	for name, f := range map[string]func() error{
		"negative": func() error { _, err := ort.NewTensor([]int64{-1}, []float32{1}); return err },
		"short":    func() error { _, err := ort.NewTensor([]int64{2, 2}, []float32{1}); return err },
		"overflow": func() error {
			_, err := ort.NewTensor([]int64{1 << 40, 1 << 40},
				[]float32{1})
			return err
		},
		"scalar": func() error { _, err := ort.NewTensor(nil, []float32{}); return err },
	} {
		if f() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	empty, err := ort.NewTensor([]int64{0, 3}, []float32{})
	if err != nil {
		t.Errorf("an empty tensor: %v", err)
	}
	empty.Close()
	empty.Close()
}

// Many goroutines share one session while the collector runs: every result
// must be its own.
func TestSessionConcurrent(t *testing.T) {
	orttest.Load(t)
	const width = 257
	m := model([][]byte{node("Add", []string{"x", "x"}, []string{"y"}),
		node("Mul", []string{"y", "x"}, []string{"z"})},
		[][]byte{value("x", tFloat, "n")}, [][]byte{value("z", tFloat, "n")})
	s, err := ort.OpenBytes("m", m, []string{"x"}, []string{"z"}, ort.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for k := range 100 {
				x, z := make([]float32, width), make([]float32, width)
				for i := range x {
					x[i] = float32(g*1000 + k + i)
				}
				in, err1 := ort.NewTensor([]int64{width}, x)
				out, err2 := ort.NewTensor([]int64{width}, z)
				if err := errors.Join(err1, err2); err != nil {
					t.Error(err)
					return
				}
				if k%10 == 0 {
					runtime.GC()
				}
				if err := s.Run(ctx, []*ort.Tensor{in}, []*ort.Tensor{out}); err != nil {
					t.Error(err)
				}
				in.Close()
				out.Close()
				for i := range x {
					if z[i] != 2*x[i]*x[i] {
						t.Errorf("goroutine %d run %d: z[%d] = %v", g, k, i, z[i])
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkRunOverhead(b *testing.B) {
	orttest.Load(b)
	m := model([][]byte{node("Add", []string{"x", "x"}, []string{"y"})},
		[][]byte{value("x", tFloat, "n")}, [][]byte{value("y", tFloat, "n")})
	s, err := ort.OpenBytes("m", m, []string{"x"}, []string{"y"}, ort.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	in, out := []*ort.Tensor{tensor(b, []int64{8}, make([]float32, 8))},
		[]*ort.Tensor{tensor(b, []int64{8}, make([]float32, 8))}
	for b.Loop() {
		if err := s.Run(context.Background(), in, out); err != nil {
			b.Fatal(err)
		}
	}
}

// A provider that the runtime does not have ends the opening of a session.
func TestSessionProvider(t *testing.T) {
	orttest.Load(t)
	_, err := ort.OpenBytes("model", []byte("x"), []string{"a"}, []string{"b"},
		ort.Config{Provider: ort.Provider{"device_id": "0"}})
	if err == nil || strings.Contains(err.Error(), "panicked") {
		t.Errorf("no CUDA: %v", err)
	}
}
