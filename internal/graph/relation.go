package graph

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Lists is neighbour lists of which each is one sorted run: with an offset for each vertex, or
// sparse. One of the two is nil.
type Lists struct {
	Dense  *CSR
	Sparse *Sparse
}

// List returns the neighbours of v, ascending. The caller must not change it.
func (l Lists) List(v uint32) []uint32 {
	if l.Dense != nil {
		return l.Dense.List(v)
	}
	return l.Sparse.List(v)
}

// Degree returns the number of neighbours of v.
func (l Lists) Degree(v uint32) int {
	if l.Dense != nil {
		return l.Dense.Degree(v)
	}
	return l.Sparse.Degree(v)
}

// Has reports whether v is in u's list.
func (l Lists) Has(u, v uint32) bool {
	_, ok := slices.BinarySearch(l.List(u), v)
	return ok
}

// NumVertices returns the number of vertices.
func (l Lists) NumVertices() int {
	if l.Dense != nil {
		return l.Dense.NumVertices()
	}
	return l.Sparse.n
}

// Vertices calls yield with each vertex that has a list that is not empty, ascending, until yield
// returns false.
func (l Lists) Vertices(yield func(v uint32) bool) {
	if l.Sparse != nil {
		l.Sparse.Vertices(yield)
		return
	}
	for v := range uint32(l.Dense.NumVertices()) {
		if l.Dense.Off[v] != l.Dense.Off[v+1] && !yield(v) {
			return
		}
	}
}

// Entries returns the number of entries of all lists.
func (l Lists) Entries() int {
	if l.Dense != nil {
		return len(l.Dense.Adj)
	}
	return len(l.Sparse.adj)
}

// Bytes returns the size of all arrays.
func (l Lists) Bytes() uint64 {
	if l.Dense != nil {
		return 8*uint64(len(l.Dense.Off)) + 4*uint64(len(l.Dense.Adj))
	}
	return l.Sparse.Bytes()
}

// is reports whether l and x are the same arrays.
func (l Lists) is(x Lists) bool { return l.at() != nil && l.at() == x.at() }

// at is the address of the lists' first array.
func (l Lists) at() unsafe.Pointer {
	switch {
	case l.Sparse != nil:
		return unsafe.Pointer(l.Sparse)
	case l.Dense != nil && len(l.Dense.Off) > 0:
		return unsafe.Pointer(&l.Dense.Off[0])
	}
	return nil
}

// thin returns the lists of c, sparse if few vertices have any.
func thin(c *CSR) Lists {
	n, left := c.NumVertices(), c.NumVertices()/sparseShare
	for v := 0; v < n && left > 0; v++ {
		if c.Off[v] != c.Off[v+1] {
			left--
		}
	}
	if left > 0 && uint64(len(c.Adj)) < 1<<32 {
		return Lists{Sparse: NewSparse(c)}
	}
	return Lists{Dense: c}
}

// Lists returns the lists of c as they are.
func (c *CSR) Lists() Lists { return Lists{Dense: c} }

// Relation is adjacency over a part of the edge rows.
type Relation struct {
	Out    Lists
	In     Lists // Out on an undirected graph
	either lazy[Lists]
}

// Either returns adjacency in either direction. It is made on the first call and kept. Safe for
// concurrent use.
func (r *Relation) Either() Lists {
	if r.Out.is(r.In) {
		return r.Out
	}
	return *r.either.get(func() *Lists {
		l := unionLists(r.Out, r.In)
		return &l
	})
}

// relation is the adjacency of lists that are made.
func relation(out, in *CSR) *Relation {
	r := &Relation{Out: thin(out)}
	if r.In = r.Out; in != out {
		r.In = thin(in)
	}
	return r
}

// relations caches the relations of edge labels.
type relations struct {
	mu sync.Mutex
	by map[uint32]*Relation
}

// EdgeRelation returns adjacency over the edge rows that keep accepts: sorted,
// distinct, both ways on an undirected graph. keep is called from several
// goroutines, with row numbers of g.Edges, once or twice a row. A graph without
// an edge table has no rows and is an error.
func EdgeRelation(ctx context.Context, g *Graph, threads int, keep func(row int) bool) (*Relation, error) {
	t := g.Edges
	if t == nil {
		return nil, fmt.Errorf("graph: the graph has no edge table")
	}
	threads = threadCount(threads)
	n := g.NumVertices()
	// Which rows count: the first kept of each run of parallel ones.
	rows := uint64(len(t.Dst))
	use := make([]uint64, (rows+63)/64)
	size := make([]uint32, n)
	var back []uint32
	if g.Directed {
		back = make([]uint32, n)
	}
	err := overVertices(ctx, threads, t.Off, func(_ int, lo, hi uint32) {
		for u := lo; u < hi; u++ {
			last := NoLabel // no vertex has this id
			for i := t.Off[u]; i < t.Off[u+1]; i++ {
				if t.Dst[i] == last || !keep(int(i)) {
					continue
				}
				last = t.Dst[i]
				atomic.OrUint64(&use[i/64], 1<<(i%64))
				atomic.AddUint32(&size[u], 1)
				if g.Directed {
					atomic.AddUint32(&back[last], 1)
				} else {
					atomic.AddUint32(&size[last], 1)
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	out := heapCSR(size)
	in := out
	if g.Directed {
		in = heapCSR(back)
	}
	err = parallel(ctx, threads, rows, 1<<14, func(_ int, lo, hi uint64) {
		for i := lo; i < hi; i++ {
			if use[i/64]>>(i%64)&1 != 0 {
				out.put(t.Src[i], t.Dst[i])
				in.put(t.Dst[i], t.Src[i])
			}
		}
	})
	if err == nil {
		err = out.sort(ctx, threads)
	}
	if err == nil && g.Directed {
		err = in.sort(ctx, threads)
	}
	if err != nil {
		return nil, err
	}
	return relation(out, in), nil
}

// heapCSR is emptyCSR in the Go heap: relations come and go with queries.
func heapCSR(size []uint32) *CSR {
	c := &CSR{Off: make([]uint64, len(size)+1)}
	sum := uint64(0)
	for v, s := range size {
		c.Off[v+1] = sum
		sum += uint64(s)
	}
	c.Adj = make([]uint32, sum)
	return c
}

// NoRelation returns adjacency over no edge.
func (g *Graph) NoRelation() *Relation {
	none := Lists{Sparse: newSparse(g.NumVertices(), 0).end()}
	return &Relation{Out: none, In: none}
}

// RelationByLabel returns adjacency over the edges with a label, an index into
// EdgeLabels, or NoLabel for those without one. It is made on the first call
// and kept. Safe for concurrent use.
func (g *Graph) RelationByLabel(label uint32) *Relation {
	g.rel.mu.Lock()
	defer g.rel.mu.Unlock()
	if r := g.rel.by[label]; r != nil {
		return r
	}
	r := g.labelRelation(label)
	if g.rel.by == nil {
		g.rel.by = map[uint32]*Relation{}
	}
	g.rel.by[label] = r
	return r
}

// LabelBytes returns the size of the arrays of RelationByLabel, both sides of a directed graph
// together. It makes a relation that is not kept, and does not keep it.
func (g *Graph) LabelBytes(label uint32) uint64 {
	g.rel.mu.Lock()
	r := g.rel.by[label]
	g.rel.mu.Unlock()
	if r == nil {
		r = g.labelRelation(label)
	}
	if r.In.is(r.Out) {
		return r.Out.Bytes()
	}
	return r.Out.Bytes() + r.In.Bytes()
}

// labelRelation makes the relation of RelationByLabel, whose time and memory are in proportion to the
// label's edges.
func (g *Graph) labelRelation(label uint32) *Relation {
	if g.Edges == nil || g.Edges.Label == nil {
		if label == NoLabel {
			return &Relation{Out: g.Out.Lists(), In: g.In.Lists()}
		}
		return g.NoRelation()
	}
	rows := g.LabelRows().Of(label)
	switch {
	case len(rows) < g.NumVertices()/(2*sparseShare):
		return g.sparseRelation(rows) // two vertices for each row are still few
	case len(rows) < len(g.Edges.Dst)/8:
		return g.rowRelation(rows, threadCount(0)) // to the end, as others wait for it and it is kept
	}
	// On all cores and to the end, since other queries wait for it and it is kept.
	l := g.Edges.Label
	r, _ := EdgeRelation(context.Background(), g, 0, func(row int) bool { return l[row] == label })
	return r
}
