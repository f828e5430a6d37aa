package census

import (
	"math/big"
	"math/bits"

	"github.com/weftgraph/weft/internal/engine"
)

// total is a sum that does not overflow.
type total engine.Uint128

func (t *total) add(x uint64) {
	var c uint64
	t.Lo, c = bits.Add64(t.Lo, x, 0)
	t.Hi += c
}

// mul adds x*y.
func (t *total) mul(x, y uint64) {
	hi, lo := bits.Mul64(x, y)
	var c uint64
	t.Lo, c = bits.Add64(t.Lo, lo, 0)
	t.Hi, _ = bits.Add64(t.Hi, hi, c)
}

// sub takes x off again.
func (t *total) sub(x uint64) {
	var b uint64
	t.Lo, b = bits.Sub64(t.Lo, x, 0)
	t.Hi -= b
}

// sums are the totals over roots. A pattern's sum counts each of its places several times, once
// from each vertex or edge at which the formula begins. It also includes the places in which
// two vertices coincide. counts corrects both.
//
// Below, v is the root, u is a neighbour of it, and w is any other vertex. d is a degree, t the
// number of triangles at a vertex or edge, c the number of 4-cycles, k the number of 4-cliques,
// and s(v,w) the number of neighbours that v and w share.
type sums struct {
	wedge, star3, star4 total // Σ_v C(d,2), 3·C(d,3), C(d,4)
	triangle            total // Σ_vu t(vu)
	path4               total // Σ_vu (d(v)−1)(d(u)−1)
	tailed              total // Σ_v t(v)(d−2), twice
	cycle4              total // Σ_vw C(s,2)
	diamond             total // Σ_vu C(t(vu),2)
	clique4             total // Σ over triangles at v of their 4-cliques

	fork     total // Σ_vu C(d(v)−1,2)(d(u)−1)
	path5    total // Σ_v (Σ_u d(u)−1)² − Σ_u (d(u)−1)²: pairs of neighbours, twice
	cycle5   total // closed walks of length five from v
	banner   total // Σ_v c(v)(d−2)
	bull     total // Σ_vu t(vu)(d(v)−2)(d(u)−2)
	lollipop total // Σ_vu (t(v)−t(vu))(d(u)−1)
	cricket  total // Σ_v t(v)C(d−2,2)
	k23      total // Σ_vw C(s,3)
	house    total // Σ_vu c(vu)t(vu)
	bowtie   total // Σ_v C(t(v),2)
	dart     total // Σ_vu C(t(vu),2)(d(v)−3)
	kite     total // Σ_vu (t(vu)−1) Σ_{x shared} (d(x)−2)
	book     total // Σ_vu C(t(vu),3)
	gem      total // Σ_vu (t(vu)−1) Σ_{x shared} (t(vx)−1)
	spoke    total // Σ_{w<v} (s−2)·edges among those shared
	tail4    total // Σ_v k(v)(d−3), three times
	wheel    total // Σ_{w<v} Σ_{x shared} C(shared with x too, 2)
	k5wedge  total // Σ_vu k(vu)(t(vu)−2)
	k5edge   total // Σ over triangles at v of C(4-cliques, 2)
	clique5  total // once
}

// plus adds another worker's sums.
func (s *sums) plus(o *sums) {
	to, from := s.all(), o.all()
	for i := range to {
		*to[i] = total(engine.Uint128(*to[i]).Add(engine.Uint128(*from[i])))
	}
}

func (s *sums) all() []*total {
	return []*total{
		&s.wedge, &s.star3, &s.star4, &s.triangle, &s.path4, &s.tailed, &s.cycle4, &s.diamond, &s.clique4,
		&s.fork, &s.path5, &s.cycle5, &s.banner, &s.bull, &s.lollipop, &s.cricket, &s.k23, &s.house, &s.bowtie,
		&s.dart, &s.kite, &s.book, &s.gem, &s.spoke, &s.tail4, &s.wheel, &s.k5wedge, &s.k5edge, &s.clique5,
	}
}

// counts returns the number of subgraphs, induced or not, by the pattern's name
// in the catalogue.
func (s *sums) counts(k int) map[string]*big.Int {
	part := func(t *total, d int64) *big.Int {
		n := engine.Uint128(*t).Big()
		return n.Quo(n, big.NewInt(d))
	}
	less := func(n *big.Int, c int64, m *big.Int) *big.Int {
		return n.Sub(n, new(big.Int).Mul(big.NewInt(c), m))
	}
	out := map[string]*big.Int{}
	triangle := part(&s.triangle, 6)
	if k == 3 {
		out["triangle"] = triangle
		out["wedge"] = part(&s.wedge, 1)
		return out
	}
	tailed, diamond, cycle4, clique4 := part(&s.tailed, 2), part(&s.diamond, 2), part(&s.cycle4, 4), part(&s.clique4, 12)
	if k == 4 {
		out["path(4)"] = less(part(&s.path4, 2), 3, triangle)
		out["star(3)"] = part(&s.star3, 3)
		out["cycle(4)"] = cycle4
		out["tailed_triangle"] = tailed
		out["diamond"] = diamond
		out["clique(4)"] = clique4
		return out
	}
	path5 := less(less(part(&s.path5, 2), 2, tailed), 3, triangle)
	out["path(5)"] = less(path5, 4, cycle4)
	out["fork"] = less(part(&s.fork, 1), 2, tailed)
	out["star(4)"] = part(&s.star4, 1)
	// A closed walk of length five that meets itself runs through a triangle,
	// with a tail or without.
	cycle5 := less(less(part(&s.cycle5, 1), 10, tailed), 30, triangle)
	out["cycle(5)"] = cycle5.Quo(cycle5, big.NewInt(10))
	out["banner"] = less(part(&s.banner, 1), 2, diamond)
	out["bull"] = less(part(&s.bull, 2), 2, diamond)
	out["lollipop(3,2)"] = less(part(&s.lollipop, 1), 4, diamond)
	out["cricket"] = part(&s.cricket, 1)
	out["bipartite(2,3)"] = part(&s.k23, 2)
	out["house"] = less(part(&s.house, 2), 4, diamond)
	out["bowtie"] = less(part(&s.bowtie, 1), 2, diamond)
	out["dart"] = part(&s.dart, 1)
	out["kite"] = less(part(&s.kite, 2), 12, clique4)
	out["book(3)"] = part(&s.book, 2)
	out["gem"] = less(part(&s.gem, 2), 12, clique4)
	out["wheel(4)_less_spoke"] = part(&s.spoke, 1)
	out["lollipop(4,1)"] = part(&s.tail4, 3)
	out["wheel(4)"] = part(&s.wheel, 2)
	out["clique(5)_less_wedge"] = part(&s.k5wedge, 2)
	out["clique(5)_less_edge"] = part(&s.k5edge, 3)
	out["clique(5)"] = part(&s.clique5, 1)
	return out
}

// choose2 is C(n,2), and so on.
func choose2(n uint64) uint64 {
	if n < 2 {
		return 0
	}
	return n * (n - 1) / 2
}

func choose3(n uint64) uint64 {
	if n < 3 {
		return 0
	}
	return n * (n - 1) / 2 * (n - 2) / 3
}

func choose4(n uint64) uint64 {
	if n < 4 {
		return 0
	}
	return n * (n - 1) / 2 * (n - 2) / 3 * (n - 3) / 4
}
