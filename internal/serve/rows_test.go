package serve

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve/servetest"
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

// TestEndedIsShort: what is remembered of a run that a mistake has ended has its place, and not the text of the query.
func TestEndedIsShort(t *testing.T) {
	s := server(t, Limits{})
	const word = "aWordOfTheText"
	r := begin(t, s, Anyone(), Request{Kind: Count, Graph: "karate", Query: "MATCH (a)--(b) /* " + strings.Repeat(word, 1000) + " */ WHERE id(a) = $x"})
	_, err := r.Count()
	r.Close()
	x, ok := s.Ended(Anyone(), r.ID)
	var wrong *weft.QueryError
	if !ok || err == nil || !errors.As(x.Summary.Err, &wrong) || wrong.Column < 14000 || wrong.Message != "no value for parameter $x" || strings.Contains(fmt.Sprintf("%+v", x)+wrong.Error()+wrong.Text, word) {
		t.Errorf("%v, %+v", err, x)
	}
}

// TestErrorAfterRows: a listing that an error ends after its first rows says so, with the number of the rows that were written.
func TestErrorAfterRows(t *testing.T) {
	s := server(t, Limits{})
	const edges = 400000
	if err := s.Catalog.Open(t.Context(), Source{Name: "chain", Path: servetest.Chain(t, edges), Options: []weft.Option{weft.WithDirected(true)}}); err != nil {
		t.Fatal(err)
	}
	r := begin(t, s, Anyone(), Request{Kind: Match, Graph: "chain", Query: "MATCH (a)-[e]->(b) RETURN e.w + e.w AS twice", Choices: Choices{Threads: 1}})
	var out bytes.Buffer
	err := r.Write(&out, "arrow")
	if sum := r.Summary(); err == nil || sum.Complete || sum.Cut != CutError || sum.Err == nil || sum.Rows == 0 || sum.Rows >= edges || r.Status().Rows != sum.Rows {
		t.Errorf("%v, %+v", err, sum)
	}
}
