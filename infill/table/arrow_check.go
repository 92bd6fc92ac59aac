package table

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	flatbuffers "github.com/google/flatbuffers/go"
)

// The head of a message is a FlatBuffer. The library makes room for as many parts as it says that
// there are, and follows fields within fields for as long as they go on. So both are looked at
// first. The slots are those of Message.fbs and Schema.fbs of the format.

// Kinds of messages and of types.
const (
	arrowSchema = 1
	arrowDict   = 2
	arrowRecord = 3
	arrowUnion  = 14
	arrowViews  = 23 // and 24: bytes and texts that lie in any number of buffers
)

const (
	maxArrowDepth  = 64
	maxArrowFields = 100_000
	maxArrowScale  = 76 // digits of the widest decimal number
)

// arrowViewCounts are numbers of columns of views: of a record batch, and of a dictionary at most.
// The library does not look whether a message has a number of buffers for each.
type arrowViewCounts struct{ record, dict int }

var errArrowHead = errors.New("a message has parts beyond its end")

// arrowHead is what the head of a message says of it.
type arrowHead struct {
	kind  byte
	body  int64 // its length
	id    int64 // of a dictionary
	delta bool  // whose values are added to those before
}

// check checks the head of a message.
func (v *arrowViewCounts) check(b []byte) (h arrowHead, err error) {
	defer guardArrow(&err)
	msg := &arrowTable{flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}}
	h = arrowHead{kind: msg.GetByteSlot(6, 0), body: msg.GetInt64Slot(10, 0)}
	header, ok := msg.table(8)
	_, err = msg.list(12, 4)
	switch {
	case err != nil:
	case h.body < 0:
		err = fmt.Errorf("the body of a message has %d bytes", h.body)
	case !ok:
		err = errors.New("a message is empty")
	case h.kind == arrowSchema:
		left := maxArrowFields
		if _, err = header.list(8, 4); err == nil {
			*v, err = header.fields(6, 0, &left)
		}
	case h.kind == arrowRecord:
		err = header.record(v.record)
	case h.kind != arrowDict:
		err = fmt.Errorf("a message is of kind %d, which no table has", h.kind)
	default:
		h.id, h.delta = header.GetInt64Slot(4, 0), header.GetBoolSlot(8, false)
		if header, ok = header.table(6); !ok {
			return h, errors.New("a dictionary is empty")
		}
		err = header.record(v.dict)
	}
	return h, err
}

// arrowTable is a table of a FlatBuffer.
type arrowTable struct{ flatbuffers.Table }

// table is the table in a slot.
func (t *arrowTable) table(slot flatbuffers.VOffsetT) (*arrowTable, bool) {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return nil, false
	}
	return &arrowTable{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(o + t.Pos)}}, true
}

// list is the length of the list in a slot, whose elements have a size in bytes.
func (t *arrowTable) list(slot flatbuffers.VOffsetT, size int) (int, error) {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return 0, nil
	}
	n, start := t.VectorLen(o), int(t.Vector(o))
	if start > len(t.Bytes) || n < 0 || n > (len(t.Bytes)-start)/size {
		return 0, errArrowHead
	}
	return n, nil
}

// fields checks the fields in a slot, and those within them.
func (t *arrowTable) fields(slot flatbuffers.VOffsetT, depth int, left *int) (v arrowViewCounts,
	err error) {
	n, err := t.list(slot, 4)
	if err != nil || n == 0 {
		return v, err
	}
	if *left -= n; *left < 0 || depth > maxArrowDepth {
		return v, fmt.Errorf("the schema has more than %d fields, or %d within each other",
			maxArrowFields, maxArrowDepth)
	}
	start := t.Vector(flatbuffers.UOffsetT(t.Offset(slot)))
	for i := range n {
		f := &arrowTable{flatbuffers.Table{Bytes: t.Bytes,
			Pos: t.Indirect(start + flatbuffers.UOffsetT(4*i))}}
		if _, err := f.list(16, 4); err != nil {
			return v, err
		}
		kind := f.GetByteSlot(8, 0)
		if union, ok := f.table(10); ok && kind == arrowUnion {
			if _, err := union.list(6, 4); err != nil {
				return v, err
			}
		}
		in, err := f.fields(14, depth+1, left)
		if err != nil {
			return v, err
		}
		if kind == arrowViews || kind == arrowViews+1 {
			in.record++
		}
		if f.Offset(12) != 0 { // its values are in a dictionary
			in.dict, in.record = max(in.dict, in.record), 0
		}
		v.record, v.dict = v.record+in.record, max(v.dict, in.dict)
	}
	return v, nil
}

// record checks a record batch, which has at least this number of columns of views.
func (t *arrowTable) record(views int) error {
	buffers, err := t.list(8, 16)
	if err != nil {
		return err
	}
	n, err := t.list(12, 8)
	if err != nil || views == 0 {
		return err
	}
	if n < views {
		return errArrowHead
	}
	start := t.Vector(flatbuffers.UOffsetT(t.Offset(12)))
	for i := range n {
		if k := t.GetInt64(start + flatbuffers.UOffsetT(8*i)); k < 0 || k > int64(buffers) {
			return errArrowHead
		}
	}
	return nil
}

// checkArrowType refuses decimal numbers with more digits than the format has.
func checkArrowType(t arrow.DataType) error {
	if d, ok := t.(arrow.DecimalType); ok {
		if s := d.GetScale(); s > maxArrowScale || s < -maxArrowScale {
			return fmt.Errorf("decimal numbers with %d digits after the point", s)
		}
	}
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return checkArrowType(t.ValueType)
	case arrow.ExtensionType:
		return checkArrowType(t.StorageType())
	case arrow.NestedType:
		for _, f := range t.Fields() {
			if err := checkArrowType(f.Type); err != nil {
				return err
			}
		}
	}
	return nil
}
