package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
	"github.com/weftgraph/weft/internal/plan/cost"
)

// reduction is how the candidates of a pattern's vertices are reduced before the order is chosen.
type reduction uint8

const (
	asBound   reduction = iota
	filtered            // by which vertices have neighbours in the relations: Filter
	semijoins           // Reduce
)

// reduces chooses a reduction. It turns o.Order into the name of a rule. The plan is nil, or one for a GPU that needs no
// semijoins. why says why EitherOrder has no plan for a join; "": it may have one.
func (b *planner) reduces(o *plan.Options) (r reduction, short *plan.Plan, why string) {
	switch counts := !o.Listing && o.Root < 0 && len(b.Binding.Edges) == 0 && len(b.Checks) == 0; o.Order {
	case plan.MergeOrder:
		o.Order, o.Merges = "join", counts
	case plan.MergeOnGPU:
		o.Order, o.Merges = plan.JoinOnGPU, counts
	case plan.EitherOnGPU:
		o.Merges = counts
	}
	switch o.Order {
	case "join":
		r, _ = b.reducesOnHost(*o)
	case plan.JoinOnGPU:
		o.Order = "join"
		r, short = b.reducesOnGPU(*o)
	case plan.EitherOrder, plan.EitherOnGPU:
		gpu := o.Order == plan.EitherOnGPU
		o.Order = "auto"
		switch why = b.unjoinable(*o); {
		case why != "":
			return asBound, nil, why
		case gpu:
			r, short = b.reducesOnGPU(*o)
		default:
			r, why = b.reducesOnHost(*o)
		}
		if r != asBound {
			o.Order = "join"
		}
	}
	return r, short, why
}

// unjoinable says why a plan cannot be for a join that nobody asked for, because something else was asked for or is at hand; "": it can.
func (b *planner) unjoinable(o plan.Options) string {
	switch {
	case o.Method != "" && o.Method != "direct":
		return fmt.Sprintf("method %s was asked for", o.Method)
	case o.Root >= 0:
		return "matches are counted by vertex"
	case o.NoTail || o.NoMotion || o.NoRestrictions:
		return "a part of planning is turned off"
	case len(b.Binding.Edges) > 0:
		return "data edges are chosen"
	case b.N <= 2:
		return "the pattern has too few vertices"
	case b.wantsTemporal(o):
		return "edges are in windows of time"
	case b.largeChosen(o):
		return "the method large filters candidates by itself"
	}
	return ""
}

// reducesOnHost chooses a reduction for a processor. Candidates are filtered where all relations are of edge labels: that reads no
// list, and the degrees of the candidates that are left tell whether semijoins pay (semijoinsPay). Else the model of the graph, in
// which labels say nothing about each other, expects the search's time, and semijoins have to shorten it. why says why
// candidates are not reduced.
func (b *planner) reducesOnHost(o plan.Options) (r reduction, why string) {
	reads, selective, labelled := b.SemijoinReads()
	filter := cost.FilterOnHost(b.Graph.NumVertices(), b.N, len(b.Links))
	switch {
	case b.Empty != nil:
		return asBound, ""
	case !selective:
		return asBound, "an edge of the pattern fits most of the graph"
	case labelled && filter <= shortFilter:
		return filtered, ""
	case b.star():
		return asBound, "one vertex has an edge to each other, and loops from there read each list once"
	}
	takes, least, what := filter, searchPerFilter*filter, "a filter of candidates"
	if r = filtered; !labelled {
		r, takes, what = semijoins, cost.SemijoinsOnHost(reads), "semijoins"
		least = max(searchPerSemijoins*takes, shortSemijoins)
	}
	if search := cost.ElementsOnHost(b.Expected(o)); search <= least {
		return asBound, fmt.Sprintf("%s would take %s, and a search without is expected to take %s", what, micro(takes), micro(search))
	}
	return r, ""
}

// semijoinsPay reports whether semijoins are expected to save a processor time after candidates were filtered: where the search by
// pl is expected to take searchPerSemijoins times as long as they do, because they shorten it and do not save all of it.
func (b *planner) semijoinsPay(pl *plan.Plan) bool {
	if b.Empty != nil || b.star() {
		return false
	}
	lists, entries := b.SemijoinWork()
	if lists == 0 {
		return false
	}
	t := cost.OnHost(pl)
	return min(t.Nest, t.Join) > searchPerSemijoins*cost.SemijoinsAfterFilter(lists, entries)
}

// star reports whether one vertex has all others as neighbours, and these have no links among them. A nest that begins
// there reads the lists that semijoins read, once.
func (b *planner) star() bool {
	if len(b.Links) == 0 {
		return true
	}
	first := b.Links[0]
	for _, centre := range []int{first.U, first.V} {
		if !slices.ContainsFunc(b.Links, func(l bind.Link) bool { return l.Neg || l.U != centre && l.V != centre }) {
			return true
		}
	}
	return false
}

// searchPerSemijoins is how many times as long as semijoins a search must be expected to take for them to pay. Of factors from 1 to 24,
// those from 10 to 16 were best on one thread (110 queries of WN18RR, FB15k-237 and a generated graph), and those from 4 to 12 on 16
// threads (1,865 queries of three graphs): docs/notes/2026-11-28-cpu-semijoins.md. After a filter those from 10 to 24 were best
// (1,000 queries of four graphs on one thread): docs/notes/2026-11-29-cpu-filter.md.
const searchPerSemijoins = 10

// shortSemijoins is the least time of a search that semijoins without a filter before them are for.
const shortSemijoins = 150 * time.Microsecond

// shortFilter is the time of a filter for which the model of the graph is not asked, which takes some 15 µs itself. That is one of
// small graphs. In others a search must be expected to take searchPerFilter times as long as a filter, and stars have none.
const (
	shortFilter     = 30 * time.Microsecond
	searchPerFilter = 4
)

// Bounds of the estimates of a search on a GPU.
const (
	// sketchWalks is the number of random walks down a plan in GSI's order. They take 10 to 30 µs.
	sketchWalks = 64
	// surelyFew is the number of levels with rows up to which these walks are believed though none of them reaches
	// the last of these levels. A relation has few pairs for the first two.
	surelyFew = 2
	// deep is the number of levels with rows from which on so few walks are not believed: they miss the few vertices that
	// have most of the matches.
	deep = 6
	// walkShare is the share of the semijoins' time that more walks may take, and walkTime the time of a long one.
	walkShare, walkTime = 0.1, 5 * time.Microsecond
	leastMore, mostMore = 4 * sketchWalks, 32 * sketchWalks
)

// reducesOnGPU chooses semijoins where they are expected to save a GPU more time than they take the processor. If not, it
// returns a plan in GSI's order, or nil where GSI's rule has nothing to say: not all relations are of edge labels.
//
// Why: GSI's order and some random walks down it take a tenth of the time of semijoins. A GPU joins a million rows in a
// millisecond, in which semijoins read 50,000 list entries.
func (b *planner) reducesOnGPU(o plan.Options) (reduction, *plan.Plan) {
	reads, selective, labelled := b.SemijoinReads()
	nest := o.Method == "" || o.Method == "direct" || o.Method == plan.Nest.String()
	if b.Empty != nil || !selective {
		return asBound, nil
	}
	takes := cost.Semijoins(reads)
	if !labelled || !nest {
		if cost.Elements(b.Expected(o)) > takes {
			return semijoins, nil
		}
		return asBound, nil
	}
	o.Order = "gsi"
	c, err := b.Choose(o)
	if err != nil {
		return semijoins, nil
	}
	pl := b.Assemble(c.Order, o)
	search, ok := sketched(pl, &o, takes)
	if !ok || search > takes {
		return semijoins, nil
	}
	pl.OrderName, pl.Method, pl.SemijoinTime = c.Name, plan.Nest, takes
	pl.Why = fmt.Sprintf("%s; the rows are expected to take a GPU %s, and semijoins would take %s", c.Why, micro(search), micro(takes))
	if o.Estimates {
		cost.Estimate(pl, o, 0)
	}
	return asBound, pl
}

// sketched estimates by random walks how long the rows of a plan take a GPU. The walks are more where few are not
// reliable, but take little of the time of the semijoins that they may save. It reports false where no walk arrives.
func sketched(pl *plan.Plan, o *plan.Options, semijoins time.Duration) (search time.Duration, ok bool) {
	rows := len(pl.Levels) - pl.Tail.K
	walk := func(n int) {
		cost.Walk(pl, o, n)
		_, search = cost.OnGPU(pl)
		ok = rows <= surelyFew || pl.Levels[rows-1].Estimate > 0
	}
	walk(sketchWalks)
	if !ok || rows >= deep && search <= semijoins {
		walk(min(max(int(walkShare*float64(semijoins/walkTime)), leastMore), mostMore))
	}
	return search, ok
}

// micro is a duration in whole microseconds.
func micro(d time.Duration) time.Duration { return d.Round(time.Microsecond) }
