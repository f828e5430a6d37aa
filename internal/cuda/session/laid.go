package session

import (
	"encoding/binary"
	"sort"

	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// laid is the lists of an adjacency laid out for kernels that find them by a place (struct Adj of base/graph.cuh): before
// each list its length, and the number of ids below the vertex's own. Its place in units of 1 << shift ids follows from
// its offset. Why not the offsets themselves: a list that a kernel reads over the bus would take several round
// trips, and the offsets more of a small device memory than the lists that are read most.
type laid struct{ g *kir.GlobalDef }

// headIDs is the number of ids before a list.
const headIDs = 2

// mostUnits bounds the places in host memory. As many are left for those of copies.
const mostUnits = 1 << 31

// shift is the unit of places: the smallest with which they have 31 bits.
func (l laid) shift() (s uint) {
	for l.upTo(len(l.g.Off)-1, s)>>s > mostUnits {
		s++
	}
	return s
}

// upTo is where list v begins, in ids, in units of 1 << s: at least headIDs and its length behind the begin of the one before.
func (l laid) upTo(v int, s uint) uint64 {
	unit := uint64(1) << s
	return (l.g.Off[v] + uint64(v)*(headIDs+unit-1)) &^ (unit - 1)
}

// place is where v's list is.
func (l laid) place(v uint32) uint32 {
	s := l.shift()
	return uint32(l.upTo(int(v), s) >> s)
}

// split is the first place that no list has.
func (l laid) split() uint32 { return l.place(uint32(len(l.g.Off) - 1)) }

// aligned is the first unit from an id on.
func (l laid) aligned(id uint64) uint64 {
	unit := uint64(1) << l.shift()
	return (id + unit - 1) &^ (unit - 1)
}

// mostCopies bounds the ids of copies: all places have 32 bits.
func (l laid) mostCopies() uint64 { return (1<<32 - uint64(l.split())) << l.shift() }

// Size and ReadAt make it a Source.
func (l laid) Size() int64 { return 4 * int64(l.upTo(len(l.g.Off)-1, l.shift())) }

func (l laid) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	s, n, end := l.shift(), len(l.g.Off)-1, at+int64(len(b))
	// The last list that begins at at or before.
	v := sort.Search(n, func(v int) bool { return 4*int64(l.upTo(v, s)) > at }) - 1
	for v = max(v, 0); v < n && 4*int64(l.upTo(v, s)) < end; v++ {
		l.put(b, at, uint32(v), 4*int64(l.upTo(v, s)), false)
	}
	return len(b), nil
}

// partOnly is CACHE_PART: a mark beside the number of ids below the vertex.
const partOnly = 1 << 31

// put writes a list that begins at byte from, or of a part below the vertex its copy, as far as it lies in b, which begins at byte at.
func (l laid) put(b []byte, at int64, v uint32, from int64, part bool) {
	list := listOf(l.g, v)
	below := uint32(belowIn(list, v))
	var head [4 * (headIDs + 1)]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(list)))
	words := headIDs
	if part {
		list = list[:below]
		below |= partOnly
		binary.LittleEndian.PutUint32(head[4*headIDs:], l.place(v))
		words++
	}
	binary.LittleEndian.PutUint32(head[4:], below)
	overlay(b, at, head[:4*words], from)
	overlay(b, at, raw(list), from+4*int64(words))
}

// laidKey is the identity of lists that are laid out, where key is that of the lists as they are.
func laidKey(key arrayKey, l laid) arrayKey {
	key.what, key.bytes = laidOut, l.Size()
	return key
}

// sameLists reports whether two keys are of the same lists, as they are and laid out.
func sameLists(a, b arrayKey) bool {
	lists := func(k arrayKey) bool { return k.part == emit.Neighbours && (k.what == copied || k.what == laidOut) }
	return lists(a) && lists(b) && a.of == b.of && a.own == b.own
}

// lay has the lists of a job that may have copies laid out, where tables of their places are not too large for a device on which the
// session has limit bytes. Where the ids above a vertex begin is then known by each list alone.
func lay(j *Job, wants []want, limit int64) []want {
	if !j.cached || j.least {
		return wants
	}
	is := map[arrayKey]bool{}
	tables := int64(0)
	for i := range wants {
		w := &wants[i]
		if !w.list() || !j.copies(w.g) || tables+tableBytes(w.g) > limit/tableShare {
			continue
		}
		tables += tableBytes(w.g)
		is[w.key] = true
		l := laid{w.g}
		w.key, w.bytes = laidKey(w.key, l), l.Size()
	}
	if len(is) == 0 {
		return wants
	}
	at := make([]int, len(wants)) // of those that stay
	var stay []want
	for i, w := range wants {
		if w.part == emit.First && w.g.Kind == kir.Adj && is[j.keyOf(w.g, emit.Neighbours)] {
			continue
		}
		at[i] = len(stay)
		stay = append(stay, w)
	}
	for i := range stay {
		if from := stay[i].from; from != nil {
			stay[i].from = []int{at[from[0]], at[from[1]]}
		}
	}
	return stay
}
