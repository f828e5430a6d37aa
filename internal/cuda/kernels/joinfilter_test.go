package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

const joinFilterText = `
#include "join/filter.cuh"
struct P { JoinFilter x; JoinLists lists; u32 vertices, unused; };
WEFT_KERNEL(filter, P) {
  JoinFilter x = p.x;
  x.lists = &p.lists;
  join_filter_all(x, p.vertices);
}
`

// deviceFilter is struct JoinFilter of join/filter.cuh.
type deviceFilter struct {
	Table, IDs, Bits, Ranges, Lists, Want, Out, Counts uint64
	RangesN, MinDegree, Columns, Queries               uint32
}

// TestJoinFilter: the bits that a device makes are those of layout.Signatures.Filter, in ranges and among bits that
// are given, under the graph's ids and others, for one query and for one of two; and so are the numbers.
func TestJoinFilter(t *testing.T) {
	r := rand.New(rand.NewPCG(device.Seed(), 8))
	s := nodiff.Spec{N: 333, Directed: true, EdgeLabels: true}
	for v := range s.N {
		s.Labels = append(s.Labels, []string{string(rune('A' + v%3))})
		for range 3 {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: r.IntN(s.N), Label: string(rune('X' + r.IntN(3)))})
		}
	}
	g := s.Build()
	n := uint32(g.NumVertices())
	lists, err := layout.RowsByLabel(g).Lists(t.Context(), 1, layout.Out, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := layout.NewInterval(t.Context(), lists, int(n), 1)
	if err != nil {
		t.Fatal(err)
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for trial := range 12 {
			table, err := layout.NewSignatures(t.Context(), g, []int{32, 64, 256}[trial%3], 2)
			if err != nil {
				t.Fatal(err)
			}
			var queries []layout.Query
			var want []uint32
			for range 1 + trial%2 {
				var pairs []layout.Pair
				for range 1 + r.IntN(3) {
					pairs = append(pairs, layout.Pair{Label: r.Uint32N(3), In: r.IntN(2) == 0, Class: r.IntN(4) - 1})
				}
				queries = append(queries, table.NewQuery(pairs))
				want = append(want, queries[len(queries)-1].Words()...)
			}
			var ranges [][2]uint32
			if trial%4 > 0 {
				ranges = [][2]uint32{{5, 64}, {64, 65}, {100, n - uint32(trial)}}
			}
			var bits []uint64
			if trial%3 > 0 {
				for range (n + 63) / 64 {
					bits = append(bits, r.Uint64())
				}
			}
			ids := make([]uint32, n)
			for i, v := range r.Perm(int(n)) {
				ids[i] = uint32(v)
			}
			if trial%2 == 0 {
				slices.Sort(ids)
			}
			least := uint32(trial % 4)

			// The host's candidates.
			in := make([]uint64, (n+63)/64)
			for v := range n {
				if ranges == nil || slices.ContainsFunc(ranges, func(in [2]uint32) bool { return v >= in[0] && v < in[1] }) {
					in[v/64] |= 1 << (v % 64)
				}
			}
			for i := range bits {
				in[i] &= bits[i]
			}
			signed := make([]uint64, len(in))
			for _, q := range queries {
				one := slices.Clone(in)
				table.Filter(q, one, 0, n)
				for i, w := range one {
					signed[i] |= w
				}
			}
			wantBits, wantCounts := make([]uint64, len(in)), make([]uint64, 3)
			for i, v := range ids {
				wantCounts[0] += in[v/64] >> (v % 64) & 1
				if signed[v/64]>>(v%64)&1 == 0 {
					continue
				}
				wantCounts[1]++
				if len(x.List(uint32(i))) >= int(least) {
					wantCounts[2]++
					wantBits[i/64] |= 1 << (i % 64)
				}
			}

			out, counts := make([]uint64, len(in)), make([]uint64, 3)
			for i := range out {
				out[i] = r.Uint64() // of an earlier run
			}
			err = d.Do(func(c *cuda.Context) error {
				return launch(c, joinFilterText, "filter", 1+trial%3, 64, 0, func(b *buffers) any {
					f := deviceFilter{
						Table: b.in(raw(table.Table())), Ranges: b.in(raw(ranges)), Want: b.in(raw(want)), Out: b.out(raw(out)), Counts: b.out(raw(counts)),
						RangesN: uint32(len(ranges)), MinDegree: least, Columns: uint32(table.Columns()), Queries: uint32(len(queries)),
					}
					if bits != nil {
						f.Bits = b.in(raw(bits))
					}
					if trial%2 > 0 {
						f.IDs = b.in(raw(ids))
					}
					l := deviceLists{Adj: b.in(raw(x.Adj)), First: b.in(raw(x.First)), Row: b.in(raw(x.Row)), Place: b.in(raw(x.Off)), Kind: 2, N: uint32(x.Runs())}
					return &struct {
						Filter      deviceFilter
						Lists       deviceLists
						Vertices, _ uint32
					}{Filter: f, Lists: l, Vertices: n}
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(out, wantBits) || !slices.Equal(counts, wantCounts) {
				t.Errorf("trial %d: counts %v, want %v; bits %s, want %s", trial, counts, wantCounts, fmt.Sprintf("%x", out), fmt.Sprintf("%x", wantBits))
			}
			if wantCounts[1] == 0 || wantCounts[1] == wantCounts[0] || least > 1 && wantCounts[2] == wantCounts[1] {
				t.Logf("trial %d: the filters do little: %v", trial, wantCounts)
			}
		}
	})
}
