package census

import (
	"math/bits"

	"github.com/weftgraph/weft/internal/engine/escape"
	"github.com/weftgraph/weft/internal/setops"
)

// pairs adds up the edges among the neighbours that the root shares with each higher vertex w, which are opposite vertices of a wheel or of one
// less a spoke.
func (x *walk5) pairs(v uint32, list []uint32) {
	x.found = x.found[:0]
	if len(x.near) < 2 {
		return
	}
	for _, w := range x.met {
		if w < v && x.share[w] > 2 {
			x.found = append(x.found, w)
		}
	}
	if len(x.found) == 0 {
		return
	}
	if x.slot == nil {
		x.slot = make([]uint32, len(x.at))
	}
	for len(x.places) < len(x.near) {
		x.places = append(x.places, place5{})
	}
	places := x.places[:len(x.near)]
	x.list = x.near
	x.fill(x.near)
	any := false
	var less, rim uint64
	for left := x.found; len(left) > 0; {
		batch := left[:min(len(left), max(batchWords/x.words, 1))]
		left = left[len(batch):]
		x.shared(batch)
		for i, w := range batch {
			if x.stop.Load() {
				return
			}
			rest := uint64(x.share[w]) - 2
			both := x.tails[i*x.words : (i+1)*x.words]
			ends, wheels := uint64(0), uint64(0)
			for k, word := range both {
				for ; word != 0; word &= word - 1 {
					p := k<<6 + bits.TrailingZeros64(word)
					n := uint64(setops.AndCount(both, x.row(p)))
					if n == 0 {
						continue
					}
					pairs := escape.Choose2(n)
					ends += n
					wheels += pairs
					at := &places[p]
					at.edges += n
					at.less += rest * n
					at.hub += pairs
				}
			}
			if ends == 0 {
				continue
			}
			any = true
			x.inner[w] = ends / 2
			less += rest * (ends / 2)
			rim += wheels
			x.c.add(63, w, rest*(ends/2))
			x.c.add(68, w, wheels)
		}
	}
	if !any {
		return
	}
	x.c.add(63, v, less)
	x.c.add(68, v, rim)
	for i, u := range x.near {
		x.c.add(62, u, -places[i].edges)
		x.c.add(64, u, places[i].less)
		x.c.add(69, u, places[i].hub)
	}
	clear(places)
	// All that the root shares with w may be opposite to the edges, in triangles of the root or not.
	for _, u := range list {
		edges := uint64(0)
		for _, w := range x.csr.List(u) {
			if w >= v {
				break
			}
			edges += x.inner[w]
		}
		x.c.add(62, u, edges)
	}
	for _, w := range x.found {
		x.inner[w] = 0
	}
}
