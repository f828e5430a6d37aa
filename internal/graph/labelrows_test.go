package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRelationByLabel: adjacency by label from the rows of a label is that from all rows, for
// rare and frequent labels, with parallel edges, in both kinds of graphs.
func TestRelationByLabel(t *testing.T) {
	for _, directed := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 2))
		b := NewBuilder(BuildOptions{Directed: directed})
		c := &EdgeChunk{Label: &StringColumn{Off: []uint32{0}}}
		const n, m = 200, 3000
		for i := range m {
			c.Src = append(c.Src, r.Uint64N(n))
			c.Dst = append(c.Dst, r.Uint64N(n))
			c.Time = append(c.Time, int64(i))
			label := fmt.Sprint(r.IntN(1 + r.IntN(40)))
			switch {
			case i%3 == 0:
				label = "frequent"
			case label == "7":
				label = ""
			}
			c.Label.Bytes = append(c.Label.Bytes, label...)
			c.Label.Off = append(c.Label.Off, uint32(len(c.Label.Bytes)))
		}
		if err := b.AddEdges(c); err != nil {
			t.Fatal(err)
		}
		g, err := b.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		few, rows := 0, 0
		for label := range uint32(len(g.EdgeLabels) + 1) {
			label-- // from NoLabel
			of := g.LabelRows().Of(label)
			if !slices.IsSorted(of) || slices.ContainsFunc(of, func(i uint32) bool { return g.Edges.Label[i] != label }) {
				t.Fatalf("rows of label %d: %v", int32(label), of)
			}
			rows += len(of)
			want, err := EdgeRelation(t.Context(), g, 2, func(row int) bool { return g.Edges.Label[row] == label })
			if err != nil {
				t.Fatal(err)
			}
			got := g.RelationByLabel(label)
			if len(of) < len(g.Edges.Dst)/8 {
				few++
			}
			for _, p := range [][2]CSR{{got.Out, want.Out}, {got.In, want.In}} {
				if !slices.Equal(p[0].Off, p[1].Off) || !slices.Equal(p[0].Adj, p[1].Adj) {
					t.Fatalf("label %d, directed %v: %v, want %v", int32(label), directed, p[0], p[1])
				}
			}
		}
		if rows != len(g.Edges.Dst) || few == 0 || few == len(g.EdgeLabels)+1 {
			t.Errorf("%d rows of %d, %d rare labels of %d", rows, len(g.Edges.Dst), few, len(g.EdgeLabels)+1)
		}
	}
}
