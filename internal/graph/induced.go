package graph

import (
	"context"
	"slices"
)

// Induced returns the graph of some of g's vertices, which ascend, with all edges among them: its vertex i is
// vertices[i] of g. Labels, times and properties are the same. Each vertex keeps the user's id. Degrees need not
// fall with ids. The graph has its own memory, which Close frees. It uses threads goroutines; 0 means all cores.
// If ctx ends first, the error is its cause.
func (g *Graph) Induced(ctx context.Context, vertices []uint32, threads int) (s *Graph, err error) {
	local := makeTemp[uint32](uint64(g.NumVertices())) // 0: not among them
	defer freeBig(&local)
	for i, v := range vertices {
		local[v] = uint32(i) + 1
	}
	s = &Graph{
		Directed: g.Directed, VertexLabels: g.VertexLabels, EdgeLabels: g.EdgeLabels, Read: g.Read, unordered: true,
		Classes: make([]Class, 0, len(g.Classes)),
	}
	defer func() {
		if err != nil {
			_ = s.Close() // no file to close
			s = nil
		}
	}()
	for _, c := range g.Classes {
		first, _ := slices.BinarySearch(vertices, c.First)
		end, _ := slices.BinarySearch(vertices, c.End)
		if first < end {
			s.Classes = append(s.Classes, Class{c.Labels, uint32(first), uint32(end)})
		}
	}
	if len(s.Classes) == 0 {
		s.Classes = append(s.Classes, Class{})
	}
	if err := g.Flat(&g.Out).induced(ctx, &s.Out, vertices, local, threads); err != nil {
		return s, err
	}
	if s.In = s.Out; g.Directed {
		s.In = CSR{}
		if err := g.Flat(&g.In).induced(ctx, &s.In, vertices, local, threads); err != nil {
			return s, err
		}
	}
	s.IDs.only(&g.IDs, vertices)
	if s.VertexProps, err = takeRecord(g.VertexProps, vertices); err != nil {
		return s, err
	}
	if g.Edges != nil {
		s.Edges, err = g.Edges.induced(vertices, local)
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	return s, err
}

// InducedBytes returns the bytes of memory that Induced takes at the most for some of g's vertices, without labels, times
// and properties of edges and properties of vertices.
func (g *Graph) InducedBytes(vertices []uint32) (bytes uint64) {
	n := uint64(len(vertices))
	bytes = 4*uint64(g.NumVertices()) + 8*n // which vertices are there, and ids
	lists := func(c *CSR) {
		bytes += 16 * (n + 1) // offsets, twice while lists are made
		for _, v := range vertices {
			bytes += 4 * uint64(c.Degree(v))
		}
	}
	lists(g.Flat(&g.Out))
	if g.Directed {
		lists(g.Flat(&g.In))
	}
	if t := g.Edges; t != nil {
		bytes += 8 * (n + 1)
		for _, v := range vertices {
			bytes += 12 * (t.Off[v+1] - t.Off[v])
		}
	}
	return bytes
}

// induced makes to the lists of some vertices, without the entries that are not among them.
func (c *CSR) induced(ctx context.Context, to *CSR, vertices, local []uint32, threads int) error {
	n := len(vertices)
	work := makeTemp[uint64](uint64(n) + 1)
	defer freeBig(&work)
	for i, v := range vertices {
		work[i+1] = work[i] + uint64(c.Degree(v)) + 1
	}
	to.Off = makeBig[uint64](uint64(n) + 1)
	err := overVertices(ctx, threadCount(threads), work, func(_ int, lo, hi uint32) {
		for i := lo; i < hi; i++ {
			k := uint64(0)
			for _, u := range c.List(vertices[i]) {
				if local[u] != 0 {
					k++
				}
			}
			to.Off[i+1] = k
		}
	})
	if err != nil {
		return err
	}
	for i := range n {
		to.Off[i+1] += to.Off[i]
	}
	to.Adj = makeBig[uint32](to.Off[n])
	return overVertices(ctx, threadCount(threads), work, func(_ int, lo, hi uint32) {
		for i := lo; i < hi; i++ {
			at := to.Off[i]
			for _, u := range c.List(vertices[i]) {
				if x := local[u]; x != 0 {
					to.Adj[at] = x - 1
					at++
				}
			}
		}
	})
}

// induced returns the rows between some vertices.
func (t *EdgeTable) induced(vertices, local []uint32) (*EdgeTable, error) {
	to := &EdgeTable{Off: make([]uint64, len(vertices)+1)}
	var rows []uint32
	for i, v := range vertices {
		for r := t.Off[v]; r < t.Off[v+1]; r++ {
			if u := local[t.Dst[r]]; u != 0 {
				rows = append(rows, uint32(r))
				to.Src, to.Dst = append(to.Src, uint32(i)), append(to.Dst, u-1)
			}
		}
		to.Off[i+1] = uint64(len(rows))
	}
	if t.Label != nil {
		to.Label = make([]uint32, len(rows))
		for i, r := range rows {
			to.Label[i] = t.Label[r]
		}
	}
	if t.Time != nil {
		to.Time = make([]int64, len(rows))
		for i, r := range rows {
			to.Time[i] = t.Time[r]
		}
	}
	var err error
	to.Props, err = takeRecord(t.Props, rows)
	return to, err
}

// only makes d the ids of some vertices.
func (d *IDs) only(from *IDs, vertices []uint32) {
	if from.Numeric() {
		d.Num = make([]int64, len(vertices))
		for i, v := range vertices {
			d.Num[i] = from.Num[v]
		}
		return
	}
	d.StrOff = make([]uint64, 1, len(vertices)+1)
	for _, v := range vertices {
		d.StrBytes = append(d.StrBytes, from.bytes(v)...)
		d.StrOff = append(d.StrOff, uint64(len(d.StrBytes)))
	}
}
