package dynamic

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
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
	first, next, end uint32 // next: the first id that was never used
	free             uint32 // the first id below next without a vertex, + 1; the others follow it
	idle             uint32 // how many they are
}

// page is what vertices whose ids differ in the last bits have. It is small, so that the classes of many vertices are near each other.
type page struct {
	live  uint32 // bit i: the vertex exists
	class uint32 // + 1; 0: no vertex had an id there
}

// vertices are the ids, names and classes of vertices.
type vertices struct {
	text    bool
	pages   table[[pageSize]page]   // by id >> pageBits
	chains  table[[pageSize]uint32] // id + 1 of the vertex behind this one in its chain, or of the next free id
	nums    table[[pageSize]uint64] // of graphs with numbers as ids
	texts   table[[pageSize]string] // of graphs with texts as ids
	spare   uint64                  // how much larger a range is than the class was when it was made
	strings uint64                  // bytes of texts
	end     uint32                  // where the next range begins
	classes []class
	byKey   map[string]uint32 // classes by labels
	labels  []string
	byLabel map[string]uint32
	live    int
	// near and index find the vertex that has a user's id. References are ids + 1. near has them by the numbers of users, where these are
	// small enough for the number of vertices; index is a hash table of the others. So most graphs need no hash.
	near     table[[nearPage]uint32]
	filled   table[[nearPage]uint8] // references in each page of near
	nearby   uint32                 // references in near
	expected uint32                 // vertices that will be there soon
	index    buckets
	nextOfID func(ref uint32) (*uint32, uint32)
	seed     maphash.Seed
	salt     uint64 // so that nobody can give many ids the same hash
}

func (x *vertices) init(text bool) {
	x.text = text
	x.seed = maphash.MakeSeed()
	x.salt = maphash.String(x.seed, "")
	x.byKey, x.byLabel = map[string]uint32{}, map[string]uint32{}
	x.spare = 4
	x.nextOfID = func(ref uint32) (*uint32, uint32) { return x.next(ref), x.hash(x.idOf(ref - 1)) }
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
		n -= int(r.idle) + int(r.end-r.next)
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
		if r.free != 0 {
			v = r.free - 1
			r.free = *x.next(r.free)
			r.idle--
			break
		}
		if r.next < r.end {
			v = r.next
			r.next++
			break
		}
	}
	p := v >> pageBits
	x.need(p).class = c + 1
	if x.text {
		at := &x.texts.need(p)[v&pageMask]
		x.strings += textBytes(id.text) - textBytes(*at)
		*at = strings.Clone(id.text)
	} else {
		x.nums.need(p)[v&pageMask] = id.num
	}
	return v
}

// take takes the internal id v back, for another vertex.
func (x *vertices) take(v uint32) {
	k := &x.classes[x.class(v)]
	for i := range k.ranges {
		if r := &k.ranges[i]; r.first <= v && v < r.end {
			*x.next(v + 1) = r.free
			r.free = v + 1
			r.idle++
			return
		}
	}
}

// next is the place of the reference behind a vertex in its chain.
func (x *vertices) next(ref uint32) *uint32 {
	return &x.chains.page((ref - 1) >> pageBits)[(ref-1)&pageMask]
}

// page returns what the vertices of a page have, or nil if there are none.
func (x *vertices) page(p uint32) *page {
	if part := x.pages.page(p / pageSize); part != nil && part[p%pageSize].class != 0 {
		return &part[p%pageSize]
	}
	return nil
}

// need makes room for the vertices of a page.
func (x *vertices) need(p uint32) *page {
	x.chains.need(p)
	return &x.pages.need(p / pageSize)[p%pageSize]
}

// class returns the class of v.
func (x *vertices) class(v uint32) uint32 {
	p := v >> pageBits
	return x.pages.page(p / pageSize)[p%pageSize].class - 1
}

// textBytes is about the memory of a text in the heap.
func textBytes(s string) uint64 { return (uint64(len(s)) + 15) &^ 15 }

// idOf returns the user's id of v.
func (x *vertices) idOf(v uint32) ID {
	if x.text {
		return Text(x.texts.page(v >> pageBits)[v&pageMask])
	}
	return Num(x.nums.page(v >> pageBits)[v&pageMask])
}

func (x *vertices) alive(v uint32) bool {
	p := x.page(v >> pageBits)
	return p != nil && p.live>>(v&pageMask)&1 != 0
}

// setAlive sets whether v exists.
func (x *vertices) setAlive(v uint32, is bool) {
	p, b := x.page(v>>pageBits), uint32(1)<<(v&pageMask)
	if is {
		p.live |= b
	} else {
		p.live &^= b
	}
}

func (x *vertices) hash(id ID) uint32 {
	if x.text {
		return uint32(maphash.String(x.seed, id.text))
	}
	return x.hashNumber(id.num)
}

func (x *vertices) hashNumber(num uint64) uint32 {
	h := (num ^ x.salt) * 0x9e3779b97f4a7c15
	h = (h ^ h>>32) * 0xbf58476d1ce4e5b9
	return uint32(h >> 32)
}

const nearPage = 64

// isNear reports whether near may have the reference to a user's id, and in which page.
func (x *vertices) isNear(id ID) (page uint32, is bool) {
	return uint32(id.num / nearPage), !x.text && id.num < uint64(x.near.end())*nearPage
}

// joinsNear reports whether a user's id gets its reference in near: a page has 16 bytes for each vertex at most, or is there already.
func (x *vertices) joinsNear(id ID) bool {
	if x.text {
		return false
	}
	p, is := x.isNear(id)
	return id.num < 2*uint64(max(x.nearby+x.index.count, x.expected))+nearPage || is && x.near.page(p) != nil
}

// link returns the place of the reference in index to the vertex that has a user's id, which is 0 if there is none.
func (x *vertices) link(id ID) *uint32 {
	l := x.index.head(x.hash(id))
	for *l != 0 {
		if v := *l - 1; x.text && x.texts.page(v >> pageBits)[v&pageMask] == id.text || !x.text && x.nums.page(v >> pageBits)[v&pageMask] == id.num {
			break
		}
		l = x.next(*l)
	}
	return l
}

// find returns the present internal id of a user's id, or noVertex.
func (x *vertices) find(id ID) uint32 {
	if p, is := x.isNear(id); is {
		if refs := x.near.page(p); refs != nil && refs[id.num%nearPage] != 0 {
			return refs[id.num%nearPage] - 1
		}
	}
	if x.index.count == 0 {
		return noVertex
	}
	return *x.link(id) - 1
}

// name makes v the vertex that a user's id is found as, which none is.
func (x *vertices) name(id ID, v uint32) {
	if x.joinsNear(id) {
		p := uint32(id.num / nearPage)
		x.near.need(p)[id.num%nearPage] = v + 1
		x.filled.need(p / nearPage)[p%nearPage]++
		x.nearby++
		return
	}
	x.index.grow(x.nextOfID)
	l := x.index.head(x.hash(id))
	*x.next(v + 1) = *l
	*l = v + 1
}

// forget removes a user's id, which is one of a vertex.
func (x *vertices) forget(id ID) {
	if p, is := x.isNear(id); is {
		if refs := x.near.page(p); refs != nil && refs[id.num%nearPage] != 0 {
			refs[id.num%nearPage] = 0
			x.nearby--
			n := &x.filled.page(p / nearPage)[p%nearPage]
			if *n--; *n == 0 {
				x.near.drop(p)
			}
			return
		}
	}
	l := x.link(id)
	*l = *x.next(*l)
	x.index.count--
}

// bytes is the size of the arrays.
func (x *vertices) bytes() uint64 {
	b := x.pages.bytes() + x.chains.bytes() + x.near.bytes() + x.filled.bytes() + x.nums.bytes() + x.texts.bytes() + x.index.heads.bytes() + x.strings
	for i := range x.classes {
		b += 4*uint64(cap(x.classes[i].labels)) + 80 + 20*uint64(cap(x.classes[i].ranges))
	}
	return b
}
