package host

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// BenchmarkPutOff makes updates that no watch looks at, in batches of 64, and reports the time of one: until it is in a log, and with the
// changes that the logs are made into. Each edge that is added is removed in a later round. The graph has seven edges a vertex, as lastfm10 has.
func BenchmarkPutOff(b *testing.B) {
	for _, vertices := range []int{1 << 13, 1 << 17, 1 << 20} {
		for _, ids := range []string{"dense", "sparse", "texts"} {
			b.Run(fmt.Sprintf("%d vertices/%s", vertices, ids), func(b *testing.B) { putOff(b, vertices, ids) })
		}
	}
}

func putOff(b *testing.B, vertices int, ids string) {
	const size, rounds = 64, 1 << 11
	r := rand.New(rand.NewPCG(1, uint64(vertices)))
	number := func(v uint64) dynamic.ID {
		switch ids {
		case "sparse":
			return dynamic.Num(v * 1_000_003)
		case "texts":
			return dynamic.Text(fmt.Sprint("v", v))
		default:
			return dynamic.Num(v)
		}
	}
	id := func() dynamic.ID { return number(uint64(r.IntN(vertices))) }
	g := dynamic.New(false, ids == "texts")
	for v := range uint64(vertices) {
		if _, err := g.AddVertex(number(v), g.Class(fmt.Sprint(r.IntN(8)))); err != nil {
			b.Fatal(err)
		}
	}
	edge := func() stream.Update { return stream.Update{U: id(), V: id(), Label: "0"} }
	for range 7 * vertices {
		x := edge()
		if _, err := stream.Apply(g, &x); err != nil {
			b.Fatal(err)
		}
	}
	all := make([]stream.Update, size*rounds)
	for i := range all {
		if i%2 == 0 {
			all[i] = edge()
			continue
		}
		all[i] = all[i-1]
		all[i].U, all[i].V = all[r.IntN(i)].U, all[r.IntN(i)].V // some are absent
		all[i].Op = stream.RemoveEdge
	}
	m := New(g, Options{Workers: 1})
	if _, err := m.Add("q", parse(b, "MATCH (a:A)-[:0]-(b:B)-[:0]-(c:C)-[:0]-(a)"), nest.WatchOptions{CountsOnly: true}); err != nil {
		b.Fatal(err)
	}
	var put, late time.Duration
	n := 0
	batch := make([]stream.Update, size)
	for b.Loop() {
		for at := 0; at < len(all); at += size {
			copy(batch, all[at:]) // as one that was just read
			start := time.Now()
			if _, err := m.Apply(context.Background(), batch, nil); err != nil {
				b.Fatal(err)
			}
			put += time.Since(start)
		}
		start := time.Now()
		m.Late()
		late += time.Since(start)
		n += len(all)
	}
	b.ReportMetric(float64(put.Nanoseconds())/float64(n), "ns/log")
	b.ReportMetric(float64((put+late).Nanoseconds())/float64(n), "ns/all")
	b.ReportMetric(0, "ns/op")
}
