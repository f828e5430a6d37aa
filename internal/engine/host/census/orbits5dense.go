package census

import (
	"math/bits"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine/escape"
	"github.com/weftgraph/weft/internal/setops"
)

// dense5 counts, from the lowest vertex of each triangle, what needs q.
type dense5 struct {
	c    *orbitCounts
	stop *atomic.Bool
	at   []uint32
	// rows has a row of bits for each higher neighbour of the root: the root's neighbours that are its neighbours too, the higher ones first.
	rows, both []uint64
	near       []dense5Sums // by place in the root's list
}

// dense5Sums are numbers of a vertex, and of its edge to the root.
type dense5Sums struct {
	wedge, edge, inner, clique, cycle uint64 // of orbits 66, 70, 71, 72, and what cycles have too many
	cliques, tails                    uint64 // of the edge
}

func (x *dense5) visit(v uint32) {
	c, at := x.c, x.at
	list := c.csr.List(v)
	higher, begin := c.above(v)
	words := (len(list) + 63) / 64
	if !x.fill(v, list, higher, words) {
		return
	}
	for len(x.near) < len(list) {
		x.near = append(x.near, dense5Sums{})
	}
	near := x.near[:len(list)]
	row := func(i int) []uint64 { return x.rows[i*words : (i+1)*words] }
	var own dense5Sums
	for i, a := range higher {
		if x.stop.Load() {
			return
		}
		next, of := c.above(a)
		for k, b := range next {
			if at[b] == 0 {
				continue
			}
			j := int(at[b] - 1)
			x.tails(&own, near, i, j, of, k, b)
			q := uint64(setops.And(x.both, row(i), row(j)))
			if q == 0 {
				continue
			}
			na, nb := &near[i], &near[j]
			na.cliques += q
			nb.cliques += q
			atomic.AddUint64(&c.five.edges[of+uint64(k)].cliques, q)
			own.wedge += 2 * q * uint64(c.triangles[of+uint64(k)])
			na.wedge += 2 * q * uint64(c.triangles[begin+uint64(j)])
			nb.wedge += 2 * q * uint64(c.triangles[begin+uint64(i)])
			if q == 1 {
				continue
			}
			pairs := escape.Choose2(q)
			own.inner += pairs
			na.inner += pairs
			nb.inner += pairs
			for w, word := range x.both {
				for ; word != 0; word &= word - 1 {
					near[w<<6+bits.TrailingZeros64(word)].edge += q - 1
				}
			}
			own.clique += x.cliques(near, i, j, len(higher), words)
		}
	}
	own.clique /= 4
	x.add(v, &own)
	for i, u := range list {
		s := &near[i]
		s.clique /= 3
		x.add(u, s)
		if i < len(higher) {
			e := begin + uint64(i)
			atomic.AddUint64(&c.five.edges[e].cliques, s.cliques)
			atomic.AddUint64(&c.five.tails[e], s.tails)
		}
		at[u] = 0
	}
	clear(near)
}

func (x *dense5) add(v uint32, s *dense5Sums) {
	x.c.add(66, v, s.wedge)
	x.c.add(70, v, s.edge)
	x.c.add(71, v, s.inner)
	x.c.add(72, v, s.clique)
	x.c.add(34, v, -s.cycle)
}

// fill writes rows and at, or neither if v is the lowest vertex of no triangle.
func (x *dense5) fill(v uint32, list, higher []uint32, words int) bool {
	if len(higher) < 2 {
		return false
	}
	if need := len(higher) * words; cap(x.rows) < need {
		x.rows = make([]uint64, need+need/4)
	}
	if cap(x.both) < words {
		x.both = make([]uint64, words+words/4)
	}
	x.rows, x.both = x.rows[:len(higher)*words], x.both[:words]
	clear(x.rows)
	for i, u := range higher {
		x.at[u] = uint32(i + 1)
	}
	found := false
	for i, u := range list {
		next, _ := x.c.above(u)
		for _, w := range next {
			if w >= v {
				break
			}
			if p := int(x.at[w]); p != 0 {
				x.rows[(p-1)*words+i>>6] |= 1 << (i & 63)
				if i < len(higher) {
					x.rows[i*words+(p-1)>>6] |= 1 << ((p - 1) & 63)
					found = true
				}
			}
		}
	}
	if !found {
		for _, u := range higher {
			x.at[u] = 0
		}
	}
	return found
}

// tails takes a triangle of the root, its i-th neighbour, and the j-th, b, which is the highest and at place of+k. Cycle5 counts a cycle of five
// too often for each neighbour, higher than all three, of one of the three; for the triangle's vertices twice as often if it is their own.
func (x *dense5) tails(own *dense5Sums, near []dense5Sums, i, j int, of uint64, k int, b uint32) {
	c := x.c
	end := c.off[b+1]
	top := end - c.off[b]
	all := uint64(j) + uint64(k) + top
	own.cycle += all + uint64(j)
	near[i].cycle += all + uint64(k)
	near[j].cycle += all + top
	if j > 0 {
		near[j-1].tails++
	}
	if k > 0 {
		atomic.AddUint64(&c.five.tails[of+uint64(k)-1], 1)
	}
	if top > 0 {
		atomic.AddUint64(&c.five.tails[end-1], 1)
	}
}

// cliques counts cliques of five of the root, its i-th and its j-th neighbour, and two higher neighbours of which one is higher than both: each
// clique three times at each vertex, and returns their number, four for each clique.
func (x *dense5) cliques(near []dense5Sums, i, j, higher, words int) (all uint64) {
	both := x.both[:(higher+63)/64]
	if r := higher & 63; r != 0 {
		both[len(both)-1] &= 1<<r - 1
	}
	for w := 0; w <= j>>6; w++ {
		for word := both[w]; word != 0; word &= word - 1 {
			p := w<<6 + bits.TrailingZeros64(word)
			if p >= j {
				break
			}
			n := uint64(setops.AndCount(both, x.rows[p*words:p*words+len(both)]))
			near[p].clique += n
			all += n
		}
	}
	near[i].clique += all
	near[j].clique += all
	return all
}
