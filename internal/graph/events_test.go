package graph

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestEvents compares windows, at a vertex and between two, with a walk over the
// edge table.
func TestEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		directed := rapid.Bool().Draw(t, "directed")
		b := NewBuilder(BuildOptions{Directed: directed})
		c := &EdgeChunk{Src: []uint64{1}, Dst: []uint64{2}, Time: []int64{3}}
		for range rapid.IntRange(0, 30).Draw(t, "edges") {
			c.Src = append(c.Src, rapid.Uint64Range(0, 4).Draw(t, "u"))
			c.Dst = append(c.Dst, rapid.Uint64Range(0, 4).Draw(t, "v"))
			c.Time = append(c.Time, rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, 2, 3, math.MaxInt64}).Draw(t, "time"))
		}
		if err := b.AddEdges(c); err != nil {
			t.Fatal(err)
		}
		g, err := b.Build(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.SampledFrom([]End{Source, Target, Both}).Draw(t, "end")
		bound := rapid.SampledFrom([]int64{math.MinInt64, 0, 1, 2, 4, math.MaxInt64})
		lo, hi := bound.Draw(t, "lo"), bound.Draw(t, "hi")
		keep := func(row int) bool { return row%3 != 1 }
		byTime, byOther := g.Events(at, false), NewEvents(g, at, true, g.Edges.Time, keep)
		for v := range uint32(g.NumVertices()) {
			want := map[uint32][]Event{}
			var all []Event
			for row, time := range g.Edges.Time {
				see := func(from, to uint32) {
					if from == v && lo <= time && time <= hi {
						all = append(all, Event{time, to, uint32(row)})
						if keep(row) {
							want[to] = append(want[to], Event{time, to, uint32(row)})
						}
					}
				}
				if at != Target {
					see(g.Edges.Src[row], g.Edges.Dst[row])
				}
				if at != Source {
					see(g.Edges.Dst[row], g.Edges.Src[row])
				}
			}
			sorted := func(l []Event) []Event {
				slices.SortFunc(l, func(x, y Event) int { return cmp.Or(cmp.Compare(x.Time, y.Time), cmp.Compare(x.Row, y.Row)) })
				return l
			}
			if got := Window(byTime.At(v), lo, hi); !slices.Equal(got, sorted(all)) {
				t.Fatalf("at %d in [%d, %d]: %v, want %v", v, lo, hi, got, all)
			}
			for u := range uint32(g.NumVertices()) {
				if got := Between(byOther.At(v), u, lo, hi); !slices.Equal(got, sorted(want[u])) {
					t.Fatalf("between %d and %d in [%d, %d]: %v, want %v", v, u, lo, hi, got, want[u])
				}
			}
		}
	})
}
