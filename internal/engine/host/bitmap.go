package host

import (
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine/host/setops"
	"github.com/weftgraph/weft/internal/plan"
)

// Where one operand is far longer than the other, a bitmap of the long one
// turns an intersection into one probe per element of the short one. Two kinds
// pay: the bitmap of a set that a loop below intersects again and again, made
// by the worker at the second use; and the bitmap of a hub's neighbour list,
// made once for all workers.

// ratio is how many times longer the list behind a bitmap must be.
const ratio = 8

// nodeBitmap is the bitmap of a set node's current value.
type nodeBitmap struct {
	words []uint64
	list  []uint32 // what is set in words
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

// probe is a bitmap to use and which operand it stands for.
type probe struct {
	words  []uint64
	ofBase bool
}

// bitmap returns the bitmap to use for s, whose operands are base and the
// bounded neighbours of v, or nil where merging is better.
func (w *worker) bitmap(s *plan.Set, v uint32, base, list []uint32) *probe {
	switch {
	case len(base) >= ratio*len(list) && s.Op == plan.SetAnd && w.pr.reused[s.Base] && len(list) > 0 && w.hubs.on:
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
	case len(list) >= ratio*len(base) && len(base) > 0:
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
	byAdj   []map[uint32]*atomic.Pointer[[]uint64]
}

// maxHubs bounds the memory of the hub bitmaps together with minimum: a bitmap
// is never larger than eight times the list that it stands for.
const maxHubs = 4096

func newHubIndex(pr *program, on bool) *hubIndex {
	h := &hubIndex{on: on, pr: pr}
	if !on {
		return h
	}
	n := pr.g.NumVertices()
	h.minimum = max(n/256, 64)
	for _, a := range pr.p.Adjs {
		m := map[uint32]*atomic.Pointer[[]uint64]{}
		// Ids ascend by falling degree inside a label class.
		for _, c := range pr.g.Classes {
			for v := c.First; v < c.End && len(m) < maxHubs && a.CSR.Degree(v) >= h.minimum; v++ {
				m[v] = new(atomic.Pointer[[]uint64])
			}
		}
		h.byAdj = append(h.byAdj, m)
	}
	return h
}

// of returns the bitmap of v's list in adjacency adj, or nil if v is no hub.
func (h *hubIndex) of(adj int, v uint32) []uint64 {
	if !h.on {
		return nil
	}
	csr := h.pr.p.Adjs[adj].CSR
	if csr.Degree(v) < h.minimum {
		return nil
	}
	p := h.byAdj[adj][v]
	if p == nil {
		return nil
	}
	if b := p.Load(); b != nil {
		return *b
	}
	b := setops.NewBitmap(h.pr.g.NumVertices())
	setops.SetAll(b, csr.List(v))
	words := []uint64(b)
	p.Store(&words)
	return words
}
