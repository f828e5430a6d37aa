package graph

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/array"
)

// Verify checks the checksum of every section, when the graph is a file, and
// the structure: see CheckStructure. Errors about a file are *CorruptError.
func (g *Graph) Verify(ctx context.Context, threads int) error {
	return g.verify(ctx, threads, nil)
}

// verify is Verify. If first is not nil, it also fills it with the result of Above.
func (g *Graph) verify(ctx context.Context, threads int, first []uint64) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if g.file != nil {
		if err := g.file.checkSums(ctx, threads); err != nil {
			return err
		}
	}
	return g.checkStructure(ctx, threads, first)
}

// checkSums compares the checksum of every section.
func (m *mapping) checkSums(ctx context.Context, threads int) error {
	kinds := slices.Sorted(maps.Keys(m.secs))
	var parts [][]byte
	for _, k := range kinds {
		parts = append(parts, m.bytes(k))
	}
	sums, err := checksums(ctx, threadCount(threads), parts)
	if err != nil {
		return err
	}
	for i, k := range kinds {
		if s := m.secs[k]; sums[i] != s.crc {
			return m.bad(sectionName(k), s.off, "wrong checksum")
		}
	}
	return nil
}

// fault is an error about a section, a *CorruptError when the graph is a file.
func (g *Graph) fault(kind uint32, format string, a ...any) error {
	if g.file != nil {
		return g.file.bad(sectionName(kind), g.file.secs[kind].off, format, a...)
	}
	return fmt.Errorf("graph: %s: %s", sectionName(kind), fmt.Sprintf(format, a...))
}

// CheckStructure checks the properties of a graph that all code relies on. It works in parallel
// and takes O(n+m) time. The properties are:
//
//   - offsets ascend, ids are in range, and lists are strictly ascending without the vertex
//     itself;
//   - an undirected graph's lists are symmetric, and a directed graph's In is the reverse of
//     Out;
//   - classes are in degree order, user ids are distinct, and labels exist;
//   - rows of the edge table are in order and are edges;
//   - property columns are valid.
//
// The error names the first property that does not hold.
func (g *Graph) CheckStructure(ctx context.Context, threads int) error {
	return g.checkStructure(ctx, threads, nil)
}

// checkStructure is CheckStructure. If first is not nil, it also fills it with the result of
// Above.
func (g *Graph) checkStructure(ctx context.Context, threads int, first []uint64) error {
	if ctx == nil {
		ctx = context.Background()
	}
	threads = threadCount(threads)
	if at := descends(g.Out.Off); at >= 0 {
		return g.fault(secOutOff, "offsets descend at vertex %d", at)
	}
	out, err := g.checkLists(ctx, threads, &g.Out, secOutAdj, first)
	if err != nil {
		return err
	}
	if g.Directed {
		if at := descends(g.In.Off); at >= 0 {
			return g.fault(secInOff, "offsets descend at vertex %d", at)
		}
		in, err := g.checkLists(ctx, threads, &g.In, secInAdj, nil)
		if err != nil {
			return err
		}
		if in.forward != out.backward || len(g.In.Adj) != len(g.Out.Adj) {
			return g.fault(secInAdj, "it is not the reverse of the adjacency")
		}
	} else {
		if out.forward != out.backward {
			return g.fault(secOutAdj, "not every edge is in both its lists")
		}
		for _, c := range g.Classes {
			for v := c.First + 1; v < c.End; v++ {
				if g.Out.Degree(v) > g.Out.Degree(v-1) {
					return g.fault(secOutAdj, "vertex %d is not in degree order", v)
				}
			}
		}
	}
	if err := g.checkIDs(); err != nil {
		return err
	}
	if err := g.checkEdges(ctx, threads); err != nil {
		return err
	}
	if g.VertexProps != nil {
		return g.checkProps(secVertexProps)
	}
	return nil
}

// descends returns the first v with off[v] > off[v+1], or -1.
func descends(off []uint64) int {
	for v := 1; v < len(off); v++ {
		if off[v-1] > off[v] {
			return v - 1
		}
	}
	return -1
}

// arcSums are sums of hashes over arcs and over their reverses. Equal multisets have equal
// sums. With a random seed different multisets have equal sums only with probability 2^-64.
type arcSums struct{ forward, backward uint64 }

// checkLists checks the lists of c, and writes where in c.Adj the ids above its own
// vertex begin in each, unless first is nil.
func (g *Graph) checkLists(ctx context.Context, threads int, c *CSR, kind uint32, first []uint64) (arcSums, error) {
	n := uint32(c.NumVertices())
	seed := processSeed()
	var f, b atomic.Uint64
	var bad atomic.Uint64
	err := overVertices(ctx, threads, c.Off, func(_ int, lo, hi uint32) {
		var x, y uint64
		for v := lo; v < hi; v++ {
			last := int64(-1)
			list := c.List(v)
			for _, w := range list {
				if w >= n || w == v || int64(w) <= last {
					bad.Store(uint64(v) + 1)
					return
				}
				last = int64(w)
				x += mix64(seed ^ (uint64(v)<<32 | uint64(w)))
				y += mix64(seed ^ (uint64(w)<<32 | uint64(v)))
			}
			if first != nil {
				below, _ := slices.BinarySearch(list, v)
				first[v] = c.Off[v] + uint64(below)
			}
		}
		f.Add(x)
		b.Add(y)
	})
	if v := bad.Load(); v > 0 {
		return arcSums{}, g.fault(kind, "the list of vertex %d is not ascending numbers below %d without itself", v-1, n)
	}
	return arcSums{f.Load(), b.Load()}, err
}

func (g *Graph) checkIDs() error {
	d := &g.IDs
	if d.StrOff != nil {
		if at := descends(d.StrOff); at >= 0 {
			return g.fault(secIDStrOff, "offsets descend at vertex %d", at)
		}
		p := d.index().perm
		for i := 1; i < len(p); i++ {
			if slices.Equal(d.bytes(p[i-1]), d.bytes(p[i])) {
				return g.fault(secIDStrBytes, "vertices %d and %d have the same id", p[i-1], p[i])
			}
		}
		return nil
	}
	l := d.index()
	if l.dense == nil {
		for i := 1; i < len(l.perm); i++ {
			if d.Num[l.perm[i-1]] == d.Num[l.perm[i]] {
				return g.fault(secIDNum, "vertices %d and %d have the same id", l.perm[i-1], l.perm[i])
			}
		}
		return nil
	}
	for v, x := range d.Num {
		if x < 0 || l.dense[x] != uint32(v)+1 {
			return g.fault(secIDNum, "the id %d of vertex %d is negative or another's", x, v)
		}
	}
	return nil
}

func (g *Graph) checkEdges(ctx context.Context, threads int) error {
	t := g.Edges
	if t == nil {
		return nil
	}
	if at := descends(t.Off); at >= 0 {
		return g.fault(secEdgeOff, "offsets descend at vertex %d", at)
	}
	var bad atomic.Uint64
	var kind atomic.Uint32
	n := uint32(g.NumVertices())
	err := overVertices(ctx, threads, t.Off, func(_ int, lo, hi uint32) {
		for u := lo; u < hi; u++ {
			for i := t.Off[u]; i < t.Off[u+1]; i++ {
				k := uint32(0)
				switch v := t.Dst[i]; {
				case t.Src[i] != u:
					k = secEdgeSrc
				case v >= n || i > t.Off[u] && t.Dst[i-1] > v || !g.Directed && v <= u || !g.Out.Has(u, v):
					k = secEdgeDst
				case t.Label != nil && t.Label[i] != NoLabel && int(t.Label[i]) >= len(g.EdgeLabels):
					k = secEdgeLabel
				}
				if k != 0 {
					kind.Store(k)
					bad.Store(i + 1)
					return
				}
			}
		}
	})
	if i := bad.Load(); i > 0 {
		return g.fault(kind.Load(), "row %d is out of order or no edge of the graph", i-1)
	}
	if err == nil && t.Props != nil {
		err = g.checkProps(secEdgeProps)
	}
	return err
}

func (g *Graph) checkProps(kind uint32) (err error) {
	r := g.VertexProps
	if kind == secEdgeProps {
		r = g.Edges.Props
	}
	defer func() {
		if x := recover(); x != nil {
			err = g.fault(kind, "%v", x)
		}
	}()
	if err := array.ValidateRecordFull(r); err != nil {
		return g.fault(kind, "%v", err)
	}
	return nil
}
