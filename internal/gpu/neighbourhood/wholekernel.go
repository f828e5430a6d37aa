package neighbourhood

import (
	"math"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
)

// wholeKernel is the kernel that goes over all vertices, for searches that take not
// much longer than launches: see neighbourhood/whole.cuh.
const wholeKernel = "local_whole"

// mostWhole is how much a warp may have to walk on the average: lists of roots,
// which even out the work, are worth their launches above.
const mostWhole = 1 << 12

// leastPart is the least that a part of a root is cut for, in elements walked.
const leastPart = 512

// tasksOfWarp is the largest average number of tasks of a warp. Most tasks are parts that their
// root does not have; they take a lane each, 32 at a time.
const tasksOfWarp = 512

// suitsWhole reports whether a graph is searched by one kernel.
func (l *Search) suitsWhole(known stats) bool {
	warps := uint64(max(1, l.warps))
	return int64(known.MostUniverse) <= int64(wholeClass.universe) && known.Total/warps <= mostWhole &&
		uint64(l.places())*l.parts(known) <= min(tasksOfWarp*warps, math.MaxInt32)
}

// part is how much of a root is one task, and parts into how many any of them is cut
// at most.
func (l *Search) part(known stats) uint64 { return max(leastPart, known.Total/uint64(max(1, l.warps))) }
func (l *Search) parts(known stats) uint64 {
	return max(1, (uint64(known.MostWork)+l.part(known)-1)/l.part(known))
}

// startWhole makes the only device ready for a search by one kernel.
func (l *Search) startWhole(x *session.Exec, work cuda.Buffer, known stats, args localArgs) (search func() error, err error) {
	n := l.places()
	if err := x.OwnTasks(uint64(n)); err != nil {
		return nil, err
	}
	c := wholeClass
	a := &args.Roots
	a.Work, a.Classes, a.Parts = work.Ptr, 1, uint32(l.parts(known))
	a.Vertices, a.Places = l.verticesOn(x), uint32(n)
	a.Most[0], a.Limit[0] = uint32(c.universe), uint32(l.part(known))
	k, err := x.Kernel(wholeKernel)
	if err != nil {
		return nil, err
	}
	warps, lay := c.threads/32, c.layout(0)
	launch := cuda.Launch{Threads: c.threads, Shared: lay.shared(x) * warps}
	if launch.Blocks, err = k.Resident(launch.Threads, launch.Shared); err != nil {
		return nil, err
	}
	if launch.Blocks == 0 {
		return nil, noRoom(l.name, c, x)
	}
	launch.Blocks = min(launch.Blocks, (n*int(a.Parts)+warps-1)/warps)
	return session.Prepared(x, k, launch, &args), nil
}
