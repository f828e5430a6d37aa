package graph

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// propRun is a record, with its number of rows, or only a number: that many rows of nulls.
type propRun struct {
	rec  arrow.RecordBatch
	rows int
}

func edgeProps(runs []edgeRun) []propRun {
	var r []propRun
	for _, e := range runs {
		r = append(r, propRun{e.props, len(e.ends.p)})
	}
	return r
}

// concatRecords joins records of one schema. Rows without a record become nulls. It returns nil
// if no run has a record.
func concatRecords(runs []propRun) (arrow.RecordBatch, error) {
	var schema *arrow.Schema
	rows := 0
	for _, r := range runs {
		rows += r.rows
		if r.rec == nil {
			continue
		}
		if schema == nil {
			schema = r.rec.Schema()
		} else if !sameFields(schema, r.rec.Schema()) {
			return nil, fmt.Errorf("%w: property chunks with different columns: %v and %v", ErrColumns, schema, r.rec.Schema())
		}
	}
	if schema == nil || schema.NumFields() == 0 {
		return nil, nil
	}
	mem := memory.NewGoAllocator()
	cols := make([]arrow.Array, schema.NumFields())
	for c := range cols {
		parts := make([]arrow.Array, len(runs))
		for i, r := range runs {
			if r.rec != nil {
				parts[i] = r.rec.Column(c)
			} else {
				parts[i] = array.MakeArrayOfNull(mem, schema.Field(c).Type, r.rows)
			}
		}
		a, err := array.Concatenate(parts, mem)
		if err != nil {
			return nil, fmt.Errorf("graph: property column %q: %w", schema.Field(c).Name, err)
		}
		cols[c] = a
	}
	return array.NewRecordBatch(nullable(schema), cols, int64(rows)), nil
}

// sameFields compares names and types only.
func sameFields(a, b *arrow.Schema) bool {
	if a.NumFields() != b.NumFields() {
		return false
	}
	for i := range a.NumFields() {
		if a.Field(i).Name != b.Field(i).Name || !arrow.TypeEqual(a.Field(i).Type, b.Field(i).Type) {
			return false
		}
	}
	return true
}

func nullable(s *arrow.Schema) *arrow.Schema {
	f := s.Fields()
	for i := range f {
		f[i].Nullable = true
	}
	return arrow.NewSchema(f, nil)
}

// noRow asks takeRecord for a row of nulls.
const noRow = ^uint32(0)

// takeRecord returns the rows of rec in the order given.
func takeRecord(rec arrow.RecordBatch, rows []uint32) (arrow.RecordBatch, error) {
	if rec == nil {
		return nil, nil
	}
	cols := make([]arrow.Array, rec.NumCols())
	for c := range cols {
		var err error
		if cols[c], err = takeArray(rec.Column(c), rows); err != nil {
			return nil, fmt.Errorf("graph: property column %q: %w", rec.ColumnName(c), err)
		}
	}
	return array.NewRecordBatch(rec.Schema(), cols, int64(len(rows))), nil
}

// takeArray returns the rows of a column in the order given: at once for the types that
// files give properties, else piece by piece.
func takeArray(a arrow.Array, rows []uint32) (arrow.Array, error) {
	b := array.NewBuilder(memory.NewGoAllocator(), a.DataType())
	defer b.Release()
	b.Reserve(len(rows))
	var put func(i int)
	switch a := a.(type) {
	case *array.Int64:
		b := b.(*array.Int64Builder)
		put = func(i int) { b.UnsafeAppend(a.Value(i)) }
	case *array.Float64:
		b := b.(*array.Float64Builder)
		put = func(i int) { b.UnsafeAppend(a.Value(i)) }
	case *array.Timestamp:
		b := b.(*array.TimestampBuilder)
		put = func(i int) { b.UnsafeAppend(a.Value(i)) }
	case *array.Boolean:
		b := b.(*array.BooleanBuilder)
		put = func(i int) { b.UnsafeAppend(a.Value(i)) }
	case *array.String:
		b := b.(*array.StringBuilder)
		put = func(i int) { b.Append(a.Value(i)) }
	default:
		return takePieces(a, rows)
	}
	for _, r := range rows {
		if r == noRow || a.IsNull(int(r)) {
			b.AppendNull()
		} else {
			put(int(r))
		}
	}
	return b.NewArray(), nil
}

func takePieces(a arrow.Array, rows []uint32) (arrow.Array, error) {
	mem := memory.NewGoAllocator()
	pieces := []arrow.Array{array.NewSlice(a, 0, 0)}
	null := array.MakeArrayOfNull(mem, a.DataType(), 1)
	for _, r := range rows {
		if r == noRow {
			pieces = append(pieces, null)
		} else {
			pieces = append(pieces, array.NewSlice(a, int64(r), int64(r)+1))
		}
	}
	return array.Concatenate(pieces, mem)
}

// rowKeys returns a function whose texts are equal exactly for rows with equal values. It
// returns nil if there are no properties.
func rowKeys(rec arrow.RecordBatch) func(row uint32) string {
	if rec == nil {
		return nil
	}
	var key []byte
	return func(row uint32) string {
		key = key[:0]
		for _, col := range rec.Columns() {
			if col.IsNull(int(row)) {
				key = append(key, 0)
				continue
			}
			key = append(key, 1)
			s := col.ValueStr(int(row))
			key = binary.AppendUvarint(key, uint64(len(s)))
			key = append(key, s...)
		}
		return string(key)
	}
}

// vertexProps places the vertex properties by internal id; of several rows of
// one vertex the first in the input counts, and the others are reported.
func (b *builderState) vertexProps(g *Graph, place []uint32) error {
	var runs []propRun
	for _, r := range b.verts {
		runs = append(runs, propRun{r.props, len(r.id)})
	}
	rec, err := concatRecords(runs)
	if err != nil || rec == nil {
		return err
	}
	take := make([]uint32, g.NumVertices())
	for i := range take {
		take[i] = noRow
	}
	at, again := uint32(0), 0
	for _, r := range b.verts {
		for _, x := range r.id {
			switch v := place[x]; {
			case r.props == nil:
			case take[v] == noRow:
				take[v] = at
			default:
				again++
			}
			at++
		}
	}
	if again > 0 {
		g.Read.Notes = append(g.Read.Notes, fmt.Sprintf("properties from a second row of a vertex: %d dropped", again))
	}
	g.VertexProps, err = takeRecord(rec, take)
	return err
}

func recordBytes(kind uint32, r arrow.RecordBatch) []MemoryUse {
	if r == nil {
		return nil
	}
	var sum func(d arrow.ArrayData) uint64
	sum = func(d arrow.ArrayData) (n uint64) {
		for _, b := range d.Buffers() {
			if b != nil {
				n += uint64(b.Len())
			}
		}
		for _, c := range d.Children() {
			n += sum(c)
		}
		return n
	}
	n := uint64(0)
	for _, c := range r.Columns() {
		n += sum(c.Data())
	}
	return []MemoryUse{{sectionName(kind), n}}
}
