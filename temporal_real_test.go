package weft_test

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
)

// An event of a temporal graph, as its file has it; times in millionths of a second.
type event struct {
	from, to, weight, time int64
}

// readEvents reads a temporal graph of KONECT without weft's reader: the distinct
// events that are not loops, in the order of their times.
func readEvents(t *testing.T, name string) []event {
	t.Helper()
	f, err := os.Open(filepath.Join(dataDir(t), "temporal", name+".txt.gz"))
	if err != nil {
		t.Skipf("no temporal graphs: set WEFT_DATA (%v)", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[event]bool{}
	var out []event
	for sc := bufio.NewScanner(z); sc.Scan(); {
		if strings.HasPrefix(sc.Text(), "%") {
			continue
		}
		var v [4]float64
		for i, w := range strings.Fields(sc.Text()) {
			if v[i], err = strconv.ParseFloat(w, 64); err != nil {
				t.Fatal(err)
			}
		}
		e := event{int64(v[0]), int64(v[1]), int64(v[2]), int64(math.Round(v[3] * 1e6))}
		if e.from != e.to && !seen[e] {
			seen[e] = true
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(x, y event) int { return int(x.time - y.time) })
	return out
}

// cycles counts directed cycles of k events, each later than the one before it, the
// last no more than within after the first, by trying all events at the last vertex.
func cycles(events []event, k int, within int64) (n int64) {
	out := map[int64][]event{}
	for _, e := range events {
		out[e.from] = append(out[e.from], e)
	}
	var path []event
	var grow func()
	grow = func() {
		first, last := path[0], path[len(path)-1]
		for _, e := range out[last.to] {
			if e.time <= last.time || e.time-first.time > within {
				continue
			}
			again := slices.ContainsFunc(path, func(p event) bool { return p.from == e.to })
			switch {
			case len(path) == k-1:
				if e.to == first.from {
					n++
				}
			case !again:
				path = append(path, e)
				grow()
				path = path[:len(path)-1]
			}
		}
	}
	for _, e := range events {
		path = []event{e}
		grow()
	}
	return n
}

// TestTemporalGraphs counts temporal triangles and 4-cycles in real graphs, and compares with a search without
// windows.
func TestTemporalGraphs(t *testing.T) {
	for _, c := range []struct {
		name   string
		k      int
		within string
		micros int64
	}{
		{"collegemsg", 3, "1h", 3600e6},
		{"collegemsg", 3, "24h", 24 * 3600e6},
		{"collegemsg", 4, "1h", 3600e6},
		{"bitcoin-otc", 3, "24h", 24 * 3600e6},
		{"bitcoin-otc", 4, "24h", 24 * 3600e6},
		{"radoslaw-email", 3, "1h", 3600e6},
	} {
		events := readEvents(t, c.name)
		g, err := weft.Open(t.Context(), filepath.Join(dataDir(t), "temporal", c.name+".txt.gz"), weft.WithDirected(true))
		if err != nil {
			t.Fatal(err)
		}
		if g.NumEdges() != uint64(len(events)) {
			t.Errorf("%s: %d edges, want %d", c.name, g.NumEdges(), len(events))
		}
		want := cycles(events, c.k, c.micros)
		edges := "MATCH (v0)"
		var order []string
		for i := range c.k {
			edges += fmt.Sprintf("-[e%d]->(v%d)", i, (i+1)%c.k)
			order = append(order, fmt.Sprintf("e%d", i))
		}
		q, err := weft.Parse(edges + " ORDERED " + strings.Join(order, " < ") + " WITHIN " + c.within)
		if err != nil {
			t.Fatal(err)
		}
		for _, options := range [][]weft.Option{{weft.WithThreads(3)}, {weft.WithThreads(1), weft.WithEngineOption("host.windows", "off")}} {
			r, err := g.Count(t.Context(), q, options...)
			if err != nil || r.Embeddings.Int64() != want || r.Method != "temporal" || want == 0 {
				t.Errorf("%s: %d-cycles within %s: %v, want %d (method %s): %v", c.name, c.k, c.within, r.Embeddings, want, r.Method, err)
			}
		}
	}
}

// TestTemporalPrinted runs the program that the plan of a temporal cycle is printed
// as, in the interpreter and as C.
func TestTemporalPrinted(t *testing.T) {
	file := filepath.Join(dataDir(t), "temporal", "collegemsg.txt.gz")
	if _, err := os.Stat(file); err != nil {
		t.Skipf("no temporal graphs: set WEFT_DATA (%v)", err)
	}
	g, err := weft.Open(t.Context(), file, weft.WithDirected(true))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int64{
		"MATCH temporal_cycle(3)": 576666,
		"MATCH (a)-[e]->(b)-[f]->(c)-[g]->(a) ORDERED e < f < g WITHIN 24h": 0,
	} {
		q, err := weft.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if want == 0 {
			r, err := g.Count(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			want = r.Embeddings.Int64()
		}
		m, err := g.Matcha(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range []string{"interp", "c"} {
			r, err := m.Run(t.Context(), map[string]any{"G": g}, nil, weft.WithTarget(target))
			if errors.Is(err, weft.ErrDevice) {
				t.Log(err) // no compiler here
				continue
			}
			if err != nil || r.Values[0] != want || want == 0 {
				t.Errorf("%s, %s: %v, want %d: %v", text, target, r.Values, want, err)
			}
		}
	}
}

// TestTemporalProgram compares temporal triangles with the program for them in the
// library of Matcha: within a time from first to last, and from edge to edge.
func TestTemporalProgram(t *testing.T) {
	text, err := os.ReadFile("internal/matcha/library/temporal.matcha")
	if err != nil {
		t.Fatal(err)
	}
	m, err := weft.ParseMatcha("temporal", string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"collegemsg", "bitcoin-otc", "radoslaw-email"} {
		events := readEvents(t, name)
		events = events[:min(len(events), 2000)]
		var list []int64
		file := filepath.Join(t.TempDir(), "events.txt")
		var lines strings.Builder
		for _, e := range events {
			list = append(list, e.from, e.to, e.time)
			fmt.Fprintf(&lines, "%d %d %d %d\n", e.from, e.to, e.weight, e.time)
		}
		if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := weft.Open(t.Context(), file, weft.WithDirected(true), weft.WithColumns("src", "dst", "weight", "time"))
		if err != nil {
			t.Fatal(err)
		}
		found := int64(0)
		for _, d := range [][3]int64{
			{3600e6, 3600e6, 24 * 3600e6}, {24 * 3600e6, 24 * 3600e6, 24 * 3600e6}, {2 * 3600e6, 12 * 3600e6, 13 * 3600e6},
		} {
			gap1, gap2, total := d[0], d[1], d[2]
			r, err := m.Run(t.Context(), map[string]any{"E": list, "gap1": gap1, "gap2": gap2, "total": total}, nil)
			if err != nil {
				t.Fatal(err)
			}
			q, err := weft.Parse(fmt.Sprintf("MATCH (a)-[e1]->(b)-[e2]->(c)-[e3]->(a) ORDERED e1 < e2 < e3 WITHIN %d "+
				"WHERE e2.time - e1.time <= %d AND e3.time - e2.time <= %d", total, gap1, gap2))
			if err != nil {
				t.Fatal(err)
			}
			got, err := g.Count(t.Context(), q)
			if err != nil || got.Embeddings.String() != fmt.Sprint(r.Values[0]) {
				t.Errorf("%s, %d and %d from edge to edge and %d in all: %v, the program says %v: %v", name, gap1, gap2, total, got.Embeddings, r.Values, err)
			}
			found += got.Embeddings.Int64()
		}
		if found == 0 {
			t.Errorf("%s: no triangle to compare", name)
		}
	}
}
