package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// labelled returns a graph of n vertices and m edges. A third have the label "frequent", and the others
// one of 40 or, few of them, none.
func labelled(t *testing.T, n uint64, m int, directed bool) *Graph {
	r := rand.New(rand.NewPCG(1, 2))
	b := NewBuilder(BuildOptions{Directed: directed})
	c := &EdgeChunk{Label: &StringColumn{Off: []uint32{0}}}
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
	return g
}

// TestRelationByLabel: adjacency by label from the rows of a label is that from all rows, for
// rare and frequent labels, sparse and dense lists, with parallel edges, in both kinds of graphs.
func TestRelationByLabel(t *testing.T) {
	for _, size := range [][2]int{{200, 3000}, {3000, 3000}, {100_000, 30_000}} {
		for _, directed := range []bool{false, true} {
			g := labelled(t, uint64(size[0]), size[1], directed)
			few, sparse, rows := 0, 0, 0
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
				if got.Out.Sparse != nil {
					sparse++
				}
				for k, p := range [][2]Lists{{got.Out, want.Out}, {got.In, want.In}} {
					one, other := dense(p[0]), dense(p[1])
					if !slices.Equal(one.Off, other.Off) || !slices.Equal(one.Adj, other.Adj) {
						t.Fatalf("label %d, directed %v, side %d: %v, want %v", int32(label), directed, k, one, other)
					}
				}
			}
			if rows != len(g.Edges.Dst) || few == 0 || few == len(g.EdgeLabels)+1 {
				t.Errorf("%d rows of %d, %d rare labels of %d", rows, len(g.Edges.Dst), few, len(g.EdgeLabels)+1)
			}
			if sparse == 0 || size[0] == 200 && sparse == len(g.EdgeLabels)+1 {
				t.Errorf("%d of %d labels are sparse", sparse, len(g.EdgeLabels)+1)
			}
		}
	}
}

func dense(l Lists) *CSR {
	if l.Dense != nil {
		return l.Dense
	}
	return l.Sparse.Dense()
}

// TestRelationBytes: the lists of all labels, both sides of each, take memory in proportion to the
// edges, however many vertices and labels there are.
func TestRelationBytes(t *testing.T) {
	for _, n := range []uint64{200, 3000, 100_000, 1_000_000} {
		const m = 20_000
		g := labelled(t, n, m, true)
		var bytes uint64
		for label := range uint32(len(g.EdgeLabels) + 1) {
			alone := g.LabelBytes(label - 1)
			r := g.RelationByLabel(label - 1)
			if sum := r.Out.Bytes() + r.In.Bytes(); alone != sum || g.LabelBytes(label-1) != sum {
				t.Errorf("label %d: %d bytes, want %d", int32(label-1), alone, sum)
			}
			for _, l := range []Lists{r.Out, r.In, r.Either()} {
				bytes += l.Bytes()
			}
		}
		// At most 8·sparseShare bytes of dense offsets for each list, or as many of bitmaps; four
		// entries of each edge. Each side of a label has a last offset.
		if most := uint64(len(g.EdgeLabels)+1)*3*64 + 4*m*(8*sparseShare+4); bytes > most {
			t.Errorf("%d vertices, %d labels: %d bytes for %d edges, want at most %d", g.NumVertices(), len(g.EdgeLabels), bytes, m, most)
		}
	}
}

// TestSortHigh: pairs are sorted by their upper halves, and keep their order otherwise.
func TestSortHigh(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range []int{0, 1, 10, radixShort, 5000} {
		for _, n := range []int{1, 40, 1 << 11, 1 << 13, 1<<24 + 1} {
			pairs := make([]uint64, size)
			for i := range pairs {
				pairs[i] = r.Uint64N(uint64(n))<<32 | uint64(i)
			}
			want := slices.Clone(pairs)
			slices.Sort(want)
			if got := sortHigh(pairs, make([]uint64, size+3), n); !slices.Equal(got, want) {
				t.Errorf("%d pairs below %d", size, n)
			}
		}
	}
}

// TestRowRelation: several workers make the lists that one makes, from rows that repeat pairs at the cuts between workers too.
func TestRowRelation(t *testing.T) {
	for _, n := range []uint64{40, 3000} {
		for _, directed := range []bool{false, true} {
			g := labelled(t, n, 300_000, directed)
			rows := g.LabelRows().Of(uint32(slices.Index(g.EdgeLabels, "0")))
			if len(rows) < 2*rowsShare {
				t.Fatalf("%d rows are too few for two workers", len(rows))
			}
			want := g.rowRelation(rows, 1)
			for _, threads := range []int{2, 3, 16} {
				got := g.rowRelation(rows, threads)
				for k, p := range [][2]Lists{{got.Out, want.Out}, {got.In, want.In}} {
					one, other := dense(p[0]), dense(p[1])
					if !slices.Equal(one.Off, other.Off) || !slices.Equal(one.Adj, other.Adj) {
						t.Fatalf("%d vertices, directed %v, %d threads, side %d: the lists differ", n, directed, threads, k)
					}
				}
			}
		}
	}
}
