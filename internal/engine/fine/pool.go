package fine

import (
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
)

// pool is the breadth-first start of a search (gMatch §4.3). Partial matches are extended level by level until
// there are enough of them to keep all warps busy, and the search begins from these.
//
// Warps take equal ranges of a level's candidates, whatever partial match they belong to (fine/grow.cuh), so
// nothing is stolen here. If the partial matches of a level do not fit, the search begins from the level before.
// So the pool's memory is bounded.
type pool struct {
	r     *search
	x     *session.Exec
	k     *cuda.Kernel
	l     cuda.Launch
	sizer *cuda.Kernel
	tools *session.Tools
	room  uint64 // rows
	sides [2]cuda.Buffer
	grown cuda.Buffer

	sizes, starts cuda.Buffer
}

// The room of a pool is this many times the threshold, because the last level may exceed it by
// far. It is also at most this part of the free memory.
const (
	poolRoom  = 4
	poolShare = 8
)

// poolOn takes memory for a pool; nil: the search begins from level 0.
func (r *search) poolOn(x *session.Exec, s shape) (*pool, error) {
	if !r.pooled() {
		return nil, nil
	}
	row := int64(4 * (r.levels - 1))
	room := min(int64(r.opt.pool)*poolRoom, x.Room()/poolShare/(2*row))
	if room < int64(r.roots) {
		return nil, nil
	}
	p := &pool{r: r, x: x, room: uint64(room), l: cuda.Launch{Blocks: s.blocks, Threads: s.threads, Shared: s.shared}}
	var err error
	if p.tools, err = x.Tools(); err != nil {
		return nil, err
	}
	if p.sizer, err = x.Kernel("fine_sizes"); err != nil {
		return nil, err
	}
	if p.k, err = x.Kernel("fine_grow"); err != nil {
		return nil, err
	}
	n, err := p.k.Resident(s.threads, s.shared)
	if err != nil {
		return nil, err
	}
	p.l.Blocks = max(n, 1)
	for i := range p.sides {
		if p.sides[i], err = x.Scratch("the pool", room*row); err != nil {
			return nil, err
		}
	}
	// Only pools that are below the threshold grow.
	most := min(room, int64(r.opt.pool))
	if p.sizes, err = x.Scratch("the pool's numbers of candidates", 4*most); err != nil {
		return nil, err
	}
	if p.starts, err = x.Scratch("the pool's prefix sums", 8*(most+1)); err != nil {
		return nil, err
	}
	p.grown, err = x.Scratch("the pool's counters", bytesOf[grown]())
	return p, err
}

// grow makes the pool and leaves it in a.
func (p *pool) grow(a *args) error {
	a.Room, a.Grown, a.Sizes, a.Starts = p.room, p.grown.Ptr, p.sizes.Ptr, p.starts.Ptr
	have, side := p.r.roots, 0
	a.Count = have
	for have < p.r.opt.pool && int(a.Depth) < p.r.levels-1 && p.r.ctx.Err() == nil {
		a.Next = p.sides[side].Ptr
		c := p.x.Context()
		if err := c.Clear(p.grown, p.x.Stream()); err != nil {
			return err
		}
		p.r.prepared.Add(2)
		if err := p.r.launch(p.x, p.sizer, p.l, a); err != nil {
			return err
		}
		if err := p.tools.Offsets(p.starts, p.sizes, have); err != nil {
			return err
		}
		if err := p.r.launch(p.x, p.k, p.l, a); err != nil {
			return err
		}
		if err := p.x.Stream().Synchronize(); err != nil {
			return err
		}
		got := make([]grown, 1)
		if err := cuda.Download(c, got, p.grown, 0); err != nil {
			return err
		}
		if got[0].Rows > p.room {
			break
		}
		if a.Depth == 0 {
			p.r.pools = append(p.r.pools, got[0].Roots)
			a.Depth = 1
		}
		p.r.pools = append(p.r.pools, got[0].Rows)
		a.Depth++
		a.Rows, a.Count = a.Next, got[0].Rows
		have, side = got[0].Rows, 1-side
		if have == 0 {
			break
		}
	}
	if a.Depth == 0 {
		return nil
	}
	p.r.Stats.Add("a pool of %d partial matches of %d vertices", a.Count, a.Depth)
	return p.x.SetTasks(a.Count)
}
