package format

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/parquet"
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
		if strings.HasPrefix(n, "times are ") && !strings.HasPrefix(n, "times are taken") { // the unit says that
			keys, vals = append(keys, metaTimeNote), append(vals, n)
			break
		}
	}
	if g.Edges != nil && g.Edges.Time != nil {
		keys, vals = append(keys, metaTimeUnit), append(vals, fmt.Sprint(g.Read.TimeUnit, g.Read.TimeDigits, g.Read.TimeEpoch))
		if n := g.Read.TimeName; n != "" {
			keys, vals = append(keys, metaTimeName), append(vals, n)
		}
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

// parquetGroup is the number of rows in a row group of a Parquet file.
const parquetGroup = 16 * tableRows

func (w *writing) parquet(out io.Writer, ro role) error {
	pw, err := parquet.NewWriter(out, w.tableSchema(ro), parquetGroup)
	var unknown *parquet.UnsupportedError
	if errors.As(err, &unknown) {
		return wrapf(ErrLoss, "Parquet: %v", err)
	} else if err != nil {
		return err
	}
	if err := w.records(ro, pw.Write); err != nil {
		return err
	}
	return pw.Close()
}
