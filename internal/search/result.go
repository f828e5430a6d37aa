package search

import (
	"context"
	"math/big"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/setting"
)

// Result is the answer to a query, with its times and notes. The fields are those of the root
// package's Result that do not depend on how the graph was loaded; Total does not include loading.
type Result struct {
	Query         string
	Semantics     string
	Induced       bool
	Subgraphs     *big.Int // nil where it is not defined
	Embeddings    *big.Int // nil: there is no result
	Automorphisms *big.Int
	Complete      bool
	Engine        string
	Device        string
	Open          time.Duration
	Plan          time.Duration
	Prepare       time.Duration
	Search        time.Duration
	Total         time.Duration
	PeakMemory    int64 // bytes
	Notes         []string
	Stats         []string
	Meters        *engine.Meters
	Reason        string
	Method        string
}

// unplanned is the result of a query that was being planned, since start, when its context ended:
// none of its matches was found. After any other error it is empty.
func (a Question) unplanned(ctx context.Context, start time.Time) Result {
	p, err := a.Pattern()
	if err != nil || ctx.Err() == nil {
		return Result{}
	}
	took := time.Since(start)
	r := Result{
		Query: a.Name(), Semantics: p.Mode.String(), Induced: p.Induced, Automorphisms: p.Automorphisms().Order(),
		Embeddings: new(big.Int), Plan: took, Total: took, PeakMemory: PeakMemory(),
		Notes: []string{"the search had not begun: the query was being planned"},
	}
	if p.Mode == pattern.Iso {
		r.Subgraphs = new(big.Int)
	}
	return r
}

// cut takes off the embeddings that a last match had beyond the limit.
func (r *Result) cut(limit int64, of setting.What) {
	most := big.NewInt(limit)
	if limit == 0 || of != setting.Embeddings || r.Embeddings == nil || r.Embeddings.Cmp(most) <= 0 {
		return
	}
	r.Embeddings, r.Complete = most, false
	if r.Subgraphs != nil {
		r.Subgraphs = new(big.Int).Quo(most, r.Automorphisms)
	}
}

// PeakMemory is the largest resident set that this process had, in bytes.
func PeakMemory() int64 { return int64(memory.Peak()) }
