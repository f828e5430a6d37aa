package motifs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/engine/host/census"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
	"github.com/weftgraph/weft/internal/sink"
)

// Orbits are numbers by orbit and vertex. Its methods read the graph, for which the caller has a lease.
type Orbits struct {
	Counts [][]uint64
	Search time.Duration
	g      *search.Graph
	rows   int // that Write writes
	cut    bool
}

// Shorten lets Write stop after the first n rows.
func (o *Orbits) Shorten(n int) {
	o.cut = o.cut || n < o.rows
	o.rows = max(0, min(o.rows, n))
}

// Rows is the number of rows that Write writes.
func (o *Orbits) Rows() int { return o.rows }

// CountOrbits counts the orbits of connected graphs of two to k vertices at each vertex, k = 3, 4 or 5: induced where s does not say, without
// directions and labels.
func CountOrbits(ctx context.Context, g *search.Graph, k int, s *setting.Settings) (*Orbits, error) {
	if census.NumOrbits(k) == 0 {
		return nil, kind.With(kind.Usage, fmt.Errorf("orbits of motifs with %d vertices: want 3, 4 or 5", k))
	}
	if g.Data.Directed && !s.Undirected {
		return nil, kind.With(kind.Usage, errors.New("orbits are of motifs without directions, and the graph has directions: leave them out (--no-directions, WithDirections(false))"))
	}
	start := time.Now()
	ctx, stop := memory.Watch(ctx, s.Memory)
	defer stop()
	counts, err := census.Orbits(ctx, g.Data.Flat(g.Data.Any()), k, s.Induced == nil || *s.Induced, g.EngineOptions(s), s.Searching())
	if cause := memory.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, search.Classify(err)
	}
	return &Orbits{Counts: counts, Search: time.Since(start), g: g, rows: g.Data.NumVertices()}, nil
}

// Write writes a row for each vertex: its id, and a column for each orbit. An Arrow stream says at its end if Shorten has dropped rows.
func (o *Orbits) Write(w io.Writer, format string) error {
	if err := sink.CheckFormat(format); err != nil {
		return search.Classify(err)
	}
	columns := []sink.Column{sink.Vertex(o.g.Data, "vertex", 0)}
	for i, of := range o.Counts {
		name := fmt.Sprintf("orbit_%d", i)
		if slices.Max(append(of[:len(of):len(of)], 0)) > 1<<53 && (format == "json" || format == "ndjson") { // where numbers are not exact
			columns = append(columns, sink.Value(name, sink.Count, func(m []uint32, _ []uint64) any { return new(big.Int).SetUint64(of[m[0]]) }))
			continue
		}
		columns = append(columns, sink.Value(name, sink.Int, func(m []uint32, _ []uint64) any { return int64(of[m[0]]) }))
	}
	return sink.WriteNumbered(w, format, o.rows, columns, o.cut)
}
