package large

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// A caseOf is a data graph and a plan over it.
type caseOf struct {
	w *world
	p *plan.Plan
}

// anyCase draws a small labelled graph and a constraint graph over it. The constraint graph has links in
// any direction, several links between the same two variables, and negative links. It has bitmaps of
// vertices, least degrees and overlapping label ranges. With restrict it also has restrictions between
// variables of the same range.
func anyCase(t *rapid.T, restrict bool) caseOf {
	nv := rapid.IntRange(1, 14).Draw(t, "vertices")
	labels := rapid.IntRange(1, 4).Draw(t, "labels")
	directed := rapid.Bool().Draw(t, "directed")
	var r raw
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	for range nv {
		r.label = append(r.label, rng.IntN(labels))
	}
	dense := rapid.IntRange(0, 10).Draw(t, "density")
	for u := range nv {
		for v := range nv {
			if u != v && (directed || u < v) && rng.IntN(12) < dense {
				r.edges = append(r.edges, [2]int{u, v})
			}
		}
	}
	w := newWorld(r, directed)
	n := rapid.IntRange(1, 6).Draw(t, "levels")
	p := &plan.Plan{Graph: w.g, Mode: pattern.Iso, Method: plan.Large, Aut: big.NewInt(1)}
	if directed {
		p.Adjs = []plan.Adjacency{{Lists: w.g.Handle(w.g.Out.Lists()), Rev: 1}, {Lists: w.g.Handle(w.g.In.Lists()), Rev: 0}}
	} else {
		p.Adjs = []plan.Adjacency{{Lists: w.g.Handle(w.g.Out.Lists())}}
	}
	adj := rapid.IntRange(0, len(p.Adjs)-1)
	p.LevelOf = rapid.Permutation(seq(n)).Draw(t, "order")
	p.Order = make([]int, n)
	for v, i := range p.LevelOf {
		p.Order[i] = v
	}
	free := rapid.IntRange(0, 9).Draw(t, "product") == 0
	for i := range n {
		l := plan.Level{Vertex: p.Order[i], Set: -1}
		switch rapid.IntRange(0, 5).Draw(t, "range") {
		case 0: // any vertex
		case 1:
			a := rapid.IntRange(0, nv).Draw(t, "first")
			b := rapid.IntRange(a, nv).Draw(t, "end")
			l.Ranges = []plan.Range{{First: uint32(a), End: uint32(b)}}
		case 2:
			a := rapid.IntRange(0, nv).Draw(t, "first")
			b := rapid.IntRange(a, nv).Draw(t, "end")
			c := rapid.IntRange(b, nv).Draw(t, "first2")
			l.Ranges = []plan.Range{{First: uint32(a), End: uint32(b)}, {First: uint32(c), End: uint32(nv)}}
		default:
			l.Ranges = []plan.Range{w.rng[r.label[rapid.IntRange(0, nv-1).Draw(t, "like")]]}
		}
		if rapid.IntRange(0, 7).Draw(t, "bits") == 0 {
			l.Bits = []uint64{rapid.Uint64().Draw(t, "bitmap")}
		}
		if rapid.IntRange(0, 5).Draw(t, "degree") == 0 {
			l.MinDegree = rapid.IntRange(1, 4).Draw(t, "mindegree")
			l.MinDegreeAdj = adj.Draw(t, "minadj")
		}
		if i > 0 && !free {
			l.Back = append(l.Back, plan.Back{Level: rapid.IntRange(0, i-1).Draw(t, "parent"), Adj: adj.Draw(t, "adj")})
		}
		for j := range i {
			if x := rapid.IntRange(0, 9).Draw(t, "more"); x < 3 {
				l.Back = append(l.Back, plan.Back{Level: j, Adj: adj.Draw(t, "adj"), Neg: x == 0})
			}
			if restrict && slices.Equal(l.Ranges, levelsRange(p, j)) {
				switch rapid.IntRange(0, 5).Draw(t, "restriction") {
				case 0:
					l.Below = append(l.Below, j)
				case 1:
					l.Above = append(l.Above, j)
				}
			}
		}
		p.Levels = append(p.Levels, l)
	}
	p.Restricted = restrict
	return caseOf{w, p}
}

func levelsRange(p *plan.Plan, j int) []plan.Range { return p.Levels[j].Ranges }

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// brute lists the matches of a plan by trying every vertex at every level.
func brute(c caseOf, restrict bool) []string {
	var found []string
	n := len(c.p.Levels)
	m := make([]uint32, n)
	has := func(a int, u, v uint32) bool {
		return c.p.Adjs[a].Lists.Has(u, v)
	}
	var try func(i int)
	try = func(i int) {
		if i == n {
			row := make([]uint32, n)
			for j, v := range m {
				row[c.p.Levels[j].Vertex] = v
			}
			found = append(found, fmt.Sprint(row))
			return
		}
		l := &c.p.Levels[i]
	next:
		for v := range uint32(c.w.g.NumVertices()) {
			in := l.Ranges == nil
			for _, r := range l.Ranges {
				in = in || r.First <= v && v < r.End
			}
			if !in || slices.Contains(m[:i], v) ||
				l.Bits != nil && l.Bits[v>>6]>>(v&63)&1 == 0 ||
				l.MinDegree > 0 && c.p.Adjs[l.MinDegreeAdj].Lists.Degree(v) < l.MinDegree {
				continue
			}
			for _, b := range l.Back {
				if has(b.Adj, m[b.Level], v) == b.Neg {
					continue next
				}
			}
			if restrict {
				for _, j := range l.Below {
					if v >= m[j] {
						continue next
					}
				}
				for _, j := range l.Above {
					if v <= m[j] {
						continue next
					}
				}
			}
			m[i] = v
			try(i + 1)
		}
	}
	try(0)
	slices.Sort(found)
	return found
}

// A keeper is a sink that keeps every row.
type keeper struct {
	mu   sync.Mutex
	rows []string
	stop int // ErrStop after this many rows
}

func (k *keeper) Emit(worker int, b *engine.Batch) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range b.Rows {
		k.rows = append(k.rows, fmt.Sprint(b.Vertices[i*b.Width:(i+1)*b.Width]))
	}
	if k.stop > 0 && len(k.rows) >= k.stop {
		return engine.ErrStop
	}
	return nil
}

// eager makes runs of a few nodes use several workers and split all they can, in
// whatever order these workers begin.
func eager(t testing.TB) {
	a, b := startAfter, attendEvery
	startAfter, attendEvery, generous = 1, 1, true
	t.Cleanup(func() { startAfter, attendEvery, generous = a, b, false })
}

func TestNoDiff(t *testing.T) {
	for _, threads := range []int{1, 3} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			eager(t)
			rapid.Check(t, func(t *rapid.T) {
				checkCase(t, anyCase(t, false), threads)
			})
		})
	}
}

func checkCase(t *rapid.T, c caseOf, threads int) {
	want := brute(c, false)
	res, err := Run(context.Background(), c.w.g, c.p, engine.Options{Threads: threads}, engine.Goal{})
	if err != nil || !res.Complete || res.Matches.Cmp(engine.U64(uint64(len(want)))) != 0 {
		t.Fatalf("counted %v (complete %v, %v), brute force %d", res.Matches, res.Complete, err, len(want))
	}
	checkList(t, c, threads, want)
}

func checkList(t *rapid.T, c caseOf, threads int, want []string) {
	var k keeper
	res, err := Run(context.Background(), c.w.g, c.p, engine.Options{Threads: threads}, engine.Goal{Sink: &k})
	slices.Sort(k.rows)
	if err != nil || !res.Complete || !slices.Equal(k.rows, want) {
		t.Fatalf("listed %d (complete %v, %v), brute force %d\n%v\n%v", len(k.rows), res.Complete, err, len(want), k.rows, want)
	}
	if res.Matches.Cmp(engine.U64(uint64(len(want)))) != 0 {
		t.Fatalf("listing says %v, brute force %d", res.Matches, len(want))
	}
	all, err := Run(context.Background(), c.w.g, c.p, engine.Options{Threads: threads}, engine.Goal{Limit: int64(len(want)) + 1})
	if err != nil || !all.Complete || all.Matches.Cmp(engine.U64(uint64(len(want)))) != 0 {
		t.Fatalf("limit %d of %d: %v matches, complete %v, %v", len(want)+1, len(want), all.Matches, all.Complete, err)
	}
	if len(want) > 1 {
		limit := 1 + len(want)/2
		res, err := Run(context.Background(), c.w.g, c.p, engine.Options{Threads: threads}, engine.Goal{Limit: int64(limit)})
		if err != nil || res.Complete || res.Matches.Cmp(engine.U64(uint64(limit))) != 0 {
			t.Fatalf("limit %d of %d: %v matches, complete %v, %v", limit, len(want), res.Matches, res.Complete, err)
		}
		k := keeper{stop: 1}
		res, err = Run(context.Background(), c.w.g, c.p, engine.Options{Threads: threads}, engine.Goal{Sink: &k})
		if err != nil || res.Complete != (len(k.rows) == len(want)) && res.Complete {
			t.Fatalf("stopped sink: %d rows of %d, complete %v, %v", len(k.rows), len(want), res.Complete, err)
		}
	}
}

// TestNoDiffRestricted lists with restrictions. The count of a restricted plan
// is embeddings / |Aut|, which holds only for real patterns: TestSubgraphs.
func TestNoDiffRestricted(t *testing.T) {
	eager(t)
	rapid.Check(t, func(t *rapid.T) {
		c := anyCase(t, true)
		checkList(t, c, rapid.IntRange(1, 3).Draw(t, "threads"), brute(c, true))
	})
}

// TestSubgraphs counts cliques, stars and cycles with restrictions.
func TestSubgraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 5).Draw(t, "n")
		q := raw{label: make([]int, n)}
		aut := 1
		var below [][2]int // first < second
		switch rapid.IntRange(0, 1).Draw(t, "shape") {
		case 0: // clique
			for i := range n {
				aut *= i + 1
				for j := range i {
					q.edges = append(q.edges, [2]int{j, i})
					below = append(below, [2]int{j, i})
				}
			}
		case 1: // star
			for i := 1; i < n; i++ {
				aut *= i
				q.edges = append(q.edges, [2]int{0, i})
				for j := 1; j < i; j++ {
					below = append(below, [2]int{j, i})
				}
			}
		}
		var r raw
		nv := rapid.IntRange(n, 16).Draw(t, "vertices")
		r.label = make([]int, nv)
		for v := range nv {
			for u := range v {
				if rapid.Bool().Draw(t, "edge") {
					r.edges = append(r.edges, [2]int{u, v})
				}
			}
		}
		w := newWorld(r, false)
		p := planFor(w, q)
		p.Aut = big.NewInt(int64(aut))
		p.Restricted = true
		for _, b := range below {
			i, j := p.LevelOf[b[0]], p.LevelOf[b[1]]
			if i < j {
				p.Levels[j].Above = append(p.Levels[j].Above, i)
			} else {
				p.Levels[i].Below = append(p.Levels[i].Below, j)
			}
		}
		want := brute(caseOf{w, p}, true)
		res, err := Run(context.Background(), w.g, p, engine.Options{Threads: 2}, engine.Goal{})
		if err != nil || res.Matches.Cmp(engine.U64(uint64(len(want)))) != 0 {
			t.Fatalf("counted %v (%v), brute force %d", res.Matches, err, len(want))
		}
		checkList(t, caseOf{w, p}, 2, want)
	})
}

func TestSupports(t *testing.T) {
	refused := []*plan.Plan{
		{Mode: pattern.Hom}, {Mode: pattern.Trail}, {Rooted: true},
		{Edges: make([]plan.EdgeChoice, 1)},
		{Levels: make([]plan.Level, maxVars+1)},
		{Levels: []plan.Level{{Checks: make([]plan.Check, 1)}}},
	}
	for i, p := range refused {
		if Supports(p) == nil {
			t.Errorf("plan %d is not refused", i)
		}
	}
	if err := Supports(&plan.Plan{Levels: make([]plan.Level, maxVars)}); err != nil {
		t.Error(err)
	}
}

// TestOverflow: a count beyond 128 bits is an error, not a remainder.
func TestOverflow(t *testing.T) {
	q := raw{label: make([]int, 41)}
	for i := 1; i <= 40; i++ {
		q.edges = append(q.edges, [2]int{0, i})
	}
	r := raw{label: make([]int, 4000)}
	for i := 1; i < 4000; i++ {
		r.edges = append(r.edges, [2]int{0, i})
	}
	w := newWorld(r, false)
	if _, err := Run(context.Background(), w.g, planFor(w, q), engine.Options{Threads: 1}, engine.Goal{}); !errors.Is(err, engine.ErrOverflow) {
		t.Fatalf("error %v", err)
	}
}

// TestSharedCounts: if other workers count a part of a component, the rest of its count is not kept as
// the whole. Each vertex of a path has candidates that are all adjacent to those of the next vertex. So
// the rest of the path is the same below each of them.
func TestSharedCounts(t *testing.T) {
	eager(t)
	const n, each = 8, 3
	var q, r raw
	for v := range n {
		q.label = append(q.label, v)
		if v > 0 {
			q.edges = append(q.edges, [2]int{v - 1, v})
		}
		for i := range each {
			r.label = append(r.label, v)
			for j := range each {
				if v > 0 {
					r.edges = append(r.edges, [2]int{(v-1)*each + j, v*each + i})
				}
			}
		}
	}
	w := newWorld(r, false)
	want := engine.U64(1)
	for range n {
		want = want.Mul64(each)
	}
	for threads := 1; threads <= 3; threads++ {
		res, err := Run(context.Background(), w.g, planFor(w, q), engine.Options{Threads: threads}, engine.Goal{})
		if err != nil || res.Matches != want {
			t.Errorf("%d threads count %v, want %v: %v", threads, res.Matches, want, err)
		}
	}
}

// TestSharedComponents: of the components that a vertex leaves, only the last gives candidates to other workers, which know the
// counts of the others. Two paths hang on the vertex, and every vertex of a path has candidates that are all adjacent to those of the next.
func TestSharedComponents(t *testing.T) {
	eager(t)
	const paths, n, each = 2, 4, 3
	q, r := raw{label: []int{0}}, raw{label: []int{0}}
	want := engine.U64(1)
	for range paths {
		above := []int{0} // candidates of the vertex above
		for i := range n {
			v := len(q.label)
			q.label = append(q.label, v)
			near := v - 1
			if i == 0 {
				near = 0
			}
			q.edges = append(q.edges, [2]int{near, v})
			var here []int
			for range each {
				c := len(r.label)
				r.label, here = append(r.label, v), append(here, c)
				for _, a := range above {
					r.edges = append(r.edges, [2]int{a, c})
				}
			}
			above = here
			want = want.Mul64(each)
		}
	}
	w := newWorld(r, false)
	for threads := 1; threads <= 3; threads++ {
		res, err := Run(t.Context(), w.g, planFor(w, q), engine.Options{Threads: threads}, engine.Goal{})
		if err != nil || res.Matches != want {
			t.Errorf("%d threads count %v, want %v: %v", threads, res.Matches, want, err)
		}
	}
}

// failures is a case in which a branching's first candidates fail late. Counts and listings branch on a first, because it has leaves, and then
// on u, all of whose candidates each candidate of a is linked to. as has the candidates of x that each candidate of a is linked to. The
// first candidate of u is consistent along each edge, but it is in no triangle of u, x and y; the second one is in one, with the last candidates of x and y.
func failures(as [][]int) caseOf {
	const (
		a, u, x, y    = 0, 1, 2, 3
		pairs, leaves = 4, 13          // leaves of two candidates, all leaves; those of one have no part in a count's choice
		decoy         = y + leaves + 1 // not in the pattern
	)
	q := raw{label: []int{a, u, x, y}, edges: [][2]int{{a, u}, {a, x}, {a, y}, {u, x}, {x, y}, {y, u}}}
	for i := range leaves {
		q.label = append(q.label, y+1+i)
		q.edges = append(q.edges, [2]int{a, y + 1 + i})
	}
	var r raw
	vertices := map[int][]int{}
	add := func(label, n int) {
		for range n {
			vertices[label] = append(vertices[label], len(r.label))
			r.label = append(r.label, label)
		}
	}
	link := func(l, i, m, j int) { r.edges = append(r.edges, [2]int{vertices[l][i], vertices[m][j]}) }
	for label, n := range []int{a: len(as), u: 2, x: 3, y: 3} {
		add(label, n)
	}
	add(decoy, 5)
	for i := range leaves {
		add(y+1+i, 1)
		if i < pairs {
			add(y+1+i, 1)
		}
	}
	for i, xs := range as {
		for label := u; label < decoy; label++ {
			for j := range vertices[label] {
				if label != x || slices.Contains(xs, j) {
					link(a, i, label, j)
				}
			}
		}
	}
	for _, e := range [][4]int{
		{u, 0, x, 0}, {u, 0, y, 0}, {x, 0, y, 1}, {x, 1, y, 0}, // no triangle
		{u, 1, x, 1}, {u, 1, y, 1},
		{u, 1, x, 2}, {u, 1, y, 2}, {x, 2, y, 2}, // the triangle
	} {
		link(e[0], e[1], e[2], e[3])
	}
	for i := range vertices[decoy] { // the vertex with the higher degree is the first candidate
		link(u, 0, decoy, i)
	}
	w := newWorld(r, false)
	return caseOf{w, planFor(w, q)}
}

// checkFailures compares counts and listings with brute force.
func checkFailures(t *testing.T, c caseOf, matches int) {
	t.Helper()
	want := brute(c, false)
	if len(want) != matches {
		t.Fatalf("%d matches, not %d", len(want), matches)
	}
	for threads := 1; threads <= 3; threads++ {
		res, err := Run(t.Context(), c.w.g, c.p, engine.Options{Threads: threads}, engine.Goal{})
		if err != nil || res.Matches != engine.U64(uint64(len(want))) {
			t.Errorf("%d threads count %v, want %d: %v", threads, res.Matches, len(want), err)
		}
		var k keeper
		if _, err := Run(t.Context(), c.w.g, c.p, engine.Options{Threads: threads}, engine.Goal{Sink: &k}); err != nil {
			t.Error(err)
		}
		if slices.Sort(k.rows); !slices.Equal(k.rows, want) {
			t.Errorf("%d threads list %d matches, want %d", threads, len(k.rows), len(want))
		}
	}
}

// TestSharedFailures: if other workers have some candidates of a branching, the failure of the others says nothing
// about the branching above, which keeps its own candidates.
func TestSharedFailures(t *testing.T) {
	eager(t)
	checkFailures(t, failures(slices.Repeat([][]int{{0, 1, 2}}, 8)), 8<<4)
}

// TestCores: all candidates of u fail below the first candidate of a, because of the candidates of x that are left. The second candidate of a
// leaves another one, and is tried, although no candidate of a narrows u.
func TestCores(t *testing.T) { checkFailures(t, failures([][]int{{0, 1}, {2}}), 1<<4) }

// branchyCase draws a plan whose search fails late, falls apart and has sets of several words: paths, triangles and squares that hang on one
// vertex, in a sparse graph. Most of its vertices have the neighbours that the pattern asks for, and few are in a triangle.
func branchyCase(t *rapid.T) caseOf {
	labels := rapid.IntRange(1, 3).Draw(t, "labels")
	nv := rapid.IntRange(60*labels, 110*labels).Draw(t, "vertices")
	degree := rapid.IntRange(2, 4).Draw(t, "degree")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	var r, q raw
	for v := range nv {
		r.label = append(r.label, rng.IntN(labels))
		for i := 0; v > 0 && i < (degree+1)/2; i++ {
			r.edges = append(r.edges, [2]int{v, rng.IntN(v)})
		}
	}
	vertex := func(near ...int) int {
		v := len(q.label)
		q.label = append(q.label, rng.IntN(labels))
		for _, u := range near {
			q.edges = append(q.edges, [2]int{u, v})
		}
		return v
	}
	root := vertex()
	if rapid.Bool().Draw(t, "stalk") {
		root = vertex(root)
	}
	for len(q.label) < 7 {
		switch a := vertex(root); rapid.IntRange(0, 4).Draw(t, "arm") {
		case 0:
			vertex(a)
		case 1, 2:
			vertex(root, a)
		case 3:
			vertex(vertex(root), a)
		}
	}
	w := newWorld(r, false)
	for l := range labels {
		if _, ok := w.rng[l]; !ok {
			w.rng[l] = plan.Range{}
		}
	}
	return caseOf{w, planFor(w, q)}
}

// most is the number of matches from which a case is left out.
const most = 20_000

// TestBranchy compares counts and listings of such plans with brute force.
func TestBranchy(t *testing.T) {
	for _, threads := range []int{1, 3} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			if threads > 1 {
				eager(t)
			}
			rapid.Check(t, func(t *rapid.T) {
				c := branchyCase(t)
				if res, err := Run(context.Background(), c.w.g, c.p, engine.Options{Threads: threads}, engine.Goal{}); err != nil || res.Matches.Cmp(engine.U64(most)) > 0 {
					t.Skip(err)
				}
				checkCase(t, c, threads)
			})
		})
	}
}
