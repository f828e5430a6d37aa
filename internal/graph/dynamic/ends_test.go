package dynamic

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// plain is Plain of one update.
func plain(g *Graph, u, v ID, label Label, remove bool) (Change, bool) {
	var x Ends
	cs := []Change{{Label: label, Remove: remove}}
	ok := x.Add(g, &u, &v) && g.Plain(&x, cs) == 1
	return cs[0], ok
}

// TestEnds compares look-ups of many ends with those of one vertex, in graphs whose ids are near each other, far from each other, or texts, and of
// which some were removed.
func TestEnds(t *testing.T) {
	for _, kind := range []string{"near", "far", "mixed", "texts"} {
		r := rand.New(rand.NewPCG(3, uint64(len(kind))))
		g := New(true, kind == "texts")
		id := func() ID {
			n := uint64(r.IntN(3000))
			switch {
			case kind == "texts":
				return Text(fmt.Sprint("v", n))
			case kind == "far", kind == "mixed" && n%3 == 0:
				return Num(n * 0x1234567)
			}
			return Num(n)
		}
		classes := []Class{g.Class(), g.Class("A"), g.Class("A", "B")}
		for step := range 4000 {
			do := func() (Result, error) { return g.AddVertex(id(), classes[r.IntN(3)]) }
			if step%4 == 3 {
				do = func() (Result, error) { return g.RemoveVertex(id()) }
			}
			if step == 0 || step%97 == 96 { // an empty graph too
				checkEnds(t, g, r, id)
			}
			if _, err := do(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func checkEnds(t *testing.T, g *Graph, r *rand.Rand, id func() ID) {
	t.Helper()
	var x Ends
	for range 3 { // one is used again and again
		x.Reset()
		ids := make([][2]ID, r.IntN(EndsRoom+1))
		for i := range ids {
			ids[i] = [2]ID{id(), id()}
			if i%5 == 4 {
				ids[i][1] = ids[i][0]
			}
			if !x.Add(g, &ids[i][0], &ids[i][1]) {
				t.Fatal("not an id:", ids[i])
			}
		}
		bad := [2]ID{Num(1), Text("a")}
		if n := x.n; n < EndsRoom && (x.Add(g, &bad[0], &bad[1]) || x.Add(g, &bad[1], &bad[0]) || x.n != n) {
			t.Fatal("took an id of another kind")
		}
		if big := Num(1 << 63); x.n < EndsRoom && x.Add(g, &big, &big) {
			t.Fatal("took a number beyond 2^63-1")
		}
		x.Find(g)
		for i, e := range ids {
			if x.loop(g, i) != (e[0] == e[1]) {
				t.Fatal("a loop:", e)
			}
			var in [2]Class
			in[0], in[1] = x.Classes(i)
			for k := range e {
				want, is := g.Vertex(e[k])
				if got := x.of[k][i]; got != want {
					t.Fatalf("%v is %d, want %d", e[k], got, want)
				} else if is && in[k] != g.ClassOf(want) {
					t.Fatalf("%v has class %d, want %d", e[k], in[k], g.ClassOf(want))
				}
			}
		}
	}
}
