package stream

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/graph/dynamic"
)

// Apply makes an update of g. The result says whether it changed the graph. It makes one version of g, or returns an error and leaves the
// graph as it was. The errors are dynamic.ErrID, ErrTime if the graph keeps times and an edge to add has none, ErrValue if a property is not of its
// type, and ErrTooLarge.
//
// A graph without times does not use the times of updates, except that the first update of a graph without edges makes it one with times if
// the update adds an edge with one. Without a time, an update that removes or changes an edge is about all edges between its ends that have the label.
func Apply(g *dynamic.Graph, u *Update) (dynamic.Result, error) {
	switch u.Op {
	case AddEdge:
		at := u.HasTime && (g.Timed() || g.Version() == 0 && g.NumEdges() == 0)
		label := g.EdgeLabel(u.Label)
		if len(u.Properties) > 0 {
			ps, err := properties(u, g.LookupEdgeKey, g.EdgeKey)
			switch {
			case err != nil:
				return 0, err
			case at:
				return g.AddEdgeAt(u.U, u.V, label, u.Time, ps...)
			}
			return g.AddEdge(u.U, u.V, label, ps...)
		}
		if at {
			return g.AddEdgeAt(u.U, u.V, label, u.Time)
		}
		return g.AddEdge(u.U, u.V, label)
	case RemoveEdge:
		switch label, ok := g.LookupEdgeLabel(u.Label); {
		case !ok:
			return g.Miss(u.U, u.V)
		case g.Timed() && u.HasTime:
			return g.RemoveEdgeAt(u.U, u.V, label, u.Time)
		default:
			return g.RemoveEdge(u.U, u.V, label)
		}
	case AddVertex:
		class := g.Class(u.Labels...)
		if len(u.Properties) == 0 {
			return g.AddVertex(u.U, class)
		}
		ps, err := properties(u, g.LookupVertexKey, g.VertexKey)
		if err != nil {
			return 0, err
		}
		return g.AddVertex(u.U, class, ps...)
	case RemoveVertex:
		return g.RemoveVertex(u.U)
	case SetLabels:
		return g.Relabel(u.U, g.Class(u.Labels...))
	}
	if len(u.Properties) != 1 {
		return 0, fmt.Errorf("an update changes %d properties at once", len(u.Properties))
	}
	if u.Op == SetProperty {
		p, err := property(&u.Properties[0], g.LookupVertexKey, g.VertexKey)
		if err != nil {
			return 0, err
		}
		return g.SetVertex(u.U, p)
	}
	label, ok := g.LookupEdgeLabel(u.Label)
	if !ok {
		return g.Miss(u.U, u.V)
	}
	p, err := property(&u.Properties[0], g.LookupEdgeKey, g.EdgeKey)
	switch {
	case err != nil:
		return 0, err
	case g.Timed() && u.HasTime:
		return g.SetEdgeAt(u.U, u.V, label, u.Time, p)
	}
	return g.SetEdge(u.U, u.V, label, p)
}

// Ahead reads what the updates of a batch are about to read, as dynamic.Ahead does. The zero value is for a new batch.
type Ahead struct {
	ahead dynamic.Ahead
	read  int // how many updates ahead has read for
}

// See is called before us[i] is made. It reads for some updates from i on, unless it has done so.
func (a *Ahead) See(g *dynamic.Graph, us []Update, i int) {
	if i < a.read || len(us) == 1 {
		return
	}
	for more := true; more && a.read < len(us); a.read++ {
		if u := &us[a.read]; u.Op.OfEdge() {
			label, _ := g.LookupEdgeLabel(u.Label)
			more = a.ahead.Add(g, u.U, u.V, label)
		}
	}
	a.ahead.Read(g)
}

// properties returns the properties of an update that have a value.
func properties(u *Update, look func(string) (dynamic.Key, bool), add func(string, arrow.DataType) (dynamic.Key, error)) ([]dynamic.Property, error) {
	ps := make([]dynamic.Property, 0, len(u.Properties))
	for i := range u.Properties {
		if u.Properties[i].Value.Kind() == dynamic.Null {
			continue
		}
		p, err := property(&u.Properties[i], look, add)
		if err != nil {
			return nil, err
		}
		ps = append(ps, p)
	}
	return ps, nil
}

// property returns a property with its key. The first value of a new property decides its type.
func property(p *Property, look func(string) (dynamic.Key, bool), add func(string, arrow.DataType) (dynamic.Key, error)) (dynamic.Property, error) {
	key, ok := look(p.Name)
	if !ok && p.Value.Kind() == dynamic.Null {
		return dynamic.Property{}, fmt.Errorf("%w %q: the graph has not had it, so it cannot be removed", dynamic.ErrValue, p.Name)
	}
	if !ok {
		var t arrow.DataType = arrow.BinaryTypes.String
		switch p.Value.Kind() {
		case dynamic.Int, dynamic.Unsigned:
			t = arrow.PrimitiveTypes.Int64
		case dynamic.Float:
			t = arrow.PrimitiveTypes.Float64
		case dynamic.Bool:
			t = arrow.FixedWidthTypes.Boolean
		}
		var err error
		if key, err = add(p.Name, t); err != nil {
			return dynamic.Property{}, err
		}
	}
	return dynamic.Property{Key: key, Value: p.Value}, nil
}

// Outcomes counts what updates did.
type Outcomes struct {
	Applied, Duplicates, Absent, SelfLoops uint64
}

// Add counts one result.
func (o *Outcomes) Add(r dynamic.Result) {
	switch r {
	case dynamic.Applied:
		o.Applied++
	case dynamic.Duplicate:
		o.Duplicates++
	case dynamic.Absent:
		o.Absent++
	case dynamic.SelfLoop:
		o.SelfLoops++
	}
}

// Join adds the results that other counted.
func (o *Outcomes) Join(other Outcomes) {
	o.Applied += other.Applied
	o.Duplicates += other.Duplicates
	o.Absent += other.Absent
	o.SelfLoops += other.SelfLoops
}
