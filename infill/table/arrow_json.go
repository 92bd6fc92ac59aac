package table

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"infill/internal/binary16"
)

// maxArrowCell bounds the JSON of a cell in bytes: views of lists can name the same values often.
const maxArrowCell = 64 << 20

// appendArrow appends a value as JSON, in the form that [appendLeaf] gives to values of Parquet.
func appendArrow(dst []byte, of arrow.Array, i int) ([]byte, error) {
	if len(dst) > maxArrowCell {
		return dst, fmt.Errorf("a cell has more than %d bytes", maxArrowCell)
	}
	switch a := of.(type) { // these have no nulls of their own
	case *array.RunEndEncoded:
		return appendArrow(dst, a.Values(), a.GetPhysicalIndex(i))
	case *array.SparseUnion:
		return appendArrow(dst, a.Field(a.ChildID(i)), i)
	case *array.DenseUnion:
		return appendArrow(dst, a.Field(a.ChildID(i)), int(a.ValueOffset(i)))
	}
	if i < 0 || i >= of.Len() {
		return dst, errors.New("a value is missing")
	}
	if of.IsNull(i) || of.DataType().ID() == arrow.NULL {
		return append(dst, "null"...), nil
	}
	switch a := of.(type) {
	case array.ExtensionArray:
		return appendArrow(dst, a.Storage(), i)
	case *array.Dictionary:
		return appendArrow(dst, a.Dictionary(), a.GetValueIndex(i))
	case array.ListLike:
		return appendArrowList(dst, a, i)
	case *array.Struct:
		return appendArrowStruct(dst, a, i)
	}
	v, err := arrowValue(of, i)
	if err != nil {
		return dst, err
	}
	b, err := marshal(v)
	return append(dst, b...), err
}

func appendArrowList(dst []byte, a array.ListLike, i int) ([]byte, error) {
	dst = append(dst, '[')
	from, to := a.ValueOffsets(i)
	for at := from; at < to; at++ {
		if at > from {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendArrow(dst, a.ListValues(), int(at)); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendArrowStruct(dst []byte, a *array.Struct, i int) ([]byte, error) {
	dst = append(dst, '{')
	for k, f := range a.DataType().(*arrow.StructType).Fields() {
		if k > 0 {
			dst = append(dst, ',')
		}
		name, err := marshal(f.Name)
		if err != nil {
			return dst, err
		}
		dst = append(append(dst, name...), ':')
		if dst, err = appendArrow(dst, a.Field(k), i); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// arrowValue is a single value for JSON. Durations are numbers of their unit.
func arrowValue(of arrow.Array, i int) (any, error) {
	switch a := of.(type) {
	case array.StringLike:
		return a.Value(i), nil
	case interface{ Value(int) []byte }:
		return base64.StdEncoding.EncodeToString(a.Value(i)), nil
	case *array.Boolean:
		return a.Value(i), nil
	case *array.Float32:
		return numberOf(float64(a.Value(i)), 32), nil
	case *array.Float64:
		return numberOf(a.Value(i), 64), nil
	case *array.Float16:
		// The library gets numbers below 6e-5 wrong.
		return numberOf(float64(binary16.Widen(a.Value(i).Uint16())), 64), nil
	case *array.Date32, *array.Date64, *array.Time32, *array.Time64, *array.Timestamp:
		return arrowTime(of, i), nil
	case *array.DayTimeInterval, *array.MonthDayNanoInterval:
		return of.ValueStr(i), nil
	}
	if v, ok := arrowWhole(of, i); ok {
		return v, nil
	}
	if d, ok := of.DataType().(arrow.DecimalType); ok {
		return arrowDecimal(of, i, int(d.GetScale()))
	}
	return nil, fmt.Errorf("values of type %v are not read", of.DataType())
}

// arrowWhole is a whole number.
func arrowWhole(of arrow.Array, i int) (any, bool) {
	switch a := of.(type) {
	case *array.Int8:
		return a.Value(i), true
	case *array.Int16:
		return a.Value(i), true
	case *array.Int32:
		return a.Value(i), true
	case *array.Int64:
		return a.Value(i), true
	case *array.Uint8:
		return a.Value(i), true
	case *array.Uint16:
		return a.Value(i), true
	case *array.Uint32:
		return a.Value(i), true
	case *array.Uint64:
		return a.Value(i), true
	case *array.Duration:
		return int64(a.Value(i)), true
	case *array.MonthInterval:
		return int32(a.Value(i)), true
	}
	return nil, false
}

// arrowTime is a date, a time of the day, or both.
func arrowTime(of arrow.Array, i int) string {
	const clock = "15:04:05.999999999"
	switch a := of.(type) {
	case *array.Date32:
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(a.Value(i))).Format(time.DateOnly)
	case *array.Date64:
		return time.UnixMilli(int64(a.Value(i))).UTC().Format(time.DateOnly)
	case *array.Time32:
		return a.Value(i).ToTime(a.DataType().(*arrow.Time32Type).Unit).Format(clock)
	case *array.Time64:
		return a.Value(i).ToTime(a.DataType().(*arrow.Time64Type).Unit).Format(clock)
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		layout := "2006-01-02T" + clock
		if t.TimeZone != "" {
			layout += "Z07:00"
		}
		return a.Value(i).ToTime(t.Unit).Format(layout)
	}
	return ""
}

// arrowDecimal is a decimal number in digits.
func arrowDecimal(of arrow.Array, i, scale int) (string, error) {
	var n *big.Int
	switch a := of.(type) {
	case *array.Decimal32:
		n = big.NewInt(int64(a.Value(i)))
	case *array.Decimal64:
		n = big.NewInt(int64(a.Value(i)))
	case *array.Decimal128:
		n = a.Value(i).BigInt()
	case *array.Decimal256:
		n = a.Value(i).BigInt()
	default:
		return "", fmt.Errorf("values of type %v are not read", of.DataType())
	}
	if scale < 0 {
		n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-scale)), nil))
	}
	return decimal(n, scale), nil
}

// plainArrow is the type of the JSON that [appendArrow] makes.
func plainArrow(t arrow.DataType) Type {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return plainArrow(t.ValueType)
	case arrow.ExtensionType:
		return plainArrow(t.StorageType())
	case *arrow.RunEndEncodedType:
		return plainArrow(t.Encoded())
	case *arrow.BooleanType:
		return Type{Kind: Bool}
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		return Type{Kind: Number}
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Uint8Type,
		*arrow.Uint16Type, *arrow.Uint32Type, *arrow.DurationType, *arrow.MonthIntervalType:
		return Type{Kind: Whole}
	case *arrow.Uint64Type, *arrow.NullType, arrow.NestedType:
		return Type{Kind: JSON}
	}
	return Type{Kind: Text}
}
