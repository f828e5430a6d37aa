package watch

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/pattern"
)

// NewQuery makes a standing query of a text and its pattern under the options of a call. counts says that changes are counted, and not listed.
// The error is a *gql.Error about a RETURN that watches do not have.
func NewQuery(q *gql.Query, p *pattern.Pattern, counts bool) (*Query, error) {
	out := &Query{source: q, Name: cmp.Or(q.Name, q.Text), Text: q.Text, Pattern: p}
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
		return nil, q.AtReturn("a watch returns names, properties and expressions, or count(*)")
	case (r.Kind == gql.ReturnCount || r.Kind == gql.ReturnSubgraphs) && !counts:
		return nil, q.AtReturn("a watch lists changes, and counts them by --summary")
	case r.Kind == gql.ReturnItems:
		out.Embeddings = true
		for _, item := range r.Items {
			f, ok := fieldOf(p, item)
			if !ok {
				f = Field{label(p, item), ValueField, len(out.values)}
				out.values = append(out.values, value{item: item})
			}
			out.Fields = append(out.Fields, f)
		}
		return out, nil
	}
	out.Embeddings = r.Kind == gql.ReturnCount
	for v := range p.Vertices {
		out.Fields = append(out.Fields, Field{p.VertexName(v), VertexField, v})
	}
	for e := range p.Edges {
		if p.Edges[e].Named() {
			out.Fields = append(out.Fields, Field{p.EdgeName(e), EdgeField, e})
		}
	}
	return out, nil
}

// fieldOf returns the field of an item that is a name, or the id of one.
func fieldOf(p *pattern.Pattern, item gql.Item) (Field, bool) {
	switch x := item.Expr.(type) {
	case pattern.ID:
		return Field{label(p, item), VertexField, x.Vertex}, true
	case pattern.RefExpr:
		if x.Of.Kind == pattern.VertexRef {
			return Field{label(p, item), VertexField, x.Of.Index}, true
		}
		return Field{label(p, item), EdgeField, x.Of.Index}, true
	}
	return Field{}, false
}

// label is the name of an item's field.
func label(p *pattern.Pattern, item gql.Item) string {
	return cmp.Or(item.Name, strings.TrimSpace(pattern.FormatExpr(p, item.Expr)))
}

// Meaning is a text of all that the query says, besides its name.
func (q *Query) Meaning() string {
	var b strings.Builder
	fmt.Fprint(&b, pattern.Format(q.Pattern), " ", q.Emit, " ", q.Embeddings)
	for _, f := range q.Fields {
		fmt.Fprintf(&b, " %s:%d:%d", f.Name, f.Kind, f.At)
	}
	for i := range q.values {
		fmt.Fprint(&b, " ", pattern.FormatExpr(q.Pattern, q.values[i].item.Expr))
	}
	return b.String()
}
