package dynamic

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHalves writes halves and reads them, for graphs of all sizes, and with the least and the most labels.
func TestHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		g := New(true, false)
		g.ids.end = uint32(r.Uint64() >> (32 + r.IntN(32)))
		labels := uint32(r.Uint64()%(maxLabels+1)) >> r.IntN(27)
		x := g.halvesFor(uint(r.IntN(12)))
		for x.labels = 0; labels>>x.labels > 0; x.labels++ { // as of that many labels, without the names
		}
		for !x.fit(g.ids.end, 0) {
			x.buckets++
		}
		if x.labels > 26 || x.buckets > 27 {
			t.Fatalf("%d ids, %d labels: %+v", g.ids.end, labels, x)
		}
		v, w, label := uint32(r.Uint64()%(uint64(g.ids.end)+1)), r.Uint32(), uint32(r.Uint64()%(uint64(labels)+1))
		remove := half(r.IntN(2))
		if !x.fit(v, label) || x.fit(v, 1<<x.labels) {
			t.Fatalf("%+v: label %d has no room, or %d has", x, label, 1<<x.labels)
		}
		h, b := x.half(v, w, label, remove), x.bucket(v)
		if x.of(h, b) != v || h.to() != w || x.label(h) != label || h&gone != remove || b >= 1<<x.buckets {
			t.Fatalf("%+v: %d to %d, label %d, is %d to %d, label %d", x, v, w, label, x.of(h, b), h.to(), x.label(h))
		}
	}
	if (halves{labels: 3, buckets: 2}).fit(1<<31, 0) {
		t.Error("an end that has no room")
	}
}

// TestSortHalves compares with a stable sort.
func TestSortHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var sh shard
	for range 2000 {
		l := make([]half, r.IntN(20)*r.IntN(200))
		mask := half(r.Uint64())
		mask &= half(r.Uint64())
		for i := range l {
			l[i] = half(r.Uint64()) & mask
		}
		low := uint(r.IntN(64))
		want := slices.Clone(l)
		slices.SortStableFunc(want, func(x, y half) int { return cmp.Compare(x>>low, y>>low) })
		if sh.sortHalves(l, low); !slices.Equal(l, want) {
			t.Fatalf("%d halves from bit %d on are not sorted", len(l), low)
		}
	}
}

// TestLateGrows puts changes off while the graph gets vertices and edge labels, so that halves must have room for more than in the beginning. With
// more than a million labels they need more buckets.
func TestLateGrows(t *testing.T) {
	for _, c := range []struct {
		directed         bool
		labels, vertices int
		wider, buckets   int // how often halves are made wider, and how often the buckets become more, at least
	}{{false, 0, 3000, 4, 0}, {true, 0, 3000, 4, 0}, {false, 1 << 20, 50_000, 1, 1}} {
		r := rand.New(rand.NewPCG(9, 10))
		off, once := New(c.directed, false), New(c.directed, false)
		for _, g := range []*Graph{off, once} {
			g.edgeLabels = append(g.edgeLabels, make([]string, c.labels)...)
		}
		off.LookAway(nil, 50)
		wider, buckets := 0, 0
		for v := range c.vertices {
			for _, g := range []*Graph{off, once} {
				if _, err := g.AddVertex(Num(uint64(v)), 0); err != nil {
					t.Fatal(err)
				}
				if v%100 == 0 && c.labels == 0 {
					g.EdgeLabel(string(rune('a' + v/100)))
				}
			}
			before := off.late.halves
			for range 5000/c.vertices*3 + 1 {
				x, y, label := Num(uint64(r.IntN(v+1))), Num(uint64(r.IntN(v+1))), Label(r.IntN(len(once.edgeLabels)+1))
				remove := r.IntN(3) == 0
				do := once.AddEdge
				if remove {
					do = func(u, v ID, l Label, _ ...Property) (Result, error) { return once.RemoveEdge(u, v, l) }
				}
				if _, err := do(x, y, label); err != nil {
					t.Fatal(err)
				}
				c, ok := plain(off, x, y, label, remove)
				if !ok {
					t.Fatal("an edge that cannot be put off")
				}
				off.PutOff([]Change{c}, []bool{false})
				off.Pass(off.Version() + 1)
			}
			if off.late.halves != before {
				wider++
			}
			if off.late.halves.buckets > before.buckets {
				buckets++
			}
		}
		off.LookBack()
		if wider < c.wider || buckets < c.buckets {
			t.Errorf("%+v: halves were made wider %d times, and buckets more %d times", c, wider, buckets)
		}
		sameFiles(t, once, off)
	}
}
