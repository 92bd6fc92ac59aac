package mlm

import (
	"math/rand/v2"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a protobuf message taken apart, so that what is changed inside
// comes out with lengths that are right again: the reader gets further than
// with damaged bytes.
type message []messageField

type messageField struct {
	num  protowire.Number
	typ  protowire.Type
	raw  []byte // the value as it stands, for bytes without its length
	list message
}

// spliceParts are the embedded messages of ONNX by the path of field numbers.
var spliceParts = map[string]bool{"7": true, "8": true, "7.1": true, "7.5": true, "7.11": true,
	"7.12": true, "7.1.5": true, "7.1.5.5": true, "7.1.5.6": true,
	"7.5.13": true, "7.11.2": true, "7.11.2.1": true, "7.11.2.1.2": true, "7.11.2.1.2.1": true}

func takeApart(b []byte, path string) (message, bool) {
	var m message
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, false
		}
		k := protowire.ConsumeFieldValue(num, typ, b[n:])
		if k < 0 {
			return nil, false
		}
		f := messageField{num: num, typ: typ, raw: b[n : n+k]}
		if typ == protowire.BytesType {
			f.raw, _ = protowire.ConsumeBytes(b[n:])
			at := strings.TrimPrefix(path+"."+string(rune('0'+num%10)), ".")
			if num > 9 {
				at = strings.TrimPrefix(path+".1"+string(rune('0'+num%10)), ".")
			}
			if spliceParts[at] {
				f.list, _ = takeApart(f.raw, at)
			}
		}
		m, b = append(m, f), b[n+k:]
	}
	return m, true
}

func (m message) bytes() []byte {
	var b []byte
	for _, f := range m {
		raw := f.raw
		if f.list != nil {
			raw = f.list.bytes()
		}
		b = protowire.AppendTag(b, f.num, f.typ)
		if f.typ == protowire.BytesType {
			b = protowire.AppendBytes(b, raw)
		} else {
			b = append(b, raw...)
		}
	}
	return b
}

// splice changes a few fields of a model file: removed, repeated, exchanged
// with others, given the contents of others, huge numbers and shapes, paths
// out of the folder, and graphs within graphs.
func splice(data []byte, rng *rand.Rand) []byte {
	top, ok := takeApart(data, "")
	if !ok {
		return data
	}
	for range 1 + rng.IntN(3) {
		spliceOnce(&top, rng)
	}
	return top.bytes()
}

func spliceOnce(m *message, rng *rand.Rand) {
	for { // down to some message
		var inner []int
		for i, f := range *m {
			if len(f.list) > 0 {
				inner = append(inner, i)
			}
		}
		if len(inner) == 0 || rng.IntN(4) == 0 {
			break
		}
		m = &(*m)[inner[rng.IntN(len(inner))]].list
	}
	if len(*m) == 0 {
		return
	}
	i, j := rng.IntN(len(*m)), rng.IntN(len(*m))
	f := &(*m)[i]
	switch rng.IntN(8) {
	case 0:
		*m = append((*m)[:i:i], (*m)[i+1:]...)
	case 1:
		*m = append(*m, *f)
	case 2:
		(*m)[i], (*m)[j] = (*m)[j], (*m)[i]
	case 3:
		num := f.num
		*f = (*m)[j]
		f.num = num
	case 4: // a number or a shape
		huge := []uint64{0, 1, 1 << 31, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1, 1 << 20}[rng.IntN(8)]
		if f.typ == protowire.VarintType {
			f.raw = protowire.AppendVarint(nil, huge)
		} else {
			*m = append(*m, messageField{num: protowire.Number(1 + rng.IntN(20)), typ: protowire.VarintType,
				raw: protowire.AppendVarint(nil, huge)})
		}
	case 5: // a name, a path
		if f.typ == protowire.BytesType {
			f.list, f.raw = nil, []byte([]string{"", "../weights.bin", "/etc/passwd", "weights.bin", "a\\b",
				"input_ids", "logits", "If", "Loop", "Scan", "ai.custom",
				strings.Repeat("x", 5000), "\xff\xfe"}[rng.IntN(13)])
		}
	case 6: // external data
		entry := func(k, v string) messageField {
			return messageField{num: 13, typ: protowire.BytesType,
				raw: protowire.AppendString(protowire.AppendTag(
					protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), k), 2,
					protowire.BytesType), v)}
		}
		where := []string{"../x", "/etc/passwd", "weights.bin", "model.onnx", "vocab.txt",
			"."}[rng.IntN(6)]
		offset := []string{"0", "-1", "9223372036854775807", "18446744073709551616", "4096"}[rng.IntN(5)]
		*m = append(*m, entry("location", where), entry("offset", offset),
			messageField{num: 14, typ: protowire.VarintType, raw: []byte{1}})
	case 7: // within itself, again and again
		inner := message{*f}
		for range 1 + rng.IntN(40) {
			inner = message{{num: []protowire.Number{1, 5, 6, 7}[rng.IntN(4)], typ: protowire.BytesType,
				raw: inner.bytes()}}
		}
		*m = append(*m, inner...)
	}
}
