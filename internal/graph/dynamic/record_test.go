package dynamic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRecord makes batches in windows without marks, some of which get marks in the midst or at their end, because somebody asks or an update of another kind
// comes. Events, results and, where it has marks, all versions are those of a window with marks, and so is the graph afterwards.
func TestRecord(t *testing.T) {
	for seed := range uint64(60) {
		directed, labels := seed&1 != 0, []int{0, 1, 3}[seed/2%3]
		t.Run(fmt.Sprintf("directed %v, %d labels, %d", directed, labels, seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 21))
			marked, plainly := New(directed, false), New(directed, false)
			for _, g := range []*Graph{marked, plainly} {
				for v := range uint64(40) {
					if _, err := g.AddVertex(Num(v), 0); err != nil {
						t.Fatal(err)
					}
				}
				for l := range labels {
					g.EdgeLabel(fmt.Sprint(l))
				}
			}
			end := func() ID { return Num(uint64(40 * r.Float64() * r.Float64())) }
			each := []Each{nil, together}[seed/6%2]
			for range 12 {
				marked.Begin()
				plainly.Record()
				base := marked.Version()
				for part := range 3 {
					var cs [2][]Change
					for range r.IntN(60) {
						u, v, label, remove := end(), end(), Label(r.IntN(labels+1)), r.IntN(5) < 2
						for i, g := range []*Graph{marked, plainly} {
							c, ok := plain(g, u, v, label, remove)
							if !ok {
								t.Fatal("a change that Make cannot make")
							}
							c.At = g.Version() + uint64(len(cs[i])) + 1
							cs[i] = append(cs[i], c)
						}
					}
					for i, g := range []*Graph{marked, plainly} {
						version := g.Version() + uint64(len(cs[i]))
						g.Make(cs[i], each)
						g.Pass(version)
					}
					if !slices.EqualFunc(cs[0], cs[1], func(a, b Change) bool { return a.Result == b.Result }) || !slices.Equal(marked.Events(), plainly.Events()) {
						t.Fatalf("events %v, want %v", plainly.Events(), marked.Events())
					}
					if marked.NumEdges() != plainly.NumEdges() || marked.Version() != plainly.Version() || plainly.Recording() == plainly.Open() {
						t.Fatalf("%d edges, want %d", plainly.NumEdges(), marked.NumEdges())
					}
					sameLists(t, marked.Now(), plainly.Now())
					switch k := r.IntN(12); {
					case k == 0 && part < 2:
						plainly.Remember()
					case k == 1:
						u, v := end(), end()
						for _, g := range []*Graph{marked, plainly} {
							if _, err := g.AddEdge(u, v, NoLabel); err != nil {
								t.Fatal(err)
							}
						}
					case k == 2:
						u := end()
						for _, g := range []*Graph{marked, plainly} {
							if _, err := g.RemoveVertex(u); err != nil {
								t.Fatal(err)
							}
							if _, err := g.AddVertex(u, 0); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				if r.IntN(3) == 0 {
					plainly.Remember()
				}
				if plainly.Open() {
					if !slices.Equal(marked.Events(), plainly.Events()) {
						t.Fatalf("with marks, events %v, want %v", plainly.Events(), marked.Events())
					}
					for v := base; v <= marked.Version(); v++ {
						sameLists(t, marked.At(v), plainly.At(v))
					}
				}
				marked.SettleBy(serially)
				plainly.SettleBy(serially)
				if plainly.Open() || plainly.Recording() {
					t.Fatal("the window is open")
				}
				sameFiles(t, marked, plainly)
				checkArena(t, plainly)
			}
		})
	}
}
