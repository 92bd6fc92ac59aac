package onnx

import (
	"strings"
	"testing"
	"testing/fstest"

	"google.golang.org/protobuf/encoding/protowire"
)

// A description behind the data of a weight does not move where they lie, however the file is read.
func TestOriginBeforeOtherFields(t *testing.T) {
	t.Parallel()
	for _, words := range []int{1, 40, 400} {
		var w []byte
		w = protowire.AppendVarint(protowire.AppendTag(w, 1, protowire.VarintType), 40) // dims
		w = protowire.AppendVarint(protowire.AppendTag(w, 2, protowire.VarintType), uint64(Float))
		w = protowire.AppendString(protowire.AppendTag(w, 8, protowire.BytesType), "described")
		data := []byte(strings.Repeat("\x00\x01\x02\x03", 40))
		w = protowire.AppendBytes(protowire.AppendTag(w, 9, protowire.BytesType), data)
		w = protowire.AppendString(protowire.AppendTag(w, 12, protowire.BytesType),
			strings.Repeat("what it is ", words))
		plain, err := small().Marshal()
		if err != nil {
			t.Fatal(err)
		}
		var file []byte
		for rest := plain; len(rest) > 0; {
			num, typ, n := protowire.ConsumeField(rest)
			if n < 0 {
				t.Fatal(protowire.ParseError(n))
			}
			if num != 7 { // the graph
				file = append(file, rest[:n]...)
			} else {
				_, _, k := protowire.ConsumeTag(rest)
				g, _ := protowire.ConsumeBytes(rest[k:])
				g = protowire.AppendBytes(protowire.AppendTag(g[:len(g):len(g)], 5, protowire.BytesType), w)
				file = protowire.AppendBytes(protowire.AppendTag(file, 7, typ), g)
			}
			rest = rest[n:]
		}
		dir := fstest.MapFS{"m.onnx": {Data: file}}
		m, err := Parse(file, "m.onnx", dir)
		if err != nil {
			t.Fatal(err)
		}
		got := m.Graph.Initializers[1].Origin
		if at := int64(strings.Index(string(file), string(data))); got.Offset != at || got.Length != 160 {
			t.Errorf("%d words: %+v, want offset %d", words, got, at)
		}
		agree(t, m, err, dir)
	}
}
