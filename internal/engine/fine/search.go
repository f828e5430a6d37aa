package fine

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// program is the source and the settings of a plan's kernels, over the plan's lists or over a
// candidate graph. It serves any number of runs.
type program struct {
	p       *plan.Plan
	opt     options
	listing bool
	indexed bool // over a candidate graph
	code    *lower.Code
	// vertices are those that have lists, if sparse lists are pruned; else nil.
	vertices *kir.GlobalDef
	source   string // of the kernels
	memory   gpu.Room
	reads    gpu.Reads

	bits bool // lists are looked up as rows of bits
}

// search is one run of a program.
type search struct {
	*program
	gpu.Run
	ctx   context.Context
	query *query // of a candidate graph

	made *indexArgs // the candidate graph

	levels, blocks int // walked, and of the tail
	roots          uint64
	devices        int
	pools          []uint64          // rows of each pool that was made, behind the number of roots
	filtered       [][]plan.Filtered // by level of the plan, what the candidate graph leaves; nil: nobody asks

	prepared atomic.Uint64 // launches before the search, on all devices
}

// faultTooMany is FINE_TOO_MANY.
const faultTooMany = 1

// text is the source of the kernels.
func (r *program) text() string {
	purpose := "COUNT"
	if r.listing {
		purpose = "LIST"
	}
	checks := `#include "fine/plan.cuh"
#include "fine/args.cuh"
struct Params { Run run; Graph graph; Fine x; };
DEV Checks checks_of(const Params& p) { return Checks{p.graph}; }
`
	if r.prunes() {
		define, instead := "", "c.q.adj[0] = adj_of(p.x.pruned);"
		if r.vertices != nil {
			define, instead = "#define FINE_SPARSE\n", "c.q.adj[0].adj = p.x.pruned.adj, c.q.adj[0].rows = p.x.pruned.rows;"
		}
		checks = "#define FINE_PRUNE\n" + define + `#include "fine/plan.cuh"
#include "fine/args.cuh"
#include "fine/core.cuh"
struct Params { Run run; Graph graph; Fine x; };
DEV Checks checks_of(const Params& p) {
  Checks c = {p.graph};
  ` + instead + `
  return c;
}
`
	}
	if r.indexed {
		checks = `#include "fine/index.cuh"
#include "fine/index_kernels.cuh"
#include "fine/args.cuh"
struct Params { Run run; Graph graph; Fine x; Candidates candidates; Index index; Table table; };
typedef Indexed Checks;
DEV Checks checks_of(const Params& p) { return Indexed{p.graph, p.candidates, p.index, p.table}; }
`
	}
	lookup := r.opt.lists.Text(r.code.Program, r.bits)
	if r.code.Checks.Siblings {
		lookup += "#define FINE_SIBLINGS\n"
	}
	if r.code.Checks.Parts {
		lookup += "#define FINE_PARTS\n"
	}
	return lookup + "#include \"fine/steal.cuh\"\n#define adjacent(a, back, u, v) member(q, a, back, ((const Head*)shared())->tables, u, v)\n" + emit.Text(r.code.Program) + "#undef adjacent\n" +
		checks + "#define FINE_PURPOSE " + purpose + "\n#include \"fine/kernels.cuh\"\n"
}

// rowChunk is the largest number of tasks that a warp takes at a time. Hubs have the first ids
// of a class, so a larger number would keep one warp busy for long.
const rowChunk = 8

// job is the program for the session.
func (r *program) job() *session.Job {
	return r.reads.Give(r.memory.Give(&session.Job{Name: "fine", Source: cuda.Source{Name: "fine.cu", Text: r.source}, Program: r.code.Program}))
}

// job is the run for the session.
func (r *search) job() *session.Job {
	if !r.indexed {
		r.levels, r.blocks = r.code.Walked, r.code.Checks.Blocks
		r.roots = 0
		for _, v := range r.code.Roots {
			r.roots += uint64(v.End - v.First)
		}
	} else {
		// Known once there are candidates.
		r.levels, r.roots = r.query.n, 1
	}
	tasks := r.roots
	if r.pooled() {
		tasks = r.opt.pool
	}
	j := r.program.job()
	j.Tasks, j.Chunk, j.Start = r.roots, r.chunk(tasks), r.start
	return j
}

// chunk is few tasks where there are few, so that all warps get some.
func (r *search) chunk(tasks uint64) uint32 {
	return uint32(min(max(tasks>>17, 1), rowChunk))
}

// pooled reports whether the search begins from a pool. Several devices share
// the candidates of level 0, and have none: its rows have another order on each.
// Over a candidate graph only one searches.
func (r *search) pooled() bool {
	return (r.devices == 1 || r.indexed) && r.wantsPool()
}

// wantsPool reports whether there is too little to do at level 0 for a grid.
func (r *search) wantsPool() bool {
	return r.levels > 2 && r.roots < r.opt.pool
}

// report adds this engine's own figures to the engine's result.
func (r *search) report(res *engine.Result, got *session.Result, levels bool) error {
	if r.query != nil && r.query.divide {
		subgraphs, rest := res.Matches.Div64(r.p.Aut.Uint64())
		if rest != 0 && res.Complete {
			return fmt.Errorf("fine: internal error: %v embeddings are not a multiple of |Aut| = %v", res.Matches, r.p.Aut)
		}
		res.Matches = subgraphs
	}
	res.Filters = r.filtered
	switch {
	case levels && r.indexed:
		res.Notes = append(res.Notes, "a candidate graph has its own order, so there are no figures for the plan's levels")
	case levels:
		res.Levels = make([]engine.LevelStat, len(r.p.Levels))
		for l := range res.Levels {
			n := uint64(0)
			if l < len(r.pools) {
				n = r.pools[l]
			} else if l < len(got.Visits) {
				n = got.Visits[l]
			}
			res.Levels[l].Matches = engine.U64(n)
		}
		res.Levels[len(res.Levels)-1].Matches = res.Matches
	}
	if got.LanesAll > 0 {
		res.Stats = append(res.Stats, fmt.Sprintf("idle rate %.1f %%: threads of a warp that had no task",
			100*(1-float64(got.LanesBusy)/float64(got.LanesAll))))
	}
	if n := got.StealsBlock + got.StealsGrid; n > 0 {
		res.Stats = append(res.Stats, fmt.Sprintf("work was given away %d times, %d of them to other blocks", n, got.StealsGrid))
	}
	return nil
}
