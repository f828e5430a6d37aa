package host

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// written is a sink that writes deltas and answers down.
type written struct {
	lines    []string
	answered uint64
	refuse   error
}

func (x *written) Emit(ds []nest.Delta) error {
	for _, d := range ds {
		x.lines = append(x.lines, fmt.Sprint(d.Seq, d.Watch, d.Sign, d.Vertices))
	}
	return x.refuse
}

func (x *written) Answered(seq uint64) {
	if seq < x.answered {
		panic("answers do not ascend")
	}
	x.answered = seq
}

// drawBatches draws updates of 600 vertices with three labels: nearly all are of edges, and many of the same one.
func drawBatches(r *rand.Rand, n int) (us []stream.Update) {
	end := func() dynamic.ID { return dynamic.Num(uint64(600 * r.Float64() * r.Float64())) }
	for range n {
		u := stream.Update{Op: stream.AddEdge, U: end(), V: end()}
		switch k := r.IntN(2000); {
		case k == 0:
			u = stream.Update{Op: stream.RemoveVertex, U: end()}
		case k == 1:
			u = stream.Update{Op: stream.SetLabels, U: end(), Labels: []string{fmt.Sprint(r.IntN(3))}}
		case k == 2:
			u.V = dynamic.Num(1000 + uint64(r.IntN(5)))
		case k < 600 && len(us) > 0:
			u = us[r.IntN(len(us))]
			u.Op = stream.Op(r.IntN(2))
		case k < 1000:
			u.Op = stream.RemoveEdge
		}
		us = append(us, u)
	}
	return us
}

// TestBatches gives whole batches to several workers, and the same updates one by one to one worker. Deltas, results, counts and the graphs
// are the same.
func TestBatches(t *testing.T) {
	for _, directed := range []bool{false, true} {
		for _, workers := range []int{2, 3, manyWorkers} {
			t.Run(fmt.Sprintf("directed %v, %d workers", directed, workers), func(t *testing.T) {
				var gs [2]*dynamic.Graph
				var ms [2]*Matcher
				for i := range gs {
					gs[i] = dynamic.New(directed, false)
					for v := range uint64(600) {
						if _, err := gs[i].AddVertex(dynamic.Num(v), gs[i].Class(fmt.Sprint(v%3))); err != nil {
							t.Fatal(err)
						}
					}
					ms[i] = New(gs[i], Options{Workers: []int{1, workers}[i], AtOnce: i == 0})
					ms[i].SetSeq(0)
					for k, q := range []string{"MATCH (a:0)--(b:1)--(c:1)--(a)", "MATCH (a:0)--(b:0)--(c:2)--(d:0)--(a)"} {
						if _, err := ms[i].Add(fmt.Sprint(k), parse(t, q), nest.WatchOptions{}); err != nil {
							t.Fatal(err)
						}
					}
				}
				ms[1].grain.run = 16
				r := rand.New(rand.NewPCG(uint64(workers), 3))
				changed := 0
				for range 6 {
					us := drawBatches(r, 1500)
					var sinks [2]written
					var results [2]nest.Result
					for _, u := range us {
						res, err := ms[0].Apply(t.Context(), []stream.Update{u}, &sinks[0])
						if err != nil {
							t.Fatal(err)
						}
						results[0].Updates += res.Updates
						results[0].Outcomes.Join(res.Outcomes)
						for _, c := range res.Counts {
							i := slices.IndexFunc(results[0].Counts, func(x nest.Count) bool { return x.Watch == c.Watch })
							if i < 0 {
								i = len(results[0].Counts)
								results[0].Counts = append(results[0].Counts, nest.Count{Watch: c.Watch})
							}
							x := &results[0].Counts[i]
							x.Added, x.Removed = x.Added.Add(c.Added), x.Removed.Add(c.Removed)
						}
					}
					slices.SortFunc(results[0].Counts, func(x, y nest.Count) int { return x.Watch - y.Watch })
					var err error
					if results[1], err = ms[1].Apply(t.Context(), us, &sinks[1]); err != nil {
						t.Fatal(err)
					}
					results[1].Update, results[1].Match = 0, 0
					for i := range results {
						results[i].Outcomes.Join(ms[i].Late())
					}
					if !slices.Equal(sinks[0].lines, sinks[1].lines) {
						t.Fatalf("%d deltas, want %d", len(sinks[1].lines), len(sinks[0].lines))
					}
					if fmt.Sprint(results[0]) != fmt.Sprint(results[1]) || sinks[1].answered != sinks[0].answered || ms[1].Seq() != ms[0].Seq() {
						t.Fatalf("%v, answered to %d of %d; want %v, %d, %d", results[1], sinks[1].answered, ms[1].Seq(), results[0], sinks[0].answered, ms[0].Seq())
					}
					changed += len(sinks[0].lines)
					compareLists(t, gs[0], gs[1])
				}
				if changed == 0 {
					t.Error("nothing changed")
				}
			})
		}
	}
}

// compareLists checks that two graphs have the same lists.
func compareLists(t *testing.T, x, y *dynamic.Graph) {
	t.Helper()
	if x.NumEdges() != y.NumEdges() || x.NumVertices() != y.NumVertices() || x.Version() != y.Version() {
		t.Fatalf("%d edges, %d vertices, version %d; want %d, %d, %d", y.NumEdges(), y.NumVertices(), y.Version(), x.NumEdges(), x.NumVertices(), x.Version())
	}
	var bufs [2][]uint32
	x.Now().Vertices(nil, func(v uint32) bool {
		for d := dynamic.Out; d <= dynamic.In; d++ {
			a, b := x.Now().List(v, d, dynamic.AnyLabel, nil, &bufs[0]), y.Now().List(v, d, dynamic.AnyLabel, nil, &bufs[1])
			if x.IDOf(v) != y.IDOf(v) || !slices.Equal(a, b) {
				t.Fatalf("vertex %v: %v, want %v, %v", y.IDOf(v), b, x.IDOf(v), a)
			}
		}
		return true
	})
}

// TestBatchStops checks a batch of several workers that ends early: an update that cannot be made has its place, and those before it are
// made and matched. A sink that refuses deltas gets no others, and all updates are made.
func TestBatchStops(t *testing.T) {
	make := func() (*dynamic.Graph, *Matcher, []stream.Update) {
		g := dynamic.New(false, false)
		for v := range uint64(100) {
			if _, err := g.AddVertex(dynamic.Num(v), 0); err != nil {
				t.Fatal(err)
			}
		}
		m := New(g, Options{Workers: 4})
		m.SetSeq(0)
		m.grain.run = 8
		if _, err := m.Add("q", parse(t, "MATCH (a)--(b)"), nest.WatchOptions{}); err != nil {
			t.Fatal(err)
		}
		var us []stream.Update
		for i := range uint64(99) {
			us = append(us, stream.Update{U: dynamic.Num(i), V: dynamic.Num(i + 1)})
		}
		return g, m, us
	}
	g, m, us := make()
	us[60].U = dynamic.Text("a")
	sink := &written{}
	res, err := m.Apply(t.Context(), us, sink)
	var at *nest.UpdateError
	if !errors.As(err, &at) || at.Index != 60 || res.Updates != 60 || g.NumEdges() != 60 || len(sink.lines) != 60 {
		t.Errorf("%v: %d updates, %d edges, %d deltas", err, res.Updates, g.NumEdges(), len(sink.lines))
	}
	g, m, us = make()
	us = slices.Insert(us, 50, stream.Update{Op: stream.AddVertex, U: dynamic.Num(500)})
	sink = &written{refuse: errors.New("full")}
	res, err = m.Apply(t.Context(), us, sink)
	if !errors.Is(err, sink.refuse) || res.Updates != 100 || g.NumEdges() != 99 || len(sink.lines) > 50 {
		t.Errorf("%v: %d updates, %d edges, %d deltas", err, res.Updates, g.NumEdges(), len(sink.lines))
	}
}
