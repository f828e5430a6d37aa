package host

import (
	"sort"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/setops"
)

// If one operand is far longer than the other, a bitmap of the long one turns an intersection
// into one probe for each element of the short one. Two kinds pay. A worker makes the bitmap of
// a set that a loop below intersects repeatedly, at the set's second use. The bitmap of a hub's
// neighbour list is made once for all workers.

// A list with a bitmap must be this many times longer than the other. A probe takes as long as
// a merge takes for two elements of both lists if bitmaps stay in the core's own cache, and
// several times as long if they do not.
const (
	ratio      = 8
	ratioSmall = 2 // up to smallBitmap vertices
)

// smallBitmap is how many vertices a bitmap of 32 KB has room for.
const smallBitmap = 1 << 18

// nodeBitmap is the bitmap of a set node's current value.
type nodeBitmap struct {
	words []uint64
	list  []uint32 // the vertices whose bits are set in words
	live  bool
	uses  int
}

// forget marks the bitmap stale; its bits are cleared when it is next filled.
func (b *nodeBitmap) forget() { b.live, b.uses = false, 0 }

// fill makes b the bitmap of list over n vertices.
func (b *nodeBitmap) fill(list []uint32, n int) {
	if b.words == nil {
		b.words = setops.NewBitmap(n)
	}
	setops.ClearAll(b.words, b.list)
	setops.SetAll(b.words, list)
	b.list = append(b.list[:0], list...)
	b.live = true
}

// probe is a bitmap to use, and the operand that it replaces.
type probe struct {
	words  []uint64
	ofBase bool
}

// bitmap returns the bitmap to use for s, whose operands are base and the
// bounded neighbours of v, or nil where merging is better.
func (w *worker) bitmap(s *plan.Set, v uint32, base, list []uint32) *probe {
	switch {
	case len(base) >= w.hubs.ratio*len(list) && s.Op == plan.SetAnd && w.pr.reused[s.Base] && len(list) > 0 && w.hubs.on:
		b := &w.bm[s.Base]
		if !b.live {
			// Filling costs one pass: worth it from the second use on.
			if b.uses++; b.uses < 2 {
				return nil
			}
			b.fill(w.sets[s.Base], w.pr.g.NumVertices())
		}
		w.tails.probe = probe{b.words, true}
		return &w.tails.probe
	case len(list) >= w.hubs.ratio*len(base) && len(base) > 0:
		if h := w.hubs.of(s.Adj, v); h != nil {
			w.tails.probe = probe{h, false}
			return &w.tails.probe
		}
	}
	return nil
}

// hubIndex holds bitmaps of the longest neighbour lists, made on first use.
type hubIndex struct {
	on      bool
	pr      *program
	minimum int // degree from which a list counts as a hub's
	ratio   int // ratio or ratioSmall
	byAdj   [][]hubs
}

// hubs are the first vertices of a label class, with the bitmaps of their lists.
type hubs struct {
	first uint32
	bits  []hubBitmap
}

// hubBitmap is claimed by the worker that makes it, so that no other does too.
type hubBitmap struct {
	claimed atomic.Bool
	words   atomic.Pointer[[]uint64]
}

// maxHubs, together with minimum, bounds the memory of the hub bitmaps: a bitmap is at most
// eight times as large as its list.
const maxHubs = 4096

func newHubIndex(pr *program, on bool) *hubIndex {
	n := pr.g.NumVertices()
	h := &hubIndex{on: on, pr: pr, ratio: ratio}
	if n <= smallBitmap {
		h.ratio = ratioSmall
	}
	if !on {
		return h
	}
	h.minimum = max(n/256, 64)
	for i := range pr.p.Adjs {
		if _, ok := pr.p.Adjs[i].Lists.Lists(); !ok {
			h.byAdj = append(h.byAdj, nil)
			continue
		}
		var all []hubs
		left := maxHubs
		// Where degrees fall with ids these are the hubs; elsewhere there are fewer bitmaps.
		for _, c := range pr.g.Classes {
			v := c.First
			for v < c.End && left > 0 && pr.lists[i].Degree(v) >= h.minimum {
				v++
				left--
			}
			if v > c.First {
				all = append(all, hubs{c.First, make([]hubBitmap, v-c.First)})
			}
		}
		h.byAdj = append(h.byAdj, all)
	}
	return h
}

// of returns the bitmap of v's list in adjacency adj. It returns nil if v is not a hub, or
// another worker is about to make it.
func (h *hubIndex) of(adj int, v uint32) []uint64 {
	if !h.on || h.byAdj[adj] == nil || h.pr.lists[adj].Degree(v) < h.minimum {
		return nil
	}
	all := h.byAdj[adj]
	i := sort.Search(len(all), func(i int) bool { return all[i].first > v }) - 1
	if i < 0 || int(v-all[i].first) >= len(all[i].bits) {
		return nil
	}
	p := &all[i].bits[v-all[i].first]
	if b := p.words.Load(); b != nil {
		return *b
	}
	if !p.claimed.CompareAndSwap(false, true) {
		return nil
	}
	words := []uint64(setops.NewBitmap(h.pr.g.NumVertices()))
	setops.SetAll(words, h.pr.lists[adj].List(v))
	p.words.Store(&words)
	return words
}
