package watch

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/host"
)

// TestDegreesAtOnce: degrees that a query returns are those at the version of the match, also if several workers change the graph
// with a whole batch, and edges that no match has change them.
func TestDegreesAtOnce(t *testing.T) {
	const least, others, updates = 8, 60, 1500
	r := rand.New(rand.NewPCG(3, 4))
	var vertices, edges strings.Builder
	for v := range others {
		label := "A"
		if v >= least {
			label = "B"
		}
		fmt.Fprintf(&vertices, "{\"op\":\"+v\",\"id\":%d,\"labels\":[%q]}\n", v, label)
	}
	for range updates {
		u, v := r.IntN(least), least+r.IntN(others-least)
		if r.IntN(8) == 0 {
			v = r.IntN(least)
		}
		fmt.Fprintf(&edges, "{\"op\":\"%c\",\"u\":%d,\"v\":%d}\n", "++-"[r.IntN(3)], u, v)
	}
	run := func(workers int, query string) (out []string) {
		t.Helper()
		g := dynamic.New(false, false)
		s := NewSet(g, host.New(g, host.Options{Workers: workers}), 0)
		seq := uint64(0)
		for i, text := range []string{vertices.String(), edges.String()} {
			us := all(t, text)
			if i == 1 {
				addQueries(t, s, query)
			}
			_, err := s.Apply(t.Context(), seq, us, func(c *Change) error {
				out = append(out, fmt.Sprint(c.Seq, c.Added, c.IDs, c.Values))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			seq += uint64(len(us))
		}
		return out
	}
	for _, query := range []string{
		"CREATE WATCH w AS MATCH (a:A)--(b:A) RETURN deg(a), a, b",
		"CREATE WATCH w AS MATCH (a:A)--(b:A) RETURN deg(a) + 2 * deg(b), a, b",
	} {
		want, got := run(1, query), run(4, query)
		if len(want) < 50 || fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("%s: %d changes by one worker and %d by four, which differ", query, len(want), len(got))
		}
	}
}

// all are the updates of a text.
func all(t *testing.T, text string) (us []stream.Update) {
	t.Helper()
	file := open(t, text)
	for {
		var u stream.Update
		if err := file.Next(&u); err == io.EOF {
			return us
		} else if err != nil {
			t.Fatal(err)
		}
		us = append(us, u)
	}
}
