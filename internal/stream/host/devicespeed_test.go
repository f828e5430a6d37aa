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

// prompt is a device that has found nothing in no time, so that what remains is the host's own work. As engine pipeline's, its graph has the edges that
// some watch looks at.
type prompt struct {
	g       *dynamic.Graph
	counts  []uint64
	posted  uint64
	windows int // that ended
	whole   bool
	groups  bool // it searches groups
}

func (x *prompt) Bind(ws *nest.Watches) error {
	if x.groups {
		ws.Table.MakeGroups()
	}
	return nil
}
func (x *prompt) Whole() bool { return x.whole }
func (x *prompt) Has() func(label dynamic.Label, from, to dynamic.Class) bool {
	return func(dynamic.Label, dynamic.Class, dynamic.Class) bool { return false }
}

// Keep implements nest.Keeper.
func (x *prompt) Keep(context.Context) error { return nil }

func (x *prompt) Settle() error {
	x.windows++
	return nil
}
func (x *prompt) Forget()      {}
func (x *prompt) Work() string { return "" }
func (x *prompt) Close() error { return nil }

func (x *prompt) Post(_ context.Context, _ uint64, _ []dynamic.Event, tasks []nest.Task) error {
	for range tasks {
		x.counts = append(x.counts, 0)
	}
	x.posted = x.g.Version()
	return nil
}

func (x *prompt) Take(context.Context, bool) (nest.Found, error) {
	f := nest.Found{Version: x.posted, Counts: x.counts}
	x.counts = x.counts[:0]
	return f, nil
}

// BenchmarkBesideDevice measures the host's work for an update beside a device, with one worker and with two, with labels by which no watch looks
// at most updates and without, and for five searches of an update one by one and as a group.
func BenchmarkBesideDevice(b *testing.B) {
	const n = 1 << 16
	for _, c := range []struct {
		text   string
		labels uint64
		groups bool
	}{
		{"MATCH (a:L0)--(b:L0)--(c:L0)--(a)", 1, true}, {"MATCH (a:L0)--(b:L0)--(c:L0)--(a)", 4, true},
		{"MATCH (a)--(b)--(c)--(a), (c)--(d)", 1, false}, {"MATCH (a)--(b)--(c)--(a), (c)--(d)", 1, true},
	} {
		labels := c.labels
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/labels=%d/groups=%v/workers=%d", c.text, labels, c.groups, workers), func(b *testing.B) {
				g := dynamic.New(false, false)
				for i := range uint64(n) {
					if _, err := g.AddVertex(dynamic.Num(i), g.Class(fmt.Sprint("L", i%labels))); err != nil {
						b.Fatal(err)
					}
				}
				at := func(i uint64) (dynamic.ID, dynamic.ID) {
					h := i * 0x9e3779b97f4a7c15
					return dynamic.Num(h >> 48), dynamic.Num(h >> 32 & (n - 1))
				}
				for i := range uint64(8 * n) {
					u, v := at(i)
					if _, err := g.AddEdge(u, v, dynamic.NoLabel); err != nil {
						b.Fatal(err)
					}
				}
				m := New(g, Options{Workers: workers, Device: &prompt{g: g, groups: c.groups}})
				if _, err := m.Add("q", parse(b, c.text), nest.WatchOptions{CountsOnly: true}); err != nil {
					b.Fatal(err)
				}
				var batch []stream.Update
				for i := range uint64(1 << 16) {
					u, v := at(8*n + i)
					batch = append(batch, stream.Update{U: u, V: v})
				}
				back := reversed(batch)
				var update, search time.Duration
				k := 0
				b.ReportAllocs()
				for b.Loop() {
					for _, x := range [][]stream.Update{batch, back} {
						res, err := m.Apply(context.Background(), x, nil)
						if err != nil {
							b.Fatal(err)
						}
						update += res.Update
						search += res.Match
						k += len(x)
					}
				}
				b.ReportMetric(float64(update.Nanoseconds())/float64(k), "ns/update")
				b.ReportMetric(float64(search.Nanoseconds())/float64(k), "ns/search")
			})
		}
	}
}
