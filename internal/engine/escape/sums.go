package escape

import (
	"math/big"
	"math/bits"

	"github.com/weftgraph/weft/internal/engine"
)

// Total is a sum that does not overflow.
type Total engine.Uint128

// Add adds x.
func (t *Total) Add(x uint64) {
	var c uint64
	t.Lo, c = bits.Add64(t.Lo, x, 0)
	t.Hi += c
}

// Mul adds x*y.
func (t *Total) Mul(x, y uint64) {
	hi, lo := bits.Mul64(x, y)
	var c uint64
	t.Lo, c = bits.Add64(t.Lo, lo, 0)
	t.Hi, _ = bits.Add64(t.Hi, hi, c)
}

// Sub takes x off again.
func (t *Total) Sub(x uint64) {
	var b uint64
	t.Lo, b = bits.Sub64(t.Lo, x, 0)
	t.Hi -= b
}

// Sums are the totals over roots. A pattern's sum counts each of its places several times, once
// from each vertex or edge at which the formula begins. It also includes the places in which
// two vertices coincide. Counts corrects both.
//
// Below, v is the root, u is a neighbour of it, and w is any other vertex. d is a degree, t the
// number of triangles at a vertex or edge, c the number of 4-cycles, k the number of 4-cliques,
// and s(v,w) the number of neighbours that v and w share.
type Sums struct {
	Wedge, Star3, Star4 Total // Σ_v C(d,2), 3·C(d,3), C(d,4)
	Triangle            Total // Σ_vu t(vu)
	Path4               Total // Σ_vu (d(v)−1)(d(u)−1)
	Tailed              Total // Σ_v t(v)(d−2), twice
	Cycle4              Total // Σ_vw C(s,2)
	Diamond             Total // Σ_vu C(t(vu),2)
	Clique4             Total // Σ over triangles at v of their 4-cliques

	Fork     Total // Σ_vu C(d(v)−1,2)(d(u)−1)
	Path5    Total // Σ_v (Σ_u d(u)−1)² − Σ_u (d(u)−1)²: pairs of neighbours, twice
	Cycle5   Total // closed walks of length five from v
	Banner   Total // Σ_v c(v)(d−2)
	Bull     Total // Σ_vu t(vu)(d(v)−2)(d(u)−2)
	Lollipop Total // Σ_vu (t(v)−t(vu))(d(u)−1)
	Cricket  Total // Σ_v t(v)C(d−2,2)
	K23      Total // Σ_vw C(s,3)
	House    Total // Σ_vu c(vu)t(vu)
	Bowtie   Total // Σ_v C(t(v),2)
	Dart     Total // Σ_vu C(t(vu),2)(d(v)−3)
	Kite     Total // Σ_vu (t(vu)−1) Σ_{x shared} (d(x)−2)
	Book     Total // Σ_vu C(t(vu),3)
	Gem      Total // Σ_vu (t(vu)−1) Σ_{x shared} (t(vx)−1)
	Spoke    Total // Σ_{w<v} (s−2)·edges among those shared
	Tail4    Total // Σ_v k(v)(d−3), three times
	Wheel    Total // Σ_{w<v} Σ_{x shared} C(shared with x too, 2)
	K5wedge  Total // Σ_vu k(vu)(t(vu)−2)
	K5edge   Total // Σ over triangles at v of C(4-cliques, 2)
	Clique5  Total // once
}

// Plus adds another worker's sums.
func (s *Sums) Plus(o *Sums) {
	to, from := s.All(), o.All()
	for i := range to {
		*to[i] = Total(engine.Uint128(*to[i]).Add(engine.Uint128(*from[i])))
	}
}

// All returns all totals, in the order of their fields.
func (s *Sums) All() []*Total {
	return []*Total{
		&s.Wedge, &s.Star3, &s.Star4, &s.Triangle, &s.Path4, &s.Tailed, &s.Cycle4, &s.Diamond, &s.Clique4,
		&s.Fork, &s.Path5, &s.Cycle5, &s.Banner, &s.Bull, &s.Lollipop, &s.Cricket, &s.K23, &s.House, &s.Bowtie,
		&s.Dart, &s.Kite, &s.Book, &s.Gem, &s.Spoke, &s.Tail4, &s.Wheel, &s.K5wedge, &s.K5edge, &s.Clique5,
	}
}

// Counts returns the number of subgraphs, induced or not, by the pattern's name
// in the catalogue.
func (s *Sums) Counts(k int) map[string]*big.Int {
	part := func(t *Total, d int64) *big.Int {
		n := engine.Uint128(*t).Big()
		return n.Quo(n, big.NewInt(d))
	}
	less := func(n *big.Int, c int64, m *big.Int) *big.Int {
		return n.Sub(n, new(big.Int).Mul(big.NewInt(c), m))
	}
	out := map[string]*big.Int{}
	triangle := part(&s.Triangle, 6)
	if k == 3 {
		out["triangle"] = triangle
		out["wedge"] = part(&s.Wedge, 1)
		return out
	}
	tailed, diamond, cycle4, clique4 := part(&s.Tailed, 2), part(&s.Diamond, 2), part(&s.Cycle4, 4), part(&s.Clique4, 12)
	if k == 4 {
		out["path(4)"] = less(part(&s.Path4, 2), 3, triangle)
		out["star(3)"] = part(&s.Star3, 3)
		out["cycle(4)"] = cycle4
		out["tailed_triangle"] = tailed
		out["diamond"] = diamond
		out["clique(4)"] = clique4
		return out
	}
	path5 := less(less(part(&s.Path5, 2), 2, tailed), 3, triangle)
	out["path(5)"] = less(path5, 4, cycle4)
	out["fork"] = less(part(&s.Fork, 1), 2, tailed)
	out["star(4)"] = part(&s.Star4, 1)
	// A closed walk of length five that meets itself runs through a triangle,
	// with a tail or without.
	cycle5 := less(less(part(&s.Cycle5, 1), 10, tailed), 30, triangle)
	out["cycle(5)"] = cycle5.Quo(cycle5, big.NewInt(10))
	out["banner"] = less(part(&s.Banner, 1), 2, diamond)
	out["bull"] = less(part(&s.Bull, 2), 2, diamond)
	out["lollipop(3,2)"] = less(part(&s.Lollipop, 1), 4, diamond)
	out["cricket"] = part(&s.Cricket, 1)
	out["bipartite(2,3)"] = part(&s.K23, 2)
	out["house"] = less(part(&s.House, 2), 4, diamond)
	out["bowtie"] = less(part(&s.Bowtie, 1), 2, diamond)
	out["dart"] = part(&s.Dart, 1)
	out["kite"] = less(part(&s.Kite, 2), 12, clique4)
	out["book(3)"] = part(&s.Book, 2)
	out["gem"] = less(part(&s.Gem, 2), 12, clique4)
	out["wheel(4)_less_spoke"] = part(&s.Spoke, 1)
	out["lollipop(4,1)"] = part(&s.Tail4, 3)
	out["wheel(4)"] = part(&s.Wheel, 2)
	out["clique(5)_less_wedge"] = part(&s.K5wedge, 2)
	out["clique(5)_less_edge"] = part(&s.K5edge, 3)
	out["clique(5)"] = part(&s.Clique5, 1)
	return out
}

// Choose2 is C(n,2).
func Choose2(n uint64) uint64 {
	if n < 2 {
		return 0
	}
	return n * (n - 1) / 2
}

// Choose3 is C(n,3).
func Choose3(n uint64) uint64 {
	if n < 3 {
		return 0
	}
	return n * (n - 1) / 2 * (n - 2) / 3
}

// Choose4 is C(n,4).
func Choose4(n uint64) uint64 {
	if n < 4 {
		return 0
	}
	return n * (n - 1) / 2 * (n - 2) / 3 * (n - 3) / 4
}
