package neighbourhood

import (
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/plan"
)

// Plans that count wedges by the outside vertex go over blocks of columns where lists lie in host memory: each root is searched once
// for each block of outside vertices. A root has less work in a block than in all, so roots are listed by class again for each.

// mayByColumns offers such sweeps to the session, and reports whether it may have the search make them. Then the next run of the kernel
// that lists roots, of all lists, also notes which vertices are roots.
func (l *Search) mayByColumns(x *session.Exec, d *dealer, a *roots) (may bool, err error) {
	if d.devices > 1 || !l.code.Rows.SizesOnly || l.vertices != nil {
		return false, nil
	}
	side := l.code.Rows.Universe
	s := session.Sweeps{Lists: l.adjacency(), Below: side == plan.LowerSide, Above: side == plan.UpperSide, Columns: true}
	s.First, s.End = hull(l.p.Levels[1].Ranges, uint32(l.g.NumVertices()))
	if !x.Sweeps(s) {
		return false, nil
	}
	b, err := x.Scratch("which vertices are roots", int64(l.places()+31)/32*4)
	a.Candidates = b.Ptr
	return err == nil, err
}

// byColumns returns the search that makes such sweeps. The lists of all classes together have room in lists.
func (l *Search) byColumns(r *rounds, kernel *cuda.Kernel, grid cuda.Launch, args localArgs, counts, lists cuda.Buffer) func() error {
	x := r.x
	branches := make([]*cuda.Stream, len(l.classes)) // by class; nil: the search's own, or none yet
	return func() error {
		for i := range x.Blocks() {
			if i > 0 {
				if err := x.Join(); err != nil || x.Stopped() {
					return err
				}
				if more, err := x.Again(0); err != nil || !more {
					return err
				}
			}
			if err := x.Bring(i); err != nil {
				return err
			}
			if err := l.column(r, kernel, grid, args, counts, lists, branches); err != nil {
				return err
			}
		}
		return nil
	}
}

// column searches all roots in the block that is there.
func (l *Search) column(r *rounds, kernel *cuda.Kernel, grid cuda.Launch, args localArgs, counts, lists cuda.Buffer, branches []*cuda.Stream) error {
	x := r.x
	if err := x.Context().Clear(counts, x.Stream()); err != nil {
		return err
	}
	roots := make([]int, len(l.classes))
	args.Roots.First, args.Roots.Ours, args.Roots.Lists = 0, 1, 0
	if err := l.count(x, kernel, grid, args, counts, roots); err != nil {
		return err
	}
	args.Roots.Lists = lists.Ptr
	all := 0
	for i, n := range roots {
		args.Roots.Starts[i] = uint64(all)
		all += n
	}
	if err := session.Launch(x, kernel, grid, &args); err != nil {
		return err
	}
	r.classes = nil
	for i, n := range roots {
		if n == 0 {
			continue
		}
		if len(r.classes) > 0 && branches[i] == nil {
			s, err := x.Branch()
			if err != nil {
				return err
			}
			branches[i] = s
		}
		stream := branches[i]
		if len(r.classes) == 0 {
			stream = nil
		}
		launch, err := l.launch(r, stream, i, n, 0, args)
		if err != nil {
			return err
		}
		r.classes = append(r.classes, launch)
	}
	return r.launch()
}

// hull is the smallest range that has all of some ranges; without ranges all n vertices.
func hull(ranges []plan.Range, n uint32) (first, end uint32) {
	if len(ranges) == 0 {
		return 0, n
	}
	first = n
	for _, r := range ranges {
		first, end = min(first, r.First), max(end, r.End)
	}
	return first, end
}
