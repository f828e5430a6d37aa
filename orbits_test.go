package weft_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
)

// TestOrbitsOfKarate: the orbits of the karate club add up to its motifs, under the ids of the file, in all formats.
func TestOrbitsOfKarate(t *testing.T) {
	g, err := weft.Open(t.Context(), karate)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	o, err := g.Orbits(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	if o.Len() != 15 || !slices.Equal(o.Count("1")[:4], []uint64{16, 17, 102, 18}) || o.Count("99") != nil {
		t.Errorf("%d orbits, %v", o.Len(), o.Count("1"))
	}
	cliques, rows := uint64(0), 0
	for id, n := range o.All() {
		rows++
		cliques += n[14]
		if d := o.Count(id); !slices.Equal(d, n) {
			t.Errorf("%s: %v and %v", id, d, n)
		}
	}
	if rows != 34 || cliques != 4*11 {
		t.Errorf("%d rows, %d", rows, cliques)
	}
	for format, want := range map[string]string{"csv": "\n1,16,17,102,18,81,", "ndjson": `{"vertex":1,"orbit_0":16,"orbit_1":17,"orbit_2":102,`} {
		var b strings.Builder
		if err := o.Write(&b, format); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v\n%s", format, err, b.String())
		}
	}
	all, err := g.Orbits(t.Context(), 3, weft.WithInduced(false))
	if err != nil || all.Len() != 4 || !slices.Equal(all.Count("1"), []uint64{16, 17 + 2*18, 102 + 18, 18}) {
		t.Errorf("%v, %v", err, all.Count("1"))
	}
	for _, k := range []int{2, 6} {
		if _, err := g.Orbits(t.Context(), k); !errors.Is(err, weft.ErrUsage) {
			t.Errorf("k %d: %v", k, err)
		}
	}
	d, err := weft.FromEdges(t.Context(), func(yield func(weft.Edge, error) bool) {
		_ = yield(weft.Edge{Src: "a", Dst: "b"}, nil) && yield(weft.Edge{Src: "b", Dst: "c"}, nil) && yield(weft.Edge{Src: "c", Dst: "a"}, nil)
	}, weft.WithDirected(true))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Orbits(t.Context(), 3); !errors.Is(err, weft.ErrUsage) {
		t.Errorf("a directed graph: %v", err)
	}
	if o, err := d.Orbits(t.Context(), 3, weft.WithDirections(false)); err != nil || !slices.Equal(o.Count("a"), []uint64{2, 0, 0, 1}) {
		t.Errorf("without directions: %v", err)
	}
}
