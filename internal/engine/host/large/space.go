package large

import (
	"math/bits"
	"slices"
	"unsafe"
)

// A space is the candidate graph: candidates as indexes into the universe of
// their group, and a bit matrix for every pair of linked variables. It does not
// change during the search and all workers share it.
type space struct {
	pb    *problem
	words [maxVars]int // words of a set, by variable
	off   [maxVars]int // where a variable's set lies in a level's sets
	total int          // words of all sets together
	univ  [maxVars][]uint32
	root  []uint64 // the candidate sets, at off
	size  [maxVars]int32
	live  uint64 // the variables that are searched; the others are decided
	mats  []matrix
	last  []int16                 // from one group to another, the matrix made last; -1: none
	rel   [maxVars][maxVars]int16 // matrix from u to v, where they are linked

	bits  []uint64 // rows of all matrices
	lists []uint32
	keys  []hash128 // random, by variable and candidate; nil: too many
	salt  [4]uint64
}

// A matrix relates the universes of two groups. Row i holds the vertices that
// may be matched together with i (or may not, if neg).
type matrix struct {
	links []link
	prev  int16 // another between the same groups; -1: none
	neg   bool
	rows  []row
}

// A row is dense, words [at, at+words) of space.bits, or a list of n indexes
// from at in space.lists. A row with few bits for its width is cheaper to probe
// than to AND.
type row struct {
	at int
	n  int32 // -1: dense
}

// sparseRow is the width in words from which rows may be lists.
const sparseRow = 9

// build makes the candidate graph of the variables in live from their filtered
// candidates.
func (sp *space) build(pb *problem, sc *scratch, live uint64) {
	sp.pb, sp.live = pb, live
	sp.mats, sp.bits, sp.lists = sp.mats[:0], sp.bits[:0], sp.lists[:0]
	for i, grp := range pb.groups {
		un := sc.univ[i][:0]
		for m := grp & live; m != 0; m &= m - 1 {
			for _, v := range sc.cand[bits.TrailingZeros64(m)] {
				if sc.index[v] == -1 {
					sc.index[v] = -2
					un = append(un, v)
				}
			}
		}
		slices.Sort(un)
		for k, v := range un {
			sc.index[v] = int32(k)
		}
		sc.univ[i] = un
	}
	sp.total = 0
	for m := live; m != 0; m &= m - 1 {
		u := bits.TrailingZeros64(m)
		g := pb.vars[u].group
		sp.univ[u] = sc.univ[g]
		sp.words[u] = (len(sc.univ[g]) + 63) >> 6
		sp.off[u] = sp.total
		sp.total += sp.words[u]
		sp.size[u] = int32(len(sc.cand[u]))
	}
	sp.root = grow(sp.root, sp.total)
	clear(sp.root)
	for m := live; m != 0; m &= m - 1 {
		u := bits.TrailingZeros64(m)
		d := sp.root[sp.off[u]:]
		for _, v := range sc.cand[u] {
			i := sc.index[v]
			d[i>>6] |= 1 << (i & 63)
		}
	}
	sp.last = slices.Grow(sp.last[:0], len(pb.groups)*len(pb.groups))[:len(pb.groups)*len(pb.groups)]
	for i := range sp.last {
		sp.last[i] = -1
	}
	for i := range pb.pairs {
		if sc.stop() {
			return
		}
		pr := &pb.pairs[i]
		if live>>pr.u&1 == 0 || live>>pr.v&1 == 0 {
			continue
		}
		there := sp.matrix(sc, pr.u, pr.v, pr.links, -1)
		sp.rel[pr.u][pr.v] = there
		rev := pr.links
		if len(rev) > 1 || pb.p.Adjs[rev[0].adj].Rev != rev[0].adj {
			rev = make([]link, len(pr.links))
			for k, l := range pr.links {
				rev[k] = link{pb.p.Adjs[l.adj].Rev, l.neg}
			}
		}
		sortLinks(rev)
		sp.rel[pr.v][pr.u] = sp.matrix(sc, pr.v, pr.u, rev, there)
	}
}

// matrix returns the index of the matrix from u's group to v's, made if new. The
// matrix back, unless it is -1, says the same from v's group to u's.
func (sp *space) matrix(sc *scratch, u, v int, links []link, back int16) int16 {
	pb := sp.pb
	gu, gv := pb.vars[u].group, pb.vars[v].group
	last := &sp.last[gu*len(pb.groups)+gv]
	for i := *last; i >= 0; i = sp.mats[i].prev {
		if slices.Equal(sp.mats[i].links, links) {
			return i
		}
	}
	var rows []row
	if len(sp.mats) < cap(sp.mats) {
		rows = sp.mats[:len(sp.mats)+1][len(sp.mats)].rows[:0]
	}
	if !sp.fits(sc, rowBytes*len(sc.univ[gu])) {
		return -1
	}
	m := matrix{links: links, prev: *last, neg: links[0].neg, rows: slices.Grow(rows, len(sc.univ[gu]))}
	un := sc.univ[gv]
	lo, hi := un[0], un[len(un)-1]
	words := (len(un) + 63) >> 6
	from := sc.univ[gu]
	if back >= 0 && words < sparseRow && len(from) <= 64*(sparseRow-1) {
		if n := len(sp.bits) + len(from)*words; n <= cap(sp.bits) || sp.fits(sc, 8*(n-len(sp.bits))) {
			sp.transpose(&m, &sp.mats[back], len(from), words)
		}
		from = nil
	}
	for _, x := range from {
		if sc.stopping() {
			break
		}
		buf := sc.listed[:0]
		for k, l := range links {
			if k > 0 && !m.neg {
				buf = sp.narrow(sc, buf, un, x, l)
				continue
			}
			ns := pb.list(l.adj, x)
			if len(ns) > 16 {
				ns = ns[lowerBound(ns, lo):]
			}
			for _, y := range ns {
				if y > hi {
					break
				}
				if i := sc.index[y]; i >= 0 && int(i) < len(un) && un[i] == y {
					buf = append(buf, uint32(i))
				}
			}
		}
		if words >= sparseRow && 2*len(buf) < words && !(m.neg && len(links) > 1) {
			if len(sp.lists)+len(buf) > cap(sp.lists) && !sp.fits(sc, 4*(len(sp.lists)/4+len(buf))) {
				break
			}
			m.rows = append(m.rows, row{at: len(sp.lists), n: int32(len(buf))})
			sp.lists = append(sp.lists, buf...)
		} else {
			at := len(sp.bits)
			if at+words > cap(sp.bits) && !sp.fits(sc, 8*(at/2+words)) {
				break
			}
			sp.bits = grow(sp.bits, at+words)
			b := sp.bits[at : at+words]
			clear(b)
			for _, i := range buf {
				b[i>>6] |= 1 << (i & 63)
			}
			m.rows = append(m.rows, row{at: at, n: -1})
		}
		sc.listed = buf[:0]
	}
	*last = int16(len(sp.mats))
	sp.mats = append(sp.mats, m)
	return *last
}

// transpose makes the n rows of m, of `words` words each, from the other direction's. No row is
// a list.
func (sp *space) transpose(m, back *matrix, n, words int) {
	at := len(sp.bits)
	sp.bits = grow(sp.bits, at+n*words)
	to := sp.bits[at:]
	clear(to)
	for i := range back.rows {
		k := back.rows[i].at
		for w, x := range sp.bits[k : k+(n+63)>>6] {
			for ; x != 0; x &= x - 1 {
				j := w<<6 + bits.TrailingZeros64(x)
				to[j*words+i>>6] |= 1 << (i & 63)
			}
		}
	}
	for j := range n {
		m.rows = append(m.rows, row{at: at + j*words, n: -1})
	}
}

// narrow keeps the indexes in buf whose vertices satisfy one more link of x.
func (sp *space) narrow(sc *scratch, buf, un []uint32, x uint32, l link) []uint32 {
	ns := sp.pb.list(l.adj, x)
	k := 0
	for _, i := range buf {
		y := un[i]
		p := lowerBound(ns, y)
		if (p < len(ns) && ns[p] == y) != l.neg {
			buf[k] = i
			k++
		}
	}
	return buf[:k]
}

// grow returns s with length n, keeping its contents.
func grow(s []uint64, n int) []uint64 {
	if n <= cap(s) {
		return s[:n]
	}
	t := make([]uint64, n, n+n/2)
	copy(t, s)
	return t
}

// rowBytes is the size of a row.
const rowBytes = int(unsafe.Sizeof(row{}))

// graphBytes returns the memory of the candidate graph.
func (sp *space) graphBytes() int {
	b := 8*len(sp.bits) + 4*len(sp.lists)
	for i := range sp.mats {
		b += rowBytes * len(sp.mats[i].rows)
	}
	return b
}

// fits reports whether the candidate graph may grow by some bytes. Otherwise the run has failed.
func (sp *space) fits(sc *scratch, bytes int) bool { return sc.fits(sp.graphBytes() + bytes) }

// bytes returns the memory of the candidate graph and of the sets of n workers, without their
// caches.
func (sp *space) bytes(n int) int64 {
	return int64(sp.graphBytes()) + int64(n)*int64(sp.pb.n+1)*8*int64(sp.total)
}
