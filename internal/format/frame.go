package format

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/graph"
)

// frame makes records of rows of edges or vertices whose columns are not known before the last
// row. It is for inputs in which every row names its own columns.
type frame struct {
	role   role
	strict bool // columns that mix kinds of values are errors, except whole numbers with fractions
	rows   int64
	ids    idKind
	labels bool // a row has a label
	times  bool // the rows have times
	// labelCol and timeCol are properties that are labels and times.
	labelCol, timeCol string
	names             []string
	kinds             map[string]cellKind
	chunks            []*frameChunk
}

// idKind is the kind of all ids of a frame.
type idKind uint8

const (
	idsUnknown idKind = iota
	idsNumber
	idsText
)

// cellKind is the kind of a value of a property.
type cellKind uint8

const (
	cellNone cellKind = iota
	cellInt
	cellFloat
	cellBool
	cellTime // nanoseconds since 1970
	cellText
)

var cellNames = [...]string{"null", "int", "float", "bool", "time", "string"}

// frameRows and frameBytes end a chunk.
const (
	frameRows  = 64 << 10
	frameBytes = 256 << 20
)

// frameChunk is a run of rows.
type frameChunk struct {
	n     int
	bytes int
	num   [2][]int64 // ids of the source and the target, or of the vertex
	text  [2]*graph.StringColumn
	label *graph.StringColumn
	lists [][]string // labels of vertices
	time  []int64
	stamp bool // times are nanoseconds since 1970
	cols  map[string]*cellColumn
	both  []int // rows that are edges without a direction, from 0
}

// cellColumn is a property of the rows of a chunk: words of numbers, booleans and times.
// Rows behind its end are null.
type cellColumn struct {
	kind  cellKind
	words []int64
	texts []string
	null  []bool
}

func newFrame(r role, strict bool) *frame {
	return &frame{role: r, strict: strict, kinds: map[string]cellKind{}}
}

// next begins a row.
func (f *frame) next() *frameChunk {
	f.rows++
	if k := len(f.chunks); k > 0 {
		if c := f.chunks[k-1]; c.n < frameRows && c.bytes < frameBytes {
			c.n++
			return c
		}
	}
	c := &frameChunk{n: 1, cols: map[string]*cellColumn{}}
	f.chunks = append(f.chunks, c)
	return c
}

// sides is the number of ids in a row.
func (f *frame) sides() int {
	if f.role == vertexRole {
		return 1
	}
	return 2
}

// number sets an id of the row of c that is a number.
func (f *frame) number(c *frameChunk, side int, x int64) error {
	switch {
	case f.ids == idsText && f.strict:
		return wrapf(ErrIDs, "the number %d, and others are text", x)
	case f.ids == idsText:
		putString(&c.text[side], strconv.AppendInt(nil, x, 10))
		return nil
	case x < 0:
		return wrapf(ErrNegative, "%d", x)
	}
	f.ids = idsNumber
	c.num[side] = append(c.num[side], x)
	return nil
}

// name sets an id of the row of c that is text.
func (f *frame) name(c *frameChunk, side int, s string) error {
	switch {
	case s == "":
		return errNull
	case f.ids == idsNumber && f.strict:
		return wrapf(ErrIDs, "the text %s, and others are numbers", excerpt([]byte(s)))
	case f.ids == idsNumber:
		f.spell()
	}
	f.ids = idsText
	putString(&c.text[side], []byte(s))
	c.bytes += len(s)
	return nil
}

// id sets an id that may be a number: it stays one while all are numbers as weft writes them.
func (f *frame) id(c *frameChunk, side int, s string) error {
	if f.ids != idsText {
		if x, err := strconv.ParseInt(s, 10, 64); err == nil && x >= 0 && strconv.FormatInt(x, 10) == s {
			return f.number(c, side, x)
		}
	}
	return f.name(c, side, s)
}

// spell writes all numbers as text.
func (f *frame) spell() {
	f.ids = idsText
	for _, c := range f.chunks {
		for side := range f.sides() {
			for _, x := range c.num[side] {
				putString(&c.text[side], strconv.AppendInt(nil, x, 10))
			}
			c.num[side] = nil
		}
	}
}

// setLabel sets the label of the row of c, an edge; "" is none.
func (f *frame) setLabel(c *frameChunk, s string) {
	if s == "" {
		return
	}
	f.labels = true
	if c.label == nil {
		c.label = &graph.StringColumn{Off: []uint32{0}}
	}
	for len(c.label.Off) < c.n { // those before it have none
		putString(&c.label, nil)
	}
	putString(&c.label, []byte(s))
	c.bytes += len(s)
}

// set sets a property of the row of c.
func (f *frame) set(c *frameChunk, name string, k cellKind, word int64, text string) error {
	if k == cellNone {
		return nil
	}
	kind, known := f.kinds[name]
	if !known {
		f.names = append(f.names, name)
	}
	wide, ok := widerCell(kind, k)
	if !ok && f.strict {
		return wrapf(ErrColumns, "the property %s is a %s, and a %s in others", name, cellNames[k], cellNames[kind])
	}
	f.kinds[name] = wide
	col := c.cols[name]
	if col == nil {
		col = &cellColumn{kind: k}
		c.cols[name] = col
	}
	if len(col.null) >= c.n {
		return wrapf(ErrColumns, "the property %s is given twice", name)
	}
	if w, _ := widerCell(col.kind, k); w != col.kind {
		if !col.widen(w) {
			if f.strict {
				return wrapf(ErrColumns, "the property %s has whole numbers that no float holds", name)
			}
			f.kinds[name] = cellText
			col.widen(cellText)
		}
	}
	for len(col.null) < c.n-1 {
		col.add(true, 0, "")
	}
	if col.kind != k { // the value is narrower
		one := cellColumn{kind: k}
		one.add(false, word, text)
		if !one.widen(col.kind) {
			if f.strict {
				return wrapf(ErrColumns, "the property %s is a whole number that no float holds", name)
			}
			f.kinds[name] = cellText
			col.widen(cellText)
			one.widen(cellText)
		}
		word, text = 0, ""
		if one.kind == cellText {
			text = one.texts[0]
		} else {
			word = one.words[0]
		}
	}
	col.add(false, word, text)
	c.bytes += 8 + len(text)
	return nil
}

// widerCell is the kind that holds values of both. It is text, and not ok, where they
// have nothing in common.
func widerCell(a, b cellKind) (k cellKind, ok bool) {
	switch {
	case a == b || b == cellNone:
		return a, true
	case a == cellNone:
		return b, true
	case a == cellInt && b == cellFloat || a == cellFloat && b == cellInt:
		return cellFloat, true
	}
	return cellText, false
}

func (c *cellColumn) add(null bool, word int64, text string) {
	c.null = append(c.null, null)
	if c.kind == cellText {
		c.texts = append(c.texts, text)
	} else {
		c.words = append(c.words, word)
	}
}

// widen changes the kind of all values: of whole numbers to floats, and of all to text. It
// changes nothing, and returns false, where a float does not hold a number.
func (c *cellColumn) widen(to cellKind) bool {
	if c.kind == to {
		return true
	}
	if to == cellFloat {
		for _, x := range c.words {
			if f := float64(x); f >= 1<<63 || int64(f) != x {
				return false
			}
		}
		for i, x := range c.words {
			c.words[i] = int64(math.Float64bits(float64(x)))
		}
		c.kind = to
		return true
	}
	c.texts = make([]string, len(c.words))
	for i, x := range c.words {
		if !c.null[i] {
			c.texts[i] = spellCell(c.kind, x)
		}
	}
	c.kind, c.words = cellText, nil
	return true
}

// spellCell is a value as text.
func spellCell(k cellKind, word int64) string {
	switch k {
	case cellFloat:
		return strconv.FormatFloat(math.Float64frombits(uint64(word)), 'g', -1, 64)
	case cellBool:
		return strconv.FormatBool(word != 0)
	case cellTime:
		return time.Unix(0, word).UTC().Format(time.RFC3339Nano)
	}
	return strconv.FormatInt(word, 10)
}

// close makes the chunks' columns alike: each property has one kind everywhere.
func (f *frame) close() error {
	for again := true; again; {
		again = false
		for _, c := range f.chunks {
			for name, col := range c.cols {
				if col.widen(f.kinds[name]) {
					continue
				}
				if f.strict {
					return wrapf(ErrColumns, "the property %s has whole numbers that no float holds", name)
				}
				f.kinds[name], again = cellText, true
			}
		}
	}
	return nil
}

// full reports whether a property has a value in every row.
func (f *frame) full(name string) bool {
	for _, c := range f.chunks {
		col := c.cols[name]
		if col == nil || len(col.null) < c.n || slices.Contains(col.null, true) {
			return false
		}
	}
	return true
}

// spec is the table that the frame's records are: ids, labels and times by their places,
// and the properties in the order of names.
func (f *frame) spec() *tableSpec {
	sp := &tableSpec{role: f.role, textIDs: f.ids == idsText}
	var fields []arrow.Field
	add := func(k colKind, name string, t arrow.DataType) {
		sp.kinds, sp.names = append(sp.kinds, k), append(sp.names, name)
		fields = append(fields, arrow.Field{Name: name, Type: t, Nullable: true})
	}
	id := arrow.DataType(arrow.PrimitiveTypes.Int64)
	if sp.textIDs {
		id = arrow.BinaryTypes.String
	}
	if f.role == vertexRole {
		add(colID, "id", id)
		switch {
		case f.labelCol != "":
			add(colLabel, f.labelCol, arrow.BinaryTypes.String)
		case f.labels:
			add(colLabel, "labels", arrow.ListOf(arrow.BinaryTypes.String))
		}
	} else {
		add(colSrc, "src", id)
		add(colDst, "dst", id)
		if f.labels || f.labelCol != "" {
			add(colLabel, cmp.Or(f.labelCol, "label"), arrow.BinaryTypes.String)
		}
		switch {
		case f.timeCol != "":
			add(colTime, f.timeCol, f.kinds[f.timeCol].arrow())
		case f.times:
			t := arrow.DataType(arrow.PrimitiveTypes.Int64)
			if f.chunks[0].stamp {
				t = arrow.FixedWidthTypes.Timestamp_ns
			}
			add(colTime, "time", t)
		}
	}
	columns := slices.Clone(sp.names)
	for i, k := range sp.kinds {
		if k == colLabel {
			columns[i] = "label"
		} else if k == colTime {
			columns[i] = "time"
		}
	}
	var props []arrow.Field
	for _, name := range f.names {
		if name == f.labelCol || name == f.timeCol {
			continue
		}
		add(colProp, name, f.kinds[name].arrow())
		field := fields[len(fields)-1]
		props = append(props, field)
		columns = append(columns, name+":"+field.Type.String())
	}
	if props != nil {
		sp.schema = arrow.NewSchema(props, nil)
	}
	sp.columns = strings.Join(columns, ",")
	sp.whole = arrow.NewSchema(fields, nil)
	return sp
}

// arrow is the type of a column of the kind.
func (k cellKind) arrow() arrow.DataType {
	switch k {
	case cellInt:
		return arrow.PrimitiveTypes.Int64
	case cellFloat:
		return arrow.PrimitiveTypes.Float64
	case cellBool:
		return arrow.FixedWidthTypes.Boolean
	case cellTime:
		return arrow.FixedWidthTypes.Timestamp_ns
	}
	return arrow.BinaryTypes.String
}

// record is a chunk as a record of the table sp.
func (f *frame) record(c *frameChunk, sp *tableSpec) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, sp.whole)
	defer b.Release()
	for i, k := range sp.kinds {
		to := b.Field(i)
		to.Reserve(c.n)
		if name := sp.names[i]; k == colLabel && f.labelCol != "" || k == colTime && f.timeCol != "" {
			c.putCells(to, c.cols[name])
			continue
		}
		switch k {
		case colSrc, colID:
			c.putIDs(to, 0)
		case colDst:
			c.putIDs(to, 1)
		case colTime:
			for _, t := range c.time {
				putWord(to, t)
			}
		case colLabel:
			c.putLabels(to)
		case colProp:
			c.putCells(to, c.cols[sp.names[i]])
		}
	}
	return b.NewRecordBatch()
}

func (c *frameChunk) putIDs(to array.Builder, side int) {
	switch to := to.(type) {
	case *array.Int64Builder:
		to.AppendValues(c.num[side], nil)
	case *array.StringBuilder:
		t := c.text[side]
		for i := range c.n {
			to.BinaryBuilder.Append(t.Bytes[t.Off[i]:t.Off[i+1]])
		}
	}
}

func (c *frameChunk) putLabels(to array.Builder) {
	switch to := to.(type) {
	case *array.StringBuilder:
		for i := range c.n {
			if c.label == nil || i+1 >= len(c.label.Off) {
				to.AppendNull()
				continue
			}
			to.BinaryBuilder.Append(c.label.Bytes[c.label.Off[i]:c.label.Off[i+1]])
		}
	case *array.ListBuilder:
		for i := range c.n {
			to.Append(true)
			if i < len(c.lists) {
				for _, s := range c.lists[i] {
					to.ValueBuilder().(*array.StringBuilder).Append(s)
				}
			}
		}
	}
}

func (c *frameChunk) putCells(to array.Builder, col *cellColumn) {
	for i := range c.n {
		switch {
		case col == nil || i >= len(col.null) || col.null[i]:
			to.AppendNull()
		case col.kind == cellText:
			to.(*array.StringBuilder).Append(col.texts[i])
		default:
			putWord(to, col.words[i])
		}
	}
}

func putWord(to array.Builder, word int64) {
	switch to := to.(type) {
	case *array.Int64Builder:
		to.Append(word)
	case *array.Float64Builder:
		to.Append(math.Float64frombits(uint64(word)))
	case *array.BooleanBuilder:
		to.Append(word != 0)
	case *array.TimestampBuilder:
		to.Append(arrow.Timestamp(word))
	default:
		panic(fmt.Sprintf("format: a word in a column of type %s", to.Type()))
	}
}

// addFrame hands the rows of f, a table of sp, to the builder.
func (r *reading) addFrame(f *frame, sp *tableSpec) error {
	first := int64(0)
	for i, c := range f.chunks {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		rec := f.record(c, sp)
		f.chunks[i] = nil
		err := r.addRecord(r.src.name, sp, rec, uint64(i), first)
		rec.Release()
		if err != nil {
			return err
		}
		first += int64(c.n)
	}
	return nil
}
