package graph

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestHandle compares what a handle says of lists in parts with the lists themselves.
func TestHandle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 12).Draw(t, "vertices"), rapid.IntRange(1, 4).Draw(t, "parts")
		lists, runs, gone := make([][]uint32, n), make([][][]uint32, k), make([][][]uint32, k)
		for i := range k {
			runs[i], gone[i] = make([][]uint32, n), make([][]uint32, n)
		}
		entries := 0
		for v := range n {
			for x := range uint32(n) {
				in := rapid.IntRange(-1, k-1).Draw(t, "part")
				if in >= 0 {
					lists[v] = append(lists[v], x)
					runs[in][v] = append(runs[in][v], x)
					entries++
				}
				if lost := rapid.IntRange(0, k-1).Draw(t, "deleted"); lost != in && rapid.Bool().Draw(t, "deletes") {
					runs[lost][v], gone[lost][v] = append(runs[lost][v], x), append(gone[lost][v], x)
					entries++
				}
			}
		}
		h := &Handle{}
		for i := range k {
			p := Part{Run: csrOf(runs[i])}
			if c := csrOf(gone[i]); len(c.Adj) > 0 {
				p.Gone = c
			}
			h.Parts = append(h.Parts, p)
		}
		if _, one := h.OneRun(); one != (k == 1 && h.Parts[0].Gone == nil) {
			t.Fatalf("one run: %v", one)
		}
		var s Scratch
		pairs, most, before := 0, 0, uint64(0)
		for v, want := range lists {
			pairs, most = pairs+len(want), max(most, len(want))
			if got := h.List(uint32(v), &s); !slices.Equal(got, want) {
				t.Fatalf("list of %d is %v, want %v", v, got, want)
			}
			if got := h.Flat().List(uint32(v)); !slices.Equal(got, want) {
				t.Fatalf("flat list of %d is %v, want %v", v, got, want)
			}
			lo, hi := rapid.Uint32Range(0, uint32(n)).Draw(t, "lo"), rapid.Uint32Range(0, uint32(n)).Draw(t, "hi")
			var part []uint32
			for x := range uint32(n) {
				is := slices.Contains(want, x)
				if h.Has(uint32(v), x) != is {
					t.Fatalf("%d in the list of %d: %v", x, v, !is)
				}
				if is && lo <= x && x < hi {
					part = append(part, x)
				}
			}
			if got := h.ListIn(uint32(v), lo, max(lo, hi), &s); !slices.Equal(got, part) {
				t.Fatalf("%d ≤ x < %d in the list of %d is %v, want %v", lo, hi, v, got, part)
			}
			if h.Degree(uint32(v)) != len(want) {
				t.Fatalf("%d has degree %d, want %d", v, h.Degree(uint32(v)), len(want))
			}
			if got := h.Before(uint32(v)); got != before {
				t.Fatalf("%d entries before %d, want %d", got, v, before)
			}
			for i := range k {
				before += uint64(len(runs[i][v]))
			}
		}
		if h.Pairs() != pairs || h.MaxDegree() != most || h.Entries() != uint64(entries) || h.NumVertices() != n {
			t.Fatalf("%d pairs, degrees up to %d, %d entries, %d vertices; want %d, %d, %d, %d",
				h.Pairs(), h.MaxDegree(), h.Entries(), h.NumVertices(), pairs, most, entries, n)
		}
		at := uint64(0)
		for i := range k {
			for v, l := range runs[i] {
				for _, x := range l {
					if gv, gx := h.Entry(at); gv != uint32(v) || gx != x {
						t.Fatalf("entry %d is %d in the list of %d, want %d of %d", at, gx, gv, x, v)
					}
					at++
				}
			}
		}
	})
}

func csrOf(lists [][]uint32) *CSR {
	c := &CSR{Off: []uint64{0}}
	for _, l := range lists {
		c.Adj = append(c.Adj, l...)
		c.Off = append(c.Off, uint64(len(c.Adj)))
	}
	return c
}

// TestHandleIdentity: a graph has one handle for lists that it keeps, and lists of a
// query get a number of their own.
func TestHandleIdentity(t *testing.T) {
	g := &Graph{Directed: true, Out: *csrOf([][]uint32{{1, 2}, {2}, {}}), In: *csrOf([][]uint32{{}, {0}, {0, 1}})}
	out, in, both := g.Handle(g.Out.Lists()), g.Handle(g.In.Lists()), g.Handle(g.Any().Lists())
	if out != g.Handle(g.Out.Lists()) || out.ID == in.ID || !out.Kept {
		t.Errorf("handles %+v and %+v", out, in)
	}
	if out.DegreeOrdered || !both.DegreeOrdered || !out.LabelRanges {
		t.Errorf("caps %+v of one direction, %+v of both", out.Caps, both.Caps)
	}
	own := csrOf([][]uint32{{1}, {}, {}})
	a, b := g.Handle(own.Lists()), g.Handle(own.Lists())
	if a.ID == b.ID || a.Kept {
		t.Errorf("handles of a query's lists: %+v and %+v", a, b)
	}
	u := &Graph{Out: g.Out, In: g.Out}
	if h := u.Handle(u.Out.Lists()); !h.DegreeOrdered {
		t.Errorf("caps %+v of an undirected graph", h.Caps)
	}
	u = &Graph{Out: g.Out, In: g.Out, Stored: func(h *Handle) *Handle {
		return &Handle{ID: h.ID, Parts: []Part{h.Parts[0], {Run: csrOf([][]uint32{{}, {}, {}})}}}
	}}
	if h := u.Handle(u.Out.Lists()); len(h.Parts) != 2 || h != u.Handle(u.Out.Lists()) {
		t.Errorf("stored as %+v", h)
	}
}
