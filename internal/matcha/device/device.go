// Package device runs lowered Matcha programs on GPUs and on the emulated device: it is the
// target cuda. A phase is a kernel. Thread groups share the items of a parallel phase, as a
// schedule says (thesis, section 3.6).
//
// It knows generated code, schedules and sessions. It must not know the language.
package device

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/irgen"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Options are the settings of a run.
type Options struct {
	Schedule schedule.Schedule
	// Emit is called with each emitted row, in any order, in memory that is used again. If it
	// returns false the program stops, without an error. With nil rows are only counted.
	Emit func(row []types.Word) bool
	// Rows takes the place of Emit, for many rows, as that of package run.
	Rows func(worker int, words []types.Word) (taken int, more bool)
	// Stats counts lanes and busy times, which takes time itself.
	Stats bool
	// Off are passes of the kernel IR that are left out.
	Off []string
	// Memory is the number of bytes of host memory that the process may use. 0 means the
	// system's limit.
	Memory int64
	// Debug asserts every access to memory, of code of irgen.LowerDebug.
	Debug bool
}

// Result is the result of a run.
type Result struct {
	Words   []types.Word // the program's result, a word a component; nil: none
	Emitted uint64       // rows
	Stopped bool         // Emit wanted no more: Words is nil
	Measures
}

// Measures are about how a run went.
type Measures struct {
	// Search is the device's time for all phases, by its events.
	Search, Upload, Prepare, Compile time.Duration
	Blocks, Threads                  int     // of the largest grid; Threads a block
	Resident                         float64 // warps that a multiprocessor can hold of it, of the most it holds of any
	Steals                           uint64
	Host                             int64 // bytes of the program's arrays that were read in host memory, since the device has too little
	// With Stats: Occupancy is the share of the device's warps, over the time of the search,
	// that had work. Utilisation is the share of lanes with work in set operations (thread
	// utilisation).
	Occupancy, Utilisation float64
}

// Run runs a program on the device of a session, and changes the code. A failure of the program
// is a *syntax.Error. An error of memory is a *data.MemoryError or the session's.
func Run(ctx context.Context, s *session.Session, p *asg.Program, in *data.Set, c *irgen.Code, o Options) (Result, error) {
	var res Result
	if n := len(s.Devices()); n != 1 {
		return res, fmt.Errorf("the target cuda runs on one device, and there are %d", n)
	}
	t, err := newText(c, o)
	if err != nil {
		return res, err
	}
	r := &running{p: p, text: t, schedule: o.Schedule, state: make([]uint64, len(c.State.Fields))}
	owner := keepGraph(p, in, c.Program)
	j := &session.Job{
		Name: "matcha", Program: c.Program, Tasks: uint64(len(c.Phases)), Chunk: 1, Start: r.start, HostMemory: o.Memory,
		Source: cuda.Source{Name: "matcha.cu", Text: t.all},
	}
	if o.Debug {
		j.Source.Options = []string{"-DWEFT_DEBUG"}
	}
	if owner != nil {
		j.Owner, j.Vertices = owner, uint32(owner.NumVertices())
	}
	switch {
	case p.Row != nil && o.Rows != nil:
		r.batches(j, p.Row.Words(), o.Rows)
	case p.Row != nil && o.Emit != nil:
		r.rows(j, p.Row.Words(), o.Emit)
	}
	got, err := s.Run(ctx, j)
	if errors.Is(err, session.ErrShort) {
		j.Place = session.Host // the arrays make room
		got, err = s.Run(ctx, j)
	}
	if errors.Is(err, session.ErrShort) && r.short != nil {
		least := session.LeastOf(err)
		if err = r.short; least > 0 { // 0: the device itself has too little
			err = &shortError{r.short, least}
		}
	}
	res.Emitted = got.Matches.Lo
	if o.Rows != nil {
		res.Emitted = r.taken.Load()
	}
	res.Measures = r.measures
	res.Upload, res.Prepare, res.Compile = got.Upload, got.Prepare, got.Compile
	res.Steals = got.StealsBlock
	for _, d := range got.Devices {
		res.Host = d.Host
	}
	var fault *session.Fault
	switch {
	case errors.Is(err, errEnough):
		res.Stopped, err = true, nil
	case errors.As(err, &fault):
		err = c.Failure(fault.Code)
	}
	if err != nil || res.Stopped {
		return res, err
	}
	for _, f := range c.Result {
		res.Words = append(res.Words, types.Word(r.state[f]))
	}
	if o.Stats && !got.Devices[0].Info.Emulated {
		info := got.Devices[0].Info
		res.Occupancy = float64(got.User[0]) / (float64(info.SMs*info.ThreadsPerSM/32) * float64(max(res.Search, 1)))
	}
	if got.LanesAll > 0 {
		res.Utilisation = float64(got.LanesBusy) / float64(got.LanesAll)
	}
	return res, nil
}

// errEnough ends a run whose rows nobody wants.
var errEnough = errors.New("enough")

// keepGraph returns the graph that is the program's one graph among its inputs, nil
// for none or several: its arrays stay on the device after the run, all others go.
func keepGraph(p *asg.Program, in *data.Set, prog *kir.Program) *graph.Graph {
	var graphs []*graph.Graph
	for _, n := range p.Inputs {
		if n.Type.Kind == types.Graph {
			graphs = append(graphs, in.Input(n.Name).Graph)
		}
	}
	if len(graphs) != 1 {
		graphs = []*graph.Graph{nil}
	}
	if graphs[0] == nil {
		for _, d := range prog.Globals {
			d.Of = kir.Identity{}
		}
	}
	return graphs[0]
}

// running is one run.
type running struct {
	p        *asg.Program
	text     *text
	schedule schedule.Schedule
	state    []uint64
	measures Measures
	short    error         // there is too little memory for the lists of one block
	taken    atomic.Uint64 // rows, of Options.Rows
}

// batches hands rows of words to take, in batches.
func (r *running) batches(j *session.Job, width int, take func(int, []types.Word) (int, bool)) {
	j.Width = 2 * width
	for i := range j.Width {
		j.Columns = append(j.Columns, i)
	}
	var enough atomic.Bool
	j.Rows = func(worker int, ids []uint32) error {
		if enough.Load() {
			return errEnough
		}
		words := make([]types.Word, len(ids)/2)
		for i := range words {
			words[i] = types.Word(uint64(ids[2*i]) | uint64(ids[2*i+1])<<32)
		}
		n, more := take(worker, words)
		r.taken.Add(uint64(n))
		if !more {
			enough.Store(true)
			return errEnough
		}
		return nil
	}
}

// rows hands rows of words to emit: a word is two ids of the session's rows.
func (r *running) rows(j *session.Job, width int, emit func([]types.Word) bool) {
	j.Width = 2 * width
	for i := range j.Width {
		j.Columns = append(j.Columns, i)
	}
	var mu sync.Mutex
	row := make([]types.Word, width)
	enough := false
	j.Rows = func(_ int, ids []uint32) error {
		mu.Lock()
		defer mu.Unlock()
		for ; len(ids) > 0 && !enough; ids = ids[2*width:] {
			for i := range row {
				row[i] = types.Word(uint64(ids[2*i]) | uint64(ids[2*i+1])<<32)
			}
			enough = !emit(row)
		}
		if enough {
			return errEnough
		}
		return nil
	}
}

// extra is struct Extra of matcha/phase.cuh.
type extra struct {
	State, Mem, Shared, Cursor, Words uint64
}

// crewHead and manBytes are the sizes of Crew and of a Man with n shared loops.
const crewHead = 16

func manBytes(levels int) int { return (8*(levels+1) + 16 + 4*(levels+1) + 8 + 7) &^ 7 }

// sharedBytes is the shared memory that a block needs.
func (r *running) sharedBytes() int64 {
	groups := int64(r.schedule.Block / r.schedule.Group)
	bytes := groups * 4 * r.text.fast
	if r.schedule.Steal {
		bytes += (crewHead + groups*int64(manBytes(r.text.levels)) + 15) &^ 15
	}
	return bytes
}

// emulatedBlocks is the grid of an emulated device.
const emulatedBlocks = 2

// start makes the kernels and their memory ready.
func (r *running) start(d *session.Exec) (func() error, error) {
	c := r.text.code
	kernels := make([]*cuda.Kernel, len(c.Phases))
	shared, words := r.sharedBytes(), (c.Words+1)&^1
	if most := int64(d.Info().SharedPerBlock); shared > most {
		return nil, r.tooMuchShared(shared, most)
	}
	blocks, parallel := 0, false
	for i, p := range c.Phases {
		k, err := d.Kernel(fmt.Sprintf("phase%d", i))
		if err != nil {
			return nil, err
		}
		kernels[i] = k
		if p.Item == nil {
			continue
		}
		each, err := k.Occupancy(r.schedule.Block, int(shared))
		if err != nil {
			return nil, err
		}
		parallel = true
		blocks = max(blocks, each*d.Info().SMs)
		if m := d.Info().ThreadsPerSM; m > 0 {
			r.measures.Resident = max(r.measures.Resident, float64(each*r.schedule.Block)/float64(m))
		}
	}
	if d.Info().Emulated {
		blocks = emulatedBlocks
	}
	if n := r.schedule.Threads; n > 0 {
		blocks = n / r.schedule.Block
	}
	groups := int64(r.schedule.Block / r.schedule.Group)
	if !parallel {
		blocks, groups = 1, 1
	}
	rest := 8*int64(len(r.state)+len(c.Phases)) + 4*c.SharedWords + 64
	if room := d.Room() - rest; 4*words*groups*int64(blocks) > room {
		switch fit := room / max(4*words*groups, 1); {
		case r.schedule.Threads == 0 && fit > 0:
			blocks = int(fit)
		case !d.Least():
			r.short = r.tooMuch(words, groups*int64(blocks), room)
			return nil, fmt.Errorf("%w: %w", session.ErrShort, r.short)
		case r.schedule.Threads == 0:
			blocks = 1
		}
	}
	if !parallel {
		blocks = 0
	}
	r.measures.Blocks, r.measures.Threads = blocks, r.schedule.Block
	x := extra{Words: uint64(words)}
	state := cuda.Buffer{}
	for _, b := range []struct {
		what  string
		bytes int64
		at    *uint64
	}{
		{"the state that phases share", 8 * int64(len(r.state)), &x.State},
		{"items handed out", 8 * int64(len(c.Phases)), &x.Cursor},
		{"lists of the program", 4 * c.SharedWords, &x.Shared},
		{"lists of thread groups", 4 * words * groups * int64(max(blocks, 1)), &x.Mem},
	} {
		if b.bytes == 0 {
			continue
		}
		buf, err := d.Scratch(b.what, b.bytes)
		if err != nil {
			return nil, err
		}
		if err := d.Context().Clear(buf, d.Stream()); err != nil {
			return nil, err
		}
		*b.at = buf.Ptr
		if b.at == &x.State {
			state = buf
		}
	}
	launches := make([]func() error, len(kernels))
	for i, p := range c.Phases {
		l := cuda.Launch{Blocks: 1, Threads: 32}
		if p.Item != nil {
			l = cuda.Launch{Blocks: blocks, Threads: r.schedule.Block, Shared: int(shared)}
		}
		launches[i] = session.Prepared(d, kernels[i], l, &x)
	}
	return func() error { return r.search(d, launches, state) }, nil
}

// search runs the phases and fetches the values that they leave in State.
func (r *running) search(d *session.Exec, launches []func() error, state cuda.Buffer) (err error) {
	var times [2]*cuda.Event
	for i := range times {
		if times[i], err = d.Context().Event(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, times[i].Close()) }()
	}
	if err := times[0].Record(d.Stream()); err != nil {
		return err
	}
	for _, launch := range launches {
		if err := launch(); err != nil {
			return err
		}
	}
	if err := times[1].Record(d.Stream()); err != nil {
		return err
	}
	if err := d.Stream().Synchronize(); err != nil {
		return err
	}
	if r.measures.Search, err = times[1].Since(times[0]); err != nil {
		return err
	}
	if len(r.state) == 0 {
		return nil
	}
	return cuda.Download(d.Context(), r.state, state, 0)
}

// tooMuch is the error of lists that the device has no memory for.
func (r *running) tooMuch(words, groups, room int64) error {
	return r.tooLarge(false, fmt.Sprintf("the lists of a thread group take %d bytes, those of %d groups %d, and %d bytes of the device are left", 4*words, groups, 4*words*groups, max(room, 0)),
		"fewer threads in the schedule, smaller bounds, or more memory")
}

// shortError is the error of lists that the device has no memory for, with the memory that would do.
type shortError struct {
	error
	least int64
}

func (e *shortError) Error() string {
	return fmt.Sprintf("%v; %d bytes of --gpu-memory are the least that the program works with", e.error, e.least)
}
func (e *shortError) Unwrap() error { return e.error }

// tooMuchShared is the error of lists that do not fit shared memory.
func (r *running) tooMuchShared(bytes, most int64) error {
	groups := r.schedule.Block / r.schedule.Group
	return r.tooLarge(true, fmt.Sprintf("%d groups of a block need %d bytes of shared memory, and a block has %d", groups, bytes, most),
		"larger groups, smaller blocks, or fewer lists in shared memory")
}

// tooLarge names the largest list of those that a worker stores.
func (r *running) tooLarge(fast bool, why, hint string) error {
	var most *irgen.List
	for i, l := range r.text.code.Lists {
		if !l.Shared && (!fast || r.text.moved[l.At]) && (most == nil || l.Words > most.Words) {
			most = &r.text.code.Lists[i]
		}
	}
	if most == nil {
		return &data.MemoryError{Err: errors.New(why)}
	}
	e := r.p.File.ErrorAt(most.Node.Pos, fmt.Sprintf("%s may take %d bytes: %s", most.Name(), 4*most.Words, why))
	e.Hint = hint
	return &data.MemoryError{Err: e}
}

// Text is the code of a program as C++ over the device code. It changes the code.
func Text(c *irgen.Code, o Options) (string, error) {
	t, err := newText(c, o)
	if err != nil {
		return "", err
	}
	return t.all, nil
}
