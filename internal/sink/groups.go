package sink

import (
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
)

// Groups are vertices of a graph by the values of columns that are about one vertex of a
// pattern. Values that are missing are equal to each other.
type Groups struct {
	Columns []Column // over rows in which only the pattern's vertex is bound
	Width   int      // of those rows
	Vertex  int      // its place in them

	first []uint32 // the first vertex of each group
	sums  []*big.Int
}

// Len is the number of groups.
func (gs *Groups) Len() int { return len(gs.first) }

// Gather adds up counts of the graph's vertices.
func (gs *Groups) Gather(counts []engine.Uint128) {
	known := map[string]int{}
	var key []byte
	for v, c := range counts {
		key = key[:0]
		m := gs.row(uint32(v))
		for i := range gs.Columns {
			x := gs.Columns[i].Value(m)
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
func (gs *Groups) row(v uint32) []uint32 {
	m := make([]uint32, gs.Width)
	m[gs.Vertex] = v
	return m
}

// Row returns the values of group i, and the sum of its counts.
func (gs *Groups) Row(i int) (values []any, sum *big.Int) {
	m := gs.row(gs.first[i])
	for c := range gs.Columns {
		values = append(values, gs.Columns[c].Value(m))
	}
	return values, gs.sums[i]
}

// Write writes a row for each of the first groups: the columns of lead, the group's values, and
// the sum of its counts under a name. cut says that rows or counts are missing.
func (gs *Groups) Write(w io.Writer, format string, lead []Column, name string, rows int, cut bool) error {
	cols := slices.Clone(lead)
	for _, c := range gs.Columns {
		cols = append(cols, c.Like(func(m []uint32, _ []uint64) any { return c.Value(gs.row(gs.first[m[0]])) }))
	}
	count := Value(name, Int, func(m []uint32, _ []uint64) any { return gs.sums[m[0]].Int64() })
	for _, n := range gs.sums {
		if n.BitLen() > 63 || n.BitLen() > 53 && (format == "json" || format == "ndjson") {
			count = Value(name, Count, func(m []uint32, _ []uint64) any { return gs.sums[m[0]] })
			break
		}
	}
	return WriteNumbered(w, format, rows, append(cols, count), cut)
}

// WriteNumbered writes rows of columns over a row's number. cut says that rows or values are missing, as Writer.Incomplete does.
func WriteNumbered(w io.Writer, format string, rows int, cols []Column, cut bool) error {
	out, err := New(w, Options{Format: format, Columns: cols})
	if err != nil {
		return err
	}
	const chunk = 4096
	for v := 0; v < rows && err == nil; v += chunk {
		err = out.Emit(0, Rows(v, min(chunk, rows-v)))
	}
	if cut {
		out.Incomplete()
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}
