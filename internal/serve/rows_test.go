package serve

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft"
)

// gate is a writer whose writes wait to be let through.
type gate struct {
	bytes.Buffer
	pass chan struct{}
}

func (g *gate) Write(b []byte) (int, error) {
	<-g.pass
	return g.Buffer.Write(b)
}

// TestRowsAreLive: the status of a listing counts the rows that were written while the search goes on.
func TestRowsAreLive(t *testing.T) {
	s := server(t, Limits{})
	const all = 500000
	for _, format := range []string{"csv", "ndjson", "json", "arrow"} {
		r := begin(t, s, Anyone(), Request{Kind: Match, Graph: "dense", Query: "MATCH (a)--(b)--(c)", Choices: Choices{Limit: all, Threads: 1}})
		out := &gate{pass: make(chan struct{})}
		done := make(chan error, 1)
		go func() { done <- r.Write(out, format) }()
		var last int64
		seen := map[int64]bool{} // numbers of rows before the end
		for over := false; !over; {
			select {
			case out.pass <- struct{}{}:
				n := r.Status().Rows
				if n < last {
					t.Errorf("%s: %d rows after %d", format, n, last)
				}
				last, seen[n] = n, true
			case err := <-done:
				if over = true; err != nil {
					t.Errorf("%s: %v", format, err)
				}
			}
		}
		if len(seen) < 3 || r.Status().Rows != all || r.Summary().Rows != all || r.Summary().Cut != CutLimit {
			t.Errorf("%s: numbers of rows %v; at the end %d, and %+v", format, seen, r.Status().Rows, r.Summary())
		}
	}
}

// chain opens a graph: a path of a number of edges, whose property w is 1 except for that in the middle.
func chain(t *testing.T, s *Server, edges int, middle int64) {
	t.Helper()
	text := []byte("src,dst,w\n")
	for i := range edges {
		w := int64(1)
		if i == edges/2 {
			w = middle
		}
		text = fmt.Appendf(text, "%d,%d,%d\n", i, i+1, w)
	}
	path := filepath.Join(t.TempDir(), "chain.csv")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Catalog.Open(t.Context(), Source{Name: "chain", Path: path, Options: []weft.Option{weft.WithDirected(true)}}); err != nil {
		t.Fatal(err)
	}
}

// TestErrorAfterRows: a listing that an error ends after its first rows says so, with the number of the rows that were written.
func TestErrorAfterRows(t *testing.T) {
	s := server(t, Limits{})
	const edges = 400000
	chain(t, s, edges, 1<<62) // twice that is not an integer of Arrow
	r := begin(t, s, Anyone(), Request{Kind: Match, Graph: "chain", Query: "MATCH (a)-[e]->(b) RETURN e.w + e.w AS twice", Choices: Choices{Threads: 1}})
	var out bytes.Buffer
	err := r.Write(&out, "arrow")
	if sum := r.Summary(); err == nil || sum.Complete || sum.Cut != CutError || sum.Err == nil || sum.Rows == 0 || sum.Rows >= edges || r.Status().Rows != sum.Rows {
		t.Errorf("%v, %+v", err, sum)
	}
}
