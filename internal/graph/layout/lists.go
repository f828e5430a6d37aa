package layout

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
)

// Side is the end of its edges from which a partition is seen.
type Side uint8

// The sides of a partition. A partition of an undirected graph has only Both.
const (
	Out  Side = iota // from sources to targets
	In               // from targets to sources
	Both             // from either end to the other
)

// String returns the side's sign, as explain writes it behind a relation's name.
func (s Side) String() string { return [...]string{"+", "-", ""}[s] }

// ErrTooLong says that a partition has more entries than offsets of 32 bits can tell apart.
var ErrTooLong = errors.New("an edge label has 2^32 entries or more, which label partitions do not hold")

// Lists is one edge-label partition: the distinct neighbours over edges of one label,
// of those vertices alone that have such an edge. GSI (section 4) writes it P(G, l).
type Lists struct {
	Vertices []uint32 // ascending
	Off      []uint32 // List i is Adj[Off[i]:Off[i+1]], of Vertices[i]
	Adj      []uint32 // ascending in each list
}

// Rows has the edges of a graph by edge label.
type Rows struct {
	g  *graph.Graph
	by *graph.LabelRows // nil: the graph has no labels, and its own lists have all edges
}

// RowsByLabel returns the edges of a graph by label. A graph without edge labels has one
// partition, graph.NoLabel.
func RowsByLabel(g *graph.Graph) *Rows { return &Rows{g, g.LabelRows()} }

// evenly returns the work of n items, of which each has the same, as a running sum.
func evenly(n int, each uint64) []uint64 {
	off := make([]uint64, n+1)
	for i := range off {
		off[i] = uint64(i) * each
	}
	return off
}

// Sides returns the sides that partitions of the graph have.
func (r *Rows) Sides() []Side {
	if r.g.Directed {
		return []Side{Out, In, Both}
	}
	return []Side{Both}
}

// Labels returns the number of labels, one more than the graph's for the edges without one.
func (r *Rows) Labels() int { return len(r.g.EdgeLabels) + 1 }

// Edges returns the number of edges of a label, an index into Graph.EdgeLabels or graph.NoLabel.
func (r *Rows) Edges(label uint32) uint64 {
	switch {
	case r.by != nil:
		return uint64(len(r.by.Of(label)))
	case label == graph.NoLabel:
		return r.g.NumEdges()
	}
	return 0
}

// Lists makes one partition. New, if not nil, is the number that each vertex has in
// it. The error is ErrTooLong for 2^32 entries or more.
func (r *Rows) Lists(ctx context.Context, label uint32, side Side, renumbered []uint32) (*Lists, error) {
	pairs, err := r.pairs(ctx, label, side, renumbered)
	if err != nil {
		return nil, err
	}
	if pairs, err = sortPairs(ctx, pairs, bits.Len(uint(r.g.NumVertices()))); err != nil {
		return nil, err
	}
	pairs = slices.Compact(pairs)
	l := &Lists{Adj: make([]uint32, len(pairs))}
	vertices := 0
	for i, p := range pairs {
		if i == 0 || p>>32 != pairs[i-1]>>32 {
			vertices++
		}
	}
	l.Vertices, l.Off = make([]uint32, 0, vertices), make([]uint32, 0, vertices+1)
	for i, p := range pairs {
		if i == 0 || p>>32 != pairs[i-1]>>32 {
			l.Vertices = append(l.Vertices, uint32(p>>32))
			l.Off = append(l.Off, uint32(i))
		}
		l.Adj[i] = uint32(p)
	}
	l.Off = append(l.Off, uint32(len(pairs)))
	return l, nil
}

// pairs returns the pairs of a partition: the vertex above bit 32, its neighbour below.
func (r *Rows) pairs(ctx context.Context, label uint32, side Side, renumbered []uint32) ([]uint64, error) {
	name := func(v uint32) uint64 {
		if renumbered != nil {
			v = renumbered[v]
		}
		return uint64(v)
	}
	var pairs []uint64
	add := func(u, v uint32) {
		a, b := name(u), name(v)
		if side != In {
			pairs = append(pairs, a<<32|b)
		}
		if side != Out {
			pairs = append(pairs, b<<32|a)
		}
	}
	size := r.Edges(label)
	if side == Both {
		size *= 2
	}
	if size >= 1<<32 {
		return nil, ErrTooLong
	}
	pairs = make([]uint64, 0, size)
	if r.by != nil {
		for at, i := range r.by.Of(label) {
			if err := ended(ctx, at); err != nil {
				return nil, err
			}
			add(r.g.Edges.Src[i], r.g.Edges.Dst[i])
		}
		return pairs, nil
	}
	if label != graph.NoLabel {
		return nil, nil
	}
	for u := range uint32(r.g.NumVertices()) {
		if err := ended(ctx, int(u)); err != nil {
			return nil, err
		}
		for _, v := range r.g.Out.List(u) {
			if r.g.Directed || u < v {
				add(u, v)
			}
		}
	}
	return pairs, nil
}

// ended returns the error of a context that has ended. It looks once in many calls, of which n is the number.
func ended(ctx context.Context, n int) error {
	if n%(1<<14) == 0 {
		return ctx.Err()
	}
	return nil
}

// sortPairs sorts pairs of numbers of width bits, and returns them in the slice
// that was given or in a new one.
func sortPairs(ctx context.Context, pairs []uint64, width int) ([]uint64, error) {
	if slices.IsSorted(pairs) {
		return pairs, nil
	}
	if len(pairs) < 512 {
		slices.Sort(pairs)
		return pairs, nil
	}
	// By digits from the lowest: first those of the neighbour, then those of the vertex.
	const digit = 11
	other := make([]uint64, len(pairs))
	for _, half := range []int{0, 32} {
		for shift := half; shift < half+width; shift += digit {
			if err := ended(ctx, 0); err != nil {
				return nil, err
			}
			var at [1 << digit]int
			for _, p := range pairs {
				at[p>>shift&(1<<digit-1)]++
			}
			sum := 0
			for i, n := range at {
				at[i], sum = sum, sum+n
			}
			for _, p := range pairs {
				d := p >> shift & (1<<digit - 1)
				other[at[d]] = p
				at[d]++
			}
			pairs, other = other, pairs
		}
	}
	return pairs, nil
}
