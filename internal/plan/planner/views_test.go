package planner_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/checks"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestViewsAgreeWithOracle runs both views of random plans, literally as plan.go
// describes them, and compares them with the oracle.
func TestViewsAgreeWithOracle(t *testing.T) {
	for _, sets := range []bool{false, true} {
		t.Run(fmt.Sprintf("sets=%v", sets), func(t *testing.T) {
			nodiff.Check(t, nodiff.Config{Engine: engines.Of(view{sets}), Whole: true, Compile: planner.Compile, MaxPattern: 6, Techniques: append([]nodiff.Technique{nodiff.Local}, nodiff.Nests...)})
			nodiff.Check(t, nodiff.Config{Engine: engines.Of(view{sets}), Whole: true, Compile: planner.Compile, Patterns: nodiff.Conditions})
		})
	}
}

// view is an engine that means what a plan says: the checks of each candidate,
// or the set program with the counting tail.
type view struct{ sets bool }

func (v view) Name() string { return "view" }

func (v view) Check(_ *graph.Graph, p *plan.Plan, _ engine.Options) error {
	if v.sets && p.Method == plan.Large {
		return plan.Refusef("a plan of this method has no set program")
	}
	return nil
}

func (v view) Run(_ context.Context, g *graph.Graph, pl *plan.Plan, _ engine.Options, o engine.Goal) (engine.Result, error) {
	r := engine.Result{Engine: "view", Complete: true, Search: time.Nanosecond}
	var err error
	n := uint64(0)
	take := func(m []uint32, e []uint64) bool {
		n++
		if o.Sink != nil {
			row := make([]uint32, len(m))
			for l, u := range m {
				row[pl.Order[l]] = u
			}
			err = o.Sink.Emit(0, &engine.Batch{Rows: 1, Width: len(row), Vertices: row, EdgeWidth: len(e), Edges: e})
		} else if o.PerRoot != nil {
			o.PerRoot[m[0]] = o.PerRoot[m[0]].Add64(1)
		}
		r.Complete = o.Limit == 0 || n < uint64(o.Limit)
		return err == nil && r.Complete
	}
	if !v.sets {
		checks.NewSearch(pl, 0).Each(take)
		r.Matches = engine.U64(n)
		return r, err
	}
	x := &setRunner{
		pl: pl, m: make([]uint32, len(pl.Levels)), e: make([]uint64, len(pl.Edges)), sets: make([][]uint32, len(pl.Sets)),
		root: make([]int64, g.NumVertices()),
	}
	if o.Sink != nil {
		x.yield = take
	}
	x.level(0)
	if o.PerRoot != nil {
		for v, n := range x.root {
			o.PerRoot[v] = engine.U64(uint64(n / pl.Tail.Divisor))
		}
	}
	if x.total < 0 || x.total%pl.Tail.Divisor != 0 {
		return r, fmt.Errorf("the tail's divisor %d does not divide %d", pl.Tail.Divisor, x.total)
	}
	r.Matches = engine.U64(uint64(x.total / pl.Tail.Divisor))
	return r, err
}

// setRunner is the plain meaning of a set program.
type setRunner struct {
	yield func(m []uint32, e []uint64) bool // for listing plans
	root  []int64                           // totals by vertex at level 0
	stop  bool

	pl    *plan.Plan
	m     []uint32
	e     []uint64
	sets  [][]uint32
	total int64
}

func (r *setRunner) eval(at int) {
	for i := range r.pl.Sets {
		s := &r.pl.Sets[i]
		if s.At != at {
			continue
		}
		csr := r.pl.Adjs[s.Adj].Lists.Flat()
		var from []uint32
		if s.Op == plan.SetList {
			from = csr.List(r.m[s.Of])
		} else {
			from = r.sets[s.Base]
		}
		var out []uint32
		for _, c := range from {
			ok := s.Op == plan.SetList || csr.Has(r.m[s.Of], c) == (s.Op == plan.SetAnd)
			ok = ok && (s.Range.End == 0 || s.Range.First <= c && c < s.Range.End)
			for _, j := range s.Below {
				ok = ok && c < r.m[j]
			}
			for _, j := range s.Above {
				ok = ok && c > r.m[j]
			}
			if ok {
				out = append(out, c)
			}
		}
		r.sets[i] = out
	}
}

// candidates of level l given the levels before end.
func (r *setRunner) candidates(l, end int) []uint32 {
	lv := &r.pl.Levels[l]
	from := []uint32{}
	if lv.Set >= 0 {
		from = r.sets[lv.Set]
	} else {
		for v := range uint32(r.pl.Graph.NumVertices()) {
			from = append(from, v)
		}
	}
	var out []uint32
next:
	for _, c := range from {
		if !checks.Alone(r.pl, &r.pl.Levels[l], c) {
			continue
		}
		for _, j := range lv.Below {
			if j < end && c >= r.m[j] {
				continue next
			}
		}
		for _, j := range lv.Above {
			if j < end && c <= r.m[j] {
				continue next
			}
		}
		for _, j := range lv.Distinct {
			if j < end && c == r.m[j] {
				continue next
			}
		}
		if lv.Set < 0 {
			for _, b := range lv.Back {
				if r.pl.Adjs[b.Adj].Lists.Has(r.m[b.Level], c) == b.Neg {
					continue next
				}
			}
		}
		out = append(out, c)
	}
	return out
}

func (r *setRunner) level(l int) {
	n := len(r.pl.Levels)
	if tail := n - r.pl.Tail.K; l == tail && r.pl.Tail.K > 0 {
		for _, t := range r.pl.Tail.Terms {
			product := t.Coef
			for _, block := range t.Blocks {
				common := r.candidates(block[0], tail)
				for _, j := range block[1:] {
					common = intersect(common, r.candidates(j, tail))
				}
				product *= int64(len(common))
			}
			r.total += product
			r.root[r.m[0]] += product
		}
		return
	}
	if l == n {
		r.total++
		r.root[r.m[0]]++
		r.stop = r.yield != nil && !r.yield(r.m, r.e)
		return
	}
next:
	for _, c := range r.candidates(l, l) {
		if r.stop {
			return
		}
		r.m[l] = c
		for i := range r.pl.Levels[l].Checks {
			if !r.pl.Levels[l].Checks[i].Eval(r.m, r.e) {
				continue next
			}
		}
		r.edges(l, 0)
	}
}

func (r *setRunner) edges(l, i int) {
	for i < len(r.pl.Edges) && r.pl.Edges[i].At < l {
		i++
	}
	if i == len(r.pl.Edges) || r.pl.Edges[i].At > l {
		r.eval(l)
		r.level(l + 1)
		return
	}
	c := &r.pl.Edges[i]
	c.Rows(r.m[c.From], r.m[c.To], func(id uint64) bool {
		for j := range i {
			if r.pl.Mode == pattern.Trail && r.e[j] == id {
				return true
			}
		}
		r.e[i] = id
		for _, check := range c.Checks {
			if !check.Eval(r.m, r.e) {
				return true
			}
		}
		r.edges(l, i+1)
		return !r.stop
	})
}

func intersect(x, y []uint32) (out []uint32) {
	for _, a := range x {
		for _, b := range y {
			if a == b {
				out = append(out, a)
			}
		}
	}
	return out
}

func compile(t testing.TB, g *graph.Graph, p *pattern.Pattern, o plan.Options) *plan.Plan {
	t.Helper()
	pl, err := planner.Compile(g, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

func named(t testing.TB, name string) *pattern.Pattern {
	t.Helper()
	ps, err := pattern.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return ps[0]
}
