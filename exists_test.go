package weft_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft"
)

// TestExistsApart: under iso, the vertices of EXISTS differ from all vertices of the match, whether and however
// the text mentions these.
func TestExistsApart(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	edges := ""
	for range 40 {
		edges += fmt.Sprintln(r.IntN(14), r.IntN(14))
	}
	for _, directed := range []bool{false, true} {
		g := graphOf(t, edges, weft.WithDirected(directed))
		for _, same := range [][]string{
			{
				"MATCH (a)--(b) WHERE EXISTS { (a)--(c) }",
				"MATCH (a)--(b) WHERE EXISTS { (a)--(c), (b) }",
				"MATCH (a)--(b) WHERE EXISTS { (a)--(c), (a)--(b) }",
				"MATCH (a)--(b) WHERE EXISTS { (a)--(c) WHERE id(b) = id(b) }",
				"MATCH (a)--(b) WHERE EXISTS { REPEATABLE ELEMENTS (a)--(c) WHERE c <> b }",
				"MATCH (a)--(b) WHERE deg(a) > 1",
			},
			{
				"MATCH (a)--(b)--(c) WHERE NOT EXISTS { (a)--(x)--(c) }",
				"MATCH (a)--(b)--(c) WHERE NOT EXISTS { (a)--(x)--(c) WHERE b.x IS NULL }",
				"MATCH (a)--(b)--(c), NOT (a)--()--(c)",
				"MATCH (a)--(b)--(c) WHERE NOT EXISTS { REPEATABLE ELEMENTS (a)--(x)--(c) WHERE x <> b }",
			},
			{
				"MATCH (a)-->(b)-->(c) WHERE EXISTS { (a)-->(x) WHERE NOT EXISTS { (x)-->(y) } }",
				"MATCH (a)-->(b)-->(c) WHERE EXISTS { (a)-->(x) WHERE NOT EXISTS { (x)-->(y), (a), (b), (c) } }",
				"MATCH (a)-->(b)-->(c) WHERE EXISTS { (a)-->(x), (c) WHERE NOT EXISTS { (x)-->(y) WHERE id(y) <> id(b) } }",
				"MATCH (a)-->(b)-->(c) WHERE EXISTS { REPEATABLE ELEMENTS (a)-->(x) WHERE x <> b AND x <> c AND NOT EXISTS { (x)-->(y) WHERE ALL_DIFFERENT(y, a, b) AND y <> c } }",
				"MATCH (a)-->(b)-->(c) WHERE EXISTS { REPEATABLE ELEMENTS (a)-->(x) WHERE x <> b AND x <> c AND NOT EXISTS { DIFFERENT NODES (x)-->(y) } }",
			},
			{ // INDUCED is about paths
				"MATCH (a)--(b)--(c) WHERE EXISTS { INDUCED (a)--(x)--(c) }",
				"MATCH (a)--(b)--(c) WHERE EXISTS { INDUCED (a)--(x)--(c) WHERE id(b) = id(b) }",
				"MATCH (a)--(b)--(c), NOT (a)--(c) WHERE EXISTS { (a)--(x)--(c) }",
			},
			{
				"MATCH REPEATABLE ELEMENTS (a)--(b)--(c) WHERE EXISTS { DIFFERENT NODES (a)--(x) }",
				"MATCH REPEATABLE ELEMENTS (a)--(b)--(c) WHERE EXISTS { DIFFERENT NODES (a)--(x), (b), (c) }",
				"MATCH REPEATABLE ELEMENTS (a)--(b)--(c) WHERE EXISTS { (a)--(x) WHERE x <> b AND x <> c }",
			},
		} {
			want := ""
			for _, text := range same {
				for _, engine := range []string{"oracle", "host"} {
					got := countOf(t, g, text, weft.WithEngine(engine), weft.WithList(weft.Embeddings))
					if want == "" {
						want = got
					}
					if got != want {
						t.Errorf("directed %v, %s: %s counts %s, and %s counts %s", directed, engine, text, got, same[0], want)
					}
				}
			}
			if want == "0" {
				t.Errorf("directed %v: %s counts nothing", directed, same[0])
			}
		}
	}
}

// TestExistsSymmetries: a symmetry may exchange vertices from which EXISTS only differs.
func TestExistsSymmetries(t *testing.T) {
	q, err := weft.Parse("MATCH (h)--(a), (h)--(b), (h)--(c) WHERE EXISTS { (h)--(x) }")
	if err != nil {
		t.Fatal(err)
	}
	g := graphOf(t, "h 1\nh 2\nh 3\nh 4\n")
	r, err := g.Count(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if r.Subgraphs.Int64() != 4 || r.Automorphisms.Int64() != 6 {
		t.Errorf("%v subgraphs by %v symmetries, want 4 by 6", r.Subgraphs, r.Automorphisms)
	}
}

// TestKindsOfIDs: ids are compared with numbers and with texts as the graph writes them,
// also where a condition is about several vertices.
func TestKindsOfIDs(t *testing.T) {
	for edges, other := range map[string]string{
		"5 x\nx 6\n6 07\n": "0", // ids are texts: another way to write 5 is another id
		"5 8\n8 6\n6 7\n":  "1", // and here numbers
	} {
		g := graphOf(t, edges, weft.WithDirected(true))
		for text, n := range map[string]string{
			"id(a) = 5":                               "1",
			"id(a) = '5'":                             "1",
			"id(a) = 5 OR id(b) = 5":                  "1",
			"id(a) = '5' OR id(b) = '5'":              "1",
			"6 = id(a) OR '6' = id(b)":                "2",
			"id(a) = $p OR id(b) = $p":                "1",
			"id(a) = '05' OR id(b) = '05'":            other,
			"id(a) = 5.0 OR id(b) = 5.0":              other,
			"id(a) IN [5, '6'] OR id(b) IN ['5', 99]": "2",
		} {
			for _, engine := range []string{"oracle", "host"} {
				if got := countOf(t, g, "MATCH (a)-->(b) WHERE "+text, weft.WithEngine(engine), weft.WithParam("p", "5")); got != n {
					t.Errorf("%s on %q: %s, want %s", text, edges, got, n)
				}
			}
		}
	}
}

// TestExistsMode: EXISTS has the mode of the query, whether the text or an option
// gives it.
func TestExistsMode(t *testing.T) {
	g := graphOf(t, "1 2\n2 3\n")
	for mode, words := range map[string]string{"hom": "REPEATABLE ELEMENTS", "trail": "DIFFERENT EDGES", "iso": "DIFFERENT NODES"} {
		for _, cond := range []string{"EXISTS { (a)--(c)--(d) }", "EXISTS { (a)--(c) WHERE EXISTS { (c)--(d) } }"} {
			plain := countOf(t, g, "MATCH (a)--(b) WHERE "+cond, weft.WithSemantics(mode))
			named := countOf(t, g, "MATCH "+words+" (a)--(b) WHERE "+cond)
			if plain != named {
				t.Errorf("%s: %s counts %s by the option and %s by the text", mode, cond, plain, named)
			}
		}
	}
}

func countOf(t *testing.T, g *weft.Graph, text string, options ...weft.Option) string {
	t.Helper()
	q, err := weft.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	r, err := g.Count(context.Background(), q, options...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r.Embeddings.String()
}

// graphOf reads an edge list.
func graphOf(t *testing.T, edges string, options ...weft.Option) *weft.Graph {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph.txt")
	if err := os.WriteFile(path, []byte(edges), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := weft.Open(context.Background(), path, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// TestExcludedEdge: in an undirected graph NOT (a)-->(c) excludes every edge between a and c, in each plan of
// the pattern.
func TestExcludedEdge(t *testing.T) {
	g := graphOf(t, "0 10\n0 20\n")
	for _, text := range []string{
		"MATCH INDUCED (a)--(b), (a)--(c), NOT (a)-->(c)",
		"MATCH INDUCED (a)--(b), (a)--(c), NOT (a)-->(b)",
		"MATCH (a)--(b), (a)--(c), NOT (a)<--(c)",
	} {
		if n := countOf(t, g, text); n != "0" {
			t.Errorf("%s counts %s", text, n)
		}
	}
}

// TestCatalogueWithin: a named pattern with ORDERED, WITHIN and conditions on its edges counts as the same pattern
// written out.
func TestCatalogueWithin(t *testing.T) {
	g, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", "transfers.csv"), weft.WithDirected(true))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	within := "WITHIN 30d"
	for call, written := range map[string]string{
		"MATCH temporal_cycle(2) " + within:                                "MATCH (a)-[e1]->(b)-[e2]->(a) ORDERED e1 < e2 " + within,
		"MATCH temporal_cycle(3, a, b, c) " + within:                       "MATCH (a)-[e1]->(b)-[e2]->(c)-[e3]->(a) ORDERED e1 < e2 < e3 " + within,
		"MATCH fan_in(2) " + within:                                        "MATCH (h)<-[x]-(a), (h)<-[y]-(b) " + within,
		"MATCH fan_in(2, h, a, b) ORDERED e2 < e1 " + within:               "MATCH (h)<-[x]-(a), (h)<-[y]-(b) ORDERED y < x " + within,
		"MATCH fan_out(2) WHERE e1.time < e2.time":                         "MATCH (h)-[x]->(a), (h)-[y]->(b) WHERE x.time < y.time",
		"MATCH fan_in(1, h, a), (h)-[e1]->(b) ORDERED e1 < e1_2 " + within: "",
		"MATCH fan_in(1, h, a), (h)-[x]->(b) ORDERED e1 < x " + within:     "MATCH (h)<-[e]-(a), (h)-[x]->(b) ORDERED e < x " + within,
	} {
		if written == "" {
			if _, err := weft.Parse(call); err == nil {
				t.Errorf("%s: no error", call)
			}
			continue
		}
		for _, engine := range []string{"host", "oracle"} {
			got, want := countOf(t, g, call, weft.WithEngine(engine)), countOf(t, g, written, weft.WithEngine(engine))
			if got != want || got == "0" {
				t.Errorf("%s by %s: %s, written out %s", call, engine, got, want)
			}
		}
	}
}
