package graph

// Appending to lists all over a large CSR costs one or two cache misses for each arc. So arcs
// first go to the ranges of their targets, whose lists fit the cache together, and from there
// to the lists. The method is propagation blocking (Beamer, Asanović and Patterson, Reducing
// Pagerank Communication via Propagation Blocking, 2017). Both steps keep the order of arcs.
//
// A step sends one cacheful at a time: the arcs of a range of sources. Between any two ranges
// there is a run of words, so that goroutines do not wait for each other. On the way an arc is
// one word: the lower bits of its target, a way, and its source within its range.

const (
	// rangeVertices is the most vertices of a range.
	rangeVertices = 1 << 15
	// An arc's word has the target from targetShift on, the way at wayShift, and
	// below it the source.
	targetShift = 16
	wayShift    = 15
)

// streams are arcs on the way between ranges.
type streams struct {
	k     *cuts
	words []uint32
	base  []uint64 // where the words from each range begin
	// from says where in the words from range a those to range b begin, by
	// b*ranges + a; they end where those to b+1 begin.
	from []uint32
}

func newStreams(k *cuts, arcs []uint64) *streams {
	r := k.len()
	st := &streams{k: k, base: make([]uint64, r+1), from: make([]uint32, r*(r+1))}
	sum := uint64(0)
	for a, n := range arcs {
		sum += n
		st.base[a+1] = sum
	}
	st.words = makeTemp[uint32](sum)
	return st
}

func (st *streams) free() {
	if st != nil {
		freeBig(&st.words)
	}
}

// open makes of the numbers of arcs from a to each range where these go.
func (st *streams) open(a int, next []uint32) {
	at, r := uint32(0), st.k.len()
	for b, n := range next {
		st.from[b*r+a], next[b] = at, at
		at += n
	}
	st.from[r*r+a] = at
}

// run returns the words from a to b.
func (st *streams) run(a, b int) []uint32 {
	r := st.k.len()
	return st.words[st.base[a]+uint64(st.from[b*r+a]) : st.base[a]+uint64(st.from[(b+1)*r+a])]
}

// groups are lists of targets by source and way.
type groups struct {
	ways    uint32 // groups a source
	gap     uint32 // elements before each group that are not of it
	end     []uint32
	targets []uint32
}

// put sends the arcs from a on their way; next is the result of open. An arc carries the
// opposite way of its group's, which is its way at the target.
func (st *streams) put(a int, next []uint32, g *groups) {
	words, of, shift := st.words[st.base[a]:st.base[a+1]], st.k.of, st.k.shift&31
	targets, gap, ways := g.targets, g.gap, (g.ways-1)&31
	from := uint32(0)
	for i, to := range g.end {
		source := uint32(i)>>ways | (uint32(i)&1^1)<<wayShift
		for _, v := range targets[from+gap : to] {
			at := &next[of[v>>shift]]
			words[*at] = v<<targetShift | source
			*at++
		}
		from = to
	}
}
