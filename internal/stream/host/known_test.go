package host

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// recorded is a stream of RapidFlow's format with queries and known answers.
type recorded struct {
	initial, updates []stream.Update
	names            []string
	queries          []*pattern.Pattern
	want             [][3]uint64 // embeddings: initial, added, removed
}

// dataDir is the folder of recorded streams: $WEFT_DATA/stream, or a folder next to the working copy.
func dataDir(t testing.TB) string {
	dir := os.Getenv("WEFT_DATA")
	if dir == "" {
		dir = "../../../../shared/data"
	}
	dir = filepath.Join(dir, "stream")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recorded streams: set WEFT_DATA (%v)", err)
	}
	return dir
}

func readRecorded(t testing.TB, name string) *recorded {
	dir := filepath.Join(dataDir(t), name)
	r := &recorded{initial: readUpdates(t, filepath.Join(dir, "initial.gz")), updates: readUpdates(t, filepath.Join(dir, "updates.gz"))}
	text, err := os.ReadFile(filepath.Join(dir, "expected.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		var q string
		var n [3]uint64
		if _, err := fmt.Sscan(line, &q, &n[0], &n[1], &n[2]); err != nil {
			continue // a heading
		}
		body, err := os.ReadFile(filepath.Join(dir, "queries", q))
		if err != nil {
			t.Fatal(err)
		}
		r.names, r.queries, r.want = append(r.names, q), append(r.queries, readQuery(t, string(body))), append(r.want, n)
	}
	if len(r.queries) == 0 {
		t.Fatalf("%s has no queries", dir)
	}
	return r
}

func readUpdates(t testing.TB, file string) (out []stream.Update) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(z); lines.Scan(); {
		var u, v, label uint64
		x := stream.Update{}
		kind, rest, _ := strings.Cut(lines.Text(), " ")
		switch kind {
		case "v":
			_, err = fmt.Sscan(rest, &u, &label)
			x.Op, x.Labels = stream.AddVertex, []string{fmt.Sprint(label)}
		case "e", "-e":
			_, err = fmt.Sscan(rest, &u, &v, &label)
			x.V, x.Label = dynamic.Num(v), fmt.Sprint(label)
			if kind == "-e" {
				x.Op = stream.RemoveEdge
			}
		default:
			err = fmt.Errorf("%q", lines.Text())
		}
		if err != nil {
			t.Fatal(err)
		}
		x.U = dynamic.Num(u)
		out = append(out, x)
	}
	return out
}

// readQuery makes a pattern of a graph in the same format.
func readQuery(t testing.TB, text string) *pattern.Pattern {
	var vs, es []string
	for _, line := range strings.Split(text, "\n") {
		var u, v, label int
		switch {
		case strings.HasPrefix(line, "v "):
			_, _ = fmt.Sscanf(line, "v %d %d", &u, &label)
			vs = append(vs, fmt.Sprintf("(x%d:%d)", u, label))
		case strings.HasPrefix(line, "e "):
			_, _ = fmt.Sscanf(line, "e %d %d %d", &u, &v, &label)
			es = append(es, fmt.Sprintf("(x%d)-[:%d]-(x%d)", u, label, v))
		}
	}
	q, err := gql.Parse("MATCH " + strings.Join(append(vs, es...), ", "))
	if err != nil {
		t.Fatal(err)
	}
	return q.Pattern
}

// initialGraph makes the graph before the updates.
func (r *recorded) initialGraph(t testing.TB) *dynamic.Graph {
	g := dynamic.New(false, false)
	for i := range r.initial {
		if _, err := stream.Apply(g, &r.initial[i]); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// tally counts deltas by watch.
type tally struct{ added, removed []uint64 }

func (x *tally) Emit(ds []nest.Delta) error {
	for _, d := range ds {
		if d.Sign > 0 {
			x.added[d.Watch]++
		} else {
			x.removed[d.Watch]++
		}
	}
	return nil
}

// TestRecorded compares with the answers on which two other programs agree.
func TestRecorded(t *testing.T) {
	for _, name := range []string{"lastfm10", "facebook10"} {
		t.Run(name, func(t *testing.T) {
			r := readRecorded(t, name)
			if testing.Short() {
				t.Log("-short: 20 queries of each stream")
				r.queries, r.names, r.want = r.queries[:min(20, len(r.queries))], r.names[:min(20, len(r.queries))], r.want[:min(20, len(r.queries))]
			}
			for _, size := range []int{1, 1000, len(r.updates)} {
				g := r.initialGraph(t)
				m := New(g, Options{Workers: 2})
				m.grain.eager = true
				for i, p := range r.queries {
					for _, o := range []nest.WatchOptions{{CountsOnly: true}, {}} {
						if _, err := m.Add(fmt.Sprint(i, o.CountsOnly), p, o); err != nil {
							t.Fatal(err)
						}
					}
				}
				ctx := context.Background()
				for i, n := range r.want {
					got, err := m.Present(ctx, fmt.Sprint(i, true), nil)
					if err != nil || size == 1 && got.Big().Cmp(r.subgraphs(i, n[0])) != 0 {
						t.Fatalf("%s: %v present, want %d: %v", r.names[i], got, n[0], err)
					}
				}
				counts := make([]nest.Count, 2*len(r.want))
				listed := &tally{make([]uint64, 2*len(r.want)), make([]uint64, 2*len(r.want))}
				for from := 0; from < len(r.updates); from += size {
					res, err := m.Apply(ctx, r.updates[from:min(from+size, len(r.updates))], listed)
					if err != nil {
						t.Fatal(err)
					}
					for _, c := range res.Counts {
						counts[c.Watch].Added = counts[c.Watch].Added.Add(c.Added)
						counts[c.Watch].Removed = counts[c.Watch].Removed.Add(c.Removed)
					}
				}
				for i, n := range r.want {
					for j := range 2 {
						c := counts[2*i+j]
						if c.Added.Big().Cmp(r.subgraphs(i, n[1])) != 0 || c.Removed.Big().Cmp(r.subgraphs(i, n[2])) != 0 {
							t.Errorf("%s: %v added, %v removed; want %v embeddings", r.names[i], c.Added, c.Removed, n)
						}
					}
					if c := counts[2*i]; engine.U64(listed.added[2*i+1]) != c.Added || engine.U64(listed.removed[2*i+1]) != c.Removed {
						t.Errorf("%s: %d and %d listed, counted %v", r.names[i], listed.added[2*i+1], listed.removed[2*i+1], c)
					}
				}
			}
		})
	}
}

// subgraphs is the number of subgraphs of query i that are so many embeddings.
func (r *recorded) subgraphs(i int, embeddings uint64) *big.Int {
	return new(big.Int).Div(new(big.Int).SetUint64(embeddings), r.queries[i].Automorphisms().Order())
}
