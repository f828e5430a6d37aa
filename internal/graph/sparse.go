package graph

import (
	"cmp"
	"math/bits"
	"slices"
	"unsafe"
)

// Sparse is neighbour lists by vertex of a relation in which few vertices have any. Its memory is
// in proportion to its lists, and not to the graph. The ids in it are a bitmap; the number of bits
// before an id is the row of its list. Where few words of the bitmap have bits, only those are
// stored, and a bitmap of words says which they are, and so on. Interval-PCSR (GENEVA) needs less
// memory, but a renumbering that makes runs of ids.
type Sparse struct {
	n int // vertices of the graph
	// ids has a bit for each id, above[0] one for each word of ids, and above[k] one for each word
	// of above[k-1]. All words of the last are stored, and of others those with bits.
	ids   []bitWord
	above [][]bitWord
	off   []uint32 // row i's list is adj[off[i]:off[i+1]]
	adj   []uint32
}

// bitWord is 64 bits of a bitmap.
type bitWord struct {
	has   uint64
	first uint32 // the number of bits before this word
}

// wordBits is the binary logarithm of the number of bits of a word.
const wordBits = 6

// sparseShare is the share of vertices with lists, as a divisor, from which on lists are not sparse:
// an offset for each vertex is then little more memory than the lists, and takes one look-up less.
const sparseShare = 8

// wordShare is the share of words with bits, as a divisor, from which on all words are stored.
const wordShare = 4

// NewSparse returns the lists of c, whose entries it shares. There must be fewer than 2^32.
func NewSparse(c *CSR) *Sparse {
	n := c.NumVertices()
	rows := 0
	for v := range n {
		if c.Off[v] != c.Off[v+1] {
			rows++
		}
	}
	b := newSparse(n, rows)
	b.s.adj = c.Adj
	for v := range uint32(n) {
		if c.Off[v] != c.Off[v+1] {
			b.begin(v, uint32(c.Off[v]))
		}
	}
	return b.end()
}

// sparseBuilder makes the index of lists whose vertices come in ascending order.
type sparseBuilder struct {
	s     *Sparse
	words []bitWord // of level 0 that have bits
	at    []uint32  // their numbers
}

// newSparse returns a builder of about n lists.
func newSparse(n, rows int) *sparseBuilder {
	return &sparseBuilder{s: &Sparse{n: n, off: make([]uint32, 0, rows+1)}}
}

// begin says that v's list is the next, and at which entry it begins.
func (b *sparseBuilder) begin(v, at uint32) {
	b.words, b.at = setBit(b.words, b.at, v)
	b.s.off = append(b.s.off, at)
}

// setBit sets bit i in words, of which at has the numbers. Bits come in ascending order.
func setBit(words []bitWord, at []uint32, i uint32) ([]bitWord, []uint32) {
	k := len(at) - 1
	if k < 0 || at[k] != i>>wordBits {
		first := uint32(0)
		if k >= 0 {
			first = words[k].first + uint32(bits.OnesCount64(words[k].has))
		}
		words, at = append(words, bitWord{first: first}), append(at, i>>wordBits)
		k++
	}
	words[k].has |= 1 << (i & (1<<wordBits - 1))
	return words, at
}

// end completes the index, when adj has all entries.
func (b *sparseBuilder) end() *Sparse {
	s := b.s
	s.off = append(s.off, uint32(len(s.adj)))
	words, at := b.words, b.at
	var levels [][]bitWord
	for n := s.n; ; {
		if n = (n + 1<<wordBits - 1) >> wordBits; n <= wordShare*len(words) || n <= 1 {
			levels = append(levels, allWords(words, at, n))
			s.ids, s.above = levels[0], levels[1:]
			return s
		}
		levels = append(levels, slices.Clip(words))
		below := at
		words, at = nil, nil
		for _, i := range below {
			words, at = setBit(words, at, i)
		}
	}
}

// allWords returns n words, those without bits too.
func allWords(words []bitWord, at []uint32, n int) []bitWord {
	all := make([]bitWord, n)
	k, first := 0, uint32(0)
	for i := range all {
		all[i].first = first
		if k < len(at) && at[k] == uint32(i) {
			all[i] = words[k]
			first += uint32(bits.OnesCount64(words[k].has))
			k++
		}
	}
	return all
}

// List returns the neighbours of v, ascending. The caller must not change it.
func (s *Sparse) List(v uint32) []uint32 {
	i := v >> wordBits
	if len(s.above) > 0 {
		var ok bool
		if i, ok = s.place(i); !ok {
			return nil
		}
	}
	w, bit := &s.ids[i], uint64(1)<<(v%(1<<wordBits))
	if w.has&bit == 0 {
		return nil
	}
	row := w.first + uint32(bits.OnesCount64(w.has&(bit-1)))
	from, to := s.off[row], s.off[row+1]
	return s.adj[from:to:to]
}

// place returns the place of the word of ids that has number i, if it is stored.
func (s *Sparse) place(i uint32) (at uint32, ok bool) {
	k := len(s.above) - 1
	for at = i >> (wordBits * (k + 1) & 31); k >= 0; k-- {
		w, bit := &s.above[k][at], uint64(1)<<(i>>(wordBits*k&31)%(1<<wordBits))
		if w.has&bit == 0 {
			return 0, false
		}
		at = w.first + uint32(bits.OnesCount64(w.has&(bit-1)))
	}
	return at, true
}

// Degree returns the number of neighbours of v.
func (s *Sparse) Degree(v uint32) int { return len(s.List(v)) }

// level returns ids or, from 1 on, those above.
func (s *Sparse) level(k int) []bitWord {
	if k == 0 {
		return s.ids
	}
	return s.above[k-1]
}

// row returns the number of vertices below v that have a list.
func (s *Sparse) row(v uint32) uint32 {
	k := len(s.above)
	i := v >> (wordBits * (k + 1) & 63)
	for in := true; k >= 0; k-- {
		words := s.level(k)
		if int(i) == len(words) {
			return uint32(s.Len())
		}
		w := &words[i]
		i = w.first
		if in { // else all of the word is above v
			bit := uint64(1) << (v >> (wordBits * k & 63) & (1<<wordBits - 1))
			i += uint32(bits.OnesCount64(w.has & (bit - 1)))
			in = w.has&bit != 0
		}
	}
	return i
}

// Has reports whether v is in u's list.
func (s *Sparse) Has(u, v uint32) bool {
	_, ok := slices.BinarySearch(s.List(u), v)
	return ok
}

// NumVertices returns the number of vertices of the graph.
func (s *Sparse) NumVertices() int { return s.n }

// Len returns the number of vertices that have a list.
func (s *Sparse) Len() int { return len(s.off) - 1 }

// Vertices calls yield with each vertex that has a list, ascending, until yield returns false.
func (s *Sparse) Vertices(yield func(v uint32) bool) {
	s.each(len(s.above), 0, s.level(len(s.above)), yield)
}

// each is Vertices for words of level k, the first of which has number at.
func (s *Sparse) each(k int, at uint32, words []bitWord, yield func(v uint32) bool) bool {
	for i := range words {
		next := words[i].first
		for has := words[i].has; has != 0; has &= has - 1 {
			id := (at+uint32(i))<<wordBits + uint32(bits.TrailingZeros64(has))
			if k == 0 && !yield(id) || k > 0 && !s.each(k-1, id, s.level(k - 1)[next:next+1], yield) {
				return false
			}
			next++
		}
	}
	return true
}

// clearEmpty clears the bits of vertices without a list, in a bitmap of all vertices.
func (s *Sparse) clearEmpty(words []uint64) {
	next := uint32(0) // word that is not looked at yet
	s.eachWord(func(i uint32, has uint64) {
		clear(words[next:i])
		words[i] &= has
		next = i + 1
	})
	clear(words[next:])
}

// addFilled sets the bits of vertices with a list, in a bitmap of all vertices.
func (s *Sparse) addFilled(words []uint64) {
	s.eachWord(func(i uint32, has uint64) { words[i] |= has })
}

// eachWord calls f with the number and the bits of each word of ids that is stored, ascending.
func (s *Sparse) eachWord(f func(i uint32, has uint64)) {
	if len(s.above) == 0 {
		for i := range s.ids {
			f(uint32(i), s.ids[i].has)
		}
		return
	}
	up := Sparse{ids: s.above[0], above: s.above[1:]}
	at := 0
	up.each(len(up.above), 0, up.level(len(up.above)), func(i uint32) bool {
		f(i, s.ids[at].has)
		at++
		return true
	})
}

// vertex returns the vertex of a row.
func (s *Sparse) vertex(row uint32) (v uint32) {
	for k := range len(s.above) + 1 {
		words := s.level(k)
		// The last word before which there are no more bits than row; it has some.
		i, _ := slices.BinarySearchFunc(words, row+1, func(w bitWord, n uint32) int { return cmp.Compare(w.first, n) })
		i--
		has := words[i].has
		for range row - words[i].first {
			has &= has - 1
		}
		v |= uint32(bits.TrailingZeros64(has)) << (wordBits * k)
		row = uint32(i)
		if k == len(s.above) {
			v |= row << (wordBits * (k + 1) & 63)
		}
	}
	return v
}

// Before returns the number of entries in the lists of vertices below v.
func (s *Sparse) Before(v uint32) uint64 {
	if int(v) >= s.n {
		return uint64(len(s.adj))
	}
	return uint64(s.off[s.row(v)])
}

// Entry returns entry i with the vertex whose list it is in.
func (s *Sparse) Entry(i uint64) (v, u uint32) {
	end, _ := slices.BinarySearch(s.off, uint32(i)+1) // the first list that ends behind it
	return s.vertex(uint32(end - 1)), s.adj[i]
}

// maxDegree returns the length of the longest list.
func (s *Sparse) maxDegree() (n int) {
	for i := 1; i < len(s.off); i++ {
		n = max(n, int(s.off[i]-s.off[i-1]))
	}
	return n
}

// Bytes returns the size of all arrays.
func (s *Sparse) Bytes() uint64 {
	n := 4 * uint64(len(s.off)+len(s.adj))
	for k := range len(s.above) + 1 {
		n += uint64(unsafe.Sizeof(bitWord{})) * uint64(len(s.level(k)))
	}
	return n
}

// SparseIndex has the arrays of sparse lists for programs that read them elsewhere. The list of row i is
// Adj[Off[i]:Off[i+1]]. The row of vertex v is found in one word of each level, from the last down to level 0:
//
//	i := v >> (6 * Levels)
//	for k := Levels - 1; k >= 0; k-- {
//		i = the number of bit v >> (6*k) & 63 of word i // v has no list if it is not set
//	}
type SparseIndex struct {
	// Words has each word of the bitmaps as four numbers: the low and the high half of its bits, the number of its first
	// bit, and 0. Level 0 says which vertices have lists: its bits are numbered by row. Level k+1 says which words of level k
	// are stored: its bits are numbered by the places of these words in Words. The last level, of which all words are stored, is the
	// first in Words.
	Words    []uint32
	Levels   int
	Off, Adj []uint32
}

// Index returns the arrays of the lists. The caller must not change Off and Adj.
func (s *Sparse) Index() SparseIndex {
	x := SparseIndex{Levels: len(s.above) + 1, Off: s.off, Adj: s.adj}
	n := 0
	for k := range x.Levels {
		n += len(s.level(k))
	}
	x.Words = make([]uint32, 0, 4*n)
	for k := len(s.above); k >= 0; k-- {
		words, below := s.level(k), uint32(0)
		if k > 0 {
			below = uint32(len(x.Words)/4 + len(words))
		}
		for _, w := range words {
			x.Words = append(x.Words, uint32(w.has), uint32(w.has>>32), below+w.first, 0)
		}
	}
	return x
}

// Dense returns the lists with an offset for each vertex. It shares their entries.
func (s *Sparse) Dense() *CSR {
	c := &CSR{Off: make([]uint64, s.n+1), Adj: s.adj}
	next, row := uint32(0), 0
	s.Vertices(func(v uint32) bool {
		for ; next <= v; next++ {
			c.Off[next] = uint64(s.off[row])
		}
		row++
		return true
	})
	for ; int(next) <= s.n; next++ {
		c.Off[next] = uint64(len(s.adj))
	}
	return c
}
