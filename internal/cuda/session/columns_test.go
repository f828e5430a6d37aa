package session

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
)

// undirected is the lists of a graph of n vertices, the first ones of high degree, and the last third without neighbours.
func undirected(n, edges int) *kir.GlobalDef {
	rng := rand.New(rand.NewPCG(2, uint64(n)))
	of := make([]map[uint32]bool, n)
	for v := range of {
		of[v] = map[uint32]bool{}
	}
	for range edges {
		u, v := rng.IntN(n*2/3), rng.IntN(1+rng.IntN(n*2/3))
		of[u][uint32(v)], of[v][uint32(u)] = true, true
	}
	g := &kir.GlobalDef{Kind: kir.Adj, Off: []uint64{0}}
	for _, set := range of {
		var list []uint32
		for u := range set {
			list = append(list, u)
		}
		slices.Sort(list)
		g.Adj = append(g.Adj, list...)
		g.Off = append(g.Off, uint64(len(g.Adj)))
	}
	return g
}

// TestColumnsLaid: blocks are as few as a room allows, none is larger, they have all ids of a range once, and each has of each list what is in
// its range.
func TestColumnsLaid(t *testing.T) {
	g := undirected(900, 7000)
	n := uint32(len(g.Off) - 1)
	before := mostColumns + 1
	for _, room := range []int64{5 << 10, 8 << 10, 20 << 10, 1 << 20} {
		for _, of := range [][2]uint32{{0, n}, {17, 500}, {17, 1 << 31}} {
			k := newColumns(g, of[0], of[1], room)
			if k == nil {
				if room > 8<<10 {
					t.Errorf("%d bytes, %v: no blocks", room, of)
				}
				continue
			}
			if k.bounds[0] != of[0] || k.bounds[k.blocks()] != min(of[1], n) || !slices.IsSorted(k.bounds) || k.largest() > room {
				t.Errorf("%d bytes, %v: %v, the largest of %d bytes", room, of, k.bounds, k.largest())
			}
			if of[1] == n {
				if k.blocks() > before || room == 1<<20 && k.blocks() != 1 {
					t.Errorf("%d bytes: %d blocks", room, k.blocks())
				}
				before = k.blocks()
			}
			b := slices.Repeat([]byte{0xee}, int(k.size()))
			if err := k.lay(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			word := func(at int64) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
			for i := range k.blocks() {
				ids := k.at[i] + 4*k.rowIDs()
				for v := range uint32(k.rows) {
					var got, want []uint32
					for at := word(k.at[i] + 4*int64(v)); at < word(k.at[i]+4*int64(v)+4); at++ {
						got = append(got, word(ids+4*int64(at)))
					}
					for _, u := range listOf(g, v) {
						if u >= k.bounds[i] && u < k.bounds[i+1] {
							want = append(want, u)
						}
					}
					if !slices.Equal(got, want) {
						t.Fatalf("%d bytes, %v, block %d, list %d: %v, want %v", room, of, i, v, got, want)
					}
				}
			}
		}
	}
	if before != 1 {
		t.Errorf("%d blocks with the most room", before)
	}
}

// TestColumnsRefused: lists of a directed relation are an error, and so is a context that has ended.
func TestColumnsRefused(t *testing.T) {
	g := undirected(300, 900)
	k := newColumns(g, 0, 300, 1<<20)
	b := make([]byte, k.size())
	ctx, end := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	end(gone)
	if err := k.lay(ctx, b); !errors.Is(err, gone) {
		t.Errorf("a context that has ended: %v", err)
	}
	half := newColumns(g, 0, 100, 1<<20)
	list := listOf(g, 150)
	if len(list) == 0 || list[0] >= 100 {
		t.Fatal("vertex 150 has no neighbour below 100")
	}
	list[0] = 200
	slices.Sort(list)
	if err := half.lay(t.Context(), make([]byte, half.size())); err == nil {
		t.Error("a list that lacks an id: no error")
	}
}

// TestMarks: how many entries the columns below an id have is known at marks, which are not many.
func TestMarks(t *testing.T) {
	for _, n := range []int{30, 1000, 5000} {
		g := undirected(n, 3*n)
		marks, shift := (&columns{g: g}).marks()
		if len(marks) > n/idsOfMark+4 || uint64(len(marks)-1)<<shift <= uint64(n) {
			t.Errorf("%d vertices: %d marks, for each %d", n, len(marks), 1<<shift)
		}
		for i, m := range marks {
			if at := min(i<<shift, n); m != g.Off[at] {
				t.Errorf("%d vertices, mark %d: %d, and the columns below %d have %d", n, i, m, at, g.Off[at])
			}
		}
	}
}
