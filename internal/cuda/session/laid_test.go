package session

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
)

// lists is an adjacency of n vertices with short lists, some of them empty.
func lists(n int) *kir.GlobalDef {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	g := &kir.GlobalDef{Kind: kir.Adj, Off: []uint64{0}}
	for range n {
		var list []uint32
		for range rng.IntN(7) {
			list = append(list, uint32(rng.IntN(n)))
		}
		slices.Sort(list)
		g.Adj = append(g.Adj, slices.Compact(list)...)
		g.Off = append(g.Off, uint64(len(g.Adj)))
	}
	return g
}

// TestLaid: each list is at its place with its length and the number of ids below its vertex, whatever the segments in which
// the layout is read, and lists do not overlap in any unit.
func TestLaid(t *testing.T) {
	g := lists(300)
	l := laid{g}
	all, err := io.ReadAll(io.NewSectionReader(l, 0, l.Size()))
	if err != nil || int64(len(all)) != l.Size() {
		t.Fatal(len(all), l.Size(), err)
	}
	for _, step := range []int64{1, 4, 7, 64} {
		var again []byte
		for at := int64(0); at < l.Size(); at += step {
			b := make([]byte, min(step, l.Size()-at))
			if _, err := l.ReadAt(b, at); err != nil {
				t.Fatal(err)
			}
			again = append(again, b...)
		}
		if !bytes.Equal(all, again) {
			t.Errorf("another content in steps of %d bytes", step)
		}
	}
	word := func(at uint64) uint32 { return binary.LittleEndian.Uint32(all[4*at:]) }
	for v := range uint32(300) {
		at, list := uint64(l.place(v)), listOf(g, v)
		if int(word(at)) != len(list) || int(word(at+1)) != belowIn(list, v) {
			t.Errorf("list %d: head %d, %d for %v", v, word(at), word(at+1), list)
		}
		for i, u := range list {
			if word(at+headIDs+uint64(i)) != u {
				t.Errorf("list %d: id %d is not %d", v, i, u)
			}
		}
		for s := range uint(4) {
			begin, end := l.upTo(int(v), s), l.upTo(int(v)+1, s)
			if begin%(1<<s) != 0 || begin+headIDs+uint64(len(list)) > end {
				t.Errorf("list %d of %d ids in units of %d: %d … %d", v, len(list), 1<<s, begin, end)
			}
		}
	}
	if l.shift() != 0 || uint64(l.split())*4 != uint64(l.Size()) || l.mostCopies() != 1<<32-uint64(l.split()) {
		t.Errorf("unit %d, split %d, %d copies", l.shift(), l.split(), l.mostCopies())
	}
	// Lists of more than mostUnits ids need larger units.
	large := laid{&kir.GlobalDef{Kind: kir.Adj, Off: []uint64{0, 3 << 30, 6 << 30}}}
	if s := large.shift(); s != 2 || large.split() > mostUnits || large.mostCopies() < 4<<31 {
		t.Errorf("unit %d, split %d, %d copies", s, large.split(), large.mostCopies())
	}
}

// TestPackedParts: a copy of a part has the place of the whole list behind its head.
func TestPackedParts(t *testing.T) {
	g := lists(50)
	p := &packed{tables: []laid{{g}}}
	for v := range uint32(50) {
		of := int32(0)
		ids := headIDs + uint64(len(listOf(g, v)))
		if v%2 == 1 {
			of, ids = ^0, headIDs+1+uint64(belowIn(listOf(g, v), v))
		}
		p.lists = append(p.lists, listCopy{p.ids, v, of})
		p.ids += ids
	}
	all, err := io.ReadAll(io.NewSectionReader(p, 0, p.Size()))
	if err != nil {
		t.Fatal(err)
	}
	word := func(at uint64) uint32 { return binary.LittleEndian.Uint32(all[4*at:]) }
	for _, c := range p.lists {
		list := listOf(g, c.vertex)
		below := list[:belowIn(list, c.vertex)]
		want := append([]uint32{uint32(len(list)), uint32(len(below))}, list...)
		if c.of < 0 {
			want = append([]uint32{uint32(len(list)), uint32(len(below)) | partOnly, laid{g}.place(c.vertex)}, below...)
		}
		for i, x := range want {
			if word(c.at+uint64(i)) != x {
				t.Errorf("the copy of %d: word %d is %d, want %v", c.vertex, i, word(c.at+uint64(i)), want)
			}
		}
	}
}
