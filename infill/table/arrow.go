package table

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// An origin is a column's type in Arrow, such as a category, a duration or a time zone, from the
// head of its Parquet file. It is a Field of Arrow's Schema.fbs.
type origin struct {
	*heading
	field int
}

// A heading has notes of other programs in the head of a Parquet file, and Arrow's types of the
// columns.
type heading struct {
	file  *parquet.File
	other []format.KeyValue
	types flat // a Message of Arrow, nil for none
}

const arrowKey = "ARROW:schema"

// carried are the notes that go with columns, of pandas, Hugging Face and GeoParquet. Spark and
// Avro note the schema of the whole file, which would hide the columns that are added.
var carried = []string{"pandas", "huggingface", "geo"}

// originsOf are the origins of the columns of a file. Damaged types are none.
func originsOf(f *parquet.File, columns int) (out []*origin) {
	h := &heading{file: f}
	out = make([]*origin, columns)
	for i := range out {
		out[i] = &origin{heading: h}
	}
	defer func() {
		if recover() != nil {
			h.types = nil
		}
	}()
	var message []byte
	for _, kv := range f.Metadata().KeyValueMetadata {
		if kv.Key == arrowKey {
			message, _ = base64.StdEncoding.DecodeString(kv.Value)
		} else if slices.Contains(carried, kv.Key) {
			h.other = append(h.other, kv)
		}
	}
	if len(message) == 0 {
		return out
	}
	b := flat(message[4:]) // behind its length
	if binary.LittleEndian.Uint32(message) == 1<<32-1 {
		b = b[4:]
	}
	fields := b.to(b.member(b.to(b.member(b.to(0), messageHeader)), schemaFields))
	if b.number(fields) != columns {
		return out
	}
	for i := range out {
		out[i].field = b.to(fields + 4 + 4*i)
		b.categories(out[i].field) // which reads it
	}
	h.types = b
	return out
}

// keep has the leaves of a field that are categories in Arrow written with all of these, in their
// own order. Arrow finds them in no encoding but dictionaries. was is the same field in the file
// that the column comes from. are says for each leaf of the column there, from first on, whether it
// is one.
func (h *heading) keep(f, was *field, are []bool, first int) {
	for i, kid := range f.kids {
		h.keep(kid, was.kids[i], are, first)
	}
	if i := was.at - first; f.Leaf() && i < len(are) && are[i] {
		t := f.Type()
		all := t.NewDictionary(0, 0, t.NewValues(nil, nil))
		_ = h.collect(all, was.at) // who reads the rows is told of the damage
		f.own, f.encoding = categoryType{t, all}, &parquet.RLEDictionary
	}
}

// collect adds the values of the dictionaries of a leaf in all row groups.
func (h *heading) collect(all parquet.Dictionary, leaf int) (err error) {
	defer guard(0, &err)
	for _, g := range h.file.RowGroups() {
		pages := g.ColumnChunks()[leaf].Pages().(*parquet.FilePages) // as all of a file are
		d, err := pages.ReadDictionary()
		if err == nil && d != nil {
			addAll(all, d)
		}
		if err := errors.Join(err, pages.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Places of the members of tables of Arrow: Message, Schema and Field.
const (
	messageHeader  = 2
	schemaFields   = 1
	schemaOther    = 2
	fieldName      = 0
	fieldNullable  = 1
	fieldKind      = 2
	fieldType      = 3
	fieldCategory  = 4
	fieldChildren  = 5
	fieldOther     = 6
	metadataOfV5   = 4
	arrowInt       = 2
	arrowFloat     = 3
	arrowText      = 5
	arrowBool      = 6
	arrowList      = 12
	arrowStructure = 13
)

// A flat is a FlatBuffer, https://flatbuffers.dev/internals: tables whose members are found by
// offsets forward. New tables have eight bytes for each member.
type flat []byte

func (b flat) number(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }

// to is where the offset at a place points to.
func (b flat) to(at int) int { return at + b.number(at) }

// member is the place of a member of a table, 0 for one that it lacks.
func (b flat) member(table, i int) int {
	of := table - int(int32(b.number(table)))
	if 4+2*i >= int(binary.LittleEndian.Uint16(b[of:])) {
		return 0
	}
	offset := int(binary.LittleEndian.Uint16(b[of+4+2*i:]))
	if offset == 0 {
		return 0
	}
	return table + offset
}

// categories says of each leaf of a field whether it has categories.
func (b flat) categories(field int) (leaves []bool) {
	if at := b.member(field, fieldChildren); at > 0 {
		kids := b.to(at)
		for i := range b.number(kids) {
			leaves = append(leaves, b.categories(b.to(kids+4+4*i))...)
			if len(leaves) > parquet.MaxColumnIndex {
				panic("a field with more leaves than a file has") // of a few damaged ones in each other
			}
		}
	}
	if leaves == nil {
		leaves = []bool{b.member(field, fieldCategory) > 0}
	}
	return leaves
}

// An arrowWriter makes Arrow's types of columns. The earlier file's stand behind the new ones.
type arrowWriter struct {
	flat
	old   flat
	links [][2]int // of an offset, to a place in old
}

// arrowSchema has Arrow's types of columns for the head of a file, if one has such a type, and the
// notes of other programs in the file that columns come from.
func arrowSchema(columns []Column) (out []format.KeyValue) {
	w := &arrowWriter{flat: make(flat, 8)}
	for _, c := range columns {
		if o := c.Type.origin; o != nil {
			w.old, out = o.types, o.other
		}
	}
	if w.old == nil {
		return out
	}
	others := out
	defer func() {
		if recover() != nil { // types are damaged where nothing has looked yet
			out = others
		}
	}()
	message := w.table(metadataOfV5, 1, 0, 0)
	w.point(0, message)
	was := w.old.member(w.old.to(w.old.member(w.old.to(0), messageHeader)), schemaOther)
	schema := w.table(0, 0, min(0, was-1))
	w.point(slot(message, messageHeader), schema)
	w.point(slot(schema, schemaFields), w.fields(columns))
	w.link(slot(schema, schemaOther), was)
	w.pad(8, 0)
	for _, l := range w.links {
		w.point(l[0], len(w.flat)+l[1])
	}
	b := append(w.flat, w.old...)
	framed := binary.LittleEndian.AppendUint32([]byte{255, 255, 255, 255}, uint32(len(b)))
	value := base64.StdEncoding.EncodeToString(append(framed, b...))
	return append(out[:len(out):len(out)], format.KeyValue{Key: arrowKey, Value: value})
}

func (w *arrowWriter) pad(to, behind int) {
	for (len(w.flat)+behind)%to != 0 {
		w.flat = append(w.flat, 0)
	}
}

// slot is the place of a member of a table that was written here.
func slot(table, i int) int { return table + 8 + 8*i }

// table writes a table. Members below 0 are lacking.
func (w *arrowWriter) table(members ...int) int {
	head := 4 + 2*len(members)
	w.pad(8, head)
	w.flat = binary.LittleEndian.AppendUint16(w.flat, uint16(head))
	w.flat = binary.LittleEndian.AppendUint16(w.flat, uint16(slot(0, len(members))))
	for i, m := range members {
		offset := slot(0, i)
		if m < 0 {
			offset = 0
		}
		w.flat = binary.LittleEndian.AppendUint16(w.flat, uint16(offset))
	}
	at := len(w.flat)
	w.flat = binary.LittleEndian.AppendUint64(w.flat, uint64(head))
	for _, m := range members {
		w.flat = binary.LittleEndian.AppendUint64(w.flat, uint64(max(m, 0)))
	}
	return at
}

// point has the offset at a place point to another one.
func (w *arrowWriter) point(at, to int) {
	binary.LittleEndian.PutUint32(w.flat[at:], uint32(to-at))
}

// link has the offset at a place point to where a member of the earlier file points, if it has it.
func (w *arrowWriter) link(at, member int) {
	if member > 0 {
		w.links = append(w.links, [2]int{at, w.old.to(member)})
	}
}

// fields writes a list of fields.
func (w *arrowWriter) fields(columns []Column) int {
	w.pad(4, 0)
	at := len(w.flat)
	w.flat = binary.LittleEndian.AppendUint32(w.flat, uint32(len(columns)))
	w.flat = append(w.flat, make([]byte, 4*len(columns))...)
	for i, c := range columns {
		w.point(at+4+4*i, w.field(c))
	}
	return at
}

// field writes a field, of the earlier file or of a type.
func (w *arrowWriter) field(c Column) int {
	at := 0
	if o := c.Type.origin; o != nil {
		members := []int{0, 0, 0, -1, -1, -1, -1}
		for i := fieldNullable; i <= fieldOther; i++ {
			switch m := w.old.member(o.field, i); {
			case m == 0:
			case i <= fieldKind:
				members[i] = int(w.old[m])
			default:
				members[i] = 0
			}
		}
		at = w.table(members...)
		for i := fieldType; i <= fieldOther; i++ {
			w.link(slot(at, i), w.old.member(o.field, i))
		}
	} else {
		kind, of := arrowText, []int(nil)
		kids := c.Type.Fields
		switch c.Type.Kind {
		case Whole:
			kind, of = arrowInt, []int{64, 1}
		case Number:
			kind, of = arrowFloat, []int{2} // double
		case Bool:
			kind = arrowBool
		case List:
			kind, kids = arrowList, []Column{{"element", *c.Type.Elem}}
		case Struct:
			kind = arrowStructure
		}
		at = w.table(0, 1, kind, 0, -1, 0)
		w.point(slot(at, fieldType), w.table(of...))
		w.point(slot(at, fieldChildren), w.fields(kids))
	}
	w.pad(4, 0)
	w.point(slot(at, fieldName), len(w.flat))
	w.flat = binary.LittleEndian.AppendUint32(w.flat, uint32(len(c.Name)))
	w.flat = append(append(w.flat, c.Name...), 0)
	return at
}
