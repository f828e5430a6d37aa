package format

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// parquetRows is how many rows are held at a time by one goroutine.
const parquetRows = 64 << 10

// readParquet reads an edge table. It uses the column readers of arrow-go
// directly: its Arrow layer links gRPC.
func (r *reading) readParquet() error { return r.parquetTable(r.src, edgeRole) }

// leaf is a column of a Parquet file that can be read.
type leaf struct {
	index  int
	list   bool
	maxDef int16
	field  arrow.Field
}

func (r *reading) parquetTable(src *source, ro role) (err error) {
	var data []byte
	size := src.size
	defer func() { err = r.tableError(src, "Parquet", size, err) }()
	if !src.plainFile() { // the footer is at the end: there is no streaming
		in, err := src.open()
		if err != nil {
			return err
		}
		data, err = io.ReadAll(in)
		in.Close()
		if err != nil {
			return src.readError(err, int64(len(data)))
		}
		size = int64(len(data))
	}
	open := func() (rd *file.Reader, done func(), err error) {
		defer guard(&err)
		var in parquet.ReaderAtSeeker = bytes.NewReader(data)
		done = func() {}
		if data == nil {
			f, err := os.Open(src.name)
			if err != nil {
				return nil, nil, err
			}
			in, done = f, func() { f.Close() }
		}
		rd, err = file.NewParquetReader(in)
		if err != nil {
			done()
			return nil, nil, err
		}
		return rd, done, nil
	}
	rd, done, err := open()
	if err != nil {
		tail := bytes.HasSuffix(data, []byte("PAR1"))
		if data == nil {
			tail = src.size >= 12 && endsWith(src, "PAR1")
		}
		if !tail {
			return &Error{File: src.name, Offset: size, Cause: wrapf(ErrTruncated, "a Parquet file ends with PAR1")}
		}
		return err
	}
	defer done()
	leaves, sc := r.parquetLeaves(rd.MetaData().Schema)
	sp, err := r.beginTable(src.name, sc, func(k string) (string, bool) {
		v := rd.MetaData().KeyValueMetadata().FindValue(k)
		if v == nil {
			return "", false
		}
		return *v, true
	}, ro)
	if err != nil {
		return err
	}
	groups := rd.NumRowGroups()
	firsts := make([]int64, groups+1)
	for i := range groups {
		n := rd.MetaData().RowGroup(i).NumRows()
		if n < 0 {
			return wrapf(ErrHeader, "row group %d has %d rows", i, n)
		}
		firsts[i+1] = firsts[i] + n
	}
	var rows atomic.Int64
	one := func(rd *file.Reader, g int) (err error) {
		defer guard(&err)
		rg := rd.RowGroup(g)
		cols := make([]*parquetColumn, len(leaves))
		for i, l := range leaves {
			if sp.kinds[i] == colSkip {
				continue
			}
			c, err := rg.Column(l.index)
			if err != nil {
				return err
			}
			cols[i] = &parquetColumn{leaf: l, r: c}
		}
		left := rg.NumRows()
		for part := uint64(0); left > 0; part++ {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			n := min(left, parquetRows)
			arrs := make([]arrow.Array, len(leaves))
			for i, c := range cols {
				if c == nil {
					arrs[i] = array.MakeArrayOfNull(memory.DefaultAllocator, sc.Field(i).Type, int(n))
					continue
				}
				if arrs[i], err = c.read(int(n), int(left)); err != nil {
					return fmt.Errorf("row group %d, column %s: %w", g+1, c.field.Name, err)
				}
			}
			rec := array.NewRecordBatch(sc, arrs, n)
			if err := r.addRecord(src.name, sp, rec, uint64(g)<<32|part, firsts[g+1]-left); err != nil {
				return err
			}
			rec.Release()
			rows.Add(n)
			left -= n
		}
		if src.size > 0 {
			src.count(int(src.size / int64(groups)))
		}
		return nil
	}
	err = r.eachPart(groups, func(worker int) (func(int) error, func(), error) {
		if worker == 0 {
			return func(g int) error { return one(rd, g) }, func() {}, nil
		}
		rd, done, err := open()
		return func(g int) error { return one(rd, g) }, done, err
	})
	if err == nil && ro == edgeRole {
		r.stat.Lines = uint64(rows.Load())
	}
	return err
}

// parquetLeaves finds the columns that can be read and their Arrow types.
func (r *reading) parquetLeaves(ps *schema.Schema) ([]leaf, *arrow.Schema) {
	var ls []leaf
	var fs []arrow.Field
	for i := range ps.NumColumns() {
		c := ps.Column(i)
		name, _, _ := strings.Cut(c.Path(), ".")
		nested := strings.Contains(c.Path(), ".")
		t := parquetType(c)
		list := nested && c.MaxRepetitionLevel() == 1 && t != nil && t.ID() == arrow.STRING
		if t == nil || nested && !list || !nested && c.MaxRepetitionLevel() > 0 {
			r.note("column %s (%s) is not read", c.Path(), c.PhysicalType())
			continue
		}
		if list {
			t = arrow.ListOf(t)
		}
		f := arrow.Field{Name: name, Type: t, Nullable: true}
		ls = append(ls, leaf{i, list, c.MaxDefinitionLevel(), f})
		fs = append(fs, f)
	}
	return ls, arrow.NewSchema(fs, nil)
}

func parquetType(c *schema.Column) arrow.DataType {
	lt := c.LogicalType()
	switch c.PhysicalType() {
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case parquet.Types.Int32, parquet.Types.Int64:
		switch l := lt.(type) {
		case schema.TimestampLogicalType:
			switch l.TimeUnit() {
			case schema.TimeUnitMillis:
				return arrow.FixedWidthTypes.Timestamp_ms
			case schema.TimeUnitMicros:
				return arrow.FixedWidthTypes.Timestamp_us
			}
			return arrow.FixedWidthTypes.Timestamp_ns
		case schema.DecimalLogicalType:
			return nil
		case schema.DateLogicalType:
			return arrow.PrimitiveTypes.Date32
		case schema.IntLogicalType:
			if !l.IsSigned() && c.PhysicalType() == parquet.Types.Int64 {
				return arrow.PrimitiveTypes.Uint64
			} else if !l.IsSigned() {
				return arrow.PrimitiveTypes.Uint32
			}
		}
		return arrow.PrimitiveTypes.Int64
	case parquet.Types.Int96:
		return arrow.FixedWidthTypes.Timestamp_ns
	case parquet.Types.Float, parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64
	case parquet.Types.ByteArray:
		if _, ok := lt.(schema.DecimalLogicalType); ok {
			return nil
		}
		return arrow.BinaryTypes.String
	}
	return nil
}

// parquetColumn reads one column of a row group in batches.
type parquetColumn struct {
	leaf
	r    file.ColumnChunkReader
	def  []int16
	rows arrow.Array // of a list column: the whole group
	at   int
}

// levels reads n rows through get, which fills at most n values from at on.
func (c *parquetColumn) levels(n int, get func(at int, def []int16) (int64, int, error)) error {
	if cap(c.def) < n {
		c.def = make([]int16, n)
	}
	c.def = c.def[:n]
	for i := range c.def {
		c.def[i] = c.maxDef
	}
	rows, vals := 0, 0
	for rows < n {
		k, v, err := get(vals, c.def[rows:])
		if err != nil {
			return err
		}
		if k == 0 {
			return io.ErrUnexpectedEOF
		}
		rows += int(k)
		vals += v
	}
	return nil
}

// read returns the next n rows, of left in the group.
func (c *parquetColumn) read(n, left int) (arrow.Array, error) {
	if c.list {
		if c.rows == nil {
			if err := c.readList(left); err != nil {
				return nil, err
			}
		}
		c.at += n
		return array.NewSlice(c.rows, int64(c.at-n), int64(c.at)), nil
	}
	b := array.NewBuilder(memory.DefaultAllocator, c.field.Type)
	defer b.Release()
	b.Reserve(n)
	// put appends value k, or a null, for each row.
	each := func(put func(k int)) {
		k := 0
		for _, d := range c.def {
			if d < c.maxDef {
				b.AppendNull()
				continue
			}
			put(k)
			k++
		}
	}
	ints := func(x int64) {
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
	var err error
	switch r := c.r.(type) {
	case *file.BooleanColumnChunkReader:
		v := make([]bool, n)
		err = c.levels(n, func(at int, d []int16) (int64, int, error) { return r.ReadBatch(int64(len(d)), v[at:], d, nil) })
		if err == nil {
			each(func(k int) { b.(*array.BooleanBuilder).Append(v[k]) })
		}
	case *file.Int32ColumnChunkReader:
		v := make([]int32, n)
		err = c.levels(n, func(at int, d []int16) (int64, int, error) { return r.ReadBatch(int64(len(d)), v[at:], d, nil) })
		if err == nil {
			each(func(k int) { ints(int64(v[k])) })
		}
	case *file.Int64ColumnChunkReader:
		v := make([]int64, n)
		err = c.levels(n, func(at int, d []int16) (int64, int, error) { return r.ReadBatch(int64(len(d)), v[at:], d, nil) })
		if err == nil {
			each(func(k int) { ints(v[k]) })
		}
	case *file.Int96ColumnChunkReader:
		v := make([]parquet.Int96, n)
		err = c.levels(n, func(at int, d []int16) (int64, int, error) { return r.ReadBatch(int64(len(d)), v[at:], d, nil) })
		if err == nil {
			each(func(k int) { ints(v[k].ToTime().UnixNano()) })
		}
	case *file.Float32ColumnChunkReader:
		v := make([]float32, n)
		err = c.levels(n, func(at int, d []int16) (int64, int, error) { return r.ReadBatch(int64(len(d)), v[at:], d, nil) })
		if err == nil {
			each(func(k int) { b.(*array.Float64Builder).Append(float64(v[k])) })
		}
	case *file.Float64ColumnChunkReader:
		v := make([]float64, n)
		err = c.levels(n, func(at int, d []int16) (int64, int, error) { return r.ReadBatch(int64(len(d)), v[at:], d, nil) })
		if err == nil {
			each(func(k int) { b.(*array.Float64Builder).Append(v[k]) })
		}
	case *file.ByteArrayColumnChunkReader:
		v := make([]parquet.ByteArray, n)
		err = c.levels(n, func(at int, d []int16) (int64, int, error) { return r.ReadBatch(int64(len(d)), v[at:], d, nil) })
		if err == nil {
			each(func(k int) { b.(*array.StringBuilder).BinaryBuilder.Append(v[k]) })
		}
	default:
		err = fmt.Errorf("a column of type %s", strconv.Quote(c.r.Type().String()))
	}
	if err != nil {
		return nil, err
	}
	return b.NewArray(), nil
}

// readList reads a list of strings of the whole row group.
func (c *parquetColumn) readList(rows int) error {
	r, ok := c.r.(*file.ByteArrayColumnChunkReader)
	if !ok {
		return fmt.Errorf("a list of %s", c.r.Type())
	}
	lb := array.NewListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
	defer lb.Release()
	vb := lb.ValueBuilder().(*array.StringBuilder)
	const n = 4096
	v := make([]parquet.ByteArray, n)
	def, rep := make([]int16, n), make([]int16, n)
	for r.HasNext() {
		k, _, err := r.ReadBatch(n, v, def, rep)
		if err != nil {
			return err
		}
		if k == 0 {
			break
		}
		at := 0
		for i := range k {
			if rep[i] == 0 {
				lb.Append(true)
			}
			if def[i] == c.maxDef {
				vb.BinaryBuilder.Append(v[at])
				at++
			}
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	c.rows = lb.NewArray()
	if c.rows.Len() != rows {
		return fmt.Errorf("%w: %d rows where the group has %d", ErrTruncated, c.rows.Len(), rows)
	}
	return nil
}
