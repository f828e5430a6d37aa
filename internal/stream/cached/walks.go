package cached

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/weftgraph/weft/internal/stream/nest"
)

// A search is a tree. Its nodes are places that a warp makes ready: the first place of each task, and place l+1 behind each candidate of
// place l. A node reads the lists that the candidates of its place must be in. What is wanted is how often the whole search reads each list,
// without searching.
//
// A walk takes one of the n tasks, each with the probability 1/n. Then it goes from a node to a child, to each with the probability 1/D, or ends.
// D is no less than the children of any node. So it is at a given node of depth i with the probability 1/(n·D^i), and n·D^i for each list that
// a node on its way reads is an estimate without bias of how often the search reads the list (GCSM, equation 3). The estimate is the mean of
// many walks.
//
// All walks are one run. The number of walks at a child is a binomial number: of as many trials as walks are at the node, each with the
// probability 1/D. So the numbers at all children of a node are those of a row of such trials. Only those trials that succeed are looked at:
// from one to the next is a geometric number.

// walker estimates how often a search reads lists.
type walker struct {
	s     *lists
	rand  *rand.Rand
	tasks []walk
	most  int                // children of a node: D
	depth int                // nodes of a walk at most: a pattern's vertices - 2
	sums  map[uint64]float64 // by list: what walks add up to
	walks uint64             // so far
	a     [32]uint32
}

// walk is a task of the kernel with its nest.
type walk struct {
	n           *nest.Nest
	at          uint32
	first       [2]uint32
	part, parts uint32
}

// listKey is the key of a list in the cache.
func listKey(rel int, v uint32) uint64 { return uint64(rel)<<32 | uint64(v) }

func newWalker(s *lists, tasks []walk, seed uint64) *walker {
	w := &walker{s: s, rand: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), tasks: tasks, most: 1, sums: map[uint64]float64{}}
	for _, r := range s.rels {
		if r != nil {
			w.most = max(w.most, r.maxLen)
		}
	}
	for i := range tasks {
		w.depth = max(w.depth, len(tasks[i].n.Places)-tasks[i].n.First)
	}
	return w
}

// trials calls yield with the places of the trials that succeed, of n with the probability p, ascending.
func (w *walker) trials(n uint64, p float64, yield func(i uint64)) {
	if p >= 1 {
		for i := range n {
			yield(i)
		}
		return
	}
	scale := 1 / math.Log1p(-p)
	for at := 0.0; ; at++ {
		at += math.Floor(math.Log(1-w.rand.Float64()) * scale)
		if !(at < float64(n)) {
			return
		}
		yield(uint64(at))
	}
}

// run makes some walks.
func (w *walker) run(walks uint64) {
	n := uint64(len(w.tasks))
	if n == 0 {
		return
	}
	w.walks += walks
	// The trials of a task follow each other: as many as there are walks.
	w.grouped(walks, n, 1/float64(n), func(i, many uint64) { w.root(int(i), many, float64(n)) })
}

// grouped makes each of n groups of some trials, and calls yield with the groups that have successes, and how many.
func (w *walker) grouped(trials, n uint64, p float64, yield func(group, many uint64)) {
	last, many := uint64(0), uint64(0)
	w.trials(trials*n, p, func(i uint64) {
		if g := i / trials; g != last {
			if many > 0 {
				yield(last, many)
			}
			last, many = g, 0
		}
		many++
	})
	if many > 0 {
		yield(last, many)
	}
}

func (w *walker) root(i int, many uint64, weight float64) {
	t := &w.tasks[i]
	if len(t.n.Places) == t.n.First {
		return
	}
	copy(w.a[:], t.first[:t.n.First])
	w.node(t, t.n.First, many, weight)
}

// all visits each node once: the sums become what the search reads.
func (w *walker) all() {
	w.walks = 1
	for i := range w.tasks {
		w.root(i, 0, 1)
	}
}

// node visits a node with some walks; 0: all its children are visited.
func (w *walker) node(t *walk, l int, many uint64, weight float64) {
	lv := &t.n.Places[l]
	for i := range lv.All {
		k := listKey(w.s.relation(&lv.All[i].Rel), w.a[lv.All[i].At])
		if many == 0 {
			w.sums[k]++
		} else {
			w.sums[k] += float64(many) * weight
		}
	}
	if l+1 == len(t.n.Places) {
		return
	}
	c := w.open(t, l)
	child := func(i, many uint64) {
		x, ok := c.get(i)
		if !ok || !w.fits(t, l, c.base, x) {
			return
		}
		w.a[l] = x
		w.node(t, l+1, many, weight*float64(w.most))
	}
	if many == 0 {
		for i := range c.n {
			child(i, 0)
		}
		return
	}
	a := w.a
	w.grouped(many, c.n, 1/float64(w.most), func(i, many uint64) {
		w.a = a
		child(i, many)
	})
	w.a = a
}

// choices are the candidates of a place, as the kernel takes them: NestFrame.
type choices struct {
	base             int
	ids              []uint32 // a slice of N
	id, born, died   []uint32
	n                uint64 // how many they are
	version          uint32
	part, parts, all uint64
}

func (w *walker) open(t *walk, l int) (c choices) {
	lv := &t.n.Places[l]
	rels := w.s.rels
	least := math.MaxInt
	var rel *relation
	var v uint32
	for i := range lv.Pos {
		r := rels[w.s.relation(&lv.Pos[i].Rel)]
		x := w.a[lv.Pos[i].At]
		if n := int(r.heads[x].N + r.heads[x].D); n < least {
			least, c.base, rel, v = n, i, r, x
		}
	}
	lo, hi := w.bounds(t, l)
	c.ids = w.s.ids(rel, v)
	c.id, c.born, c.died = w.s.delta(rel, v)
	below := func(x uint32) int {
		i, _ := slices.BinarySearchFunc(c.ids, x, func(y, x uint32) int { return int(int64(y&^mark) - int64(x)) })
		return i
	}
	from, to := 0, len(c.ids)
	if lo > 0 {
		from = below(lo)
	}
	if hi < mark {
		to = below(hi)
	}
	c.ids = c.ids[from:max(from, to)]
	c.version, c.part, c.parts = t.at, 0, 1
	if l == t.n.First {
		c.part, c.parts = uint64(t.part), uint64(t.parts)
	}
	c.all = uint64(len(c.ids) + len(c.id))
	windows := (c.all + 31) / 32
	if windows > c.part {
		c.n = (windows - c.part + c.parts - 1) / c.parts * 32
	}
	return c
}

// get returns a candidate, if there is one at this place and this version.
func (c *choices) get(i uint64) (x uint32, ok bool) {
	i = (i/32*c.parts+c.part)*32 + i%32
	switch {
	case i >= c.all:
		return 0, false
	case i < uint64(len(c.ids)):
		x = c.ids[i]
		return x, x&mark == 0
	}
	i -= uint64(len(c.ids))
	return c.id[i], c.born[i] <= c.version && c.version < c.died[i]
}

// bounds are those of ids at a place by restrictions, and by labels if their range is one.
func (w *walker) bounds(t *walk, l int) (lo, hi uint32) {
	lv := &t.n.Places[l]
	hi = mark
	for i := range t.n.Places[:l] {
		v := t.n.Places[i].V
		if slices.Contains(lv.Above, v) {
			lo = max(lo, w.a[i]+1)
		}
		if slices.Contains(lv.Below, v) {
			hi = min(hi, w.a[i])
		}
	}
	if len(lv.Ranges) == 1 {
		lo, hi = max(lo, lv.Ranges[0].First), min(hi, lv.Ranges[0].End)
	}
	return lo, hi
}

// fits reports whether a candidate passes, which is in the list base.
func (w *walker) fits(t *walk, l, base int, x uint32) bool {
	lv := &t.n.Places[l]
	if lo, hi := w.bounds(t, l); x < lo || x >= hi {
		return false
	}
	for i := range t.n.Places[:l] {
		if slices.Contains(lv.Apart, t.n.Places[i].V) && w.a[i] == x {
			return false
		}
	}
	if lv.Ranges != nil && !slices.ContainsFunc(lv.Ranges, func(r rangeOf) bool { return r.First <= x && x < r.End }) {
		return false
	}
	for i := range lv.All {
		if i != base && w.s.has(w.s.rels[w.s.relation(&lv.All[i].Rel)], w.a[lv.All[i].At], x, t.at) != (i < len(lv.Pos)) {
			return false
		}
	}
	return true
}

// frequency is the estimate for a list.
func (w *walker) frequency(key uint64) float64 { return w.sums[key] / float64(w.walks) }

// needed is the number of walks after which, with probability at least sure, a list that is read (1+alpha) times as often as another, which is
// read often times, is not taken to be read less (GCSM, equation 5).
func (w *walker) needed(often, alpha, sure float64) float64 {
	n := float64(w.depth + 2)
	return (n - 1) * (2 + alpha) * float64(len(w.tasks)) * math.Pow(float64(w.most), n-2) / (alpha * alpha * (1 - sure) * often)
}
