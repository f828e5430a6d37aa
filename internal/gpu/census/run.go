package census

import (
	"context"
	"fmt"
	"math/big"
	"sync"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/escape"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/pattern"
)

// Options are the settings of a run.
type Options struct {
	Memory   int64 // bytes of host memory that the process may use; 0: the system's limit
	Progress func(done, total uint64)
	// For tests. Zero values are the census's own choice.
	teams int // of a pass
	room  int // words of a team's rows; too few for the graph are made more
	near  int // words of them in shared memory; -1: none
	limit int // vertices of a small team's table; -1: none
}

// Result is the result of a run.
type Result struct {
	Counts                           []*big.Int // by pattern; nil: the run was cut short
	Search, Upload, Prepare, Compile time.Duration
	Stats                            []string
}

// maxDegree is the largest number of neighbours of a vertex with which no sum of one vertex passes 64 bits.
const maxDegree = 1 << 20

// ErrDegree is the error of a graph in which a vertex has too many neighbours.
var ErrDegree = fmt.Errorf("census: a vertex has more than %d neighbours", maxDegree)

// run is one run.
type run struct {
	lists *graph.CSR
	k     int
	o     Options
	adj   *kir.GlobalDef
	least int // words of rows that a team needs
	room  int // words of rows with which no neighbourhood is too large for a matrix, or the most that pays
	most  int // the largest degree

	mu    sync.Mutex
	sums  escape.Sums
	extra [extraSums]escape.Total
	stats []string
}

// Sums that kernels add up besides those of escape.Sums.
const (
	leastTriangles = iota
	leastTailed
	extraSums
)

// Motifs returns how often each of the patterns occurs in a graph. The patterns are all those that the catalogue
// calls motifs of four or of five vertices, in its order, all of them induced or none. It blocks until other runs of the session have ended.
// If ctx ends, Motifs returns no counts, and the context's error. The error is session.ErrShort if the devices have too little
// memory, and ErrDegree if a vertex has more than a million neighbours.
func Motifs(ctx context.Context, s *session.Session, g *graph.Graph, lists *graph.CSR, ps []*pattern.Pattern, o Options) (Result, error) {
	k := len(ps[0].Vertices)
	if k < 4 || k > 5 {
		return Result{}, fmt.Errorf("census: patterns of %d vertices", k)
	}
	r := &run{lists: lists, k: k, o: o}
	if lists.NumVertices() > 0 && len(lists.Adj) > 0 {
		found, err := r.do(ctx, s, g)
		res := Result{Search: found.Search, Upload: found.Upload, Prepare: found.Prepare, Compile: found.Compile, Stats: r.stats}
		if err == nil && !found.Complete {
			err = context.Cause(ctx)
		}
		if err != nil {
			return res, err
		}
		r.complete()
		res.Counts, err = escape.Motifs(r.sums.Counts(k), ps)
		return res, err
	}
	counts, err := escape.Motifs(r.sums.Counts(k), ps)
	return Result{Counts: counts}, err
}

// do runs the passes.
func (r *run) do(ctx context.Context, s *session.Session, g *graph.Graph) (session.Result, error) {
	n := r.lists.NumVertices()
	program := &kir.Program{}
	r.adj = program.AddGlobal(&kir.GlobalDef{
		Name: "neighbours", Kind: kir.Adj, Off: r.lists.Off, Adj: r.lists.Adj, Of: kir.Identity{ID: g.ArrayID(unsafe.Pointer(&r.lists.Off[0]))},
	})
	if r.measure(); r.most > maxDegree {
		return session.Result{}, ErrDegree
	}
	devices := s.Devices()
	j := job(r.k, devices[0].Emulated, program)
	j.Vertices, j.Owner, j.HostMemory, j.Progress = uint32(n), g, r.o.Memory, r.o.Progress
	for _, p := range passes(r.k) {
		j.Tasks += uint64(n)
		if p.whole {
			j.Tasks += uint64(n) * uint64(len(devices)-1)
		}
	}
	j.Start = func(x *session.Exec) (func() error, error) { return r.start(x, len(devices)) }
	return s.Run(ctx, j)
}

// measure finds how many words a team needs for its rows. Cliques have a row for each smaller neighbour of the root. Elsewhere a
// neighbourhood may be too large for a matrix.
func (r *run) measure() {
	for v := range uint32(r.lists.NumVertices()) {
		d := r.lists.Degree(v)
		r.most = max(r.most, d)
		smaller := min(d, int(v))
		columns := d
		if r.k == 4 {
			columns = smaller
		}
		if size := smaller * ((columns + 31) / 32); size > r.least {
			r.least = size
		}
	}
	if r.k == 5 {
		r.least = max(r.least, 2*r.most+64)
		r.room = min(r.most*((r.most+31)/32)+tailWords, mostRoom)
	}
	if r.o.room > 0 {
		r.room = r.o.room
	}
	r.room = max(r.room, r.least)
}

// tailWords are the words of rows besides a matrix. mostRoom bounds both: a matrix of 32 MiB is that of 16 thousand neighbours.
const (
	tailWords = 1 << 16
	mostRoom  = 1 << 20
)

// args is struct Census.
type args struct {
	Off, Adj, Triangles, Mirror, Less, Large    uint64
	Times, Place, Met, Found, Rows, Sums, Turns uint64
	Room                                        uint64
	Vertices, First, Step, Limit, Near, _       uint32
}

// turnsBytes is the size of Census.turns for a pass.
const turnsBytes = 4 * 8

// launch is a kernel of a pass, for one kind of team.
type launch struct {
	pass   *pass
	name   string
	kernel *cuda.Kernel
	grid   cuda.Launch
	near   int
	large  bool   // of large teams
	turns  uint64 // where they are among those of all passes
}

// launches are those of a run on one device. teams is how many large teams the multiprocessors hold.
func (r *run) launches(x *session.Exec) (all []launch, teams int, err error) {
	ps := passes(r.k)
	kinds := sizes(x.Info().Emulated)
	for i := range ps {
		for k := range kinds {
			p, s := &ps[i], &kinds[k]
			if !p.teams && k > 0 {
				continue
			}
			l := launch{pass: p, name: p.kernel(s), turns: uint64(turnsBytes * i)}
			if l.kernel, err = x.Kernel(l.name); err != nil {
				return nil, 0, err
			}
			l.grid.Threads = s.threads
			if p.rows && r.o.near >= 0 {
				l.near = s.near
				if r.o.near > 0 {
					l.near = r.o.near
				}
			}
			if p.teams {
				l.grid.Shared = s.shared(p, l.near)
			}
			each, err := l.kernel.Occupancy(l.grid.Threads, l.grid.Shared)
			if err != nil {
				return nil, 0, err
			}
			l.grid.Blocks = max(1, min(each*x.Info().SMs, r.lists.NumVertices()))
			if x.Info().Emulated {
				l.grid.Blocks = min(l.grid.Blocks, emulatedBlocks)
			}
			if l.large = p.teams && k > 0; l.large {
				teams = max(teams, l.grid.Blocks)
			}
			all = append(all, l)
		}
	}
	return all, teams, nil
}

// start makes one of several devices ready.
func (r *run) start(x *session.Exec, devices int) (func() error, error) {
	n, slots := int64(r.lists.NumVertices()), int64(len(r.lists.Adj))
	all, most, err := r.launches(x)
	if err != nil {
		return nil, err
	}
	a := args{
		Off: x.Address(r.adj, emit.Off), Adj: x.Address(r.adj, emit.Neighbours),
		Vertices: uint32(n), First: uint32(x.Index()), Step: uint32(devices), Limit: tableLimit,
	}
	switch {
	case r.o.limit < 0:
		a.Limit = 0
	case r.o.limit > 0:
		a.Limit = uint32(r.o.limit)
	}
	type array struct {
		what  string
		bytes int64
		at    *uint64
		clear bool
	}
	arrays := []array{
		{"sums", 16 * int64(censusSums), &a.Sums, true},
		{"roots taken", turnsBytes * int64(len(passes(r.k))), &a.Turns, true},
		{"roots of large teams", 4 * n, &a.Large, false},
		{"triangles of edges", 4 * slots, &a.Triangles, true},
		{"places of edges", 4 * slots, &a.Mirror, true},
		{"smaller neighbours", 4 * n, &a.Less, true},
	}
	fixed := int64(0)
	for _, b := range arrays {
		fixed += b.bytes
	}
	left, words := x.Room()-fixed, int64(r.room)
	if r.bytes(n, words) > left {
		words = int64(r.least)
	}
	each, teams := r.bytes(n, words), int64(r.o.teams)
	if teams == 0 {
		teams = min(int64(most), teamsIn(left, each, int64(r.busy()*x.Info().SMs)))
	}
	a.Room = uint64(words)
	arrays = append(arrays,
		array{"places of vertices", 4 * n * teams, &a.Place, true},
		array{"times that vertices are met", 4 * n * teams, &a.Times, true},
		array{"vertices met", 4 * n * teams, &a.Met, false},
		array{"rows", 4 * words * teams, &a.Rows, false})
	if r.k == 5 {
		arrays = append(arrays, array{"vertices found", 4 * n * teams, &a.Found, false})
	}
	var sums cuda.Buffer
	for _, b := range arrays {
		if b.bytes == 0 {
			continue
		}
		buf, err := x.Scratch(b.what, b.bytes)
		if err != nil {
			return nil, err
		}
		if *b.at = buf.Ptr; b.at == &a.Sums {
			sums = buf
		}
		if b.clear {
			if err := x.Context().Clear(buf, x.Stream()); err != nil {
				return nil, err
			}
		}
	}
	if err := x.OwnTasks(r.tasks(uint64(n), x.Index(), devices)); err != nil {
		return nil, err
	}
	r.note("census: %d large teams, with %d bytes each", teams, each)
	var times timer
	x.AtEnd(times.close)
	return func() error {
		for _, l := range all {
			if err := times.mark(x, l.name); err != nil {
				return err
			}
			a := a
			a.Turns += l.turns
			a.Near = uint32(l.near)
			if l.pass.whole {
				a.First, a.Step = 0, 1
			}
			if l.large {
				l.grid.Blocks = min(l.grid.Blocks, int(teams))
			}
			if err := session.LaunchFixed(x, l.kernel, l.grid, &a); err != nil {
				return err
			}
		}
		if err := times.mark(x, ""); err != nil {
			return err
		}
		words := make([]uint64, 2*censusSums)
		if err := cuda.Fetch(x.Context(), words, sums, 0, x.Stream()); err != nil {
			return err
		}
		text, err := times.text()
		if err != nil {
			return err
		}
		r.note("census: %s", text)
		r.add(words)
		return nil
	}, nil
}

// emulatedBlocks is the most blocks of a grid of an emulated device.
const emulatedBlocks = 3

// note adds a line of statistics.
func (r *run) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats = append(r.stats, fmt.Sprintf(format, args...))
}

// tasks is how many roots a device takes in all passes.
func (r *run) tasks(n uint64, device, devices int) (sum uint64) {
	for _, p := range passes(r.k) {
		if p.whole {
			sum += n
		} else if uint64(device) < n {
			sum += (n - uint64(device) + uint64(devices) - 1) / uint64(devices)
		}
	}
	return sum
}

// bytes returns the size of a large team's workspace in bytes. words is the number of words of its rows.
func (r *run) bytes(n, words int64) int64 {
	if r.k == 4 {
		return 12*n + 4*words
	}
	return 16*n + 4*words
}

// busy is how many large teams of a multiprocessor are enough. Few roots are theirs, except those of pairs of vertices.
func (r *run) busy() int {
	if r.k == 5 {
		return 2
	}
	return 1
}

// teamsIn returns the number of teams whose workspaces, of `each` bytes, get a place in `room` bytes of memory. Memory that a run may keep for
// the next is had sooner than more of it: more is taken only for as many teams as are enough.
func teamsIn(room, each, enough int64) int64 {
	return max(1, min(max(room/keptShare/each, enough), room/4*3/each))
}

// keptShare is the part of a device's memory that scratch memory is kept in.
const keptShare = 16

// add adds up the sums of a device.
func (r *run) add(words []uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	to := r.sums.All()
	for i := range r.extra {
		to = append(to, &r.extra[i])
	}
	for i, t := range to {
		*t = escape.Total(engine.Uint128(*t).Add(engine.Uint128{Lo: words[2*i], Hi: words[2*i+1]}))
	}
}

// censusSums is CENSUS_SUMS.
var censusSums = len(new(escape.Sums).All()) + extraSums

// complete makes the sums of the kernels those of the formulas, which count some things once from each of their vertices or edges.
func (r *run) complete() {
	s := &r.sums
	times := func(t *escape.Total, n uint64) { *t = escape.Total(engine.Uint128(*t).Mul64(n)) }
	times(&s.Cycle4, 4)
	times(&s.K23, 2)
	times(&s.House, 2)
	times(&s.Kite, 2)
	times(&s.Gem, 2)
	times(&s.K5edge, 3)
	if r.k == 4 {
		times(&s.Clique4, 12)
	} else {
		times(&s.Clique4, 3)
	}
	// A closed walk of length five is a cycle, or runs through a triangle, with a tail or without. The kernel counts those
	// that are at their least vertex only where they begin, in one of two directions. That leaves out triangles whose tail
	// hangs at the least vertex.
	walks := engine.Uint128(s.Cycle5).Mul64(10)
	walks = walks.Add(engine.Uint128(r.extra[leastTailed]).Mul64(10)).Add(engine.Uint128(r.extra[leastTriangles]).Mul64(20))
	s.Cycle5 = escape.Total(walks)
}
