package pattern

import (
	"fmt"
	"strconv"
	"strings"
)

// Reserved are the words, in upper case, that have a meaning where a name could stand. A name
// that is one of them is written in back quotes.
var Reserved = map[string]bool{
	"ALL_DIFFERENT": true, "AND": true, "AS": true, "CREATE": true, "DEFINE": true, "DIFFERENT": true, "EMIT": true,
	"ESTIMATE": true, "EXISTS": true, "EXPLAIN": true, "FALSE": true, "GROUP": true, "IN": true, "INDUCED": true,
	"IS": true, "LIMIT": true, "MATCH": true, "NOT": true, "NULL": true, "ON": true, "OR": true, "ORDERED": true,
	"PROFILE": true, "REPEATABLE": true, "RETURN": true, "SAMPLE": true, "SEED": true, "TRUE": true, "WHERE": true,
	"WITHIN": true,
}

// QuoteVar writes a vertex, edge or parameter name as the language reads it
// back.
func QuoteVar(s string) string {
	if Reserved[strings.ToUpper(s)] || allDigits(s) || s == "_" {
		return "`" + s + "`"
	}
	return QuoteName(s)
}

// Format writes p in the pattern language, from MATCH to the end of WHERE.
// Parsing the text gives p again, with two exceptions: a vertex without a name
// gets one where it must be mentioned more than once, and so does an edge that
// a predicate over several names, or ORDERED, mentions.
func Format(p *Pattern) string {
	f := newFormatter(p, nil, nil)
	return "MATCH " + f.body(p.Mode != Iso)
}

// FormatExpr writes a predicate over p in the pattern language.
func FormatExpr(p *Pattern, x Expr) string {
	f := newFormatter(p, nil, nil)
	f.nameAll()
	return f.expr(x, 0)
}

// formatter writes one pattern, or one sub-pattern inside EXISTS.
type formatter struct {
	p      *Pattern
	parent *formatter
	taken  map[string]bool // names that mean something else here
	vertex []string        // names to write; "" for ()
	edge   []string
	outer  int // vertices below it belong to the parent
}

func newFormatter(p *Pattern, parent *formatter, outer []int) *formatter {
	f := &formatter{p: p, parent: parent, taken: map[string]bool{}, outer: len(outer)}
	for a := parent; a != nil; a = a.parent {
		for n := range a.taken {
			f.taken[n] = true
		}
	}
	f.vertex = make([]string, len(p.Vertices))
	f.edge = make([]string, len(p.Edges))
	for i, v := range outer {
		f.vertex[i] = parent.vertex[v]
	}
	for i := len(outer); i < len(p.Vertices); i++ {
		f.vertex[i] = f.own(p.Vertices[i].Name)
	}
	for i := range p.Edges {
		if !p.Edges[i].Negated {
			f.edge[i] = f.own(p.Edges[i].Name)
		}
	}
	return f
}

// own takes a name of this pattern, or a variant where it is taken.
func (f *formatter) own(name string) string {
	if name == "" {
		return ""
	}
	base := name
	for i := 2; f.taken[name] || name == "_"; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	f.taken[name] = true
	return name
}

func (f *formatter) nameVertex(v int) {
	if f.vertex[v] == "" {
		f.vertex[v] = f.own(f.p.VertexName(v))
	}
}

func (f *formatter) nameEdge(i int) {
	if f.edge[i] == "" {
		f.edge[i] = f.own(f.p.EdgeName(i))
	}
}

func (f *formatter) nameAll() {
	for v := range f.vertex {
		f.nameVertex(v)
	}
	for i := range f.edge {
		f.nameEdge(i)
	}
}

// step is one node of a path; edge is the edge that leads to it, -1 at the
// start of a path.
type step struct{ vertex, edge int }

// body writes everything after MATCH.
func (f *formatter) body(withMode bool) string {
	paths := f.paths()
	f.nameMentioned(paths)
	var b strings.Builder
	if withMode {
		b.WriteString(map[Mode]string{Iso: "DIFFERENT NODES ", Trail: "DIFFERENT EDGES ", Hom: "REPEATABLE ELEMENTS "}[f.p.Mode])
	}
	if f.p.Induced {
		b.WriteString("INDUCED ")
	}
	declared := make([]bool, len(f.p.Vertices))
	for i := range f.outer {
		declared[i] = f.p.Vertices[i].Label == nil
	}
	for i, path := range paths {
		if i > 0 {
			b.WriteString(", ")
		}
		if e := path[len(path)-1].edge; e >= 0 && f.p.Edges[e].Negated {
			b.WriteString("NOT ")
		}
		for j, s := range path {
			if s.edge >= 0 {
				b.WriteString(f.edgeText(s.edge, path[j-1].vertex))
			}
			b.WriteString(f.node(s.vertex, !declared[s.vertex]))
			declared[s.vertex] = true
		}
	}
	if f.p.Order != nil {
		b.WriteString(" " + f.order(f.p.Order))
	}
	for i, w := range f.p.Where {
		if i == 0 {
			b.WriteString(" WHERE ")
		} else {
			b.WriteString(" AND ")
		}
		b.WriteString(f.expr(w, precedence[OpAnd]))
	}
	return b.String()
}

// paths arranges the edges, in their order, into paths such that vertices are first mentioned
// in the order of their indexes. If the edges alone would not do that, single nodes go before
// them. Vertices aside are in no path.
func (f *formatter) paths() [][]step {
	var paths [][]step
	order, rank := f.inPaths()
	next := 0 // the rank of the first vertex not yet mentioned
	declare := func(upTo int) {
		for ; next < upTo; next++ {
			paths = append(paths, []step{{order[next], -1}})
		}
	}
	extend := false // the last path ends in an edge and may go on
	for i := range f.p.Edges {
		e := &f.p.Edges[i]
		from, to := rank[e.From], rank[e.To]
		if e.Negated {
			declare(max(from, to) + 1)
			paths = append(paths, []step{{e.From, -1}, {e.To, i}})
			extend = false
			continue
		}
		if extend {
			last := paths[len(paths)-1]
			at := rank[last[len(last)-1].vertex]
			end, ok := to, at == from
			if at == to && e.Dir == Forward {
				end, ok = from, true
			}
			if ok && end <= next {
				paths[len(paths)-1] = append(last, step{order[end], i})
				next = max(next, end+1)
				continue
			}
		}
		if e.Dir == Forward && to < from {
			from, to = to, from // written <--
		}
		switch {
		case from == next && (to <= next+1):
		case from < next && to <= next:
		case from > to && from >= next: // -- whose From must be written first
			declare(from + 1)
		default:
			declare(from)
			if to > max(next, from+1) || from < next {
				declare(to)
			}
		}
		paths = append(paths, []step{{order[from], -1}, {order[to], i}})
		next = max(next, from+1, to+1)
		extend = true
	}
	declare(len(order))
	return paths
}

// inPaths lists the vertices that are not aside, and the place of each vertex in the
// list.
func (f *formatter) inPaths() (order, rank []int) {
	rank = make([]int, len(f.p.Vertices))
	for v := range f.p.Vertices {
		rank[v] = len(order)
		if !f.p.Vertices[v].Aside {
			order = append(order, v)
		}
	}
	return order, rank
}

// nameMentioned names the vertices and edges that must be mentioned more than once, or
// elsewhere.
func (f *formatter) nameMentioned(paths [][]step) {
	times := make([]int, len(f.p.Vertices))
	for _, path := range paths {
		negated := len(path) > 1 && f.p.Edges[path[1].edge].Negated
		for _, s := range path {
			times[s.vertex]++
			if negated {
				f.nameVertex(s.vertex)
			}
		}
	}
	for v, n := range times {
		if n > 1 {
			f.nameVertex(v)
		}
	}
	for _, w := range f.p.Where {
		for _, r := range Refs(w) {
			if r.Kind == VertexRef {
				f.nameVertex(r.Index)
			} else {
				f.nameEdge(r.Index)
			}
		}
	}
	if f.p.Order != nil {
		for _, i := range f.p.Order.Edges {
			f.nameEdge(i)
		}
	}
}

func (f *formatter) node(v int, withLabel bool) string {
	s := "("
	if f.vertex[v] != "" {
		s += QuoteVar(f.vertex[v])
	}
	if l := f.p.Vertices[v].Label; l != nil && withLabel {
		s += ":" + l.String()
	}
	return s + ")"
}

// edgeText writes edge i as seen from the vertex before it.
func (f *formatter) edgeText(i, before int) string {
	e := &f.p.Edges[i]
	left, right := "-", "-"
	if e.Dir == Forward {
		if e.From == before {
			right = "->"
		} else {
			left = "<-"
		}
	}
	var parts []string
	head := ""
	if f.edge[i] != "" {
		head = QuoteVar(f.edge[i])
	}
	if e.Label != nil {
		head += ":" + e.Label.String()
	}
	if e.variable() {
		head += fmt.Sprintf("*%d..%d", e.Min, e.Max)
	}
	if head != "" {
		parts = append(parts, head)
	}
	if len(e.Where) > 0 {
		texts := make([]string, len(e.Where))
		for j, w := range e.Where {
			texts[j] = f.expr(w, precedence[OpAnd])
		}
		parts = append(parts, "WHERE "+strings.Join(texts, " AND "))
	}
	if len(parts) == 0 {
		return left + right
	}
	return left + "[" + strings.Join(parts, " ") + "]" + right
}

func (f *formatter) order(o *Order) string {
	var parts []string
	if len(o.Edges) > 0 {
		names := make([]string, len(o.Edges))
		for j, i := range o.Edges {
			names[j] = QuoteVar(f.edge[i])
		}
		parts = append(parts, "ORDERED "+strings.Join(names, " < "))
	}
	if o.On != "" && len(o.Edges) > 0 {
		parts = append(parts, "ON "+QuoteName(o.On))
	}
	switch {
	case o.Within != 0 && o.Duration:
		parts = append(parts, "WITHIN "+formatDuration(o.Within))
	case o.Within != 0:
		parts = append(parts, "WITHIN "+strconv.FormatInt(o.Within, 10))
	}
	if o.On != "" && len(o.Edges) == 0 {
		parts = append(parts, "ON "+QuoteName(o.On))
	}
	return strings.Join(parts, " ")
}

// DurationUnits are the units of a duration, longest first, in nanoseconds.
var DurationUnits = []struct {
	Name string
	Size int64
}{
	{"w", 7 * 24 * 3600e9}, {"d", 24 * 3600e9}, {"h", 3600e9}, {"m", 60e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1},
}

func formatDuration(n int64) string {
	for _, u := range DurationUnits {
		if n%u.Size == 0 {
			return strconv.FormatInt(n/u.Size, 10) + u.Name
		}
	}
	return strconv.FormatInt(n, 10) + "ns"
}
