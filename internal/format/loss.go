package format

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weftgraph/weft/internal/graph"
)

// losses lists the parts of the graph that the format (for text, the variant) cannot hold.
// vertices says that a vertex table is written too.
func losses(g *graph.Graph, f Format, variant string, vertices bool) []string {
	var l []string
	add := func(cond bool, format string, a ...any) {
		if cond {
			l = append(l, fmt.Sprintf(format, a...))
		}
	}
	edgeLabels, times, edgeProps := false, false, false
	if e := g.Edges; e != nil {
		edgeLabels, times, edgeProps = e.Label != nil, e.Time != nil, e.Props != nil
	}
	parallel := parallelRows(g)
	vertexProps := g.VertexProps != nil && g.VertexProps.NumCols() > 0
	labels := len(g.VertexLabels) > 0
	loneliest := isolated(g)
	lonely := fmt.Sprintf("%d vertices without edges", loneliest)
	if loneliest == 1 {
		lonely = "1 vertex without edges"
	}
	switch f {
	case Weft:
		return nil
	case GraphML:
		graphMLLosses(g, add)
		return l
	case EdgeList, Arrow, Parquet:
		if !vertices {
			add(labels, "the vertex labels (a second file holds them: weft convert --write-vertices FILE)")
			add(vertexProps, "the vertex properties")
			add(loneliest > 0, "%s", lonely)
		}
		if _, ok := timeTypeOf(g).name(); f == EdgeList {
			add(times && !ok, "the unit of the times")
			add(edgeProps && losesTypes(g.Edges.Props), "the types of edge properties")
		}
		return l
	case EL, WEL:
		add(g.Directed, "the directions of the edges (unless it is read with --directed)")
		add(!g.IDs.Numeric(), "the text ids")
		add(labels, "the vertex labels")
		add(vertexProps, "the vertex properties")
		add(loneliest > 0, "%s", lonely)
		add(edgeLabels, "the edge labels")
		add(times, "the times")
		add(edgeProps && !(f == WEL && onlyWeight(g, true)), "the edge properties")
		add(f == WEL && !(edgeProps && onlyWeight(g, true)), "(the format needs an integer edge property weight)")
		return l
	case MTX:
		_, exact := denseIDs(g, 1)
		add(!exact, "the vertex ids (they are not 1 … n)")
		add(labels, "the vertex labels")
		add(vertexProps, "the vertex properties")
		add(edgeLabels, "the edge labels")
		add(times, "the times")
		add(edgeProps && !onlyWeight(g, false), "the edge properties other than weight")
		return l
	}
	_, exact := denseIDs(g, 0)
	add(!exact, "the vertex ids (they are not 0 … n-1)")
	add(vertexProps, "the vertex properties")
	add(times, "the times")
	switch f {
	case TVE:
		add(g.Directed, "the directions of the edges")
		add(edgeProps, "the edge properties")
		add(labels && !oneLabel(g, false), "vertex labels: the format has exactly one a vertex, without blanks")
		add(edgeLabels && slices.ContainsFunc(g.EdgeLabels, hasBlank), "edge labels with blanks")
		add(slices.Equal(g.EdgeLabels, []string{"0"}), "the edge label 0, which alone stands for none")
	case GMatch:
		add(g.Directed, "the directions of the edges")
		add(edgeLabels, "the edge labels")
		add(edgeProps, "the edge properties")
		add(parallel, "parallel edges")
		add(labels && !oneLabel(g, true), "vertex labels: the format has exactly one number a vertex")
	case SG, WSG:
		add(edgeLabels, "the edge labels")
		add(edgeProps && !(f == WSG && onlyWeight(g, true)), "the edge properties")
		add(f == WSG && !(edgeProps && onlyWeight(g, true)), "(the format needs an integer edge property weight)")
		add(labels, "the vertex labels")
		add(parallel && f == SG, "parallel edges")
	}
	return l
}

// losesTypes reports whether a text would have columns of these properties read
// back with other types.
func losesTypes(p arrow.RecordBatch) bool {
	return p != nil && slices.ContainsFunc(p.Schema().Fields(), func(f arrow.Field) bool {
		_, exact := textType(f.Type)
		return !exact
	})
}

func hasBlank(s string) bool { return s == "" || strings.ContainsAny(s, " \t\r\n") }

func isolated(g *graph.Graph) (n int) {
	for v := range uint32(g.NumVertices()) {
		if g.Out.Degree(v) == 0 && g.In.Degree(v) == 0 {
			n++
		}
	}
	return n
}

func parallelRows(g *graph.Graph) bool {
	if g.Edges == nil {
		return false
	}
	arcs := len(g.Out.Adj)
	if !g.Directed {
		arcs /= 2
	}
	return len(g.Edges.Dst) > arcs
}

// onlyWeight reports whether weight is the edges' only property: a number, or
// an integer of 32 bits, without gaps.
func onlyWeight(g *graph.Graph, int32s bool) bool {
	p := g.Edges.Props
	if p == nil || p.NumCols() != 1 || p.Schema().Field(0).Name != "weight" || p.Column(0).NullN() > 0 {
		return false
	}
	switch c := p.Column(0).(type) {
	case *array.Int64:
		for i := range c.Len() {
			if x := c.Value(i); int32s && (x < math.MinInt32 || x > math.MaxInt32) {
				return false
			}
		}
		return true
	case *array.Float64:
		return !int32s
	}
	return false
}

func oneLabel(g *graph.Graph, numbers bool) bool {
	for _, c := range g.Classes {
		if c.First == c.End {
			continue
		}
		if len(c.Labels) != 1 {
			return false
		}
		s := g.VertexLabels[c.Labels[0]]
		if hasBlank(s) || numbers && !isLabelNumber(s) {
			return false
		}
	}
	return true
}

func isLabelNumber(s string) bool {
	x, err := strconv.ParseInt(s, 10, 32)
	return err == nil && x >= 0 && strconv.FormatInt(x, 10) == s
}

// denseIDs orders the vertices for a format whose ids are base, base+1, …:
// order[i] is the vertex that gets base+i. exact: those are the user's ids.
func denseIDs(g *graph.Graph, base int64) (order []uint32, exact bool) {
	n := g.NumVertices()
	order = make([]uint32, n)
	if g.IDs.Numeric() {
		exact = true
		seen := make([]bool, n)
		for v := range uint32(n) {
			i := g.IDs.Int(v) - base
			if i < 0 || i >= int64(n) || seen[i] {
				exact = false
				break
			}
			seen[i] = true
			order[i] = v
		}
		if exact {
			return order, true
		}
	}
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		if g.IDs.Numeric() {
			x, y := g.IDs.Int(a), g.IDs.Int(b)
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		}
		return strings.Compare(g.IDs.String(a), g.IDs.String(b))
	})
	return order, false
}

// ranks inverts an order.
func ranks(order []uint32) []uint32 {
	pos := make([]uint32, len(order))
	for i, v := range order {
		pos[v] = uint32(i)
	}
	return pos
}

// eachEdge calls f for every edge: its ends, and its row in the edge table (-1
// when there is none).
func (w *writing) eachEdge(f func(u, v uint32, row int) error) error {
	g := w.g
	if e := g.Edges; e != nil {
		for i := range e.Dst {
			if err := w.check(); err != nil {
				return err
			}
			if err := f(e.Src[i], e.Dst[i], i); err != nil {
				return err
			}
		}
		return nil
	}
	for u := range uint32(g.NumVertices()) {
		for _, v := range g.Out.List(u) {
			if !g.Directed && v < u {
				continue
			}
			if err := w.check(); err != nil {
				return err
			}
			if err := f(u, v, -1); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendCell appends a property's value as text; nothing for null.
func appendCell(b []byte, a arrow.Array, i int) []byte {
	if a.IsNull(i) {
		return b
	}
	switch a := a.(type) {
	case *array.Int64:
		return strconv.AppendInt(b, a.Value(i), 10)
	case *array.Float64:
		return strconv.AppendFloat(b, a.Value(i), 'g', -1, 64)
	case *array.Boolean:
		return strconv.AppendBool(b, a.Value(i))
	case *array.String:
		return append(b, a.Value(i)...)
	case *array.Timestamp:
		return a.Value(i).ToTime(a.DataType().(*arrow.TimestampType).Unit).AppendFormat(b, time.RFC3339Nano)
	}
	return append(b, a.ValueStr(i)...)
}
