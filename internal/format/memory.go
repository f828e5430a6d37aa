package format

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/graph"
)

// Names of inputs that are in memory, for messages.
const (
	nameRecords       = "records"
	nameEdges         = "edges"
	nameVertexRecords = "vertex records"
	nameVertices      = "vertices"
)

// Table is a sequence of Arrow records of one schema, as the readers of arrow-go are.
type Table interface {
	Schema() *arrow.Schema
	Next() bool
	RecordBatch() arrow.RecordBatch
	Err() error
}

// Edge is an edge in memory. Src and Dst are integers or strings, Time is nil, an integer
// or a time.Time, and properties are nil, integers, floats, bools, strings and times.
type Edge struct {
	Src, Dst   any
	Label      string
	Time       any
	Properties map[string]any
}

// Vertex is a vertex in memory, in the types of Edge.
type Vertex struct {
	ID         any
	Labels     []string
	Properties map[string]any
}

// FromTable builds a graph of a table of edges in memory.
func FromTable(ctx context.Context, t Table, o ReadOptions) (*graph.Graph, error) {
	return inMemory(ctx, nameRecords, o, func(r *reading) error { return r.memoryTable(nameRecords, t, edgeRole) })
}

// FromEdges builds a graph of edges one by one. An error among them ends it.
func FromEdges(ctx context.Context, edges iter.Seq2[Edge, error], o ReadOptions) (*graph.Graph, error) {
	return inMemory(ctx, nameEdges, o, func(r *reading) error { return r.edgeRows(edges) })
}

// inMemory reads an input without a file.
func inMemory(ctx context.Context, name string, o ReadOptions, edges func(*reading) error) (*graph.Graph, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &reading{ctx: ctx, o: o, src: &source{ctx: ctx, name: name, size: -1}}
	r.stat.Format = name
	return r.complete(func() error { return edges(r) })
}

// memoryTable reads a table in memory.
func (r *reading) memoryTable(name string, t Table, ro role) (err error) {
	defer guard(&err)
	sp, err := r.beginTable(name, t.Schema(), schemaMeta(t.Schema()), ro)
	if err != nil {
		return err
	}
	rows := int64(0)
	for seq := uint64(0); t.Next(); seq++ {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		rec := t.RecordBatch()
		if err := r.addRecord(name, sp, rec, seq, rows); err != nil {
			return err
		}
		rows += rec.NumRows()
	}
	if err := t.Err(); err != nil {
		return &Error{File: name, Offset: -1, Cause: fmt.Errorf("after row %d: %w", rows, err)}
	}
	if ro == edgeRole {
		r.stat.Lines = uint64(rows)
	}
	return nil
}

// rowError is an error about a row in memory, from 1.
func rowError(name string, row int64, err error) error {
	return &Error{File: name, Line: row, Offset: -1, Cause: err}
}

// edgeRows reads edges one by one.
func (r *reading) edgeRows(edges iter.Seq2[Edge, error]) error {
	f := newFrame(edgeRole, true)
	var failed error
	for e, err := range edges {
		if f.rows%1024 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if err != nil {
			failed = fmt.Errorf("after edge %d: %w", f.rows, err)
			break
		}
		c := f.next()
		if err := f.setEdge(c, &e); err != nil {
			return rowError(nameEdges, f.rows, err)
		}
	}
	if failed != nil {
		return &Error{File: nameEdges, Offset: -1, Cause: failed}
	}
	slices.Sort(f.names) // maps have no order
	if err := f.close(); err != nil {
		return &Error{File: nameEdges, Offset: -1, Cause: err}
	}
	r.begin(FileDirection)
	sp := f.spec()
	sp.textIDs = sp.textIDs || r.sidesText()
	r.stringIDs = sp.textIDs
	r.stat.Columns, r.stat.Lines = sp.columns, uint64(f.rows)
	r.noteTime(sp.whole, sp)
	return r.addFrame(f, sp)
}

// readVertices reads the vertices that are in memory, after the edges.
func (r *reading) readVertices() error {
	if t := r.o.VertexTable; t != nil {
		if err := r.memoryTable(nameVertexRecords, t, vertexRole); err != nil {
			return mixed(nameVertexRecords, err)
		}
	}
	if r.o.VertexRows == nil {
		return nil
	}
	f := newFrame(vertexRole, true)
	for v, err := range r.o.VertexRows {
		if f.rows%1024 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if err != nil {
			return &Error{File: nameVertices, Offset: -1, Cause: fmt.Errorf("after vertex %d: %w", f.rows, err)}
		}
		c := f.next()
		err := f.setID(c, 0, v.ID)
		if err == nil && len(v.Labels) > 0 {
			f.setLabels(c, v.Labels)
		}
		if err == nil {
			err = f.setAll(c, v.Properties)
		}
		if err != nil {
			return rowError(nameVertices, f.rows, err)
		}
	}
	if f.rows == 0 {
		return nil
	}
	slices.Sort(f.names)
	if err := f.close(); err != nil {
		return &Error{File: nameVertices, Offset: -1, Cause: err}
	}
	sp := f.spec()
	sp.textIDs = sp.textIDs || r.stringIDs
	return mixed(nameVertices, r.addFrame(f, sp))
}

// setLabels sets the labels of the row of c, a vertex.
func (f *frame) setLabels(c *frameChunk, labels []string) {
	f.labels = true
	for len(c.lists) < c.n-1 {
		c.lists = append(c.lists, nil)
	}
	c.lists = append(c.lists, labels)
}

// setEdge sets the row of c.
func (f *frame) setEdge(c *frameChunk, e *Edge) error {
	if err := f.setID(c, 0, e.Src); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if err := f.setID(c, 1, e.Dst); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	f.setLabel(c, e.Label)
	if _, has := e.Properties["time"]; has && e.Time != nil {
		return wrapf(ErrColumns, "the edge has a time and a property called time, and e.time could mean either")
	}
	if err := f.setTime(c, e.Time); err != nil {
		return err
	}
	return f.setAll(c, e.Properties)
}

// setID sets an id of the row of c.
func (f *frame) setID(c *frameChunk, side int, id any) error {
	if s, ok := id.(string); ok {
		if err := validText(s); err != nil {
			return err
		}
		return f.name(c, side, s)
	}
	k, word, _, err := cellOf(id)
	switch {
	case err != nil:
		return err
	case k == cellNone:
		return errNull
	case k != cellInt:
		return wrapf(ErrColumns, "a %T is not an id: ids are integers or strings", id)
	}
	return f.number(c, side, word)
}

// setTime sets the time of the row of c: all rows have one, or none has.
func (f *frame) setTime(c *frameChunk, t any) error {
	k, word, _, err := cellOf(t)
	switch {
	case err != nil:
		return fmt.Errorf("time: %w", err)
	case k != cellNone && k != cellInt && k != cellTime:
		return wrapf(ErrColumns, "a %T is not a time: times are integers or time.Time", t)
	case f.rows == 1:
		f.times = k != cellNone
	case f.times != (k != cellNone):
		return wrapf(ErrColumns, "edges with a time and edges without one")
	}
	if k == cellNone {
		return nil
	}
	if first := f.chunks[0]; len(first.time) > 0 && first.stamp != (k == cellTime) {
		return wrapf(ErrColumns, "times that are integers and times that are time.Time")
	}
	c.time, c.stamp = append(c.time, word), k == cellTime
	return nil
}

// setAll sets properties of the row of c.
func (f *frame) setAll(c *frameChunk, properties map[string]any) error {
	for name, x := range properties {
		k, word, text, err := cellOf(x)
		if err == nil {
			err = validText(name)
		}
		if err == nil {
			err = validText(text)
		}
		if err != nil {
			return fmt.Errorf("property %s: %w", name, err)
		}
		if err := f.set(c, name, k, word, text); err != nil {
			return err
		}
	}
	return nil
}

var errTimeRange = errors.New("a time outside the years 1678 to 2261")

// cellOf is a value of Go as one of a column.
func cellOf(x any) (k cellKind, word int64, text string, err error) {
	switch x := x.(type) {
	case nil:
	case int:
		return cellInt, int64(x), "", nil
	case int8:
		return cellInt, int64(x), "", nil
	case int16:
		return cellInt, int64(x), "", nil
	case int32:
		return cellInt, int64(x), "", nil
	case int64:
		return cellInt, x, "", nil
	case uint:
		return unsigned(uint64(x))
	case uint8:
		return cellInt, int64(x), "", nil
	case uint16:
		return cellInt, int64(x), "", nil
	case uint32:
		return cellInt, int64(x), "", nil
	case uint64:
		return unsigned(x)
	case float32:
		return cellFloat, int64(math.Float64bits(float64(x))), "", nil
	case float64:
		return cellFloat, int64(math.Float64bits(x)), "", nil
	case bool:
		if x {
			word = 1
		}
		return cellBool, word, "", nil
	case string:
		return cellText, 0, x, nil
	case time.Time:
		if y := x.UTC().Year(); y < 1678 || y > 2261 {
			return 0, 0, "", errTimeRange
		}
		return cellTime, x.UnixNano(), "", nil
	default:
		return 0, 0, "", wrapf(ErrColumns, "a %T: values are integers, floats, bools, strings and time.Time", x)
	}
	return cellNone, 0, "", nil
}

func unsigned(x uint64) (cellKind, int64, string, error) {
	if x >= 1<<63 {
		return 0, 0, "", wrapf(ErrOverflow, "%d", x)
	}
	return cellInt, int64(x), "", nil
}

func validText(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: %s", ErrUTF8, excerpt([]byte(s)))
	}
	return nil
}
