// Package join searches breadth first, as GSI and GENEVA do. It joins a table of partial matches with
// the candidates of the next vertex, or of the next several vertices, until its rows are matches.
// Package plan/phases cuts the plan into these joins.
//
// Tables are joined in batches. A full batch goes to the next phase before its own phase continues, so
// that memory does not grow with the number of matches.
//
// It knows plans and graphs, and must not know the pattern language, other engines or where
// results go.
package join

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/phases"
)

// Host is the engine on all cores of this machine. The zero value is ready.
type Host struct{}

// New returns the join engine for all cores.
func New() engine.Engine { return Host{} }

// Name is the engine's name.
const Name = "join"

// Name returns "join".
func (Host) Name() string { return Name }

// Options are the engine's switches: those of both engines, and those of one.
var Options = slices.Concat(option.Table{
	option.Choice("join.extend", "match one vertex in a phase, several where GENEVA's matching patterns allow it, or (auto) several where tables of partial matches are then expected to be smaller", "auto", "single", "multi"),
	option.Choice("join.eliminate", "look for edges between the vertices of a phase while its rows are made, or, with join.extend=multi, in eliminations after it", "inside", "after"),
	option.Choice("join.lists", "neighbour lists: the graph's, or by edge label in interval-PCSR or hashed PCSR", "graph", "interval", "hashed"),
	option.Switch("join.renumber", true, "with join.lists=interval: vertices have ids by which those with the same edge labels follow each other; off: the graph's own"),
	option.Choice("join.merge", "in counts, merge rows that no later phase can tell apart into one with the sum of their counts; auto: where many partial matches are expected", "auto", "on", "off"),
	option.Choice("join.sets", "intersect lists by their sizes, or, for comparison (naive), look each element of the first list up in the whole of the others", "size", "naive"),
	option.Choice("join.filter", "leave out vertices that lack what the signature of a pattern vertex has; auto: where that is expected to pay", "auto", "signature", "off"),
	option.Number("join.signature", usualSignature, 32, 4096, "bits of a signature, a multiple of 32"),
	option.Number("join.batch", 0, 0, 1<<24, "the most rows of a batch; 0: 4096 on the processor, 262144 on GPUs, and 1048576 there with merges"),
}, hostOptions, gpuOptions)

// hostOptions are the switches of the engine on the processor alone.
var hostOptions = option.Table{
	option.Switch("join.steal", true, "on the processor: idle cores take parts of others' batches"),
}

// gpuOptions are the switches of the engine on GPUs alone.
var gpuOptions = option.Table{
	option.Choice("join.index", "on GPUs, with join.lists=interval: find lists by runs of ids if they fit in shared memory, else by rank bitmaps (auto), or all by one of them", "auto", "runs", "ranks"),
	option.Choice("join.output", "on GPUs: places for new rows by an atomic addition for each batch, by Prealloc-Combine, or by two passes", "atomic", "prealloc", "twopass"),
	option.Switch("join.share", false, "on GPUs: rows of a block with the same neighbour list read it once"),
	option.Switch("join.balance", false, "on GPUs: the grid, blocks, several warps or a warp join a row, by the length of its list"),
	option.Number("join.segments", 0, 0, 1<<16, "on GPUs: join out of core, and cut the longest lists of a relation into this number of segments, of which some are on the device; 0: out of core only where the lists do not fit"),
	option.Number("join.held", 0, 0, mostHeld, "on GPUs, out of core: how many segments are on the device, at least two; 0: as many as have room"),
	option.Number("join.shorter", 2, 0, 1<<20, "on GPUs, out of core: the shortest of a row's lists makes its candidates, if the lists of one edge have this many times as many elements; 0: never"),
	option.Choice("join.nested", "on GPUs, out of core: segments of the lists that make candidates stay on the device while those of a further edge pass by, so that no candidate comes to the host between the two; auto: where fewer bytes are copied then", "auto", "on", "off"),
	option.Switch("join.cache", true, "on GPUs: new rows of a warp wait in shared memory until they fill 128 bytes"),
}

// read returns the switches' values. It refuses those of the other engine, which are of no use on `on`, and those of no use beside others.
func read(o engine.Options, other option.Table, on string) (option.Values, error) {
	v, err := Options.Read(o.Opt)
	if err != nil {
		return v, err
	}
	if given := v.Given(other); len(given) > 0 {
		return v, fmt.Errorf("%w %s: it is of no use %s", engine.ErrOption, given[0], on)
	}
	switch size := v.Number("join.signature"); {
	case size%32 != 0:
		return v, fmt.Errorf("%w join.signature: %d is not a multiple of 32", engine.ErrOption, size)
	case asked(v, "join.signature") && v.Text("join.filter") == "off":
		return v, fmt.Errorf("%w join.signature: with join.filter=off no vertex has a signature", engine.ErrOption)
	case v.Text("join.eliminate") == "after" && v.Text("join.extend") != "multi":
		return v, fmt.Errorf("%w join.eliminate: after only with join.extend=multi", engine.ErrOption)
	case v.Text("join.lists") != "interval" && !v.On("join.renumber"):
		return v, fmt.Errorf("%w join.renumber: only with join.lists=interval", engine.ErrOption)
	}
	return v, nil
}

// asked reports whether a switch has a given value.
func asked(v option.Values, name string) bool { return len(v.Given(option.Table{{Name: name}})) > 0 }

// Order returns the rule of the matching order for joins: by joint degrees, after semijoins, or where fewer rows are
// expected with merges.
func Order(opt map[string]string) string {
	if v, err := Options.Read(opt); err == nil && v.Text("join.merge") == "off" {
		return "join"
	}
	return plan.MergeOrder
}

// OrderOnGPU returns the rule of the matching order for joins on GPUs. Phases of several vertices are asked for by name
// there, and have GENEVA's.
func OrderOnGPU(opt map[string]string) string {
	switch v, err := Options.Read(opt); {
	case err == nil && v.Text("join.extend") == "multi":
		return "geneva"
	case err == nil && unmerged(v):
		return plan.JoinOnGPU
	}
	return plan.MergeOnGPU
}

// unmerged reports whether switches keep joins on GPUs from merging rows. Orders for merges would make the more rows then.
func unmerged(v option.Values) bool {
	return v.Text("join.merge") == "off" || v.Number("join.segments") > 0 || v.On("join.share") || v.On("join.balance") || v.Text("join.output") != "atomic"
}

// prepared is a plan that is ready to run.
type prepared struct {
	g      *graph.Graph
	p      *plan.Plan
	o      engine.Options
	steal  bool
	batch  int
	lists  lists
	index  string              // join.index
	naive  bool                // join.sets
	ids    *layout.Renumbering // of the lists; nil: the graph's ids
	signed *signatures         // that devices filter by; nil: none do
	said   []string            // of the filter
	left   [][]plan.Filtered   // by the filter, for a plan whose levels are analyzed
	notes  []string
	steps  []step

	closing *tailSum // of the last step, on devices; nil: it is not counted by arithmetic
}

// Prepare cuts the plan into phases, whatever its method. It refuses counts per vertex where data
// edges are chosen.
func (Host) Prepare(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	v, err := read(o, gpuOptions, "on the processor")
	if err != nil {
		return nil, err
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	w := way{extend: extension(v), signatures: filters(g, p, v), counting: !o.Listing && !o.Levels && len(p.Edges) == 0}
	w.merging = w.counting
	return prepare(ctx, g, p, o, v, w)
}

// filters reports whether candidates are filtered by signatures.
func filters(g *graph.Graph, p *plan.Plan, v option.Values) bool {
	how := v.Text("join.filter")
	return how == "signature" || how == "auto" && signaturesPay(g, p)
}

// way says how a plan is to be joined.
type way struct {
	extend     string // a way to cut a plan into phases
	signatures bool   // candidates are filtered by them
	counting   bool   // matches are counted without rows where that is possible
	merging    bool   // rows that later phases cannot tell apart may be merged
	device     bool   // a device filters by the signatures
	segments   bool   // a device has a segment of the lists at a time
}

// prepare makes the steps of a plan.
func prepare(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, v option.Values, w way) (*prepared, error) {
	if p.Rooted && len(p.Edges) > 0 {
		return nil, plan.Refusef("counts per vertex are not added up over choices of data edges")
	}
	x := &prepared{g: g, p: p, o: o, steal: v.On("join.steal"), batch: v.Number("join.batch"), index: v.Text("join.index"), naive: v.Text("join.sets") == "naive"}
	if p.Empty != nil {
		return x, nil
	}
	levels := len(p.Levels)
	if w.counting && p.Tail.K > 1 && (!w.device || tailBacks(p) <= maxBacks && (w.segments || deviceTails(p))) {
		levels -= p.Tail.K
	}
	w.merging = w.merging && !w.segments && w.extend != "multi, after" && v.Text("join.merge") != "off"
	if v.Text("join.merge") == "on" && !w.merging {
		x.notes = append(x.notes, "join.merge=on has no effect: listings, counts by level, named edges, joins out of core, join.eliminate=after, join.share, join.balance and other outputs than atomic have no merges")
	}
	if w.merging && expectsMerges(p) && !asked(v, "join.extend") {
		w.extend = "single" // a merge then finds what each vertex leaves to forget
	}
	all := cut[w.extend](p, levels)
	if levels < len(p.Levels) {
		all = append(all, phases.Tail(p))
	}
	if w.merging {
		all = merges(p, all, v)
	}
	all[0].Initial = w.extend != "single" && !w.device && len(all) > 1
	var allowed [][]uint64
	if asked(v, "join.signature") && (!w.signatures || g.Stored != nil) {
		x.said = append(x.said, "join: no filter by signatures: "+withoutSignatures(g, p))
	}
	// Signatures are of the graph's own edge table, and say nothing of lists that are stored elsewhere.
	if w.signatures && len(p.Levels) > 1 && g.Stored == nil {
		table, release, err := signatureTable(ctx, g, v.Number("join.signature"), o)
		var room *memory.Error
		switch {
		case err == nil:
			if !w.device { // devices read it in each run
				defer release()
			}
			x.signed = &signatures{table, neighbourPairs(g, p)}
		case v.Text("join.filter") != "auto" || !errors.As(err, &room):
			return nil, err
		default:
			x.said = append(x.said, fmt.Sprintf("join: no filter by signatures: %v", room))
		}
	}
	if x.signed != nil {
		for i := range all {
			if i < len(all)-1 || !w.counting { // the last one may be counted by arithmetic, which needs whole groups
				x.signed.separate(&all[i])
			}
		}
		if !w.device {
			var left []string
			var err error
			if allowed, left, err = x.signed.filter(ctx, g, p, o.Threads); err != nil {
				return nil, err
			}
			x.said = append(x.said, left...)
			x.signed = nil
		}
		if o.Levels && !w.device {
			var err error
			if x.left, err = pruned(ctx, p, allowed, o.Threads); err != nil {
				return nil, err
			}
		}
	}
	x.lists = handles(p.Adjs)
	if kind := v.Text("join.lists"); kind != "graph" {
		of := layout.Intervals
		if kind == layout.Hashes.String() {
			of = layout.Hashes
		} else if !v.On("join.renumber") {
			of, kind = layout.OwnIntervals, kind+", not renumbered"
		}
		parts, ids, warning, err := openPartitions(ctx, g, p, of, o.Threads, o.Levels)
		if err != nil {
			return nil, err
		}
		x.lists, x.ids = parts, ids
		x.said = append(x.said, "join: lists by label, "+kind)
		several := 0
		for i, part := range parts {
			if part != nil && p.Adjs[i].Only == nil {
				several++
			}
		}
		if several > 0 {
			x.said = append(x.said, fmt.Sprintf("join: %d of the lists are of edges that have no one label in common", several))
		}
		if warning != "" {
			x.notes = append(x.notes, warning)
		}
	}
	x.steps = x.compile(all, allowed, w.counting)
	if w.device && !w.segments {
		x.closing = x.deviceTail()
	}
	return x, nil
}

// cut are the ways to cut a plan into phases.
var cut = map[string]func(p *plan.Plan, levels int) []phases.Phase{
	"single": phases.Single, "multi": phases.Multi, "multi, after": phases.MultiAfter,
	"auto": func(p *plan.Plan, levels int) []phases.Phase {
		return phases.Auto(p, levels, func(int, int) bool { return true })
	},
	"auto on GPUs": func(p *plan.Plan, levels int) []phases.Phase {
		return phases.Auto(p, levels, func(first, end int) bool { return warpsShare(p, first, end) })
	},
}

// Bounds of a phase of several vertices on GPUs. There a warp makes all rows of one before it. So either
// these are many, or each becomes few.
const (
	manyRows = 1 << 14
	fewOfRow = 64
)

// warpsShare reports whether many warps are expected to share the work of a phase with the levels first … end-1.
func warpsShare(p *plan.Plan, first, end int) bool {
	before, after := p.Levels[first-1].Estimate, p.Levels[end-1].Estimate
	return before >= manyRows || after <= fewOfRow*before
}

// extension is the way to cut a plan that options ask for.
func extension(v option.Values) string {
	how := v.Text("join.extend")
	if how == "multi" && v.Text("join.eliminate") == "after" {
		how = "multi, after"
	}
	return how
}

// Traits says the phases of the plan.
func (x *prepared) Traits() engine.Traits {
	var t engine.Traits
	for i := range x.steps {
		t.Phases = append(t.Phases, x.steps[i].String(x.p))
	}
	return t
}

// Compile does nothing: what runs is compiled into this program.
func (*prepared) Compile(context.Context) {}

// Run counts or lists the matches.
func (x *prepared) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	if err := goal.Check(x.p, x.o); err != nil {
		return engine.Result{}, err
	}
	start := time.Now()
	res := engine.Result{Complete: true}
	var err error
	if x.p.Empty == nil {
		res, err = newSearch(x, goal).run(ctx)
	}
	res.Notes, res.Filters = append(res.Notes, x.notes...), x.left
	res.Engine, res.Device, res.Threads = Name, "cpu", x.o.Threads
	res.Search = time.Since(start)
	return res, err
}

// stats says how a run went: its phases, and the rows of its tables. rows are those that each phase handed to the
// next, and most is the most bytes of rows that tables had at a time, or more: the sum of what each worker or device had, of
// which one may have given rows to another.
func (x *prepared) stats(rows []uint64, most uint64) []string {
	var kinds, counts []string
	bytes := uint64(0)
	for i := range x.steps {
		kinds = append(kinds, x.steps[i].Kind())
		if i < len(x.steps)-1 {
			counts = append(counts, fmt.Sprint(rows[i]))
			bytes += 4 * uint64(x.steps[i].after) * rows[i]
		}
	}
	said := []string{"join: " + strings.Join(kinds, ", ")}
	if len(counts) > 0 {
		said = append(said, fmt.Sprintf("join: rows by phase: %s; %d bytes in all", strings.Join(counts, ", "), bytes))
	}
	said = append(said, fmt.Sprintf("join: tables of partial matches had at most %d bytes", min(most, bytes)))
	return append(said, x.said...)
}

var _ engine.Engine = Host{}
