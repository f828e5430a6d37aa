package reads

import (
	"cmp"
	"math"
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

// exact counts the reads of each vertex's list by going through all partial matches.
func exact(p *plan.Plan, n int) (reads []float64) {
	reads = make([]float64, n)
	m, e := make([]uint32, len(p.Levels)), make([]uint64, len(p.Edges))
	var scratch graph.Scratch
	var at func(l int)
	at = func(l int) {
		deeper := false
		for _, s := range p.Sets {
			deeper = deeper || s.At > l
			if s.At == l && s.Op != plan.SetList {
				reads[m[s.Of]]++
				if b := p.Sets[s.Base]; b.Op == plan.SetList {
					reads[m[b.Of]]++
				}
			}
		}
		next := l + 1
		if next == len(p.Levels) {
			return
		}
		if s := p.Levels[next].Set; s >= 0 && p.Sets[s].Op == plan.SetList && next < len(p.Levels)-p.Tail.K {
			reads[m[p.Sets[s].Of]]++
		}
		if !deeper {
			return
		}
		list, from := checks.Smallest(p, next, m, &scratch)
		for _, v := range list {
			if checks.ValidFrom(p, next, from, v, m, e) {
				m[next] = v
				at(next)
			}
		}
	}
	for v := range uint32(n) {
		if checks.Valid(p, 0, v, m, e) {
			m[0] = v
			at(0)
		}
	}
	return reads
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

// TestWalks: in a small graph all partial matches are gone through, so that the estimate is the number of reads. In a
// larger one it is near it, and the lists that it puts first have most of the reads.
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
			want := exact(p, n)
			r := Of(p, code.Program, Walks).Reads()
			got, order := collect(r, n)
			all, found := 0.0, 0.0
			for v := range want {
				all += want[v]
				found += got[v]
				if c.near == 0 && math.Abs(got[v]-want[v]) > 1e-3*(1+want[v]) {
					t.Errorf("%s: the list of %d is read %v times, want %v", name, v, got[v], want[v])
				}
			}
			if math.Abs(r.All-all) > 1e-3*all+c.near*all || math.Abs(found-r.All) > 1e-3*all {
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
			// A 20th of the vertices, by the estimate and as they are.
			_, order = collect(r, n)
			best := make([]int, n)
			for v := range best {
				best[v] = v
			}
			slices.SortFunc(best, func(a, b int) int { return cmp.Compare(want[b], want[a]) })
			ours, most := 0.0, 0.0
			for i := range n / 20 {
				ours += want[order[i]]
				most += want[best[i]]
			}
			if ours < 0.95*most {
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

// TestLocal: a clique's search reads the list of each root below the root, and the same part of the list of each neighbour there.
func TestLocal(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 7, M: 500, Seed: 1})
	p, code := nest(t, g, "clique(4)", "local")
	if plan.LocalSide(p) != plan.LowerSide {
		t.Fatal("the plan has another side")
	}
	r := Of(p, code.Program, Walks).Reads()
	r.Each(func(x session.Read) bool {
		list := g.Out.List(x.Vertex)
		above := 0
		for _, u := range list {
			if u > x.Vertex {
				above++
			}
		}
		if x.Reads != float64(above+1) || !x.Below {
			t.Errorf("%d: %+v, want %d reads", x.Vertex, x, above+1)
		}
		return true
	})
}
