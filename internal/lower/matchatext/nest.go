package matchatext

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// nest writes the levels of one plan.
type nest struct {
	m     *writer
	p     *plan.Plan
	names []string // of the vertices by level
	edges []string // of the data edges by choice
	item  string   // the parameter of conditions
	taken map[string]bool
	// let names a list, for nests that share theirs; nil: each has a name of its own.
	let  func(list string) string
	sets []string // names of the set program's lists
	tail int      // the first level that is not gone over; the number of levels if none
	// terms of the closed tail, nil where choose says how many are taken of each group.
	terms   []plan.TailTerm
	divisor int64
	choose  []plan.TailGroup
}

// close decides which levels of the tail are counted by arithmetic. A tail whose
// groups may share vertices and that has too many levels for a sum of products is
// closed at its last level only.
func (n *nest) close() {
	t := &n.p.Tail
	last := len(n.p.Levels) - 1
	n.tail = last + 1
	switch {
	case n.m.o.List || t.K == 0:
	case t.Divisor != 0:
		n.tail, n.terms, n.divisor = last+1-t.K, t.Terms, t.Divisor
	case len(n.p.TailBlocks()) == len(t.Groups):
		n.tail, n.choose = last+1-t.K, t.Groups
	default:
		n.tail, n.choose = last, []plan.TailGroup{{Levels: []int{last}}}
	}
}

// fresh is a name that nothing else of the nest has, and nothing around it.
func (n *nest) fresh(name string) string {
	for n.taken[name] || n.m.taken[name] || asg.IsOperator(name) {
		name += "_"
	}
	n.taken[name] = true
	return name
}

// group is how many embeddings each match stands for.
func (n *nest) group() *big.Int {
	switch {
	case !n.p.Restricted:
		return big.NewInt(1)
	case n.p.Rooted:
		return n.p.Pattern.Automorphisms().Stabilizer([]int{n.p.Order[0]}).Order()
	}
	return n.p.Aut
}

// from writes what is to be done where the levels before l are matched, and
// returns the number of ways to match those from l on.
func (n *nest) from(l int, body *lines) (string, error) {
	if err := n.known(l-1, body); err != nil {
		return "", err
	}
	return n.bound(n.boundAt(l-1), body, func(body *lines) (string, error) { return n.beyond(l, body) })
}

// beyond is from where the lists, and the data edges, are known.
func (n *nest) beyond(l int, body *lines) (string, error) {
	if l == len(n.p.Levels) || l == n.tail {
		return n.end(l, body)
	}
	list, conds, err := n.candidates(l, l)
	if err != nil {
		return "", err
	}
	if l == len(n.p.Levels)-1 && len(n.p.Edges) == 0 {
		return fmt.Sprintf("size(%s)", n.filtered(list, conds)), nil
	}
	name := n.fresh(fmt.Sprintf("extend%d", l+1))
	inner := lines{depth: body.depth + 1}
	count, err := n.from(l+1, &inner)
	if err != nil {
		return "", err
	}
	inner.add("return %s", count)
	body.add("def %s(%s):", name, n.names[l])
	body.append(&inner)
	return fmt.Sprintf("sum(apply(%s, %s, %s))", name, n.cond(conds), list), nil
}

// end is the number of ways to match the closed tail from level l on, if there is
// one, and to choose the edges that are not tied.
func (n *nest) end(l int, body *lines) (string, error) {
	factors, err := n.factors()
	if err != nil {
		return "", err
	}
	if l < len(n.p.Levels) {
		count, err := n.closed(body)
		if err != nil || len(factors) == 0 {
			return count, err
		}
		factors = append(factors, "("+count+")")
	}
	if len(factors) == 0 {
		return "1", nil
	}
	return strings.Join(factors, " * "), nil
}

// emitting writes a program that lists matches or, for a rooted plan, counts by
// roots.
func (n *nest) emitting(body *lines) error {
	if !n.p.Rooted || n.m.o.List {
		return n.list(0, body)
	}
	list, conds, err := n.candidates(0, 0)
	if err != nil {
		return err
	}
	v := n.names[0]
	inner := lines{depth: 1}
	count, err := n.from(1, &inner)
	if err != nil {
		return err
	}
	at, pair := n.fresh("matches"), n.fresh("pair")
	body.add("def %s(%s):", at, v)
	body.append(&inner)
	body.add("    return mk_tuple(val=[%s, %s])", v, count)
	body.add("let counts = apply(%s, %s, %s)", at, n.cond(conds), list)
	body.add("apply(lambda %s: emit(%[1]s), None, counts)", pair)
	if list = n.filtered(list, conds); list != "vertices(G)" {
		body.add("%s", unmatched(fmt.Sprintf("diff(vertices(G), %s)", list)))
	}
	return nil
}

// unmatched emits those of a list of vertices that no match has at the root.
func unmatched(list string) string {
	return fmt.Sprintf("apply(lambda w: emit(mk_tuple(val=[w, 0])), None, %s)", list)
}

// list writes the loops from level l on.
func (n *nest) list(l int, body *lines) error {
	if err := n.known(l-1, body); err != nil {
		return err
	}
	return n.listed(n.boundAt(l-1), body, func(body *lines) error { return n.listBeyond(l, body) })
}

// listBeyond is list where the lists, and the data edges, are known.
func (n *nest) listBeyond(l int, body *lines) error {
	if l == len(n.p.Levels) {
		body.add("%s", n.emit())
		return nil
	}
	list, conds, err := n.candidates(l, l)
	if err != nil {
		return err
	}
	if l == len(n.p.Levels)-1 && len(n.p.Edges) == 0 {
		body.add("apply(lambda %s: %s, %s, %s)", n.names[l], n.emit(), n.cond(conds), list)
		return nil
	}
	name := n.fresh(fmt.Sprintf("extend%d", l+1))
	inner := lines{depth: body.depth + 1}
	if err := n.list(l+1, &inner); err != nil {
		return err
	}
	body.add("def %s(%s):", name, n.names[l])
	body.append(&inner)
	body.add("apply(%s, %s, %s)", name, n.cond(conds), list)
	return nil
}

// emit lists a match.
func (n *nest) emit() string {
	columns := n.m.o.Columns
	var row []string
	for v := range n.p.Pattern.Vertices {
		if columns == nil {
			row = append(row, n.names[n.p.LevelOf[v]])
		}
	}
	for _, v := range columns {
		row = append(row, n.names[n.p.LevelOf[v]])
	}
	return fmt.Sprintf("emit(mk_tuple(val=[%s]))", strings.Join(row, ", "))
}

// known names the lists of the set program that level l makes known.
func (n *nest) known(l int, body *lines) error {
	for i := range n.p.Sets {
		s := &n.p.Sets[i]
		if s.At != l {
			continue
		}
		lists, err := n.neighbours(s.Adj, s.Of)
		if err != nil {
			return err
		}
		var list string
		switch s.Op {
		case plan.SetAnd:
			list = fmt.Sprintf("intersect(%s, %s)", n.sets[s.Base], lists[0])
		case plan.SetMinus:
			list = without(n.sets[s.Base], lists)
		default:
			list = lists[0]
		}
		conds := n.bounds(s.Below, s.Above, len(n.p.Levels))
		if label, ok := n.label([]plan.Range{s.Range}); ok && s.Range.End != 0 {
			conds = append(conds, label)
		}
		list = n.filtered(list, conds)
		if n.let != nil {
			n.sets[i] = n.let(list)
			continue
		}
		n.sets[i] = n.fresh(fmt.Sprintf("s%d", i))
		body.add("let %s = %s", n.sets[i], list)
	}
	return nil
}

// without is the items of a list that are in none of others.
func without(list string, others []string) string {
	for _, o := range others {
		list = fmt.Sprintf("diff(%s, %s)", list, o)
	}
	return list
}

// neighbours are the lists that an adjacency gives for a level's vertex: one where
// the pattern asks for an edge, several or none where it forbids what any of them has.
func (n *nest) neighbours(adj, level int) (lists []string, err error) {
	a := &n.p.Adjs[adj]
	left, right := "-", "-"
	switch {
	case strings.HasSuffix(a.Name, "+") && a.Rev != adj:
		right = "->"
	case a.Rev != adj:
		left = "<-"
	}
	filters, err := a.Filters()
	if err != nil {
		return nil, err
	}
	for _, f := range filters {
		view := "G"
		if f != "" || n.p.Graph.Directed && right != "->" {
			if f != "" {
				f = "[" + f + "]"
			}
			if view, err = n.m.view("E", "subgraph", "(a)"+left+f+right+"(b)", n.taken); err != nil {
				return nil, err
			}
		}
		lists = append(lists, fmt.Sprintf("neighbor(%s, %s)", view, n.names[level]))
	}
	return lists, nil
}

// candidates is the list that a level's vertices are in, and the conditions on
// them besides it. Only levels before tail bound it.
func (n *nest) candidates(l, tail int) (list string, conds []string, err error) {
	lv := &n.p.Levels[l]
	var below, above []int
	var known plan.Range
	if list = "vertices(G)"; lv.Set >= 0 {
		s := &n.p.Sets[lv.Set]
		list, known, below, above = n.sets[lv.Set], s.Range, s.Below, s.Above
	}
	rest := func(levels, done []int) []int {
		return slices.DeleteFunc(slices.Clone(levels), func(j int) bool { return slices.Contains(done, j) })
	}
	conds = n.bounds(rest(lv.Below, below), rest(lv.Above, above), tail)
	label, plain := n.label(lv.Ranges)
	switch {
	case lv.Bits != nil || lv.Ranges != nil && (!plain || lv.Set < 0):
		text := n.alone(l)
		view, err := n.m.view("V", "vertices", text, n.taken)
		if err != nil {
			return "", nil, err
		}
		if lv.Set < 0 {
			list = view
		} else {
			list = fmt.Sprintf("intersect(%s, %s)", list, view)
		}
	case lv.Ranges != nil && known != lv.Ranges[0]:
		conds = append(conds, label)
	}
	if lv.Set < 0 {
		for _, b := range lv.Back { // all of them negative
			others, err := n.neighbours(b.Adj, b.Level)
			if err != nil {
				return "", nil, err
			}
			list = without(list, others)
		}
	}
	if l < n.tail {
		for _, j := range lv.Distinct {
			conds = append(conds, fmt.Sprintf("%s != %s", n.item, n.names[j]))
		}
	}
	for i := range lv.Checks {
		c, err := n.holds(&lv.Checks[i], l)
		if err != nil {
			return "", nil, err
		}
		conds = append(conds, c)
	}
	return list, conds, nil
}

// alone is the pattern language's text for what a level asks of a vertex alone.
func (n *nest) alone(l int) string {
	v := n.p.Levels[l].Vertex
	one := &pattern.Pattern{Mode: n.p.Mode, Vertices: []pattern.Vertex{{Name: "a", Label: n.p.Pattern.Vertices[v].Label}}}
	var split func(x pattern.Expr)
	split = func(x pattern.Expr) {
		if y, ok := x.(pattern.Binary); ok && y.Op == pattern.OpAnd {
			split(y.X)
			split(y.Y)
			return
		}
		if refs := pattern.Refs(x); len(refs) == 1 && refs[0] == (pattern.Ref{Kind: pattern.VertexRef, Index: v}) {
			one.Where = append(one.Where, pattern.MapRefs(x, func(r pattern.Ref) pattern.Ref { return pattern.Ref{Kind: r.Kind} }))
		}
	}
	for _, x := range n.p.Pattern.Where {
		split(x)
	}
	return strings.TrimPrefix(pattern.Format(one), "MATCH ")
}

// label returns a condition that says that a vertex is in ranges, if these are the ranges of a
// label. They are if they are the vertices of one class, in a graph whose vertices have one
// label at most.
func (n *nest) label(ranges []plan.Range) (cond string, ok bool) {
	if len(ranges) != 1 {
		return "", false
	}
	g := n.p.Graph
	for _, c := range g.Classes {
		if len(c.Labels) > 1 {
			return "", false
		}
		if len(c.Labels) == 1 && ranges[0] == (plan.Range{First: c.First, End: c.End}) {
			name := g.VertexLabels[c.Labels[0]]
			quoted, err := quoted(name)
			if err != nil {
				return "", false
			}
			cond, ok = fmt.Sprintf("vertex_label(G, %s) == label(G, %s)", n.item, quoted), true
		}
	}
	return cond, ok
}

// bounds are the conditions that restrictions by levels before end make.
func (n *nest) bounds(below, above []int, end int) (conds []string) {
	for _, j := range below {
		if j < end {
			conds = append(conds, n.item+" < "+n.names[j])
		}
	}
	for _, j := range above {
		if j < end {
			conds = append(conds, n.item+" > "+n.names[j])
		}
	}
	return conds
}

// cond is the second argument of an apply.
func (n *nest) cond(conds []string) string {
	if len(conds) == 0 {
		return "None"
	}
	return fmt.Sprintf("lambda %s: %s", n.item, strings.Join(conds, " and "))
}

// filtered is the part of a list that fulfils conditions.
func (n *nest) filtered(list string, conds []string) string {
	if len(conds) == 0 {
		return list
	}
	return fmt.Sprintf("apply(lambda %s: %[1]s, %s, %s)", n.item, n.cond(conds), list)
}
