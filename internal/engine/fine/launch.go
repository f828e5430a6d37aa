package fine

import (
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/plan"
)

// args is struct Fine.
type args struct {
	Market     session.Market
	Rows, Next uint64
	Grown      uint64
	Sizes      uint64
	Starts     uint64
	Room       uint64
	Count      uint64
	Depth      uint32
	Batch      uint32
	Steal      uint32
	Often      uint32
	Frames     uint32
	StackBytes uint32
	Pruned     [3]uint64 // struct Lists
	Tables     [membership.Tables]uint64
}

// grown is struct Grown.
type grown struct{ Rows, Taken, Roots, _ uint64 }

// Sizes of structs of device memory: Frame, Head, and the part of a mail before its frames.
const (
	frameBytes    = 624
	headBytes     = 176
	mailHeadBytes = 16
	columnBytes   = 128
)

// The most threads of a block; kernels are bounded by it.
const blockThreads = 256

// frames is how many frames a stack has: the last walked level has none, unless
// the tail's pools are its.
func (r *search) frames() int {
	n := r.levels - 1
	if r.blocks > 0 {
		n++
	}
	return max(n, 1)
}

// shape is the size of a grid.
type shape struct{ blocks, threads, shared, stack int }

// shape takes the largest blocks whose stacks fit, and the number of blocks that are resident.
func (r *search) shape(k *cuda.Kernel, info cuda.Info) (shape, error) {
	columns := r.blocks
	if r.code.Checks.Siblings {
		columns = 2 // the queue
	}
	s := shape{threads: blockThreads, stack: r.frames()*(frameBytes+columnBytes) + columns*columnBytes}
	if info.Emulated {
		s.threads = 64 // a lane is a fiber
	}
	for ; s.threads >= 32; s.threads /= 2 {
		s.shared = headBytes + s.threads/32*s.stack
		n, err := k.Resident(s.threads, s.shared)
		if err != nil {
			return s, err
		}
		if n > 0 {
			s.blocks = n
			return s, nil
		}
	}
	return s, plan.Refusef("fine on %v: a stack of %d levels does not fit into shared memory", info, r.levels)
}

// start makes a device ready: the kernels, the market, room for pools.
func (r *search) start(x *session.Exec) (func() error, error) {
	if r.indexed && x.Index() > 0 {
		// Ranks of candidates, and with them the tasks, are not the same on each
		// device.
		r.Notes.Add("a candidate graph is searched on the first of %d devices", r.devices)
		return func() error { return nil }, x.OwnTasks(0)
	}
	if r.indexed {
		r.made = &indexArgs{}
		empty, err := r.build(x, r.made)
		if err != nil {
			return nil, err
		}
		if empty {
			return func() error { return nil }, x.SetTasks(0)
		}
	}
	if r.wantsPool() && !r.pooled() {
		r.Notes.Add("no pool: %d devices share the candidates of level 0", r.devices)
	}
	k, err := x.Kernel("fine_search")
	if err != nil {
		return nil, err
	}
	s, err := r.shape(k, x.Info())
	if err != nil {
		return nil, err
	}
	a := args{Steal: r.opt.steal, Frames: uint32(r.frames()), StackBytes: uint32(s.stack)}
	if r.opt.batch {
		a.Batch = 1
	}
	if r.Goal.Limit > 0 {
		a.Often = 1
	}
	if a.Steal != stealOff {
		if a.Market, err = x.Market(s.blocks, mailHeadBytes+r.frames()*frameBytes); err != nil {
			return nil, err
		}
	}
	l := cuda.Launch{Blocks: s.blocks, Threads: s.threads, Shared: s.shared}
	pool, err := r.poolOn(x, s)
	if err != nil {
		return nil, err
	}
	prune, err := r.prunerOn(x)
	if err != nil {
		return nil, err
	}
	fill, err := r.tables(x, &a)
	if err != nil {
		return nil, err
	}
	return func() error {
		if prune != nil {
			if err := prune.prune(r, &a); err != nil {
				return err
			}
		}
		if err := fill(); err != nil {
			return err
		}
		if pool != nil {
			if err := pool.grow(&a); err != nil {
				return err
			}
		}
		return r.launch(x, k, l, &a)
	}, nil
}

// launch starts a kernel over the plan's lists or the candidate graph.
func (r *search) launch(x *session.Exec, k *cuda.Kernel, l cuda.Launch, a *args) error {
	if r.made == nil {
		return session.Launch(x, k, l, a)
	}
	r.made.Fine = *a
	return session.Launch(x, k, l, r.made)
}

// prepare launches a kernel that the search builds on, and that counts itself.
func prepare[X any](r *search, x *session.Exec, k *cuda.Kernel, l cuda.Launch, a *X) error {
	r.prepared.Add(1)
	return session.Launch(x, k, l, a)
}

// bytesOf is the size of a struct.
func bytesOf[T any]() int64 {
	var x T
	return int64(unsafe.Sizeof(x))
}
