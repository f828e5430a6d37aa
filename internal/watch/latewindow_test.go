package watch

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/host"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/vfs"
)

// mixed is n updates of a graph with times, three labels of vertices and of edges, and values of edges. Some are mistakes.
func mixed(r *rand.Rand, n int) string {
	var b strings.Builder
	now := 0
	for range n {
		now += r.IntN(3) / 2 * r.IntN(4)
		u, v, label, time := r.IntN(9), r.IntN(9), "XYZ"[r.IntN(3)], now-r.IntN(4)
		switch x := r.IntN(24); {
		case x == 0:
			fmt.Fprintf(&b, "{\"op\":\"-v\",\"id\":%d}\n", u)
		case x < 3:
			fmt.Fprintf(&b, "{\"op\":\"+v\",\"id\":%d,\"labels\":[\"L%d\"]}\n", u, u%3)
		case x == 3:
			fmt.Fprintf(&b, "{\"op\":\"=v\",\"id\":%d,\"labels\":[\"L%d\"]}\n", u, r.IntN(3))
		case x == 4:
			fmt.Fprintf(&b, "{\"op\":\"=\",\"u\":%d,\"v\":%d,\"label\":\"%c\",\"properties\":{\"w\":%d}}\n", u, v, label, r.IntN(3))
		case x == 5:
			fmt.Fprintf(&b, "{\"op\":\"+\",\"u\":%d,\"v\":%d,\"label\":\"%c\"}\n", u, v, label) // without a time
		case x < 8:
			fmt.Fprintf(&b, "{\"op\":\"-\",\"u\":%d,\"v\":%d,\"label\":\"%c\"}\n", u, v, label)
		case x < 11:
			fmt.Fprintf(&b, "{\"op\":\"-\",\"u\":%d,\"v\":%d,\"label\":\"%c\",\"time\":%d}\n", u, v, label, time)
		case x < 17:
			fmt.Fprintf(&b, "{\"op\":\"+\",\"u\":%d,\"v\":%d,\"label\":\"%c\",\"time\":%d,\"properties\":{\"w\":%d}}\n", u, v, label, time, r.IntN(3))
		default:
			fmt.Fprintf(&b, "{\"op\":\"+\",\"u\":%d,\"v\":%d,\"label\":\"%c\",\"time\":%d}\n", u, v, label, time)
		}
	}
	return b.String()
}

// TestLateWindow runs services over streams with times, with and without a sliding window, whose queries look at some of the changes: one that makes all at once, and
// one that puts the others off, with other batches and workers, and once more with ends from which it goes on, also from a file of the graph. Outputs, numbers and graphs are
// the same.
func TestLateWindow(t *testing.T) {
	seeds := uint64(20)
	if long.Asked() {
		seeds = 400
	}
	pool := []string{
		"CREATE WATCH q%d AS MATCH (a:L0)-[e:X]-(b:L1)-[f:X]-(c:L0) RETURN a, b, c, e, f",
		"CREATE WATCH q%d AS MATCH (a:L0)-[:Y]-(b:L0), NOT (a)-[:Z]-(b)",
		"CREATE WATCH q%d AS MATCH (a:L1)-[e]-(b:L1) WHERE e.w > 0 RETURN a, b, e, e.w",
		"CREATE WATCH q%d AS MATCH (a:L2)-[e:Z]-(b:L2)-[f:Z]-(c) ORDERED e < f WITHIN 3 RETURN a, b, c, e, f",
		"CREATE WATCH q%d AS MATCH (a:L0)-[:X]-(b:L0) WHERE deg(a) > 2 RETURN a, b, deg(b)",
		"CREATE WATCH q%d AS MATCH INDUCED (a:L0)-[:X]-(b:L1)-[:X]-(c:L1)",
		"CREATE WATCH q%d AS MATCH (a:L0)-[:X]-(b:L1) WHERE EXISTS { (b)-[:Y]-(x:L2) }",
	}
	lost := errors.New("the source is lost")
	changes := 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 8))
		updates, span, file := mixed(r, 40+r.IntN(200)), int64(r.IntN(20)), r.IntN(2) == 0
		var text strings.Builder
		for i, k := range r.Perm(len(pool))[:1+r.IntN(2)] {
			fmt.Fprintf(&text, pool[k]+";\n", i)
		}
		n := strings.Count(updates, "\n")
		batch, workers := []int{1, 2, 7, 64, 4096}[r.IntN(5)], 1+r.IntN(2)
		dir := t.TempDir()
		run := func(name, state string, after int, atOnce bool) (string, *Status, []byte, error) {
			o := Options{Policy: stream.Skip, Batch: batch, Snapshot: 30}
			var g *dynamic.Graph
			if state != "" {
				st, err := OpenState(vfs.OS{}, state)
				if err != nil {
					t.Fatal(err)
				}
				note := ""
				if g, o.From, note = st.Graph(); note != "" {
					t.Fatal(note)
				}
				o.State = st
			}
			if g == nil {
				g = dynamic.New(seed%2 == 0, false)
				if err := g.KeepTimes(); err != nil {
					t.Fatal(err)
				}
				for v := range uint64(9) {
					if _, err := g.AddVertex(dynamic.Num(v), g.Class(fmt.Sprint("L", v%3))); err != nil {
						t.Fatal(err)
					}
				}
			}
			w := workers
			if atOnce {
				w = 1
			}
			o.Set = NewSet(g, host.New(g, host.Options{Workers: w, AtOnce: atOnce}), 0)
			addQueries(t, o.Set, text.String())
			if span > 0 {
				if err := o.Set.Expire(span, nil); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, name)
			o.Sinks, o.Source = toFile(path), &cut{open(t, updates), after, lost}
			s, err := Run(t.Context(), o)
			b, _ := os.ReadFile(path)
			var whole bytes.Buffer
			if _, err := g.WriteTo(&whole); err != nil {
				t.Fatal(err)
			}
			return string(b), s, whole.Bytes(), err
		}
		want, all, graph, err := run("at once", "", n+1, true)
		if err != nil {
			t.Fatal(seed, err)
		}
		got, s, whole, err := run("late", "", n+1, false)
		if err != nil || got != want || s.Outcomes != all.Outcomes || s.Seq != all.Seq {
			t.Fatalf("seed %d, window %d, batches of %d, %d workers: %v, %+v, want %+v\n%s%s\n%s\nwant\n%s", seed, span, batch, workers, err, s.Outcomes, all.Outcomes, text.String(), updates, got, want)
		}
		if workers == 1 && !bytes.Equal(whole, graph) { // in windows rows have other numbers
			t.Fatalf("seed %d: the graphs differ", seed)
		}
		changes += strings.Count(want, "\n")
		if !file {
			continue
		}
		state := filepath.Join(dir, "state")
		for after := r.IntN(n); after < n; after += 1 + r.IntN(n/2) {
			if _, _, _, err := run("parts", state, after, false); !errors.Is(err, lost) {
				t.Fatal(seed, err)
			}
		}
		if got, s, _, err := run("parts", state, n+1, false); err != nil || got != want || s.Outcomes != all.Outcomes || s.Resumed == 0 {
			t.Fatalf("seed %d, with stops: %v, %+v, want %+v; the same output: %v", seed, err, s.Outcomes, all.Outcomes, got == want)
		}
	}
	t.Logf("%d streams, %d changes", seeds, changes)
	if changes < int(seeds) {
		t.Error("nothing changed")
	}
}
