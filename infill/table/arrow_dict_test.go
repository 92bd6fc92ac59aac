package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A dictionary that takes the place of another frees its room, and one that adds to it does not.
func TestArrowDictionaries(t *testing.T) {
	t.Parallel()
	const batches, size = 40, 8 << 10
	stream := func(delta bool) io.Reader {
		kind := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
		schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: kind}}, nil)
		var out bytes.Buffer
		w := ipc.NewWriter(&out, ipc.WithSchema(schema), ipc.WithDictionaryDeltas(delta))
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		for i := range batches {
			if !delta {
				b.Field(0).(*array.BinaryDictionaryBuilder).ResetFull()
			}
			text := fmt.Sprintf("%d%s", i, strings.Repeat("x", size))
			if err := b.Field(0).(*array.BinaryDictionaryBuilder).AppendString(text); err != nil {
				t.Fatal(err)
			}
			batch := b.NewRecordBatch()
			err := w.Write(batch)
			batch.Release()
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return &out
	}
	rows, err := readAll(stream(false), 5*size)
	if rows != batches || err != io.EOF {
		t.Errorf("replaced: %d rows, %v", rows, err)
	}
	if rows, err := readAll(stream(true), 5*size); !errors.Is(err, ErrTable) || rows == batches {
		t.Errorf("added to: %d rows, %v", rows, err)
	}
}

// What is cut off, or another table, is named as that.
func TestWhichTable(t *testing.T) {
	t.Parallel()
	b := read(t, "types.arrow")
	_, err := NewArrow(bytes.NewReader(b[:20]))
	if want := "unreadable table: the Arrow data end too early; get the file again whole"; err == nil ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = NewParquet(bytes.NewReader(b), int64(len(b)))
	if want := "unreadable table: it is an Arrow file and not Parquet; name it .arrow"; err == nil ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
