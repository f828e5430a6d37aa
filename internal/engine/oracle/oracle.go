// Package oracle is the slow, obvious and right engine: recursive backtracking straight from
// the pattern and the graph. The answers of all other engines are compared with its answers.
//
// It knows patterns and graphs. Of a plan it reads only the pattern, whether the plan is
// restricted or rooted, and the order of its edge choices. It must share no code with plan or
// with any engine: it decides labels, directions, predicates and every semantics a second time.
package oracle

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Oracle implements engine.Engine.
type Oracle struct{}

// New returns the oracle.
func New() *Oracle { return &Oracle{} }

// Name is "oracle".
func (*Oracle) Name() string { return "oracle" }

// prepared is a plan for the oracle, which does nothing before it runs.
type prepared struct {
	g *graph.Graph
	p *plan.Plan
	o engine.Options
}

// Prepare returns an error for plans that the oracle does not support yet.
func (*Oracle) Prepare(_ context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	for i := range p.Pattern.Edges {
		if e := &p.Pattern.Edges[i]; e.Min > 1 || e.Max > 1 {
			return nil, plan.Refusef("the oracle does not know variable-length edges yet")
		}
	}
	if p.Restricted {
		if _, ok := symmetries(p).Elements(maxElements); !ok {
			return nil, plan.Refusef("the oracle does not break the symmetries of a pattern with %s automorphisms", p.Aut)
		}
	}
	return &prepared{g, p, o}, nil
}

// Traits has nothing to say: the oracle is never chosen.
func (*prepared) Traits() engine.Traits { return engine.Traits{} }

// Compile does nothing: there is nothing to compile.
func (*prepared) Compile(context.Context) {}

// maxElements bounds the automorphisms that a listing compares with.
const maxElements = 1 << 16

// symmetries is the group that p's restrictions break.
func symmetries(p *plan.Plan) *pattern.Group {
	group := p.Pattern.Automorphisms()
	if p.Rooted {
		group = group.Stabilizer([]int{p.Order[0]})
	}
	return group
}

// Run finds the matches that p promises. These are the embeddings or, if p is restricted, one
// of each class of embeddings that the pattern's symmetries map to each other: the one with the
// least vertices in the order of the pattern.
func (x *prepared) Run(ctx context.Context, goal engine.Goal) (r engine.Result, err error) {
	g, p, s := x.g, x.p, goal.Sink
	r = engine.Result{Engine: New().Name(), Device: "cpu", Threads: 1}
	if err := goal.Check(p, x.o); err != nil {
		return r, err
	}
	start := time.Now()
	defer func() { r.Search = time.Since(start) }()

	var elements [][]int
	if p.Restricted {
		elements, _ = symmetries(p).Elements(maxElements)
	}
	limited := s != nil || goal.Limit > 0
	out := newEmitter(p, s)
	found, root := uint64(0), -1
	if p.Rooted {
		root = p.Order[0]
	}
	perRoot := map[uint32]uint64{}
	complete := true
	walkErr := Embeddings(ctx, g, p.Pattern, func(m Match) bool {
		if limited && !least(m.Vertices, elements) {
			return true
		}
		found++
		if root >= 0 {
			perRoot[m.Vertices[root]]++
		}
		if s != nil {
			if err = out.add(m); err != nil {
				return false
			}
		}
		if goal.Limit > 0 && found == uint64(goal.Limit) {
			complete = false
			return false
		}
		return true
	})
	if err == nil && s != nil {
		err = out.flush()
	}
	r.Complete = complete && err == nil && walkErr == nil
	if errors.Is(err, engine.ErrStop) {
		err = nil
	}
	if err == nil {
		err = walkErr
	}
	r.Matches = engine.U64(found)
	if p.Restricted && !limited {
		var derr error
		if r.Matches, derr = share(found, len(elements), r.Complete); derr != nil {
			return r, derr
		}
	}
	if goal.PerRoot != nil {
		each := 1
		if p.Restricted && !limited {
			each = len(elements)
		}
		for v, n := range perRoot {
			share, derr := share(n, each, r.Complete)
			if derr != nil {
				return r, derr
			}
			goal.PerRoot[v] = share
		}
	}
	return r, err
}

// share divides embeddings by the symmetries that make them of each other. A
// whole count that does not divide means that the group is wrong.
func share(n uint64, group int, complete bool) (engine.Uint128, error) {
	q, rest := engine.U64(n).Div64(uint64(group))
	if rest != 0 && complete {
		return q, fmt.Errorf("oracle: %d embeddings are not divisible by %d automorphisms", n, group)
	}
	return q, nil
}

// least reports whether m comes first among its images under elements.
func least(m []uint32, elements [][]int) bool {
	for _, perm := range elements {
	compare:
		for v := range m {
			switch w := m[perm[v]]; {
			case w < m[v]:
				return false
			case w > m[v]:
				break compare
			}
		}
	}
	return true
}

// emitter hands matches to a sink in batches.
type emitter struct {
	sink  engine.Sink
	batch engine.Batch
	place []int // place[i] is where choice i of a Match goes in a row
}

const batchRows = 256

func newEmitter(p *plan.Plan, s engine.Sink) *emitter {
	e := &emitter{sink: s}
	e.batch.Width = len(p.Pattern.Vertices)
	choices := Choices(p.Pattern)
	e.batch.EdgeWidth = len(choices)
	for _, c := range choices {
		for i := range p.Edges {
			if p.Edges[i].Edge == c {
				e.place = append(e.place, i)
			}
		}
	}
	return e
}

func (e *emitter) add(m Match) error {
	if len(e.place) != len(m.Edges) {
		return fmt.Errorf("oracle: the plan chooses %d edges and the pattern %d", len(e.place), len(m.Edges))
	}
	b := &e.batch
	b.Vertices = append(b.Vertices, m.Vertices...)
	at := len(b.Edges)
	b.Edges = append(b.Edges, m.Edges...)
	for i, id := range m.Edges {
		b.Edges[at+e.place[i]] = id
	}
	if b.Rows++; b.Rows < batchRows {
		return nil
	}
	return e.flush()
}

func (e *emitter) flush() error {
	if e.batch.Rows == 0 {
		return nil
	}
	err := e.sink.Emit(0, &e.batch)
	e.batch.Rows, e.batch.Vertices, e.batch.Edges = 0, e.batch.Vertices[:0], e.batch.Edges[:0]
	return err
}

// Automorphisms is |Aut| of p, as the oracle sees it.
func Automorphisms(p *pattern.Pattern) *big.Int { return p.Automorphisms().Order() }
