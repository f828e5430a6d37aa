package gql

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/weftgraph/weft/internal/pattern"
)

// examples are those that the language was specified with.
var examples = []string{
	"MATCH (a)--(b)--(c)--(a) RETURN count(DISTINCT SUBGRAPHS)",
	"MATCH (a)-->(b)-->(c)-->(a) RETURN count(*)",
	"MATCH (a:Person)-[:FOLLOWS]->(b:Person), NOT (b)-[:FOLLOWS]->(a) WHERE a.followers > 1e6 RETURN a, b LIMIT 100",
	"MATCH INDUCED (a)--(b)--(c)--(d)--(a) RETURN count(DISTINCT SUBGRAPHS)",
	"MATCH (x)-[:SYN {type:'exc'}]->(y)-[e:SYN WHERE e.w >= 5]->(z) RETURN x, y, z",
	"MATCH (a)-->(h)<--(b) WHERE id(a) < id(b) AND a.country <> b.country RETURN a, b, h",
	"MATCH (a)-[e1:TX]->(b)-[e2:TX]->(c)-[e3:TX]->(a) ORDERED e1 < e2 < e3 ON ts WITHIN 24h RETURN a, e1, e2, e3",
	"MATCH clique(5) RETURN count(DISTINCT SUBGRAPHS) ESTIMATE WITHIN 2%",
	"MATCH (a)-->(b)-->(c) WHERE id(a) IN $ids RETURN a, b, c",
	"(a)-[]->(b); !(b)-[]->(a)",
}

func TestExamples(t *testing.T) {
	for _, text := range examples {
		q, err := ParseText(text)
		if err != nil {
			t.Errorf("%s\n%v", text, err)
			continue
		}
		t.Log(pattern.Format(q.Pattern))
		checkRoundTrip(t, q)
	}
}

// checkRoundTrip requires that a pattern written back in the language is read
// as the same pattern, and is then written in the same way.
func checkRoundTrip(t testing.TB, q *Query) {
	t.Helper()
	text := pattern.Format(q.Pattern)
	again, err := Parse(text)
	if err != nil {
		t.Fatalf("%s\nis written as\n%s\nwhich is refused: %v", q.Text, text, err)
	}
	if second := pattern.Format(again.Pattern); second != text {
		t.Fatalf("%s\nis written as\n%s\nand then as\n%s", q.Text, text, second)
	}
	// Naming an edge, or a vertex, that had no name may be needed to write it; an
	// edge that then counts its choices is another pattern.
	if a, b := q.Pattern.Canonical(), again.Pattern.Canonical(); a != b {
		t.Fatalf("%s\nis\n%s\nand written as\n%s\nit becomes\n%s", q.Text, a, text, b)
	}
}

// TestNestedExistsOfLargePatterns: the symmetries of a pattern whose EXISTS are nested are
// found as soon as those of one that has none.
func TestNestedExistsOfLargePatterns(t *testing.T) {
	const leaves = 24
	text := "MATCH (c)--(l1)"
	want := big.NewInt(1)
	for i := 2; i <= leaves; i++ {
		text += fmt.Sprintf(", (c)--(l%d)", i)
		want.Mul(want, big.NewInt(int64(i)))
	}
	for _, c := range []struct {
		where string
		less  int64 // of the symmetries
	}{
		{"EXISTS { (c)--(x) WHERE EXISTS { (x)--(y) WHERE EXISTS { (y)--(z) WHERE NOT EXISTS { (z)--(u) } } } }", 1},
		{"EXISTS { (c)--(x) WHERE EXISTS { (x)--(y) WHERE id(y) < id(l1) } }", leaves},
	} {
		q, err := Parse(text + " WHERE " + c.where)
		if err != nil {
			t.Fatal(err)
		}
		order := q.Pattern.Automorphisms().Order()
		if order.Mul(order, big.NewInt(c.less)).Cmp(want) != 0 {
			t.Errorf("%s: |Aut| × %d = %v, want %v", c.where, c.less, order, want)
		}
	}
}
