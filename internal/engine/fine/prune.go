package fine

import (
	"context"
	"errors"
	"slices"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// coreArgs is struct Core.
type coreArgs struct {
	Alive, Degrees, Sizes, Off, Adj, First, Rows, Changed, Before, Vertices uint64
	Least, Places                                                           uint32
}

// leastDegree is the least number of neighbours that any pattern vertex has, where
// it says something about data vertices: one symmetric adjacency, and no data
// vertex twice. 0: it does not.
func leastDegree(p *plan.Plan) int {
	if p.Mode != pattern.Iso || len(p.Adjs) != 1 || p.Adjs[0].Rev != 0 || lower.InParts(p) {
		return 0
	}
	degrees := make([]int, len(p.Levels))
	for l := range p.Levels {
		if len(p.Levels[l].Checks) > 0 {
			return 0 // EXISTS asks for vertices that have fewer
		}
		for _, b := range p.Levels[l].Back {
			if b.Neg {
				return 0 // a forbidden edge must not be removed
			}
			degrees[l]++
			degrees[b.Level]++
		}
	}
	least := len(p.Levels)
	for _, d := range degrees {
		least = min(least, d)
	}
	return least
}

// pruner removes vertices with too few neighbours repeatedly, and makes lists of the remaining
// ones.
type pruner struct {
	r       *search
	x       *session.Exec
	args    coreArgs
	n       uint64 // places
	memory  cuda.Buffer
	off     cuda.Buffer
	sizes   cuda.Buffer
	changed cuda.Buffer
}

// prunerOn takes memory for the lists; nil: nothing would be removed.
func (r *search) prunerOn(x *session.Exec) (*pruner, error) {
	if !r.prunes() {
		return nil, nil
	}
	lists := r.lists()
	n, entries := uint64(lists.Vertices()), uint64(len(lists.Adj))
	p := &pruner{r: r, x: x, args: coreArgs{Least: uint32(leastDegree(r.p))}}
	first, rows := 8*n, uint64(0) // bytes
	if r.vertices != nil {
		n = uint64(len(r.vertices.Adj))
		first, rows = 0, 4*(n+1)
		p.args.Vertices = x.Address(r.vertices, emit.IDs)
	} else {
		entries = lists.Off[n]
	}
	p.n, p.args.Places = n, uint32(n)
	for _, m := range []struct {
		to    *uint64
		keep  *cuda.Buffer
		bytes uint64
	}{
		{&p.args.Alive, &p.memory, (n + 63) / 64 * 8},
		{&p.args.Degrees, nil, 4 * n},
		{&p.args.Sizes, &p.sizes, 4 * n},
		{&p.args.Off, &p.off, 8 * (n + 1)},
		{&p.args.Adj, nil, 4*entries + 4},
		{&p.args.First, nil, first},
		{&p.args.Rows, nil, rows},
		{&p.args.Changed, &p.changed, 4 * roundsAtOnce},
	} {
		if m.bytes == 0 {
			continue
		}
		b, err := x.Scratch("lists without vertices of few neighbours", int64(m.bytes))
		if err != nil {
			return nil, err
		}
		*m.to = b.Ptr
		if m.keep != nil {
			*m.keep = b
		}
	}
	return p, nil
}

// prunes reports whether the text has pruned lists.
func (r *program) prunes() bool { return r.opt.prune && !r.indexed && leastDegree(r.p) > 1 }

// listVertices adds to the program the vertices that have lists, if it prunes sparse ones.
func (r *program) listVertices() {
	if r.prunes() {
		r.vertices = gpu.ListVertices(r.code.Program, r.lists(), r.p.Adjs[0].Lists)
	}
}

// lists are the lists of the only relation of a plan whose lists are pruned.
func (r *program) lists() *kir.GlobalDef {
	i := slices.IndexFunc(r.code.Program.Globals, func(g *kir.GlobalDef) bool { return g.Kind == kir.Adj })
	return r.code.Program.Globals[i]
}

// roundsAtOnce is how many rounds are launched before the host looks whether the
// last of them still removed something.
const roundsAtOnce = 8

// launch runs one of the kernels of fine/core.cuh.
func (p *pruner) launch(name string) error {
	k, err := p.x.Kernel(name)
	if err != nil {
		return err
	}
	threads := blockThreads
	if p.x.Info().Emulated {
		threads = 64
	}
	blocks, err := k.Resident(threads, 0)
	if err != nil {
		return err
	}
	return prepare(p.r, p.x, k, cuda.Launch{Blocks: max(blocks, 1), Threads: threads}, &p.args)
}

// prune makes the lists and leaves them in a.
func (p *pruner) prune(r *search, a *args) error {
	c, stream := p.x.Context(), p.x.Stream()
	tools, err := p.x.Tools()
	if err != nil {
		return err
	}
	if err := errors.Join(c.Fill(p.memory, 0xff, stream), p.launch("fine_core_start")); err != nil {
		return err
	}
	rounds := 0
	for changed := make([]uint32, roundsAtOnce); ; {
		if err := errors.Join(context.Cause(r.ctx), c.Clear(p.changed, stream)); err != nil {
			return err
		}
		for i := range uint64(roundsAtOnce) {
			p.args.Changed, p.args.Before = p.changed.Ptr+4*i, 0
			if i > 0 {
				p.args.Before = p.args.Changed - 4
			}
			if err := p.launch("fine_core_peel"); err != nil {
				return err
			}
		}
		if err := errors.Join(stream.Synchronize(), cuda.Download(c, changed, p.changed, 0)); err != nil {
			return err
		}
		if last := slices.Index(changed, 0); last >= 0 {
			rounds += last + 1
			break
		}
		rounds += roundsAtOnce
	}
	if err := errors.Join(p.launch("fine_core_sizes"), tools.Offsets(p.off, p.sizes, p.n), p.launch("fine_core_fill"), p.launch("fine_core_index")); err != nil {
		return err
	}
	a.Pruned = [3]uint64{p.args.Off, p.args.Adj, p.args.First}
	if r.vertices != nil {
		a.Pruned[2] = p.args.Rows
	}
	r.Stats.Add("vertices with fewer than %d neighbours are left out, in %d rounds", p.args.Least, rounds)
	return nil
}
