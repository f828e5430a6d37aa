package dynamic

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"strconv"
)

// ID is a user's vertex id: a number, or a text.
type ID struct {
	num  uint64
	text string
	kind idKind
}

type idKind uint8

const (
	numberID idKind = iota
	textID
)

// Num returns the id that is a number, below 2^63.
func Num(x uint64) ID { return ID{num: x} }

// Text returns the id that is a text.
func Text(s string) ID { return ID{text: s, kind: textID} }

// String returns the id as text.
func (id ID) String() string {
	if id.kind == textID {
		return id.text
	}
	return strconv.FormatUint(id.num, 10)
}

// Range is the internal ids First … End-1.
type Range struct{ First, End uint32 }

const (
	pageBits = 5
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
	// maxID is the end of internal ids. The last ids are marks.
	maxID = 1<<32 - pageSize
	// noVertex marks the absence of a vertex.
	noVertex = ^uint32(0)
)

// class is a set of vertices with the same labels. Their ids are in the class's ranges, which it does not share.
type class struct {
	labels []uint32 // sorted indexes into vertices.labels
	ranges []idRange
}

type idRange struct {
	first, next, end uint32   // next: the first id that was never used
	free             []uint32 // ids below next without a vertex
}

// page is what vertices whose ids differ in the last bits have.
type page struct {
	live  uint32 // bit i: the vertex exists
	class uint32
}

// vertices are the ids, names and classes of vertices.
type vertices struct {
	text    bool
	pages   []*page             // by id >> pageBits; nil: no vertex had an id there
	nums    []*[pageSize]uint64 // of graphs with numbers as ids
	texts   []*[pageSize]string // of graphs with texts as ids
	made    int                 // pages that are not nil
	spare   uint64              // how much larger a range is than the class was when it was made
	strings uint64              // bytes of texts
	end     uint32              // where the next range begins
	classes []class
	byKey   map[string]uint32 // classes by labels
	labels  []string
	byLabel map[string]uint32
	live    int
	// slots is a hash table with linear probing: id+1 of the vertex that has a user's id, or 0.
	slots []uint32
	taken int
	seed  maphash.Seed
}

func (x *vertices) init(text bool) {
	x.text = text
	x.seed = maphash.MakeSeed()
	x.byKey, x.byLabel = map[string]uint32{}, map[string]uint32{}
	x.spare = 4
	x.classOf(nil)
}

// label returns the index of a vertex label, which is new if no vertex had it.
func (x *vertices) label(name string) uint32 {
	l, ok := x.byLabel[name]
	if !ok {
		l = uint32(len(x.labels))
		x.labels = append(x.labels, name)
		x.byLabel[name] = l
	}
	return l
}

// classOf returns the class of some label indexes.
func (x *vertices) classOf(labels []uint32) uint32 {
	s := slices.Compact(slices.Sorted(slices.Values(labels)))
	key := make([]byte, 0, 4*len(s))
	for _, l := range s {
		key = binary.LittleEndian.AppendUint32(key, l)
	}
	c, ok := x.byKey[string(key)]
	if !ok {
		c = uint32(len(x.classes))
		x.classes = append(x.classes, class{labels: s})
		x.byKey[string(key)] = c
	}
	return c
}

// addRange gives a class a range with room for size vertices and, if ids are left, for more. It returns ErrTooLarge if there
// are not least ids.
func (x *vertices) addRange(c uint32, size, least int) error {
	room := min((uint64(max(size, pageSize))*x.spare+pageMask)&^pageMask, uint64(maxID-x.end))
	if room < uint64(least) {
		return fmt.Errorf("%w: no internal ids are left for more vertices", ErrTooLarge)
	}
	r := idRange{first: x.end, next: x.end, end: x.end + uint32(room)}
	x.end = r.end
	x.classes[c].ranges = append(x.classes[c].ranges, r)
	for uint64(len(x.pages))<<pageBits < uint64(r.end) {
		x.pages = append(x.pages, nil)
		if x.text {
			x.texts = append(x.texts, nil)
		} else {
			x.nums = append(x.nums, nil)
		}
	}
	return nil
}

// size is the number of ids that a class has used.
func (c *class) size() (n int) {
	for _, r := range c.ranges {
		n += int(r.next - r.first)
	}
	return n
}

// reserve makes sure that n more vertices of a class get ids.
func (x *vertices) reserve(c uint32, n int) error {
	k := &x.classes[c]
	for _, r := range k.ranges {
		n -= len(r.free) + int(r.end-r.next)
	}
	if n <= 0 {
		return nil
	}
	return x.addRange(c, k.size(), n)
}

// give makes a vertex with a user's id, and returns its internal id, for which reserve has made room. The vertex does not exist yet.
func (x *vertices) give(id ID, c uint32) uint32 {
	k := &x.classes[c]
	v := noVertex
	for i := range k.ranges {
		r := &k.ranges[i]
		if n := len(r.free); n > 0 {
			v = r.free[n-1]
			r.free = r.free[:n-1]
			break
		}
		if r.next < r.end {
			v = r.next
			r.next++
			break
		}
	}
	p := v >> pageBits
	if x.pages[p] == nil {
		x.pages[p] = &page{class: c}
		x.made++
		if x.text {
			x.texts[p] = new([pageSize]string)
		} else {
			x.nums[p] = new([pageSize]uint64)
		}
	}
	if x.text {
		x.strings -= textBytes(x.texts[p][v&pageMask])
		x.texts[p][v&pageMask] = id.text
		x.strings += textBytes(id.text)
	} else {
		x.nums[p][v&pageMask] = id.num
	}
	return v
}

// take takes the internal id v back, for another vertex.
func (x *vertices) take(v uint32) {
	k := &x.classes[x.pages[v>>pageBits].class]
	for i := range k.ranges {
		if r := &k.ranges[i]; r.first <= v && v < r.end {
			r.free = append(r.free, v)
			return
		}
	}
}

// textBytes is about the memory of a text in the heap.
func textBytes(s string) uint64 { return (uint64(len(s)) + 15) &^ 15 }

// idOf returns the user's id of v.
func (x *vertices) idOf(v uint32) ID {
	if x.text {
		return Text(x.texts[v>>pageBits][v&pageMask])
	}
	return Num(x.nums[v>>pageBits][v&pageMask])
}

func (x *vertices) alive(v uint32) bool {
	p := v >> pageBits
	return int(p) < len(x.pages) && x.pages[p] != nil && x.pages[p].live>>(v&pageMask)&1 != 0
}

// setAlive sets whether v exists.
func (x *vertices) setAlive(v uint32, is bool) {
	p, b := x.pages[v>>pageBits], uint32(1)<<(v&pageMask)
	if is {
		p.live |= b
	} else {
		p.live &^= b
	}
}

func (x *vertices) hash(id ID) uint64 {
	if x.text {
		return maphash.String(x.seed, id.text)
	}
	return maphash.Comparable(x.seed, id.num)
}

// slot returns the slot of a user's id, or the free one where it belongs.
func (x *vertices) slot(id ID) int {
	mask := len(x.slots) - 1
	for i := int(x.hash(id)) & mask; ; i = (i + 1) & mask {
		s := x.slots[i]
		if s == 0 {
			return i
		}
		v := s - 1
		if x.text && x.texts[v>>pageBits][v&pageMask] == id.text || !x.text && x.nums[v>>pageBits][v&pageMask] == id.num {
			return i
		}
	}
}

// find returns the present internal id of a user's id, or noVertex.
func (x *vertices) find(id ID) uint32 {
	if len(x.slots) == 0 {
		return noVertex
	}
	return x.slots[x.slot(id)] - 1
}

// name makes v the vertex that a user's id is found as.
func (x *vertices) name(id ID, v uint32) {
	if 4*(x.taken+1) > 3*len(x.slots) {
		old := x.slots
		x.slots = make([]uint32, max(16, 1<<bits.Len(uint(4*(x.taken+1)/3))))
		for _, s := range old {
			if s != 0 {
				x.slots[x.slot(x.idOf(s-1))] = s
			}
		}
	}
	i := x.slot(id)
	if x.slots[i] == 0 {
		x.taken++
	}
	x.slots[i] = v + 1
}

// forget removes a user's id. Slots behind it that would not be found any more move.
func (x *vertices) forget(id ID) {
	mask := len(x.slots) - 1
	i := x.slot(id)
	if x.slots[i] == 0 {
		return
	}
	x.taken--
	for j := i; ; {
		j = (j + 1) & mask
		if x.slots[j] == 0 {
			break
		}
		home := int(x.hash(x.idOf(x.slots[j]-1))) & mask
		if (j-home)&mask >= (j-i)&mask {
			x.slots[i] = x.slots[j]
			i = j
		}
	}
	x.slots[i] = 0
}

// bytes is the size of the arrays.
func (x *vertices) bytes() uint64 {
	b := 8*uint64(cap(x.pages)+cap(x.texts)+cap(x.nums)) + 4*uint64(cap(x.slots)) + x.strings
	b += uint64(x.made) * 8
	if x.text {
		b += uint64(x.made) * 16 * pageSize
	} else {
		b += uint64(x.made) * 8 * pageSize
	}
	for i := range x.classes {
		b += 4*uint64(cap(x.classes[i].labels)) + 80
		for _, r := range x.classes[i].ranges {
			b += 40 + 4*uint64(cap(r.free))
		}
	}
	return b
}
