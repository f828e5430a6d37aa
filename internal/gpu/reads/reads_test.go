package reads

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/checks"
	"github.com/weftgraph/weft/internal/plan/planner"
)

func generate(t *testing.T, spec gen.Spec) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(t.Context(), spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func nest(t *testing.T, g *graph.Graph, name, method string) (*plan.Plan, *lower.Code) {
	t.Helper()
	ps, err := pattern.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: method, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	view := lower.Sets
	if method == "local" {
		view = lower.Rows
	}
	c, err := lower.Plan(p, lower.Options{View: view, Counting: true, Roomy: true})
	if err != nil {
		t.Fatal(err)
	}
	return p, c
}

// exact counts the lines that are read of each vertex's list by going through all partial matches.
func exact(g *graph.Graph, p *plan.Plan) (lines []float64) {
	lines = make([]float64, g.NumVertices())
	m, e := make([]uint32, len(p.Levels)), make([]uint64, len(p.Edges))
	list := func(s plan.Set) []uint32 {
		all := g.Out.List(m[s.Of])
		if slices.Contains(s.Below, s.Of) {
			all = plan.Within(all, 0, m[s.Of])
		}
		return all
	}
	// Sets whose lists are gone over, by level, and those whose lists are asked for the elements of a base.
	walked, asked := make([]map[int]bool, len(p.Levels)), make([][]plan.Set, len(p.Levels))
	for l := range walked {
		walked[l] = map[int]bool{}
	}
	last := 0
	for i, s := range p.Sets {
		if s.Op == plan.SetList {
			continue
		}
		last = max(last, s.Of)
		if s.Of < s.At {
			walked[s.Of][i] = true
		} else {
			asked[s.Of] = append(asked[s.Of], s)
		}
		if b := p.Sets[s.Base]; b.Op == plan.SetList {
			walked[b.Of][s.Base] = true
			last = max(last, b.Of)
		}
	}
	for l := 1; l < len(p.Levels)-p.Tail.K; l++ {
		if i := p.Levels[l].Set; i >= 0 && p.Sets[i].Op == plan.SetList {
			walked[p.Sets[i].Of][i] = true
			last = max(last, p.Sets[i].Of)
		}
	}
	var scratch graph.Scratch
	var at func(l int)
	at = func(l int) {
		for i := range walked[l] {
			lines[m[l]] += float64(len(list(p.Sets[i]))/32 + 1)
		}
		for _, s := range asked[l] {
			elements := math.Ceil(p.Sets[s.Base].Estimate)
			if b := p.Sets[s.Base]; b.Op == plan.SetList {
				elements = float64(len(list(b)))
			}
			lines[m[l]] += min(2*max(1, elements), float64(len(list(s))/32+1))
		}
		next := l + 1
		if l == last || next == len(p.Levels) {
			return
		}
		all, from := checks.Smallest(p, next, m, &scratch)
		for _, v := range all {
			if checks.ValidFrom(p, next, from, v, m, e) {
				m[next] = v
				at(next)
			}
		}
	}
	for v := range lines {
		if checks.Valid(p, 0, uint32(v), m, e) {
			m[0] = uint32(v)
			at(0)
		}
	}
	return lines
}

func collect(r *session.Reads, n int) (reads []float64, order []uint32) {
	reads = make([]float64, n)
	r.Each(func(x session.Read) bool {
		reads[x.Vertex] += x.Reads
		order = append(order, x.Vertex)
		return true
	})
	return reads, order
}

// TestWalks: in a small graph all partial matches are gone through, so that the estimate is the number of lines read, with a list once
// each time that its vertex is bound. In a larger one it is near it, and the lists that it puts first have most of the reads.
func TestWalks(t *testing.T) {
	for _, c := range []struct {
		spec gen.Spec
		near float64
	}{
		{gen.Spec{Model: "rmat", Scale: 7, M: 500, Seed: 1}, 0},
		{gen.Spec{Model: "rmat", Scale: 12, M: 30000, Seed: 1}, 0.1},
	} {
		g := generate(t, c.spec)
		n := g.NumVertices()
		for _, name := range []string{"triangle", "diamond", "cycle(4)", "gmatch:P5"} {
			p, code := nest(t, g, name, "nest")
			want := exact(g, p)
			r := Of(p, code.Program, Walks).Reads()
			got, order := collect(r, n)
			all, found := 0.0, 0.0
			for v := range want {
				all += want[v]
				found += got[v]
				if c.near == 0 && math.Abs(got[v]-want[v]) > 1e-3*(1+want[v]) {
					t.Errorf("%s: %v lines are read of the list of %d, want %v", name, got[v], v, want[v])
				}
			}
			if math.Abs(r.All-all) > 1e-3*all+c.near*all || found > r.All*(1+1e-6) || found < 0.98*r.All { // copies of parts below have not all reads
				t.Errorf("%s: %v reads of all lists, %v by list, want %v", name, r.All, found, all)
			}
			slices.Sort(order)
			some := 0
			for v := range uint32(n) {
				some += min(g.Out.Degree(v), 1)
			}
			if k := len(slices.Compact(slices.Clone(order))); k != some || k != len(order) {
				t.Errorf("%s: %d lists, %d without repeats, and %d vertices have neighbours", name, len(order), k, some)
			}
			// The reads of a 20th of the bytes, by the estimate and by the best order.
			dense := func(v uint32) float64 { return want[v] / float64(8+4*g.Out.Degree(v)) }
			within := func(vs []uint32) (sum float64) {
				left := len(g.Out.Adj) * 4 / 20
				for _, v := range vs {
					if left -= 8 + 4*g.Out.Degree(v); left < 0 {
						break
					}
					sum += want[v]
				}
				return sum
			}
			_, order = collect(r, n)
			best := slices.Clone(order)
			slices.SortFunc(best, func(a, b uint32) int { return cmp.Compare(dense(b), dense(a)) })
			if ours, most := within(order), within(best); ours < 0.9*most {
				t.Errorf("%s: the first lists have %v reads, and there are some with %v", name, ours, most)
			}
		}
	}
}

// TestDegree puts long lists first, whatever their vertices' ids.
func TestDegree(t *testing.T) {
	for _, spec := range []gen.Spec{{Model: "rmat", Scale: 7, M: 500, Seed: 1}, {Model: "rmat", Scale: 7, M: 500, Seed: 1, VertexLabels: 3}} {
		g := generate(t, spec)
		p, code := nest(t, g, "triangle", "nest")
		r := Of(p, code.Program, Degree).Reads()
		last, sum := math.MaxInt, 0.0
		r.Each(func(x session.Read) bool {
			d := g.Out.Degree(x.Vertex)
			if d > last || x.Reads != float64(d) {
				t.Errorf("a list of %d with %v reads behind one of %d", d, x.Reads, last)
			}
			last = d
			sum += x.Reads
			return true
		})
		if sum != r.All || sum == 0 {
			t.Errorf("%v reads of %v", sum, r.All)
		}
	}
}

// TestLocal: the lines that the local method reads of each list, and whether a copy has them all.
func TestLocal(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 9, M: 6000, Seed: 1})
	lines := func(ids int) float64 { return float64(ids/32 + 1) }
	for _, c := range []struct {
		name  string
		whole bool // copies of whole lists
		read  func(all, below, above int) float64
	}{
		// The part below of each root, and the same part of the list of each vertex there.
		{"clique(4)", false, func(_, below, above int) float64 { return float64(above+1) * lines(below) }},
		{"triangle", false, func(_, below, above int) float64 { return float64(above+1) * lines(below) }},
		// The whole lists of both ends of an edge, of which level 1 has the larger id: wedges are walked from the end of higher degree.
		{"diamond", true, func(all, below, _ int) float64 { return float64(below+1) * lines(all) }},
		// The part above of each root, and the whole list of each vertex there.
		{"cycle(4)", true, func(all, below, above int) float64 { return lines(above) + float64(below)*lines(all) }},
	} {
		p, code := nest(t, g, c.name, "local")
		rows := &code.Rows
		hood := Neighbourhoods{Hood: rows.Hood, Counted: rows.Rows == lower.NoRows, Level1: rows.Level1, Inner: rows.Inner}
		r := OfNeighbourhoods(p, code.Program, Walks, hood).Reads()
		sum, n := 0.0, 0
		last := math.Inf(1)
		r.Each(func(x session.Read) bool {
			list := g.Out.List(x.Vertex)
			below := len(plan.Within(list, 0, x.Vertex))
			want := c.read(len(list), below, len(list)-below)
			bytes := float64(8 + 4*len(list))
			if x.Below {
				bytes = float64(8 + 4*below)
			}
			dense := x.Reads / bytes
			if x.Reads != want || x.Below == c.whole || dense > last*(1+1e-6) {
				t.Errorf("%s: %+v of %d ids, %d below: want %v lines", c.name, x, len(list), below, want)
			}
			last = dense
			sum += want
			n++
			return true
		})
		if math.Abs(sum-r.All) > 1e-6*sum || n == 0 {
			t.Errorf("%s: %v lines of %d lists, want %v", c.name, r.All, n, sum)
		}
	}
}

// TestSorted: lists come by descending density, and equal ones in their order.
func TestSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	places := make([]place, 5000)
	dense := make([]float64, len(places))
	for i := range places {
		dense[i] = math.Exp(20*r.Float64() - 10)
		if r.IntN(3) == 0 {
			dense[i] = float64(r.IntN(4)) / 3
		}
		places[i] = place{key: keyOf(dense[i]), v: uint32(i)}
	}
	want := slices.Clone(places)
	slices.SortStableFunc(want, func(a, b place) int { return cmp.Compare(float32(dense[b.v]), float32(dense[a.v])) })
	if got := sorted(slices.Clone(places), make([]place, len(places))); !slices.Equal(got, want) {
		t.Error("the order is not that of a stable sort")
	}
}
