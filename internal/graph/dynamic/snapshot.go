package dynamic

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/graph"
)

// Snapshot returns the graph of the view's version as a static graph, with the users' ids. It takes the time and memory of reading the
// graph from a file. The error is the Builder's, or the cause of ctx.
func (w View) Snapshot(ctx context.Context) (*graph.Graph, error) {
	const part = 1 << 16
	g := w.g
	b := graph.NewBuilder(graph.BuildOptions{Directed: g.directed, Read: w.read()})
	vc, ec := &graph.VertexChunk{}, &graph.EdgeChunk{}
	var vs, us, xs, ls texts
	vp, ep := newRecords(g.VertexColumns()), newRecords(g.EdgeColumns())
	seq := uint64(0)
	flush := func(least int) error {
		if len(vc.ID)+vs.rows() < least && len(ec.Src)+us.rows() < least {
			return nil
		}
		seq++
		vc.Seq, ec.Seq = seq, seq
		if g.ids.text {
			vc.IDStr, ec.SrcStr, ec.DstStr = vs.column(), us.column(), xs.column()
		}
		if g.labelled() {
			ec.Label = ls.column()
		}
		vc.Props, ec.Props = vp.batch(), ep.batch()
		if err := b.AddVertices(vc); err != nil {
			return err
		}
		if err := b.AddEdges(ec); err != nil {
			return err
		}
		vc, ec = &graph.VertexChunk{}, &graph.EdgeChunk{}
		vs, us, xs, ls = texts{}, texts{}, texts{}, texts{}
		return context.Cause(ctx)
	}
	names := make([][]string, g.NumClasses())
	for c := range names {
		names[c] = g.Labels(Class(c))
	}
	var err error
	var buf []uint32
	var labels []Label
	var es []Edge
	w.Vertices(nil, func(v uint32) bool {
		id := g.IDOf(v)
		if g.ids.text {
			vs.add(id.text)
		} else {
			vc.ID = append(vc.ID, id.num)
		}
		vc.Labels = append(vc.Labels, names[g.ClassOf(v)])
		vp.add(func(k Key) Value { return w.VertexValue(v, k) })
		labels = w.Labels(v, Out, labels)
		for _, l := range labels {
			for _, x := range w.List(v, Out, l, nil, &buf) {
				if !g.directed && x < v {
					continue
				}
				to := g.IDOf(x)
				es = w.Edges(v, x, Out, l, Always, es[:0])
				for _, e := range es {
					if g.ids.text {
						us.add(id.text)
						xs.add(to.text)
					} else {
						ec.Src, ec.Dst = append(ec.Src, id.num), append(ec.Dst, to.num)
					}
					if g.labelled() {
						ls.add(g.EdgeLabelName(l))
					}
					if g.timed {
						ec.Time = append(ec.Time, e.Time)
					}
					ep.add(func(k Key) Value { return w.EdgeValue(e.ID, k) })
				}
				if err = flush(part); err != nil {
					return false
				}
			}
		}
		err = flush(part)
		return err == nil
	})
	if err == nil {
		err = flush(0)
	}
	if err != nil {
		b.Discard()
		return nil, err
	}
	return b.Build(ctx)
}

// Frame returns a static graph without vertices that says what the graph began with: the kind of its ids, whether edges have times and their
// unit, and the names and types of properties. It leaves out properties that updates brought.
func (g *Graph) Frame() *graph.Graph {
	given := func(x *columns) arrow.RecordBatch {
		var cs []Column
		for _, c := range x.list {
			if c.given {
				cs = append(cs, c.Column)
			}
		}
		return newRecords(cs).batch()
	}
	f := &graph.Graph{Directed: g.directed, Read: g.Now().read(), VertexProps: given(&g.vertexProps)}
	if g.ids.text {
		f.IDs.StrOff = []uint64{0}
	}
	f.Edges = &graph.EdgeTable{Props: given(&g.edgeProps)}
	if g.timed {
		f.Edges.Time = []int64{}
	}
	return f
}

// read is what snapshots say about their reading: the unit of times.
func (w View) read() graph.ReadStats {
	r := w.g.Read
	return graph.ReadStats{TimeUnit: r.TimeUnit, TimeDigits: r.TimeDigits, TimeEpoch: r.TimeEpoch, TimeName: r.TimeName}
}

// texts is a column of texts that grows.
type texts struct{ c graph.StringColumn }

func (t *texts) add(s string) {
	if t.c.Off == nil {
		t.c.Off = []uint32{0}
	}
	t.c.Bytes = append(t.c.Bytes, s...)
	t.c.Off = append(t.c.Off, uint32(len(t.c.Bytes)))
}

func (t *texts) rows() int { return max(len(t.c.Off)-1, 0) }

func (t *texts) column() *graph.StringColumn {
	if t.c.Off == nil {
		t.c.Off = []uint32{0}
	}
	return &t.c
}
