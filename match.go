package weft

import (
	"context"
	"io"
	"iter"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
)

// Match lists the matches of q, in no order. The loop may be left at any time; an error ends
// it. Matches come in batches from all threads. A kept match keeps its batch in memory, and may
// be read until the graph is closed and this loop has ended.
func (g *Graph) Match(ctx context.Context, q *Query, options ...Option) iter.Seq2[Match, error] {
	return func(next func(Match, error) bool) {
		yield := func(m Match, err error) bool {
			ends(ctx, &err)
			return next(m, err)
		}
		ctx := ctx
		l, s, err := g.begin(&ctx, setting.Match, options)
		if err != nil {
			yield(Match{}, err)
			return
		}
		defer l.End()
		for m, err := range g.s.Match(ctx, q.question(s)) {
			if err != nil {
				yield(Match{}, err)
				return
			}
			if !yield(Match{g, m}, nil) {
				return
			}
		}
	}
}

// List writes the matches of q to w: the items of its RETURN, or all names. The format is
// table, json, ndjson, csv, arrow or parquet. If w has a method Wrote(rows int), List calls it
// after each write that has added rows, with their number.
func (g *Graph) List(ctx context.Context, q *Query, w io.Writer, format string, options ...Option) (r Result, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.List, options)
	if err != nil {
		return r, err
	}
	defer l.Leave(&err, &r)
	found, err := g.s.List(ctx, q.question(s), w, format)
	return g.result(found), err
}

// Match is one match of a query. Its methods read the graph. After Close of the graph, if no
// loop over Match is in progress, they panic with ErrClosed.
type Match struct {
	g *Graph // nil: the Match is zero
	m search.Match
}

// Names returns the names of the pattern's vertices, in the order of IDs.
func (m Match) Names() []string {
	out := make([]string, m.m.Len())
	for i := range out {
		out[i] = m.m.Name(i)
	}
	return out
}

// IDs returns the user's ids of the matched vertices, as text.
func (m Match) IDs() []string {
	if m.g == nil {
		return []string{}
	}
	defer done(m.g.reads())
	out := make([]string, m.m.Len())
	for i := range out {
		out[i] = m.m.ID(i)
	}
	return out
}

// ID returns the user's id of the vertex that a name is bound to, as text. It returns "" for a
// name that the pattern does not have.
func (m Match) ID(name string) string {
	if m.g == nil {
		return ""
	}
	defer done(m.g.reads())
	if i := m.named(name); i >= 0 {
		return m.m.ID(i)
	}
	return ""
}

// Vertex returns the user's id of the vertex that a name is bound to: an int64 in graphs whose
// ids are numbers, and a string in others. It returns nil for a name that the pattern does not
// have.
func (m Match) Vertex(name string) any {
	if m.g == nil {
		return nil
	}
	defer done(m.g.reads())
	if i := m.named(name); i >= 0 {
		return m.m.Vertex(i)
	}
	return nil
}

// named is the place of a vertex of the pattern among the names, or -1.
func (m Match) named(name string) int {
	for i := range m.m.Len() {
		if m.m.Name(i) == name {
			return i
		}
	}
	return -1
}

// Edge returns the data edge that a name of the pattern is bound to. ok is false for a name
// that the pattern does not have, and for a pattern edge that matches no single data edge.
func (m Match) Edge(name string) (Edge, bool) {
	if m.g == nil {
		return Edge{}, false
	}
	defer done(m.g.reads())
	e, ok := m.m.Edge(name)
	return Edge(e), ok
}

// Columns returns the names of the values of Values: the items of the query's RETURN or,
// without items, all vertices and all named edges of the pattern.
func (m Match) Columns() []string {
	out := make([]string, m.m.Columns())
	for i := range out {
		out[i] = m.m.Column(i)
	}
	return out
}

// Values returns the values of Columns: int64, float64, bool, string, time.Time, time.Duration,
// Edge, or nil for NULL. Times are as in Edge. A duration that does not fit a time.Duration is
// a string.
func (m Match) Values() []any {
	out := make([]any, m.m.Columns())
	for i := range out {
		out[i] = m.At(i)
	}
	return out
}

// At returns the value of column i, from 0, as Values has it. It returns nil if there is no
// such column.
func (m Match) At(i int) any {
	if i < 0 || i >= m.m.Columns() {
		return nil
	}
	defer done(m.g.reads())
	x := m.m.At(i)
	if e, ok := x.(format.Edge); ok {
		return Edge(e)
	}
	return x
}

// Value returns the value of the first column with a name, as Values has it. It returns nil if
// there is none.
func (m Match) Value(column string) any {
	for i := range m.m.Columns() {
		if m.m.Column(i) == column {
			return m.At(i)
		}
	}
	return nil
}
