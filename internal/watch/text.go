package watch

import (
	"errors"
	"strings"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/pattern"
)

// Text is a query in a checkpoint, from which it can be made again: by a service whose queries are others meanwhile.
type Text struct {
	Identity string `json:"identity"`
	Name     string `json:"name"`
	// Match is the pattern, without parameters, and Return what follows it: "" if there is no RETURN of items. Vertices and Edges are the names that
	// the pattern has: the text has to name some that have none.
	Match      string   `json:"match"`
	Return     string   `json:"return,omitempty"`
	Vertices   []string `json:"vertices"`
	Edges      []string `json:"edges"`
	Emit       gql.Emit `json:"emit"`
	Embeddings bool     `json:"embeddings"`
}

// textsOf returns the texts of queries. A dropped one has none.
func textsOf(qs []*Query) []Text {
	out := []Text{}
	for _, q := range qs {
		if q != nil {
			out = append(out, q.text())
		}
	}
	return out
}

func (q *Query) text() Text {
	x := Text{Identity: q.identity(), Name: q.Name, Match: pattern.Format(q.Pattern), Emit: q.Emit, Embeddings: q.Embeddings}
	for i := range q.Pattern.Vertices {
		x.Vertices = append(x.Vertices, q.Pattern.Vertices[i].Name)
	}
	for i := range q.Pattern.Edges {
		x.Edges = append(x.Edges, q.Pattern.Edges[i].Name)
	}
	if r := &q.source.Return; r.Kind == gql.ReturnItems {
		var items []string
		for _, item := range r.Items {
			items = append(items, pattern.FormatExpr(q.Pattern, item.Expr)+" AS "+pattern.QuoteVar(label(q.Pattern, item)))
		}
		x.Return = " RETURN " + strings.Join(items, ", ")
	}
	return x
}

// query makes the query of a text.
func (x *Text) query() (*Query, error) {
	parsed, err := gql.Parse(x.Match + x.Return)
	if err != nil {
		return nil, err
	}
	p := parsed.Pattern
	if pattern.Format(p) != x.Match || len(p.Vertices) != len(x.Vertices) || len(p.Edges) != len(x.Edges) {
		return nil, errors.New("its text has another pattern")
	}
	for i, name := range x.Vertices {
		p.Vertices[i].Name = name
	}
	for i, name := range x.Edges {
		p.Edges[i].Name = name
	}
	q, err := NewQuery(parsed, p, false)
	if err != nil {
		return nil, err
	}
	q.Name, q.Emit, q.Embeddings, q.id = x.Name, x.Emit, x.Embeddings, x.Identity
	return q, nil
}
