package graph

import "math/bits"

// emitter turns the pairs of one range of smaller ends after another into
// distinct ones. Each goroutine has its own.
type emitter struct {
	set     *pairSet
	tallies []*tally
	worker  int

	// The larger ends by smaller end x and direction: those of the pairs given as
	// x → y end at end[2*(x-lo)], those given as y → x at end[2*(x-lo)+1]; each
	// group begins where the one before ends.
	near []uint32
	end  []uint32
	// seen has two bits a vertex, all 0 between two smaller ends.
	seen []uint64

	arcs, pairs uint64
}

// The bits of a larger end.
const (
	fwd = 0 // its pair was given as smaller → larger
	bwd = 1
)

func (e *emitter) free() {
	freeBig(&e.near)
	freeBig(&e.end)
	freeBig(&e.seen)
}

// room makes *s at least n long; what was in it is lost.
func room(s *[]uint32, n uint64) []uint32 {
	if uint64(cap(*s)) < n {
		freeBig(s)
		*s = makeTemp[uint32](n + n/4)
	}
	return (*s)[:n]
}

// gather groups the pairs of range i, those of the smaller ends lo … hi-1.
func (e *emitter) gather(segs []*segment, i int, lo, hi uint32) {
	total := uint64(0)
	for _, s := range segs {
		total += uint64(s.cut[i+1] - s.cut[i])
	}
	e.near = room(&e.near, total)
	e.end = room(&e.end, 2*uint64(hi-lo))
	near, end := e.near, e.end
	clear(end)
	for _, s := range segs {
		for _, p := range s.p[s.cut[i]:s.cut[i+1]] {
			end[groupOf(p, lo)]++
		}
	}
	sum := uint32(0)
	for g, c := range end {
		end[g], sum = sum, sum+c
	}
	for _, s := range segs {
		for _, p := range s.p[s.cut[i]:s.cut[i+1]] {
			at := &end[groupOf(p, lo)]
			near[*at] = max(uint32(p>>32), uint32(p))
			*at++
		}
	}
}

// groupOf is twice the smaller end, from lo on, and 1 more for a pair given as
// larger → smaller.
func groupOf(p uint64, lo uint32) uint64 {
	a, b := p>>32, p&(1<<32-1)
	_, back := bits.Sub64(b, a, 0)
	return 2*(min(a, b)-uint64(lo)) + back
}

// emit writes the distinct pairs of what was gathered to block b and counts ends.
func (e *emitter) emit(b *block, lo, hi uint32) {
	set := e.set
	if e.seen == nil {
		e.seen = makeTemp[uint64](uint64(set.n)/32 + 1)
	}
	at, from := b.from, uint32(0)
	for x := lo; x < hi; x++ {
		mid, to := e.end[2*(x-lo)], e.end[2*(x-lo)+1]
		if from == to {
			continue
		}
		given := e.near[from:mid]
		given = given[:e.distinct(given, fwd)]
		back := e.near[mid:to]
		back = back[:e.distinct(back, bwd)]
		from = to
		e.arcs += uint64(len(given) + len(back))
		far := set.far[at:]
		k := 0
		for _, y := range back {
			far[k] = y
			k += 1 - e.bit(y, fwd)
		}
		if set.ownIn != nil {
			set.ownIn[x], set.ownOut[x] = uint32(len(back)), uint32(len(given))
			e.tallies[1].add(e.worker, given)
			e.tallies[2].add(e.worker, back)
			for _, y := range given {
				far[k] = y
				k += e.bit(y, bwd)
			}
			for _, y := range given {
				far[k] = y
				k += 1 - e.bit(y, bwd)
			}
		} else {
			k += copy(far[k:], given)
		}
		far = far[:k]
		for _, y := range far {
			e.seen[y>>5] = 0
		}
		e.tallies[0].add(e.worker, far)
		set.at[x], set.size[x] = at, uint32(k)
		at += uint64(k)
	}
	e.pairs += at - b.from
	b.to = at
}

// bit is a bit of the larger end y: 1 if such a pair was seen.
func (e *emitter) bit(y uint32, which uint32) int {
	return int(e.seen[y>>5] >> (y&31*2 + which) & 1)
}

// distinct moves the distinct elements of l to its front, sets their bits, and
// returns how many there are.
func (e *emitter) distinct(l []uint32, which uint32) (n int) {
	seen := e.seen
	for _, y := range l {
		w := &seen[y>>5]
		s := y&31*2 + which
		old := *w
		*w = old | 1<<s
		l[n] = y
		n += int(^old >> s & 1)
	}
	return n
}
