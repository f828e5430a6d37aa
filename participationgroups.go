package weft

import (
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/sink"
)

// groups are the vertices of a graph by the values of RETURN participation(v) GROUP BY
// items, which are about v alone. Values that are missing are equal to each other.
type groups struct {
	columns []sink.Column // over rows in which only v is bound
	width   int           // of those rows
	vertex  int           // v's place in them
	first   []uint32      // the first vertex of each group
	sums    []*big.Int
}

// groupsOf is what the RETURN says of groups, none of which has a vertex yet; nil where
// it does not say GROUP BY.
func (g *Graph) groupsOf(ret *gql.Return, of *pattern.Pattern, s *settings) (*groups, error) {
	if len(ret.GroupBy) == 0 {
		return nil, nil
	}
	columns, err := g.items(ret.GroupBy, of, s, func(int) int { return -1 })
	return &groups{columns: columns, width: len(of.Vertices), vertex: ret.Vertex}, withKind(ErrQuery, err)
}

// gather adds up counts of the graph's vertices.
func (gs *groups) gather(counts []engine.Uint128) {
	known := map[string]int{}
	var key []byte
	for v, c := range counts {
		key = key[:0]
		m := gs.row(uint32(v))
		for i := range gs.columns {
			x := gs.columns[i].Value(m)
			if f, ok := x.(float64); ok && f == 0 {
				x = 0.0 // -0 is equal to it
			}
			key = fmt.Appendf(key, "%T %q,", x, fmt.Sprint(x))
		}
		at, ok := known[string(key)]
		if !ok {
			at = len(gs.first)
			known[string(key)] = at
			gs.first, gs.sums = append(gs.first, uint32(v)), append(gs.sums, new(big.Int))
		}
		gs.sums[at].Add(gs.sums[at], c.Big())
	}
}

// row binds v.
func (gs *groups) row(v uint32) []uint32 {
	m := make([]uint32, gs.width)
	m[gs.vertex] = v
	return m
}

// write writes a row a group: by the first vertices of the groups.
func (gs *groups) write(w io.Writer, format string, lead []sink.Column, name string, rows int) error {
	cols := slices.Clone(lead)
	for _, c := range gs.columns {
		cols = append(cols, c.Like(func(m []uint32, _ []uint64) any { return c.Value(gs.row(gs.first[m[0]])) }))
	}
	count := sink.Value(name, sink.Int, func(m []uint32, _ []uint64) any { return gs.sums[m[0]].Int64() })
	for _, n := range gs.sums {
		if n.BitLen() > 63 || n.BitLen() > 53 && (format == "json" || format == "ndjson") {
			count = sink.Value(name, sink.Count, func(m []uint32, _ []uint64) any { return gs.sums[m[0]] })
			break
		}
	}
	return writeNumbered(w, format, rows, append(cols, count))
}
