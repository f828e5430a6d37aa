package weft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// orderRules are the values of WithOrder that say how an order is made.
var orderRules = []string{"auto", "ri", "gsi", "geneva", "cost", "tests"}

// givenOrder reads the names of p's vertices in a matching order: each of them
// once and, unless apart permits it, next to one before it.
func givenOrder(text string, p *pattern.Pattern, apart bool) ([]int, error) {
	fail := func(order []int, format string, args ...any) error {
		var names []string
		for _, v := range followable(p, order) {
			names = append(names, p.VertexName(v))
		}
		return withKind(ErrUsage, fmt.Errorf("order %q: %s; want %s, or the names of all vertices, each next to one before it, as %s",
			text, fmt.Sprintf(format, args...), strings.Join(orderRules, ", "), strings.Join(names, ",")))
	}
	var order []int
	for name := range strings.SplitSeq(text, ",") {
		v, err := vertexByName(p, strings.TrimSpace(name))
		if err != nil {
			return nil, fail(order, "%v", err)
		}
		if slices.Contains(order, v) {
			return nil, fail(order, "%s is there twice", p.VertexName(v))
		}
		order = append(order, v)
	}
	good := followable(p, order)
	if len(order) < len(good) {
		var missing []string
		for v := range p.Vertices {
			if !slices.Contains(order, v) {
				missing = append(missing, p.VertexName(v))
			}
		}
		return nil, fail(order, "%s is missing", strings.Join(missing, ","))
	}
	for i, v := range good {
		if order[i] != v && !apart {
			return nil, fail(order, "%s is not a neighbour of a vertex before it", p.VertexName(order[i]))
		}
	}
	return order, nil
}

// followable is an order of all vertices of p in which each is next to one
// before it as far as p is connected: as near to the given one as can be.
func followable(p *pattern.Pattern, given []int) (order []int) {
	wanted := slices.Clone(given)
	for v := range p.Vertices {
		if !slices.Contains(wanted, v) {
			wanted = append(wanted, v)
		}
	}
	for len(wanted) > 0 {
		i := max(0, slices.IndexFunc(wanted, func(v int) bool {
			return slices.ContainsFunc(p.Edges, func(e pattern.Edge) bool {
				return !e.Negated && (e.From == v && slices.Contains(order, e.To) || e.To == v && slices.Contains(order, e.From))
			})
		}))
		order = append(order, wanted[i])
		wanted = slices.Delete(wanted, i, i+1)
	}
	return order
}
