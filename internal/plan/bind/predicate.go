package bind

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// wheres holds the conditions of a pattern as conjuncts, listed by the vertices and edges that
// they mention. A pattern without conditions has nil lists.
type wheres struct {
	constant []pattern.Expr
	vertex   [][]pattern.Expr // over one vertex alone
	edge     [][]pattern.Expr // over one edge alone
	own      [][]pattern.Expr // the conditions that belong to the edge itself, which INDUCED looks at
	cross    []pattern.Expr   // the rest
}

// ofEdge returns the conditions over edge i alone.
func (w *wheres) ofEdge(i int) []pattern.Expr {
	if w.edge == nil {
		return nil
	}
	return w.edge[i]
}

// ownOf returns the conditions that belong to edge i itself.
func (w *wheres) ownOf(i int) []pattern.Expr {
	if w.own == nil {
		return nil
	}
	return w.own[i]
}

// Check is a conjunct over several vertices and edges. It is compiled when
// the order is known.
type Check struct {
	x        pattern.Expr
	text     string
	cost     int
	vertices []int
	edges    []int
}

// splitPredicates takes the conditions apart.
func (b *Binding) splitPredicates() (*wheres, error) {
	if len(b.Pattern.Where) == 0 && !slices.ContainsFunc(b.Pattern.Edges, func(e pattern.Edge) bool { return len(e.Where) > 0 }) {
		return &wheres{}, nil
	}
	lists := make([][]pattern.Expr, b.N+2*len(b.Pattern.Edges))
	w := &wheres{vertex: lists[:b.N], edge: lists[b.N : b.N+len(b.Pattern.Edges)], own: lists[b.N+len(b.Pattern.Edges):]}
	for i := range b.Pattern.Edges {
		for _, x := range b.Pattern.Edges[i].Where {
			x, err := b.plain(x)
			if err != nil {
				return nil, err
			}
			w.edge[i] = pattern.Conjuncts(x, w.edge[i])
		}
		w.own[i] = slices.Clone(w.edge[i])
	}
	var all []pattern.Expr
	for _, x := range b.Pattern.Where {
		x, err := b.plain(x)
		if err != nil {
			return nil, err
		}
		all = pattern.Conjuncts(x, all)
	}
	for _, x := range all {
		refs := pattern.Refs(x)
		for _, r := range refs {
			if r.Kind != pattern.EdgeRef {
				continue
			}
			switch e := &b.Pattern.Edges[r.Index]; {
			case e.Negated:
				return nil, &plan.QueryError{Vertex: -1, Edge: r.Index, Msg: fmt.Sprintf("%s is a NOT edge: it stands for no edge that a condition could look at", b.Pattern.EdgeName(r.Index))}
			case len(refs) > 1 && !e.Named() && b.Pattern.Mode != pattern.Trail:
				return nil, &plan.QueryError{Vertex: -1, Edge: r.Index, Msg: "a condition that compares an edge with something else needs a named edge"}
			}
		}
		switch {
		case len(refs) == 0:
			w.constant = append(w.constant, x)
		case len(refs) == 1 && refs[0].Kind == pattern.VertexRef:
			w.vertex[refs[0].Index] = append(w.vertex[refs[0].Index], x)
		case len(refs) == 1:
			w.edge[refs[0].Index] = append(w.edge[refs[0].Index], x)
		default:
			w.cross = append(w.cross, x)
		}
	}
	return w, nil
}

// bindPredicates evaluates constants, turns conditions on single vertices into
// id ranges and bits, and compiles the rest once, so that its warnings and
// errors appear now.
func (b *Binding) bindPredicates(w *wheres) error {
	sc := b.scope()
	for _, x := range w.constant {
		if pass := sc.Check(x); sc.Err == nil && !pass(nil, nil) {
			b.nothing("the condition " + pattern.FormatExpr(b.Pattern, x) + " is never true")
		}
	}
	for v := range w.vertex {
		if err := b.bindVertexPredicates(v, w.vertex[v]); err != nil {
			return err
		}
	}
	for _, x := range w.cross {
		c := Check{x: x, text: pattern.FormatExpr(b.Pattern, x), cost: expr.Cost(x)}
		for _, r := range pattern.Refs(x) {
			if r.Kind == pattern.VertexRef {
				c.vertices = append(c.vertices, r.Index)
			} else {
				c.edges = append(c.edges, r.Index)
			}
		}
		sc.Check(x)
		b.Checks = append(b.Checks, c)
	}
	// Conditions that search come last: the others cost less, and leave fewer candidates.
	slices.SortStableFunc(b.Checks, func(x, y Check) int { return searches(x.x) - searches(y.x) })
	return compiled(sc)
}

// searches returns 1 if a condition has an EXISTS, and else 0.
func searches(x pattern.Expr) (n int) {
	pattern.Walk(x, func(x pattern.Expr) bool {
		if _, ok := x.(pattern.Exists); ok {
			n = 1
		}
		return n == 0
	})
	return n
}

// bindVertexPredicates computes the vertices that pass the conditions where.
// Equal conditions on vertices of equal ranges share their bits.
func (b *Binding) bindVertexPredicates(v int, where []pattern.Expr) error {
	bv := &b.Vertices[v]
	var rest []pattern.Expr
	for _, x := range where {
		if r, ok := b.idRanges(x); ok {
			bv.Ranges = plan.IntersectRanges(bv.Ranges, r)
			if len(bv.Ranges) == 0 {
				b.nothing("no vertex passes " + pattern.FormatExpr(b.Pattern, x) + " and the rest")
			}
			continue
		}
		rest = append(rest, x)
	}
	if len(rest) == 0 {
		return nil
	}
	one := &pattern.Pattern{Vertices: []pattern.Vertex{{Name: "x"}}}
	texts := make([]string, len(rest))
	for i, x := range rest {
		texts[i] = pattern.FormatExpr(one, pattern.MapRefs(x, func(r pattern.Ref) pattern.Ref { return pattern.Ref{Kind: r.Kind} }))
	}
	slices.Sort(texts)
	key := fmt.Sprint(bv.Ranges, bv.Ranges == nil, texts)
	sc := b.scope()
	sc.Vertex = func(int) int { return 0 }
	pass := make([]func([]uint32, []uint64) bool, len(rest))
	for i, x := range rest {
		pass[i] = sc.Check(x) // also where the bits are known: it warns
	}
	if sc.Err != nil {
		return compiled(sc)
	}
	if bv.Bits = b.bits[key]; bv.Bits != nil {
		return nil
	}
	ranges := bv.Ranges
	if ranges == nil {
		ranges = []plan.Range{{First: 0, End: uint32(b.Graph.NumVertices())}}
	}
	bv.Bits = fillBits(b.Graph.NumVertices(), ranges, b.ended, func() func(uint32) bool {
		m := []uint32{0}
		return func(c uint32) bool {
			m[0] = c
			for _, f := range pass {
				if !f(m, nil) {
					return false
				}
			}
			return true
		}
	})
	if b.bits == nil {
		b.bits = map[string][]uint64{}
	}
	b.bits[key] = bv.Bits
	return nil
}

// maxIDRanges is the number of ids up to which id(v) IN [...] becomes ranges
// instead of bits.
const maxIDRanges = 32

// idRanges reads id(v) = x and id(v) IN [x, …] as ranges of internal ids.
func (b *Binding) idRanges(x pattern.Expr) ([]plan.Range, bool) {
	y, ok := x.(pattern.Binary)
	if !ok || y.Op != pattern.OpEq && y.Op != pattern.OpIn {
		return nil, false
	}
	id, lit := y.X, y.Y
	if _, ok := id.(pattern.ID); !ok && y.Op == pattern.OpEq {
		id, lit = lit, id
	}
	if _, ok := id.(pattern.ID); !ok {
		return nil, false
	}
	v, ok := expr.Constant(lit)
	if !ok || y.Op == pattern.OpIn && v.Kind != expr.List {
		return nil, false
	}
	items := v.List
	if y.Op == pattern.OpEq {
		items = []expr.Value{v}
	}
	var ids []uint32
	for _, item := range items {
		item = expr.LikeID(item, b.Graph.IDs.Numeric())
		var u uint32
		found := false
		switch {
		case item.Kind == expr.Int && b.Graph.IDs.Numeric():
			u, found = b.Graph.LookupInt(item.I)
		case item.Kind == expr.Text && !b.Graph.IDs.Numeric():
			u, found = b.Graph.Lookup(item.S)
		case item.Kind == expr.Float:
			return nil, false
		}
		if found {
			ids = append(ids, u)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > maxIDRanges {
		return nil, false
	}
	out := []plan.Range{}
	for _, u := range ids {
		if k := len(out); k > 0 && out[k-1].End == u {
			out[k-1].End++
		} else {
			out = append(out, plan.Range{First: u, End: u + 1})
		}
	}
	if len(out) == 0 {
		b.nothing("no vertex passes " + pattern.FormatExpr(b.Pattern, x))
	}
	return out, true
}

// addChecks compiles the conditions over several vertices and edges for the
// plan's order and puts each where all it looks at is known.
func (b *Binding) addChecks(pl *plan.Plan) {
	if len(b.Checks) == 0 {
		return
	}
	choice := make([]int, len(b.Pattern.Edges))
	for i := range pl.Edges {
		choice[pl.Edges[i].Edge] = i
	}
	sc := b.scope()
	sc.Vertex = func(v int) int { return pl.LevelOf[v] }
	sc.Edge = func(e int) int { return choice[e] }
	for _, c := range b.Checks {
		check := plan.Check{Text: c.text, Expr: c.x, Eval: sc.Check(c.x), Cost: c.cost, Outside: b.of != nil && plan.Looks(c.x)}
		level, edge := -1, -1
		for _, v := range c.vertices {
			level = max(level, pl.LevelOf[v])
		}
		for _, e := range c.edges {
			edge = max(edge, choice[e])
		}
		if edge >= 0 {
			pl.Edges[edge].Checks = append(pl.Edges[edge].Checks, check)
		} else {
			pl.Levels[level].Checks = append(pl.Levels[level].Checks, check)
		}
	}
	pl.Warnings = b.warnings
}

// Tied returns the vertices that some condition ties to those in set.
func (b *Binding) Tied(v int) (set uint32) {
	for _, c := range b.Checks {
		var m uint32
		for _, u := range c.vertices {
			m |= 1 << u
		}
		for _, e := range c.edges {
			m |= 1<<b.Pattern.Edges[e].From | 1<<b.Pattern.Edges[e].To
		}
		if m>>v&1 != 0 {
			set |= m
		}
	}
	return set &^ (1 << v)
}
