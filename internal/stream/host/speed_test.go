package host

import (
	"context"
	"fmt"
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
