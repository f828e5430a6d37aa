package library_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/pattern"
)

// answers are the patterns that programs count, except those of motifs. Programs
// that are not here have tests of their own.
var answers = map[string][]string{}

func init() {
	for _, e := range library.Entries() {
		if e.Counts != nil && !strings.HasPrefix(e.Counts[0], "motifs") {
			answers[e.Name] = e.Counts
		}
	}
}

// labelledPrograms count the embeddings of a triangle with a tail.
var labelledPrograms = []string{"join", "decompose", "decompose_join"}

func load(t testing.TB, name string) *asg.Program {
	t.Helper()
	f, err := library.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := asg.Build(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type failer interface {
	Helper()
	Fatal(args ...any)
}

func result(t failer, p *asg.Program, in map[string]data.Input, emit func([]types.Word) bool) interp.Result {
	t.Helper()
	set, err := data.Bind(p, in)
	if err != nil {
		t.Fatal(err)
	}
	r, err := interp.Run(context.Background(), p, set, interp.Options{Emit: emit})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// paper is the end of a comment's line that names a paper: its year.
var paper = regexp.MustCompile(`(?m)^# .*(19|20)\d\d\.$`)

func TestEntries(t *testing.T) {
	for _, e := range library.Entries() {
		f, err := library.Parse(e.Name)
		if err != nil {
			t.Fatal(err)
		}
		if got := syntax.Format(f); got != e.Text {
			t.Errorf("%s is not in canonical form, which is\n%s", e.Name, got)
		}
		if answers[e.Name] == nil && motifPrograms[e.Name] == 0 && !slices.Contains(labelledPrograms, e.Name) && e.Name != "temporal" && temporalQueries[e.Name] == nil && listed[strings.TrimSuffix(e.Name, "_labelled")] == nil {
			t.Errorf("%s has no test", e.Name)
		}
		if e.Doc == "" || !paper.MatchString(e.Text) {
			t.Errorf("%s does not name its paper", e.Name)
		}
	}
	if _, err := library.Parse("nothing"); err == nil || !strings.Contains(err.Error(), "triangles") {
		t.Errorf("%v", err)
	}
}

// drawGraph draws a graph of few vertices, with labels 0 … labels-1, 0: none.
func drawGraph(t *rapid.T, labels int) *graph.Graph {
	n := rapid.IntRange(1, 10).Draw(t, "vertices")
	edge := rapid.Uint32Range(0, uint32(n-1))
	in := graph.CSRInput{Off: make([]uint64, n+1)}
	lists := make([][]uint32, n)
	for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
		a, b := edge.Draw(t, "a"), edge.Draw(t, "b")
		lists[a], lists[b] = append(lists[a], b), append(lists[b], a)
	}
	for v, l := range lists {
		in.Adj = append(in.Adj, l...)
		in.Off[v+1] = uint64(len(in.Adj))
	}
	for range labels {
		in.LabelNames = append(in.LabelNames, fmt.Sprint(len(in.LabelNames)))
	}
	if labels > 0 {
		for range n {
			in.Label = append(in.Label, uint32(rapid.IntRange(0, labels-1).Draw(t, "label")))
		}
	}
	g, err := graph.FromCSR(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func embeddings(t failer, g *graph.Graph, p *pattern.Pattern) (n int64) {
	t.Helper()
	if err := oracle.Embeddings(context.Background(), g, p, func(oracle.Match) bool { n++; return true }); err != nil {
		t.Fatal(err)
	}
	return n
}

func byName(t failer, name string) *pattern.Pattern {
	t.Helper()
	ps, err := pattern.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return ps[0]
}

// TestRandom compares with the engine that is slow and right.
func TestRandom(t *testing.T) {
	for name, patterns := range answers {
		p := load(t, name)
		rapid.Check(t, func(t *rapid.T) {
			g := drawGraph(t, 0)
			got := result(t, p, map[string]data.Input{"G": {Graph: g}}, nil)
			for i, of := range patterns {
				q := byName(t, of)
				if want := embeddings(t, g, q) / oracle.Automorphisms(q).Int64(); int64(got.Words[i]) != want {
					t.Fatalf("%s counts %d of %s, want %d", name, got.Words[i], of, want)
				}
			}
		})
	}
}

func TestRandomLabelled(t *testing.T) {
	for _, name := range labelledPrograms {
		p := load(t, name)
		rapid.Check(t, func(t *rapid.T) {
			g := drawGraph(t, 2)
			in := map[string]data.Input{"G": {Graph: g}}
			var l [4]int
			for i := range l {
				l[i] = rapid.IntRange(0, 1).Draw(t, "query label")
				in[fmt.Sprint("l", i)] = data.Input{Var: types.Word(l[i])}
			}
			q := query(t, "MATCH (a:`%d`)--(b:`%d`)--(c:`%d`)--(a), (a)--(d:`%d`)", l[0], l[1], l[2], l[3])
			got := result(t, p, in, nil)
			if want := embeddings(t, g, q); int64(got.Words[0]) != want {
				t.Fatalf("%s counts %d for labels %v, want %d", name, got.Words[0], l, want)
			}
		})
	}
}

func query(t failer, text string, args ...any) *pattern.Pattern {
	t.Helper()
	q, err := gql.Parse(fmt.Sprintf(text, args...))
	if err != nil {
		t.Fatal(err)
	}
	return q.Pattern
}

// real are graphs of testdata.
func real(t *testing.T, names ...string) map[string]*graph.Graph {
	t.Helper()
	out := map[string]*graph.Graph{}
	for _, name := range names {
		path := filepath.Join("..", "..", "..", "testdata", "graphs", name)
		g, err := format.Read(context.Background(), path, format.ReadOptions{Direction: format.Undirected}, nil)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = g
	}
	return out
}

// TestReal compares with the engine of a user's count.
func TestReal(t *testing.T) {
	graphs := []string{"karate.txt", "citeseer.graph.gz", "ca-grqc-cut.csv", "wiki-vote-cut.txt"}
	if testing.Short() {
		graphs = graphs[:1]
	}
	for file, g := range real(t, graphs...) {
		user, err := weft.Open(context.Background(), filepath.Join("..", "..", "..", "testdata", "graphs", file), weft.WithDirected(false))
		if err != nil {
			t.Fatal(err)
		}
		for name, patterns := range answers {
			if listed[name] != nil && file != "karate.txt" && file != "citeseer.graph.gz" {
				continue // the interpreter takes a minute for what they list in others
			}
			got := result(t, load(t, name), map[string]data.Input{"G": {Graph: g}}, nil)
			for i, of := range patterns {
				q, err := weft.PatternByName(of)
				if err != nil {
					t.Fatal(err)
				}
				r, err := user.Count(context.Background(), q)
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(got.Words[i]) != fmt.Sprint(r.Subgraphs) {
					t.Errorf("%s: %s counts %d of %s, want %v", file, name, got.Words[i], of, r.Subgraphs)
				}
			}
		}
		user.Close()
	}
}

// TestRealLabelled compares the labelled programs with the oracle, on a real graph.
func TestRealLabelled(t *testing.T) {
	if testing.Short() {
		t.Skip("the oracle takes seconds here")
	}
	g := real(t, "citeseer.graph.gz")["citeseer.graph.gz"]
	some := int64(0)
	for _, l := range [][4]int{{1, 1, 1, 1}, {1, 2, 1, 3}, {2, 1, 1, 4}, {5, 5, 3, 5}} {
		in := map[string]data.Input{"G": {Graph: g}}
		for i, x := range l {
			in[fmt.Sprint("l", i)] = data.Input{Var: types.Word(x)}
		}
		want := embeddings(t, g, query(t, "MATCH (a:`%d`)--(b:`%d`)--(c:`%d`)--(a), (a)--(d:`%d`)", l[0], l[1], l[2], l[3]))
		some += want
		for _, name := range labelledPrograms {
			if got := result(t, load(t, name), in, nil); int64(got.Words[0]) != want {
				t.Errorf("%s counts %d for labels %v, want %d", name, got.Words[0], l, want)
			}
		}
	}
	if some == 0 {
		t.Error("the labels match nothing")
	}
}

// TestDiamonds: what is listed are different diamonds.
func TestDiamonds(t *testing.T) {
	g := real(t, "karate.txt")["karate.txt"]
	adjacent := func(a, b types.Word) bool {
		for _, x := range g.Out.List(uint32(a)) {
			if types.Word(x) == b {
				return true
			}
		}
		return false
	}
	seen := map[[4]types.Word]bool{}
	r := result(t, load(t, "diamonds"), map[string]data.Input{"G": {Graph: g}}, func(row []types.Word) bool {
		m := [4]types.Word(row)
		if seen[m] || m[0] >= m[1] || m[2] >= m[3] || !adjacent(m[0], m[1]) || !adjacent(m[0], m[2]) ||
			!adjacent(m[0], m[3]) || !adjacent(m[1], m[2]) || !adjacent(m[1], m[3]) {
			t.Errorf("%v is not a diamond, or listed twice", m)
		}
		seen[m] = true
		return true
	})
	if len(seen) != int(r.Emitted) || int(r.Words[0]) != len(seen) || len(seen) != 151 {
		t.Errorf("%d diamonds of %d, want 604/4", len(seen), r.Words[0])
	}
}

// TestTemporal compares with all triples of edges.
func TestTemporal(t *testing.T) {
	p := load(t, "temporal")
	rapid.Check(t, func(t *rapid.T) {
		var items []types.Word
		for range rapid.IntRange(0, 25).Draw(t, "edges") {
			for _, most := range []int{4, 4, 12} {
				items = append(items, types.Word(rapid.IntRange(0, most).Draw(t, "number")))
			}
		}
		limit := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
		gap1, gap2, total := limit("gap1", 8), limit("gap2", 8), limit("total", 12)
		later := func(a, b []types.Word, most int) bool { return b[2] > a[2] && b[2]-a[2] <= types.Word(most) }
		want := map[string]int{}
		for a := range slices.Chunk(items, 3) {
			for b := range slices.Chunk(items, 3) {
				for c := range slices.Chunk(items, 3) {
					circle := a[1] == b[0] && b[1] == c[0] && c[1] == a[0]
					if circle && a[0] != a[1] && b[0] != b[1] && c[0] != c[1] && later(a, b, gap1) && later(b, c, gap2) && later(a, c, total) {
						want[fmt.Sprint(a[0], b[0], c[0], a[2], b[2], c[2])]++
					}
				}
			}
		}
		in := map[string]data.Input{"E": {Items: items}, "gap1": {Var: types.Word(gap1)}, "gap2": {Var: types.Word(gap2)}, "total": {Var: types.Word(total)}}
		got := map[string]int{}
		r := result(t, p, in, func(row []types.Word) bool {
			got[fmt.Sprint(row[0], row[1], row[2], row[3], row[4], row[5])]++
			return true
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("of %v: %s", items, diff)
		}
		if int(r.Words[0]) != int(r.Emitted) {
			t.Fatalf("the result is %d, and %d were emitted", r.Words[0], r.Emitted)
		}
	})
}

// temporalQueries are the edges of the queries of programs, between vertices 0, 1, …, in the order of
// their times.
var temporalQueries = map[string][][2]int{
	"temporal_cycle4": {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
	"temporal_tail":   {{0, 1}, {1, 2}, {2, 0}, {0, 3}},
	"temporal_ways":   {{0, 1}, {1, 3}, {0, 2}, {2, 3}},
}

// TestTemporalQueries compares with a search that tries all edges at every step.
func TestTemporalQueries(t *testing.T) {
	for name, query := range temporalQueries {
		p := load(t, name)
		passes.Optimize(p)
		rapid.Check(t, func(t *rapid.T) {
			var items []types.Word
			for range rapid.IntRange(0, 30).Draw(t, "edges") {
				for _, most := range []int{3, 3, 9} {
					items = append(items, types.Word(rapid.IntRange(0, most).Draw(t, "number")))
				}
			}
			limit := func(name string, most int) types.Word { return types.Word(rapid.IntRange(0, most).Draw(t, name)) }
			least, gap, total := limit("least", 1), limit("gap", 8), limit("total", 12)
			want := map[string]int{}
			var extend func(at [4]types.Word, times []types.Word)
			extend = func(at [4]types.Word, times []types.Word) {
				if len(times) == len(query) {
					want[fmt.Sprint(at, times)]++
					return
				}
				for e := range slices.Chunk(items, 3) {
					next, ok := at, true
					for side, v := range query[len(times)] {
						ok = ok && (next[v] == e[side] || next[v] < 0 && !slices.Contains(next[:], e[side]))
						next[v] = e[side]
					}
					if n := len(times); n > 0 {
						gone := e[2] - times[n-1]
						ok = ok && gone >= least && gone <= gap && e[2]-times[0] <= total
					}
					if ok {
						extend(next, append(slices.Clone(times), e[2]))
					}
				}
			}
			extend([4]types.Word{-1, -1, -1, -1}, nil)
			got := map[string]int{}
			in := map[string]data.Input{"E": {Items: items}, "least": {Var: least}, "gap": {Var: gap}, "total": {Var: total}}
			r := result(t, p, in, func(row []types.Word) bool {
				got[fmt.Sprint([4]types.Word(row[:4]), row[4:])]++
				return true
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s of %v: %s", name, items, diff)
			}
			if uint64(r.Words[0]) != r.Emitted {
				t.Fatalf("the result is %d, and %d were emitted", r.Words[0], r.Emitted)
			}
		})
	}
}

// BenchmarkFrontEnd is text to graph, for each program.
func BenchmarkFrontEnd(b *testing.B) {
	for _, e := range library.Entries() {
		b.Run(e.Name, func(b *testing.B) {
			for b.Loop() {
				load(b, e.Name)
			}
		})
	}
}
