package dynamic

import (
	"math/bits"
)

// Offsets of blocks are a chunk's number and a place in it, and wide.
const (
	placeBits = 16
	placeMask = 1<<placeBits - 1
	offBits   = 36
	maxChunks = 1 << (offBits - placeBits)
	minChunk  = 1 << 8
	maxChunk  = 1 << placeBits
	// wide, in an offset, says that the block has the size after the one that follows from the list's length.
	wide = uint64(1) << offBits
	// dead and pad are the first words of blocks that are not in use. The second word of a dead block is its size; pad is one word.
	dead = ^uint32(0)
	pad  = dead - 1
)

// run is a list in an arena: the offset of its block, and its length. A list of length 0 has no block.
type run struct {
	off uint64
	n   uint32
}

// arena gives memory to lists. Its blocks are in chunks, one behind the other: a word with the owner's number, and the list. The size
// of a block is less than an eighth more than it needs, or wide. Lists too long for a chunk have a chunk of their own.
//
// A block that was given back serves a list of its size, or stays empty until its chunk is cleaned: the blocks that are in use are moved
// out of the chunk that has the fewest. clean does it in small steps.
type arena struct {
	chunks [][]uint32
	live   []uint32                    // words of blocks in use, by chunk
	idle   []uint32                    // numbers of chunks without memory
	lives  []uint32                    // how often a chunk was cleaned or given back, by number
	free   *[freeSizes / 2][]freeBlock // dead blocks by half of their size, and others that were dead; nil: none so far
	spare  []uint32                    // a chunk without a number
	fill   int                         // the chunk that new blocks come from; -1: none
	place  int                         // where its rest begins
	used   uint64                      // words of blocks in use
	room   uint64                      // words of chunks
	merged []uint32

	// relocate moves, by move, the owner's list that is in the block at an offset, and returns the block's size.
	relocate func(owner uint32, off uint64) (size uint32)
	victim   int    // the chunk that is cleaned; -1: none
	cursor   int    // the place in it that comes next
	debt     uint64 // steps that clean has yet to take
	work     uint64 // words that were moved, and blocks that were looked at
}

// freeBlock is a block that was dead in a life of its chunk.
type freeBlock struct {
	chunk, life uint32
	place       uint32
}

const (
	freeSizes = 64   // larger blocks that are dead wait for clean
	mostFree  = 1024 // the most of a size that are known
	freeShare = 4096 // how many words in use there are for each that is known
)

func (a *arena) init(relocate func(owner uint32, off uint64) uint32) {
	a.fill, a.victim = -1, -1
	a.relocate = relocate
}

// roundSize is the size of the least block with size words: sizes are 2 … 16, and then eight for each doubling.
func roundSize(size uint32) uint32 {
	shift := max(bits.Len32(size-1)-4, 1)
	return ((size-1)>>shift + 1) << shift
}

// size is the size of the block of r.
func (r run) size() uint32 {
	size := roundSize(r.n + 1)
	if r.off&wide != 0 {
		size = roundSize(size + 1)
	}
	return size
}

// list is the elements of r. Their capacity ends with them.
func (a *arena) list(r run) []uint32 {
	if r.n == 0 {
		return nil
	}
	p := r.off&placeMask + 1
	return a.chunks[r.off&(wide-1)>>placeBits][p : p+uint64(r.n) : p+uint64(r.n)]
}

// chunkSize is the length of a new chunk: a small part of all, so that the rest of the last one is small.
func (a *arena) chunkSize() uint32 {
	return uint32(min(max(1<<bits.Len64(a.room/64), minChunk), maxChunk))
}

// addChunk makes a chunk and returns its number.
func (a *arena) addChunk(size uint32) int {
	a.room += uint64(size)
	mem := a.spare
	if len(mem) == int(size) {
		a.spare = nil
	} else {
		mem = make([]uint32, size)
	}
	if k := len(a.idle); k > 0 {
		c := int(a.idle[k-1])
		a.idle = a.idle[:k-1]
		a.chunks[c] = mem
		return c
	}
	if len(a.chunks) == maxChunks-1 {
		panic("dynamic: more than 2^20 chunks of neighbour lists") // at least 64 GiB of lists
	}
	a.chunks = append(a.chunks, mem)
	a.live = append(a.live, 0)
	a.lives = append(a.lives, 0)
	return len(a.chunks) - 1
}

// full reports whether the numbers of chunks are nearly used up. That takes at least 56 GiB of lists.
func (a *arena) full() bool { return len(a.chunks)-len(a.idle) > maxChunks/8*7 }

// dropChunk gives a chunk's memory back.
func (a *arena) dropChunk(c int) {
	a.room -= uint64(len(a.chunks[c]))
	if a.room > 64*uint64(len(a.chunks[c])) {
		a.spare = a.chunks[c]
	}
	a.chunks[c], a.live[c] = nil, 0
	a.lives[c]++
	a.idle = append(a.idle, uint32(c))
}

// alloc returns a block of a size for a list of owner. The values behind its first word are undefined.
func (a *arena) alloc(owner, size uint32) uint64 {
	a.used += uint64(size)
	if size < freeSizes && a.free != nil {
		free := &a.free[size/2]
		for l := *free; len(l) > 0; l = *free {
			b := l[len(l)-1]
			*free = l[:len(l)-1]
			if a.lives[b.chunk] == b.life {
				a.debt -= min(a.debt, stepsForWord*uint64(size))
				a.live[b.chunk] += size
				a.chunks[b.chunk][b.place] = owner
				return uint64(b.chunk)<<placeBits | uint64(b.place)
			}
		}
	}
	c, p := a.fill, a.place
	if c < 0 || len(a.chunks[c])-p < int(size) {
		if k := a.chunkSize(); size > k/4 {
			c, p = a.addChunk(size), 0
		} else {
			a.endFill()
			c, p = a.addChunk(k), 0
			a.fill = c
		}
	}
	if c == a.fill {
		a.place = p + int(size)
	}
	a.live[c] += size
	a.chunks[c][p] = owner
	return uint64(c)<<placeBits | uint64(p)
}

// endFill makes what is left of the chunk that new blocks come from a dead block.
func (a *arena) endFill() {
	if a.fill < 0 {
		return
	}
	c := a.fill
	switch rest := a.chunks[c][a.place:]; len(rest) {
	case 0:
	case 1:
		rest[0] = pad
	default:
		rest[0], rest[1] = dead, uint32(len(rest))
	}
	a.fill = -1
	if a.live[c] == 0 {
		a.dropChunk(c)
	}
}

// release gives the block of r back.
func (a *arena) release(r run) {
	if r.n == 0 {
		return
	}
	size := r.size()
	a.used -= uint64(size)
	c, p := int(r.off&(wide-1)>>placeBits), r.off&placeMask
	if a.live[c] -= size; a.live[c] == 0 && c != a.fill && c != a.victim {
		a.dropChunk(c)
		return
	}
	a.debt += stepsForWord * uint64(size)
	a.chunks[c][p], a.chunks[c][p+1] = dead, size
	if size < freeSizes && c != a.victim && a.used >= freeShare {
		if a.free == nil {
			a.free = new([freeSizes / 2][]freeBlock)
		}
		if free := &a.free[size/2]; uint64(len(*free)) < min(a.used/freeShare, mostFree) {
			*free = append(*free, freeBlock{uint32(c), a.lives[c], uint32(p)})
		}
	}
}

// resize returns r with n elements, of which the first min(n, r.n) are those of r.
func (a *arena) resize(owner uint32, r run, n uint32) run {
	if n == 0 {
		a.release(r)
		return run{}
	}
	size := roundSize(n + 1)
	if r.n > 0 {
		switch r.size() {
		case size:
			return run{r.off &^ wide, n}
		case roundSize(n + 1 + n/32): // a list that is now a little shorter, now longer, stays where it is
			return run{r.off | wide, n}
		}
	}
	to := run{a.alloc(owner, size), n}
	a.work += uint64(copy(a.list(to), a.list(r)))
	a.release(r)
	return to
}

// store returns a new run with the elements of l.
func (a *arena) store(owner uint32, l []uint32) run {
	if len(l) == 0 {
		return run{}
	}
	r := run{a.alloc(owner, roundSize(uint32(len(l))+1)), uint32(len(l))}
	a.work += uint64(copy(a.list(r), l))
	return r
}

// insert adds x at place i of r.
func (a *arena) insert(owner uint32, r run, i int, x uint32) run {
	r = a.resize(owner, r, r.n+1)
	l := a.list(r)
	a.work += uint64(copy(l[i+1:], l[i:]))
	l[i] = x
	return r
}

// delete removes the element at place i of r.
func (a *arena) delete(owner uint32, r run, i int) run {
	l := a.list(r)
	a.work += uint64(copy(l[i:], l[i+1:]))
	return a.resize(owner, r, r.n-1)
}

// flip changes the sorted list r: elements of flips, which ascend, that are in the list leave it, and the others join it.
func (a *arena) flip(owner uint32, r run, flips []uint32) run {
	if len(flips) == 1 {
		i, found := search(a.list(r), flips[0])
		if found {
			return a.delete(owner, r, i)
		}
		return a.insert(owner, r, i, flips[0])
	}
	to := flipped(a.merged[:0], a.list(r), flips)
	a.merged = to
	r = a.resize(owner, r, uint32(len(to)))
	a.work += uint64(copy(a.list(r), to))
	return r
}

// search returns where x is, or belongs, in a list that ascends, and whether it is there.
func search(l []uint32, x uint32) (int, bool) {
	lo, n := 0, len(l)
	for n > 1 { // l[lo-1] < x, and the place is in lo … lo+n
		half := n / 2
		_, less := bits.Sub64(uint64(l[lo+half-1]), uint64(x), 0) // without a branch, which would be guessed wrong half of the time
		lo += half & -int(less)
		n -= half
	}
	if n == 1 && l[lo] < x {
		lo++
	}
	return lo, lo < len(l) && l[lo] == x
}

// flipped appends to to the list l with flips turned round.
func flipped(to, l, flips []uint32) []uint32 {
	for _, x := range flips {
		i, found := search(l, x)
		to = append(to, l[:i]...)
		l = l[i:]
		if found {
			l = l[1:]
		} else {
			to = append(to, x)
		}
	}
	return append(to, l...)
}

// stepsForWord is how many steps of clean a word that is given back pays for. A chunk to be cleaned has at most six words in use for each
// free one, because it is the emptiest and memory is loose. The rest is for looking at blocks.
const stepsForWord = 12

// mostSteps bounds the steps of one call of clean.
const mostSteps = maxChunk / 4

// loose reports whether so much of the chunks is free that moving blocks is worth it.
func (a *arena) loose() bool { return a.room-a.used > a.used/8+4*minChunk }

// clean moves blocks together. The number of its steps is in proportion to the memory that was given back, and at most mostSteps.
func (a *arena) clean() {
	if a.debt == 0 {
		return
	}
	if a.victim < 0 && !a.loose() {
		a.debt = 0
		return
	}
	end := a.work + min(a.debt, mostSteps)
	begin := a.work
	for a.work < end {
		if a.victim < 0 && !a.choose() {
			a.debt = 0
			return
		}
		l := a.chunks[a.victim]
		if a.cursor == len(l) || a.live[a.victim] == 0 {
			a.dropChunk(a.victim)
			a.victim = -1
			continue
		}
		a.work++
		switch w := l[a.cursor]; w {
		case pad:
			a.cursor++
		case dead:
			a.cursor += int(l[a.cursor+1])
		default:
			a.cursor += int(a.relocate(w, uint64(a.victim)<<placeBits|uint64(a.cursor)))
		}
	}
	a.debt -= min(a.debt, a.work-begin)
}

// choose makes the chunk with the smallest share in use the victim, if memory is loose.
func (a *arena) choose() bool {
	if !a.loose() {
		return false
	}
	best := -1
	a.work += uint64(len(a.chunks)) / 16
	for c, l := range a.chunks {
		if c == a.fill || len(l) == 0 || int(a.live[c]) > len(l)-len(l)/8 {
			continue
		}
		if best < 0 || uint64(a.live[c])*uint64(len(a.chunks[best])) < uint64(a.live[best])*uint64(len(l)) {
			best = c
		}
	}
	if best < 0 {
		return false
	}
	a.victim, a.cursor = best, 0
	a.lives[best]++ // its dead blocks are not free any more
	return true
}

// move returns r in another block of the same size.
func (a *arena) move(owner uint32, r run) run {
	size := r.size()
	to := run{a.alloc(owner, size) | r.off&wide, r.n}
	a.work += uint64(copy(a.list(to), a.list(r)))
	a.used -= uint64(size)
	a.live[r.off&(wide-1)>>placeBits] -= size
	// The cursor has passed the block.
	return to
}

// bytes is the size of all memory of the arena.
func (a *arena) bytes() uint64 {
	b := 4*(a.room+uint64(len(a.spare))) + 24*uint64(cap(a.chunks)) + 4*uint64(cap(a.live)+cap(a.lives)+cap(a.idle)+cap(a.merged))
	if a.free != nil {
		for _, l := range a.free {
			b += 12 * uint64(cap(l))
		}
	}
	return b
}
