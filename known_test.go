package weft_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/testing/long"
)

// ceiling is the longest time for one count, in case it hangs. Each takes less than a minute on two idle cores.
// WEFT_COUNT_TIMEOUT sets another.
func ceiling(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv("WEFT_COUNT_TIMEOUT")
	if text == "" {
		return 5 * time.Minute
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("WEFT_COUNT_TIMEOUT: %v", err)
	}
	return d
}

// dataDir is the folder of larger graphs and others' answers: $WEFT_DATA, or
// ../shared/data where that exists. Tests skip without it.
func dataDir(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short")
	}
	dir := os.Getenv("WEFT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "truth", "known.tsv")); err != nil {
		t.Skipf("no known answers: set WEFT_DATA to a folder with truth/known.tsv (%v)", err)
	}
	return dir
}

// tsv reads the rows of a file of tab-separated columns by the names in its
// first line; lines that begin with "# " are left out.
func tsv(t testing.TB, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	var rows []map[string]string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "# ") || line == "" {
			continue
		}
		fields := strings.Split(line, "\t")
		if names == nil {
			names = fields
			continue
		}
		row := map[string]string{}
		for i, name := range names {
			row[name] = fields[i]
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no rows", path)
	}
	return rows
}

func open(t testing.TB, path string, options ...weft.Option) *weft.Graph {
	t.Helper()
	g, err := weft.Open(context.Background(), path, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func parse(t testing.TB, text string) *weft.Query {
	t.Helper()
	q, err := weft.Parse(text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return q
}

// number is a count as files have it.
func number(t testing.TB, text string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		t.Fatalf("%q is not a number", text)
	}
	return n
}

// count counts q under the ceiling.
func count(t testing.TB, g *weft.Graph, q *weft.Query, options ...weft.Option) weft.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), ceiling(t))
	defer cancel()
	r, err := g.Count(ctx, q, options...)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("not done within %v: at least %v embeddings", ceiling(t), r.Embeddings)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete {
		t.Fatal("the result is not complete")
	}
	if r.Search > 5*time.Second {
		t.Logf("%v", r.Search.Round(time.Millisecond))
	}
	return r
}

func equal(t testing.TB, what string, got *big.Int, want *big.Int) {
	t.Helper()
	if got == nil || got.Cmp(want) != 0 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestCrosscheck compares with the counts of other programs; see scripts/crosscheck.py.
func TestCrosscheck(t *testing.T) {
	type key struct{ file, directed, labelled string }
	graphs := map[key]*weft.Graph{}
	for _, row := range tsv(t, "testdata/known/crosscheck.tsv") {
		k := key{row["graph"], row["directed"], row["labelled"]}
		if graphs[k] == nil {
			options := []weft.Option{weft.WithDirected(k.directed == "true")}
			if k.labelled == "true" {
				options = append(options, weft.WithColumns("src", "dst", "label"))
			}
			graphs[k] = open(t, filepath.Join("testdata", "graphs", k.file), options...)
		}
		t.Run(row["graph"]+"/"+row["pattern"]+"/"+row["semantics"], func(t *testing.T) {
			q := parse(t, row["query"])
			want := number(t, row["embeddings"])
			r := count(t, graphs[k], q)
			equal(t, row["query"], r.Embeddings, want)
			if r.Subgraphs != nil {
				equal(t, "subgraphs × automorphisms", new(big.Int).Mul(r.Subgraphs, r.Automorphisms), want)
			}
			if !testing.Short() && want.IsInt64() && want.Int64() < 100_000 {
				var n int64
				for _, err := range graphs[k].Match(t.Context(), q, weft.WithList(weft.Embeddings)) {
					if err != nil {
						t.Fatal(err)
					}
					n++
				}
				equal(t, "listed", big.NewInt(n), want)
			}
		})
	}
}

// fromEdges is the query of a list such as "0-1 0-2".
func fromEdges(t testing.TB, edges string, induced bool) *weft.Query {
	t.Helper()
	var paths []string
	for e := range strings.FieldsSeq(edges) {
		a, b, ok := strings.Cut(e, "-")
		if !ok {
			t.Fatalf("%q is not an edge", e)
		}
		paths = append(paths, fmt.Sprintf("(v%s)--(v%s)", a, b))
	}
	mode := ""
	if induced {
		mode = "INDUCED "
	}
	return parse(t, "MATCH "+mode+strings.Join(paths, ", "))
}

// files are the graphs that truth/known.tsv names.
var files = map[string]string{
	"as-caida": "graphs/as-caida.txt.gz", "wiki-vote": "graphs/wiki-vote.txt.gz", "ego-facebook": "graphs/ego-facebook.txt.gz",
	"email-enron": "graphs/email-enron.txt.gz", "cit-hepth": "graphs/cit-hepth.txt.gz", "ego-twitter": "graphs/ego-twitter.txt.gz",
	"ca-grqc": "graphs/ca-grqc.csv.gz", "citeseer": "labelled/citeseer.graph.gz",
}

// slow are the rows of truth/known.tsv that need WEFT_LONG.
var slow = map[string]bool{
	"ego-twitter P5": true, "ego-twitter P6": true, "ego-twitter P7": true, "ego-twitter P8": true,
}

// TestKnownCounts compares with counts on which several programs agree.
func TestKnownCounts(t *testing.T) {
	dir := dataDir(t)
	rows := tsv(t, filepath.Join(dir, "truth", "known.tsv"))
	graphs := map[string]*weft.Graph{}
	for _, row := range rows {
		name, pattern := row["graph"], row["pattern"]
		t.Run(name+"/"+pattern, func(t *testing.T) {
			if slow[name+" "+pattern] && !long.Asked() {
				t.Skip("slow: set WEFT_LONG")
			}
			if graphs[name] == nil {
				if files[name] == "" {
					t.Fatalf("no file is known for %s", name)
				}
				// The graphs outlive the subtest.
				g, err := weft.Open(context.Background(), filepath.Join(dir, files[name]), weft.WithDirected(false))
				if err != nil {
					t.Fatal(err)
				}
				graphs[name] = g
			}
			var induced bool
			switch row["semantics"] {
			case "edge-induced-unique":
			case "vertex-induced-unique":
				induced = true
			default:
				t.Fatalf("unknown semantics %q", row["semantics"])
			}
			r := count(t, graphs[name], fromEdges(t, row["edges"], induced))
			equal(t, row["edges"], r.Subgraphs, number(t, row["count"]))
		})
	}
	for _, g := range graphs {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTriangles counts the triangles of every graph.
func TestTriangles(t *testing.T) {
	dir := dataDir(t)
	want := map[string]int64{
		"graphs/ego-facebook.txt.gz": 1612010, "graphs/email-enron.txt.gz": 727044, "graphs/ego-twitter.txt.gz": 13082506,
		"graphs/as-caida.txt.gz": 36365, "graphs/cit-hepth.txt.gz": 1478735, "graphs/wiki-vote.txt.gz": 608389,
		"graphs/ca-grqc.csv.gz": 48260, "labelled/citeseer.graph.gz": 1166, "labelled/yeast/yeast.graph.gz": 6590,
		"labelled/hprd/hprd.graph.gz": 20212, "labelled/github16/github16.graph.gz": 523810,
	}
	for file, n := range want {
		t.Run(file, func(t *testing.T) {
			g := open(t, filepath.Join(dir, file), weft.WithDirected(false))
			r := count(t, g, parse(t, "MATCH (a)--(b)--(c)--(a)"))
			equal(t, "triangles", r.Subgraphs, big.NewInt(n))
		})
	}
}

// TestCiteseerMotifs compares all patterns of 4 and 5 vertices with the counts that come with the data. It counts
// them one by one, then with the absent edges written out, and then all in one pass.
func TestCiteseerMotifs(t *testing.T) {
	dir := dataDir(t)
	g := open(t, filepath.Join(dir, files["citeseer"]), weft.WithDirected(false))
	for _, file := range []string{"4m", "5m", "4m-edge", "5m-edge"} {
		induced := !strings.HasSuffix(file, "-edge")
		data, err := os.ReadFile(filepath.Join(dir, "truth", "citeseer", file+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]int{} // counts, as a multiset
		for line := range strings.Lines(string(data)) {
			text, n, _ := strings.Cut(strings.TrimSpace(line), " ")
			want := number(t, n)
			all[want.String()]++
			edges, absent := motifEdges(text)
			t.Run(file+"/"+text, func(t *testing.T) {
				r := count(t, g, fromEdges(t, strings.Join(edges, " "), induced))
				equal(t, "subgraphs", r.Subgraphs, want)
				if !induced {
					return
				}
				query := "MATCH " + paths(edges, "")
				if len(absent) > 0 {
					query += ", " + paths(absent, "NOT ")
				}
				r = count(t, g, parse(t, query))
				equal(t, query, r.Subgraphs, want)
			})
		}
		t.Run(file+"/together", func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), ceiling(t))
			defer cancel()
			rs, err := g.Motifs(ctx, int(file[0]-'0'), weft.WithInduced(induced))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rs {
				all[r.Subgraphs.String()]--
			}
			for n, left := range all {
				if left != 0 {
					t.Errorf("%s: %+d motifs with this count are missing", n, left)
				}
			}
		})
	}
}

// motifEdges splits "[2-3][1-2](1~3)" into "2-3", "1-2" and "1-3".
func motifEdges(text string) (edges, absent []string) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("[]()", r) }) {
		if a, b, ok := strings.Cut(part, "~"); ok {
			absent = append(absent, a+"-"+b)
		} else {
			edges = append(edges, part)
		}
	}
	return edges, absent
}

// paths writes edges such as "1-2" in the pattern language.
func paths(edges []string, before string) string {
	var out []string
	for _, e := range edges {
		a, b, _ := strings.Cut(e, "-")
		out = append(out, fmt.Sprintf("%s(v%s)--(v%s)", before, a, b))
	}
	return strings.Join(out, ", ")
}

// TestLabelledSets counts the published query sets of labelled graphs. Queries
// with more than 1e10 embeddings need WEFT_LONG.
func TestLabelledSets(t *testing.T) {
	dir := dataDir(t)
	for _, name := range []string{"hprd", "yeast", "github16"} {
		g := open(t, filepath.Join(dir, "labelled", name, name+".graph.gz"), weft.WithDirected(false))
		data, err := os.ReadFile(filepath.Join(dir, "labelled", name, "expected.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			f := strings.Fields(line)
			if strings.HasPrefix(line, "#") || len(f) != 2 {
				continue
			}
			t.Run(name+"/"+strings.TrimSuffix(f[0], ".graph"), func(t *testing.T) {
				want := number(t, f[1])
				if !long.Asked() && want.Cmp(big.NewInt(1e10)) >= 0 {
					t.Skipf("%s embeddings: set WEFT_LONG", f[1])
				}
				qs, err := weft.ParseFile(t.Context(), filepath.Join(dir, "labelled", name, "queries", f[0]))
				if err != nil {
					t.Fatal(err)
				}
				if len(qs) != 1 {
					t.Fatalf("%d queries", len(qs))
				}
				r := count(t, g, qs[0])
				equal(t, "embeddings", r.Embeddings, want)
			})
		}
	}
}
