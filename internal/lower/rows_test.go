package lower_test

import (
	"context"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/interp"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestRowsAgreeWithOracle interprets the rows view of random plans for the local
// method.
func TestRowsAgreeWithOracle(t *testing.T) {
	nodiff.Check(t, nodiff.Config{Engine: engines.Of(rows{}), Whole: true, Compile: planner.Compile, Method: "local", Columns: nodiff.Simple, Patterns: nodiff.Hubs, MaxVertices: 9, MaxPattern: 6})
}

// TestRowsBitmaps: bitmaps are named after the vertex whose candidates they are, also that of the outside vertex.
func TestRowsBitmaps(t *testing.T) {
	s := &nodiff.Spec{N: 6, Edges: []nodiff.SpecEdge{{U: 0, V: 1}, {U: 1, V: 2}, {U: 2, V: 3}, {U: 3, V: 0}, {U: 0, V: 2}, {U: 3, V: 4}}}
	for v := range s.N {
		x := int64(v)
		s.X = append(s.X, &x)
	}
	q, err := gql.Parse("MATCH (a)--(b)--(c)--(d)--(a) WHERE a.x <> 1 AND b.x <> 2 AND c.x <> 3 AND d.x <> 4")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(s.Build(), q.Pattern, plan.Options{Root: plan.NoRoot, Method: "local"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := lower.Plan(p, overRows)
	if err != nil {
		t.Fatal(err)
	}
	if !code.Rows.Outside {
		t.Fatal("no vertex is outside")
	}
	var got, want []string
	for _, g := range code.Program.Globals {
		if g.Kind != kir.Bits {
			continue
		}
		got = append(got, g.Name)
		for l, name := range plan.LevelNames(p) {
			if &p.Levels[l].Bits[0] == &g.Words[0] {
				want = append(want, "bits of "+name)
			}
		}
	}
	if len(got) != 4 || !slices.Equal(got, want) {
		t.Errorf("the bitmaps are %q, want %q", got, want)
	}
}

// rows is an engine that makes the neighbourhood of each root by definition and
// interprets what the rows view has for it.
type rows struct{}

func (rows) Name() string { return "rows" }

func (rows) Check(_ *graph.Graph, p *plan.Plan, _ engine.Options) error {
	if p.Method != plan.Local {
		return plan.Refusef("method %s", p.Method)
	}
	_, err := lower.Plan(p, overRows)
	return err
}

// overRows are the options of the view.
var overRows = lower.Options{View: lower.Rows, Counting: true}

func (rows) Run(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, goal engine.Goal) (r engine.Result, err error) {
	if goal.Sink != nil {
		return engine.Once(ctx, host.New(), g, p, o, goal) // the view counts
	}
	code, err := lower.Plan(p, overRows)
	if err != nil {
		return r, err
	}
	m, err := interp.New(code.Program, nil)
	if err != nil {
		return r, err
	}
	h := hoods{g: g, code: code, m: m, csr: p.Adjs[0].Lists.Flat()}
	r.Complete = true
	for _, v := range roots(code) {
		if m.Call(code.Program.Func("", 0, "root_ok"), interp.U32(v)).N == 0 {
			continue
		}
		n := h.root(v)
		r.Matches = r.Matches.Add(n)
		if goal.PerRoot != nil {
			goal.PerRoot[v] = n
		}
	}
	return r, nil
}

// hoods searches roots one after the other.
type hoods struct {
	g    *graph.Graph
	code *lower.Code
	m    *interp.Machine
	csr  *graph.CSR

	v    uint32
	list []uint32
	hood *interp.Hood
	sum  engine.Uint128
}

func (h *hoods) call(group int, name string, args ...interp.Value) interp.Value {
	return h.m.Call(h.code.Program.Func("", group, name), args...)
}

// onSide keeps those of list on a side of v.
func onSide(list []uint32, v uint32, side plan.Side) []uint32 {
	return slices.DeleteFunc(slices.Clone(list), func(u uint32) bool { return side == plan.LowerSide && u > v || side == plan.UpperSide && u < v })
}

func (h *hoods) root(v uint32) engine.Uint128 {
	h.v, h.sum = v, engine.Uint128{}
	h.list = onSide(h.csr.List(v), v, h.code.Rows.Universe)
	if len(h.list) < h.code.Rows.Inside {
		return h.sum
	}
	h.hood = &interp.Hood{Cut: uint32(len(onSide(h.list, v, plan.LowerSide))), Masks: make([][]uint32, h.code.Rows.Masks)}
	for _, u := range h.list {
		near := h.positions(h.csr.List(u))
		h.hood.Rows = append(h.hood.Rows, onSide(near, uint32(len(h.hood.Rows)), h.code.Rows.Rows))
	}
	for p, row := range h.hood.Rows {
		if h.code.Rows.Rows == lower.NoRows {
			row = onSide(row, uint32(p), h.code.Rows.Inner)
		}
		h.hood.Inner = append(h.hood.Inner, uint32(len(row)))
	}
	for i := range h.hood.Masks {
		for p, u := range h.list {
			if h.call(0, "mask_ok", interp.U32(uint32(i)), interp.U32(u)).N != 0 {
				h.hood.Masks[i] = append(h.hood.Masks[i], uint32(p))
			}
		}
	}
	if h.code.Rows.Outside {
		h.outside()
		return h.sum
	}
	hood := interp.HoodValue(h.hood)
	end := min(h.call(2, "level1_end", hood).N, uint64(len(h.list)))
	for p := h.call(2, "level1_from", hood).N; p < end; p++ {
		if mask := h.code.Rows.Mask1; mask < 0 || slices.Contains(h.hood.Masks[mask], uint32(p)) {
			h.parts(hood, interp.U32(uint32(p)))
		}
	}
	return h.sum
}

// positions are where ids are in the universe.
func (h *hoods) positions(ids []uint32) []uint32 {
	out := []uint32{}
	for p, u := range h.list {
		if slices.Contains(ids, u) {
			out = append(out, uint32(p))
		}
	}
	return out
}

// parts runs all tasks of one vertex of level 1.
func (h *hoods) parts(args ...interp.Value) {
	parts := 1
	if h.code.Rows.Parts {
		parts = (len(h.list) + kir.RowPartBits - 1) / kir.RowPartBits
	}
	for i := range parts {
		n := h.call(2, "nest", append(slices.Clone(args), interp.U32(uint32(i)))...)
		h.sum = h.sum.Add(engine.Uint128{Hi: n.Hi, Lo: n.N})
	}
}

func (h *hoods) outside() {
	root := interp.U32(h.v)
	end := h.call(0, "outside_end", root).N
	for y := h.call(0, "outside_from", root).N; y < end; y++ {
		row := h.positions(h.csr.List(uint32(y)))
		if len(row) < h.code.Rows.Share || h.call(0, "outside_ok", root, interp.U32(uint32(y))).N == 0 {
			continue
		}
		if h.code.Rows.SizesOnly {
			args := slices.Repeat([]interp.Value{interp.U32(uint32(len(row)))}, h.code.Rows.Terms)
			n := h.call(1, "ways", args...)
			h.sum = h.sum.Add(engine.Uint128{Hi: n.Hi, Lo: n.N})
			continue
		}
		at := uint32(len(onSide(h.list, uint32(y), plan.LowerSide)))
		end, pos := at, ^uint32(0)
		if i := slices.Index(h.list, uint32(y)); i >= 0 {
			at, end, pos = uint32(i), uint32(i)+1, uint32(i)
		}
		h.parts(interp.HoodValue(h.hood), interp.Row(row), interp.U32(at), interp.U32(end), interp.U32(pos))
	}
}
