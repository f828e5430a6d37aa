package format

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/weftgraph/weft/internal/graph"
)

// tableSchema is the table of the edges or of the vertices.
func (w *writing) tableSchema(ro role) *arrow.Schema {
	g := w.g
	var id arrow.DataType = arrow.PrimitiveTypes.Int64
	if !g.IDs.Numeric() {
		id = arrow.BinaryTypes.String
	}
	var fs []arrow.Field
	var props arrow.RecordBatch
	if ro == vertexRole {
		fs = append(fs, arrow.Field{Name: "id", Type: id}, arrow.Field{Name: "labels", Type: arrow.ListOfNonNullable(arrow.BinaryTypes.String)})
		props = g.VertexProps
	} else {
		fs = append(fs, arrow.Field{Name: "src", Type: id}, arrow.Field{Name: "dst", Type: id})
		if e := g.Edges; e != nil {
			if e.Label != nil {
				fs = append(fs, arrow.Field{Name: "label", Type: arrow.BinaryTypes.String, Nullable: true})
			}
			if e.Time != nil {
				fs = append(fs, arrow.Field{Name: "time", Type: arrow.PrimitiveTypes.Int64})
			}
			props = e.Props
		}
	}
	if props != nil {
		for _, f := range props.Schema().Fields() {
			f.Nullable = true
			fs = append(fs, f)
		}
	}
	keys, vals := []string{metaDirected}, []string{strconv.FormatBool(g.Directed)}
	for _, n := range g.Read.Notes {
		if strings.HasPrefix(n, "times are ") {
			keys, vals = append(keys, metaTimeNote), append(vals, n)
			break
		}
	}
	if u, d := g.Read.TimeUnit, g.Read.TimeDigits; u > 0 || d > 0 {
		keys, vals = append(keys, metaTimeUnit), append(vals, fmt.Sprint(u, d, g.Read.TimeEpoch))
	}
	md := arrow.NewMetadata(keys, vals)
	return arrow.NewSchema(fs, &md)
}

const tableRows = 64 << 10

// records hands the table on in batches.
func (w *writing) records(ro role, emit func(arrow.RecordBatch) error) error {
	g := w.g
	sc := w.tableSchema(ro)
	b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	defer b.Release()
	var props arrow.RecordBatch
	fixed := 2
	if ro == vertexRole {
		props = g.VertexProps
	} else if g.Edges != nil {
		props = g.Edges.Props
		if g.Edges.Label != nil {
			fixed++
		}
		if g.Edges.Time != nil {
			fixed++
		}
	}
	id := func(col int, v uint32) {
		switch f := b.Field(col).(type) {
		case *array.Int64Builder:
			f.Append(g.IDs.Int(v))
		case *array.StringBuilder:
			f.BinaryBuilder.Append(g.IDs.Append(nil, v))
		}
	}
	rows, done := 0, 0
	flush := func() error {
		if rows == 0 && done > 0 {
			return nil
		}
		cols := make([]arrow.Array, sc.NumFields())
		for i := range cols {
			if i < fixed {
				cols[i] = b.Field(i).NewArray()
			} else {
				cols[i] = array.NewSlice(props.Column(i-fixed), int64(done), int64(done+rows))
			}
		}
		rec := array.NewRecordBatch(sc, cols, int64(rows))
		defer rec.Release()
		done, rows = done+rows, 0
		if err := w.ctx.Err(); err != nil {
			return err
		}
		return emit(rec)
	}
	if ro == vertexRole {
		for v := range uint32(g.NumVertices()) {
			id(0, v)
			lb := b.Field(1).(*array.ListBuilder)
			lb.Append(true)
			for _, l := range w.labelsOf(v) {
				lb.ValueBuilder().(*array.StringBuilder).Append(l)
			}
			if rows++; rows == tableRows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return flush()
	}
	err := w.eachEdge(func(u, v uint32, row int) error {
		id(0, u)
		id(1, v)
		if e := g.Edges; e != nil {
			col := 2
			if e.Label != nil {
				lb := b.Field(col).(*array.StringBuilder)
				if l := e.Label[row]; l == graph.NoLabel {
					lb.AppendNull()
				} else {
					lb.Append(g.EdgeLabels[l])
				}
				col++
			}
			if e.Time != nil {
				b.Field(col).(*array.Int64Builder).Append(e.Time[row])
			}
		}
		if rows++; rows == tableRows {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// arrow writes an Arrow IPC stream, which every Arrow reader takes.
func (w *writing) arrow(out io.Writer, ro role) error {
	sc := w.tableSchema(ro)
	iw := ipc.NewWriter(out, ipc.WithSchema(sc))
	err := w.records(ro, func(rec arrow.RecordBatch) error { return iw.Write(rec) })
	if e := iw.Close(); err == nil {
		err = e
	}
	return err
}

// groupBatches is how many batches make a row group of a Parquet file.
const groupBatches = 16

func (w *writing) parquet(out io.Writer, ro role) error {
	sc := w.tableSchema(ro)
	root, err := parquetSchema(sc)
	if err != nil {
		return err
	}
	kv := metadata.NewKeyValueMetadata()
	md := sc.Metadata()
	for i, k := range md.Keys() {
		if err := kv.Append(k, md.Values()[i]); err != nil {
			return err
		}
	}
	props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy))
	pw, err := file.NewParquetWriterWithError(nopCloser{out}, root, file.WithWriterProps(props), file.WithWriteMetadata(kv))
	if err != nil {
		return err
	}
	var group []arrow.RecordBatch
	flush := func() error {
		if len(group) == 0 {
			return nil
		}
		rg, err := pw.AppendRowGroupChecked()
		if err != nil {
			return err
		}
		for i := range sc.NumFields() {
			cw, err := rg.NextColumn()
			if err != nil {
				return err
			}
			for _, rec := range group {
				if err := putColumn(cw, rec.Column(i), sc.Field(i).Nullable); err != nil {
					return err
				}
			}
			if err := cw.Close(); err != nil {
				return err
			}
		}
		for _, rec := range group {
			rec.Release()
		}
		group = group[:0]
		return rg.Close()
	}
	err = w.records(ro, func(rec arrow.RecordBatch) error {
		if rec.NumRows() == 0 {
			return nil
		}
		rec.Retain()
		if group = append(group, rec); len(group) == groupBatches {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if e := pw.Close(); err == nil {
		err = e
	}
	return err
}

type nopCloser struct{ io.Writer }

func parquetSchema(sc *arrow.Schema) (*schema.GroupNode, error) {
	var fs schema.FieldList
	for _, f := range sc.Fields() {
		rep := parquet.Repetitions.Required
		if f.Nullable {
			rep = parquet.Repetitions.Optional
		}
		var n schema.Node
		var err error
		switch t := f.Type.(type) {
		case *arrow.Int64Type:
			n = schema.NewInt64Node(f.Name, rep, -1)
		case *arrow.Float64Type:
			n = schema.NewFloat64Node(f.Name, rep, -1)
		case *arrow.BooleanType:
			n = schema.NewBooleanNode(f.Name, rep, -1)
		case *arrow.StringType:
			n, err = schema.NewPrimitiveNodeLogical(f.Name, rep, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1)
		case *arrow.TimestampType:
			unit := schema.TimeUnitMicros
			switch t.Unit {
			case arrow.Nanosecond:
				unit = schema.TimeUnitNanos
			case arrow.Millisecond, arrow.Second:
				unit = schema.TimeUnitMillis
			}
			n, err = schema.NewPrimitiveNodeLogical(f.Name, rep, schema.NewTimestampLogicalType(t.TimeZone != "", unit), parquet.Types.Int64, -1, -1)
		case *arrow.ListType:
			var elem, list schema.Node
			elem, err = schema.NewPrimitiveNodeLogical("element", parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1)
			if err == nil {
				list, err = schema.NewGroupNode("list", parquet.Repetitions.Repeated, schema.FieldList{elem}, -1)
			}
			if err == nil {
				n, err = schema.NewGroupNodeLogical(f.Name, parquet.Repetitions.Required, schema.FieldList{list}, schema.NewListLogicalType(), -1)
			}
		default:
			err = wrapf(ErrLoss, "Parquet: column %s of type %s cannot be written", f.Name, f.Type)
		}
		if err != nil {
			return nil, err
		}
		fs = append(fs, n)
	}
	return schema.NewGroupNode("schema", parquet.Repetitions.Required, fs, -1)
}

// putColumn writes an array: the values that are there, and for an optional
// column which ones are.
func putColumn(cw file.ColumnChunkWriter, a arrow.Array, optional bool) error {
	n := a.Len()
	var def []int16
	if optional {
		def = make([]int16, n)
		for i := range def {
			if a.IsValid(i) {
				def[i] = 1
			}
		}
	}
	each := func(f func(i int)) {
		for i := range n {
			if a.IsValid(i) {
				f(i)
			}
		}
	}
	var err error
	switch cw := cw.(type) {
	case *file.Int64ColumnChunkWriter:
		v := make([]int64, 0, n)
		switch a := a.(type) {
		case *array.Int64:
			each(func(i int) { v = append(v, a.Value(i)) })
		case *array.Timestamp:
			scale := int64(1)
			if a.DataType().(*arrow.TimestampType).Unit == arrow.Second {
				scale = 1000
			}
			each(func(i int) { v = append(v, int64(a.Value(i))*scale) })
		}
		_, err = cw.WriteBatch(v, def, nil)
	case *file.Float64ColumnChunkWriter:
		v := make([]float64, 0, n)
		each(func(i int) { v = append(v, a.(*array.Float64).Value(i)) })
		_, err = cw.WriteBatch(v, def, nil)
	case *file.BooleanColumnChunkWriter:
		v := make([]bool, 0, n)
		each(func(i int) { v = append(v, a.(*array.Boolean).Value(i)) })
		_, err = cw.WriteBatch(v, def, nil)
	case *file.ByteArrayColumnChunkWriter:
		v := make([]parquet.ByteArray, 0, n)
		if l, ok := a.(*array.List); ok {
			vals := l.ListValues().(*array.String)
			var rep []int16
			def = nil
			for i := range n {
				lo, hi := l.ValueOffsets(i)
				if lo == hi {
					def, rep = append(def, 0), append(rep, 0)
				}
				for j := lo; j < hi; j++ {
					def = append(def, 1)
					rep = append(rep, int16(min(1, j-lo)))
					v = append(v, parquet.ByteArray(vals.Value(int(j))))
				}
			}
			_, err = cw.WriteBatch(v, def, rep)
			break
		}
		each(func(i int) { v = append(v, parquet.ByteArray(a.(*array.String).Value(i))) })
		_, err = cw.WriteBatch(v, def, nil)
	}
	return err
}
