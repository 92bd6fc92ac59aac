package torch

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	binding "github.com/yalue/onnxruntime_go"

	"infill/mlm/onnx"
)

// ortPeak measures the runtime's float32 matrix product, x[m,k]·W[k,n] with a
// constant W, in GFLOP/s: as many single-threaded runs side by side as there
// are threads (which is how infill works), and one run with all threads. The
// better one for each size. The median product counts, as in worker.py.
func ortPeak(seconds float64, threads int) (any, error) {
	best := map[string]float64{}
	for _, p := range products {
		name := fmt.Sprintf("%d×%d×%d", p[0], p[1], p[2])
		ways := [][2]int{{threads, 1}} // runs side by side, threads of each
		if threads > 1 {
			ways = append(ways, [2]int{1, threads})
		}
		for _, w := range ways {
			rate, err := product(p, seconds/float64(len(ways)), w[0], w[1])
			if err != nil {
				return nil, err
			}
			best[name] = max(best[name], rate)
		}
	}
	return map[string]any{"gflops": best}, nil
}

func product(p [3]int, seconds float64, runs, threads int) (float64, error) {
	m, k, n := p[0], p[1], p[2]
	weights := make([]float32, k*n)
	for i := range weights {
		weights[i] = float32(i%17)/17 - 0.5
	}
	dim := func(d ...int) []onnx.Dim {
		out := make([]onnx.Dim, len(d))
		for i, v := range d {
			out[i].Value = int64(v)
		}
		return out
	}
	value := func(name string, d ...int) *onnx.ValueInfo {
		return &onnx.ValueInfo{Name: name, Type: onnx.Float, HasShape: true, Shape: dim(d...)}
	}
	data, err := (&onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17},
		Graph: &onnx.Graph{
			Name: "product",
			Nodes: []*onnx.Node{{Name: "product", Op: "MatMul", Inputs: []string{"x", "w"},
				Outputs: []string{"y"}}},
			Initializers: []*onnx.Tensor{onnx.Floats("w", []int64{int64(k), int64(n)}, weights...)},
			Inputs:       []*onnx.ValueInfo{value("x", m, k)}, Outputs: []*onnx.ValueInfo{value("y", m, n)},
		}}).Marshal()

	if err != nil {
		return 0, err
	}
	options, err := binding.NewSessionOptions()
	if err != nil {
		return 0, err
	}
	defer func() { _ = options.Destroy() }()
	if err := options.SetIntraOpNumThreads(threads); err != nil {
		return 0, err
	}
	s, err := binding.NewDynamicAdvancedSessionWithONNXData(data, []string{"x"}, []string{"y"},
		options)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Destroy() }()

	var stop atomic.Bool
	var wg sync.WaitGroup
	errs, times := make([]error, runs), make([][]float64, runs)
	for r := range runs {
		x, errX := binding.NewTensor(binding.NewShape(int64(m), int64(k)), make([]float32, m*k))
		y, errY := binding.NewTensor(binding.NewShape(int64(m), int64(n)), make([]float32, m*n))
		if errX != nil || errY != nil {
			return 0, errors.Join(errX, errY)
		}
		defer func() { _ = errors.Join(x.Destroy(), y.Destroy()) }()
		wg.Go(func() {
			for first := true; first || !stop.Load() && errs[r] == nil; first = false {
				began := time.Now()
				errs[r] = s.Run([]binding.Value{x}, []binding.Value{y})
				times[r] = append(times[r], time.Since(began).Seconds())
			}
		})
	}
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	stop.Store(true)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	rate := 0.0
	for _, d := range times {
		rate += 2 * float64(m) * float64(k) * float64(n) / median(d) / 1e9
	}
	return rate, nil
}
