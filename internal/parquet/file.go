// Package parquet reads and writes Apache Parquet files as Arrow records.
//
// It knows columns of truth values, numbers, times and texts, and lists of texts; on writing
// also structs. These are all the types that a graph's tables have. It reads both versions of
// data pages, every encoding of these types except levels of Parquet 1.0's BIT_PACKED, and
// snappy, gzip, brotli, zstd and LZ4_RAW. It verifies the checksum of a page that has one. It
// writes version 1 pages with snappy and checksums. It must not know graphs.
//
// Why not a library: those for Go bring a network stack, and take longer to compile than all of
// weft.
//
// The format: https://parquet.apache.org/docs/file-format/
package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ErrChecksum says that a page's bytes are not those that were written.
var ErrChecksum = errors.New("the checksum is wrong")

// leaf is a column that holds values.
type leaf struct {
	index          int // in row groups
	path           string
	phys           int32
	logical        logical
	maxDef, maxRep uint32
	list           bool
	field          arrow.Field
}

// File is a Parquet file that is open for reading. It is safe for concurrent use
// if its ReaderAt is.
type File struct {
	r       io.ReaderAt
	size    int64
	foot    *footer
	leaves  []leaf
	columns int
	schema  *arrow.Schema
	skipped []string
}

// Open reads the footer of a file of size bytes. The error is io.ErrUnexpectedEOF
// where the file does not end as a Parquet file does.
func Open(r io.ReaderAt, size int64) (*File, error) {
	foot, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	f := &File{r: r, size: size, foot: foot}
	if err := f.walk(); err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	var fields []arrow.Field
	for _, l := range f.leaves {
		fields = append(fields, l.field)
	}
	f.schema = arrow.NewSchema(fields, nil)
	total := int64(0)
	for i, g := range foot.groups {
		if g.rows < 0 || g.rows > math.MaxInt64-total {
			return nil, fmt.Errorf("row group %d has %d rows", i+1, g.rows)
		}
		total += g.rows
		if len(g.chunks) != f.columns {
			return nil, fmt.Errorf("row group %d has %d columns, and the schema %d", i+1, len(g.chunks), f.columns)
		}
	}
	if total != foot.rows {
		return nil, fmt.Errorf("the row groups have %d rows, and the footer says %d", total, foot.rows)
	}
	return f, nil
}

// Schema returns the columns that can be read.
func (f *File) Schema() *arrow.Schema { return f.schema }

// Skipped describes the columns that cannot be read.
func (f *File) Skipped() []string { return f.skipped }

// Value returns the file's metadata of a key.
func (f *File) Value(key string) (string, bool) {
	v, ok := f.foot.keys[key]
	return v, ok
}

// Groups returns the number of row groups.
func (f *File) Groups() int { return len(f.foot.groups) }

// GroupRows returns the number of rows of a group.
func (f *File) GroupRows(g int) int64 { return f.foot.groups[g].rows }

// NumRows returns the number of rows of all groups.
func (f *File) NumRows() int64 { return f.foot.rows }

// walk finds the columns in the schema, whose nodes are in depth-first order.
func (f *File) walk() error {
	els := f.foot.elements
	if len(els) == 0 {
		return errors.New("it has no root")
	}
	at := 1
	var visit func(path string, def, rep uint32, depth int) error
	visit = func(path string, def, rep uint32, depth int) error {
		if at == len(els) {
			return errors.New("it ends before its last column")
		}
		if depth > 64 {
			return errors.New("columns lie more than 64 levels deep")
		}
		e := els[at]
		at++
		switch e.repetition {
		case required:
		case optional:
			def++
		case repeated:
			def++
			rep++
		default:
			return fmt.Errorf("column %s has repetition %d", e.name, e.repetition)
		}
		if path != "" {
			path += "."
		}
		path += e.name
		if e.children < 0 {
			return fmt.Errorf("column %s has %d columns", path, e.children)
		}
		if e.children == 0 && e.phys >= 0 {
			return f.leaf(path, depth, e, def, rep)
		}
		for range e.children {
			if err := visit(path, def, rep, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	for range els[0].children {
		if err := visit("", 0, 0, 0); err != nil {
			return err
		}
	}
	if at != len(els) {
		return errors.New("it has columns that belong to none")
	}
	return nil
}

func (f *File) leaf(path string, depth int, e element, def, rep uint32) error {
	if int(e.phys) >= len(physNames) {
		return fmt.Errorf("column %s has type %d", path, e.phys)
	}
	name, _, _ := strings.Cut(path, ".")
	if depth == 0 {
		name = path
	}
	l := leaf{index: f.columns, path: path, phys: e.phys, logical: e.logical, maxDef: def, maxRep: rep}
	f.columns++
	t := typeOf(e)
	l.list = depth > 0 && rep == 1 && t != nil && t.ID() == arrow.STRING
	if t == nil || depth > 0 && !l.list || depth == 0 && rep > 0 {
		f.skipped = append(f.skipped, fmt.Sprintf("column %s (%s) is not read", path, physNames[e.phys]))
		return nil
	}
	if l.list {
		t = arrow.ListOf(t)
	}
	l.field = arrow.Field{Name: name, Type: t, Nullable: true}
	f.leaves = append(f.leaves, l)
	return nil
}

// typeOf returns the Arrow type of a column, nil if it cannot be read.
func typeOf(e element) arrow.DataType {
	if e.logical == logicalDecimal || e.converted == convInterval {
		return nil
	}
	switch e.phys {
	case physBool:
		return arrow.FixedWidthTypes.Boolean
	case physInt32, physInt64:
		switch e.logical {
		case logicalMillis:
			return arrow.FixedWidthTypes.Timestamp_ms
		case logicalMicros:
			return arrow.FixedWidthTypes.Timestamp_us
		case logicalNanos:
			return arrow.FixedWidthTypes.Timestamp_ns
		case logicalDate:
			return arrow.PrimitiveTypes.Date32
		case logicalUnsigned:
			if e.phys == physInt64 {
				return arrow.PrimitiveTypes.Uint64
			}
			return arrow.PrimitiveTypes.Uint32
		}
		return arrow.PrimitiveTypes.Int64
	case physInt96:
		return arrow.FixedWidthTypes.Timestamp_ns
	case physFloat, physDouble:
		return arrow.PrimitiveTypes.Float64
	case physBytes:
		return arrow.BinaryTypes.String
	}
	return nil
}

// Group reads the rows of a row group from the first to the last.
type Group struct {
	f       *File
	rows    int64
	columns []column
}

// column makes arrays of the next rows of a column.
type column interface {
	read(n int) (arrow.Array, error)
}

// Group starts to read row group g. Columns for which want is false are not read,
// and are null.
func (f *File) Group(g int, want func(column int) bool) (*Group, error) {
	rg := f.foot.groups[g]
	out := &Group{f: f, rows: rg.rows, columns: make([]column, len(f.leaves))}
	for i := range f.leaves {
		if !want(i) {
			continue
		}
		l := &f.leaves[i]
		c, err := f.column(l, rg.chunks[l.index], rg.rows)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", l.path, err)
		}
		out.columns[i] = c
	}
	return out, nil
}

// Left returns the number of rows that were not read yet.
func (g *Group) Left() int64 { return g.rows }

// Next reads the next rows, at most n. It returns nil after the last.
func (g *Group) Next(n int) (arrow.RecordBatch, error) {
	n = int(min(g.rows, int64(n)))
	if n == 0 {
		return nil, nil
	}
	arrs := make([]arrow.Array, len(g.columns))
	for i, c := range g.columns {
		if c == nil {
			arrs[i] = array.MakeArrayOfNull(memory.DefaultAllocator, g.f.schema.Field(i).Type, n)
			continue
		}
		var err error
		if arrs[i], err = c.read(n); err != nil {
			return nil, fmt.Errorf("column %s: %w", g.f.leaves[i].path, err)
		}
	}
	if g.rows -= int64(n); g.rows == 0 {
		for i, c := range g.columns {
			if l, ok := c.(*list); ok && l.from != l.to {
				return nil, fmt.Errorf("column %s: more lists than rows", g.f.leaves[i].path)
			}
		}
	}
	return array.NewRecordBatch(g.f.schema, arrs, int64(n)), nil
}

func (f *File) column(l *leaf, c chunk, rows int64) (column, error) {
	if !l.list && c.values != rows {
		return nil, fmt.Errorf("%d values in a group of %d rows", c.values, rows)
	}
	switch l.phys {
	case physBool:
		return flatOf(f, l, c, openBools, func(b array.Builder, x bool) { b.(*array.BooleanBuilder).Append(x) })
	case physInt32:
		if l.logical == logicalUnsigned {
			return flatOf(f, l, c, openInts(4, getUint32), appendInt)
		}
		return flatOf(f, l, c, openInts(4, getInt32), appendInt)
	case physInt64:
		return flatOf(f, l, c, openInts(8, getInt64), appendInt)
	case physInt96:
		return flatOf(f, l, c, openInts(12, getInt96), appendInt)
	case physFloat:
		return flatOf(f, l, c, openFloats(4, getFloat), appendFloat)
	case physDouble:
		return flatOf(f, l, c, openFloats(8, getDouble), appendFloat)
	}
	p, err := newPages(f, l, c, openBytes)
	if l.list {
		return &list{p: p}, err
	}
	return &flat[[]byte]{p: p, put: func(b array.Builder, x []byte) { b.(*array.StringBuilder).BinaryBuilder.Append(x) }}, err
}

func appendInt(b array.Builder, x int64) {
	switch b := b.(type) {
	case *array.Int64Builder:
		b.Append(x)
	case *array.Uint64Builder:
		b.Append(uint64(x))
	case *array.Uint32Builder:
		b.Append(uint32(x))
	case *array.Date32Builder:
		b.Append(arrow.Date32(x))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(x))
	}
}

func appendFloat(b array.Builder, x float64) { b.(*array.Float64Builder).Append(x) }

// mostText is how many bytes the texts of a column of a batch have at most, in Arrow.
const mostText = math.MaxInt32

var errText = errors.New("more than 2 GiB of text in the rows that are read at a time")

// flat is a column with at most one value a row.
type flat[T value] struct {
	p      *pages[T]
	put    func(array.Builder, T)
	def    []uint32
	values []T
}

func flatOf[T value](f *File, l *leaf, c chunk, open func(int32, []byte, int) (decoder[T], error), put func(array.Builder, T)) (column, error) {
	p, err := newPages(f, l, c, open)
	return &flat[T]{p: p, put: put}, err
}

func (c *flat[T]) read(n int) (arrow.Array, error) {
	b := array.NewBuilder(memory.DefaultAllocator, c.p.l.field.Type)
	defer b.Release()
	b.Reserve(n)
	c.def, c.values = grow(c.def, n), grow(c.values, n)
	text := 0
	for n > 0 {
		k, _, err := c.p.next(c.def[:n], nil, c.values)
		if err != nil {
			return nil, err
		}
		if k == 0 {
			return nil, errData
		}
		at := 0
		for _, d := range c.def[:k] {
			if d < c.p.l.maxDef {
				b.AppendNull()
				continue
			}
			if t, ok := any(c.values[at]).([]byte); ok {
				if text += len(t); text > mostText {
					return nil, errText
				}
			}
			c.put(b, c.values[at])
			at++
		}
		n -= k
	}
	return b.NewArray(), nil
}

// list is a column of lists of texts.
type list struct {
	p        *pages[[]byte]
	def, rep []uint32
	values   [][]byte
	// Levels and values that were read and not yet used:
	from, to, value int
}

func (c *list) read(n int) (arrow.Array, error) {
	const batch = 4096
	lb := array.NewListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
	defer lb.Release()
	vb := lb.ValueBuilder().(*array.StringBuilder)
	text := 0
	for rows := 0; ; {
		if c.from == c.to {
			c.def, c.rep, c.values = grow(c.def, batch), grow(c.rep, batch), grow(c.values, batch)
			var err error
			c.from, c.value = 0, 0
			if c.to, _, err = c.p.next(c.def, c.rep, c.values); err != nil {
				return nil, err
			}
			if c.to == 0 {
				if rows < n {
					return nil, errData
				}
				break
			}
		}
		if c.rep[c.from] == 0 {
			if rows == n {
				break
			}
			rows++
			lb.Append(true)
		} else if rows == 0 {
			return nil, errors.New("a list begins in its middle")
		}
		if c.def[c.from] == c.p.l.maxDef {
			if text += len(c.values[c.value]); text > mostText {
				return nil, errText
			}
			vb.BinaryBuilder.Append(c.values[c.value])
			c.value++
		}
		c.from++
	}
	return lb.NewArray(), nil
}
