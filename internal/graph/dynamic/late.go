package dynamic

import (
	"cmp"
	"math/bits"
	"slices"
)

// Results counts updates by what they did.
type Results [SelfLoop + 1]uint64

// late are changes that were put off: each is in the log of the bucket of either of its ends.
//
// Why: a change at once waits for memory several times, for the lists of both ends. Most changes of a labelled graph are such that nobody
// looks at them. They cost a few nanoseconds in a log. Later a list is searched and moved once for all changes of it, and shards are changed at
// the same time. A bucket is so small that nobody waits for it long.
type late struct {
	halves
	buckets []bucket // by vertex, as shards, of which each has the same number of them
	filled  []uint32 // those that may have something. Why: few changes may be put off between two that make them, and buckets are many in a large graph
	n       int      // halves in the logs
	most    int      // of a log
	parted  bool     // some edges have been changed at one end and not at the other
	looking bool     // LookAway was called
	each    Each
	results Results // of changes that were made since TakeLate
}

// bucket is the logs of some vertices of a shard: out and in, or out alone on an undirected graph.
type bucket struct {
	logs   [2][]half
	filled bool // it is in late.filled
}

const (
	// bucketMost is the number of halves from which a bucket is made. Why: it takes a quarter of a millisecond, which updates that come meanwhile
	// wait.
	bucketMost = 1 << 11
	// bucketEdges is the most edges of the beginning for each bucket. So all logs together have a half for one or two edges, which is 4 to 8 bytes an
	// edge, and a log has several halves of each of its vertices.
	bucketEdges = 2 * bucketMost
)

// LookAway begins a time, until LookBack, in which the caller reads lists of some edges only and puts off changes of other edges only. In that
// time the changes that were put off stay in their logs. At any other time they are made before anything reads or changes lists. each spreads
// that work over several workers. A log with most halves of changes is made at once; 0 means a number that suits large graphs.
func (g *Graph) LookAway(each Each, most int) {
	x := &g.late
	x.looking, x.each, x.most = true, each, cmp.Or(most, bucketMost)
	if x.buckets == nil {
		n := len(g.shards)
		for n*bucketEdges < int(min(g.edges, 1<<32)) {
			n *= 2
		}
		g.divide(n)
		for i := range x.buckets {
			for d := range g.numSides() {
				l := make([]half, leastRoom)
				clear(l) // so that the system has given the memory before updates come
				x.buckets[i].logs[d] = l[:0]
			}
		}
	}
}

// divide makes n buckets, or more if halves need them. n is a power of two. All changes must be made.
func (g *Graph) divide(n int) {
	x := &g.late
	x.halves = g.halvesFor(uint(bits.TrailingZeros(uint(n))))
	x.buckets = make([]bucket, 1<<x.halves.buckets)
	x.filled = x.filled[:0]
}

// widen makes room in halves for an edge of the graph, whose vertices or labels have become more.
func (g *Graph) widen() {
	g.makeLate()
	if x, n := &g.late, len(g.late.buckets); g.halvesFor(x.halves.buckets).buckets != x.halves.buckets {
		g.divide(n)
	} else {
		x.halves = g.halvesFor(x.halves.buckets)
	}
}

// LookBack ends what LookAway began.
func (g *Graph) LookBack() { g.late.looking, g.late.each = false, nil }

// PutOff takes over the changes whose results are Applied and that the caller does not look at, to make them later, after those that were put off
// before. No window may be open, and the caller makes their versions by Pass. TakeLate says what they did. It must be called between LookAway and
// LookBack.
func (g *Graph) PutOff(cs []Change, looked []bool) {
	looked = looked[:len(cs)]
	for i := range cs {
		c := &cs[i]
		if c.Result != Applied || looked[i] {
			continue
		}
		var remove half
		if c.Remove {
			remove = gone
		}
		g.putOffEnds(c.U, c.V, c.Label, remove)
	}
}

// putOffEnds puts off the change of an edge at both of its ends. It is removed if remove is gone.
func (g *Graph) putOffEnds(u, v uint32, label Label, remove half) {
	x := &g.late
	if !x.fit(u|v, label) {
		g.widen()
	}
	in := In
	if !g.directed {
		in = Out
	}
	g.putOff(Out, x.bucket(u), x.half(u, v, label, remove))
	g.putOff(in, x.bucket(v), x.half(v, u, label, remove))
	x.parted = x.parted && x.n > 0
}

// unseen reports whether the follower does not look at a change of an edge in a graph whose edges all have rows. The edge's row is then changed at once, and so
// is the number of edges, and its ends' lists may be put off. In other graphs the lists alone say which edges there are.
//
// If nobody looks, the window of the update is closed.
func (g *Graph) unseen(u, v uint32, label Label) bool {
	if !g.rowed || !g.lone || !g.late.looking || g.follower.Sight(u, v, label) != None {
		return false
	}
	g.open, g.lone, g.base = false, false, g.version
	return true
}

// putOff puts a half off in the log of a bucket.
func (g *Graph) putOff(d Direction, bucket uint32, h half) {
	x := &g.late
	l := &x.buckets[bucket].logs[d]
	if n := len(*l); n > 0 && n < cap(*l) && n+1 < x.most {
		*l = append(*l, h)
		x.n++
		return
	}
	g.putOffSlowly(d, bucket, h)
}

// putOffSlowly is putOff where the log may be empty or full.
func (g *Graph) putOffSlowly(d Direction, bucket uint32, h half) {
	x := &g.late
	b := &x.buckets[bucket]
	if !b.filled {
		b.filled = true
		x.filled = append(x.filled, bucket)
	}
	to := &b.logs[d]
	if len(*to) == cap(*to) {
		*to = slices.Grow(*to, max(len(*to), leastRoom))
	}
	*to = append(*to, h)
	if x.n++; len(*to) >= x.most {
		g.makeBucket(d, bucket)
	}
}

// leastRoom is the room of a log. Why: to grow takes longer than to append.
const leastRoom = 1 << 8

// makeBucket makes the changes of a log.
func (g *Graph) makeBucket(d Direction, bucket uint32) {
	x := &g.late
	l := &x.buckets[bucket].logs[d]
	sh := &g.shards[bucket&uint32(len(g.shards)-1)]
	x.n -= len(*l)
	x.parted = true // perhaps: PutOff looks when it has put off both halves
	*l = sh.makeLate(d, *l, x.halves, bucket, g.counts())
	g.collect(sh)
}

// TakeLate makes the changes that were put off, and returns what those did that were made since the last call.
func (g *Graph) TakeLate() (r Results) {
	g.makeLate()
	r, g.late.results = g.late.results, Results{}
	return r
}

// MakeLate makes the changes that were put off. It is for a caller that looks away, and is about to look at other edges.
func (g *Graph) MakeLate() { g.makeLate() }

// upToDate makes the changes that were put off, unless the caller looks away.
func (g *Graph) upToDate() {
	if g.late.n > 0 && !g.late.looking {
		g.makeLate()
	}
}

// makeLate makes the changes that were put off. A window that is open must not have changed edges yet.
func (g *Graph) makeLate() {
	x := &g.late
	if x.n == 0 {
		return
	}
	n := x.n
	x.n, x.parted = 0, false
	each := x.each
	if each == nil || n < x.most { // too few for others to be worth it
		each = serially
	}
	each(len(g.shards), func(k int) {
		for _, i := range x.filled {
			if int(i)&(len(g.shards)-1) != k {
				continue
			}
			b := &x.buckets[i]
			for d, l := range b.logs {
				b.logs[d] = g.shards[k].makeLate(Direction(d), l, x.halves, i, g.counts())
			}
			b.filled = false
		}
	})
	x.filled = x.filled[:0]
	for i := range g.shards {
		g.collect(&g.shards[i])
	}
}

// collect takes what a shard counted.
func (g *Graph) collect(sh *shard) {
	for k, n := range sh.did.results {
		g.late.results[k] += n
	}
	g.edges += sh.did.edges // of one bucket it may be negative, modulo 2^64
	sh.did = did{}
	g.crowded = g.crowded || sh.lists.full()
}

// did is what the changes of a shard did, each at the end that counts it.
type did struct {
	results Results
	edges   uint64 // that were added, less those that were removed
}

// counting is the end at which changes that were put off are counted.
type counting uint8

const (
	atNone   counting = iota // rows have been counted
	atLesser                 // of an undirected edge
	atSource
)

func (g *Graph) counts() counting {
	switch {
	case g.rowed:
		return atNone
	case g.directed:
		return atSource
	}
	return atLesser
}

// makeLate makes the changes of the log of a bucket, and returns its room. Both ends of an edge find out by themselves what the changes do, because
// both have the edge in a list.
func (sh *shard) makeLate(d Direction, l []half, x halves, bucket uint32, at counting) []half {
	end := halfKey + x.labels
	sh.sortHalves(l, end)
	ahead := l // what was not read ahead
	for rest := l; len(rest) > 0; {
		if len(rest) <= len(ahead) {
			ahead = sh.aheadOf(sh.sides[d], ahead, x, bucket)
		}
		n := 1
		for n < len(rest) && rest[n]>>end == rest[0]>>end {
			n++
		}
		sh.makeHalves(d, x.of(rest[0], bucket), rest[:n], x, at)
		sh.lists.clean()
		rest = rest[n:]
	}
	return l[:0]
}

// aheadOf reads what the first changes of l are about to read, as Ahead does, and returns the others.
func (sh *shard) aheadOf(s *side, l []half, x halves, bucket uint32) []half {
	var ps probes
	n := min(len(l), len(ps.list))
	for _, h := range l[:n] {
		ps.add(s, x.of(h, bucket), h.to())
	}
	sh.sum += ps.read()
	return l[n:]
}

// makeHalves makes the changes of edges at one vertex.
func (sh *shard) makeHalves(d Direction, v uint32, l []half, x halves, at counting) {
	s := sh.sides[d]
	counted := func(w uint32) bool { return at == atSource && d == Out || at == atLesser && v < w }
	if len(l) == 1 {
		w, label := l[0].to(), x.label(l[0])
		if x, one := s.spot(v, w, label); one {
			if sh.replay(l, x.found, counted(w)) != x.found {
				s.turn(x, v, w, label)
			}
			return
		}
	}
	sh.sortHalves(l, halfTo)
	ws, by := slices.Grow(sh.ws[:0], len(l)), sh.by[:0]
	for len(l) > 0 {
		label, first := x.label(l[0]), len(ws)
		for rest := s.list(v, label); len(l) > 0 && x.label(l[0]) == label; {
			w, n := l[0].to(), 1
			for n < len(l) && l[n]>>halfTo == l[0]>>halfTo {
				n++
			}
			i, has := search(rest, w)
			if sh.replay(l[:n], has, counted(w)) != has {
				ws = append(ws, w)
			}
			rest, l = rest[i:], l[n:]
		}
		if len(ws) > first {
			by = append(by, labelFlips{label, ws[first:len(ws):len(ws)]})
		}
	}
	sh.ws, sh.by = ws, by
	if len(by) > 0 {
		s.flip(v, by, sh.flipsOfAll(s, v, by))
	}
}

// replay returns whether a vertex has an edge after changes of it, which had it or not before. It counts what they do if counted.
func (sh *shard) replay(l []half, has, counted bool) bool {
	is := has
	for _, h := range l {
		res := Applied
		switch remove := h&gone != 0; {
		case remove != is && remove:
			res = Absent
		case remove != is:
			res = Duplicate
		}
		if res == Applied {
			is = !is
		}
		if counted {
			sh.did.results[res]++
		}
	}
	switch {
	case !counted || is == has:
	case is:
		sh.did.edges++
	default:
		sh.did.edges--
	}
	return is
}

// flipsOfAll returns the neighbours that the list of all labels gains or loses by changes of the lists by label.
func (sh *shard) flipsOfAll(s *side, v uint32, by []labelFlips) []uint32 {
	h := s.need(v)
	if len(by) == 1 && !h.several() && (h[headLen] == 0 || h[headLabel] == by[0].label) {
		return by[0].flips
	}
	all := sh.all[:0]
	for _, x := range by {
		all = append(all, x.flips...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	sh.all = all
	sh.ls = s.labels(v, sh.ls[:0])
	for _, x := range by {
		sh.ls = append(sh.ls, x.label)
	}
	slices.Sort(sh.ls)
	sh.ls = slices.Compact(sh.ls)
	n := 0
	for _, w := range all {
		_, before := search(s.neighbours(h), w)
		after := false
		for _, label := range sh.ls {
			_, has := search(s.list(v, label), w)
			turned := slices.ContainsFunc(by, func(x labelFlips) bool {
				_, found := search(x.flips, w)
				return x.label == label && found
			})
			after = after || has != turned
		}
		if before != after {
			all[n] = w
			n++
		}
	}
	return all[:n]
}

func (x *late) bytes() uint64 {
	b := 56*uint64(cap(x.buckets)) + 4*uint64(cap(x.filled))
	for i := range x.buckets {
		for _, l := range x.buckets[i].logs {
			b += 8 * uint64(cap(l))
		}
	}
	return b
}
