package onnx

import (
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Parse decodes data, the bytes of a model file. The model aliases data, which must not change
// while the model is in use. file is the file's own name within dir, recorded as the origin of its
// tensors ("" for none). External data files are looked up in dir. Parse checks sizes and ranges.
// Check checks the graph.
func Parse(data []byte, file string, dir fs.FS) (*Model, error) {
	p := &parser{file: file, dir: dir, sizes: map[string]int64{}}
	return p.whole(field{b: data, to: int64(len(data))})
}

// whole decodes a model, which is a message without a head.
func (p *parser) whole(f field) (*Model, error) {
	m := &Model{}
	f.typ = protowire.BytesType
	err := p.message(f, "model", onlyGraph, func(f field) error { return p.model(m, f) })
	if err == nil && m.Graph == nil {
		err = errorf(ErrFormat, "model", "no graph in the file")
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// model takes one field of the model.
func (p *parser) model(m *Model, f field) (err error) {
	switch f.num {
	case 1:
		m.IRVersion, err = f.int64()
	case 2:
		m.ProducerName, err = f.str()
	case 3:
		m.ProducerVersion, err = f.str()
	case 7:
		if m.Graph != nil {
			return errorf(ErrFormat, "model", "two graphs")
		}
		m.Graph, err = p.graph(f, 0)
	case 8:
		err = p.opset(m, f)
	case 25:
		return errorf(errUnsupported, "model", "model-local functions; inline them when exporting")
	}
	return err
}

// parser holds what is counted across the whole file.
type parser struct {
	file           string
	dir            fs.FS
	nodes, tensors int
	sizes          map[string]int64 // of external files

	// Reading from a file instead of from memory, see Load.
	src   io.ReaderAt
	leave int64 // the size of data from which on it is left where it is
}

// field is one decoded protobuf field: bytes for length-delimited ones, else bits. The bytes are
// those from to to of the file. Those of left ones were not read.
type field struct {
	num      protowire.Number
	typ      protowire.Type
	b        []byte
	bits     uint64
	at       string
	left     bool
	from, to int64
}

func (f field) wrong(want string) error {
	return errorf(ErrFormat, f.at, "field %d is not %s", f.num, want)
}

func (f field) msg() ([]byte, error) {
	if f.typ != protowire.BytesType {
		return nil, f.wrong("a message")
	}
	return f.b, nil
}

func (f field) str() (string, error) {
	if f.typ != protowire.BytesType {
		return "", f.wrong("a string")
	}
	if len(f.b) > maxName {
		return "", errorf(errLimit, f.at, "a name of %d bytes", len(f.b))
	}
	if !utf8.Valid(f.b) {
		return "", errorf(ErrFormat, f.at, "field %d is not UTF-8", f.num)
	}
	return string(f.b), nil
}

func (f field) int64() (int64, error) {
	if f.typ != protowire.VarintType {
		return 0, f.wrong("an integer")
	}
	return int64(f.bits), nil
}

// ints appends a repeated integer field, packed or not.
func (f field) ints(to []int64) ([]int64, error) {
	if f.typ == protowire.VarintType {
		return append(to, int64(f.bits)), nil
	}
	if f.typ != protowire.BytesType {
		return nil, f.wrong("integers")
	}
	for b := f.b; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, f.wrong("packed integers")
		}
		to, b = append(to, int64(v)), b[n:]
	}
	return to, nil
}

// packed gives the bytes of a repeated fixed-width field of size bytes per element, appended to
// `to`. A single packed field is aliased.
func (f field) packed(to []byte, size int) ([]byte, error) {
	switch {
	case f.typ == protowire.BytesType && len(f.b)%size == 0:
		if to == nil {
			return f.b, nil
		}
		return append(to[:len(to):len(to)], f.b...), nil
	case f.typ == protowire.Fixed32Type && size == 4:
		return binary.LittleEndian.AppendUint32(to[:len(to):len(to)], uint32(f.bits)), nil
	case f.typ == protowire.Fixed64Type && size == 8:
		return binary.LittleEndian.AppendUint64(to[:len(to):len(to)], f.bits), nil
	}
	return nil, f.wrong("packed numbers")
}

// add appends a decoded value to a list.
func add[T any](to *[]T) func(T, error) error {
	return func(v T, err error) error {
		if err == nil {
			*to = append(*to, v)
		}
		return err
	}
}

// set puts a number that was decoded where it belongs.
func set[T ~int32](to *T) func(int64, error) error {
	return func(v int64, err error) error { *to = T(v); return err }
}

func (p *parser) opset(m *Model, f field) error {
	domain, version := "", int64(0)
	err := p.nested(f, "operator set", func(f field) (err error) {
		switch f.num {
		case 1:
			domain, err = f.str()
		case 2:
			version, err = f.int64()
		}
		return err
	})
	if err != nil {
		return err
	}
	if m.Opsets == nil {
		m.Opsets = map[string]int64{}
	}
	d := canonicalDomain(domain)
	if _, twice := m.Opsets[d]; twice {
		return errorf(errGraph, "model", "operator set %q imported twice", domain)
	}
	if len(m.Opsets) >= 256 {
		return errorf(errLimit, "model", "more than 256 operator sets")
	}
	m.Opsets[d] = version
	return nil
}

func (p *parser) graph(f field, depth int) (*Graph, error) {
	if depth > maxDepth {
		return nil, errorf(errLimit, f.at, "subgraphs nest deeper than %d", maxDepth)
	}
	g := &Graph{}
	err := p.message(f, "graph", p.largeInitializers, func(f field) (err error) {
		switch f.num {
		case 1:
			err = add(&g.Nodes)(p.node(f, depth))
		case 2:
			g.Name, err = f.str()
		case 5:
			err = add(&g.Initializers)(p.tensor(f))
		case 11, 12, 13:
			to := map[protowire.Number]*[]*ValueInfo{11: &g.Inputs, 12: &g.Outputs, 13: &g.ValueInfo}[f.num]
			if len(*to) >= maxNodes {
				return errorf(errLimit, "graph", "more than %d value descriptions", maxNodes)
			}
			err = add(to)(p.valueInfo(f))
		case 15:
			return errorf(errUnsupported, "graph", "sparse initializers")
		}
		return err
	})
	return g, err
}

func (p *parser) node(f field, depth int) (*Node, error) {
	if p.nodes++; p.nodes > maxNodes {
		return nil, errorf(errLimit, "graph", "more than %d nodes", maxNodes)
	}
	n := &Node{}
	err := p.nested(f, "node", func(f field) (err error) {
		switch f.num {
		case 1:
			err = add(&n.Inputs)(f.str())
		case 2:
			err = add(&n.Outputs)(f.str())
		case 3:
			n.Name, err = f.str()
		case 4:
			n.Op, err = f.str()
		case 5:
			if len(n.Attrs) >= 64 {
				return errorf(errLimit, n.String(), "more than 64 attributes")
			}
			if err = add(&n.Attrs)(p.attribute(f, depth)); err != nil {
				err = fmt.Errorf("%s: %w", n, err)
			}
		case 7:
			n.Domain, err = f.str()
			n.Domain = canonicalDomain(n.Domain)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if n.Op == "" {
		return nil, errorf(ErrFormat, n.String(), "no operator")
	}
	return n, nil
}

func (p *parser) attribute(f field, depth int) (*Attribute, error) {
	a := &Attribute{}
	err := p.nested(f, "attribute", func(f field) (err error) {
		switch f.num {
		case 1:
			a.Name, err = f.str()
		case 2:
			if f.typ != protowire.Fixed32Type {
				return f.wrong("a float")
			}
			a.F = math.Float32frombits(uint32(f.bits))
		case 3:
			a.I, err = f.int64()
		case 4:
			a.S, err = f.str()
		case 5:
			a.T, err = p.tensor(f)
		case 6:
			a.G, err = p.graph(f, depth+1)
		case 7:
			var raw []byte
			if raw, err = f.packed(nil, 4); err == nil {
				for ; len(raw) > 0; raw = raw[4:] {
					a.Floats = append(a.Floats, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
				}
			}
		case 8:
			a.Ints, err = f.ints(a.Ints)
		case 20:
			err = set(&a.Type)(f.int64())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	at := fmt.Sprintf("attribute %q", a.Name)
	switch {
	case a.Type < attrFloat || a.Type > attrInts:
		return nil, errorf(errUnsupported, at, "attribute type %d", a.Type)
	case a.Type == attrTensor && a.T == nil, a.Type == attrGraph && a.G == nil:
		return nil, errorf(ErrFormat, at, "value missing")
	}
	return a, nil
}

func (p *parser) valueInfo(f field) (*ValueInfo, error) {
	v := &ValueInfo{}
	err := p.nested(f, "value", func(f field) (err error) {
		switch f.num {
		case 1:
			v.Name, err = f.str()
		case 2: // TypeProto: tensor_type is its field 1
			return p.nested(f, "type of "+v.Name, func(f field) error {
				if f.num != 1 {
					return nil
				}
				return p.nested(f, "tensor type of "+v.Name, func(f field) (err error) {
					switch f.num {
					case 1:
						err = set(&v.Type)(f.int64())
					case 2:
						v.HasShape = true
						return p.nested(f, "shape of "+v.Name, func(f field) error { return p.dim(f, v) })
					}
					return err
				})
			})
		}
		return err
	})
	return v, err
}

func (p *parser) nested(f field, at string, each func(field) error) error {
	return p.message(f, at, nil, each)
}

func (p *parser) dim(f field, v *ValueInfo) error {
	if f.num != 1 {
		return nil
	}
	if len(v.Shape) >= maxRank {
		return errorf(errLimit, "value "+v.Name, "rank above %d", maxRank)
	}
	d := Dim{Value: -1}
	err := p.nested(f, "dimension of "+v.Name, func(f field) (err error) {
		switch f.num {
		case 1:
			d.Value, err = f.int64()
			if d.Value < 0 {
				d.Value = -1 // some exporters write -1 for unknown
			}
		case 2:
			d.Param, err = f.str()
		}
		return err
	})
	v.Shape = append(v.Shape, d)
	return err
}
