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
		g := 2 * uint64(x-lo)
		mid, to := e.end[g], e.end[g+1]
		if from == to {
			continue
		}
		far := set.far[at:][:to-from]
		far = far[:e.distinct(e.near[from:to], int(mid-from), far)]
		if set.ownIn != nil {
			e.sides(x, far, e.near[from:to])
		}
		e.count(far)
		set.at[x], set.size[x] = at, uint32(len(far))
		at += uint64(len(far))
		from = to
	}
	e.pairs += at - b.from
	b.to = at
}

// distinct copies the distinct ones of the larger ends l to far, which is as long,
// and returns how many they are. The first mid are of pairs given as smaller →
// larger; seen has the directions of each when it returns.
func (e *emitter) distinct(l []uint32, mid int, far []uint32) (n int) {
	seen, far := e.seen, far[:len(l)]
	again := uint64(0)
	for i, y := range l {
		back := uint64(mid-1-i) >> 63
		w, s := &seen[y>>5], y&31*2
		old := *w
		d := old >> s
		*w = old | (1+back)<<s
		again += d >> back & 1
		far[n] = y
		n += int(^(d | d>>1) & 1)
	}
	e.arcs += uint64(len(l)) - again
	return n
}

// sides puts the larger ends of x's pairs in the order that directions need and
// counts them. tmp is room for them.
func (e *emitter) sides(x uint32, far, tmp []uint32) {
	tmp = tmp[:copy(tmp, far)]
	k := 0
	for _, d := range []uint64{1 << bwd, 1<<fwd | 1<<bwd, 1 << fwd} {
		if d == 1<<fwd {
			e.set.ownIn[x] = uint32(k)
			e.tallies[2].add(e.worker, far[:k])
		}
		if d == 1<<fwd|1<<bwd {
			e.set.ownOut[x] = uint32(len(far) - k)
		}
		for _, y := range tmp {
			if e.seen[y>>5]>>(y&31*2)&3 == d {
				far[k] = y
				k++
			}
		}
	}
	e.tallies[1].add(e.worker, far[len(far)-int(e.set.ownOut[x]):])
}

// count counts larger ends and makes their bits 0.
func (e *emitter) count(far []uint32) {
	seen := e.seen
	for _, y := range far {
		seen[y>>5] = 0
	}
	e.tallies[0].add(e.worker, far)
}
