package matchatext

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Edges that are bound to data edges are loops over the data edges between their
// ends, inside of the loops over these; an edge that no condition looks at is only
// counted. Conditions over several vertices and edges, ORDERED and WITHIN among
// them, are asked in the words of the query.

// nameEdges names the data edges that the plan chooses.
func (n *nest) nameEdges() {
	for i := range n.p.Edges {
		name := n.p.Pattern.Edges[n.p.Edges[i].Edge].Name
		if !syntax.IsName(name) || asg.IsOperator(name) || n.m.taken[name] || n.taken[name] {
			name = n.fresh(fmt.Sprintf("e%d", i))
		}
		n.taken[name] = true
		n.edges = append(n.edges, name)
	}
}

// boundAt returns the edges that are bound where level l is matched, ascending. Those of a
// temporal pattern are bound as soon as possible, since times rule out most of the later
// choices. The others are bound where all vertices are matched, except the vertices of the
// tail. A count goes only over tied edges: others are factors.
func (n *nest) boundAt(l int) (which []int) {
	for i := range n.p.Edges {
		at, tied := n.tail-1, n.p.Tied(i)
		if tied && n.p.Pattern.Order != nil {
			at = n.p.Edges[i].At
		}
		if at == l && (tied || n.m.o.List) {
			which = append(which, i)
		}
	}
	return which
}

// factors are the numbers of ways to choose the edges that are not tied.
func (n *nest) factors() (out []string, err error) {
	for i := range n.p.Edges {
		if n.p.Tied(i) {
			continue
		}
		list, err := n.between(i)
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprintf("size(%s)", list))
	}
	return out, nil
}

// bound writes the loops over the data edges of which, ascending, around what rest
// writes, and returns the sum of what it counts.
func (n *nest) bound(which []int, body *lines, rest func(body *lines) (string, error)) (string, error) {
	if len(which) == 0 {
		return rest(body)
	}
	i := which[0]
	list, cond, err := n.choice(i)
	if err != nil {
		return "", err
	}
	inner := lines{depth: body.depth + 1}
	count, err := n.bound(which[1:], &inner, rest)
	e := n.edges[i]
	switch {
	case err != nil:
		return "", err
	case inner.Len() == 0 && count == "1" && cond == "None":
		return fmt.Sprintf("size(%s)", list), nil
	case inner.Len() == 0 && count == "1":
		return fmt.Sprintf("size(apply(lambda %s: %[1]s, %s, %s))", e, cond, list), nil
	}
	inner.add("return %s", count)
	name := n.fresh("bind_" + e)
	body.add("def %s(%s):", name, e)
	body.append(&inner)
	return fmt.Sprintf("sum(apply(%s, %s, %s))", name, cond, list), nil
}

// listed writes the loops over the data edges of which around what rest writes.
func (n *nest) listed(which []int, body *lines, rest func(body *lines) error) error {
	if len(which) == 0 {
		return rest(body)
	}
	list, cond, err := n.choice(which[0])
	if err != nil {
		return err
	}
	inner := lines{depth: body.depth + 1}
	if err := n.listed(which[1:], &inner, rest); err != nil {
		return err
	}
	e := n.edges[which[0]]
	name := n.fresh("bind_" + e)
	body.add("def %s(%s):", name, e)
	body.append(&inner)
	body.add("apply(%s, %s, %s)", name, cond, list)
	return nil
}

// choice is the data edges that choice i may take, and the condition on them.
func (n *nest) choice(i int) (list, cond string, err error) {
	if list, err = n.between(i); err != nil {
		return "", "", err
	}
	var conds []string
	if n.p.Mode == pattern.Trail {
		for _, other := range n.edges[:i] {
			conds = append(conds, n.edges[i]+" != "+other)
		}
	}
	for k := range n.p.Edges[i].Checks {
		c, err := n.holds(&n.p.Edges[i].Checks[k], -1)
		if err != nil {
			return "", "", err
		}
		conds = append(conds, c)
	}
	if len(conds) == 0 {
		return list, "None", nil
	}
	return list, fmt.Sprintf("lambda %s: %s", n.edges[i], strings.Join(conds, " and ")), nil
}

// between is the data edges that choice i may take.
func (n *nest) between(i int) (string, error) {
	c := &n.p.Edges[i]
	filter, right := "", "->"
	if f := c.Filter; f != "" {
		filter = "[" + f + "]"
	}
	if c.Either || !n.p.Graph.Directed {
		right = "-"
	}
	text, err := quoted("(a)-" + filter + right + "(b)")
	return fmt.Sprintf("between(G, %s, %s, %s)", text, n.names[c.From], n.names[c.To]), err
}

// holds asks a condition; the vertex of level at, if there is one, is the item.
func (n *nest) holds(c *plan.Check, at int) (string, error) {
	q := &pattern.Pattern{}
	var names, args, edges, edgeArgs []string
	place := map[pattern.Ref]int{}
	for _, r := range pattern.Refs(c.Expr) {
		if r.Kind == pattern.EdgeRef {
			i := slices.IndexFunc(n.p.Edges, func(c plan.EdgeChoice) bool { return c.Edge == r.Index })
			place[r] = len(q.Edges)
			q.Edges = append(q.Edges, pattern.Edge{Name: n.edges[i], Min: 1, Max: 1})
			name := pattern.QuoteVar(n.edges[i])
			arrow := "->"
			if !n.p.Graph.Directed {
				arrow = "-"
			}
			edges, edgeArgs = append(edges, "()-["+name+"]"+arrow+"()"), append(edgeArgs, n.edges[i])
			continue
		}
		l := n.p.LevelOf[r.Index]
		place[r] = len(q.Vertices)
		q.Vertices = append(q.Vertices, pattern.Vertex{Name: n.names[l]})
		names = append(names, "("+pattern.QuoteVar(n.names[l])+")")
		if l == at {
			args = append(args, n.item)
		} else {
			args = append(args, n.names[l])
		}
	}
	x := pattern.MapRefs(c.Expr, func(r pattern.Ref) pattern.Ref { return pattern.Ref{Kind: r.Kind, Index: place[r]} })
	text, err := quoted(strings.Join(append(names, edges...), ", ") + " WHERE " + pattern.FormatExpr(q, x))
	return fmt.Sprintf("holds(G, %s, %s)", text, strings.Join(append(args, edgeArgs...), ", ")), err
}

// quoted is a text of the pattern language as an argument.
func quoted(text string) (string, error) {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return "", plan.Refusef("%q: a text of a Matcha program has no characters that cannot be printed", text)
	}
	return syntax.Quote(text), nil
}
