package host

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// BenchmarkRecorded replays the recorded streams for one query at a time, as other programs do, and reports updates a second over all queries, for
// the search alone and with the change of the graph.
func BenchmarkRecorded(b *testing.B) {
	for _, name := range []string{"lastfm10", "facebook10"} {
		r := readRecorded(b, name)
		for _, size := range []int{1, 64, len(r.updates)} {
			b.Run(fmt.Sprintf("%s/batches of %d", name, size), func(b *testing.B) {
				var search, update time.Duration
				n := 0
				for b.Loop() {
					g := r.initialGraph(b)
					m := New(g, Options{Workers: 1})
					for i, p := range r.queries {
						if _, err := m.Add("q", p, nest.WatchOptions{CountsOnly: true}); err != nil {
							b.Fatal(err)
						}
						// There and back again, so that each query begins with the same graph.
						for _, updates := range [][]stream.Update{r.updates, reversed(r.updates)} {
							for from := 0; from < len(updates); from += size {
								res, err := m.Apply(context.Background(), updates[from:min(from+size, len(updates))], nil)
								if err != nil {
									b.Fatal(r.names[i], err)
								}
								n += res.Updates
								search += res.Match
								update += res.Update
							}
						}
						if err := m.Drop("q"); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(n)/search.Seconds()/1e6, "M-search/s")
				b.ReportMetric(float64(n)/(search+update).Seconds()/1e6, "M-updates/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// reversed is updates that take the given ones back.
func reversed(updates []stream.Update) []stream.Update {
	var out []stream.Update
	for i := len(updates) - 1; i >= 0; i-- {
		u := updates[i]
		switch u.Op {
		case stream.AddEdge:
			u.Op = stream.RemoveEdge
		case stream.RemoveEdge:
			u.Op = stream.AddEdge
		}
		out = append(out, u)
	}
	return out
}

// BenchmarkUnconcerned measures updates whose labels meet no edge of the pattern.
func BenchmarkUnconcerned(b *testing.B) {
	const n = 1 << 14
	g := dynamic.New(false, false)
	for i := range uint64(n) {
		if _, err := g.AddVertex(dynamic.Num(i), g.Class("A")); err != nil {
			b.Fatal(err)
		}
	}
	m := New(g, Options{Workers: 1})
	if _, err := m.Add("q", readQuery(b, "v 0 1\nv 1 2\nv 2 1\ne 0 1 1\ne 1 2 1"), nest.WatchOptions{CountsOnly: true}); err != nil {
		b.Fatal(err)
	}
	var batch []stream.Update
	for i := range uint64(n) {
		batch = append(batch, stream.Update{U: dynamic.Num(i), V: dynamic.Num((i*7919 + 1) % n), Label: "1"})
	}
	back := reversed(batch)
	var search time.Duration
	k := 0
	b.ReportAllocs()
	for b.Loop() {
		for _, x := range [][]stream.Update{batch, back} {
			res, err := m.Apply(context.Background(), x, nil)
			if err != nil {
				b.Fatal(err)
			}
			search += res.Match
			k += len(x)
		}
	}
	b.ReportMetric(float64(search.Nanoseconds())/float64(k), "ns/search")
}

// BenchmarkTimes makes updates of edges with times in a graph of 600,000 edges and eight vertex labels, for a labelled triangle. Most of them
// concern no watch: these are made at once, or put off.
func BenchmarkTimes(b *testing.B) { benchmarkRows(b, true) }

// BenchmarkProperties is BenchmarkTimes of edges without times, each with a property.
func BenchmarkProperties(b *testing.B) { benchmarkRows(b, false) }

func benchmarkRows(b *testing.B, timed bool) {
	const vertices, edges, updates = 1 << 17, 600_000, 400_000
	r := rand.New(rand.NewPCG(1, 2))
	end := func() dynamic.ID { // few vertices have most edges
		return dynamic.Num(uint64(vertices * r.Float64() * r.Float64() * r.Float64()))
	}
	var present []stream.Update
	edge := func() stream.Update {
		x := stream.Update{U: end(), V: end(), Time: int64(len(present)), HasTime: timed}
		if !timed {
			x.Properties = []stream.Property{{Name: "w", Value: dynamic.OfInt(x.Time)}}
		}
		present = append(present, x)
		return x
	}
	for range edges {
		edge()
	}
	begin := slices.Clone(present)
	var all []stream.Update
	for range updates {
		if len(all)%2 == 0 {
			all = append(all, edge())
			continue
		}
		i := r.IntN(edges)
		x := present[i]
		x.Op, x.Properties = stream.RemoveEdge, nil
		all = append(all, x)
	}
	for _, put := range []string{"off", "at once"} {
		for _, size := range []int{64, 4096} {
			b.Run(fmt.Sprintf("%s/batches of %d", put, size), func(b *testing.B) {
				var search, update time.Duration
				for b.Loop() {
					b.StopTimer()
					g := dynamic.New(false, false)
					for v := range uint64(vertices) {
						if _, err := g.AddVertex(dynamic.Num(v), g.Class(fmt.Sprint(v*7919%8))); err != nil {
							b.Fatal(err)
						}
					}
					if timed {
						if err := g.KeepTimes(); err != nil {
							b.Fatal(err)
						}
					}
					for i := range begin {
						if _, err := stream.Apply(g, &begin[i]); err != nil {
							b.Fatal(err)
						}
					}
					m := New(g, Options{Workers: 1, AtOnce: put != "off"})
					if _, err := m.Add("q", parse(b, "MATCH (a:0)--(b:1)--(c:2)--(a)"), nest.WatchOptions{CountsOnly: true}); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
					for from := 0; from < updates; from += size {
						res, err := m.Apply(context.Background(), all[from:min(from+size, updates)], nil)
						if err != nil {
							b.Fatal(err)
						}
						search += res.Match
						update += res.Update
					}
					start := time.Now()
					m.Late()
					update += time.Since(start)
				}
				b.ReportMetric(float64(update.Nanoseconds())/float64(b.N)/updates, "ns/change")
				b.ReportMetric(float64(search.Nanoseconds())/float64(b.N)/updates, "ns/search")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
