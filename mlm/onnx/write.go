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

// Marshal encodes m into one slice, each weight copied (or read) once.
func (m *Model) Marshal() ([]byte, error) { return m.MarshalExternal(0, nil) }

// MarshalExternal is Marshal, but it writes tensors of at least a number of bytes, if their Origin
// is known, as external data that refers to where they already are (file names relative to the
// original model's folder). 0 keeps all weights inside the file. location gives the path that is
// written for a file of an Origin, and nil keeps it. Where it gives "" the weights stay inside.
func (m *Model) MarshalExternal(least int64, location func(file string) string) ([]byte, error) {
	b, err := (&message{least: least, location: location}).model(m)
	if err != nil {
		return nil, err
	}
	out := make([]byte, b.n)
	at := 0
	for _, p := range b.parts {
		if p.t == nil {
			at += copy(out[at:], p.b)
			continue
		}
		n := int(p.t.ByteLen())
		if err := p.t.readInto(out[at : at+n]); err != nil {
			return nil, err
		}
		at += n
	}
	return out, nil
}

// part is a run of encoded bytes or, if t is set, the data of a tensor.
type part struct {
	b []byte
	t *Tensor
}

// message is an encoded protobuf message in parts, so that weights need not be moved when a message
// is put into another.
type message struct {
	parts []part
	n     int64
	// Which tensors are written as external data, and under which path, see MarshalExternal.
	least    int64
	location func(file string) string
}

// tail is the open run of bytes at the end.
func (m *message) tail() *[]byte {
	if k := len(m.parts); k == 0 || m.parts[k-1].t != nil {
		m.parts = append(m.parts, part{})
	}
	return &m.parts[len(m.parts)-1].b
}

func (m *message) raw(f func([]byte) []byte) {
	t := m.tail()
	before := len(*t)
	*t = f(*t)
	m.n += int64(len(*t) - before)
}

func (m *message) int(num protowire.Number, v int64) {
	m.raw(func(b []byte) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
	})
}

// str writes a string. Empty ones only if keep is set.
func (m *message) str(num protowire.Number, s string, keep bool) {
	if s == "" && !keep {
		return
	}
	m.raw(func(b []byte) []byte {
		return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
	})
}

func (m *message) ints(num protowire.Number, v []int64) {
	if len(v) == 0 {
		return
	}
	var p []byte
	for _, x := range v {
		p = protowire.AppendVarint(p, uint64(x))
	}
	m.raw(func(b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), p)
	})
}

// sub writes an embedded message.
func (m *message) sub(num protowire.Number, fill func(*message)) {
	c := &message{least: m.least, location: m.location}
	fill(c)
	m.raw(func(b []byte) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.BytesType), uint64(c.n))
	})
	for _, p := range c.parts {
		if p.t != nil {
			m.parts = append(m.parts, p)
			m.n += p.t.ByteLen()
			continue
		}
		m.raw(func(b []byte) []byte { return append(b, p.b...) })
	}
}

func (m *message) model(model *Model) (*message, error) {
	m.int(1, model.IRVersion)
	m.str(2, model.ProducerName, false)
	m.str(3, model.ProducerVersion, false)
	if model.Graph != nil {
		m.sub(7, func(m *message) { m.graph(model.Graph) })
	}
	for _, domain := range slices.Sorted(maps.Keys(model.Opsets)) {
		m.sub(8, func(m *message) {
			m.str(1, domain, false)
			m.int(2, model.Opsets[domain])
		})
	}
	if m.n > maxModelFile {
		return nil, errorf(errLimit, "model", "%d bytes do not fit a protobuf file; "+
			"write with external data", m.n)
	}
	return m, nil
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
		m.raw(func(b []byte) []byte {
			return protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type),
				math.Float32bits(a.F))
		})
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
		m.raw(func(b []byte) []byte {
			return protowire.AppendBytes(protowire.AppendTag(b, 7, protowire.BytesType), p)
		})
	case attrInts:
		m.ints(8, a.Ints)
	}
	m.int(20, int64(a.Type))
}

func (m *message) tensor(t *Tensor) {
	m.ints(1, t.Dims)
	m.int(2, int64(t.Type))
	m.str(8, t.Name, false)
	size := t.ByteLen()
	o := t.Origin
	file := o.File
	if file != "" && m.location != nil {
		file = m.location(file)
	}
	if file != "" && m.least > 0 && size >= m.least {
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
	m.raw(func(b []byte) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, 9, protowire.BytesType), uint64(size))
	})
	m.parts = append(m.parts, part{t: t})
	m.n += size
}
