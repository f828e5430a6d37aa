package census

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// A directed graph on three or four vertices is a code of two bits a pair: whether
// there is an edge from the first vertex to the second, and one back. The pairs are
// (0,1), (0,2), (1,2), (0,3), (1,3), (2,3).
//
// Induced subgraphs of three vertices are counted as Batagelj and Mrvar do (A subquadratic
// triad census algorithm, 2001): pairs of neighbours by arithmetic, triangles one by one.
// Those of four vertices are enumerated, each once, by Wernicke's ESU (Efficient detection
// of network motifs, 2006).

// codes is the number of codes of four vertices.
const codes = 1 << 12

// place is the first of a pair's two bits.
func place(u, v int) uint {
	if u > v {
		u, v = v, u
	}
	return uint(2 * (v*(v-1)/2 + u))
}

// arc is the bit of the edge from u to v.
func arc(u, v int) uint32 {
	bit := uint32(1) << place(u, v)
	if u > v {
		bit <<= 1
	}
	return bit
}

// DirectedMotifs returns the number of occurrences of each of the patterns in a directed graph,
// as induced subgraphs or as any. The patterns are all directed motifs of three or of four
// vertices. If ctx ends, the error is the context's, and there is no partial count. A panic of
// a worker, as over a corrupt file, becomes a panic of DirectedMotifs.
func DirectedMotifs(ctx context.Context, g *graph.Graph, ps []*pattern.Pattern, o engine.Options, progress func(done, total uint64)) ([]*big.Int, error) {
	k := len(ps[0].Vertices)
	if k != 3 && k != 4 {
		return nil, fmt.Errorf("census: directed patterns of %d vertices", k)
	}
	csr := g.Flat(g.Any())
	n := uint64(csr.NumVertices())
	units := min(n, max(uint64(o.Threads)*unitsEach, (uint64(len(csr.Adj))+n)/unitWork))
	visitors, err := visitAll(ctx, csr, o, progress, units, func(stop *atomic.Bool, _ *crew.Memory) visitor {
		return newArcs(g, csr, k, stop)
	})
	if err != nil {
		return nil, err
	}
	byCode := make([]*big.Int, codes)
	for _, v := range visitors {
		v.(*arcs).addTo(byCode)
	}
	return motifsOf(byCode, ps, k), nil
}

// motifsOf returns the counts of patterns, given those of induced subgraphs by code; nil is 0.
func motifsOf(byCode []*big.Int, ps []*pattern.Pattern, k int) (out []*big.Int) {
	class := classes(k)
	at := map[uint32]int{}
	for i, p := range ps {
		var code uint32
		for _, e := range p.Edges {
			code |= arc(e.From, e.To)
		}
		at[class[code]] = i
		out = append(out, new(big.Int))
	}
	induced := map[uint32]*big.Int{}
	for code, n := range byCode {
		if n != nil {
			c := class[code]
			if induced[c] == nil {
				induced[c] = new(big.Int)
			}
			induced[c].Add(induced[c], n)
		}
	}
	for code, n := range induced {
		if ps[0].Induced {
			out[at[code]].Add(out[at[code]], n)
			continue
		}
		// Each choice of edges that is connected is a subgraph.
		for sub := code; sub != 0; sub = (sub - 1) & code {
			if i, ok := at[class[sub]]; ok {
				out[i].Add(out[i], n)
			}
		}
	}
	return out
}

// classes maps each code to the least code of the same graph.
func classes(k int) []uint32 {
	var perms [][]int
	var permute func(p []int, rest uint32)
	permute = func(p []int, rest uint32) {
		if rest == 0 {
			perms = append(perms, append([]int(nil), p...))
		}
		for m := rest; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			permute(append(p, v), rest&^(1<<v))
		}
	}
	permute(nil, 1<<k-1)
	out := make([]uint32, 1<<(k*(k-1)))
	for code := range out {
		least := ^uint32(0)
		for _, p := range perms {
			var moved uint32
			for u := range k {
				for v := range k {
					if u != v && uint32(code)&arc(u, v) != 0 {
						moved |= arc(p[u], p[v])
					}
				}
			}
			least = min(least, moved)
		}
		out[code] = least
	}
	return out
}

// arcs counts the subgraphs with one vertex as root: the vertex of the greatest id, which has
// the fewest neighbours.
type arcs struct {
	out, in *graph.CSR
	csr     *graph.CSR
	size    int
	stop    *atomic.Bool
	count   [codes]uint64
	wedge   [16][2]uint64 // of three vertices: pairs of neighbours by their codes, 128 bits
	to      [3][]uint8    // to[i][x]: the code of the i-th chosen vertex and x
	ext     [3][]uint32   // vertices that may be chosen next
}

func newArcs(g *graph.Graph, csr *graph.CSR, size int, stop *atomic.Bool) *arcs {
	r := &arcs{out: g.Flat(&g.Out), in: g.Flat(&g.In), csr: csr, size: size, stop: stop}
	for i := range size - 1 {
		r.to[i] = make([]uint8, csr.NumVertices())
	}
	return r
}

// choose notes the neighbours of the i-th vertex, v, and forget takes them away.
func (r *arcs) choose(i int, v uint32) {
	to := r.to[i]
	for _, x := range r.out.List(v) {
		to[x] |= 1
	}
	for _, x := range r.in.List(v) {
		to[x] |= 2
	}
}

func (r *arcs) forget(i int, v uint32) {
	for _, x := range r.csr.List(v) {
		r.to[i][x] = 0
	}
}

func (r *arcs) visit(v uint32) {
	if len(r.csr.List(v)) == 0 {
		return
	}
	r.choose(0, v)
	if r.size == 3 {
		r.three(v)
	} else {
		r.four(v)
	}
	r.forget(0, v)
}

// three counts the pairs of v's neighbours, and the triangles in which v has the
// greatest id.
func (r *arcs) three(v uint32) {
	var of [4]uint64
	for _, x := range r.csr.List(v) {
		of[r.to[0][x]]++
	}
	for a := 1; a < 4; a++ {
		for b := a; b < 4; b++ {
			hi, lo := bits.Mul64(of[a], of[b])
			if a == b && of[a] > 0 {
				hi, lo = bits.Mul64(of[a], of[a]-1)
				lo, hi = lo>>1|hi<<63, hi>>1
			}
			w := &r.wedge[a|b<<2]
			var carry uint64
			w[0], carry = bits.Add64(w[0], lo, 0)
			w[1] += hi + carry
		}
	}
	for _, u := range r.csr.List(v) {
		if u >= v || r.stop.Load() {
			break
		}
		r.choose(1, u)
		for _, x := range r.csr.List(u) {
			if x >= u {
				break
			}
			if r.to[0][x] != 0 {
				r.count[uint32(r.to[0][u])|uint32(r.to[0][x])<<2|uint32(r.to[1][x])<<4]++
			}
		}
		r.forget(1, u)
	}
}

// four counts the connected sets of four vertices in which v has the greatest id.
func (r *arcs) four(v uint32) {
	to0, to1, to2 := r.to[0], r.to[1], r.to[2]
	ext := r.ext[0][:0]
	for _, x := range r.csr.List(v) {
		if x >= v {
			break
		}
		ext = append(ext, x)
	}
	r.ext[0] = ext
	for i, u := range ext {
		if r.stop.Load() {
			return
		}
		r.choose(1, u)
		two := append(r.ext[1][:0], ext[i+1:]...)
		for _, x := range r.csr.List(u) {
			if x >= v {
				break
			}
			if to0[x] == 0 {
				two = append(two, x)
			}
		}
		r.ext[1] = two
		first := uint32(to0[u])
		for j, w := range two {
			if r.stop.Load() {
				return
			}
			r.choose(2, w)
			code := first | uint32(to0[w])<<2 | uint32(to1[w])<<4
			for _, x := range two[j+1:] {
				r.count[code|uint32(to0[x])<<6|uint32(to1[x])<<8|uint32(to2[x])<<10]++
			}
			for _, x := range r.csr.List(w) {
				if x >= v {
					break
				}
				if x != u && to0[x]|to1[x] == 0 {
					r.count[code|uint32(to2[x])<<10]++
				}
			}
			r.forget(2, w)
		}
		r.forget(1, u)
	}
}

// addTo adds the counts to the induced subgraphs by their codes.
func (r *arcs) addTo(byCode []*big.Int) {
	add := func(code uint32, n *big.Int) {
		if byCode[code] == nil {
			byCode[code] = new(big.Int)
		}
		byCode[code].Add(byCode[code], n)
	}
	for code, n := range r.count {
		if n == 0 {
			continue
		}
		big1 := new(big.Int).SetUint64(n)
		add(uint32(code), big1)
		if r.size == 3 { // a triangle has a pair of neighbours at each vertex
			for _, w := range corners(uint32(code)) {
				add(w, new(big.Int).Neg(big1))
			}
		}
	}
	for code, n := range r.wedge {
		if n[0]|n[1] == 0 {
			continue
		}
		sum := new(big.Int).SetUint64(n[1])
		sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(n[0]))
		add(uint32(code), sum)
	}
}

// corners are the codes of the three pairs of edges of a triangle, as three counts them:
// with the vertex between them first, and the lesser code before the greater.
func corners(code uint32) (out [3]uint32) {
	var m [3][3]uint32
	for u := range 3 {
		for v := range 3 {
			if u == v {
				continue
			}
			if code&arc(u, v) != 0 {
				m[u][v] |= 1
			}
			if code&arc(v, u) != 0 {
				m[u][v] |= 2
			}
		}
	}
	for u := range 3 {
		a, b := m[u][(u+1)%3], m[u][(u+2)%3]
		if a > b {
			a, b = b, a
		}
		out[u] = a | b<<2
	}
	return out
}
