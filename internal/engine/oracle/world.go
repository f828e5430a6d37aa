package oracle

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

type arc struct{ from, to uint32 }

// edge is one data edge.
type edge struct {
	id     uint64 // row of the edge table, or place in Out.Adj (from < to when undirected)
	labels []string
	props  map[string]any
	time   any // int64, or nil where the graph has no times
}

// world is a graph spread out over maps.
type world struct {
	g          *graph.Graph
	vertices   []uint32
	neighbours map[uint32][]uint32 // in either direction, each once
	between    map[arc][]*edge     // both ways on an undirected graph
}

func newWorld(ctx context.Context, g *graph.Graph) *world {
	w := &world{g: g, neighbours: map[uint32][]uint32{}, between: map[arc][]*edge{}}
	for v := range uint32(g.NumVertices()) {
		w.vertices = append(w.vertices, v)
	}
	if t := g.Edges; t != nil {
		for row := range t.Dst {
			if ctx.Err() != nil {
				return w
			}
			d := &edge{id: uint64(row), props: map[string]any{}}
			if t.Label != nil && t.Label[row] != graph.NoLabel {
				d.labels = []string{g.EdgeLabels[t.Label[row]]}
			}
			if t.Time != nil {
				d.time = t.Time[row]
				for _, name := range g.TimeKeys() {
					d.props[name] = w.edgeTime(t.Time[row])
				}
			}
			addRow(d.props, t.Props, row)
			w.add(t.Src[row], t.Dst[row], d)
		}
	} else {
		for v := range uint32(g.NumVertices()) {
			for i, u := range g.Out.List(v) {
				if ctx.Err() != nil {
					return w
				}
				if g.Directed || v < u {
					w.add(v, u, &edge{id: g.Out.Off[v] + uint64(i)})
				}
			}
		}
	}
	return w
}

func (w *world) add(u, v uint32, d *edge) {
	w.between[arc{u, v}] = append(w.between[arc{u, v}], d)
	if !w.g.Directed {
		w.between[arc{v, u}] = append(w.between[arc{v, u}], d)
	}
	for range 2 {
		if !slices.Contains(w.neighbours[u], v) {
			w.neighbours[u] = append(w.neighbours[u], v)
		}
		u, v = v, u
	}
}

func (w *world) vertexLabels(v uint32) []string {
	var out []string
	for _, c := range w.g.Classes {
		if c.First <= v && v < c.End {
			for _, l := range c.Labels {
				out = append(out, w.g.VertexLabels[l])
			}
		}
	}
	return out
}

func (w *world) vertexProp(v uint32, key string) any {
	props := map[string]any{}
	addRow(props, w.g.VertexProps, int(v))
	return props[key]
}

// addRow puts the values of one row into props; nulls stay out.
func addRow(props map[string]any, rec arrow.RecordBatch, row int) {
	if rec == nil {
		return
	}
	for i, f := range rec.Schema().Fields() {
		col := rec.Column(i)
		if col.IsNull(row) {
			continue
		}
		switch col := col.(type) {
		case *array.Null:
		case *array.Boolean:
			props[f.Name] = col.Value(row)
		case *array.Int64:
			props[f.Name] = col.Value(row)
		case *array.Int32:
			props[f.Name] = int64(col.Value(row))
		case *array.Int8:
			props[f.Name] = int64(col.Value(row))
		case *array.Uint64:
			if x := col.Value(row); x>>63 == 0 {
				props[f.Name] = int64(x)
			} else {
				props[f.Name] = float64(x)
			}
		case *array.Timestamp:
			props[f.Name] = timed{raw: int64(col.Value(row)), unit: unitOf(f.Type), known: true}
		case *array.Duration:
			props[f.Name] = timed{raw: int64(col.Value(row)), unit: unitOf(f.Type), span: true, known: true}
		case *array.Date32:
			props[f.Name] = timed{raw: int64(col.Value(row)), unit: unitOf(f.Type), known: true}
		case *array.Date64:
			props[f.Name] = timed{raw: int64(col.Value(row)), unit: unitOf(f.Type), known: true}
		case *array.Float64:
			props[f.Name] = col.Value(row)
		case *array.Float32:
			props[f.Name] = float64(col.Value(row))
		case *array.String:
			props[f.Name] = col.Value(row)
		default:
			props[f.Name] = col.ValueStr(row)
		}
	}
}

// matches evaluates label algebra over the labels that something carries.
func matches(l *pattern.Label, labels []string) bool {
	if l == nil {
		return true
	}
	switch l.Op {
	case pattern.LabelName:
		return slices.Contains(labels, l.Name)
	case pattern.LabelAny:
		return len(labels) > 0
	case pattern.LabelAnd:
		return matches(l.X, labels) && matches(l.Y, labels)
	case pattern.LabelOr:
		return matches(l.X, labels) || matches(l.Y, labels)
	default:
		return !matches(l.X, labels)
	}
}
