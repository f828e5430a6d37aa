package watch

import (
	"cmp"
	"fmt"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/pattern"
)

// NewQuery makes a standing query of a text and its pattern under the options of a call. counts says that changes are counted, and not listed.
// The error is a *gql.Error about a RETURN that watches do not have.
func NewQuery(q *gql.Query, p *pattern.Pattern, counts bool) (*Query, error) {
	out := &Query{Name: cmp.Or(q.Name, q.Text), Text: q.Text, Pattern: p}
	if q.Watch != nil {
		out.Emit = q.Watch.Emit
	}
	r := &q.Return
	switch {
	case q.Explain, q.Profile:
		return nil, q.AtExplain("a watch reports changes; weft explain shows the plan of a CREATE WATCH")
	case r.Limit >= 0:
		return nil, q.AtLimit("a watch has no LIMIT: it has no end")
	case r.Kind == gql.ReturnExists, r.Kind == gql.ReturnParticipation:
		return nil, q.AtReturn("a watch returns names of vertices and edges, or count(*)")
	case (r.Kind == gql.ReturnCount || r.Kind == gql.ReturnSubgraphs) && !counts:
		return nil, q.AtReturn("a watch lists changes, and counts them by --summary")
	case r.Kind == gql.ReturnItems:
		out.Embeddings = true
		for _, item := range r.Items {
			f, ok := out.field(item)
			if !ok {
				return nil, q.AtItem(item, fmt.Sprintf("not yet: %s; a watch returns names of vertices and edges", item.Name))
			}
			out.Fields = append(out.Fields, f)
		}
		return out, nil
	}
	out.Embeddings = r.Kind == gql.ReturnCount
	for v := range p.Vertices {
		out.Fields = append(out.Fields, Field{p.VertexName(v), v, -1})
	}
	for e := range p.Edges {
		if p.Edges[e].Named() {
			out.Fields = append(out.Fields, Field{p.EdgeName(e), -1, e})
		}
	}
	return out, nil
}

// field returns the field of an item that is a name.
func (q *Query) field(item gql.Item) (Field, bool) {
	x, ok := item.Expr.(pattern.RefExpr)
	if !ok || item.Count {
		return Field{}, false
	}
	if x.Of.Kind == pattern.VertexRef {
		return Field{item.Name, x.Of.Index, -1}, true
	}
	return Field{item.Name, -1, x.Of.Index}, true
}
