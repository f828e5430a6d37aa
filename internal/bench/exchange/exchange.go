// Package exchange writes graphs and queries in the formats of other programs that match
// subgraphs, for `weft bench join`. Where a program has no labels or directions of edges, each
// edge becomes a path, so that both programs count the same embeddings.
//
// It knows graphs and patterns. It must not know engines.
package exchange

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// Form is a format of graphs and queries.
type Form string

// The forms.
const (
	// TVE is that of RapidMatch and others: undirected edges without labels. A directed edge
	// becomes a path over two vertices, one of each end, and an undirected edge with a label a
	// path over one vertex. The vertices on the path have labels that stand for the edge's.
	TVE Form = "tve"
	// GSI is that of GSI's published program: directed edges with labels. An undirected edge
	// becomes one edge each way.
	GSI Form = "gsi"
)

// Forms returns the names of all forms.
func Forms() []string { return []string{string(TVE), string(GSI)} }

// ErrForm is wrapped by the errors that say that a form does not have a graph or a query.
var ErrForm = errors.New("not in this form")

func refusef(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrForm, fmt.Sprintf(format, a...))
}

// edge is an edge with the number of its label. The label after the last one is none.
type edge struct{ from, to, label uint32 }

// text is a graph or a query in a program's terms.
type text struct {
	labels []uint32 // of vertices
	edges  func(emit func(edge))
	m      uint64 // number of edges

	directed                 bool
	edgeLabels               bool
	vertexLabelN, edgeLabelN uint32 // of the graph, also in queries
}

// common sets the parts that a graph and its queries share. An error says what the formats do not
// have.
func common(g *graph.Graph) (*text, error) {
	for _, c := range g.Classes {
		if len(c.Labels) > 1 || len(c.Labels) == 0 && len(g.Classes) > 1 {
			return nil, refusef("other programs want one label for each vertex")
		}
	}
	return &text{
		directed: g.Directed, edgeLabels: g.Edges != nil && g.Edges.Label != nil,
		vertexLabelN: uint32(max(1, len(g.VertexLabels))), edgeLabelN: uint32(len(g.EdgeLabels)) + 1,
	}, nil
}

// WriteGraph writes a graph.
func WriteGraph(w io.Writer, g *graph.Graph, f Form) error {
	t, err := common(g)
	if err != nil {
		return err
	}
	t.labels = make([]uint32, g.NumVertices())
	for _, c := range g.Classes {
		for v := c.First; v < c.End && len(c.Labels) > 0; v++ {
			t.labels[v] = c.Labels[0]
		}
	}
	t.m = g.NumEdges()
	t.edges = func(emit func(edge)) {
		if t.edgeLabels {
			for i, v := range g.Edges.Dst {
				emit(edge{g.Edges.Src[i], v, min(g.Edges.Label[i], t.edgeLabelN-1)})
			}
			return
		}
		for u := range uint32(g.NumVertices()) {
			for _, v := range g.Out.List(u) {
				if g.Directed || u < v {
					emit(edge{u, v, t.edgeLabelN - 1})
				}
			}
		}
	}
	if !t.edgeLabels { // parallel edges count once
		t.m = uint64(len(g.Out.Adj))
		if !g.Directed {
			t.m /= 2
		}
	}
	return t.write(w, f)
}

// WriteQuery writes a query of a graph, with the same numbers of labels. An error says why the
// form does not have the query.
func WriteQuery(w io.Writer, g *graph.Graph, p *pattern.Pattern, f Form) error {
	t, err := common(g)
	if err != nil {
		return err
	}
	if p.Mode != pattern.Iso || p.Induced || len(p.Where) > 0 || p.Order != nil {
		return refusef("other programs have queries under iso without conditions only")
	}
	number := func(l *pattern.Label, all []string) (uint32, error) {
		if l == nil || l.Op != pattern.LabelName {
			return 0, refusef("other programs want one label for each vertex and edge of a query")
		}
		i := slices.Index(all, l.Name)
		if i < 0 {
			return 0, refusef("the graph has no label %s", l.Name)
		}
		return uint32(i), nil
	}
	for _, v := range p.Vertices {
		n := uint32(0)
		if len(g.VertexLabels) > 0 || v.Label != nil {
			if n, err = number(v.Label, g.VertexLabels); err != nil {
				return err
			}
		}
		t.labels = append(t.labels, n)
	}
	var edges []edge
	for i := range p.Edges {
		e := &p.Edges[i]
		x := edge{uint32(e.From), uint32(e.To), t.edgeLabelN - 1}
		switch {
		case e.Negated || e.Name != "" || len(e.Where) > 0 || e.Min != 1 || e.Max != 1:
			return refusef("other programs have plain edges only")
		case g.Directed && e.Dir != pattern.Forward:
			return refusef("other programs have no edges of either direction in a directed graph")
		}
		if t.edgeLabels || e.Label != nil {
			if x.label, err = number(e.Label, g.EdgeLabels); err != nil {
				return err
			}
		}
		same := func(o edge) bool { return o.from == x.from && o.to == x.to }
		if f == GSI && slices.ContainsFunc(edges, same) {
			return refusef("GSI has no parallel edges")
		}
		edges = append(edges, x)
	}
	t.m = uint64(len(edges))
	t.edges = func(emit func(edge)) {
		for _, e := range edges {
			emit(e)
		}
	}
	return t.write(w, f)
}

func (t *text) write(to io.Writer, f Form) error {
	w := bufio.NewWriterSize(to, 1<<20)
	switch f {
	case TVE:
		t.tve(w)
	case GSI:
		t.gsi(w)
	default:
		return refusef("unknown form %q", f)
	}
	return w.Flush()
}

// tve writes a "t" line with the numbers of vertices and edges, a "v" line with id, label and degree
// of each vertex, and an "e" line of each edge.
func (t *text) tve(w *bufio.Writer) {
	n := uint64(len(t.labels))
	on := uint64(0) // vertices on the path of an edge
	switch {
	case t.directed:
		on = 2
	case t.edgeLabels:
		on = 1
	}
	degree := make([]uint32, n)
	t.edges(func(e edge) { degree[e.from]++; degree[e.to]++ })
	fmt.Fprintf(w, "t %d %d\n", n+on*t.m, (on+1)*t.m)
	for v, l := range t.labels {
		fmt.Fprintf(w, "v %d %d %d\n", v, l, degree[v])
	}
	at := n
	t.edges(func(e edge) {
		for k := range on {
			fmt.Fprintf(w, "v %d %d 2\n", at+k, uint64(t.vertexLabelN)+on*uint64(e.label)+k)
		}
		at += on
	})
	at = n
	t.edges(func(e edge) {
		last := uint64(e.from)
		for range on {
			fmt.Fprintf(w, "e %d %d\n", last, at)
			last = at
			at++
		}
		fmt.Fprintf(w, "e %d %d\n", last, e.to)
	})
}

// gsi writes the same with labels from 1, and directed edges with labels.
func (t *text) gsi(w *bufio.Writer) {
	m := t.m
	if !t.directed {
		m *= 2
	}
	fmt.Fprintf(w, "t # 0\n%d %d %d %d\n", len(t.labels), m, t.vertexLabelN, t.edgeLabelN)
	for v, l := range t.labels {
		fmt.Fprintf(w, "v %d %d\n", v, l+1)
	}
	t.edges(func(e edge) {
		fmt.Fprintf(w, "e %d %d %d\n", e.from, e.to, e.label+1)
		if !t.directed {
			fmt.Fprintf(w, "e %d %d %d\n", e.to, e.from, e.label+1)
		}
	})
	fmt.Fprint(w, "t # -1\n")
}
