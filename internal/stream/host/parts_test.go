package host

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// perWatch counts deltas by watch.
type perWatch map[int]uint64

func (x perWatch) Emit(ds []nest.Delta) error {
	for _, d := range ds {
		x[d.Watch]++
	}
	return nil
}

// TestParts: a part whose vertices no other part can have, by their labels, is counted once for all matches of the others, and listings
// have as many matches. Vertices come, go and change their labels meanwhile.
func TestParts(t *testing.T) {
	texts := []string{
		"MATCH (a:A)--(b:B), (c:C)--(d:C)", "MATCH (a:A)--(b)--(x:A), (c:C)", "MATCH (a:A)--(b:A), (c:B), (d:C), (e:C)",
		"MATCH (a:A)--(b:B), (c:C)--(d:C), NOT (b)--(d)", "MATCH (a:A)--(b:B), (c:C)--(d:C) WHERE c.x > a.x", "MATCH (a:A)--(b:B), (c:C) WHERE c.x > 2",
		"MATCH (a:A)--(b:B), (c:!A&!B)--(d:C), (e:C)--(f:C)", "MATCH (a:A)--(b:A), (d:C), (e:C), (f:C)",
		"MATCH (a:A)--(b:B), (c:C)--(d:C)--(e:C)--(f:C)--(g:C)",
	}
	alone := 0
	for _, workers := range []int{1, 4} {
		g := dynamic.New(false, false)
		r := rand.New(rand.NewPCG(11, 3))
		const n = 40
		labels := func() []string { return [][]string{{"A"}, {"B"}, {"C"}}[r.IntN(3)] }
		for v := range uint64(n) {
			u := stream.Update{Op: stream.AddVertex, U: dynamic.Num(v), Labels: labels(), Properties: []stream.Property{{Name: "x", Value: dynamic.OfInt(int64(v % 5))}}}
			if _, err := stream.Apply(g, &u); err != nil {
				t.Fatal(err)
			}
		}
		m := New(g, Options{Workers: workers})
		m.grain = grain{least: 1, most: 1, keptWords: 1 << 10, keptPieces: 4, ticks: 1, portion: 1, run: 1, inTime: 1, eager: true}
		for i, text := range texts {
			for _, counts := range []bool{false, true} {
				if _, err := m.Add(fmt.Sprint(i, counts), parse(t, text), nest.WatchOptions{CountsOnly: counts}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 30 {
			var batch []stream.Update
			for range 10 {
				u, v := r.Uint64N(n), r.Uint64N(n)
				switch r.IntN(12) {
				case 0:
					batch = append(batch, stream.Update{Op: stream.RemoveVertex, U: dynamic.Num(u)})
				case 1:
					batch = append(batch, stream.Update{Op: stream.AddVertex, U: dynamic.Num(u), Labels: labels()})
				case 2:
					batch = append(batch, stream.Update{Op: stream.SetLabels, U: dynamic.Num(u), Labels: labels()})
				case 3, 4:
					batch = append(batch, edge(stream.RemoveEdge, u, v))
				default:
					batch = append(batch, edge(stream.AddEdge, u, v))
				}
			}
			listed := perWatch{}
			res, err := m.Apply(t.Context(), batch, listed)
			if err != nil {
				t.Fatal(err)
			}
			counted := map[int]engine.Uint128{}
			for _, c := range res.Counts {
				counted[c.Watch] = c.Added.Add(c.Removed)
			}
			for i, text := range texts {
				if want := engine.U64(listed[2*i]); counted[2*i] != want || counted[2*i+1] != want {
					t.Fatalf("%s: %v and %v counted, %v listed", text, counted[2*i], counted[2*i+1], want)
				}
			}
		}
		for i, text := range texts {
			listed := perWatch{}
			if _, err := m.Present(t.Context(), fmt.Sprint(i, false), listed); err != nil {
				t.Fatal(err)
			}
			n, err := m.Present(t.Context(), fmt.Sprint(i, true), nil)
			if err != nil || n != engine.U64(listed[2*i]) || n.IsZero() {
				t.Fatalf("%s: %v counted, %v listed, %v", text, n, listed[2*i], err)
			}
		}
		for _, w := range m.List {
			for i := range w.Nests {
				for l := range w.Nests[i].Places {
					if w.Nests[i].Places[l].Alone {
						alone++
					}
				}
			}
		}
	}
	if alone == 0 {
		t.Error("no part is alone")
	}
}

// TestPartsWhole: a part that is counted once is counted by one worker, also while others wait for work.
func TestPartsWhole(t *testing.T) {
	g := dynamic.New(false, false)
	vertex := func(v uint64, label string) {
		u := stream.Update{Op: stream.AddVertex, U: dynamic.Num(v), Labels: []string{label}}
		if _, err := stream.Apply(g, &u); err != nil {
			t.Fatal(err)
		}
	}
	join := func(u, v uint64) {
		x := edge(stream.AddEdge, u, v)
		if _, err := stream.Apply(g, &x); err != nil {
			t.Fatal(err)
		}
	}
	const ring, leaves = 3000, 100
	vertex(0, "A")
	for v := range uint64(leaves) {
		vertex(1+v, "B")
		join(0, 1+v)
	}
	for v := range uint64(ring) {
		vertex(leaves+1+v, "C")
	}
	for v := range uint64(ring) {
		join(leaves+1+v, leaves+1+(v+1)%ring)
	}
	m := New(g, Options{Workers: 4})
	m.grain.ticks = 1
	if _, err := m.Add("q", parse(t, "MATCH (a:A)--(b:B), (a)--(x:B), (c:C)--(d:C)--(e:C)"), nest.WatchOptions{CountsOnly: true}); err != nil {
		t.Fatal(err)
	}
	const pairs = leaves * (leaves - 1) / 2
	for range 10 {
		if n, err := m.Present(t.Context(), "q", nil); err != nil || n != engine.U64(pairs*ring) {
			t.Fatalf("%v matches, want %d, %v", n, pairs*ring, err)
		}
	}
}
