package cached

import (
	"github.com/weftgraph/weft/internal/plan/delta"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// program is nests as the words of nest/search.cuh: NestPlace and what is around it.
type program struct {
	words []uint32
	at    map[*nest.Nest]uint32
	most  int // places of a nest
	lists int // lists of a nest
}

// placeWords is the size of NestPlace.
const placeWords = 9

// add writes a nest. number gives the number of a relation.
func (p *program) add(n *nest.Nest, number func(*nest.Rel) int) {
	if p.at == nil {
		p.at = map[*nest.Nest]uint32{}
	}
	begin := len(p.words)
	p.at[n] = uint32(begin)
	k := len(n.Places)
	p.words = append(p.words, uint32(k), uint32(n.First))
	p.words = append(p.words, make([]uint32, (k-n.First)*placeWords)...)
	placeOf := make([]int, 0, k)
	for i := range n.Places {
		placeOf = append(placeOf, n.Places[i].V)
	}
	bits := func(vertices []int, before int) (set uint32) {
		for _, v := range vertices {
			for l, u := range placeOf[:before] {
				if u == v {
					set |= 1 << l
				}
			}
		}
		return set
	}
	lists := 0
	for l := n.First; l < k; l++ {
		lv := &n.Places[l]
		x := [placeWords]uint32{
			uint32(len(lv.Pos)), uint32(len(lv.All)), uint32(lists), bits(lv.Apart, l), bits(lv.Above, l), bits(lv.Below, l),
			uint32(len(p.words)), uint32(len(lv.Ranges)), 0,
		}
		for _, r := range lv.Ranges {
			p.words = append(p.words, r.First, r.End)
		}
		if lv.Ranges != nil && len(lv.Ranges) == 0 { // no vertex has the label
			p.words = append(p.words, 0, 0)
			x[7] = 1
		}
		x[8] = uint32(len(p.words))
		for i := range lv.All {
			b := &lv.All[i]
			p.words = append(p.words, uint32(number(&b.Rel)), uint32(b.At))
		}
		copy(p.words[begin+2+(l-n.First)*placeWords:], x[:])
		lists += len(lv.All)
	}
	p.most, p.lists = max(p.most, k), max(p.lists, lists)
}

// nests are those of a watch that the device searches.
func nests(w *nest.Watch, yield func(n *nest.Nest)) {
	for i := range w.Nests {
		if n := &w.Nests[i]; n.Kind == delta.Edge && n.ForDevice() {
			yield(n)
		}
	}
}
