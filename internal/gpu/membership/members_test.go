package membership_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/kir"
)

// star has n+1 vertices, the first of them with all others as neighbours.
func star(n int) *kir.GlobalDef {
	g := &kir.GlobalDef{Kind: kir.Adj, Off: []uint64{0, uint64(n)}, Adj: make([]uint32, 2*n)}
	for v := range n {
		g.Adj[v] = uint32(v + 1)
		g.Off = append(g.Off, uint64(n+v+1))
	}
	return g
}

// TestFit: tables have room where their bytes, and for hash tables four times these,
// are there besides the lists.
func TestFit(t *testing.T) {
	prog := &kir.Program{}
	prog.AddGlobal(star(1000))
	bits := int64(1001 * 4 * 32)     // 1001 rows of 32 words
	buckets := int64(3001/2 + 1 + 1) // for 2000 entries and 1001 vertices, half full
	hash := 16*buckets + (8*buckets+255)/256*256
	lists := int64(4 * 2000)
	for _, c := range []struct {
		what string
		got  bool
		want bool
	}{
		{"bits", membership.FitBits(prog, bits), true},
		{"fewer bits", membership.FitBits(prog, bits-1), false},
		{"worthy bits", membership.WorthBits(prog, 32*bits, 0), true},
		{"bits too large a part", membership.WorthBits(prog, 32*bits-32, 0), false},
		{"worthy bits besides as much as leaves room", membership.WorthBits(prog, 32*bits, 28*bits-8*1002-lists), true},
		{"bits without room", membership.WorthBits(prog, 32*bits, 28*bits-8*1002-lists+4), false},
		{"hash tables", membership.FitHash(prog, lists+4*hash), true},
		{"smaller hash tables", membership.FitHash(prog, lists+4*hash-64), false},
	} {
		if c.got != c.want {
			t.Errorf("%s fit: %v", c.what, c.got)
		}
	}
	for range membership.Tables {
		prog.AddGlobal(star(2))
	}
	if membership.FitBits(prog, 1<<40) {
		t.Error("rows of bits for more adjacencies than have tables")
	}
}

func TestNames(t *testing.T) {
	for i, want := range map[membership.Lookup]string{membership.Auto: "auto", membership.Bits: "bits", membership.Hash: "hash", membership.Search: "search"} {
		if got := membership.Lookups[i]; got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}
