package graph

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Relation is adjacency over a part of the edge rows.
type Relation struct {
	Out CSR
	In  CSR // Out on an undirected graph
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
	r := &Relation{Out: heapCSR(size)}
	in := &r.Out
	if g.Directed {
		r.In = heapCSR(back)
		in = &r.In
	}
	err = parallel(ctx, threads, rows, 1<<14, func(_ int, lo, hi uint64) {
		for i := lo; i < hi; i++ {
			if use[i/64]>>(i%64)&1 != 0 {
				r.Out.put(t.Src[i], t.Dst[i])
				in.put(t.Dst[i], t.Src[i])
			}
		}
	})
	if err == nil {
		err = r.Out.sort(ctx, threads)
	}
	if err == nil && g.Directed {
		err = r.In.sort(ctx, threads)
	}
	if !g.Directed {
		r.In = r.Out
	}
	return r, err
}

// heapCSR is emptyCSR in the Go heap: relations come and go with queries.
func heapCSR(size []uint32) CSR {
	c := CSR{Off: make([]uint64, len(size)+1)}
	sum := uint64(0)
	for v, s := range size {
		c.Off[v+1] = sum
		sum += uint64(s)
	}
	c.Adj = make([]uint32, sum)
	return c
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
	var r *Relation
	if g.Edges == nil || g.Edges.Label == nil {
		empty := heapCSR(make([]uint32, g.NumVertices()))
		r = &Relation{empty, empty}
		if label == NoLabel {
			r = &Relation{g.Out, g.In}
		}
	} else if rows := g.LabelRows().Of(label); len(rows) < len(g.Edges.Dst)/8 {
		r = g.rowRelation(rows)
	} else { // on all cores and to the end, since other queries wait for it and it is kept
		l := g.Edges.Label
		r, _ = EdgeRelation(context.Background(), g, 0, func(row int) bool { return l[row] == label })
	}
	if g.rel.by == nil {
		g.rel.by = map[uint32]*Relation{}
	}
	g.rel.by[label] = r
	return r
}
