package gql

import (
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
)

// returns resolves the RETURN clause.
func (e *env) returns(s *returnSyntax) Return {
	r := s.Return
	r.Kind, r.at = ReturnItems, s.pos+1
	if len(s.items) == 1 {
		r.Kind = e.totals(s.items[0].expr, &r.Vertex)
	}
	if r.Kind != ReturnItems {
		r.Column = s.items[0].alias
	}
	if r.Kind == ReturnParticipation {
		r.Column = "participation"
		if i := s.items[0]; i.alias != i.text {
			r.Column = i.alias
		}
	}
	counts, others := 0, 0
	if r.Kind == ReturnItems {
		for _, i := range s.items {
			item := e.item(i)
			r.Items = append(r.Items, item)
			if item.Count {
				counts++
			} else {
				others++
			}
		}
	}
	for _, i := range s.groupBy {
		item := e.item(i)
		if item.Count {
			panic(e.fail(i.expr.pos, "GROUP BY cannot group by a count"))
		}
		r.GroupBy = append(r.GroupBy, item)
	}
	if r.Kind == ReturnParticipation {
		e.distinctNames(slices.Concat(s.groupBy, s.items), append(slices.Clone(r.GroupBy), Item{Name: r.Column}))
		if r.GroupBy == nil && r.Column == e.p.VertexName(r.Vertex) {
			panic(e.fail(s.items[0].expr.pos, "two columns are called %s", r.Column).expecting("AS and another name"))
		}
	} else {
		e.distinctNames(s.items, r.Items)
	}
	if counts > 0 && others > 0 && r.GroupBy == nil {
		panic(e.fail(s.pos, "count(*) with other items needs GROUP BY, which weft does not have yet").expecting("count(*) alone, or items without it"))
	}
	if r.Kind == ReturnExists && (r.GroupBy != nil || r.Sample != 0 || r.EstimateWithin != 0) {
		panic(e.fail(s.pos, "exists() is a single answer: it cannot be grouped, sampled or estimated"))
	}
	return r
}

// distinctNames refuses two columns of one name.
func (e *env) distinctNames(syntax []itemSyntax, items []Item) {
	seen := map[string]bool{}
	for i, item := range items {
		name := item.Name
		switch {
		case name != "":
		case item.Count:
			name = "count(*)"
		default:
			name = pattern.FormatExpr(e.p, item.Expr)
		}
		if seen[name] {
			panic(e.fail(syntax[i].expr.pos, "two columns are called %s", name).expecting("AS and another name"))
		}
		seen[name] = true
	}
}

// totals recognises the items that are a whole RETURN.
func (e *env) totals(x *exprSyntax, vertex *int) ReturnKind {
	if x.kind != exprCall {
		return ReturnItems
	}
	switch x.text {
	case "count":
		if x.value == "*" {
			return ReturnCount
		}
		if e.p.Mode != pattern.Iso {
			panic(e.fail(x.pos, "subgraphs are only defined where names are distinct vertices, not under %s", e.p.Mode).
				expecting("count(*), or MATCH DIFFERENT NODES"))
		}
		return ReturnSubgraphs
	case "exists":
		if len(x.args) > 0 {
			panic(e.fail(x.args[0].pos, "exists() takes nothing").expecting("exists()"))
		}
		return ReturnExists
	case "participation":
		if len(x.args) != 1 || x.args[0].kind != exprName {
			panic(e.fail(x.pos, "participation takes one vertex").expecting("participation(name)"))
		}
		ref := e.ref(x.args[0])
		if ref.Kind != pattern.VertexRef {
			panic(e.fail(x.args[0].pos, "participation takes a vertex, and %s is an edge", x.args[0].text))
		}
		*vertex = ref.Index
		return ReturnParticipation
	}
	return ReturnItems
}

func (e *env) item(s itemSyntax) Item {
	if s.expr.kind == exprCall && s.expr.text == "count" && s.expr.value == "*" {
		return Item{Name: s.alias, Count: true, at: s.expr.pos + 1}
	}
	x, _ := e.expr(s.expr)
	return Item{Expr: x, Name: s.alias, at: s.expr.pos + 1}
}
