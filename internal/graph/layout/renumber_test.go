package layout

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
)

// TestRenumberThreads: the new ids do not depend on the number of threads, in graphs of one class and of
// several, with few labels and with more than a vertex has marks for. A context that has ended ends it.
func TestRenumberThreads(t *testing.T) {
	for _, s := range []gen.Spec{
		{EdgeLabels: 30, Skew: 1, Directed: true},
		{EdgeLabels: 12, VertexLabels: 20, Skew: 1},
		{EdgeLabels: 3000, VertexLabels: 3, Skew: 1, Directed: true},
		{},
	} {
		s.Model, s.Scale, s.M, s.Seed = "rmat", 12, 20000, 5
		t.Run(fmt.Sprintf("%d labels, %d edge labels", s.VertexLabels, s.EdgeLabels), func(t *testing.T) {
			g, err := gen.Generate(t.Context(), s, 2)
			if err != nil {
				t.Fatal(err)
			}
			ids := func(ctx context.Context, threads int) ([]uint32, error) {
				re, err := Renumber(ctx, RowsByLabel(g), threads)
				if err != nil {
					return nil, err
				}
				return re.Old, nil
			}
			want, err := ids(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, threads := range []int{2, 7} {
				if got, err := ids(t.Context(), threads); err != nil || !slices.Equal(got, want) {
					t.Errorf("%d threads give other ids than one: %v", threads, err)
				}
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := ids(ended, 2); !errors.Is(err, context.Canceled) {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

// TestShareSets: the share set of a vertex is the same by marks and by sorting, and behind what is there.
func TestShareSets(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 8, M: 2000, Directed: true, EdgeLabels: 70, Seed: 5}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newShareSets(t.Context(), RowsByLabel(g), 2)
	if err != nil {
		t.Fatal(err)
	}
	marks := s.newMarks()
	for v := range uint32(g.NumVertices()) {
		got, want := s.of(v, []uint32{5}, marks), s.of(v, []uint32{5}, nil)
		if !slices.Equal(got, want) || slices.ContainsFunc(marks, func(w uint64) bool { return w != 0 }) {
			t.Fatalf("vertex %d: %v by marks %x, %v by sorting", v, got, marks, want)
		}
	}
}

// TestChain: the order of groups does not depend on the order in which they are given, also where one
// set begins with the whole of another.
func TestChain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{6, 40} {
		var groups []group
		for set := range 1 << 6 {
			g := group{vertices: make([]uint32, r.IntN(most)+1)}
			g.vertices[0] = uint32(set) // its name
			for p := range uint32(6) {
				if set>>p&1 != 0 {
					g.set = append(g.set, p)
				}
			}
			groups = append(groups, g)
		}
		order := func() (names []uint32) {
			all := slices.Clone(groups)
			for i := range all {
				all[i].set = slices.Clone(all[i].set)
			}
			if err := chain(t.Context(), all, 6, 2); err != nil {
				t.Fatal(err)
			}
			for _, g := range all {
				names = append(names, g.vertices[0])
			}
			return names
		}
		want := order()
		if last := want[len(want)-1]; last != 0 {
			t.Errorf("the group in no partition is not the last, but %b", last)
		}
		if sorted := slices.Sorted(slices.Values(want)); len(slices.Compact(sorted)) != 1<<6 {
			t.Fatal("groups are lost")
		}
		for range 20 {
			r.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
			if got := order(); !slices.Equal(got, want) {
				t.Fatalf("%v, and in another order %v", want, got)
			}
		}
	}
}

// TestSortParallel: runs that several threads sort and merge are one sorted slice.
func TestSortParallel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 5000, 1<<15 + 77} {
		all := r.Perm(n)
		got, err := sortParallel(t.Context(), all, 5, func(a, b int) int { return a - b })
		if err != nil || len(got) != n || !slices.IsSorted(got) {
			t.Errorf("%d numbers: %v, or not sorted", n, err)
		}
	}
}
