package weft

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTemporal counts rings of transfers in the order of their times. The times of
// the file are dates, so that a window has a unit.
func TestTemporal(t *testing.T) {
	g, err := Open(t.Context(), "testdata/graphs/transfers.csv", WithDirected(true))
	if err != nil {
		t.Fatal(err)
	}
	const ring = "MATCH (a)-[e1:TX]->(b)-[e2:TX]->(c)-[e3:TX]->(a) "
	for text, want := range map[string]int64{
		// ann, bob, cy: 8:00, then 9:30 or the next day 7:15, then 21:00, the next day
		// 8:00 or the third day; dan and eve were paid at the same time.
		ring + "ORDERED e1 < e2 < e3 ON ts":                    5,
		ring + "ORDERED e1 < e2 < e3 ON ts WITHIN 24h":         3,
		ring + "ORDERED e1 < e2 < e3 ON time WITHIN 86399s":    1,
		ring + "ORDERED e1 < e2 < e3 WITHIN 46800000000":       1, // microseconds: 13 h
		ring + "ORDERED e1 < e2 < e3 WITHIN 46799999999":       0,
		ring + "ORDERED e1 < e2 < e3 ON amount":                2,
		ring + "ORDERED e3 < e2 < e1 ON amount WITHIN 40":      2,
		ring + "WITHIN 2h":                                     3,
		"MATCH temporal_cycle(3)":                              6,
		"MATCH temporal_cycle(4)":                              1,
		ring + "ORDERED e1 < e2 ON ts WITHIN 3h":               5,
		"MATCH DIFFERENT EDGES (a)-->(b)-->(a) WITHIN 7d":      6,
		"MATCH DIFFERENT EDGES (a)-->(b)-->(c) WITHIN 1h":      5,
		"MATCH (a)-[x]->(b), (a)-[y]->(b) ORDERED x < y ON ts": 5,
	} {
		q, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		v, err := g.Verify(t.Context(), q, 1e9)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := v.Result.Embeddings.Int64(); got != want || !v.OK {
			t.Errorf("%s: %d embeddings, want %d; recounts agree: %v", text, got, want, v.OK)
		}
		q, err = Parse(text + " RETURN count(*)") // embeddings, whatever the semantics
		if err != nil {
			t.Fatal(err)
		}
		if got, err := runPrinted(t, g, q); err != nil || got != want {
			t.Errorf("%s: the program gives %d, want %d: %v", text, got, want, err)
		}
	}
}

// runPrinted runs the program that a query's plan is printed as, read again from its
// text.
func runPrinted(t *testing.T, g *Graph, q *Query, options ...Option) (int64, error) {
	t.Helper()
	m, err := g.Matcha(t.Context(), q)
	if err != nil {
		return 0, err
	}
	r, err := matchaProgram(t, m.String()).Run(t.Context(), map[string]any{"G": g}, nil, options...)
	if err != nil {
		return 0, err
	}
	return r.Values[0].(int64), nil
}

// TestTemporalErrors: an error in an order has its place.
func TestTemporalErrors(t *testing.T) {
	g, err := Open(t.Context(), "testdata/graphs/transfers.csv", WithDirected(true))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"MATCH (a)-[e]->(b)-->(c) WITHIN 5":                             "column 26: WITHIN bounds the times of named edges",
		"MATCH (a)-[e]->(b)-[f]->(c) ORDERED e < f ON amount WITHIN 3h": "column 29: WITHIN has a unit, and amount is a plain number",
	} {
		q, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Count(t.Context(), q); !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestTemporalEnds: conditions, labels and degree hold for a vertex without a timed edge, which is only counted.
func TestTemporalEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	edges, vertices := "src,dst,ts\n", "id,label,x\n"
	for range 160 {
		edges += fmt.Sprintf("%d,%d,%d\n", r.IntN(16), r.IntN(16), r.IntN(100))
	}
	for v := range 16 {
		vertices += fmt.Sprintf("%d,%s,%d\n", v, []string{"A", "B", "C"}[v%3], r.IntN(5))
	}
	g := opened(t, edges, vertices, WithDirected(true))
	seen := map[string]bool{}
	for _, where := range []string{"", " WHERE d.x > 2", " WHERE d.x > a.x", " WHERE deg(d) > 18", " WHERE NOT EXISTS { (d)-->(a) }", " WHERE d.x = 1 OR id(d) < 3"} {
		for _, label := range []string{"", ":B", ":A|C"} {
			for _, path := range []string{"(a)-[e]->(b)-[f]->(c)-->(d", "(a)-[e]->(b)-[f]->(c)<--(d", "(a)-[e]->(b)-[f]->(c)--(d"} {
				text := "MATCH " + path + label + ")" + where + " ORDERED e < f ON ts WITHIN 30 RETURN count(*)"
				q, err := Parse(text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				var got [2]string
				for i, engine := range []string{"oracle", "host"} {
					n, err := g.Count(t.Context(), q, WithEngine(engine))
					if err != nil {
						t.Fatalf("%s: %v", text, err)
					}
					got[i] = n.Embeddings.String()
				}
				if got[0] != got[1] {
					t.Errorf("%s: %s, the oracle %s", text, got[1], got[0])
				}
				seen[got[0]] = true
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("the counts are %v", seen)
	}
}
