package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSparse: sparse lists answer as the lists that they are made of, by themselves and as a handle,
// whether ids with lists stand close or far apart.
func TestSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 63, 64, 65, 500, 70_000} {
		for name, has := range map[string]func(v int) bool{
			"none": func(int) bool { return false }, "all": func(int) bool { return true },
			"few": func(int) bool { return r.IntN(300) == 0 }, "half": func(int) bool { return r.IntN(2) == 0 },
			"first": func(v int) bool { return v < 1500 }, "last": func(v int) bool { return v >= n-1500 },
			"strides": func(v int) bool { return v%256 == 9 }, "two runs": func(v int) bool { return v < 70 || v > n/2 && v < n/2+900 },
		} {
			c := &CSR{Off: make([]uint64, n+1)}
			var vertices []uint32
			for v := range n {
				if has(v) {
					vertices = append(vertices, uint32(v))
					for range 1 + r.IntN(4) {
						c.Adj = append(c.Adj, uint32(len(c.Adj)))
					}
				}
				c.Off[v+1] = uint64(len(c.Adj))
			}
			s := NewSparse(c)
			h, d := NewHandle(Lists{Sparse: s}), NewHandle(c.Lists())
			if got := slices.Collect(s.Vertices); !slices.Equal(got, vertices) || s.Len() != len(vertices) {
				t.Fatalf("%d, %s: vertices %v, want %v", n, name, got, vertices)
			}
			var room Scratch
			for v := range uint32(n) {
				l, want := h.List(v, &room), c.List(v)
				if !slices.Equal(l, want) || h.Degree(v) != len(want) || h.Before(v) != c.Off[v] || h.Has(v, uint32(c.Off[v])) != (len(want) > 0) {
					t.Fatalf("%d, %s: %d has %v, %d, %d; want %v", n, name, v, l, h.Degree(v), h.Before(v), want)
				}
				if lo, hi := uint32(c.Off[v])+1, uint32(c.Off[v])+2; !slices.Equal(h.ListIn(v, lo, hi, &room), d.ListIn(v, lo, hi, &room)) {
					t.Fatalf("%d, %s: %d in [%d, %d)", n, name, v, lo, hi)
				}
			}
			for i := range uint64(len(c.Adj)) {
				v, u := h.Entry(i)
				if wv, wu := d.Entry(i); v != wv || u != wu {
					t.Fatalf("%d, %s: entry %d is %d of %d, want %d of %d", n, name, i, u, v, wu, wv)
				}
			}
			if _, one := h.OneRun(); one || h.InParts() || h.Whole().Sparse != s {
				t.Errorf("%d, %s: one run %v, in parts %v", n, name, one, h.InParts())
			}
			all, want := make([]uint64, (n+63)/64), make([]uint64, (n+63)/64)
			for _, v := range vertices {
				want[v/64] |= 1 << (v % 64)
			}
			for _, lists := range []*Handle{h, d} {
				for i := range all {
					all[i] = ^uint64(0)
				}
				filled := make([]uint64, len(all))
				if !lists.AddFilled(filled) || !slices.Equal(filled, want) {
					t.Errorf("%d, %s: the vertices with lists are %x", n, name, filled)
				}
				if lists.ClearEmpty(all); !slices.Equal(all, want) || lists.Filled() != len(vertices) {
					t.Errorf("%d, %s: %d vertices have lists, want %d, and by the bits %x", n, name, lists.Filled(), len(vertices), all)
				}
			}
			flat := h.Flat()
			if !slices.Equal(flat.Off, c.Off) || !slices.Equal(flat.Adj, c.Adj) || h.Flat() != flat {
				t.Errorf("%d, %s: flat", n, name)
			}
			if h.MaxDegree() != d.MaxDegree() || h.Pairs() != d.Pairs() || h.Entries() != d.Entries() || h.NumVertices() != n {
				t.Errorf("%d, %s: %d, %d, %d of %d", n, name, h.MaxDegree(), h.Pairs(), h.Entries(), h.NumVertices())
			}
			if got, most := s.Bytes(), uint64(16*wordShare*len(vertices)+4*len(vertices)+4*len(c.Adj)+64); got > most {
				t.Errorf("%d, %s: %d bytes for %d vertices, want at most %d", n, name, got, len(vertices), most)
			}
		}
	}
}

// BenchmarkSparse looks lists of a relation up at random and in order, with an offset for each vertex
// and sparse.
func BenchmarkSparse(b *testing.B) {
	for _, n := range []int{1 << 14, 1 << 20, 1 << 23} {
		for _, share := range []int{2, 4, 8, 16, 64, 1024} {
			r := rand.New(rand.NewPCG(5, 6))
			c := &CSR{Off: make([]uint64, n+1)}
			for v := range n {
				if r.IntN(share) == 0 {
					c.Adj = append(c.Adj, r.Uint32N(uint32(n)), r.Uint32N(uint32(n)))
				}
				c.Off[v+1] = uint64(len(c.Adj))
			}
			s := NewSparse(c)
			ids := make([]uint32, 1<<16)
			for i := range ids {
				ids[i] = r.Uint32N(uint32(n))
			}
			for _, order := range []string{"random", "ascending"} {
				if order == "ascending" {
					slices.Sort(ids)
				}
				for _, x := range []struct {
					name  string
					lists Lists
				}{{"dense", c.Lists()}, {"sparse", Lists{Sparse: s}}} {
					b.Run(fmt.Sprintf("%d/1_of_%d/%s/%s", n, share, order, x.name), func(b *testing.B) {
						sum := uint32(0)
						for b.Loop() {
							for _, v := range ids {
								for _, u := range x.lists.List(v) {
									sum += u
								}
							}
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ids)), "ns/list")
						if sum == 1 {
							b.Log(sum)
						}
					})
				}
			}
		}
	}
}
