package weft_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftgraph/weft"
)

// parsed parses queries.
func parsed(t *testing.T, texts ...string) (out []*weft.Query) {
	t.Helper()
	for _, text := range texts {
		q, err := weft.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

// TestWatchQueriesAmongUpdates: while one goroutine makes updates, others add and drop queries. The matches that a query lists at its beginning, with
// its changes, are the matches of the graph at its end.
func TestWatchQueriesAmongUpdates(t *testing.T) {
	w := watching(t)
	defer w.Close()
	var mu sync.Mutex // the calls of a watch must not overlap
	edges := map[[2]int]bool{{1, 2}: true, {2, 3}: true, {3, 4}: true}
	live := map[string]map[string]bool{} // matches by query
	count := func(c weft.Change) {
		k := fmt.Sprint(c.Values())
		if live[c.Query][k] == c.Added {
			t.Errorf("%s: %s comes or goes twice", c.Query, k)
		}
		live[c.Query][k] = c.Added
		if !c.Added {
			delete(live[c.Query], k)
		}
	}
	shapes := []string{"MATCH (a)--(b)--(c)--(a)", "MATCH (a)--(b)--(c), NOT (a)--(c)", "MATCH (a)--(b) WHERE deg(a) > 2", "MATCH (a)--(b)--(c)--(d)--(a)"}
	var all sync.WaitGroup
	all.Go(func() {
		r := rand.New(rand.NewPCG(1, 2))
		for range 150 {
			mu.Lock()
			var us []weft.Update
			for range 1 + r.IntN(5) {
				u, v := r.IntN(9), r.IntN(9)
				op := weft.AddEdge
				if r.IntN(3) == 0 {
					op = weft.RemoveEdge
				}
				us = append(us, edge(op, u, v))
				if u != v {
					edges[[2]int{min(u, v), max(u, v)}] = op == weft.AddEdge
				}
			}
			for c, err := range w.Apply(t.Context(), us...) {
				if err != nil {
					t.Error(err)
					break
				}
				count(c)
			}
			mu.Unlock()
		}
	})
	for i, shape := range shapes {
		all.Go(func() {
			for k := range 12 {
				name := fmt.Sprintf("q%d", i)
				q := parsed(t, "CREATE WATCH "+name+" AS "+shape)[0]
				mu.Lock()
				live[name] = map[string]bool{}
				if err := w.Add(q); err != nil {
					t.Error(err)
				}
				for c, err := range w.Present(t.Context(), name) {
					if err != nil {
						t.Error(err)
						break
					}
					count(c)
				}
				mu.Unlock()
				time.Sleep(time.Millisecond) // for updates between
				mu.Lock()
				var es []weft.Edge
				for e, is := range edges {
					if is {
						es = append(es, weft.Edge{Src: e[0], Dst: e[1]})
					}
				}
				g, err := weft.FromEdges(t.Context(), weft.Edges(es...))
				if err != nil {
					t.Error(err)
				} else {
					n, err := g.Count(t.Context(), parsed(t, shape)[0])
					if err != nil || n.Subgraphs.Int64() != int64(len(live[name])) {
						t.Errorf("%s, round %d: %d matches, %v; want %v", name, k, len(live[name]), err, n.Subgraphs)
					}
					g.Close()
				}
				if err := w.Drop(name); err != nil {
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

// TestFollowQueries: queries come and go while Follow runs, and a call that continues may have others.
func TestFollowQueries(t *testing.T) {
	g, err := weft.FromEdges(t.Context(), weft.Edges(weft.Edge{Src: 1, Dst: 2}, weft.Edge{Src: 2, Dst: 3}))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	source, out := io.Pipe()
	queries := make(chan []*weft.Query)
	notes := make(chan string, 100)
	var got bytes.Buffer
	ended := make(chan error, 1)
	tri, wedge := "CREATE WATCH tri AS MATCH (a)--(b)--(c)--(a)", "CREATE WATCH wedge AS MATCH (a)--(b)--(c), NOT (a)--(c)"
	go func() {
		_, err := g.Follow(t.Context(), parsed(t, tri), weft.FollowOptions{
			Source: "-", Stdin: source, Updates: "text", Stdout: &got, Queries: queries, Present: true, Note: func(s string) { notes <- s },
		})
		ended <- err
	}()
	said := func(want string) {
		t.Helper()
		if s := <-notes; s != want {
			t.Errorf("noted %q, want %q", s, want)
		}
	}
	fmt.Fprintln(out, "# a source is read from its first byte on")
	queries <- parsed(t, tri, wedge)
	said("wedge is new after update 0")
	fmt.Fprintln(out, "+ 1 3")
	queries <- parsed(t, tri, tri)
	said("two queries are called tri: a change says by its name which query it is of; the queries stay as they were")
	out.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	want := `{"seq":0,"query":"wedge","op":"+","match":{"a":1,"b":2,"c":3}}
{"seq":1,"query":"tri","op":"+","match":{"a":1,"b":2,"c":3}}
{"seq":1,"query":"wedge","op":"-","match":{"a":1,"b":2,"c":3}}
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}

	// One call after the other, with other queries, over a state.
	dir := t.TempDir()
	updates, changes := filepath.Join(dir, "updates"), filepath.Join(dir, "changes.csv")
	follow := func(text string, texts ...string) (notes []string) {
		t.Helper()
		f, err := os.OpenFile(updates, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Follow(t.Context(), parsed(t, texts...), weft.FollowOptions{
			Source: updates, Updates: "text", Sinks: []weft.FollowSink{{Target: changes, Format: "csv"}}, State: filepath.Join(dir, "state"),
			Queries: make(chan []*weft.Query), Present: true, Note: func(s string) { notes = append(notes, s) },
		}); err != nil {
			t.Fatal(err)
		}
		return notes
	}
	follow("+ 1 3\n", tri)
	if n := follow("+ 3 4\n", wedge, tri); !slices.Equal(n, []string{"wedge is new after update 1"}) {
		t.Errorf("noted %q", n)
	}
	if n := follow("- 1 3\n", wedge); !slices.Equal(n, []string{"tri is dropped after update 2"}) {
		t.Errorf("noted %q", n)
	}
	b, err := os.ReadFile(changes)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), `""`, `'`)
	if want := `seq,query,op,match
1,tri,+,"{'a':1,'b':2,'c':3}"
2,wedge,+,"{'a':1,'b':3,'c':4}"
2,wedge,+,"{'a':2,'b':3,'c':4}"
3,wedge,-,"{'a':1,'b':3,'c':4}"
3,wedge,+,"{'a':1,'b':2,'c':3}"
`; text != want {
		t.Errorf("got\n%swant\n%s", text, want)
	}
}
