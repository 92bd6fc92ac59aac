// Package onnx reads, checks and writes ONNX model files without copying their weights.
//
// It holds the part of the ONNX protobuf schema (onnx.proto3, IR versions 3 to 13) that inference
// graphs of language models use, as plain structs. Parse aliases the bytes it is given: a tensor's
// data is a slice of the file, or a range of an external data file that is read only when it is
// asked for. Load leaves large weights in the model file too, whatever its size. Marshal writes a
// model with every weight once, MarshalExternal refers to where weights already lie on disk.
//
// Model files are untrusted. Every length is checked against the bytes that are there before
// anything is allocated, shapes are multiplied with overflow checks, subgraphs nest to a limit,
// external data stays below the model's folder, and [Model.Check] refuses graphs with duplicate,
// dangling or cyclic values and operators from domains other than the standard one and
// com.microsoft. Errors are of type *Error and wrap one of the sentinels below.
package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What can be wrong with a model file. Test with errors.Is.
var (
	// ErrFormat is for what is not protobuf, truncated, or has fields of the wrong kind.
	ErrFormat = errors.New("not a readable onnx model")
	// errLimit is for files that hold more than the limits below.
	errLimit = errors.New("onnx model exceeds a limit")
	// ErrExternal is for a missing file, a path outside the folder, or a range outside the file.
	ErrExternal = errors.New("bad external data")
	// errGraph is for duplicate names, dangling inputs, cycles and wrong sizes.
	errGraph = errors.New("inconsistent graph")
	// errUnsupported is for an opset, domain, type or feature that this package does not handle.
	errUnsupported = errors.New("unsupported onnx model")
)

// Error says what is wrong with a model and where.
type Error struct {
	Kind error  // one of the sentinels
	At   string // the node, tensor or graph concerned, e.g. `node "/bert/Add" (Add)`; may be empty
	What string
	Err  error // underlying error, may be nil
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Kind.Error())
	if e.At != "" {
		b.WriteString(": " + e.At)
	}
	b.WriteString(": " + e.What)
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap gives the sentinel and the underlying error.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

func errorf(kind error, at, format string, args ...any) error {
	return &Error{Kind: kind, At: at, What: fmt.Sprintf(format, args...)}
}

// Limits on what a file may hold. They are far above any model of the kinds we run and keep the
// memory that parsing takes within a small multiple of the file's size.
const (
	maxNodes    = 200_000 // nodes in all graphs together; BERT-large exports have about 3,000
	maxTensors  = 200_000 // initializers and tensor attributes together
	maxDepth    = 8       // nesting of subgraphs
	maxName     = 4096    // bytes of a name
	maxRank     = 16      // dimensions of a tensor
	maxElements = 1 << 40 // elements of a tensor; the data must be there as well
)

// DataType is an ONNX tensor element type (TensorProto.DataType).
type DataType int32

// The element types this package can size.
const (
	Float      DataType = 1
	Uint8      DataType = 2
	Int8       DataType = 3
	typeUint16 DataType = 4
	typeInt16  DataType = 5
	Int32      DataType = 6
	Int64      DataType = 7
	Bool       DataType = 9
	Float16    DataType = 10
	Double     DataType = 11
	typeUint32 DataType = 12
	typeUint64 DataType = 13
	BFloat16   DataType = 16
	typeUint4  DataType = 21 // two in a byte, the first in the lower half
	typeInt4   DataType = 22
)

// Size is the number of bytes of one element, 0 for types we do not handle and for those of 4 bits.
func (d DataType) Size() int {
	switch d {
	case Uint8, Int8, Bool:
		return 1
	case typeUint16, typeInt16, Float16, BFloat16:
		return 2
	case Float, Int32, typeUint32:
		return 4
	case Int64, typeUint64, Double:
		return 8
	}
	return 0
}

// Bytes is the number of bytes of n elements, 0 for types we do not handle.
func (d DataType) Bytes(n int64) int64 {
	if d == typeUint4 || d == typeInt4 {
		return (n + 1) / 2
	}
	return n * int64(d.Size())
}

var typeNames = map[DataType]string{
	Float: "float32", Uint8: "uint8", Int8: "int8", typeUint16: "uint16",
	typeInt16: "int16", Int32: "int32", Int64: "int64", 8: "string",
	Bool: "bool", Float16: "float16", Double: "float64", typeUint32: "uint32",
	typeUint64: "uint64", BFloat16: "bfloat16", typeUint4: "uint4", typeInt4: "int4",
}

func (d DataType) String() string {
	if s, ok := typeNames[d]; ok {
		return s
	}
	return fmt.Sprintf("type(%d)", int32(d))
}

// Wrap wraps v to the width of an integer type.
func (d DataType) Wrap(v int64) int64 {
	shift := (64 - 8*d.Size()) % 64 // 0 for types of 4 bits, too
	if d == Uint8 || d == typeUint16 || d == typeUint32 {
		return int64(uint64(v) << shift >> shift)
	}
	return v << shift >> shift
}

// Model is a ModelProto. Opsets are the versions of the operator sets by their domains. ONNX's own
// domain is "".
type Model struct {
	IRVersion       int64
	ProducerName    string
	ProducerVersion string
	Opsets          map[string]int64
	Graph           *Graph
}

// External lists, sorted, the files other than its own that hold weights of the model.
func (m *Model) External(own string) []string {
	var out []string
	m.tensors(func(t *Tensor) {
		if t.IsExternal() && t.Origin.File != own && !slices.Contains(out, t.Origin.File) {
			out = append(out, t.Origin.File)
		}
	})
	slices.Sort(out)
	return out
}

// tensors visits the weights of the model, and the tensors of its Constants.
func (m *Model) tensors(each func(*Tensor)) {
	m.Graph.Each(func(g *Graph) {
		for _, t := range g.Initializers {
			each(t)
		}
		for _, n := range g.Nodes {
			for _, a := range n.Attrs {
				if a.T != nil {
					each(a.T)
				}
			}
		}
	})
}

// canonicalDomain is a domain as this package has it: "ai.onnx" and "" are the same.
func canonicalDomain(d string) string {
	if d == "ai.onnx" {
		return ""
	}
	return d
}

// Graph is a GraphProto. Nodes are in topological order once Check has passed.
type Graph struct {
	Name         string
	Nodes        []*Node
	Initializers []*Tensor
	Inputs       []*ValueInfo
	Outputs      []*ValueInfo
	ValueInfo    []*ValueInfo
}

// Node is a NodeProto. An empty string among Inputs or Outputs is an optional one left out.
type Node struct {
	Name    string
	Op      string
	Domain  string // "" or "com.microsoft" after Check
	Inputs  []string
	Outputs []string
	Attrs   []*Attribute
}

func (n *Node) String() string { return fmt.Sprintf("node %q (%s)", n.Name, n.Op) }

// Attr finds an attribute by name, nil if absent.
func (n *Node) Attr(name string) *Attribute {
	for _, a := range n.Attrs {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Int is the integer attribute name, or def if it is absent or of another type.
func (n *Node) Int(name string, def int64) int64 {
	if a := n.Attr(name); a != nil && a.Type == attrInt {
		return a.I
	}
	return def
}

// Float is the float attribute name, or def if it is absent or of another type.
func (n *Node) Float(name string, def float32) float32 {
	if a := n.Attr(name); a != nil && a.Type == attrFloat {
		return a.F
	}
	return def
}

// Ints is the integer list attribute name and whether it is there.
func (n *Node) Ints(name string) ([]int64, bool) {
	if a := n.Attr(name); a != nil && a.Type == attrInts {
		return a.Ints, true
	}
	return nil, false
}

// Str is the string attribute name, or def if it is absent or of another type.
func (n *Node) Str(name, def string) string {
	if a := n.Attr(name); a != nil && a.Type == attrString {
		return a.S
	}
	return def
}

// AttrType is an AttributeProto.AttributeType.
type AttrType int32

// The attribute types that are read. Others are refused.
const (
	attrFloat  AttrType = 1
	attrInt    AttrType = 2
	attrString AttrType = 3
	attrTensor AttrType = 4
	attrGraph  AttrType = 5
	attrFloats AttrType = 6
	attrInts   AttrType = 7
)

// Attribute is an AttributeProto, made by [Attr]. The field that Type names is set.
type Attribute struct {
	Name   string
	Type   AttrType
	F      float32
	I      int64
	S      string
	T      *Tensor
	G      *Graph
	Floats []float32
	Ints   []int64
}

// Attr makes an attribute of the type that its value has. An int is an integer attribute, too.
func Attr[T float32 | int | int64 | DataType | string | []int64 | *Tensor | *Graph](name string,
	value T) *Attribute {
	a := &Attribute{Name: name}
	switch v := any(value).(type) {
	case float32:
		a.Type, a.F = attrFloat, v
	case int:
		a.Type, a.I = attrInt, int64(v)
	case int64:
		a.Type, a.I = attrInt, v
	case DataType:
		a.Type, a.I = attrInt, int64(v)
	case string:
		a.Type, a.S = attrString, v
	case []int64:
		a.Type, a.Ints = attrInts, v
	case *Tensor:
		a.Type, a.T = attrTensor, v
	case *Graph:
		a.Type, a.G = attrGraph, v
	}
	return a
}

// ValueInfo is a ValueInfoProto of tensor type.
type ValueInfo struct {
	Name     string
	Type     DataType
	HasShape bool
	Shape    []Dim
}

// Dim is one dimension: a number if Param is empty and Value is not negative, else a name or
// unknown (-1).
type Dim struct {
	Param string
	Value int64
}
