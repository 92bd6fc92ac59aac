package onnx

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxModelFile is protobuf's limit on a message. Larger models keep their weights in external
// files.
const maxModelFile = 1<<31 - 1

// Marshal encodes m into one slice.
func (m *Model) Marshal() ([]byte, error) { return m.MarshalExternal(0, nil) }

// MarshalExternal is Marshal, but it writes tensors of at least a number of bytes, if their Origin
// is known, as external data that refers to where they already are (file names relative to the
// original model's folder). 0 keeps all weights inside the file. location gives the path that is
// written for a file of an Origin, and nil keeps it. Where it gives "" the weights stay inside.
func (m *Model) MarshalExternal(least int64, location func(file string) string) ([]byte, error) {
	w := &message{least: least, location: location}
	inside := int64(0)
	m.tensors(func(t *Tensor) {
		if w.elsewhere(t) == "" {
			inside += t.ByteLen()
		}
	})
	if inside <= maxModelFile {
		w.b = make([]byte, 0, inside+inside/64+1<<15)
		w.model(m)
		inside = int64(len(w.b))
	}
	if inside > maxModelFile {
		return nil, errorf(errLimit, "model", "%d bytes do not fit a protobuf file; "+
			"write with external data", inside)
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.b, nil
}

// message encodes protobuf messages.
type message struct {
	b   []byte
	err error // of the first tensor that cannot be read
	// Which tensors are written as external data, and under which path, see MarshalExternal.
	least    int64
	location func(file string) string
}

// elsewhere is the file that a tensor is left in, "" if it is written.
func (m *message) elsewhere(t *Tensor) string {
	file := t.Origin.File
	if file == "" || m.least <= 0 || t.ByteLen() < m.least {
		return ""
	}
	if m.location != nil {
		file = m.location(file)
	}
	return file
}

func (m *message) int(num protowire.Number, v int64) {
	m.b = protowire.AppendVarint(protowire.AppendTag(m.b, num, protowire.VarintType), uint64(v))
}

func (m *message) bytes(num protowire.Number, b []byte) {
	m.b = protowire.AppendBytes(protowire.AppendTag(m.b, num, protowire.BytesType), b)
}

// str writes a string. Empty ones only if keep is set.
func (m *message) str(num protowire.Number, s string, keep bool) {
	if s != "" || keep {
		m.bytes(num, []byte(s))
	}
}

func (m *message) ints(num protowire.Number, v []int64) {
	var p []byte
	for _, x := range v {
		p = protowire.AppendVarint(p, uint64(x))
	}
	if len(v) > 0 {
		m.bytes(num, p)
	}
}

// sub writes an embedded message: its head when its size is known.
func (m *message) sub(num protowire.Number, fill func(*message)) {
	start := len(m.b)
	fill(m)
	head := protowire.AppendTag(nil, num, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(m.b)-start))
	m.b = slices.Insert(m.b, start, head...)
}

func (m *message) model(model *Model) {
	m.int(1, model.IRVersion)
	m.str(2, model.ProducerName, false)
	m.str(3, model.ProducerVersion, false)
	m.sub(7, func(m *message) { m.graph(model.Graph) })
	for _, domain := range slices.Sorted(maps.Keys(model.Opsets)) {
		m.sub(8, func(m *message) {
			m.str(1, domain, false)
			m.int(2, model.Opsets[domain])
		})
	}
}

func (m *message) graph(g *Graph) {
	for _, n := range g.Nodes {
		m.sub(1, func(m *message) { m.node(n) })
	}
	m.str(2, g.Name, true)
	for _, t := range g.Initializers {
		m.sub(5, func(m *message) { m.tensor(t) })
	}
	m.values(11, g.Inputs)
	m.values(12, g.Outputs)
	m.values(13, g.ValueInfo)
}

func (m *message) values(num protowire.Number, list []*ValueInfo) {
	for _, v := range list {
		m.sub(num, func(m *message) {
			m.str(1, v.Name, false)
			m.sub(2, func(m *message) {
				m.sub(1, func(m *message) {
					m.int(1, int64(v.Type))
					if v.HasShape {
						m.sub(2, func(m *message) { m.shape(v.Shape) })
					}
				})
			})
		})
	}
}

func (m *message) shape(dims []Dim) {
	for _, d := range dims {
		m.sub(1, func(m *message) {
			switch {
			case d.Param != "":
				m.str(2, d.Param, false)
			case d.Value >= 0:
				m.int(1, d.Value)
			}
		})
	}
}

func (m *message) node(n *Node) {
	for _, s := range n.Inputs {
		m.str(1, s, true)
	}
	for _, s := range n.Outputs {
		m.str(2, s, true)
	}
	m.str(3, n.Name, false)
	m.str(4, n.Op, false)
	for _, a := range n.Attrs {
		m.sub(5, func(m *message) { m.attribute(a) })
	}
	m.str(7, n.Domain, false)
}

func (m *message) attribute(a *Attribute) {
	m.str(1, a.Name, false)
	switch a.Type {
	case attrFloat:
		m.b = protowire.AppendFixed32(protowire.AppendTag(m.b, 2, protowire.Fixed32Type),
			math.Float32bits(a.F))
	case attrInt:
		m.int(3, a.I)
	case attrString:
		m.str(4, a.S, true)
	case attrTensor:
		m.sub(5, func(m *message) { m.tensor(a.T) })
	case attrGraph:
		m.sub(6, func(m *message) { m.graph(a.G) })
	case attrFloats:
		var p []byte
		for _, v := range a.Floats {
			p = protowire.AppendFixed32(p, math.Float32bits(v))
		}
		m.bytes(7, p)
	case attrInts:
		m.ints(8, a.Ints)
	}
	m.int(20, int64(a.Type))
}

func (m *message) tensor(t *Tensor) {
	m.ints(1, t.Dims)
	m.int(2, int64(t.Type))
	m.str(8, t.Name, false)
	if file, o := m.elsewhere(t), t.Origin; file != "" {
		for _, e := range [][2]string{{"location", file}, {"offset", strconv.FormatInt(o.Offset, 10)},
			{"length", strconv.FormatInt(o.Length, 10)}} {
			m.sub(13, func(m *message) {
				m.str(1, e[0], false)
				m.str(2, e[1], false)
			})
		}
		m.int(14, 1)
		return
	}
	size := int(t.ByteLen())
	m.b = protowire.AppendVarint(protowire.AppendTag(m.b, 9, protowire.BytesType), uint64(size))
	at := len(m.b)
	m.b = slices.Grow(m.b, size)[:at+size]
	if err := t.readInto(m.b[at:]); err != nil && m.err == nil {
		m.err = err
	}
}
