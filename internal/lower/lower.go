// Package lower turns a plan into kernel IR. For each level of the plan it makes functions, in
// one of several views of the same constraints. A schedule calls these functions, such as an
// engine's loop nest on a device. Their meaning is the one that package plan gives; nothing is
// derived from the pattern again.
//
// It must not know engines or devices.
package lower

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// View is a way to find the candidates of a level.
type View uint8

// Views.
const (
	// Sets makes the set program: a candidate set is an expression over lists
	// and sets made before (STMatch).
	Sets View = iota
	// Checks takes the shortest list of a backward neighbour and tests each of
	// its vertices (gMatch).
	Checks
	// Rows runs the set program over rows of bits, for the local method in the neighbourhood of
	// level 0's vertex.
	Rows
)

// Options say which program to make of a plan.
type Options struct {
	View View
	// Counting closes the plan's last levels by arithmetic, where it can.
	Counting bool
	// Roomy promises that the memory of each set node holds Room(plan) elements,
	// so that no node is ever left unfiltered. Plans InParts need it in the Sets view.
	Roomy bool
	// Lookup makes sets in the Sets view by look-ups: it tests by Adjacent, for each element of
	// one operand, whether it is in the neighbour list of the other. It is for a schedule in
	// which Adjacent is one load. It needs Roomy.
	Lookup bool
	// Choices says that the caller in the Checks view handles edge choices, if the plan has
	// them: it multiplies its counts by the function choices, and lists that number of matches.
	Choices bool
	// Siblings asks in the Checks view for Siblings<l> of the last level l, if the plan has it.
	// Its first part has the candidates and tests that do not depend on the vertex of the level
	// before. Its second part has the tests that do.
	Siblings bool
	// Sparse says what the program reads where few vertices have lists.
	Sparse SparseLists
	// Off names passes of kir to leave out, separated by commas.
	Off string
	// Made, if not nil, counts the programs that are made.
	Made *atomic.Int64
}

// SparseLists says how a program reads lists that are stored without an offset for each vertex.
type SparseLists uint8

const (
	// KeptOffsets gives them offsets, which the relation keeps (Handle.Flat).
	KeptOffsets SparseLists = iota
	// OwnOffsets gives them offsets, which go with the program.
	OwnOffsets
	// AsStored leaves them as they are.
	AsStored
)

// count counts a program.
func (o *Options) count() {
	if o.Made != nil {
		o.Made.Add(1)
	}
}

// Plan lowers p. The error names the part of the plan that cannot be lowered.
func Plan(p *plan.Plan, o Options) (*Code, error) {
	if o.View == Rows {
		if err := plain(p, "rows of bits"); err != nil {
			return nil, err
		}
		if err := OneRun(p, "a bit matrix"); err != nil {
			return nil, err
		}
		if err := plan.LocalOK(p); err != nil {
			return nil, err
		}
		p = facing(p)
	}
	if o.View == Sets && !o.Roomy {
		if err := OneRun(p, "a search that may leave sets unfiltered"); err != nil {
			return nil, err
		}
	}
	x := newLowering(p, o)
	x.root()
	if err := x.conditions(); err != nil {
		return nil, err
	}
	if o.View == Checks && len(p.Edges) > 0 && !o.Choices {
		return nil, plan.Refusef("named edges and trails are matches beyond vertices")
	}
	switch o.View {
	case Rows:
		if err := x.rowsView(); err != nil {
			return nil, err
		}
	case Sets:
		if err := x.setsView(); err != nil {
			return nil, err
		}
	case Checks:
		if err := x.checksView(); err != nil {
			return nil, err
		}
	}
	if o.View == Sets || o.View == Checks {
		kir.Optimize(x.prog, strings.Split(o.Off, ",")...)
	}
	return x.code(), nil
}

// plain returns an error for a plan that only code can express, and neither rows of bits nor a
// table.
func plain(p *plan.Plan, by string) error {
	if len(p.Edges) > 0 {
		return plan.Refusef("named edges and trails are not searched by %s", by)
	}
	for l := range p.Levels {
		if len(p.Levels[l].Checks) > 0 {
			return plan.Refusef("%s is not tested by %s", p.Levels[l].Checks[0].Text, by)
		}
	}
	return nil
}

// lowering is the making of one program.
type lowering struct {
	*shared
	p     *plan.Plan
	o     Options
	nodes []node // the set program
	// tail is the first level that is not walked; the number of levels if none.
	tail  int
	close tailPlan
	// summed: the tail is the last level, each vertex as often as its edges can be
	// chosen.
	summed bool
	repOf  []int // of the tail's levels: the group
	slot   int   // memories of nodes given out

	state *kir.Record
	names []string // of the vertices by level
	// Of each adjacency: its lists where these are one sorted run, else the relation.
	adjs []*kir.GlobalDef
	rels []*relation
	// longest is the largest degree of an adjacency, once asked for.
	longest map[int]int
	roots   [][2]*kir.GlobalDef
	out     Code // the result; each view notes what it alone knows
}

// shared is the data that the plan shares with its sub-patterns.
type shared struct {
	prog  *kir.Program
	top   *plan.Plan
	bits  map[*uint64]*kir.GlobalDef
	limit map[string]*kir.GlobalDef
	// ranges numbers label ranges in the order in which they are met.
	ranges  map[plan.Range]int
	ids     *kir.GlobalDef
	columns map[*expr.Words]*kir.GlobalDef
	codes   map[*plan.Check]*conditionCode
	exists  map[*pattern.Pattern]*kir.Func
	stored  map[*graph.Handle]*relation // those in parts
	texts   func(text string) uint64
	prefix  string // of the names of functions
}

func newShared(prog *kir.Program, top *plan.Plan) *shared {
	return &shared{
		prog: prog, top: top,
		bits: map[*uint64]*kir.GlobalDef{}, limit: map[string]*kir.GlobalDef{}, ranges: map[plan.Range]int{},
		columns: map[*expr.Words]*kir.GlobalDef{}, codes: map[*plan.Check]*conditionCode{}, exists: map[*pattern.Pattern]*kir.Func{},
		stored: map[*graph.Handle]*relation{},
	}
}

func newLowering(p *plan.Plan, o Options) *lowering {
	x := &lowering{
		shared: newShared(&kir.Program{}, p), p: p, o: o, names: plan.LevelNames(p), longest: map[int]int{},
	}
	x.planTail()
	x.addRelations()
	x.setProgram()
	x.prog.Name = p.Pattern.Name
	x.prog.Doc = x.head()
	return x
}

// head says in the text which plan it is.
func (x *lowering) head() string {
	title := x.p.Pattern.Name
	if title == "" {
		title = "pattern"
	}
	mode := x.p.Mode.String()
	if x.p.Induced {
		mode += ", induced"
	}
	return fmt.Sprintf("%s: %s, levels %s", title, mode, strings.Join(x.names, ", "))
}

// limitOf is the global that holds an id; equal ids of the same meaning share
// one. The text names limits and not their values, so that a kernel serves all
// graphs.
func (x *lowering) limitOf(name string, value uint32) *kir.GlobalDef {
	g := x.limit[name]
	if g == nil {
		g = x.prog.AddGlobal(&kir.GlobalDef{Name: name, Kind: kir.U32, Value: value})
		x.limit[name] = g
	}
	return g
}

// bitsOf is the global of a bitmap.
func (x *lowering) bitsOf(words []uint64, name string) *kir.GlobalDef {
	if len(words) == 0 {
		words = []uint64{0}
	}
	g := x.bits[&words[0]]
	if g == nil {
		g = x.prog.AddGlobal(&kir.GlobalDef{Name: name, Kind: kir.Bits, Words: words})
		x.bits[&words[0]] = g
	}
	return g
}

// every is the global of all ids in order.
func (x *lowering) every() *kir.GlobalDef {
	if x.ids == nil {
		ids := make([]uint32, x.p.Graph.NumVertices())
		for i := range ids {
			ids[i] = uint32(i)
		}
		x.ids = x.prog.AddGlobal(&kir.GlobalDef{Name: "all vertices", Kind: kir.Array, Adj: ids})
	}
	return x.ids
}

// member adds a function of level l or node l.
func (x *lowering) member(family string, l int, f *kir.Func) *kir.Func {
	f.Family, f.Index = family, l
	x.prog.Funcs = append(x.prog.Funcs, f)
	return f
}

// free adds a function of no type; those of a higher group come later in the
// text.
func (x *lowering) free(group int, f *kir.Func) {
	f.Index = group
	x.prog.Funcs = append(x.prog.Funcs, f)
}

func (x *lowering) owner(family string, i int, doc string, consts ...kir.Define) {
	x.prog.Owners = append(x.prog.Owners, kir.Owner{Family: family, Index: i, Doc: doc, Consts: consts})
}
