package nodiff

import (
	"context"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/pattern"
)

// planted is a pattern and a graph in which it has a match.
type planted struct {
	graph   *Spec
	pattern *pattern.Pattern
}

// plant gives p a match in s: it chooses a data vertex for each vertex of p, and
// gives these the labels, edges, times and values that p asks for. Conditions that
// do not hold then become their opposites, so that they hold. The oracle says
// whether there is a match; where p contradicts itself, p becomes weaker until
// there is one.
func plant(t *rapid.T, s *Spec, p *pattern.Pattern) planted {
	out := planted{pattern: p.Clone()}
	rng := planting(t)
	bare := func() *pattern.Pattern {
		q := *out.pattern
		q.Where = nil
		return &q
	}
	for tries := 1; ; tries++ {
		if out.graph = s.with(rng, bare()); found(out.graph, bare()) {
			break
		}
		if tries%plantings == 0 {
			out.pattern = weaken(out.pattern)
		}
	}
	where := out.pattern.Where
	out.pattern = bare()
	for _, w := range where {
		for _, x := range []pattern.Expr{w, not(w)} {
			q := *out.pattern
			q.Where = append(slices.Clip(q.Where), x)
			if found(out.graph, &q) {
				out.pattern = &q
				break
			}
		}
	}
	return out
}

// plantings is how often a match is planted before the pattern becomes weaker.
const plantings = 4

// plantAgain is plant for a pattern that stays as it is. Where no match takes root,
// the graph is first, which has one, together with s.
func plantAgain(t *rapid.T, s *Spec, p *pattern.Pattern, first *Spec) *Spec {
	rng := planting(t)
	for range plantings {
		if g := s.with(rng, p); found(g, p) {
			return g
		}
	}
	return Beside(first, s)
}

// planting draws where and how a match is planted.
func planting(t *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "planting"), 0))
}

// found reports whether p has a match in s.
func found(s *Spec, p *pattern.Pattern) bool {
	any := false
	err := oracle.Embeddings(context.Background(), s.Build(), p, func(oracle.Match) bool {
		any = true
		return false
	})
	if err != nil {
		panic(err)
	}
	return any
}

// not is the opposite of x.
func not(x pattern.Expr) pattern.Expr {
	if u, ok := x.(pattern.Unary); ok && u.Op == pattern.OpNot {
		return u.X
	}
	return pattern.Unary{Op: pattern.OpNot, X: x}
}

// weaken takes one thing from p that may contradict another.
func weaken(p *pattern.Pattern) *pattern.Pattern {
	p = p.Clone()
	if o := p.Order; o != nil && o.Within > 0 && o.Within < widest(o) {
		wide := *o
		wide.Within = widest(o)
		p.Order = &wide
		return p
	}
	for i := len(p.Edges) - 1; i >= 0; i-- {
		e := &p.Edges[i]
		if e.Negated || slices.ContainsFunc(p.Edges[:i], func(o pattern.Edge) bool {
			return o.From == e.From && o.To == e.To || o.From == e.To && o.To == e.From
		}) {
			return withoutEdge(p, i)
		}
	}
	p.Induced = false
	for i := range p.Edges {
		p.Edges[i].Label, p.Edges[i].Where = nil, nil
	}
	for i := range p.Vertices {
		p.Vertices[i].Label = nil
	}
	return p
}

// widest is a window that holds all times of a graph.
func widest(o *pattern.Order) int64 {
	if o.Duration {
		return 6e9
	}
	return 6
}

// withoutEdge is p without edge i and the conditions on it.
func withoutEdge(p *pattern.Pattern, i int) *pattern.Pattern {
	p.Edges = slices.Delete(p.Edges, i, i+1)
	move := func(r pattern.Ref) pattern.Ref {
		if r.Kind == pattern.EdgeRef && r.Index > i {
			r.Index--
		}
		return r
	}
	var kept []pattern.Expr
	for _, w := range p.Where {
		if !slices.Contains(pattern.Refs(w), pattern.Ref{Kind: pattern.EdgeRef, Index: i}) {
			kept = append(kept, pattern.MapRefs(w, move))
		}
	}
	p.Where = kept
	for e := i; e < len(p.Edges); e++ {
		for j, w := range p.Edges[e].Where {
			p.Edges[e].Where[j] = pattern.MapRefs(w, move)
		}
	}
	if p.Order != nil {
		o := *p.Order
		o.Edges = nil
		for _, e := range p.Order.Edges {
			if e != i {
				o.Edges = append(o.Edges, move(pattern.Ref{Kind: pattern.EdgeRef, Index: e}).Index)
			}
		}
		if p.Order = &o; len(o.Edges) == 1 {
			o.Edges = nil
		}
		if o.Edges == nil && o.Within == 0 || len(named(p)) < 2 {
			p.Order = nil
		}
	}
	return p
}

// planter changes a graph so that a pattern has a match there.
type planter struct {
	*rand.Rand
	s  *Spec
	p  *pattern.Pattern
	at []int // the data vertex of each pattern vertex
}

// with is s with a match of p, if p does not contradict itself.
func (s *Spec) with(rng *rand.Rand, p *pattern.Pattern) *Spec {
	out := *s
	out.Labels, out.X = slices.Clone(s.Labels), slices.Clone(s.X)
	for out.N < len(p.Vertices) {
		out.N++
		if s.Labels != nil {
			out.Labels = append(out.Labels, nil)
		}
		if s.X != nil {
			out.X = append(out.X, nil)
		}
	}
	pl := &planter{Rand: rng, s: &out, p: p}
	pl.place()
	for _, v := range pl.at {
		if x := int64(pl.IntN(8)); s.X != nil && out.X[v] == nil && x < 5 {
			out.X[v] = &x // conditions on nothing hold seldom
		}
	}
	pl.labels()
	kept := slices.DeleteFunc(slices.Clone(s.Edges), pl.inTheWay)
	out.Edges = append(kept, pl.edges()...)
	return &out
}

// place chooses the data vertices: distinct ones, or under other semantics than
// iso perhaps the same for vertices that no edge joins.
func (pl *planter) place() {
	pl.at = pl.Perm(pl.s.N)[:len(pl.p.Vertices)]
	if pl.p.Mode == pattern.Iso || pl.IntN(2) == 0 {
		return
	}
	for v := range pl.at {
		u := pl.IntN(v + 1)
		if !slices.ContainsFunc(pl.p.Edges, func(e pattern.Edge) bool {
			at := func(w int) bool { return w <= v && pl.at[w] == pl.at[u] }
			return e.From == v && at(e.To) || e.To == v && at(e.From)
		}) {
			pl.at[v] = pl.at[u]
		}
	}
}

// labels gives the data vertices labels that the pattern vertices allow.
func (pl *planter) labels() {
	if pl.s.Labels == nil {
		return
	}
	for v, at := range pl.at {
		allowed := func(have []string) bool {
			for u, x := range pl.at {
				if x == at && !accepts(pl.p.Vertices[u].Label, have) {
					return false
				}
			}
			return true
		}
		if slices.Index(pl.at, at) < v || allowed(pl.s.Labels[at]) {
			continue
		}
		first := pl.IntN(8)
		for i := range 8 {
			var have []string
			for b, name := range vertexLabels {
				if (first+i)>>b&1 != 0 {
					have = append(have, name)
				}
			}
			if allowed(have) {
				pl.s.Labels[at] = have
				break
			}
		}
	}
}

// accepts reports whether l matches what has these labels.
func accepts(l *pattern.Label, have []string) bool {
	return l.Matches(func(name string) bool { return slices.Contains(have, name) }, len(have) > 0)
}

// inTheWay reports whether a data edge joins planted vertices that the pattern may
// want apart.
func (pl *planter) inTheWay(d SpecEdge) bool {
	for u, a := range pl.at {
		for v, b := range pl.at {
			if d.U != a || d.V != b {
				continue
			}
			if pl.p.Induced || slices.ContainsFunc(pl.p.Edges, func(e pattern.Edge) bool {
				return e.Negated && (e.From == u && e.To == v || e.From == v && e.To == u)
			}) {
				return true
			}
		}
	}
	return false
}

// edges are a data edge for each edge of the pattern. Their times, or the property
// that ORDERED is on, rise in the order asked for.
func (pl *planter) edges() (out []SpecEdge) {
	o := pl.p.Order
	start := int64(pl.IntN(3))
	for i := range pl.p.Edges {
		e := &pl.p.Edges[i]
		if e.Negated {
			continue
		}
		d := SpecEdge{U: pl.at[e.From], V: pl.at[e.To]}
		if e.Dir == pattern.Either && pl.IntN(2) == 0 {
			d.U, d.V = d.V, d.U
		}
		first := pl.IntN(len(edgeLabels))
		for j := range edgeLabels {
			name := edgeLabels[(first+j)%len(edgeLabels)]
			if accepts(e.Label, labelsOf(name)) {
				d.Label = name
				break
			}
		}
		w := int64(pl.IntN(5))
		d.Time, d.W = int64(pl.IntN(6)), &w
		values := map[string]*int64{"time": &d.Time, "w": d.W}
		if o != nil && e.Named() {
			on := o.On
			if on == "" {
				on = "time"
			}
			*values[on] = start + int64(max(0, slices.Index(o.Edges, i)))
			delete(values, on)
		}
		satisfy(values, e.Where)
		out = append(out, d)
	}
	return out
}

func labelsOf(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// satisfy gives an edge's properties the first values, counted from those that they
// have, of which all comparisons with a constant hold.
func satisfy(values map[string]*int64, where []pattern.Expr) {
	for key, x := range values {
		for range 6 {
			if !slices.ContainsFunc(where, func(w pattern.Expr) bool {
				b := w.(pattern.Binary)
				own, ok := b.X.(pattern.Prop)
				y, constant := b.Y.(pattern.Lit)
				return ok && constant && own.Key == key && !compares(b.Op, *x, y.Value.(int64))
			}) {
				break
			}
			*x = (*x + 1) % 6
		}
	}
}

func compares(op pattern.Op, x, y int64) bool {
	switch op {
	case pattern.OpEq:
		return x == y
	case pattern.OpNe:
		return x != y
	case pattern.OpLt:
		return x < y
	case pattern.OpLe:
		return x <= y
	case pattern.OpGt:
		return x > y
	}
	return x >= y
}
