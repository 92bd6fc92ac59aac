package onnxgrad

import (
	"fmt"
	"math"

	"infill/mlm/onnxeval"
)

var neural = table{
	"Softmax":            {Least: 1, Run: softmax(false)},
	"LogSoftmax":         {Least: 1, Run: softmax(true)},
	"LayerNormalization": {Least: 2, Run: layerNorm(true)},
	// Root-mean-square norm: ONNX opset 23's name and the runtime's.
	"RMSNormalization":             {Least: 2, Run: layerNorm(false)},
	"SimplifiedLayerNormalization": {Least: 2, Run: layerNorm(false)},
}

func softmax(logs bool) onnxeval.Run {
	return func(c *call) ([]*dense, error) {
		x := c.In[0]
		if !x.IsFloat() {
			return nil, fmt.Errorf("needs floating numbers, has %v", x.Type)
		}
		def := int64(-1)
		if c.Opset < 13 {
			def = 1
		}
		axis, err := onnxeval.Axis(c.Node.Int("axis", def), len(x.Shape))
		if err != nil {
			return nil, err
		}
		outer, n, inner := onnxeval.Around(x.Shape, axis)
		if c.Opset < 13 { // flattened to two dimensions at the axis
			n, inner = n*inner, 1
		}
		out, err := onnxeval.Alloc(x.Type, x.Shape)
		if err != nil {
			return nil, err
		}
		for o := range outer {
			for i := range inner {
				top := math.Inf(-1)
				for k := range n {
					top = max(top, x.F[(o*n+k)*inner+i])
				}
				sum := 0.0
				for k := range n {
					sum += math.Exp(x.F[(o*n+k)*inner+i] - top)
				}
				for k := range n {
					at := (o*n+k)*inner + i
					if logs {
						out.F[at] = x.F[at] - top - math.Log(sum)
					} else {
						out.F[at] = math.Exp(x.F[at]-top) / sum
					}
				}
			}
		}
		return []*dense{out}, nil
	}
}

// layerNorm normalises over the axes from `axis` on: y = (x − mean)/√(var + ε)·scale + bias (Ba et
// al. 2016, arXiv:1607.06450), or without the mean (Zhang & Sennrich 2019, arXiv:1910.07467).
func layerNorm(centre bool) onnxeval.Run {
	return func(c *call) ([]*dense, error) {
		x, scale, bias := c.In[0], c.In[1], c.Arg(2)
		axis, err := onnxeval.Axis(c.Node.Int("axis", -1), len(x.Shape))
		if err != nil {
			return nil, err
		}
		eps := float64(c.Node.Float("epsilon", 1e-5))
		outer, n := onnxeval.Volume(x.Shape[:axis]), onnxeval.Volume(x.Shape[axis:])
		if len(scale.F) != n || bias != nil && len(bias.F) != n {
			return nil, fmt.Errorf("scale and bias do not fit shape %v", x.Shape)
		}
		out, err := onnxeval.Alloc(x.Type, x.Shape)
		if err != nil {
			return nil, err
		}
		for o := range outer {
			row, to := x.F[o*n:(o+1)*n], out.F[o*n:(o+1)*n]
			mean := 0.0
			if centre {
				for _, v := range row {
					mean += v
				}
				mean /= float64(n)
			}
			variance := 0.0
			for _, v := range row {
				variance += (v - mean) * (v - mean)
			}
			inv := 1 / math.Sqrt(variance/float64(n)+eps)
			for i, v := range row {
				to[i] = (v - mean) * inv * scale.F[i]
				if bias != nil {
					to[i] += bias.F[i]
				}
			}
		}
		return []*dense{out}, nil
	}
}
