package table

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"infill/internal/binary16"
)

// appendLeaf appends a stored value as JSON. Dates and times are as in ISO 8601,
// decimal numbers are texts that keep their digits, bytes that are not text are base64.
// NaN and infinity, which JSON has not, are the texts NaN, Infinity and -Infinity.
func appendLeaf(dst []byte, t parquet.Type, v parquet.Value) ([]byte, error) {
	if v.IsNull() {
		return append(dst, "null"...), nil
	}
	var out any
	switch kind := v.Kind(); kind {
	case parquet.Boolean:
		out = v.Boolean()
	case parquet.Int32, parquet.Int64:
		n := v.Int64()
		if kind == parquet.Int32 {
			n = int64(v.Int32())
		}
		out = wholeOf(logical(t), kind, n)
	case parquet.Int96:
		out = timeOf96(v.Int96())
	case parquet.Float:
		out = numberOf(float64(v.Float()), 32)
	case parquet.Double:
		out = numberOf(v.Double(), 64)
	default:
		b := v.ByteArray()
		if _, ok := logical(t).(*format.JsonType); ok && json.Valid(b) && utf8.Valid(b) {
			var flat bytes.Buffer
			err := json.Compact(&flat, b)
			return append(dst, flat.Bytes()...), err
		}
		if _, ok := logical(t).(*format.Float16Type); ok && len(b) == 2 {
			out = numberOf(float64(binary16.Widen(binary.LittleEndian.Uint16(b))), 64)
			break
		}
		out = bytesOf(logical(t), kind, b)
	}
	b, err := marshal(out)
	return append(dst, b...), err
}

// logical is the logical type of a type, nil for none.
func logical(t parquet.Type) any {
	if t == nil || t.LogicalType() == nil {
		return nil
	}
	return t.LogicalType().Value
}

// bytesOf is a stored text, or what else a logical type makes of bytes.
func bytesOf(l any, kind parquet.Kind, b []byte) string {
	switch l := l.(type) {
	case *format.DecimalType:
		return decimal(bigOf(b), int(l.Scale))
	case *format.UUIDType:
		if len(b) == 16 {
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		}
	case *format.StringType, *format.EnumType, *format.JsonType:
		return string(b)
	case nil:
		// Old writers do not mark texts, which have no fixed length.
		if kind == parquet.ByteArray && utf8.Valid(b) {
			return string(b)
		}
	}
	return base64.StdEncoding.EncodeToString(b)
}

// wholeOf is a stored whole number as its logical type means it.
func wholeOf(l any, kind parquet.Kind, n int64) any {
	const clock = "15:04:05.999999999"
	switch l := l.(type) {
	case *format.DateType:
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(n)).Format(time.DateOnly)
	case *format.TimestampType:
		layout := "2006-01-02T" + clock
		if l.IsAdjustedToUTC {
			layout += "Z07:00"
		}
		return timeOf(n, l.Unit).Format(layout)
	case *format.TimeType:
		return timeOf(n, l.Unit).Format(clock)
	case *format.DecimalType:
		return decimal(big.NewInt(n), int(l.Scale))
	case *format.IntType:
		if !l.IsSigned && kind == parquet.Int32 {
			return uint32(n)
		} else if !l.IsSigned {
			return uint64(n)
		}
	}
	return n
}

// timeOf is a number of units since 1970.
func timeOf(n int64, u format.TimeUnit) time.Time {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return time.UnixMilli(n).UTC()
	case *format.MicroSeconds:
		return time.UnixMicro(n).UTC()
	}
	const second = int64(time.Second)
	return time.Unix(n/second, n%second).UTC()
}

// timeOf96 is a time of old files: nanoseconds of a day and the Julian day.
func timeOf96(v deprecated.Int96) string {
	nanos := int64(v[1])<<32 | int64(v[0])
	days := int64(v[2]) - 2440588 // the Julian day of 1970-01-01
	return time.Unix(days*86400, nanos).UTC().Format("2006-01-02T15:04:05.999999999")
}

// numberOf is a number for JSON, with the digits that its width needs.
func numberOf(x float64, bits int) any {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	case bits == 32:
		return float32(x)
	}
	return x
}

// bigOf is a number in two's complement, most significant byte first.
func bigOf(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// decimal is n/10^scale in digits, or with an exponent where these would fill the memory: a file
// may state any scale.
func decimal(n *big.Int, scale int) string {
	if scale <= 0 {
		return n.String()
	} else if scale > 1000 {
		return fmt.Sprintf("%vE-%d", n, scale)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	return new(big.Rat).SetFrac(n, unit).FloatString(scale)
}

// plainNode is the type of the JSON that a column of a file has.
func plainNode(n parquet.Node) Type {
	if !n.Leaf() || n.Repeated() {
		return Type{Kind: JSON}
	}
	l := logical(n.Type())
	if i, ok := l.(*format.IntType); ok && !i.IsSigned && i.BitWidth == 64 {
		return Type{Kind: JSON} // beyond the whole numbers of a table
	}
	if _, ok := l.(*format.JsonType); ok {
		return Type{Kind: JSON}
	}
	if _, ok := l.(*format.Float16Type); ok {
		return Type{Kind: Number}
	}
	switch n.Type().Kind() {
	case parquet.Boolean:
		return Type{Kind: Bool}
	case parquet.Float, parquet.Double:
		return Type{Kind: Number}
	case parquet.Int32, parquet.Int64:
		if _, ok := wholeOf(l, n.Type().Kind(), 0).(string); !ok {
			return Type{Kind: Whole}
		}
	}
	return Type{Kind: Text}
}

// partsOf is plainNode with lists and structures.
func partsOf(n parquet.Node) Type {
	l, fields := logical(n.Type()), []parquet.Field(nil)
	if !n.Leaf() {
		fields = n.Fields()
	}
	switch _, list := l.(*format.ListType); {
	case list && len(fields) == 1 && fields[0].Repeated() && !fields[0].Leaf() &&
		len(fields[0].Fields()) == 1:
		elem := partsOf(fields[0].Fields()[0])
		return Type{Kind: List, Elem: &elem}
	case n.Leaf() || n.Repeated() || l != nil:
		return plainNode(n)
	}
	t := Type{Kind: Struct}
	for _, f := range fields {
		t.Fields = append(t.Fields, Column{f.Name(), partsOf(f)})
	}
	return t
}

// half is the type of numbers of 16 bits. The library reads them as two bytes and forgets
// what they mean.
type half struct{ parquet.Type }

func (half) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: &format.Float16Type{}}
}

// halfLeaf is a leaf of type half.
type halfLeaf struct{ parquet.Node }

func (h halfLeaf) Type() parquet.Type { return half{h.Node.Type()} }

// withHalves gives the leaves of a node their type half where the schema of the file says so.
// elements begin with the node's own and go on in the order of the tree. It returns those that
// follow the node's part of the tree.
func withHalves(n parquet.Field, elements []format.SchemaElement) (parquet.Field,
	[]format.SchemaElement) {
	if len(elements) == 0 {
		return n, nil
	}
	lt := elements[0].LogicalType.Value
	elements = elements[1:]
	if n.Leaf() {
		if _, ok := lt.(*format.Float16Type); ok {
			return &field{Node: halfLeaf{n}, name: n.Name()}, elements
		}
		return n, elements
	}
	fields, changed := n.Fields(), false
	out := make([]parquet.Field, len(fields))
	for i, f := range fields {
		out[i], elements = withHalves(f, elements)
		changed = changed || out[i] != f
	}
	if !changed {
		return n, elements
	}
	return &field{Node: n, name: n.Name(), fields: out}, elements
}
