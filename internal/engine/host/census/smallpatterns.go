package census

import (
	"math/bits"

	"github.com/weftgraph/weft/internal/engine/escape"
	"github.com/weftgraph/weft/internal/runtime/crew"
	"github.com/weftgraph/weft/internal/setops"
)

// For patterns of three and four vertices all values of a root are found at the edges of others
// too. So each edge is looked at only from its end of smaller id, and each 4-cycle only from
// its vertex of least id. Ids ascend as degrees fall, so the shorter lists are read: Σ_vu
// min(d(v), d(u)) steps (Chiba and Nishizeki, Arboricity and subgraph listing algorithms,
// 1985).

// visitOnce is visit for patterns of three or four vertices.
func (r *root) visitOnce(v uint32) {
	list := r.csr.List(v)
	d := uint64(len(list))
	if d < 2 {
		return // no wedge, and its edge is in no path that the other end does not see
	}
	r.v, r.list = v, list
	s := &r.sums
	s.Wedge.Add(escape.Choose2(d))
	s.Star3.Mul(escape.Choose2(d), d-2)
	first := setops.LowerBound(list, v)
	cliques := r.size == 4 && first > 2
	if first == len(list) && !cliques {
		return
	}
	for i, u := range list {
		r.at[u] = uint32(i + 1)
	}
	r.once(d, list[first:])
	if cliques {
		r.cliques()
	}
	for _, u := range list {
		r.at[u] = 0
	}
}

// once adds the values seen from the edges between the root, of degree d, and the neighbours
// above it.
func (r *root) once(d uint64, above []uint32) {
	s := &r.sums
	cycles := r.size == 4 && len(above) > 1
	met := r.met[:0]
	var far, triangles, tailed, diamonds uint64
	for _, u := range above {
		nb := r.csr.List(u)
		du := uint64(len(nb))
		if du == 1 {
			continue
		}
		far += du - 1
		t := uint64(0) // t(vu)
		i := 0
		for ; nb[i] < r.v; i++ {
			t += one(r.at[nb[i]])
		}
		nb = nb[i+1:]
		if cycles {
			k := len(met)
			if cap(met) < k+len(nb) {
				met = append(crew.Take[uint32](r.memory, 2*(k+len(nb)))[:0], met...)
			}
			// A first meeting cannot be predicted: store always, advance on one.
			buf := met[k : k+len(nb)]
			fresh := uint64(0)
			for _, w := range nb {
				t += one(r.at[w])
				c := r.share[w]
				r.share[w] = c + 1
				buf[fresh] = w
				fresh += 1 - one(c)
			}
			met = met[:uint64(k)+fresh]
		} else {
			for _, w := range nb {
				t += one(r.at[w])
			}
		}
		if t > 0 {
			triangles += t
			tailed += t * (d + du - 4)
			diamonds += escape.Choose2(t)
		}
	}
	found := uint64(0)
	for _, w := range met {
		found += escape.Choose2(uint64(r.share[w]))
		r.share[w] = 0
	}
	r.met = met
	s.Cycle4.Mul(found, 4)
	s.Path4.Mul(2*far, d-1)
	s.Triangle.Add(2 * triangles)
	s.Tailed.Add(tailed)
	s.Diamond.Mul(diamonds, 2)
}

// one is 1 for any number but 0.
func one(x uint32) uint64 {
	_, borrow := bits.Sub64(0, uint64(x), 0)
	return borrow
}
