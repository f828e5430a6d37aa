package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// OrderRules are the names of rules that make a matching order.
var OrderRules = []string{"auto", "ri", "gsi", "geneva", "cost", "join", "tests"}

// GivenOrder reads the names of p's vertices in a matching order: each of them once and,
// unless apart permits it, next to one before it.
func GivenOrder(text string, p *pattern.Pattern, apart bool) ([]int, error) {
	fail := func(order []int, format string, args ...any) error {
		var names []string
		for _, v := range followable(p, order) {
			names = append(names, p.VertexName(v))
		}
		return fmt.Errorf("order %q: %s; want %s, or the names of all vertices, each next to one before it, as %s",
			text, fmt.Sprintf(format, args...), strings.Join(OrderRules, ", "), strings.Join(names, ","))
	}
	var order []int
	for name := range strings.SplitSeq(text, ",") {
		v, err := VertexByName(p, strings.TrimSpace(name))
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

// followable orders all vertices of p so that each is adjacent to an earlier one, as far as p
// is connected. The order is as near to the given one as possible.
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

// VertexByName is the vertex of p that has a name.
func VertexByName(p *pattern.Pattern, name string) (int, error) {
	var names []string
	for v := range p.Vertices {
		if p.VertexName(v) == name {
			return v, nil
		}
		names = append(names, p.VertexName(v))
	}
	return 0, fmt.Errorf("the pattern has no vertex %q: it has %s", name, strings.Join(names, ", "))
}
