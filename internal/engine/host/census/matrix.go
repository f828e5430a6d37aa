package census

import (
	"math/bits"

	"github.com/weftgraph/weft/internal/engine/escape"
	"github.com/weftgraph/weft/internal/runtime/crew"
	"github.com/weftgraph/weft/internal/setops"
)

// matrix is the adjacency among the root's neighbours, in rows of bits.
type matrix struct {
	words int
	rows  []uint64
	both  []uint64 // a row of those that two rows share

	cliquesAt []uint64

	slot  []uint32 // by vertex: its place in found + 1, or 0
	found []uint32 // vertices that share enough with the root
	tails []uint64 // the neighbours that they share with it, a row each
}

func (r *root) row(i int) []uint64 { return r.rows[i*r.words : (i+1)*r.words] }

// cliques adds up the cliques and near-cliques among the root's neighbours. For four vertices,
// neighbours with smaller ids are enough.
func (r *root) cliques() {
	list := r.list
	if r.size == 4 {
		list = list[:setops.LowerBound(list, r.v)]
	}
	if len(list) < 3 {
		return
	}
	r.fill(list)
	if r.size == 4 {
		r.fourCliques(len(list))
		return
	}
	r.nearCliques(len(list))
	r.fiveCliques(setops.LowerBound(list, r.v))
	r.wheels()
}

// sized is buf with n words, of any values. Hubs mostly come first, so a buffer that is large
// enough once usually stays so. It gets only little extra room, because a hub's matrix is
// large.
func (r *root) sized(buf []uint64, n int) []uint64 {
	if cap(buf) < n {
		buf = crew.Take[uint64](r.memory, n+n/8)
	}
	return buf[:n]
}

// fill writes the rows.
func (r *root) fill(list []uint32) {
	r.words = (len(list) + 63) / 64
	r.rows = r.sized(r.rows, len(list)*r.words)
	clear(r.rows)
	r.both = r.sized(r.both, r.words)
	for i, u := range list {
		row := r.row(i)
		for _, x := range r.csr.List(u) {
			if x >= u {
				break
			}
			if p := int(r.at[x]); p != 0 {
				p--
				row[p>>6] |= 1 << (p & 63)
				r.rows[p*r.words+i>>6] |= 1 << (i & 63)
			}
		}
	}
}

// fourCliques counts the triangles among the first n neighbours.
func (r *root) fourCliques(n int) {
	found := 0
	for i := range n {
		if r.stop.Load() {
			return
		}
		row := r.row(i)
		for k := 0; k <= i>>6; k++ {
			for x := row[k]; x != 0; x &= x - 1 {
				p := k<<6 + bits.TrailingZeros64(x)
				if p >= i {
					break
				}
				found += andBelow(row, r.row(p), p)
			}
		}
	}
	r.sums.Clique4.Add(12 * uint64(found)) // each clique once
}

// andBelow is the number of bits that two rows share below p.
func andBelow(a, b []uint64, p int) int {
	k := p >> 6
	return setops.AndCount(a[:k], b[:k]) + bits.OnesCount64(a[k]&b[k]&(1<<(p&63)-1))
}

// nearCliques adds up the 4-cliques at the root, at its edges and triangles.
func (r *root) nearCliques(n int) {
	s := &r.sums
	d := uint64(len(r.list))
	r.cliquesAt = r.sized(r.cliquesAt, n)
	at := r.cliquesAt // by neighbour: k(vu), twice
	clear(at)
	sum := uint64(0)
	for i := range n {
		if r.stop.Load() {
			return
		}
		row := r.row(i)
		for k := 0; k <= i>>6; k++ {
			for x := row[k]; x != 0; x &= x - 1 {
				p := k<<6 + bits.TrailingZeros64(x)
				if p >= i {
					break
				}
				c := uint64(setops.AndCount(row, r.row(p)))
				sum += c
				s.K5edge.Add(escape.Choose2(c))
				at[i] += c
				at[p] += c
			}
		}
	}
	s.Clique4.Add(sum)
	s.Tail4.Mul(sum, max(d, 3)-3)
	for i, k := range at {
		if k > 0 {
			s.K5wedge.Mul(k/2, r.closed[i+1]-2)
		}
	}
}

// fiveCliques counts the 4-cliques among the first n neighbours, those with
// smaller ids than the root.
func (r *root) fiveCliques(n int) {
	found := 0
	for i := range n {
		row := r.row(i)
		for k := 0; k <= i>>6; k++ {
			for x := row[k]; x != 0; x &= x - 1 {
				p := k<<6 + bits.TrailingZeros64(x)
				if p >= i {
					break
				}
				if r.stop.Load() {
					return
				}
				both := r.both[:p>>6+1]
				if setops.And(both, row[:p>>6+1], r.row(p)) < 2 {
					continue
				}
				both[p>>6] &= 1<<(p&63) - 1
				for j, y := range both {
					for ; y != 0; y &= y - 1 {
						q := j<<6 + bits.TrailingZeros64(y)
						found += andBelow(both, r.row(q), q)
					}
				}
			}
		}
	}
	r.sums.Clique5.Add(uint64(found))
}

// batchWords bounds the rows of the other vertices that are made at a time.
var batchWords = 1 << 21

// wheels looks at the edges among the neighbours that the root shares with each vertex of a
// smaller id.
func (r *root) wheels() {
	r.found = r.found[:0]
	for _, w := range r.met {
		if w < r.v && r.share[w] > 2 {
			r.found = append(r.found, w)
		}
	}
	if r.slot == nil {
		r.slot = make([]uint32, len(r.at))
	}
	for todo := r.found; len(todo) > 0; {
		batch := todo[:min(len(todo), max(batchWords/r.words, 1))]
		todo = todo[len(batch):]
		r.shared(batch)
		for i, w := range batch {
			if r.stop.Load() {
				return
			}
			r.wheelsWith(uint64(r.share[w]), r.tails[i*r.words:(i+1)*r.words])
		}
	}
}

// shared writes the neighbours that the root shares with each vertex of a batch.
func (r *root) shared(batch []uint32) {
	r.tails = r.sized(r.tails, len(batch)*r.words)
	clear(r.tails)
	for i, w := range batch {
		r.slot[w] = uint32(i + 1)
	}
	for i, u := range r.list {
		word, bit := i>>6, uint64(1)<<(i&63)
		for _, w := range r.csr.List(u) {
			if w >= r.v {
				break
			}
			if s := int(r.slot[w]); s != 0 {
				r.tails[(s-1)*r.words+word] |= bit
			}
		}
	}
	for _, w := range batch {
		r.slot[w] = 0
	}
}

// wheelsWith adds up the edges among the n common neighbours in both.
func (r *root) wheelsWith(n uint64, both []uint64) {
	ends, wheels := uint64(0), uint64(0)
	for k, x := range both {
		for ; x != 0; x &= x - 1 {
			c := uint64(setops.AndCount(both, r.row(k<<6+bits.TrailingZeros64(x))))
			ends += c
			wheels += escape.Choose2(c)
		}
	}
	r.sums.Spoke.Mul(ends/2, n-2)
	r.sums.Wheel.Add(wheels)
}
