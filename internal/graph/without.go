package graph

import (
	"context"
	"fmt"
)

// EachEdge calls yield with the edges, in the order of their numbers, until yield returns false. The number of an edge is its
// row of the edge table or, on a graph without one, its place in the lists, which have each edge of an undirected graph once: at
// the lesser end.
func (g *Graph) EachEdge(yield func(edge uint64, u, v uint32) bool) {
	if t := g.Edges; t != nil {
		for i := range t.Dst {
			if !yield(uint64(i), t.Src[i], t.Dst[i]) {
				return
			}
		}
		return
	}
	edge := uint64(0)
	for u := range uint32(g.NumVertices()) {
		for _, v := range g.Out.List(u) {
			if !g.Directed && v < u {
				continue
			}
			if !yield(edge, u, v) {
				return
			}
			edge++
		}
	}
}

// Without returns the graph with all vertices and without the edges that drop reports, by the numbers of EachEdge. Vertices
// keep the user's ids, and get internal ids by their degrees, as from a file. drop is called once for each edge, in order. The error is the
// Builder's or the cause of ctx.
func (g *Graph) Without(ctx context.Context, drop func(edge uint64) bool, threads int) (s *Graph, err error) {
	read := ReadStats{Format: g.Read.Format, TimeUnit: g.Read.TimeUnit, TimeDigits: g.Read.TimeDigits, TimeEpoch: g.Read.TimeEpoch, TimeName: g.Read.TimeName}
	b := NewBuilder(BuildOptions{Directed: g.Directed, Threads: threads, Read: read, KeepDuplicates: true})
	defer b.Discard()
	names := make([][]string, len(g.Classes))
	for i, c := range g.Classes {
		for _, l := range c.Labels {
			names[i] = append(names[i], g.VertexLabels[l])
		}
	}
	const part = 1 << 18
	seq := uint64(0)
	for first := 0; first < g.NumVertices(); first += part {
		seq++
		c := &VertexChunk{Seq: seq}
		var rows []uint32
		var ids idColumn
		for v := uint32(first); v < uint32(min(first+part, g.NumVertices())); v++ {
			ids.add(&g.IDs, v)
			c.Labels = append(c.Labels, names[g.ClassOf(v)])
			rows = append(rows, v)
		}
		c.ID, c.IDStr = ids.num, ids.str
		if c.Props, err = takeRecord(g.VertexProps, rows); err != nil {
			return nil, err
		}
		if err = b.AddVertices(c); err != nil {
			return nil, err
		}
	}
	var src, dst []uint32
	var rows []uint32
	kept := uint64(0)
	flush := func() error {
		if len(src) == 0 {
			return nil
		}
		seq++
		c, err := g.edgeChunk(seq, src, dst, rows)
		if err == nil {
			err = b.AddEdges(c)
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		src, dst, rows = src[:0], dst[:0], rows[:0]
		return err
	}
	g.EachEdge(func(edge uint64, u, v uint32) bool {
		if drop(edge) {
			return true
		}
		kept++
		src, dst = append(src, u), append(dst, v)
		if g.Edges != nil {
			rows = append(rows, uint32(edge))
		}
		if len(src) == part {
			err = flush()
		}
		return err == nil
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		s, err = b.Build(ctx)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		if s != nil {
			_ = s.Close() // it has no file
		}
		return nil, err
	}
	if s.NumEdges() != kept {
		n := s.NumEdges()
		_ = s.Close() // it has no file
		return nil, fmt.Errorf("graph: internal error: %d edges of %d are left", n, kept)
	}
	return s, nil
}

// edgeChunk returns edges with the columns that rows of the edge table have.
func (g *Graph) edgeChunk(seq uint64, src, dst, rows []uint32) (*EdgeChunk, error) {
	c := &EdgeChunk{Seq: seq}
	var from, to idColumn
	for i := range src {
		from.add(&g.IDs, src[i])
		to.add(&g.IDs, dst[i])
	}
	c.Src, c.SrcStr, c.Dst, c.DstStr = from.num, from.str, to.num, to.str
	t := g.Edges
	if t == nil {
		return c, nil
	}
	if t.Label != nil {
		c.Label = &StringColumn{Off: []uint32{0}}
		for _, r := range rows {
			if l := t.Label[r]; l != NoLabel {
				c.Label.Bytes = append(c.Label.Bytes, g.EdgeLabels[l]...)
			}
			c.Label.Off = append(c.Label.Off, uint32(len(c.Label.Bytes)))
		}
	}
	if t.Time != nil {
		c.Time = make([]int64, len(rows))
		for i, r := range rows {
			c.Time[i] = t.Time[r]
		}
	}
	var err error
	c.Props, err = takeRecord(t.Props, rows)
	return c, err
}

// idColumn is a column of users' ids that grows.
type idColumn struct {
	num []uint64
	str *StringColumn
}

func (c *idColumn) add(ids *IDs, v uint32) {
	if ids.Numeric() {
		c.num = append(c.num, uint64(ids.Int(v)))
		return
	}
	if c.str == nil {
		c.str = &StringColumn{Off: []uint32{0}}
	}
	c.str.Bytes = ids.Append(c.str.Bytes, v)
	c.str.Off = append(c.str.Off, uint32(len(c.str.Bytes)))
}
