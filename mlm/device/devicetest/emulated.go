package devicetest

import (
	"slices"
	"strconv"

	"infill/mlm/device"
	"infill/mlm/device/known"
	"infill/mlm/onnx"
)

// Emulated is the name of the device [Emulation].
const Emulated = "emulated"

// Emulation has bfloat16 without a processor for it, slowly: the runtime's own kernels, on graphs
// that round.
type Emulation struct{ device.Processor }

// Devices lists the program's devices and the emulated ones.
func Devices() device.List { return append(known.Devices(), Emulation{}, emulatedCard{}) }

// Name is [Emulated].
func (Emulation) Name() string { return Emulated }

// Rounding is [device.BFloat16].
func (Emulation) Rounding() device.Rounding { return device.BFloat16 }

// About is the same on all machines.
func (Emulation) About(string) device.About {
	return device.About{Name: Emulated, About: "bfloat16 for tests", Identity: Emulated,
		Rounding: device.BFloat16, Slow: true}
}

// Numbers are rounded where that is asked for, the same bits each time.
func (Emulation) Numbers(rounded bool) device.Numbers { return device.Numbers{Rounded: rounded} }

// Rewrite has the factors and the result of every product rounded to bfloat16, to the nearest
// and to even in the middle. Sums within a product, and what lies between products, stay in
// float32. It is nearly what a device computes that has such products, which may round what lies
// between, too.
func (Emulation) Rewrite(m *onnx.Model, rounded bool) {
	if n := 0; rounded {
		m.Graph.Each(func(g *onnx.Graph) { roundIn(g, &n) })
	}
}

func roundIn(g *onnx.Graph, n *int) {
	var nodes []*onnx.Node
	for _, node := range g.Nodes {
		product := node.IsProduct()
		if product {
			*n++
			node.Inputs = slices.Clone(node.Inputs)
			for k := range 2 {
				x := node.Inputs[k]
				name := "rounded " + strconv.Itoa(*n) + " " + strconv.Itoa(k)
				nodes = append(nodes, castTo(x, name+" narrow", onnx.BFloat16),
					castTo(name+" narrow", name, onnx.Float))
				node.Inputs[k] = name
			}
		}
		nodes = append(nodes, node)
		if product {
			y, name := node.Outputs[0], "rounded "+strconv.Itoa(*n)
			node.Outputs = []string{name + " wide"}
			back := castTo(name+" narrow", y, onnx.Float)
			back.Name = name // nodes may be called like their outputs
			nodes = append(nodes, castTo(name+" wide", name+" narrow", onnx.BFloat16), back)
		}
	}
	g.Nodes = nodes
}

func castTo(from, to string, t onnx.DataType) *onnx.Node {
	return &onnx.Node{Name: to, Op: "Cast", Inputs: []string{from}, Outputs: []string{to},
		Attrs: []*onnx.Attribute{onnx.Attr("to", t)}}
}
