package watch

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/host"
	"github.com/weftgraph/weft/internal/testing/long"
)

// windowed is n updates of a small graph with times, many of which are equal, and some of which jump ahead or come late.
func windowed(r *rand.Rand, n int) string {
	var b strings.Builder
	now := 100
	for range n {
		if now += r.IntN(3) / 2 * r.IntN(4); r.IntN(15) == 0 {
			now += r.IntN(12)
		}
		u, v, label, time := r.IntN(6), r.IntN(6), "XY"[r.IntN(2)], now-r.IntN(4)
		switch x := r.IntN(20); {
		case x == 0:
			fmt.Fprintf(&b, "{\"op\":\"-v\",\"id\":%d}\n", u)
		case x == 1:
			fmt.Fprintf(&b, "{\"op\":\"+v\",\"id\":%d}\n", u)
		case x < 6:
			fmt.Fprintf(&b, "{\"op\":\"-\",\"u\":%d,\"v\":%d,\"label\":\"%c\"}\n", u, v, label)
		default:
			fmt.Fprintf(&b, "{\"op\":\"+\",\"u\":%d,\"v\":%d,\"label\":\"%c\",\"time\":%d}\n", u, v, label, time)
		}
	}
	return b.String()
}

// snapshot is a graph as it is.
func snapshot(t *testing.T, g *dynamic.Graph) *graph.Graph {
	t.Helper()
	s, err := g.Now().Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// answers are all embeddings of a query, by the oracle.
func answers(t *testing.T, s *graph.Graph, q *Query) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	edge := func(e uint64) string {
		u, v := s.IDs.Int(s.Edges.Src[e]), s.IDs.Int(s.Edges.Dst[e])
		return fmt.Sprint(min(u, v), max(u, v), s.EdgeLabels[s.Edges.Label[e]], s.Edges.Time[e])
	}
	err := oracle.Embeddings(t.Context(), s, q.Pattern, func(m oracle.Match) bool {
		var parts []string
		for _, v := range m.Vertices {
			parts = append(parts, fmt.Sprint(s.IDs.Int(v)))
		}
		for _, e := range m.Edges {
			parts = append(parts, edge(e))
		}
		out[strings.Join(parts, " ")] = true
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWindowLaw: for each update, what is reported turns the oracle's answers in the window before it into those in the window after it. The window is
// found by looking at all edges. Spans, sizes of batches and streams are random.
func TestWindowLaw(t *testing.T) {
	seeds := uint64(25)
	if long.Asked() {
		seeds = 1000
	}
	pool := parse(t, strings.Join([]string{
		"CREATE WATCH wedge AS MATCH (a)-[e:X]-(b)-[f:X]-(c), NOT (a)-[:Y]-(c) RETURN a, b, c, e, f",
		"CREATE WATCH tri AS MATCH (a)--(b)--(c)--(a) RETURN a, b, c",
		"CREATE WATCH soon AS MATCH (a)-[e]-(b)-[f]-(c) ORDERED e < f WITHIN 3 RETURN a, b, c, e, f",
		"CREATE WATCH busy AS MATCH (a)--(b) WHERE deg(a) > 3 RETURN a, b",
		"CREATE WATCH lone AS MATCH (a)-[:X]-(b) WHERE NOT EXISTS { (a)-[:Y]-(x) } RETURN a, b",
		"CREATE WATCH square AS MATCH REPEATABLE ELEMENTS (a)--(b)--(c)--(d)--(a) RETURN a, b, c, d",
		"CREATE WATCH trail AS MATCH DIFFERENT EDGES (a)-[e]-(b)-[f]-(c) RETURN a, b, c, e, f",
		"CREATE WATCH path AS MATCH INDUCED (a)--(b)--(c) RETURN a, b, c",
		"CREATE WATCH product AS MATCH (a)-[e:X]-(b), (c), NOT (b)-[:Y]-(c) RETURN a, b, c, e",
		"CREATE WATCH far AS MATCH (a)-[e]-(b), (c)-[f]-(d) ORDERED e < f WITHIN 3 RETURN a, b, c, d, e, f",
		"CREATE WATCH alarm AS MATCH (a)-[:X]-(b) WHERE EXISTS { (c)-[:Y]-(d)-[:Y]-(e) } RETURN a, b",
	}, ";\n"))
	changes, expired := 0, 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 6))
		span, text := int64(r.IntN(12)), windowed(r, 20+r.IntN(60))
		texts := []Text{}
		for _, i := range r.Perm(len(pool))[:3] {
			texts = append(texts, pool[i].text())
		}
		// What the sinks get, by update and query.
		g := dynamic.New(false, false)
		set := NewSet(g, host.New(g, host.Options{Workers: 1 + r.IntN(3)}), 0)
		if err := set.Expire(span, nil); err != nil {
			t.Fatal(err)
		}
		var qs []*Query
		for i := range texts {
			q, err := texts[i].query()
			if err == nil {
				qs, err = append(qs, q), set.Add(q, false)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		log := &changeLog{got: map[[2]uint64][]string{}}
		batch := []int{1, 2, 7, 4096}[r.IntN(4)]
		if _, err := Run(t.Context(), Options{Set: set, Source: open(t, text), Sinks: []Sink{log}, Batch: batch}); err != nil {
			t.Fatal(err)
		}
		// The window by itself.
		plain := dynamic.New(false, false)
		if err := plain.KeepTimes(); err != nil {
			t.Fatal(err)
		}
		now := int64(math.MinInt64)
		states := make([]map[string]bool, len(qs))
		for i := range states {
			states[i] = map[string]bool{}
		}
		src := open(t, text)
		for seq := uint64(1); ; seq++ {
			var u stream.Update
			if err := src.Next(&u); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if u.HasTime {
				now = max(now, u.Time)
			}
			if s := snapshot(t, plain); s.Edges != nil && now > math.MinInt64 {
				for e := range s.Edges.Time {
					if at := s.Edges.Time[e]; at < now-span {
						id := func(v uint32) dynamic.ID { return dynamic.Num(uint64(s.IDs.Int(v))) }
						if done, err := plain.RemoveEdgeAt(id(s.Edges.Src[e]), id(s.Edges.Dst[e]), plain.EdgeLabel(s.EdgeLabels[s.Edges.Label[e]]), at); err != nil || done != dynamic.Applied {
							t.Fatal(done, err)
						}
						expired++
					}
				}
			}
			if _, err := stream.Apply(plain, &u); err != nil {
				t.Fatal(err)
			}
			s := snapshot(t, plain)
			for i, q := range qs {
				for _, c := range log.got[[2]uint64{seq, uint64(i)}] {
					if has := states[i][c[1:]]; has == (c[0] == '+') {
						t.Fatalf("seed %d, update %d, %s: %s, and it is there: %v", seed, seq, q.Name, c, has)
					}
					if changes++; c[0] == '+' {
						states[i][c[1:]] = true
					} else {
						delete(states[i], c[1:])
					}
				}
				want := answers(t, s, q)
				var missing, wrong []string
				for m := range want {
					if !states[i][m] {
						missing = append(missing, m)
					}
				}
				for m := range states[i] {
					if !want[m] {
						wrong = append(wrong, m)
					}
				}
				if len(missing)+len(wrong) > 0 {
					slices.Sort(missing)
					t.Fatalf("seed %d, window %d, batches of %d, update %d, %s: missing %q, wrong %q\n%s", seed, span, batch, seq, q.Name, missing, wrong, text)
				}
			}
			_ = s.Close()
		}
	}
	t.Logf("%d streams, %d edges expired, %d changes", seeds, expired, changes)
	if expired == 0 || changes == 0 {
		t.Error("nothing happened")
	}
}

// changeLog is a sink that keeps changes by update and query.
type changeLog struct {
	Sink
	got map[[2]uint64][]string
}

func (l *changeLog) Begin(context.Context, *Beginning) (At, bool, error) { return At{}, false, nil }
func (l *changeLog) Flush() error                                        { return nil }
func (l *changeLog) End() error                                          { return nil }
func (l *changeLog) Close() error                                        { return nil }

func (l *changeLog) Change(_ At, c *Change) error {
	var parts []string
	for _, v := range c.IDs {
		parts = append(parts, v.String())
	}
	for _, e := range c.Edges {
		u, v := e.Src, e.Dst
		if v.Compare(u) < 0 {
			u, v = v, u
		}
		a, _ := u.Number()
		b, _ := v.Number()
		parts = append(parts, fmt.Sprint(a, b, e.Label, e.Time))
	}
	k := [2]uint64{c.Seq, uint64(c.Number)}
	l.got[k] = append(l.got[k], sign(c.Added)+strings.Join(parts, " "))
	return nil
}
