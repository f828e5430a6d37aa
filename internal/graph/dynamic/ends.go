package dynamic

import "hash/maphash"

// EndsRoom is the most edges of an Ends.
const EndsRoom = 64

// Ends are the ends of the edges of some updates. Find looks all of them up together. The zero value is empty.
//
// Why: in a large graph each step of a look-up waits for memory. Short loops make the same step of all of them, so the processor waits for many at
// the same time.
type Ends struct {
	n    int
	nums [2][EndsRoom]uint64
	text [2][EndsRoom]*ID // instead of numbers, if ids are texts
	of   [2][EndsRoom]uint32
	in   [2][EndsRoom]Class
}

// Reset makes x empty.
func (x *Ends) Reset() { x.n = 0 }

// Add adds the ends u and v of an edge, and reports whether they may be ids of g. Otherwise x stays as it was. There must be room. The ids must not
// change before Find.
func (x *Ends) Add(g *Graph, u, v *ID) bool {
	i := x.n & (EndsRoom - 1)
	switch {
	case g.ids.text:
		if u.kind != textID || v.kind != textID {
			return false
		}
		x.text[0][i], x.text[1][i] = u, v
	case (u.kind|v.kind) != numberID || (u.num|v.num)>>63 != 0:
		return false
	default:
		x.nums[0][i], x.nums[1][i] = u.num, v.num
	}
	x.n++
	return true
}

// Find looks up the vertices of the present version with the ids that were added, and their classes. It is safe for concurrent use of the graph
// while nothing changes it.
func (x *Ends) Find(g *Graph) {
	ids := &g.ids
	for i := range x.of {
		of := x.of[i][:x.n]
		if ids.text {
			ids.findTexts(x.text[i][:x.n], of)
		} else {
			ids.findNumbers(x.nums[i][:x.n], of)
		}
	}
	for i := range x.of {
		in := x.in[i][:x.n]
		for k, v := range x.of[i][:x.n] {
			if v != noVertex {
				in[k] = Class(ids.class(v))
			}
		}
	}
}

// loop reports whether both ends of edge i are the same id.
func (x *Ends) loop(g *Graph, i int) bool {
	if g.ids.text {
		return x.text[0][i].text == x.text[1][i].text
	}
	return x.nums[0][i] == x.nums[1][i]
}

// Classes returns the classes of the ends of edge i, which must be vertices.
func (x *Ends) Classes(i int) (u, v Class) { return x.in[0][i], x.in[1][i] }

// lookup is one that goes on along a chain of the index.
type lookup struct {
	at  uint32 // its place among the look-ups
	ref uint32 // the reference to look at; a hash before heads
}

// heads gives look-ups the first references of the chains of their hashes. It returns those whose chains are not empty.
func (x *vertices) heads(all []lookup) []lookup {
	if x.index.count == 0 {
		return nil
	}
	for i := range all {
		all[i].ref = *x.index.head(all[i].ref)
	}
	n := 0
	for _, l := range all {
		if l.ref != 0 {
			all[n] = l
			n++
		}
	}
	return all[:n]
}

// findNumbers sets each of to to the internal id of a number, or to noVertex.
func (x *vertices) findNumbers(nums []uint64, to []uint32) {
	to = to[:len(nums)]
	top := x.near.top
	var far [EndsRoom]lookup
	n := 0
	for i, num := range nums {
		ref := uint32(0)
		p := num / nearPage
		if k := p / tablePart; k < uint64(len(top)) && top[k] != nil {
			if refs := top[k][p%tablePart]; refs != nil {
				ref = refs[num%nearPage]
			}
		}
		to[i] = ref - 1
		if ref == 0 {
			far[n].at = uint32(i)
			n++
		}
	}
	left := far[:n]
	for i := range left {
		left[i].ref = x.hashNumber(nums[left[i].at])
	}
	left = x.heads(left)
	for len(left) > 0 {
		n := 0
		for _, l := range left {
			v := l.ref - 1
			if x.nums.page(v >> pageBits)[v&pageMask] == nums[l.at] {
				to[l.at] = v
			} else if l.ref = *x.next(l.ref); l.ref != 0 {
				left[n] = l
				n++
			}
		}
		left = left[:n]
	}
}

// findTexts sets each of to to the internal id of a text, or to noVertex.
func (x *vertices) findTexts(ids []*ID, to []uint32) {
	var room [EndsRoom]lookup
	left := room[:len(ids)]
	for i, id := range ids {
		to[i] = noVertex
		left[i] = lookup{uint32(i), uint32(maphash.String(x.seed, id.text))}
	}
	left = x.heads(left)
	for len(left) > 0 {
		n := 0
		for _, l := range left {
			v := l.ref - 1
			if x.texts.page(v >> pageBits)[v&pageMask] == ids[l.at].text {
				to[l.at] = v
			} else if l.ref = *x.next(l.ref); l.ref != 0 {
				left[n] = l
				n++
			}
		}
		left = left[:n]
	}
}
