package boltserver

import (
	"fmt"
	"testing"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/bolt"
)

// TestEnded: the server remembers how queries and statements over Bolt ended, for their user and administrators.
func TestEnded(t *testing.T) {
	s := core(t, serve.Limits{Rows: 50}, nil)
	_, address := listen(t, s, bolt.Options{})
	d := driver(t, "bolt://"+address, neo4j.NoAuth())
	for i, test := range []struct{ text, want string }{
		{"MATCH (a)--(b)--(c)--(a) WHERE id(a) = 34 RETURN a LIMIT 5", "match true  5 false"},
		{"MATCH (a)--(b)--(c) RETURN a", "match false rows 50 false"},
		{"MATCH (a)--(b)--(c)--(a) RETURN count(*)", "count true  0 false"},
		{"UNWIND [1,2,3] AS x RETURN x", "statement true  3 false"},
		{"RETURN 1 AS x UNION RETURN 1 AS y", "statement false  0 true"},
	} {
		_, _, err := ask(t, d, "karate", test.text, nil)
		x, ok := s.Ended(serve.Anyone(), uint64(i+1))
		got := fmt.Sprintf("%s %v %s %d %v", x.Status.Kind, x.Summary.Complete, x.Summary.Cut, x.Summary.Rows, x.Summary.Err != nil)
		if !ok || got != test.want || x.Status.State != "done" || x.Status.Protocol != "bolt" || x.Status.Rows != x.Summary.Rows || (err != nil) != (x.Summary.Err != nil) {
			t.Errorf("%s: %v, %q, want %q, %+v, %v", test.text, ok, got, test.want, x, err)
		}
		if _, ok := s.Ended(serve.Identity{Name: "bob"}, uint64(i+1)); ok {
			t.Errorf("%s: another user is told", test.text)
		}
	}
}
