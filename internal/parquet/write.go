package parquet

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/klauspost/compress/snappy"
)

// Sizes of pages. A page ends at the row that reaches this number of values, or this number of
// bytes of texts.
const (
	pageValues = 64 << 10
	pageBytes  = 1 << 20
)

// dictBytes is the largest dictionary that is written, in bytes.
const dictBytes = 1 << 20

// Writer writes records to a Parquet file. The records of a row group are held in
// memory until the group is full.
type Writer struct {
	out       io.Writer
	at        int64
	schema    *arrow.Schema
	meta      thriftWriter // the list of row groups
	groups    int
	rows      int64
	groupRows int64
	pending   []arrow.RecordBatch
	waiting   int64 // rows of pending
	columns   []outColumn
}

// outColumn is a column of values in the file.
type outColumn struct {
	path   []string
	phys   int32
	maxDef uint32
	maxRep uint32
}

// NewWriter writes the start of a file. A row group has groupRows rows. The error
// is an *UnsupportedError for a column that Writer does not know.
func NewWriter(out io.Writer, schema *arrow.Schema, groupRows int64) (*Writer, error) {
	w := &Writer{out: out, schema: schema, groupRows: groupRows}
	for _, f := range schema.Fields() {
		if err := w.addColumns(f, nil, 0); err != nil {
			return nil, err
		}
	}
	return w, w.write([]byte(magic))
}

// UnsupportedError names a column whose type cannot be written.
type UnsupportedError struct{ Field arrow.Field }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("column %s of type %s cannot be written", e.Field.Name, e.Field.Type)
}

func (w *Writer) addColumns(f arrow.Field, path []string, def uint32) error {
	path = append(path[:len(path):len(path)], f.Name)
	if f.Nullable {
		def++
	}
	switch t := f.Type.(type) {
	case *arrow.StructType:
		for _, sub := range t.Fields() {
			if err := w.addColumns(sub, path, def); err != nil {
				return err
			}
		}
		return nil
	case *arrow.ListType:
		if t.Elem().ID() == arrow.STRING {
			w.columns = append(w.columns, outColumn{append(path, "list", "element"), physBytes, def + 1, 1})
			return nil
		}
	default:
		if phys := physOf(t); phys >= 0 {
			w.columns = append(w.columns, outColumn{path, phys, def, 0})
			return nil
		}
	}
	return &UnsupportedError{f}
}

func physOf(t arrow.DataType) int32 {
	switch t.ID() {
	case arrow.BOOL:
		return physBool
	case arrow.INT64, arrow.TIMESTAMP:
		return physInt64
	case arrow.FLOAT64:
		return physDouble
	case arrow.STRING:
		return physBytes
	}
	return -1
}

func (w *Writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.at += int64(n)
	return err
}

// Write adds the rows of a record with the writer's schema. It blocks while a full
// row group is written.
func (w *Writer) Write(rec arrow.RecordBatch) error {
	for from, end := int64(0), rec.NumRows(); from < end; {
		to := min(end, from+w.groupRows-w.waiting)
		w.pending = append(w.pending, rec.NewSlice(from, to))
		w.waiting += to - from
		from = to
		if w.waiting == w.groupRows {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close writes the rows that wait and the end of the file.
func (w *Writer) Close() error {
	if w.waiting > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	b := w.footer()
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)))
	return w.write(append(b, magic...))
}

// flush writes a row group.
func (w *Writer) flush() error {
	t := &w.meta
	t.open()
	t.list(1, tStruct, len(w.columns))
	start, raw, at := w.at, int64(0), 0
	for i, f := range w.schema.Fields() {
		err := w.fields(f, func(get func(arrow.RecordBatch) lane) error {
			n, err := w.chunk(&w.columns[at], get)
			raw += n
			at++
			return err
		}, func(rec arrow.RecordBatch) lane { return lane{a: rec.Column(i)} })
		if err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
	}
	t.i64(2, raw)
	t.i64(3, w.waiting)
	t.i64(5, start)
	t.i64(6, w.at-start)
	t.close()
	for _, r := range w.pending {
		r.Release()
	}
	w.groups++
	w.rows += w.waiting
	w.pending, w.waiting = w.pending[:0], 0
	return nil
}

// lane is an array with, for each value, the definition level of its parent. It is nil if no
// parent is missing.
type lane struct {
	a        arrow.Array
	def      []uint32
	most     uint32 // the level where nothing is missing
	nullable bool
}

// fields calls f for each column of values below a field.
func (w *Writer) fields(field arrow.Field, f func(func(arrow.RecordBatch) lane) error, get func(arrow.RecordBatch) lane) error {
	t, ok := field.Type.(*arrow.StructType)
	if !ok {
		return f(func(r arrow.RecordBatch) lane {
			l := get(r)
			l.nullable = field.Nullable
			return l
		})
	}
	for i, sub := range t.Fields() {
		err := w.fields(sub, f, func(r arrow.RecordBatch) lane {
			l := get(r)
			if field.Nullable {
				def := make([]uint32, l.a.Len())
				for k := range def {
					switch {
					case l.def != nil && l.def[k] < l.most:
						def[k] = l.def[k]
					case l.a.IsNull(k):
						def[k] = l.most
					default:
						def[k] = l.most + 1
					}
				}
				l.def, l.most = def, l.most+1
			}
			l.a = l.a.(*array.Struct).Field(i)
			return l
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// shred returns the levels of a lane's column, and calls put with the index of
// each value that is there.
func (l lane) shred(c *outColumn, def, rep []uint32, put func(i int)) (d, r []uint32) {
	lists, _ := l.a.(*array.List)
	for i := range l.a.Len() {
		level := l.most
		if l.def != nil {
			level = l.def[i]
		}
		there := level == l.most
		if there && l.nullable {
			if there = l.a.IsValid(i); there {
				level++
			}
		}
		if !there || lists == nil {
			def, rep = append(def, level), append(rep, 0)
			if there {
				put(i)
			}
			continue
		}
		lo, hi := lists.ValueOffsets(i)
		if lo == hi {
			def, rep = append(def, level), append(rep, 0)
		}
		for k := lo; k < hi; k++ {
			def, rep = append(def, c.maxDef), append(rep, uint32(min(1, k-lo)))
			put(int(k))
		}
	}
	return def, rep
}

// chunk writes one column of the row group that waits, and its metadata. It
// returns the number of bytes before compression.
func (w *Writer) chunk(c *outColumn, get func(arrow.RecordBatch) lane) (int64, error) {
	var def, rep []uint32
	v := &outValues{phys: c.phys}
	for _, rec := range w.pending {
		l := get(rec)
		def, rep = l.shred(c, def, rep, v.from(l.a))
	}
	o := &chunkWriter{w: w, c: c, start: w.at, dict: v.dictionary()}
	if o.dict != nil {
		var dict []byte
		for _, i := range o.dict.first {
			dict = v.one(dict, i)
		}
		h := func(t *thriftWriter) {
			t.structure(7, func() {
				t.i32(1, int32(len(o.dict.first)))
				t.i32(2, encPlain)
			})
		}
		if err := o.page(pageDict, dict, h); err != nil {
			return 0, err
		}
	}
	data := w.at
	at := 0 // the next value
	for from := 0; from < len(def); {
		to, end, size := from, at, 0
		for to < len(def) && (rep[to] == 1 || to == from || to-from < pageValues && size < pageBytes) {
			if def[to] == c.maxDef {
				size += v.size(end)
				end++
			}
			to++
		}
		var b []byte
		for _, l := range []struct {
			most uint32
			v    []uint32
		}{{c.maxRep, rep}, {c.maxDef, def}} {
			if l.most > 0 {
				head := len(b)
				b = appendRuns(append(b, 0, 0, 0, 0), l.v[from:to], bitsFor(int(l.most)))
				binary.LittleEndian.PutUint32(b[head:], uint32(len(b)-head-4))
			}
		}
		encoding := int32(encPlain)
		if o.dict != nil {
			encoding = encRLEDict
			width := bitsFor(len(o.dict.first) - 1)
			b = appendRuns(append(b, byte(width)), o.dict.index[at:end], width)
		} else {
			b = v.plain(b, at, end)
		}
		err := o.page(pageData, b, func(t *thriftWriter) {
			t.structure(5, func() {
				t.i32(1, int32(to-from))
				t.i32(2, encoding)
				t.i32(3, encRLE)
				t.i32(4, encRLE)
			})
		})
		if err != nil {
			return 0, err
		}
		from, at = to, end
	}
	t := &w.meta
	t.open()
	t.i64(2, o.start)
	t.structure(3, func() {
		t.i32(1, c.phys)
		encodings := []int32{encPlain, encRLE}
		if o.dict != nil {
			encodings = append(encodings, encRLEDict)
		}
		t.list(2, tI32, len(encodings))
		for _, e := range encodings {
			t.varint(int64(e))
		}
		t.list(3, tBinary, len(c.path))
		for _, p := range c.path {
			t.text(p)
		}
		t.i32(4, codecSnappy)
		t.i64(5, int64(len(def)))
		t.i64(6, o.raw)
		t.i64(7, w.at-o.start)
		t.i64(9, data)
		if o.dict != nil {
			t.i64(11, o.start)
		}
		v.statistics(t, int64(len(def)-v.len()))
	})
	t.close()
	return o.raw, nil
}

// chunkWriter writes the pages of a column.
type chunkWriter struct {
	w     *Writer
	c     *outColumn
	start int64
	raw   int64
	dict  *outDict
}

func (o *chunkWriter) page(kind int32, b []byte, more func(*thriftWriter)) error {
	if len(b) > math.MaxInt32 {
		return fmt.Errorf("a page of %d bytes; a Parquet file's pages have at most 2 GiB", len(b))
	}
	body := snappy.Encode(nil, b)
	var t thriftWriter
	t.open()
	t.i32(1, kind)
	t.i32(2, int32(len(b)))
	t.i32(3, int32(len(body)))
	t.i32(4, int32(crc32.ChecksumIEEE(body)))
	more(&t)
	t.close()
	o.raw += int64(len(t.b) + len(b))
	if err := o.w.write(t.b); err != nil {
		return err
	}
	return o.w.write(body)
}

// footer returns the metadata of the file.
func (w *Writer) footer() []byte {
	var t thriftWriter
	t.open()
	t.i32(1, 2)
	elements := 1
	var count func(fs []arrow.Field)
	count = func(fs []arrow.Field) {
		for _, f := range fs {
			elements++
			switch t := f.Type.(type) {
			case *arrow.StructType:
				count(t.Fields())
			case *arrow.ListType:
				elements += 2
			}
		}
	}
	count(w.schema.Fields())
	t.list(2, tStruct, elements)
	t.open()
	t.binary(4, "schema")
	t.i32(5, int32(w.schema.NumFields()))
	t.close()
	for _, f := range w.schema.Fields() {
		putElement(&t, f)
	}
	t.i64(3, w.rows)
	t.list(4, tStruct, w.groups)
	t.b = append(t.b, w.meta.b...)
	if md := w.schema.Metadata(); md.Len() > 0 {
		t.list(5, tStruct, md.Len())
		for i, k := range md.Keys() {
			t.open()
			t.binary(1, k)
			t.binary(2, md.Values()[i])
			t.close()
		}
	}
	t.binary(6, "weft")
	t.list(7, tStruct, len(w.columns))
	for range w.columns { // bounds are in the order of the type
		t.open()
		t.structure(1, func() {})
		t.close()
	}
	t.close()
	return t.b
}

// putElement writes a field's nodes of the schema.
func putElement(t *thriftWriter, f arrow.Field) {
	repetition := int32(required)
	if f.Nullable {
		repetition = optional
	}
	switch ft := f.Type.(type) {
	case *arrow.StructType:
		t.element(-1, repetition, f.Name, ft.NumFields(), nil)
		for _, sub := range ft.Fields() {
			putElement(t, sub)
		}
	case *arrow.ListType:
		t.element(-1, repetition, f.Name, 1, func() {
			t.i32(6, convList)
			t.structure(10, func() { t.structure(3, func() {}) })
		})
		t.element(-1, repeated, "list", 1, nil)
		t.element(physBytes, required, "element", 0, t.logicalText)
	case *arrow.StringType:
		t.element(physBytes, repetition, f.Name, 0, t.logicalText)
	case *arrow.TimestampType:
		unit, converted := 1, int32(convMillis)
		switch ft.Unit {
		case arrow.Microsecond:
			unit, converted = 2, convMicros
		case arrow.Nanosecond:
			unit, converted = 3, convUndefined
		}
		t.element(physInt64, repetition, f.Name, 0, func() {
			if ft.TimeZone != "" && converted != convUndefined { // the older form has UTC only
				t.i32(6, converted)
			}
			t.structure(10, func() {
				t.structure(8, func() {
					t.bool(1, ft.TimeZone != "")
					t.structure(2, func() { t.structure(unit, func() {}) })
				})
			})
		})
	default:
		t.element(physOf(ft), repetition, f.Name, 0, nil)
	}
}

func (t *thriftWriter) logicalText() {
	t.i32(6, convUTF8)
	t.structure(10, func() { t.structure(1, func() {}) })
}

// element writes one node; phys is -1 for one that has children.
func (t *thriftWriter) element(phys, repetition int32, name string, children int, meaning func()) {
	t.open()
	if phys >= 0 {
		t.i32(1, phys)
	}
	t.i32(3, repetition)
	t.binary(4, name)
	if phys < 0 {
		t.i32(5, int32(children))
	}
	if meaning != nil {
		meaning()
	}
	t.close()
}
