package pattern

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCanonicalIsInvariant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPattern(t, 7)
		q := p.Permute(rapid.Permutation(span(0, len(p.Vertices))).Draw(t, "perm"))
		for v := range q.Vertices {
			q.Vertices[v].Name = ""
		}
		if a, b := p.Canonical(), q.Canonical(); a != b {
			t.Fatalf("one pattern has two canonical forms:\n%s\n\n%s", a, b)
		}
	})
}

func TestCanonicalTellsPatternsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := drawPattern(t, 4), drawPattern(t, 4)
		same := false
		if len(p.Vertices) == len(q.Vertices) && p.Mode == q.Mode && p.Induced == q.Induced {
			want := statements(p, span(0, len(p.Vertices)))
			permutations(len(q.Vertices), func(perm []int) {
				same = same || slices.Equal(statements(q, perm), want)
			})
		}
		if got := p.Isomorphic(q); got != same {
			t.Fatalf("isomorphic: %v, want %v:\n%s\n\n%s", got, same, p.Canonical(), q.Canonical())
		}
	})
}

func TestParallelEdgesKeepTheirNumber(t *testing.T) {
	one := mustEdges(Forward, "0-1")
	two := mustEdges(Forward, "0-1 0-1")
	if !one.Isomorphic(two) {
		t.Error("two edges that only have to exist differ from one")
	}
	one.Mode, two.Mode = Trail, Trail
	if one.Isomorphic(two) {
		t.Error("under trail, two parallel edges are taken for one")
	}
}
