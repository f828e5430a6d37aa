package reads

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/checks"
)

// samples is about how many partial matches of a level the walks go through.
const samples = 1 << 15

// walk estimates the reads of a loop nest.
//
// All walks are made together, a level at a time: each partial match of a level stands for as many walks as
// have come to it. Of the candidates of the next level each walk takes each one with the same
// probability, so that their number is binomial. GCSM's probability is 1/D, with D the highest degree.
// Here it is the one that leaves about as many partial matches at each level. A read counts its lines with the inverse of
// the probability that the walks come there, so that the estimate is unbiased.
func (e *Estimator) walk(all []*lists) {
	w := &walker{e: e, pl: e.pl, rng: rand.New(rand.NewPCG(0x67c5, uint64(len(e.pl.Levels))))}
	w.lists = make([][]*lists, len(e.pl.Adjs))
	for i := range e.pl.Adjs {
		w.lists[i] = e.of(all, i)
	}
	w.marks()
	last := len(w.read) - 1
	if last < 0 {
		return
	}
	w.roots()
	for l := 0; len(w.now) > 0; l++ {
		for i := range w.now {
			for _, r := range w.read[l] {
				w.count(&w.pl.Sets[r.set], r.base, &w.now[i])
			}
		}
		if l >= last || l+1 >= len(e.pl.Levels) {
			break
		}
		w.extend(l + 1)
	}
	for _, l := range all {
		l.belowOnly = l.below != nil && l.whole == nil
	}
}

// partial is a partial match, and how many matches it stands for.
type partial struct {
	m      []uint32
	weight float64
}

type walker struct {
	e     *Estimator
	pl    *plan.Plan
	rng   *rand.Rand
	lists [][]*lists // by adjacency of the plan
	now   []partial
	// read are, by level, the lists of its vertex that are read at that level or at deeper ones.
	read [][]reading
	list graph.Scratch
}

// reading is a list that the sets are made of: a set's own, which is gone over, or in which the elements of its base are looked up.
type reading struct{ set, base int } // base: the set that is looked up in the list; -1: none

// marks finds the lists that are read, and up to which level. A level's candidates may be a list as it is.
func (w *walker) marks() {
	seen := map[reading]bool{}
	add := func(set, base int) {
		r := reading{set, base}
		if of := w.pl.Sets[set].Of; !seen[r] {
			seen[r] = true
			for len(w.read) <= of {
				w.read = append(w.read, nil)
			}
			w.read[of] = append(w.read[of], r)
		}
	}
	for i := range w.pl.Sets {
		s := &w.pl.Sets[i]
		if s.Op == plan.SetList {
			continue
		}
		if base := &w.pl.Sets[s.Base]; base.Op == plan.SetList {
			add(s.Base, -1)
		}
		if s.Of == s.At {
			add(i, s.Base)
		} else {
			add(i, -1) // for as many bases as there are
		}
	}
	for l := 1; l < len(w.pl.Levels); l++ {
		if s := w.pl.Levels[l].Set; s >= 0 && w.pl.Sets[s].Op == plan.SetList && l < len(w.pl.Levels)-w.pl.Tail.K {
			add(s, -1)
		}
	}
}

// roots draws about as many roots as there are samples, each with a probability in proportion to its degree and one:
// hubs have most of the partial matches.
func (w *walker) roots() {
	lv := &w.pl.Levels[0]
	ranges := lv.Ranges
	if ranges == nil {
		ranges = []plan.Range{{First: 0, End: uint32(w.pl.Graph.NumVertices())}}
	}
	degree := func(uint32) float64 { return 0 }
	if len(w.pl.Adjs) > 0 {
		degree = func(v uint32) float64 { return float64(w.pl.Adjs[0].Lists.Degree(v)) }
	}
	m, total := make([]uint32, len(w.pl.Levels)), 0.0
	each := func(f func(v uint32, amount float64)) {
		for _, r := range ranges {
			for v := r.First; v < r.End; v++ {
				f(v, degree(v)+1)
			}
		}
	}
	each(func(_ uint32, amount float64) { total += amount })
	step := max(total/samples, 1)
	at, next := 0.0, w.rng.Float64()*step
	each(func(v uint32, amount float64) {
		at += amount
		hits := 0.0
		for ; next < at; next += step {
			hits++
		}
		if hits > 0 && checks.Valid(w.pl, 0, v, m, make([]uint64, len(w.pl.Edges))) {
			own := slices.Clone(m)
			own[0] = v
			w.now = append(w.now, partial{own, hits * step / amount})
		}
	})
}

// count counts the lines that p reads of the list of a set. If the elements of base are looked up in it, these are at most two
// for each of them.
func (w *walker) count(s *plan.Set, base int, p *partial) {
	v := p.m[s.Of]
	below := slices.Contains(s.Below, s.Of)
	for _, l := range w.lists[s.Adj] {
		list := part(l, v, below)
		lines := linesOf(list)
		if base >= 0 {
			lines = min(lines, 2*float64(w.size(base, p)))
		}
		to := &l.whole
		if below {
			to = &l.below
		}
		if *to == nil {
			*to = make([]float32, len(l.g.Off)-1)
		}
		(*to)[v] += float32(p.weight * lines)
	}
}

// part is how many ids v's list has, or its part below v.
func part(l *lists, v uint32, below bool) int {
	return partOf(l.g.Adj[l.g.Off[v]:l.g.Off[v+1]], v, below)
}

func partOf(list []uint32, v uint32, below bool) int {
	if below {
		return belowIn(list, v)
	}
	return len(list)
}

// size is how many elements a set has, or is expected to have; one at least.
func (w *walker) size(set int, p *partial) (n int) {
	s := &w.pl.Sets[set]
	if s.Op != plan.SetList {
		return max(1, int(math.Ceil(s.Estimate)))
	}
	v, below := p.m[s.Of], slices.Contains(s.Below, s.Of)
	if h := w.pl.Adjs[s.Adj].Lists; w.e.sparse(h) {
		n = partOf(h.Sparse.List(v), v, below)
	}
	for _, l := range w.lists[s.Adj] {
		n += part(l, v, below)
	}
	return max(1, n)
}

// extend draws partial matches of level l from those of the level before.
func (w *walker) extend(l int) {
	before := w.now
	w.now = nil
	all := 0.0
	for i := range before {
		list, _ := w.candidates(l, before[i].m)
		all += float64(len(list))
	}
	if all == 0 {
		return
	}
	// The candidates of all partial matches are one sequence, in which those that are taken have a
	// geometric distance.
	chance := min(1, samples/all)
	skip := func() float64 {
		if chance == 1 {
			return 0
		}
		return math.Floor(math.Log(1-w.rng.Float64()) / math.Log(1-chance))
	}
	e := make([]uint64, len(w.pl.Edges))
	next := skip()
	for i := range before {
		p := &before[i]
		list, from := w.candidates(l, p.m)
		for ; next < float64(len(list)); next += 1 + skip() {
			if v := list[int(next)]; checks.ValidFrom(w.pl, l, from, v, p.m, e) {
				own := slices.Clone(p.m)
				own[l] = v
				w.now = append(w.now, partial{own, p.weight / chance})
			}
		}
		next -= float64(len(list))
	}
}

// candidates are a superset of what can follow m at level l: a list within bounds.
func (w *walker) candidates(l int, m []uint32) (list []uint32, from int) {
	lv := &w.pl.Levels[l]
	list, from = checks.Smallest(w.pl, l, m, &w.list)
	first, end := uint32(0), ^uint32(0)
	for _, j := range lv.Below {
		end = min(end, m[j])
	}
	for _, j := range lv.Above {
		first = max(first, m[j]+1)
	}
	if k := len(lv.Ranges); k > 0 {
		first, end = max(first, lv.Ranges[0].First), min(end, lv.Ranges[k-1].End)
	}
	return plan.Within(list, first, max(first, end)), from
}
