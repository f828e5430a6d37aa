package weft

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan/delta"
	"github.com/weftgraph/weft/internal/plan/explain"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
)

// Explanation describes how a query would be answered.
type Explanation struct {
	e      *search.Explanation
	watch  *standing     // of a CREATE WATCH, instead of e
	Result *Result       // of the run, with analyze
	Took   time.Duration // time of planning, estimates included
}

// Explain plans q without running it. It plans a listing if q's RETURN has items, and a count
// if q has no RETURN; WithListing chooses otherwise. With WithLevels it also runs q, without
// keeping rows, and the explanation shows the actual matches and times of each level. If ctx
// ends while q is planned, there is no explanation, and the error is the context's.
//
// The explanation of a CREATE WATCH says how the matches are found that an update changes. It has no levels.
func (g *Graph) Explain(ctx context.Context, q *Query, options ...Option) (e *Explanation, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Explain, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &e)
	if q.parsed().Watch != nil {
		return explainWatch(g.Directed(), q.question(s))
	}
	found, err := g.s.Explain(ctx, q.question(s))
	if found == nil {
		return nil, err
	}
	e = &Explanation{e: found, Took: found.Job.Took}
	if found.Result != nil {
		r := g.result(*found.Result)
		e.Result = &r
	}
	return e, err
}

// standing is the explanation of a watch.
type standing struct {
	name string
	plan *delta.Plan
}

func explainWatch(directed bool, a search.Question) (*Explanation, error) {
	start := time.Now()
	if a.Settings.Levels {
		return nil, kind.With(kind.Usage, errors.New("a CREATE WATCH is not run when it is explained: it has no actual matches"))
	}
	a.Standing = true
	p, err := a.Pattern()
	if err == nil {
		p, err = pattern.SubstituteParams(p, a.Settings.Params)
	}
	if err != nil {
		return nil, search.Classify(a.Placed(err))
	}
	x, err := delta.Compile(p, directed)
	if err != nil {
		return nil, search.Classify(a.Placed(err))
	}
	return &Explanation{watch: &standing{a.Query.Watch.Name, x}, Took: time.Since(start)}, nil
}

// Engine returns the name of the engine that would run, and the reason.
func (e *Explanation) Engine() (name, reason string) {
	if e.watch != nil {
		return "watch", "weft watch matches each update on all cores"
	}
	if e.e == nil {
		return "", ""
	}
	return e.e.Job.Engine()
}

// Phases says in words what the engine would do one after the other, where that is not the
// nest that Write writes: the extensions and eliminations of engine join. It returns nil for other
// engines.
func (e *Explanation) Phases() []string {
	if e.e == nil {
		return nil
	}
	return e.e.Job.Phases()
}

// Memory says in words where the graph's arrays would lie, on a GPU and in host memory, which lists a cache on the GPU
// would have, and the smallest memory with which the query works. It returns nil for engines on the processor, and for
// those that do not say.
func (e *Explanation) Memory() []string {
	if e.e == nil || e.e.Memory == nil {
		return nil
	}
	return e.e.Memory.Lines()
}

// Write writes the plan as a loop nest, for people.
func (e *Explanation) Write(w io.Writer) error {
	if e.watch != nil {
		_, err := fmt.Fprintf(w, "watch %s: %s\n%s", e.watch.name, e.watch.plan.Pattern.Mode, e.watch.plan.Explain())
		return err
	}
	if e.e == nil {
		return public(errNoExplanation)
	}
	return explain.Text(e.e.Job.Plan, w, e.e.Actual...)
}

// MarshalJSON writes the plan, the engine and the reason.
func (e *Explanation) MarshalJSON() ([]byte, error) {
	if e.watch != nil {
		name, reason := e.Engine()
		return readableJSON(struct {
			Query  string   `json:"query"`
			Engine string   `json:"engine"`
			Reason string   `json:"engine_reason"`
			Plan   []string `json:"plan"`
		}{e.watch.name, name, reason, strings.Split(strings.TrimSpace(e.watch.plan.Explain()), "\n")})
	}
	if e.e == nil {
		return nil, public(errNoExplanation)
	}
	var b bytes.Buffer
	if err := explain.JSON(e.e.Job.Plan, &b, e.e.Actual...); err != nil {
		return nil, err
	}
	name, reason := e.Engine()
	return readableJSON(struct {
		Query  string          `json:"query"`
		Engine string          `json:"engine"`
		Reason string          `json:"engine_reason"`
		Phases []string        `json:"phases,omitempty"`
		Memory *engine.Memory  `json:"memory,omitempty"`
		Plan   json.RawMessage `json:"plan"`
		Result *Result         `json:"result,omitempty"`
	}{e.e.Job.Name(), name, reason, e.Phases(), e.e.Memory, bytes.TrimSpace(b.Bytes()), e.Result})
}
