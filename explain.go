package weft

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/explain"
)

// Explanation is how a query would be answered.
type Explanation struct {
	job    *job
	actual []explain.Actual
	Result *Result       // of the run, with analyze
	Took   time.Duration // for planning, estimates included
}

// Explain plans q without running it, for what its RETURN asks: a listing for
// items, a count without RETURN unless WithListing says otherwise. With
// WithLevels q is run as well, rows being thrown away, and the explanation shows
// the actual matches and times of each level. Where the context ends while q is planned
// there is no explanation, and the error is the context's.
func (g *Graph) Explain(ctx context.Context, q *Query, options ...Option) (e *Explanation, err error) {
	defer endedBy(ctx, &err)
	l, err := g.enter(&ctx)
	if err != nil {
		return nil, err
	}
	defer l.leave(&err, &e)
	s, err := g.collect(callExplain, options)
	if err != nil {
		return nil, err
	}
	if err := q.given(); err != nil {
		return nil, err
	}
	kind := q.q.Return.Kind
	lists := q.listed(s) || kind == asksExists
	root := plan.NoRoot
	if kind == asksParticipation {
		root = q.q.Return.Vertex
	}
	j, err := g.prepare(ctx, q, s, func(o *plan.Options) {
		o.Estimates, o.Listing, o.Root = true, lists, root
		o.Embeddings = lists && kind != asksExists && q.lists(s) == Embeddings
	})
	if err != nil {
		return nil, err
	}
	e = &Explanation{job: j, Took: j.took}
	if !s.levels {
		return e, nil
	}
	ctx, stop := watchMemory(ctx, s.memory)
	defer stop()
	switch {
	case kind == asksExists:
		j.goal.Sink, j.goal.Limit = &first{}, 1
	case lists:
		j.goal.Sink = discard{}
		if j.goal.Limit = q.limit(s); j.goal.Limit < 0 {
			return e, nil
		}
	case root != plan.NoRoot:
		j.goal.PerRoot = make([]engine.Uint128, g.NumVertices())
	}
	found, err := j.choice.Run(ctx, j.goal)
	if kind == asksExists && errors.Is(err, engine.ErrStop) {
		err = nil
	}
	r := j.result(found)
	if root != plan.NoRoot {
		p := Participation{Result: r, counts: j.goal.PerRoot}
		p.total(j.plan)
		r = p.Result
	}
	e.Result = &r
	for _, l := range found.Levels {
		e.actual = append(e.actual, explain.Actual{Matches: l.Matches.Big(), Seconds: l.Time.Seconds()})
	}
	if cause := memoryCause(ctx); cause != nil {
		err = cause
	}
	return e, classify(err)
}

// listed reports whether what is planned is a listing: RETURN asks for items, or,
// where it does not ask for anything else, the options do.
func (q *Query) listed(s *settings) bool {
	kind := q.q.Return.Kind
	if s.listing != nil && (kind == asksNothing || kind == asksItems) {
		return *s.listing
	}
	return kind == asksItems
}

// discard is a sink that wants all rows and keeps none.
type discard struct{}

func (discard) Emit(int, *engine.Batch) error { return nil }

// Engine is the engine that would run, and why.
func (e *Explanation) Engine() (name, reason string) {
	if e.job == nil {
		return "", ""
	}
	return e.job.choice.Engine.Name(), e.job.choice.Reason
}

// Write writes the loop nest for people.
func (e *Explanation) Write(w io.Writer) error {
	if e.job == nil {
		return errNoExplanation
	}
	return explain.Text(e.job.plan, w, e.actual...)
}

// MarshalJSON writes the plan, the engine and the reason.
func (e *Explanation) MarshalJSON() ([]byte, error) {
	if e.job == nil {
		return nil, errNoExplanation
	}
	var b bytes.Buffer
	if err := explain.JSON(e.job.plan, &b, e.actual...); err != nil {
		return nil, err
	}
	name, reason := e.Engine()
	return readableJSON(struct {
		Query  string          `json:"query"`
		Engine string          `json:"engine"`
		Reason string          `json:"engine_reason"`
		Plan   json.RawMessage `json:"plan"`
		Result *Result         `json:"result,omitempty"`
	}{e.job.q.Name(), name, reason, bytes.TrimSpace(b.Bytes()), e.Result})
}
