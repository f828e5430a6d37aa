package neighbourhood

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// roots is struct Roots, and localArgs struct Local.
type roots struct {
	Lists, Counts, Work         uint64
	Vertices                    uint64
	Starts                      [maxClasses]uint64
	Classes, Parts, First, Ours uint32
	Most, Limit                 [maxClasses]uint32
	Places, _                   uint32
	Candidates                  uint64
}

type localArgs struct {
	Roots        roots
	Scratch      uint64
	ScratchWords uint64
	Taken        uint64
	Helping      uint32
	Often        uint32
	Class        uint32
}

// stats is struct Stats, and measureArgs struct MeasureX.
type stats struct {
	Total                  uint64
	MostWork, MostUniverse uint32
	Vertices, _            uint32
}

type measureArgs struct {
	Work, Stats, Vertices uint64
	Places, _             uint32
}

// lineBytes is LINE, in bytes.
const lineBytes = 128

// rootThreads is a block of the kernels that measure and list roots.
const rootThreads = 256

// leastBeside is the least total of walked elements for which kernels run concurrently. For
// less, forking and joining streams takes longer than the search.
const leastBeside = 1 << 22

// leastWork is the work that one warp always does alone, in walked elements.
const leastWork = 256

// start prepares one of several devices. A round of the search begins by listing its roots by
// class. Then the kernels of the classes run concurrently: the large neighbourhoods take the
// device first, and the small ones fill the free multiprocessors. The numbers of roots in the
// classes stay on the device.
func (l *Search) start(x *session.Exec, d *dealer, limited bool, asWhole *atomic.Bool) (search func() error, err error) {
	n := l.places()
	work, known, err := l.measured(x)
	if err != nil {
		return nil, err
	}
	args := localArgs{}
	if limited {
		args.Often = 1
	}
	whole := l.whole && d.devices == 1 && n > 0 && l.suitsWhole(known)
	asWhole.Store(whole)
	if whole {
		return l.startWhole(x, work, known, args)
	}
	share := d.most() * ((n + d.parts - 1) / d.parts) // the most roots of a round
	a := &args.Roots
	a.Work, a.Classes, a.Parts = work.Ptr, uint32(len(l.classes)), uint32(d.parts)
	a.Vertices, a.Places = l.verticesOn(x), uint32(n)
	l.limits(a, known.Total/uint64(max(1, l.warps*d.devices)))
	if err := x.OwnTasks(uint64(n)); err != nil {
		return nil, err
	}
	list, err := x.Kernel("local_list")
	if err != nil {
		return nil, err
	}
	grid := cuda.Launch{Blocks: max(1, min((share+rootThreads-1)/rootThreads, 8*x.Info().SMs)), Threads: rootThreads, Shared: 2 * 4 * maxClasses}
	r := &rounds{x: x, d: d}
	counts, err := r.cleared("the sizes of classes", int64(lineBytes*(len(l.classes)+1)))
	if err != nil {
		return nil, err
	}
	a.Counts = counts.Ptr
	// A class that has no roots in this graph has no list. The lists of the others follow each
	// other in memory.
	var present []int
	roots := make([]int, len(l.classes)) // by class, at most
	for i := range l.classes {
		if i+1 == len(l.classes) || known.MostUniverse > a.Most[i+1] || known.MostWork > a.Limit[i+1] {
			present = append(present, i)
			roots[i] = share
		}
	}
	byColumns, err := l.mayByColumns(x, d, a)
	if err != nil {
		return nil, err
	}
	if byColumns || d.devices == 1 && 4*int64(share)*int64(len(present)) > x.Room()/listsShare {
		a.Ours = 1 // of one part
		if err := l.count(x, list, grid, args, counts, roots); err != nil {
			return nil, err
		}
		present = slices.DeleteFunc(present, func(i int) bool { return roots[i] == 0 })
	}
	all := 0
	for _, i := range present {
		a.Starts[i] = uint64(all)
		all += roots[i]
	}
	lists, err := x.Scratch("the lists of roots", int64(max(1, 4*all)))
	if err != nil {
		return nil, err
	}
	a.Lists = lists.Ptr
	var helping []func() error
	for k, i := range present {
		var s *cuda.Stream
		if k > 0 && (l.code.Rows.Rows != lower.NoRows || known.Total > leastBeside) {
			if s, err = x.Branch(); err != nil {
				return nil, err
			}
		}
		count := roots[i]
		if i+1 < len(l.classes) && a.Limit[i+1] == math.MaxUint32 {
			count = min(count, l.larger(int(a.Most[i+1])))
		}
		count = max(1, count)
		if l.classes[i].shares {
			taken, err := r.cleared("what is given out of shared roots", 4*int64(count))
			if err != nil {
				return nil, err
			}
			args.Taken = taken.Ptr
		}
		launch, err := l.launch(r, s, i, count, int(known.MostUniverse), args)
		if err != nil {
			return nil, err
		}
		r.classes = append(r.classes, launch)
		if !l.classes[i].shares {
			continue
		}
		if s, err = x.Branch(); err != nil {
			return nil, err
		}
		args.Helping = 1
		if launch, err = l.launch(r, s, i, math.MaxInt32, int(known.MostUniverse), args); err != nil {
			return nil, err
		}
		args.Helping = 0
		helping = append(helping, launch)
	}
	// Behind the others: these get the room that is left.
	r.classes = append(r.classes, helping...)
	if d.devices == 1 && l.code.Rows.Rows == lower.NoRows && l.vertices == nil {
		side := l.code.Rows.Level1
		x.Sweeps(session.Sweeps{Lists: l.adjacency(), Below: side == plan.LowerSide, Above: side == plan.UpperSide})
	}
	r.again = func() (uint64, error) { return l.again(x, counts) }
	if byColumns {
		r.columns = l.byColumns(r, list, grid, args, counts, lists)
	}
	r.list = func(from, parts int) error {
		args.Roots.First, args.Roots.Ours = uint32(from), uint32(parts)
		return session.Launch(x, list, grid, &args)
	}
	return r.search, nil
}

// listsShare: lists of roots may take 1/listsShare of the memory that a search may have without a look at how long they are.
const listsShare = 8

// count finds how many roots each class has, where all vertices are one round. Memory for every vertex in each class
// would be most of a small memory, and each root is in one class.
func (l *Search) count(x *session.Exec, list *cuda.Kernel, grid cuda.Launch, args localArgs, counts cuda.Buffer, roots []int) error {
	if err := session.Launch(x, list, grid, &args); err != nil {
		return err
	}
	if err := x.Stream().Synchronize(); err != nil {
		return err
	}
	got := make([]uint32, counts.Size/4)
	if err := cuda.Download(x.Context(), got, counts, 0); err != nil {
		return err
	}
	all := int(got[len(roots)*lineBytes/4]) // no roots
	for i := range roots {
		roots[i] = int(got[i*lineBytes/4])
		all += roots[i]
	}
	if n := l.places(); all != n {
		return &cuda.Error{Op: l.name, Kind: cuda.ErrLaunch, Text: fmt.Sprintf("%d of %d vertices were counted by class", all, n)}
	}
	return x.Context().Clear(counts, x.Stream())
}

// again has all listed roots to be taken once more.
func (l *Search) again(x *session.Exec, counts cuda.Buffer) (others uint64, err error) {
	got := make([]uint32, counts.Size/4)
	if err := cuda.Download(x.Context(), got, counts, 0); err != nil {
		return 0, err
	}
	others = uint64(l.places())
	for i := range l.classes {
		line := got[i*lineBytes/4:]
		others -= uint64(line[0])
		line[1] = 0
	}
	return others, cuda.Upload(x.Context(), counts, 0, got)
}

// adjacency is the program's lists.
func (l *Search) adjacency() *kir.GlobalDef {
	return l.code.Program.Globals[slices.IndexFunc(l.code.Program.Globals, func(g *kir.GlobalDef) bool { return g.Kind == kir.Adj && g.Index == 0 })]
}

// places returns the number of vertices that may be roots: where lists are sparse, those that have one.
func (l *Search) places() int {
	if l.vertices != nil {
		return len(l.vertices.Adj)
	}
	return l.g.NumVertices()
}

// verticesOn returns the address of the vertices of sparse lists on a device, or 0.
func (l *Search) verticesOn(x *session.Exec) uint64 {
	if l.vertices == nil {
		return 0
	}
	return x.Address(l.vertices, kircuda.IDs)
}

// measured is the amount walked below each vertex that may be a root. It is kept on the device with the graph.
func (l *Search) measured(x *session.Exec) (cuda.Buffer, stats, error) {
	n := l.places()
	work := int64(4*n+7) &^ 7
	b, note, err := x.Keep(l.measure, l.adjacency(), work+int64(unsafe.Sizeof(stats{})), func(b cuda.Buffer) (any, error) {
		k, err := x.Kernel("local_measure")
		if err != nil {
			return nil, err
		}
		if err := x.Context().Clear(b, x.Stream()); err != nil {
			return nil, err
		}
		grid := cuda.Launch{Blocks: max(1, min((n+rootThreads-1)/rootThreads, 8*x.Info().SMs)), Threads: rootThreads}
		if err := session.Launch(x, k, grid, &measureArgs{Work: b.Ptr, Stats: b.Ptr + uint64(work), Vertices: l.verticesOn(x), Places: uint32(n)}); err != nil {
			return nil, err
		}
		if err := x.Stream().Synchronize(); err != nil {
			return nil, err
		}
		s := make([]stats, 1)
		if err = cuda.Download(x.Context(), s, b, work); err == nil && int(s[0].Vertices) != n {
			err = &cuda.Error{Op: l.name, Kind: cuda.ErrLaunch, Text: fmt.Sprintf("%d of %d vertices were measured", s[0].Vertices, n)}
		}
		return s[0], err
	})
	if err != nil {
		return cuda.Buffer{}, stats{}, err
	}
	return b, note.(stats), nil
}

// limits decides the roots that each class takes. If the total work is small, several warps
// share a root with more than a warp's part of it (mean).
func (l *Search) limits(a *roots, mean uint64) {
	for i, c := range l.classes {
		limit := uint64(c.limit)
		if c.part > 0 {
			part := max(uint64(c.part)*mean, leastWork)
			if limit == 0 || part < limit {
				limit = part
			}
		}
		if limit == 0 || limit >= math.MaxUint32 {
			limit = math.MaxUint32
		}
		a.Most[i], a.Limit[i] = uint32(c.universe), uint32(limit)
	}
}
