package dynamic

import (
	"cmp"
	"math/bits"
	"slices"
)

// Offsets of blocks are a chunk's number and a place in it.
const (
	placeBits = 16
	placeMask = 1<<placeBits - 1
	offBits   = 36
	offMask   = 1<<offBits - 1
	maxChunks = 1 << (offBits - placeBits)
	noBlock   = uint64(offMask) // the end of a list of free blocks
	minChunk  = 1 << 8
	maxChunk  = 1 << placeBits
)

// run is a list in an arena: the place of its block, and its length. A list of length 0 has no block.
type run struct {
	off uint64
	n   uint32
}

// arena gives memory to lists. The block of a list is less than a quarter larger than the list, and
// its size follows from the list's length. Blocks of one size that were given back are a free list, which goes
// through the blocks. Lists too long for a chunk have a chunk of their own.
type arena struct {
	chunks [][]uint32
	live   []uint32 // elements of blocks in use, by chunk
	idle   []uint32 // numbers of chunks without memory
	fill   int      // the chunk that new blocks come from; -1: none
	place  int      // where its rest begins
	free   [128]uint64
	used   uint64 // elements of blocks in use
	room   uint64 // elements of chunks
	merged []uint32
}

func (a *arena) init() {
	a.fill = -1
	for i := range a.free {
		a.free[i] = noBlock
	}
}

// blockSize is the size of the block of a list of n > 0 elements. The sizes are 2 … 8, and then four for each
// doubling. A free block of 2 elements has room for an offset.
func blockSize(n uint32) uint32 {
	n = max(n, 2)
	shift := max(bits.Len32(n-1)-3, 0)
	return ((n-1)>>shift + 1) << shift
}

// sizeIndex numbers the sizes of blocks.
func sizeIndex(size uint32) int {
	shift := max(bits.Len32(size-1)-3, 0)
	return shift*4 + int(size>>shift)
}

// list is the elements of r. Their capacity ends with them.
func (a *arena) list(r run) []uint32 {
	if r.n == 0 {
		return nil
	}
	p := r.off & placeMask
	return a.chunks[r.off>>placeBits][p : p+uint64(r.n) : p+uint64(r.n)]
}

// block is the whole block of a list of n elements at off.
func (a *arena) block(off uint64, size uint32) []uint32 {
	p := off & placeMask
	return a.chunks[off>>placeBits][p : p+uint64(size)]
}

// chunkSize is the length of a new chunk: a small part of all, so that the rest of the last one is small.
func (a *arena) chunkSize() uint32 {
	return uint32(min(max(1<<bits.Len64(a.room/16), minChunk), maxChunk))
}

// addChunk makes a chunk and returns its number.
func (a *arena) addChunk(size uint32) int {
	a.room += uint64(size)
	if k := len(a.idle); k > 0 {
		c := int(a.idle[k-1])
		a.idle = a.idle[:k-1]
		a.chunks[c] = make([]uint32, size)
		return c
	}
	if len(a.chunks) == maxChunks-1 {
		panic("dynamic: more than 2^20 chunks of neighbour lists") // at least 64 GiB of lists
	}
	a.chunks = append(a.chunks, make([]uint32, size))
	a.live = append(a.live, 0)
	return len(a.chunks) - 1
}

// full reports whether the numbers of chunks are nearly used up. That takes at least 56 GiB of lists.
func (a *arena) full() bool { return len(a.chunks)-len(a.idle) > maxChunks/8*7 }

// dropChunk gives a chunk's memory back.
func (a *arena) dropChunk(c int) {
	a.room -= uint64(len(a.chunks[c]))
	a.chunks[c], a.live[c] = nil, 0
	a.idle = append(a.idle, uint32(c))
}

// alloc returns a block for n > 0 elements. Their values are undefined.
func (a *arena) alloc(n uint32) uint64 {
	size := blockSize(n)
	a.used += uint64(size)
	i := sizeIndex(size)
	if off := a.free[i]; off != noBlock {
		b := a.block(off, 2)
		a.free[i] = uint64(b[0]) | uint64(b[1])<<32
		a.live[off>>placeBits] += size
		return off
	}
	if a.fill < 0 || len(a.chunks[a.fill])-a.place < int(size) {
		k := a.chunkSize()
		if size > k/4 {
			c := a.addChunk(size)
			a.live[c] = size
			return uint64(c) << placeBits
		}
		a.freeRest()
		a.fill, a.place = a.addChunk(k), 0
	}
	off := uint64(a.fill)<<placeBits | uint64(a.place)
	a.place += int(size)
	a.live[a.fill] += size
	return off
}

// freeRest makes free blocks of what is left of the chunk that new blocks come from.
func (a *arena) freeRest() {
	if a.fill < 0 {
		return
	}
	for rest := uint32(len(a.chunks[a.fill]) - a.place); rest >= 2; {
		size := rest
		if k := max(bits.Len32(size)-3, 0); k > 0 {
			size = size >> k << k
		}
		a.push(uint64(a.fill)<<placeBits|uint64(a.place), size)
		a.place += int(size)
		rest -= size
	}
	a.fill = -1
}

func (a *arena) push(off uint64, size uint32) {
	i, b := sizeIndex(size), a.block(off, 2)
	b[0], b[1] = uint32(a.free[i]), uint32(a.free[i]>>32)
	a.free[i] = off
}

// release gives the block of r back.
func (a *arena) release(r run) {
	if r.n == 0 {
		return
	}
	size := blockSize(r.n)
	a.used -= uint64(size)
	c := int(r.off >> placeBits)
	if uint32(len(a.chunks[c])) == size { // a chunk of its own
		a.dropChunk(c)
		return
	}
	a.live[c] -= size
	a.push(r.off, size)
}

// resize returns r with n elements, of which the first min(n, r.n) are those of r.
func (a *arena) resize(r run, n uint32) run {
	switch {
	case n == 0:
		a.release(r)
		return run{}
	case r.n > 0 && blockSize(n) == blockSize(r.n):
		return run{r.off, n}
	}
	to := run{a.alloc(n), n}
	copy(a.list(to), a.list(r))
	a.release(r)
	return to
}

// store returns a new run with the elements of l.
func (a *arena) store(l []uint32) run {
	if len(l) == 0 {
		return run{}
	}
	r := run{a.alloc(uint32(len(l))), uint32(len(l))}
	copy(a.list(r), l)
	return r
}

// flip changes the sorted list r: elements of flips, which ascend, that are in the list leave it, and the others join it.
func (a *arena) flip(r run, flips []uint32) run {
	if len(flips) == 1 {
		i, found := slices.BinarySearch(a.list(r), flips[0])
		if found {
			l := a.list(r)
			copy(l[i:], l[i+1:])
			return a.resize(r, r.n-1)
		}
		r = a.resize(r, r.n+1)
		l := a.list(r)
		copy(l[i+1:], l[i:])
		l[i] = flips[0]
		return r
	}
	to := a.merged[:0]
	l := a.list(r)
	for _, x := range flips {
		i, found := slices.BinarySearch(l, x)
		to = append(to, l[:i]...)
		l = l[i:]
		if found {
			l = l[1:]
		} else {
			to = append(to, x)
		}
	}
	to = append(to, l...)
	a.merged = to
	r = a.resize(run{r.off, r.n}, uint32(len(to)))
	copy(a.list(r), to)
	return r
}

// loose reports whether so much of the chunks is free that moving blocks is worth it.
func (a *arena) loose() bool { return a.room-a.used > a.used/6+4*minChunk }

// evacuation chooses the emptiest chunks, up to a quarter of all memory, and takes their free blocks out of the free
// lists. The caller moves the blocks that are in use by move, and ends with vacate.
func (a *arena) evacuation() []bool {
	var by []int
	for c, k := range a.chunks {
		if len(k) > 0 && int(a.live[c]) < len(k)-len(k)/8 {
			by = append(by, c)
		}
	}
	slices.SortFunc(by, func(x, y int) int {
		return cmp.Compare(uint64(a.live[x])*uint64(len(a.chunks[y])), uint64(a.live[y])*uint64(len(a.chunks[x])))
	})
	from := make([]bool, len(a.chunks))
	sum := uint64(0)
	for _, c := range by {
		from[c] = true
		if sum += uint64(len(a.chunks[c])); sum > a.room/4 {
			break
		}
	}
	if a.fill >= 0 && from[a.fill] {
		a.fill = -1
	}
	for i, off := range a.free {
		a.free[i] = noBlock
		for off != noBlock {
			b := a.block(off, 2)
			next := uint64(b[0]) | uint64(b[1])<<32
			if !from[off>>placeBits] {
				b[0], b[1] = uint32(a.free[i]), uint32(a.free[i]>>32)
				a.free[i] = off
			}
			off = next
		}
	}
	return from
}

// move returns r in a block outside the chunks of from. A chunk that becomes empty is given back.
func (a *arena) move(r run, from []bool) run {
	c := int(r.off >> placeBits)
	if r.n == 0 || c >= len(from) || !from[c] {
		return r
	}
	to := a.store(a.list(r))
	a.used -= uint64(blockSize(r.n))
	if a.live[c] -= blockSize(r.n); a.live[c] == 0 {
		a.dropChunk(c)
		from[c] = false // its number may be in use again
	}
	return to
}

// vacate gives back the chunks of from that had no block in use.
func (a *arena) vacate(from []bool) {
	for c, is := range from {
		if is {
			a.dropChunk(c)
		}
	}
}

// bytes is the size of all memory of the arena.
func (a *arena) bytes() uint64 {
	return 4*a.room + 24*uint64(cap(a.chunks)) + 4*uint64(cap(a.live)+cap(a.idle)+cap(a.merged))
}
