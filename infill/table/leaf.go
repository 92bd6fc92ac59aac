package table

import (
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
	switch kind, l := v.Kind(), logical(t); kind {
	case parquet.Boolean:
		out = v.Boolean()
	case parquet.Int32, parquet.Int64:
		n := v.Int64()
		if kind == parquet.Int32 {
			n = int64(v.Int32())
		}
		out = wholeOf(l, kind, n)
	case parquet.Int96:
		out = timeOf96(v.Int96())
	case parquet.Float:
		out = numberOf(float64(v.Float()), 32)
	case parquet.Double:
		out = numberOf(v.Double(), 64)
	default:
		out = bytesOf(l, kind, v.ByteArray())
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
func bytesOf(l any, kind parquet.Kind, b []byte) any {
	switch l := l.(type) {
	case *format.Float16Type:
		if len(b) == 2 {
			return numberOf(float64(binary16.Widen(binary.LittleEndian.Uint16(b))), 64)
		}
	case *format.DecimalType:
		return decimal(bigOf(b), int(l.Scale))
	case *format.UUIDType:
		if len(b) == 16 {
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		}
	case *format.JsonType:
		if json.Valid(b) && utf8.Valid(b) {
			return json.RawMessage(b)
		}
		return string(b)
	case *format.StringType, *format.EnumType:
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
	return time.Unix(0, n).UTC()
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

// Plain is the narrowest type of the JSON values of a [Native] column. Other types are their own.
func (t Type) Plain() Type {
	n := t.node
	switch {
	case n == nil:
		return t
	case !n.Leaf() || n.Repeated():
		return Type{Kind: JSON}
	}
	l := logical(n.Type())
	switch l := l.(type) {
	case *format.IntType:
		if !l.IsSigned && l.BitWidth == 64 {
			return Type{Kind: JSON} // beyond the whole numbers of a table
		}
	case *format.JsonType:
		return Type{Kind: JSON}
	case *format.Float16Type:
		return Type{Kind: Number}
	}
	switch kind := n.Type().Kind(); kind {
	case parquet.Boolean:
		return Type{Kind: Bool}
	case parquet.Float, parquet.Double:
		return Type{Kind: Number}
	case parquet.Int32, parquet.Int64:
		if _, ok := wholeOf(l, kind, 0).(string); !ok {
			return Type{Kind: Whole}
		}
	}
	return Type{Kind: Text}
}

// Parts is the type of the JSON values of a [Native] column with lists and structures, as far as
// cells can be written in it.
func (t Type) Parts() Type {
	n := t.node
	if n == nil || n.Leaf() {
		return t.Plain()
	}
	if _, element := listOf(n); element != nil {
		of := Type{node: element}.Parts()
		return Type{Kind: List, Elem: &of}
	}
	if n.Repeated() || logical(n.Type()) != nil {
		return t.Plain()
	}
	out := Type{Kind: Struct}
	for _, f := range n.kids {
		out.Fields = append(out.Fields, Column{f.name, Type{node: f}.Parts()})
	}
	return out
}

// half is the type of numbers of 16 bits. The library reads them as two bytes and forgets
// what they mean.
type half struct{ parquet.Type }

func (half) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: &format.Float16Type{}}
}
