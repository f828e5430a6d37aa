package lower

import (
	"fmt"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// Code is a lowered plan: a program, and the numbers of it that a schedule must know. The
// program's text has the same numbers under the names in brackets; defines alone writes
// them there.
type Code struct {
	Program *kir.Program
	View    View

	Levels int // of the plan [W_LEVELS]
	// Walked is the number of levels that are walked, which are the first ones. The
	// tail counts the others by arithmetic. [W_ENUM]
	Walked int
	// Nodes has for each set node the number of its memory, or -1 where it has none.
	// It is empty in the Checks view. [its length W_SETS, node i W_SLOT_i]
	Nodes      []int
	Slots      int          // memories of set nodes [W_SLOTS]
	Adjs, Bits int          // adjacencies and bitmaps among the globals [W_ADJS, W_BITS]
	Restricted bool         // the plan breaks symmetries [W_RESTRICTED]
	Roots      []plan.Range // the ids from root_first to root_end [their number W_ROOT_RANGES]

	// Each view has more; the others' are zero.
	Sets   SetsCode
	Checks ChecksCode
	Rows   RowsCode
}

// SetsCode has the properties of programs in the Sets view, and of tables.
type SetsCode struct {
	Lazy bool // a set may be left unfiltered [W_LAZY]
	// First is the adjacency whose lists Level<1>::first cuts; 0 where there is no such
	// function. [W_FIRST_ADJ]
	First int
	Flat  bool // there is Flat<0> [W_FLAT]
	// Table is the number of the limit where a table begins; 0: the code has functions.
	// [W_TABLE]
	Table int
}

// ChecksCode has the properties of programs in the Checks view.
type ChecksCode struct {
	Parts    bool // lists are stored in parts: there is places instead of pivot [W_PARTS]
	Siblings bool // there is Siblings<l> of the last level l [W_SIBLINGS]
	Choices  bool // there is choices [W_CHOICES]
	Blocks   int  // of the tail [W_BLOCKS]
	Groups   int  // of the tail; these are its first blocks [W_TAIL_GROUPS]
}

// RowsCode has the properties of programs in the Rows view.
type RowsCode struct {
	// Hood is the plan's description of neighbourhoods. [W_OUTSIDE: level 1 is the outside
	// vertex; W_UNIVERSE; W_SHARE; W_SIZES: ways is the only function]
	plan.Hood
	Inside int       // inside levels: the least universe [W_INSIDE]
	Rows   plan.Side // the side of a position's neighbours that its row has, or NoRows [W_ROWS]
	Inner  plan.Side // with NoRows, the side of a position's neighbours that are counted [W_INNER]
	Level1 plan.Side // the side of the root that an inside vertex of level 1 is on
	Parts  bool      // a task is a part of level 2's candidates [W_PARTS]
	Masks  int       // masks, which mask_ok makes [W_MASKS]
	Mask1  int       // the mask of level 1, -1: none [W_MASK1, from 1 on]
	Terms  int       // parameters of ways: sizes of tail sets and of intersections [W_TERMS]
}

// NoRows says that only the number of neighbours of each position is read, and no row.
const NoRows plan.Side = plan.UpperSide + 1

// code is the result of the lowering.
func (x *lowering) code() *Code {
	c := &x.out
	c.Program, c.View, c.Levels, c.Walked = x.prog, x.o.View, len(x.p.Levels), x.tail
	c.Adjs, c.Bits, c.Restricted, c.Roots = len(x.adjs), len(x.bits), x.p.Restricted, x.rootRanges()
	if x.o.View != Checks {
		c.Slots = x.slot
		for i := range x.nodes {
			c.Nodes = append(c.Nodes, x.nodes[i].slot)
		}
	}
	c.Program.Defines = c.defines()
	x.o.count()
	return c
}

// defines are the numbers for the program's text.
func (c *Code) defines() (out []kir.Define) {
	number := func(name string, value int) { out = append(out, kir.Define{Name: name, Value: uint64(value)}) }
	flag := func(name string, value bool) { number(name, b2i(value)) }
	only := func(name string, value bool) { // tested by #ifdef
		if value {
			number(name, 1)
		}
	}
	switch c.View {
	case Sets:
		if c.Sets.Table > 0 {
			number("W_TABLE", c.Sets.Table)
		}
		flag("W_LAZY", c.Sets.Lazy)
		number("W_FIRST_ADJ", c.Sets.First)
		flag("W_FLAT", c.Sets.Flat)
	case Checks:
		only("W_PARTS", c.Checks.Parts)
		only("W_SIBLINGS", c.Checks.Siblings)
		only("W_CHOICES", c.Checks.Choices)
		number("W_BLOCKS", c.Checks.Blocks)
		number("W_TAIL_GROUPS", c.Checks.Groups)
	case Rows:
		flag("W_OUTSIDE", c.Rows.Outside)
		number("W_INSIDE", c.Rows.Inside)
		number("W_UNIVERSE", int(c.Rows.Universe))
		number("W_ROWS", int(c.Rows.Rows))
		number("W_INNER", int(c.Rows.Inner))
		number("W_SHARE", c.Rows.Share)
		flag("W_SIZES", c.Rows.SizesOnly)
		flag("W_PARTS", c.Rows.Parts)
		number("W_MASKS", c.Rows.Masks)
		number("W_MASK1", 1+c.Rows.Mask1)
		number("W_TERMS", c.Rows.Terms)
	}
	number("W_LEVELS", c.Levels)
	number("W_ENUM", c.Walked)
	number("W_SETS", len(c.Nodes))
	number("W_SLOTS", c.Slots)
	for i, slot := range c.Nodes {
		if slot >= 0 {
			number(fmt.Sprintf("W_SLOT_%d", i), slot)
		}
	}
	out = append(out, c.globals()...)
	flag("W_RESTRICTED", c.Restricted)
	number("W_ROOT_RANGES", len(c.Roots))
	return out
}

// globals are the defines that count globals.
func (c *Code) globals() []kir.Define {
	return []kir.Define{{Name: "W_ADJS", Value: uint64(c.Adjs)}, {Name: "W_BITS", Value: uint64(c.Bits)}}
}

// rootRanges are the ids that level 0's vertex may have.
func (x *lowering) rootRanges() (out []plan.Range) {
	for _, r := range x.roots {
		out = append(out, plan.Range{First: r[0].Value, End: max(r[0].Value, r[1].Value)})
	}
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
