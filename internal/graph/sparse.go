package graph

import (
	"math/bits"
	"slices"
)

// Sparse is neighbour lists by vertex of a relation in which few vertices have any. Its memory is
// in proportion to its lists, and not to the graph. The ids in it are a bitmap; the number of bits
// before an id is the row of its list. Where few of the bitmap's words have bits, only those are
// stored. Interval-PCSR (GENEVA) needs less memory, but a renumbering that makes runs of ids.
type Sparse struct {
	n      int // vertices of the graph
	blocks []idBlock
	// top, if not nil, says that blocks without a bit are left out, except one at the end. top[i]
	// is the index of the first block whose number is i<<shift or more. There are one to two of
	// them for each block, so that most look-ups meet one block or none.
	top   []uint32
	shift uint8
	off   []uint32 // row i's list is adj[off[i]:off[i+1]]
	adj   []uint32
}

// idBlock is 64 ids in a row, some of which have lists.
type idBlock struct {
	has    uint64 // by id
	number uint32 // of the block: its ids, shifted
	row    uint32 // of the first that has a list
}

// blockBits is the binary logarithm of the number of ids in a block.
const blockBits = 6

// sparseShare is the share of vertices with lists, as a divisor, from which on lists are not sparse:
// an offset for each vertex is then little more memory than the lists, and takes one look-up less.
const sparseShare = 8

// blockShare is the share of blocks with a bit, as a divisor, from which on all blocks are stored.
const blockShare = 4

// NewSparse returns the lists of c, whose entries it shares. There must be fewer than 2^32.
func NewSparse(c *CSR) *Sparse {
	n := c.NumVertices()
	rows := 0
	for v := range n {
		if c.Off[v] != c.Off[v+1] {
			rows++
		}
	}
	b := sparseBuilder{s: &Sparse{n: n, adj: c.Adj, off: make([]uint32, 0, rows+1)}}
	for v := range uint32(n) {
		if c.Off[v] != c.Off[v+1] {
			b.begin(v, uint32(c.Off[v]))
		}
	}
	return b.end()
}

// sparseBuilder makes the index of lists whose vertices come in ascending order.
type sparseBuilder struct{ s *Sparse }

// begin says that v's list is the next, and at which entry it begins.
func (b sparseBuilder) begin(v, at uint32) {
	s := b.s
	if k := len(s.blocks); k == 0 || s.blocks[k-1].number != v>>blockBits {
		s.blocks = append(s.blocks, idBlock{number: v >> blockBits, row: uint32(len(s.off))})
	}
	s.blocks[len(s.blocks)-1].has |= 1 << (v & (1<<blockBits - 1))
	s.off = append(s.off, at)
}

// end completes the index, when adj has all entries.
func (b sparseBuilder) end() *Sparse {
	s := b.s
	rows := uint32(len(s.off))
	s.off = append(s.off, uint32(len(s.adj)))
	numbers := (s.n + 1<<blockBits - 1) >> blockBits
	if numbers <= blockShare*len(s.blocks) {
		all := make([]idBlock, numbers)
		row := rows
		for i, at := numbers-1, len(s.blocks)-1; i >= 0; i-- {
			if at >= 0 && s.blocks[at].number == uint32(i) {
				all[i], row = s.blocks[at], s.blocks[at].row
				at--
			} else {
				all[i] = idBlock{number: uint32(i), row: row}
			}
		}
		s.blocks = all
		return s
	}
	for numbers>>s.shift > 2*len(s.blocks) {
		s.shift++
	}
	s.top = make([]uint32, numbers>>s.shift+2)
	at := 0
	for i := range s.top {
		for at < len(s.blocks) && uint64(s.blocks[at].number) < uint64(i)<<s.shift {
			at++
		}
		s.top[i] = uint32(at)
	}
	s.blocks = slices.Clip(append(s.blocks, idBlock{number: ^uint32(0), row: rows}))
	return s
}

// find returns the index of the first block of a number or above, of those that are stored.
func (s *Sparse) find(number uint32) uint32 {
	i, end := s.top[number>>s.shift], s.top[number>>s.shift+1]
	for end-i > 4 { // where ids stand close
		if mid := (i + end) / 2; s.blocks[mid].number < number {
			i = mid + 1
		} else {
			end = mid
		}
	}
	for i < end && s.blocks[i].number < number {
		i++
	}
	return i
}

// row returns v's row or, if v has no list, that of the first vertex above v which has one.
func (s *Sparse) row(v uint32) (row uint32, ok bool) {
	i := v >> blockBits
	if s.top != nil {
		i = s.find(i)
	}
	b := &s.blocks[i]
	if b.number != v>>blockBits {
		return b.row, false
	}
	bit := uint64(1) << (v & (1<<blockBits - 1))
	return b.row + uint32(bits.OnesCount64(b.has&(bit-1))), b.has&bit != 0
}

// List returns the neighbours of v, ascending. The caller must not change it.
func (s *Sparse) List(v uint32) []uint32 {
	i := v >> blockBits
	if s.top != nil {
		i = s.find(i)
	}
	b, bit := &s.blocks[i], uint64(1)<<(v&(1<<blockBits-1))
	if b.has&bit == 0 || b.number != v>>blockBits {
		return nil
	}
	row := b.row + uint32(bits.OnesCount64(b.has&(bit-1)))
	from, to := s.off[row], s.off[row+1]
	return s.adj[from:to:to]
}

// Degree returns the number of neighbours of v.
func (s *Sparse) Degree(v uint32) int { return len(s.List(v)) }

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
	for i := range s.blocks {
		for w := s.blocks[i].has; w != 0; w &= w - 1 {
			if !yield(s.blocks[i].number<<blockBits + uint32(bits.TrailingZeros64(w))) {
				return
			}
		}
	}
}

// vertex returns the vertex of a row.
func (s *Sparse) vertex(row uint32) uint32 {
	i, _ := slices.BinarySearchFunc(s.blocks, row+1, func(b idBlock, row uint32) int { return int(b.row) - int(row) })
	i-- // the last block whose first row is not above; empty ones have that of the next
	w := s.blocks[i].has
	for range row - s.blocks[i].row {
		w &= w - 1
	}
	return s.blocks[i].number<<blockBits + uint32(bits.TrailingZeros64(w))
}

// before returns the number of entries in the lists of vertices below v.
func (s *Sparse) before(v uint32) uint64 {
	if int(v) >= s.n {
		return uint64(len(s.adj))
	}
	row, _ := s.row(v)
	return uint64(s.off[row])
}

// entry returns entry i with the vertex whose list it is in.
func (s *Sparse) entry(i uint64) (v, u uint32) {
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
	return 16*uint64(len(s.blocks)) + 4*uint64(len(s.top)+len(s.off)+len(s.adj))
}

// dense returns the lists with an offset for each vertex. It shares their entries.
func (s *Sparse) dense() *CSR {
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
