package dynamic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// together is an Each of several goroutines.
func together(n int, do func(i int)) {
	var wait sync.WaitGroup
	for k := range 4 {
		wait.Go(func() {
			for i := k; i < n; i += 4 {
				do(i)
			}
		})
	}
	wait.Wait()
}

// sameLists checks that two graphs of the same updates have the same lists at a version.
func sameLists(t *testing.T, x, y View) {
	t.Helper()
	var bufs [2][]uint32
	x.Vertices(nil, func(v uint32) bool {
		for d := Out; d <= In; d++ {
			ls := x.Labels(v, d, nil)
			ls = append(append(ls, y.Labels(v, d, nil)...), AnyLabel)
			for _, l := range ls {
				a, b := x.List(v, d, l, nil, &bufs[0]), y.List(v, d, l, nil, &bufs[1])
				if !slices.Equal(a, b) {
					t.Fatalf("version %d: vertex %d, direction %d, label %d: %v, want %v", y.at, v, d, l, b, a)
				}
			}
		}
		return true
	})
}

// TestMake makes batches of changes by Make, with several workers, and the same updates one by one: in windows, and outside. All that can be
// seen of both graphs is the same.
func TestMake(t *testing.T) {
	for seed := range uint64(24) {
		directed, labels, inWindow := seed&1 != 0, []int{0, 1, 3}[seed/2%3], seed/6%2 != 0
		t.Run(fmt.Sprintf("directed %v, %d labels, window %v, %d", directed, labels, inWindow, seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			const n = 400 // in the pages of several shards
			var gs [2]*Graph
			for i := range gs {
				gs[i] = New(directed, false)
				for v := range uint64(n) {
					if _, err := gs[i].AddVertex(Num(v), gs[i].Class(fmt.Sprint(v%3))); err != nil {
						t.Fatal(err)
					}
				}
				for l := range labels {
					gs[i].EdgeLabel(fmt.Sprint(l))
				}
			}
			one, many := gs[0], gs[1]
			end := func() ID { // few vertices have most edges, and one is not there
				return Num(uint64(float64(n+1) * r.Float64() * r.Float64()))
			}
			seen := map[Result]int{}
			for batch := range 12 {
				type change struct {
					u, v   ID
					label  Label
					remove bool
				}
				var us []change
				for range r.IntN(1500) {
					u := change{end(), end(), Label(r.IntN(labels + 1)), r.IntN(5) < batch/3}
					if k := len(us); k > 0 && r.IntN(3) == 0 { // of an edge of the batch
						u = us[r.IntN(k)]
						u.remove = r.IntN(2) == 0
					}
					us = append(us, u)
				}
				if inWindow {
					one.Begin()
					many.Begin()
				}
				first := one.Version()
				var results []Result
				var cs []Change
				us = slices.DeleteFunc(us, func(u change) bool {
					c, ok := plain(many, u.u, u.v, u.label, u.remove)
					if !ok {
						return true
					}
					c.At = first + uint64(len(cs)) + 1
					cs = append(cs, c)
					return false
				})
				for _, u := range us {
					do := one.AddEdge
					if u.remove {
						do = func(u, v ID, l Label, _ ...Property) (Result, error) { return one.RemoveEdge(u, v, l) }
					}
					res, err := do(u.u, u.v, u.label)
					if err != nil {
						t.Fatal(err)
					}
					seen[res]++
					results = append(results, res)
				}
				many.Make(cs, together)
				many.Pass(first + uint64(len(cs)))
				for i := range cs {
					if cs[i].Result != results[i] {
						t.Fatalf("update %d of %v: %v, want %v", i, us[i], cs[i].Result, results[i])
					}
				}
				if one.Version() != many.Version() || one.NumEdges() != many.NumEdges() {
					t.Fatalf("version %d, %d edges; want %d, %d", many.Version(), many.NumEdges(), one.Version(), one.NumEdges())
				}
				if inWindow {
					if !slices.Equal(one.Events(), many.Events()) {
						t.Fatalf("events %v, want %v", many.Events(), one.Events())
					}
					for v := first; v <= one.Version(); v += uint64(1 + r.IntN(200)) {
						sameLists(t, one.At(v), many.At(v))
					}
					one.Settle()
					many.SettleBy(together)
				}
				sameLists(t, one.Now(), many.Now())
				checkArena(t, many)
			}
			for _, res := range []Result{Applied, Duplicate, Absent, SelfLoop} {
				if seen[res] == 0 {
					t.Errorf("no update was %v", res)
				}
			}
		})
	}
}

// TestMakeAgain checks that the lists and their places in memory do not depend on the number of workers.
func TestMakeAgain(t *testing.T) {
	var sizes [2]uint64
	for i, each := range []Each{nil, together} {
		r := rand.New(rand.NewPCG(5, 6))
		g := New(false, false)
		for v := range uint64(2000) {
			if _, err := g.AddVertex(Num(v), 0); err != nil {
				t.Fatal(err)
			}
		}
		for batch := range 8 {
			var cs []Change
			for range 4000 {
				c, _ := plain(g, Num(uint64(r.IntN(2000))), Num(uint64(r.IntN(2000))), NoLabel, r.IntN(8) < batch)
				c.At = g.Version() + uint64(len(cs)) + 1
				cs = append(cs, c)
			}
			if batch%2 == 0 {
				g.Begin()
			}
			g.Make(cs, each)
			g.Pass(g.Version() + uint64(len(cs)))
			if each != nil {
				g.SettleBy(each)
			}
			g.Settle()
		}
		checkArena(t, g)
		if b := g.maker.bytes(); b < 2*4*2000 || b > 64*4000 { // places of two ends of most changes
			t.Errorf("%d bytes for a batch of 4000 changes", b)
		}
		for k := range g.shards {
			sizes[i] = sizes[i]*31 + g.shards[k].lists.room + g.shards[k].lists.work
		}
	}
	if sizes[0] != sizes[1] {
		t.Errorf("other work or memory with one worker than with several")
	}
}

// TestPlain checks which updates are left to others than Make.
func TestPlain(t *testing.T) {
	g := New(false, false)
	key, err := g.EdgeKey("weight", arrow.PrimitiveTypes.Float64)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		if _, err := g.AddEdge(Num(i), Num(i+1), NoLabel); err != nil {
			t.Fatal(err)
		}
	}
	check := func(u, v ID, label Label, remove, want bool, result Result) {
		t.Helper()
		if c, ok := plain(g, u, v, label, remove); ok != want || c.Result != result {
			t.Errorf("%v to %v, label %d, remove %v: %v, %v", u, v, label, remove, ok, c.Result)
		}
	}
	check(Num(0), Num(2), NoLabel, false, true, Applied)
	check(Num(0), Num(1), NoLabel, true, true, Applied)
	check(Num(1), Num(1), NoLabel, false, true, SelfLoop)
	check(Num(0), Num(9), NoLabel, true, true, Absent)
	check(Num(0), Num(9), NoLabel, false, false, Applied)
	check(Text("a"), Num(1), NoLabel, false, false, Applied)
	check(Num(0), Num(1), 1, true, false, Applied)
	if _, err := g.AddEdge(Num(0), Num(3), NoLabel, Property{key, OfFloat(1)}); err != nil {
		t.Fatal(err)
	}
	check(Num(0), Num(2), NoLabel, false, true, Applied)
	check(Num(0), Num(3), NoLabel, true, false, Applied) // its row goes too
	timed := New(false, false)
	if _, err := timed.AddEdgeAt(Num(0), Num(1), NoLabel, 1); err != nil {
		t.Fatal(err)
	}
	if _, ok := plain(timed, Num(0), Num(1), NoLabel, true); ok {
		t.Error("an edge with a time")
	}
}
