package weft

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/weftgraph/weft/internal/motifs"
	"github.com/weftgraph/weft/internal/setting"
)

// Orbits are, for each vertex of a graph, the numbers of motifs that have it at each of their orbits: its graphlet degrees. An orbit
// is a set of a motif's vertices that its symmetries make equal, as the leaves of a star.
type Orbits struct {
	K      int
	Search time.Duration
	g      *Graph
	o      *motifs.Orbits
}

// Orbits counts the orbits of the connected patterns of two to k vertices, k = 3, 4 or 5, at each vertex. There are 4 of up to three
// vertices, 15 of up to four and 73 of up to five, in the order of Pržulj (2007) and of the program ORCA:
//
//	0 an edge; 1 an end and 2 the middle of a wedge; 3 a triangle; 4 an end and 5 an inner vertex of a path of four; 6 a leaf and 7 the
//	middle of a star of three; 8 a cycle of four; 9 the tail, 10 a far and 11 the middle vertex of a tailed triangle; 12 an outer and 13 an
//	inner vertex of a diamond; 14 a clique of four
//
// The help of weft motifs names those of five vertices.
//
// Numbers are of induced subgraphs; WithInduced(false) asks for all. Labels and directions are ignored, and a directed graph needs
// WithDirections(false). Numbers beyond 63 bits, and any other k, are errors. If ctx ends, the result is nil.
func (g *Graph) Orbits(ctx context.Context, k int, options ...Option) (o *Orbits, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Orbits, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &o)
	found, err := motifs.CountOrbits(ctx, g.s, k, s)
	if err != nil {
		return nil, err
	}
	return &Orbits{K: k, Search: found.Search, g: g, o: found}, nil
}

// Len returns the number of orbits.
func (o *Orbits) Len() int {
	if o.o == nil {
		return 0
	}
	return len(o.o.Counts)
}

// Count returns the numbers of the vertex with the given id, by orbit, or nil if there is none. It panics with ErrClosed after Close of
// the graph.
func (o *Orbits) Count(id string) []uint64 {
	if o.o == nil {
		return nil
	}
	defer done(o.g.reads())
	v, ok := o.g.s.Data.Lookup(id)
	if !ok {
		return nil
	}
	return o.at(v)
}

func (o *Orbits) at(v uint32) []uint64 {
	out := make([]uint64, len(o.o.Counts))
	for i, of := range o.o.Counts {
		out[i] = of[v]
	}
	return out
}

// All yields each vertex's id and its numbers by orbit. It panics with ErrClosed after Close of the graph.
func (o *Orbits) All() iter.Seq2[string, []uint64] {
	return func(yield func(string, []uint64) bool) {
		if o.o == nil {
			return
		}
		defer o.g.reads().End()
		for v := range uint32(o.g.s.Data.NumVertices()) {
			if !yield(o.g.s.Data.IDs.String(v), o.at(v)) {
				return
			}
		}
	}
}

// Rows returns the number of rows that Write writes: one for each vertex, or fewer after Shorten.
func (o *Orbits) Rows() int {
	if o.o == nil {
		return 0
	}
	return o.o.Rows()
}

// Shorten lets Write stop after the first n rows.
func (o *Orbits) Shorten(n int) {
	if o.o != nil {
		o.o.Shorten(n)
	}
}

// Write writes a row for each vertex: its id in the column vertex, and the columns orbit_0, orbit_1, …. Formats are those of Graph.List.
// JSON has numbers beyond 2^53 as strings. An Arrow stream ends with a batch without rows, whose metadata has weft.complete with the value false, if Shorten
// dropped rows. If w has a method Wrote(rows int), Write calls it as Graph.List does.
func (o *Orbits) Write(w io.Writer, format string) (err error) {
	ctx := context.Background()
	defer ends(ctx, &err)
	l, err := o.g.enter(&ctx)
	if err != nil {
		return err
	}
	defer l.Leave(&err)
	return o.o.Write(w, format)
}
