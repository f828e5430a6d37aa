package gql

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/pattern"
)

// checkAnswer holds for any text: an error is an *Error inside the text whose
// message can be shown, and a query can be written back and read again.
func checkAnswer(t *testing.T, text string, qs []*Query, err error) {
	t.Helper()
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%q: the error is a %T: %v", text, err, err)
		}
		lines := strings.Split(text, "\n")
		if e.Line < 1 || e.Line > len(lines) || e.Col < 1 || e.Col > utf8.RuneCountInString(lines[e.Line-1])+1 {
			t.Fatalf("%q: the error is outside the text, at line %d, column %d", text, e.Line, e.Col)
		}
		if !utf8.ValidString(e.Source) || e.Error() == "" {
			t.Fatalf("%q: the error cannot be shown: %q", text, e.Error())
		}
		return
	}
	for _, q := range qs {
		if err := q.Pattern.Validate(); err != nil {
			t.Fatalf("%q is accepted and invalid: %v", text, err)
		}
		if len(q.Pattern.Vertices) <= 10 {
			checkRoundTrip(t, q)
		} else if _, err := Parse(pattern.Format(q.Pattern)); err != nil {
			t.Fatalf("%q cannot be read back: %v", text, err)
		}
		_ = NotYet(q)
	}
}

func one(q *Query) []*Query {
	if q == nil {
		return nil
	}
	return []*Query{q}
}

func FuzzParse(f *testing.F) {
	for _, s := range examples {
		f.Add(s)
	}
	for _, s := range []string{
		"EXPLAIN DEFINE m(x, y) AS { (x)-[e]->(z)-->(y) WHERE e.w > 1 } MATCH m(a, b), m(b, c) WHERE NOT EXISTS { (a)-->(q:A|B&!C) WHERE q.x = a.x } RETURN a, z AS w GROUP BY a LIMIT 3",
		"CREATE WATCH w AS MATCH REPEATABLE ELEMENTS (a)-[e*1..3]-(`b c`) WITHIN 7d ON t EMIT ADDED",
		"MATCH (a WHERE _.x IN [1, -2.5e3, 'it''s', NULL])--({k: TRUE}), NOT (a)-->()-->(a) RETURN participation(a)",
		"MATCH temporal_cycle(3) RETURN exists()",
		"MATCH (ä:名)--(b)\t// comment\n/* x */ WHERE ALL_DIFFERENT(ä, b) AND -(3) + 4 % 2 < deg(b)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		checkAnswer(t, text, one(q), err)
		checkParts(t, text)
	})
}

func FuzzGraphFrames(f *testing.F) {
	for _, s := range []string{"(a)-[]->(b); !(b)-[]->(a)", "(a)-[e]->(); (b)-[e2]->(a)", "(a)", "!(a)-[]->(); (a)-[]->(b)", "(a)--(b)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseGraphFrames(text)
		checkAnswer(t, text, one(q), err)
	})
}

func FuzzTVE(f *testing.F) {
	for _, s := range []string{
		"t # 0\nv 0 1\nv 1 2\ne 0 1 3\nt # 1\nv 0 -1\nv 1 x\ne 0 1\nt # -1\n",
		"t 3 2\nv 0 5 1\nv 1 6 2\nv 2 5 1\ne 0 1\ne 1 2 0\n",
		"v 0 1\r\nv 1 1\r\ne 0 1 7\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		qs, err := ParseTVE("f", text)
		checkAnswer(t, text, qs, err)
	})
}

func FuzzEdgeList(f *testing.F) {
	for _, s := range []string{"0-1 0-2 1-2", "0 1\n1 2\n# c\n", "q1: 0-1 0-2\nq2: a-b b~c a-c\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		qs, err := ParseEdgeList("f", text)
		checkAnswer(t, text, qs, err)
	})
}

func FuzzDotmotif(f *testing.F) {
	for _, s := range []string{
		"# feed forward\nA -> B\nB -> C [weight > 3, type != \"x y\"] as e\nA !> C\nA.size > 3\nB['my size'] <= C.size\ne.delay < 2",
		"m(x, y) {\n x -> y\n y ~> x\n x.t = GABA\n}\nm(A, B); m(B, C)\nA === C",
		"A -| B",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseDotmotif("f", text)
		checkAnswer(t, text, one(q), err)
	})
}
