package lower_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir/emit/interp"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestNestAgreesWithOracle interprets random plans in every view, with memory
// for sets from nothing to plenty.
func TestNestAgreesWithOracle(t *testing.T) {
	for _, e := range []interpreted{
		{o: lower.Options{}, room: 0},
		{o: lower.Options{}, room: 1},
		{o: lower.Options{}, room: 2},
		{o: lower.Options{}, room: 100},
		{o: lower.Options{Roomy: true}, room: -1},
		{o: lower.Options{Roomy: true, Lookup: true}, room: -1},
		{o: lower.Options{View: lower.Checks, Choices: true}},
		{o: lower.Options{Off: "fold,hoist,share,dead"}, room: 1},
		{o: lower.Options{Off: "fold,share,dead"}, room: 1},
		{o: lower.Options{Off: "fold,hoist,dead"}, room: 1},
	} {
		t.Run(e.Name(), func(t *testing.T) {
			nodiff.Check(t, nodiff.Config{Engine: engines.Of(e), Whole: true, Compile: nest, MaxPattern: 6})
			nodiff.Check(t, nodiff.Config{Engine: engines.Of(e), Whole: true, Compile: nest, Patterns: nodiff.Conditions})
		})
	}
}

// nest makes plans that have nothing but loops.
func nest(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	o.Method = "nest"
	return planner.Compile(g, p, o)
}

// interpreted is an engine that interprets a plan's loop nest, with memory for
// room elements a set; -1: as many as lower asks for.
type interpreted struct {
	o    lower.Options
	room int
}

func (e interpreted) Name() string { return fmt.Sprintf("%+v room %d", e.o, e.room) }

func (e interpreted) Check(_ *graph.Graph, p *plan.Plan, _ engine.Options) error {
	_, err := lower.Plan(p, e.o)
	return err
}

func (e interpreted) Run(_ context.Context, _ *graph.Graph, p *plan.Plan, _ engine.Options, goal engine.Goal) (r engine.Result, err error) {
	s := goal.Sink
	e.o.Counting = s == nil
	code, err := lower.Nest(p, e.o)
	if err != nil {
		return r, err
	}
	rows := uint64(0)
	out := engine.NewRows(p, s, goal.Limit)
	m, err := interp.New(code.Program, func(row []uint64) bool {
		var vertices []uint32
		for _, v := range row {
			vertices = append(vertices, uint32(v))
		}
		rows++
		err = out.Hand(0, vertices)
		return err == nil && (out.Chooses() || goal.Limit == 0 || rows < uint64(goal.Limit))
	})
	if err != nil {
		return r, err
	}
	room := e.room
	if room < 0 {
		room = lower.Room(p)
	}
	args := []interp.Value{interp.Array(make([]uint32, len(p.Levels))), interp.Array(make([]uint32, code.Checks.Blocks))}
	if e.o.View == lower.Sets {
		args = []interp.Value{interp.NewRecord(code.Program.Records[0]), interp.Array(make([]uint32, room*code.Slots)), interp.U32(uint32(room))}
	}
	r.Complete = true
	for _, v := range roots(code.Code) {
		n, ok := m.Run(code.Nest, append(args, interp.U32(v))...)
		if !ok {
			if out.Chooses() {
				rows = out.Matches()
			}
			if errors.Is(err, engine.ErrStop) {
				err = nil
			}
			return engine.Result{Matches: engine.U64(rows)}, err
		}
		count := engine.Uint128{Hi: n.Hi, Lo: n.N}
		r.Matches = r.Matches.Add(count)
		if goal.PerRoot != nil {
			goal.PerRoot[v] = count
		}
	}
	if out.Chooses() && s != nil {
		r.Matches = engine.U64(out.Matches())
	}
	return r, nil
}

// roots are the vertices of the root ranges.
func roots(code *lower.Code) (out []uint32) {
	for _, r := range code.Roots {
		for v := r.First; v < r.End; v++ {
			out = append(out, v)
		}
	}
	return out
}
