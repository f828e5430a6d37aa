package pipeline

import (
	"fmt"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// program is nests as the words that kernels/pipeline/search.cuh reads.
type program struct {
	words  []uint32
	at     map[*nest.Nest]uint32
	groups map[*nest.Group]uint32
	labels map[string]uint32 // sets of edge labels, by their bits
	most   int               // places of a nest
}

// compile writes the nests of watches that the device searches.
func compile(ws *nest.Watches, edgeLabels int, directed bool) *program {
	p := &program{words: []uint32{0}, at: map[*nest.Nest]uint32{}, groups: map[*nest.Group]uint32{}, labels: map[string]uint32{}, most: 2}
	for _, w := range ws.List {
		for i := 0; w != nil && i < len(w.Nests); i++ {
			if n := &w.Nests[i]; n.ForDevice() {
				p.add(n, edgeLabels, directed)
			}
		}
	}
	known := map[string]uint32{}
	ws.Table.EachGroup(func(x *nest.Group) { p.addGroup(x, known) })
	return p
}

// groupMark is GROUP of search.cuh.
const groupMark = 1 << 16

// addGroup writes a group to the program, or finds one there with the same members.
func (p *program) addGroup(x *nest.Group, known map[string]uint32) {
	words := []uint32{groupMark | uint32(len(x.Members))}
	for _, m := range x.Members {
		w := p.at[m.Nest] << 1
		if m.Flip {
			w |= 1
		}
		words = append(words, w)
	}
	key := fmt.Sprint(words)
	at, ok := known[key]
	if !ok {
		at = uint32(len(p.words))
		known[key] = at
		p.words = append(p.words, words...)
	}
	p.groups[x] = at
}

// of returns the word of a task's nest or group.
func (p *program) of(t *nest.Task) uint32 {
	if t.Group != nil {
		return p.groups[t.Group]
	}
	return p.at[t.Nest]
}

// set returns the word of a set of edge labels.
func (p *program) set(l *nest.Labels, edgeLabels int) uint32 {
	if l.All {
		return 0
	}
	bits := make([]uint32, edgeLabels/32+1)
	for _, x := range l.List {
		bits[x/32] |= 1 << (x % 32)
	}
	key := ""
	for _, b := range bits {
		key += string([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24)})
	}
	at, ok := p.labels[key]
	if !ok {
		at = uint32(len(p.words))
		p.words = append(p.words, bits...)
		p.labels[key] = at
	}
	return at
}

// The kernel knows the kinds of tails by their numbers.
var _ = [1]struct{}{}[nest.NoTail-0|nest.Free-1|nest.Distinct-2|nest.Ordered-3]

// add writes a nest.
func (p *program) add(n *nest.Nest, edgeLabels int, directed bool) {
	k := len(n.Places)
	p.most = max(p.most, k)
	places := make([][placeWords]uint32, k)
	set := func(vertices []int, before int) (bits uint32) {
		for _, v := range vertices {
			for l := range before {
				if n.Places[l].V == v {
					bits |= 1 << l
				}
			}
		}
		return bits
	}
	for l := n.First; l < k; l++ {
		lv, x := &n.Places[l], &places[l]
		x[3], x[4], x[5] = set(lv.Apart, l), set(lv.Above, l), set(lv.Below, l)
		none := false
		var links []uint32
		for i := range lv.All {
			b := &lv.All[i]
			labels := b.Labels
			if !labels.All && len(labels.List) == 0 { // no edge of the graph has them, and perhaps entries have none at all
				if b.Neg {
					continue
				}
				none, labels = true, nest.Labels{All: true}
			}
			dir, need := uint32(b.Dir), uint32(1)
			switch {
			case !directed:
				dir = uint32(dynamic.Out)
			case b.Dir == dynamic.In:
				need = 2
			case b.Dir == dynamic.Either:
				need = 3
			}
			places[b.At][0] |= need
			links = append(links, uint32(b.At)|dir<<8, p.set(&labels, edgeLabels))
			if x[2]++; !b.Neg {
				x[1]++
			}
		}
		if lv.Ranges != nil || none { // with none no id fits
			x[6] = uint32(len(p.words))
			if none || len(lv.Ranges) == 0 {
				p.words = append(p.words, 1, 0, 0)
			} else {
				p.words = append(p.words, uint32(len(lv.Ranges)))
				for _, r := range lv.Ranges {
					p.words = append(p.words, r.First, r.End)
				}
			}
		}
		x[7] = uint32(len(p.words))
		p.words = append(p.words, links...)
	}
	p.at[n] = uint32(len(p.words))
	p.words = append(p.words, uint32(k), places[0][0], places[1][0], uint32(n.Tail))
	for l := n.First; l < k; l++ {
		p.words = append(p.words, places[l][:]...)
	}
}
