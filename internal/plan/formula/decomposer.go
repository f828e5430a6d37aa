// Package formula expresses a count as arithmetic over the counts of smaller or simpler
// patterns. It does so at cut vertices, for induced patterns, by closed walks, and for trails.
//
// A caller gives it a function that makes plans. It must not know how plans are made.
package formula

import (
	"context"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Decomposer writes counts as formulas over smaller counts, and reuses the plans that several
// patterns need: the 21 motifs of five vertices need a handful of plans.
//
// At a cut vertex c a pattern splits into A and B that share only c, so
//
//	embeddings(P) = Σ_v A(v)·B(v) − Σ_M embeddings(P/M)
//
// where A(v) and B(v) count embeddings with c at v, and M runs over the ways to let vertices of
// A and B coincide. DecoMine calls P/M the shrinkage patterns; ESCAPE uses the same for five
// vertices. Under hom vertices may coincide, so nothing is subtracted. An induced count is
//
//	induced(P) = Σ_S (−1)^|S| embeddings(P + S)
//
// over the sets S of absent edges. The embeddings of a cycle of five vertices are the closed
// walks of length five without those that meet themselves.
type Decomposer struct {
	g       *graph.Graph
	o       plan.Options
	compile func(*graph.Graph, *pattern.Pattern, plan.Options) (*plan.Plan, error)
	memo    map[string]*plan.Formula
	direct  map[string]*plan.Plan
	rooted  map[string]*plan.Plan
	paid    map[*plan.Plan]bool // plans that will run anyway
	canon   map[string]string
}

// New returns an empty decomposer for patterns in g, whose plans compile
// makes.
func New(g *graph.Graph, o plan.Options, compile func(*graph.Graph, *pattern.Pattern, plan.Options) (*plan.Plan, error)) *Decomposer {
	o.Root, o.Method = plan.NoRoot, "direct"
	if o.Order == "given" { // an order of another pattern's vertices
		o.Order, o.Given = "", nil
	}
	// On a small graph any plan is good enough, and planning takes most of the time.
	o.Quick = o.Quick || g.Stats().SumSquares < quickSquares
	return &Decomposer{g: g, o: o, compile: compile, memo: map[string]*plan.Formula{}, direct: map[string]*plan.Plan{}, rooted: map[string]*plan.Plan{}, paid: map[*plan.Plan]bool{}, canon: map[string]string{}}
}

// quickSquares is the sum of squared degrees below which orders are chosen
// without random walks.
const quickSquares = 1e6

// maxDecomposed is the largest pattern that formulas are made for: beyond, the
// merged patterns become too many.
const maxDecomposed = 7

// Decomposable says why p has no formula, or nil.
func Decomposable(p *pattern.Pattern) error {
	switch {
	case p.Mode == pattern.Trail:
		return fmt.Errorf("formulas count under iso and hom only")
	case len(p.Vertices) > maxDecomposed:
		return fmt.Errorf("formulas are for patterns of at most %d vertices", maxDecomposed)
	case len(p.Where) > 0 || p.Order != nil:
		return fmt.Errorf("predicates over several vertices have no formula")
	case !p.Connected():
		return fmt.Errorf("the pattern is not connected")
	case p.Induced && len(p.Vertices) > 5:
		return fmt.Errorf("induced formulas are for patterns of at most five vertices")
	}
	seen := map[[2]int]bool{}
	for i := range p.Edges {
		e := &p.Edges[i]
		k := [2]int{min(e.From, e.To), max(e.From, e.To)}
		if e.Named() || e.Negated || e.Label != nil || e.Dir != pattern.Either || len(e.Where) > 0 || seen[k] {
			return fmt.Errorf("edges with directions, labels, names or predicates have no formula")
		}
		seen[k] = true
	}
	return nil
}

// Formula returns the cheapest formula found for the number of embeddings of p;
// it may be the single term of p's own plan. Where the context of the decomposer's
// options ends first the error is its cause.
func (d *Decomposer) Formula(p *pattern.Pattern) (*plan.Formula, error) {
	if d.o.Ended() {
		return nil, context.Cause(d.o.Context)
	}
	if err := Decomposable(p); err != nil {
		return nil, err
	}
	key := d.canonical(p)
	if f := d.memo[key]; f != nil {
		return f, nil
	}
	best, err := d.decomposed(p)
	if err != nil {
		return nil, err
	}
	// Where everything that a formula needs runs anyway, no other plan can win.
	if best == nil || best.Cost > 0 {
		whole, err := d.whole(p)
		if err != nil {
			return nil, err
		}
		if best == nil || whole.Cost <= best.Cost {
			best = whole
		}
	}
	d.memo[key] = best
	return best, nil
}

// Decomposition returns the cheapest formula that does not count p by its own plan. It returns
// nil if there is none: p is not induced, has no cut vertex, and is not a cycle of five.
func (d *Decomposer) Decomposition(p *pattern.Pattern) (*plan.Formula, error) {
	if d.o.Ended() {
		return nil, context.Cause(d.o.Context)
	}
	if err := Decomposable(p); err != nil {
		return nil, err
	}
	return d.decomposed(p)
}

func (d *Decomposer) decomposed(p *pattern.Pattern) (*plan.Formula, error) {
	if p.Induced {
		return d.induced(p)
	}
	best, err := d.cycle(p)
	for _, c := range p.CutVertices() {
		if err != nil {
			return nil, err
		}
		var f *plan.Formula
		if f, err = d.cut(p, c); err == nil && (best == nil || f.Cost < best.Cost) {
			best = f
		}
	}
	return best, err
}

// Known says that pl is a plan of p.
func (d *Decomposer) Known(p *pattern.Pattern, pl *plan.Plan) { d.direct[d.canonical(p)] = pl }

// Pay says that the plans of f will run: formulas that use them again get them
// for nothing. Formulas priced before are forgotten.
func (d *Decomposer) Pay(f *plan.Formula) {
	for _, x := range f.Terms {
		for _, pl := range append([]*plan.Plan{x.Plan}, x.Dot...) {
			if pl != nil {
				d.paid[pl] = true
			}
		}
	}
	clear(d.memo)
}

// canonical is p.Canonical, remembered by how p is written: inclusion–exclusion
// meets the same few patterns hundreds of times.
func (d *Decomposer) canonical(p *pattern.Pattern) string {
	var edges uint64 // a bit for each pair of at most seven vertices
	for i := range p.Edges {
		u, v := min(p.Edges[i].From, p.Edges[i].To), max(p.Edges[i].From, p.Edges[i].To)
		edges |= 1 << (v*(v-1)/2 + u)
	}
	if len(p.Vertices) > maxDecomposed || Decomposable(p) != nil {
		return p.Canonical()
	}
	key := fmt.Sprint(len(p.Vertices), edges, p.Induced, p.Mode)
	for v := range p.Vertices {
		if l := p.Vertices[v].Label; l != nil {
			key += fmt.Sprintf(" %d:%s", v, l)
		}
	}
	c, ok := d.canon[key]
	if !ok {
		c = p.Canonical()
		d.canon[key] = c
	}
	return c
}

// whole is the formula that counts p by its own plan.
func (d *Decomposer) whole(p *pattern.Pattern) (*plan.Formula, error) {
	key := d.canonical(p)
	pl := d.direct[key]
	if pl == nil {
		var err error
		if pl, err = d.compile(d.g, p, d.o); err != nil {
			return nil, err
		}
		d.direct[key] = pl
	}
	var t terms
	t.add(plan.FormulaTerm{Coef: 1, Plan: pl}, 1)
	return d.formula(&t, "counted directly"), nil
}

// induced sums over the sets of absent edges.
func (d *Decomposer) induced(p *pattern.Pattern) (*plan.Formula, error) {
	n := len(p.Vertices)
	var absent [][2]int
	for u := range n {
		for v := range u {
			if !slices.ContainsFunc(p.Edges, func(e pattern.Edge) bool {
				return e.From == u && e.To == v || e.From == v && e.To == u
			}) {
				absent = append(absent, [2]int{v, u})
			}
		}
	}
	var t terms
	for s := range 1 << len(absent) {
		q := p.Clone()
		q.Induced, q.Name = false, ""
		c := int64(1)
		for i, a := range absent {
			if s>>i&1 != 0 {
				q.Edges = append(q.Edges, pattern.Edge{From: a[0], To: a[1], Min: 1, Max: 1})
				c = -c
			}
		}
		f, err := d.Formula(q)
		if err != nil {
			return nil, err
		}
		t.scaled(f, c)
	}
	return d.formula(&t, fmt.Sprintf("induced count from edge-induced ones, by inclusion–exclusion over the %d absent edges", len(absent))), nil
}

// cut decomposes p at cut vertex c into one of the parts and the rest; the part
// that makes the cheapest formula wins.
func (d *Decomposer) cut(p *pattern.Pattern, c int) (*plan.Formula, error) {
	comp := make([]int, len(p.Vertices))
	for i := range comp {
		comp[i] = -1
	}
	parts := 0
	for v := range comp {
		if v == c || comp[v] >= 0 {
			continue
		}
		flood(p, v, c, parts, comp)
		parts++
	}
	var best *plan.Formula
	for part := range parts {
		var a, b []int
		for v := range comp {
			switch {
			case v == c:
			case comp[v] == part:
				a = append(a, v)
			default:
				b = append(b, v)
			}
		}
		if part > 0 && parts == 2 {
			break // the mirror image of part 0
		}
		f, err := d.join(p, c, a, b)
		if err != nil {
			return nil, err
		}
		if best == nil || f.Cost < best.Cost {
			best = f
		}
	}
	return best, nil
}

func flood(p *pattern.Pattern, v, c, part int, comp []int) {
	comp[v] = part
	for i := range p.Edges {
		e := &p.Edges[i]
		for _, x := range [][2]int{{e.From, e.To}, {e.To, e.From}} {
			if x[0] == v && x[1] != c && comp[x[1]] < 0 {
				flood(p, x[1], c, part, comp)
			}
		}
	}
}

// join is Σ_v A(v)·B(v) less the merged patterns.
func (d *Decomposer) join(p *pattern.Pattern, c int, a, b []int) (*plan.Formula, error) {
	ra, err := d.root(p, c, a)
	if err != nil {
		return nil, err
	}
	rb, err := d.root(p, c, b)
	if err != nil {
		return nil, err
	}
	var t terms
	t.add(plan.FormulaTerm{Coef: 1, Dot: []*plan.Plan{ra, rb}}, 1)
	image := make([]int, len(p.Vertices))
	for i := range image {
		image[i] = i
	}
	used := map[int]bool{}
	var merge func(i, merged int) error
	merge = func(i, merged int) error {
		if i == len(a) {
			if merged == 0 {
				return nil
			}
			f, err := d.Formula(mergeVertices(p, image))
			if err != nil {
				return err
			}
			t.scaled(f, -1)
			return nil
		}
		if err := merge(i+1, merged); err != nil {
			return err
		}
		for _, v := range b {
			if used[v] {
				continue
			}
			used[v], image[a[i]] = true, v
			if err := merge(i+1, merged+1); err != nil {
				return err
			}
			delete(used, v)
			image[a[i]] = a[i]
		}
		return nil
	}
	if p.Mode == pattern.Iso {
		if err := merge(0, 0); err != nil {
			return nil, err
		}
	}
	return d.formula(&t, fmt.Sprintf("cut at vertex %s into parts of %d and %d vertices", p.VertexName(c), len(a)+1, len(b)+1)), nil
}

// root compiles the part of p on c and vs, rooted at c.
func (d *Decomposer) root(p *pattern.Pattern, c int, vs []int) (*plan.Plan, error) {
	q := p.SubPattern(append([]int{c}, vs...))
	q.Name = ""
	key := rootKey(q)
	if pl := d.rooted[key]; pl != nil {
		return pl, nil
	}
	o := d.o
	o.Root = 0
	pl, err := d.compile(d.g, q, o)
	if err != nil {
		return nil, err
	}
	d.rooted[key] = pl
	return pl, nil
}

// rootKey is the canonical form of q with vertex 0 marked.
func rootKey(q *pattern.Pattern) string {
	m := q.Clone()
	mark := &pattern.Label{Op: pattern.LabelName, Name: "\x00root"}
	if l := m.Vertices[0].Label; l != nil {
		mark = &pattern.Label{Op: pattern.LabelAnd, X: l, Y: mark}
	}
	m.Vertices[0].Label = mark
	return m.Canonical()
}

// mergeVertices lets each vertex v coincide with image[v]; edges that fall
// together become one.
func mergeVertices(p *pattern.Pattern, image []int) *pattern.Pattern {
	q := &pattern.Pattern{Mode: p.Mode}
	at := make([]int, len(image))
	for v, to := range image {
		if v == to {
			at[v] = len(q.Vertices)
			q.Vertices = append(q.Vertices, pattern.Vertex{Label: p.Vertices[v].Label})
		}
	}
	for v, to := range image {
		if v == to {
			continue
		}
		at[v] = at[to]
		w := &q.Vertices[at[v]]
		switch l := p.Vertices[v].Label; {
		case w.Label == nil:
			w.Label = l
		case l != nil && l.String() != w.Label.String():
			w.Label = &pattern.Label{Op: pattern.LabelAnd, X: w.Label, Y: l}
		}
	}
	seen := map[[2]int]bool{}
	for i := range p.Edges {
		u, v := at[p.Edges[i].From], at[p.Edges[i].To]
		k := [2]int{min(u, v), max(u, v)}
		if !seen[k] {
			seen[k] = true
			q.Edges = append(q.Edges, pattern.Edge{From: k[0], To: k[1], Min: 1, Max: 1})
		}
	}
	return q
}

// cycle counts a cycle of five unlabelled vertices by closed walks. A closed walk of length
// five that meets itself runs through a triangle with a tail (five ways) or through a triangle
// (five ways).
func (d *Decomposer) cycle(p *pattern.Pattern) (*plan.Formula, error) {
	if len(p.Vertices) != 5 || len(p.Edges) != 5 || p.Mode != pattern.Iso {
		return nil, nil
	}
	degree := make([]int, 5)
	for i := range p.Edges {
		degree[p.Edges[i].From]++
		degree[p.Edges[i].To]++
	}
	for v, k := range degree {
		if k != 2 || p.Vertices[v].Label != nil {
			return nil, nil
		}
	}
	walk := p.Clone()
	walk.Mode, walk.Name = pattern.Hom, ""
	key := walk.Canonical()
	pl := d.direct[key]
	if pl == nil {
		var err error
		if pl, err = d.compile(d.g, walk, plan.Options{Root: plan.NoRoot, Method: "walks", Context: d.o.Context}); err != nil {
			return nil, err
		}
		d.direct[key] = pl
	}
	var t terms
	t.add(plan.FormulaTerm{Coef: 1, Plan: pl}, 1)
	for _, name := range []string{"tailed_triangle", "triangle"} {
		q, err := pattern.ByName(name)
		if err != nil {
			return nil, err
		}
		f, err := d.Formula(q[0])
		if err != nil {
			return nil, err
		}
		t.scaled(f, -5)
	}
	return d.formula(&t, "closed walks of length five less those that meet themselves"), nil
}

// formula prices the terms.
func (d *Decomposer) formula(t *terms, why string) *plan.Formula {
	f := &plan.Formula{Terms: t.left(), Why: why}
	seen := map[*plan.Plan]bool{}
	for _, x := range f.Terms {
		for _, pl := range append([]*plan.Plan{x.Plan}, x.Dot...) {
			if pl != nil && !seen[pl] && !d.paid[pl] {
				seen[pl] = true
				f.Cost += pl.Work()
			}
		}
	}
	return f
}
