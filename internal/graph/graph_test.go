package graph

import "testing"

func TestFromEdges(t *testing.T) {
	g := FromEdges(5, [][2]uint32{{0, 1}, {1, 0}, {1, 2}, {2, 2}, {1, 2}}, false)
	if g.NumVertices() != 5 || g.NumEdges() != 2 {
		t.Fatal(g.NumVertices(), g.NumEdges())
	}
	if r := g.Read; r.SelfLoops != 1 || r.Duplicates != 1 || r.Reciprocal != 1 || r.Kept != 2 {
		t.Fatalf("%+v", r)
	}
	if v, ok := g.LookupInt(1); !ok || v != 0 {
		t.Fatal(v, ok)
	}
	if g.Degree(0) != 2 || !g.Has(0, 1) || g.Has(1, 2) {
		t.Fatal(g.Out)
	}
}
