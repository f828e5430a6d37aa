package pattern

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// permutations calls f for each permutation of 0 … n-1.
func permutations(n int, f func([]int)) {
	perm := span(0, n)
	var rec func(int)
	rec = func(i int) {
		if i == n {
			f(perm)
			return
		}
		for j := i; j < n; j++ {
			perm[i], perm[j] = perm[j], perm[i]
			rec(i + 1)
			perm[i], perm[j] = perm[j], perm[i]
		}
	}
	rec(0)
}

func drawLabel(t *rapid.T, what string) *Label {
	switch rapid.IntRange(0, 5).Draw(t, what) {
	case 0:
		return &Label{Op: LabelName, Name: "A"}
	case 1:
		return &Label{Op: LabelOr, X: &Label{Op: LabelName, Name: "A"}, Y: &Label{Op: LabelName, Name: "B"}}
	case 2:
		return &Label{Op: LabelOr, X: &Label{Op: LabelName, Name: "B"}, Y: &Label{Op: LabelName, Name: "A"}}
	}
	return nil
}

// drawPattern draws a small pattern with some of everything attached. No two
// edges are parallel and alike.
func drawPattern(t *rapid.T, maxN int) *Pattern {
	n := rapid.IntRange(1, maxN).Draw(t, "n")
	p := shape(n, Either, nil)
	p.Mode = Mode(rapid.IntRange(0, 2).Draw(t, "mode"))
	p.Induced = rapid.Bool().Draw(t, "induced")
	rich := rapid.Bool().Draw(t, "rich")
	if rich {
		for v := range n {
			p.Vertices[v].Label = drawLabel(t, "vlabel")
		}
	}
	density := rapid.IntRange(1, 4).Draw(t, "density")
	for u := range n {
		for v := range u {
			if rapid.IntRange(0, 4).Draw(t, "edge") > density {
				continue
			}
			e := Edge{From: u, To: v, Min: 1, Max: 1}
			if rich {
				if rapid.Bool().Draw(t, "flip") {
					e.From, e.To = v, u
				}
				e.Dir = Dir(rapid.IntRange(0, 1).Draw(t, "dir"))
				e.Label = drawLabel(t, "elabel")
				e.Negated = rapid.IntRange(0, 5).Draw(t, "not") == 0
				if !e.Negated && rapid.IntRange(0, 3).Draw(t, "named") == 0 {
					e.Name = "e" + strconv.Itoa(len(p.Edges))
				}
				if rapid.IntRange(0, 4).Draw(t, "where") == 0 {
					e.Where = []Expr{Binary{OpGt, Prop{Ref{EdgeRef, len(p.Edges)}, "w"}, Lit{int64(3)}}}
				}
			}
			p.Edges = append(p.Edges, e)
		}
	}
	if rich {
		for range rapid.IntRange(0, 2).Draw(t, "predicates") {
			p.Where = append(p.Where, drawPredicate(t, p))
		}
		var named []int
		for i, e := range p.Edges {
			if e.Named() {
				named = append(named, i)
			}
		}
		if len(named) > 1 && rapid.Bool().Draw(t, "ordered") {
			p.Order = &Order{Edges: named, Within: 5}
		}
	}
	return p
}

func drawPredicate(t *rapid.T, p *Pattern) Expr {
	n := len(p.Vertices)
	v := func() int { return rapid.IntRange(0, n-1).Draw(t, "v") }
	prop := func() Expr { return Prop{Ref{VertexRef, v()}, "x"} }
	switch rapid.IntRange(0, 5).Draw(t, "form") {
	case 0:
		return Binary{OpLt, ID{v()}, ID{v()}}
	case 1:
		return Binary{OpGt, prop(), prop()}
	case 2:
		return Binary{OpOr, Binary{OpEq, prop(), prop()}, Binary{OpNe, prop(), prop()}}
	case 3:
		return Binary{OpLt, Binary{OpAdd, prop(), prop()}, prop()}
	case 4:
		return AllDifferent{[]Ref{{VertexRef, v()}, {VertexRef, v()}, {VertexRef, v()}}}
	}
	sub := shape(3, Forward, [][2]int{{0, 2}, {1, 2}})
	return Unary{OpNot, Exists{Sub: sub, Outer: []int{v(), v()}}}
}

// bruteAutomorphisms applies the definition: a permutation is an automorphism
// where the pattern, relabelled, says the same things.
func bruteAutomorphisms(p *Pattern) [][]int {
	identity := span(0, len(p.Vertices))
	want := statements(p, identity)
	var out [][]int
	permutations(len(p.Vertices), func(perm []int) {
		if slices.Equal(statements(p, perm), want) {
			out = append(out, slices.Clone(perm))
		}
	})
	return out
}

func statements(p *Pattern, perm []int) []string {
	name := func(v int) string { return plainName(perm[v]) }
	var out []string
	for v := range p.Vertices {
		out = append(out, name(v)+labelKey(p.Vertices[v].Label))
	}
	edge := func(i int) string { return edgeKey(p, i, name) }
	for i := range p.Edges {
		out = append(out, edge(i))
	}
	for _, w := range p.Where {
		out = append(out, exprKey(w, namer{name, edge}))
	}
	if p.Order != nil {
		s := "order"
		for _, i := range p.Order.Edges {
			s += edge(i)
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestAutomorphismsBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPattern(t, 6)
		want := bruteAutomorphisms(p)
		g := p.Automorphisms()
		if g.Order().Cmp(big.NewInt(int64(len(want)))) != 0 {
			t.Fatalf("order %v, want %d", g.Order(), len(want))
		}
		elems, ok := g.Elements(len(want))
		if !ok {
			t.Fatal("elements refused")
		}
		if !slices.Equal(elems[0], span(0, len(p.Vertices))) {
			t.Fatalf("first element %v is not the identity", elems[0])
		}
		slices.SortFunc(elems, slices.Compare[[]int])
		slices.SortFunc(want, slices.Compare[[]int])
		if !slices.EqualFunc(elems, want, slices.Equal[[]int]) {
			t.Fatalf("elements %v, want %v", elems, want)
		}
		checkOrbits(t, p, g, want)
		checkLeast(t, g, want)
	})
}

// checkLeast compares Least with the least of all images.
func checkLeast(t *rapid.T, g *Group, elems [][]int) {
	n := len(elems[0])
	m := rapid.Permutation(span(0, n)).Draw(t, "match")
	least := slices.Clone(m)
	for _, e := range elems {
		if image := compose(m, e); slices.Compare(image, least) < 0 {
			least = image
		}
	}
	for _, e := range elems {
		image := compose(m, e)
		got, perm := slices.Clone(image), make([]int, n)
		Least(g, got, make([]int, n), perm, cmp.Compare[int])
		if !slices.Equal(got, least) || !slices.Equal(compose(image, perm), got) || !g.Contains(perm) {
			t.Fatalf("the least image of %v is %v by %v, want %v", image, got, perm, least)
		}
	}
}

func checkOrbits(t *rapid.T, p *Pattern, g *Group, elems [][]int) {
	n := len(p.Vertices)
	fixed := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, min(n, 2), rapid.ID).Draw(t, "fixed")
	v := rapid.IntRange(0, n-1).Draw(t, "of")
	orbit := map[int]bool{}
next:
	for _, e := range elems {
		for _, f := range fixed {
			if e[f] != f {
				continue next
			}
		}
		orbit[e[v]] = true
	}
	got := g.OrbitUnder(fixed, v)
	if len(got) != len(orbit) {
		t.Fatalf("orbit of %d fixing %v is %v, want %v", v, fixed, got, orbit)
	}
	for _, w := range got {
		if !orbit[w] {
			t.Fatalf("orbit of %d fixing %v is %v, want %v", v, fixed, got, orbit)
		}
	}
}

func TestGroupOrders(t *testing.T) {
	factorial := func(n int64) *big.Int { return new(big.Int).MulRange(1, n) }
	f16 := factorial(16)
	for _, c := range []struct {
		name string
		want *big.Int
	}{
		{"star(31)", factorial(31)},
		{"clique(32)", factorial(32)},
		{"bipartite(16,16)", new(big.Int).Mul(big.NewInt(2), new(big.Int).Mul(f16, f16))},
		{"cycle(32)", big.NewInt(64)},
		{"path(32)", big.NewInt(2)},
		{"temporal_cycle(32)", big.NewInt(1)},
		{"gather_scatter(15)", new(big.Int).Mul(factorial(15), factorial(15))},
		{"scatter_gather(30)", factorial(30)},
		{"feed_forward_loop", big.NewInt(1)},
		{"bifan", big.NewInt(4)},
		{"house", big.NewInt(2)},
		{"bowtie", big.NewInt(8)},
		{"stmatch:q24", factorial(7)},
	} {
		ps, err := ByName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if got := ps[0].Automorphisms().Order(); got.Cmp(c.want) != 0 {
			t.Errorf("%s: order %v, want %v", c.name, got, c.want)
		}
		ps[0].Canonical()
		if d := time.Since(start); d > 3*time.Minute {
			t.Errorf("%s took %v", c.name, d)
		} else {
			t.Logf("%s: %v", c.name, d)
		}
	}
}

func TestIDOrderMakesGroupSmaller(t *testing.T) {
	p := mustEdges(Either, "0-1 0-2 1-2")
	p.Where = []Expr{Binary{OpLt, ID{0}, ID{1}}}
	if got := p.Automorphisms().Order().Int64(); got != 1 {
		t.Errorf("triangle with id(a) < id(b): order %d, want 1", got)
	}
	p.Where = []Expr{Binary{OpNe, Prop{Ref{VertexRef, 0}, "x"}, Prop{Ref{VertexRef, 1}, "x"}}}
	if got := p.Automorphisms().Order().Int64(); got != 2 {
		t.Errorf("triangle with a.x <> b.x: order %d, want 2", got)
	}
}

func TestElementsRefusesLargeGroups(t *testing.T) {
	ps, _ := ByName("clique(6)")
	if _, ok := ps[0].Automorphisms().Elements(719); ok {
		t.Error("720 elements listed where at most 719 were allowed")
	}
}

// TestPlainStructure: the short way to the group and the general one find the
// same group, for patterns of both kinds.
func TestPlainStructure(t *testing.T) {
	plain, discrete := 0, 0
	property := func(t *rapid.T) {
		p := drawPattern(t, 6)
		g := p.Automorphisms()
		if x, ok := plainOf(p, nil); ok {
			plain++
			if x.discrete() {
				discrete++
			}
			s, s2 := x.structure(), newStructure(p, nil)
			short, general := newGroup(s, s.vertex), newGroup(s2, s2.vertex)
			permutations(len(p.Vertices), func(perm []int) {
				want := general.Contains(perm)
				if got := short.Contains(perm); got != want || g.Contains(perm) != want {
					t.Fatalf("%s: %v an automorphism: %v and %v, want %v", Format(p), perm, got, g.Contains(perm), want)
				}
			})
		}
		order := rapid.Permutation(span(0, len(p.Vertices))).Draw(t, "order")
		for l, got := range g.OrbitsAlong(order) {
			var want uint32
			for _, v := range g.Stabilizer(order[:l]).OrbitUnder(nil, order[l]) {
				want |= 1 << v
			}
			if got != want {
				t.Fatalf("%s: orbit %d along %v is %b, want %b", Format(p), l, order, got, want)
			}
		}
	}
	// A few draws may have no pattern of either kind.
	for round := 0; round < 50 && (plain == 0 || discrete == 0) && !t.Failed(); round++ {
		rapid.Check(t, property)
	}
	if plain == 0 || discrete == 0 {
		t.Errorf("%d patterns took the short way, to the end %d", plain, discrete)
	}
}
