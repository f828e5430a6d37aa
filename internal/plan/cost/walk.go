package cost

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/checks"
)

// Bounds of the estimates by random walks.
const (
	walks    = 300 // for the estimates that explain prints
	fewWalks = 20
	// walksApart are how many share a state, about: others may walk at the same time.
	walksApart = 75
	maxSteps   = 3000 // levels and sets entered over all walks, about
	probes     = 16   // members of a list that are tried where a list is longer
	maxRows    = 64   // data edges of one choice that are looked at
)

// walksShare is the largest share of a search's expected time that walks take, besides the first few.
const walksShare = 0.1

// Estimate fills the estimates and costs of levels and sets. expected is the plan's cost by the model of the
// graph, 0 if it has none. There are fewer walks where the model and few walks agree that the search is short.
func Estimate(pl *plan.Plan, o plan.Options, expected float64) {
	n := enough(pl)
	few := Walk(pl, &o, fewWalks)
	if expected > 0 {
		n = int(min(float64(n), walks*walksShare*max(expected, few)/walksPrice))
	}
	if !o.Quick && n > fewWalks {
		Walk(pl, &o, n)
	}
}

// Compare makes random walks down plans for their costs alone. Where walks take much of the time of a search, few walks leave out the plans that are
// expected to take clearly longer than the best; the walks of these are nil.
func Compare(plans []*plan.Plan, o *plan.Options) []*Walks {
	all := make([]*Walks, len(plans))
	round := func(n int) {
		Parallel(o, len(plans), func(i int) {
			if all[i] != nil {
				all[i].make(n, false)
			}
		})
	}
	for i, pl := range plans {
		all[i] = NewWalks(pl, o)
	}
	round(firstWalks)
	least := math.Inf(1)
	for _, w := range all {
		least = min(least, w.Cost)
	}
	more, left := compared-firstWalks, len(plans)
	if most := walksShare * least / walkPrice; least > 0 && most < float64(compared*len(plans)) {
		for i, w := range all {
			if w.Cost > clearlyLonger*least {
				all[i] = nil
				left--
			}
		}
		more = min(max((int(most)-firstWalks*len(plans))/max(left, 1), fewWalks), more)
	}
	round(more)
	return all
}

// Walks that compare plans: firstWalks down each plan, and compared in all, or as many as the search affords, down those whose cost is then at
// most clearlyLonger times the least. Why 8: heavy searches of few hubs hide from the first walks. With 3, plans were left out that take half the time of those that stayed.
const (
	firstWalks    = 30
	compared      = 120
	clearlyLonger = 8
)

// The estimates of the best plan have restWalks besides, and more where the search is long.
const restWalks = 40

// walkPrice is about the number of set elements that a search reads while one walk is made.
const walkPrice = 3000

// EstimateMore fills all estimates of a plan that Compare has walked down.
func (s *Walks) EstimateMore() {
	n := walksShare / 5 * s.Cost / walkPrice
	s.Make(int(min(max(n, restWalks), float64(enough(s.Plan)))))
}

// Show fills the estimates and costs of levels and sets for people: by as many walks as are ever made.
func Show(pl *plan.Plan, o plan.Options) { Walk(pl, &o, enough(pl)) }

// enough is how many walks an estimate takes at most.
func enough(pl *plan.Plan) int {
	return max(min(walks, maxSteps/(len(pl.Levels)+len(pl.Sets))), fewWalks)
}

// Walk estimates by n random walks down the plan and returns the expected cost, as a number of
// set elements read.
func Walk(pl *plan.Plan, o *plan.Options, n int) float64 { return NewWalks(pl, o).Make(n) }

// Walks are random walks down a plan, of which more may be made.
//
// A walk picks one candidate of each level at random. Its weight is the product of the numbers
// of candidates that it picked from. The mean weight at a level is an unbiased estimate of the
// partial matches there (Knuth, Estimating the efficiency of backtrack programs, 1975; on
// graphs, Wander Join, SIGMOD 2016).
//
// Long lists are probed instead of read, which keeps the estimate unbiased and its cost small.
// Roots are picked with probability proportional to degree + 1, because hubs carry most of the
// matches. Where few vertices have the neighbours of a root, only these are picked.
//
// Where conditions are long, walks are fewer than asked for.
type Walks struct {
	Plan *plan.Plan
	Cost float64 // expected, as a number of set elements read
	Made int

	o     *plan.Options
	sum   *walker
	whole int // walks to the last level
}

// NewWalks returns the walks down a plan, of which none is made yet.
func NewWalks(pl *plan.Plan, o *plan.Options) *Walks { return &Walks{Plan: pl, o: o} }

// roundsApart is how far the seeds of two rounds of walks are apart: each part of a round has its own.
const roundsApart = 1 << 32

// Make makes n more walks. It fills the plan's estimates by all of them, and returns the expected cost.
func (s *Walks) Make(n int) float64 { return s.make(n, true) }

// make is Make, or makes walks that end before the levels that the tail closes, which have no cost.
func (s *Walks) make(n int, whole bool) float64 {
	pl := s.Plan
	if n = affordable(pl, s.Made+n) - s.Made; n <= 0 {
		return s.Cost
	}
	seed := s.o.Seed + uint64(s.Made)*roundsApart
	parts := make([]*walker, max(n/walksApart, 1))
	Parallel(s.o, len(parts), func(i int) {
		if s.sum == nil {
			parts[i] = newWalker(pl, seed+uint64(i))
		} else {
			parts[i] = s.sum.again(seed + uint64(i))
		}
		if !whole {
			parts[i].levels -= pl.Tail.K
		}
		for range (n + i) / len(parts) {
			if s.o.Ended() {
				break
			}
			parts[i].once()
		}
	})
	if s.sum != nil {
		parts = append([]*walker{s.sum}, parts...)
	}
	for _, p := range parts[1:] {
		parts[0].add(p)
	}
	s.sum, s.Made = parts[0], s.Made+n
	if whole {
		s.whole += n
	}
	s.Cost = s.sum.estimate(s.Made, s.whole)
	return s.Cost
}

// estimate fills the plan's estimates by n walks, of which some are whole, and returns the expected cost.
func (w *walker) estimate(n, whole int) (total float64) {
	pl := w.pl
	for l := range pl.Levels {
		if l < len(pl.Levels)-pl.Tail.K {
			pl.Levels[l].Estimate = w.sum[l] / float64(n)
		} else if whole > 0 {
			pl.Levels[l].Estimate = w.sum[l] / float64(whole)
		}
		pl.Levels[l].Cost = w.cost[l] / float64(n)
		total += pl.Levels[l].Cost
	}
	if lv := &pl.Levels[0]; lv.MinDegree == 0 && lv.Bits == nil && len(lv.Checks) == 0 && pl.Empty == nil {
		lv.Estimate = 0
		for _, r := range w.rootRanges {
			lv.Estimate += float64(r.End - r.First)
		}
	}
	for i := range pl.Sets {
		if w.sumAt[i] > 0 {
			pl.Sets[i].Estimate = w.sumSize[i] / w.sumAt[i]
		}
	}
	return total
}

// walker is the state of the walks.
type walker struct {
	pl  *plan.Plan
	rng *rand.Rand
	m   []uint32
	e   []uint64

	levels     int // that walks go down
	rootRanges []plan.Range
	rootAdj    int           // adjacency whose degrees weigh roots
	rootFew    *graph.Sparse // in its place: lists that all roots have, whose lengths alone weigh them
	rootTotal  uint64
	rootList   []uint32 // roots that pass predicates, where these are few

	size           []float64 // of each set in the walk
	sumSize, sumAt []float64
	sum, cost      []float64
	hits           []uint32
	blocks         []uint32 // Plan.TailBlocks
	list           graph.Scratch
}

func newWalker(pl *plan.Plan, seed uint64) *walker {
	w := emptyWalker(pl, seed)
	w.prepare()
	return w
}

// again is a new walker of the same plan, with the same roots.
func (w *walker) again(seed uint64) *walker {
	out := emptyWalker(w.pl, seed)
	out.blocks, out.rootRanges, out.rootAdj, out.rootFew, out.rootTotal, out.rootList = w.blocks, w.rootRanges, w.rootAdj, w.rootFew, w.rootTotal, w.rootList
	return out
}

func emptyWalker(pl *plan.Plan, seed uint64) *walker {
	return &walker{
		pl: pl, levels: len(pl.Levels), rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)),
		m: make([]uint32, len(pl.Levels)), e: make([]uint64, len(pl.Edges)),
		size: make([]float64, len(pl.Sets)), sumSize: make([]float64, len(pl.Sets)), sumAt: make([]float64, len(pl.Sets)),
		sum: make([]float64, len(pl.Levels)), cost: make([]float64, len(pl.Levels)),
	}
}

// add adds the sums of another walker of the plan.
func (w *walker) add(other *walker) {
	for _, x := range [][2][]float64{{w.sum, other.sum}, {w.cost, other.cost}, {w.sumSize, other.sumSize}, {w.sumAt, other.sumAt}} {
		for i := range x[0] {
			x[0][i] += x[1][i]
		}
	}
}

// prepare sums the root weights.
func (w *walker) prepare() {
	w.blocks = w.pl.TailBlocks()
	lv := &w.pl.Levels[0]
	w.rootRanges = lv.Ranges
	if lv.Ranges == nil {
		w.rootRanges = []plan.Range{{First: 0, End: uint32(w.pl.Graph.NumVertices())}}
	}
	if w.listRoots(lv.Bits); w.rootList != nil {
		w.rootTotal = uint64(len(w.rootList))
		return
	}
	if w.rootFew = w.pl.SparseRoots(); w.rootFew != nil {
		for _, r := range w.rootRanges {
			w.rootTotal += w.rootFew.Before(r.End) - w.rootFew.Before(r.First)
		}
		return
	}
	w.rootAdj = -1
	for l := range w.pl.Levels {
		for _, b := range w.pl.Levels[l].Back {
			if b.Level == 0 && !b.Neg && w.rootAdj < 0 {
				w.rootAdj = b.Adj
			}
		}
	}
	for _, r := range w.rootRanges {
		w.rootTotal += w.weightBefore(r.End) - w.weightBefore(r.First)
	}
}

// maxRootList bounds the roots that are listed.
const maxRootList = 1 << 16

// listRoots lists the roots in a bitmap, unless they are many.
func (w *walker) listRoots(bitmap []uint64) {
	if bitmap == nil {
		return
	}
	list := []uint32{}
	for _, r := range w.rootRanges {
		if n := r.Count(bitmap); len(list)+n > maxRootList {
			return
		}
		for i := r.First / 64; i < (r.End+63)/64; i++ {
			for x := bitmap[i]; x != 0; x &= x - 1 {
				if v := i*64 + uint32(bits.TrailingZeros64(x)); r.First <= v && v < r.End {
					list = append(list, v)
				}
			}
		}
	}
	w.rootList = list
}

// weightBefore is the sum of the root weights of all vertices below v.
func (w *walker) weightBefore(v uint32) uint64 {
	if w.rootAdj < 0 {
		return uint64(v)
	}
	return w.pl.Adjs[w.rootAdj].Lists.Before(v) + uint64(v)
}

// root picks a root and returns the inverse of its probability.
func (w *walker) root() (v uint32, weight float64) {
	x := w.rng.Uint64N(w.rootTotal)
	if w.rootList != nil {
		return w.rootList[x], float64(w.rootTotal)
	}
	if w.rootFew != nil {
		for _, r := range w.rootRanges {
			first, end := w.rootFew.Before(r.First), w.rootFew.Before(r.End)
			if x < end-first {
				v, _ = w.rootFew.Entry(first + x)
				return v, float64(w.rootTotal) / float64(w.rootFew.Degree(v))
			}
			x -= end - first
		}
	}
	for _, r := range w.rootRanges {
		first, end := w.weightBefore(r.First), w.weightBefore(r.End)
		if x >= end-first {
			x -= end - first
			continue
		}
		x += first
		lo, hi := r.First, r.End // the last v with weightBefore(v) ≤ x
		for hi-lo > 1 {
			mid := lo + (hi-lo)/2
			if w.weightBefore(mid) <= x {
				lo = mid
			} else {
				hi = mid
			}
		}
		return lo, float64(w.rootTotal) / float64(w.weightBefore(lo+1)-w.weightBefore(lo))
	}
	return 0, 0
}

// once makes one walk.
func (w *walker) once() {
	if w.rootTotal == 0 {
		return
	}
	v, weight := w.root()
	tail := len(w.pl.Levels) - w.pl.Tail.K
	for l := range w.levels {
		if l > 0 {
			var n float64
			if v, n = w.pick(l); n == 0 {
				return
			}
			weight *= n
		} else if !checks.Valid(w.pl, 0, v, w.m, w.e) {
			return
		}
		w.m[l] = v
		n := w.pickEdges(l)
		if n == 0 {
			return
		}
		weight *= n
		w.sum[l] += weight
		c := w.evalSets(l, weight)
		if l < tail {
			w.cost[l] += weight * (VisitCost + c)
		}
		if l == tail-1 {
			w.cost[l] += weight * w.tailCost()
		}
	}
}

// pick chooses a candidate of level l and returns the estimated number of
// candidates.
func (w *walker) pick(l int) (uint32, float64) {
	list, from := checks.Smallest(w.pl, l, w.m, &w.list)
	lv := &w.pl.Levels[l]
	w.hits = w.hits[:0]
	if from < 0 {
		n := w.pl.Graph.NumVertices()
		for range probes {
			if c := uint32(w.rng.IntN(n)); checks.Valid(w.pl, l, c, w.m, w.e) {
				w.hits = append(w.hits, c)
			}
		}
		return w.chosen(float64(n) / probes)
	}
	first, end := uint32(0), ^uint32(0)
	for _, j := range lv.Below {
		end = min(end, w.m[j])
	}
	for _, j := range lv.Above {
		first = max(first, w.m[j]+1)
	}
	if k := len(lv.Ranges); k > 0 {
		first, end = max(first, lv.Ranges[0].First), min(end, lv.Ranges[k-1].End)
	}
	list = plan.Within(list, first, max(first, end))
	if len(list) <= probes {
		for _, c := range list {
			if checks.ValidFrom(w.pl, l, from, c, w.m, w.e) {
				w.hits = append(w.hits, c)
			}
		}
		return w.chosen(1)
	}
	for range probes {
		if c := list[w.rng.IntN(len(list))]; checks.ValidFrom(w.pl, l, from, c, w.m, w.e) {
			w.hits = append(w.hits, c)
		}
	}
	return w.chosen(float64(len(list)) / probes)
}

// chosen picks one of the hits. Each hit represents `each` candidates.
func (w *walker) chosen(each float64) (uint32, float64) {
	if len(w.hits) == 0 {
		return 0, 0
	}
	return w.hits[w.rng.IntN(len(w.hits))], each * float64(len(w.hits))
}

// pickEdges makes the edge choices of level l.
func (w *walker) pickEdges(l int) float64 {
	weight := 1.0
	for i := range w.pl.Edges {
		c := &w.pl.Edges[i]
		if c.At != l {
			continue
		}
		var ids []uint64
		c.Rows(w.m[c.From], w.m[c.To], func(id uint64) bool {
			if w.pl.Mode == pattern.Trail && slices.Contains(w.e[:i], id) {
				return true
			}
			w.e[i] = id
			for _, check := range c.Checks {
				if !check.Eval(w.m, w.e) {
					return true
				}
			}
			ids = append(ids, id)
			return len(ids) < maxRows
		})
		if len(ids) == 0 {
			return 0
		}
		w.e[i] = ids[w.rng.IntN(len(ids))]
		weight *= float64(len(ids))
	}
	return weight
}

// evalSets estimates the sizes of the sets computed at level l, and the number of elements that
// computing them reads.
func (w *walker) evalSets(l int, weight float64) (cost float64) {
	for i := range w.pl.Sets {
		s := &w.pl.Sets[i]
		if s.At != l {
			continue
		}
		list := w.bounded(w.pl.Adjs[s.Adj].Lists.List(w.m[s.Of], &w.list), s)
		if s.Op == plan.SetList {
			w.size[i] = float64(len(list))
		} else {
			cost += MergeCost(w.size[s.Base], float64(len(list)))
			w.size[i] = w.probe(i)
		}
		w.sumSize[i] += weight * w.size[i]
		w.sumAt[i] += weight
	}
	return cost
}

// bounded cuts a list to the range and bounds of s.
func (w *walker) bounded(list []uint32, s *plan.Set) []uint32 {
	first, end := s.Range.First, s.Range.End
	if end == 0 {
		end = ^uint32(0)
	}
	for _, j := range s.Below {
		end = min(end, w.m[j])
	}
	for _, j := range s.Above {
		first = max(first, w.m[j]+1)
	}
	if first >= end {
		return nil
	}
	return plan.Within(list, first, end)
}

// probe estimates the size of set i by trying members of its shortest operand.
func (w *walker) probe(i int) float64 {
	least, from := 0, -1
	for j := i; j >= 0; j = w.pl.Sets[j].Base {
		s := &w.pl.Sets[j]
		if n := w.pl.Adjs[s.Adj].Lists.Degree(w.m[s.Of]); s.Op != plan.SetMinus && (from < 0 || n < least) {
			least, from = n, j
		}
	}
	shortest := &w.pl.Sets[from]
	list := w.bounded(w.pl.Adjs[shortest.Adj].Lists.List(w.m[shortest.Of], &w.list), &w.pl.Sets[i])
	tries := min(len(list), probes/2)
	hits := 0
	for k := range tries {
		c := list[k]
		if len(list) > tries {
			c = list[w.rng.IntN(len(list))]
		}
		if w.contains(i, from, c) {
			hits++
		}
	}
	if hits == 0 {
		return 0
	}
	return float64(len(list)) * float64(hits) / float64(tries)
}

// contains reports whether c, out of the list of set from, is in set i, bounds
// apart.
func (w *walker) contains(i, from int, c uint32) bool {
	for j := i; j >= 0; j = w.pl.Sets[j].Base {
		s := &w.pl.Sets[j]
		if j != from && w.pl.Adjs[s.Adj].Lists.Has(w.m[s.Of], c) == (s.Op == plan.SetMinus) {
			return false
		}
	}
	return true
}

// tailCost is the number of elements that the intersections of the tail's formula read.
func (w *walker) tailCost() (cost float64) {
	pl := w.pl
	for _, mask := range w.blocks {
		groups := pattern.Members(mask)
		base := pl.Levels[pl.Tail.Groups[groups[0]].Levels[0]].Set
		for _, g := range groups[1:] {
			if s := pl.Levels[pl.Tail.Groups[g].Levels[0]].Set; s != base {
				cost += MergeCost(w.size[base], w.size[s])
			}
		}
	}
	return cost
}
