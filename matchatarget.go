package weft

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/cpu"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/device"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/irgen"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/runtime"
)

// WithTarget chooses what runs a Matcha program: interp, the interpreter, on one
// core; c, C that the machine's compiler compiles, on all cores; or cuda, a GPU, which
// WithDevice names and WithGPUMemory limits. Answers are the same,
// and whole numbers that pass 64 bits are an error everywhere. Rows that a program
// emits come in any order from c and cuda.
func WithTarget(name string) Option {
	return Option{"WithTarget", func(s *settings) { s.target = name }}
}

// WithSchedule says how the target of a Matcha program spreads its work, as in
// "threads=4,loop=static": knobs with commas between them.
func WithSchedule(text string) Option {
	return Option{"WithSchedule", func(s *settings) { s.schedule = text }}
}

// WithDebug makes a debug build of a Matcha program: every access to memory is
// asserted, and sums are checked even where they are known to fit 64 bits. The
// interpreter has no other build.
func WithDebug() Option { return Option{"WithDebug", func(s *settings) { s.debug = true }} }

// WithStats asks a Matcha run for notes about what it did. With lanes, a GPU also
// counts which of its lanes have work, which takes time itself.
func WithStats(lanes bool) Option {
	return Option{"WithStats", func(s *settings) { s.stats, s.lanes = true, lanes }}
}

// MatchaTargets are the targets of WithTarget, the default first, and what they
// are.
func MatchaTargets() [][2]string {
	return [][2]string{
		{string(schedule.Interp), "the interpreter, on one core"},
		{string(schedule.C), "C, compiled by the machine's compiler, on all cores"},
		{string(schedule.CUDA), "a GPU"},
	}
}

// matchaSchedule is how a Matcha program is to be run.
func (s *settings) matchaSchedule() (schedule.Schedule, error) {
	target := schedule.Interp
	if s.target != "" {
		target = schedule.Target(s.target)
	}
	switch target {
	case schedule.Interp, schedule.C, schedule.CUDA:
	default:
		return schedule.Schedule{}, withKind(ErrUsage, fmt.Errorf("the target %q: want interp, c or cuda", s.target))
	}
	if target != schedule.CUDA {
		if runtime.OnGPU(s.device) {
			return schedule.Schedule{}, withKind(ErrUsage, fmt.Errorf("device %s: only the target cuda runs on GPUs", s.device))
		}
		if s.lanes {
			return schedule.Schedule{}, withKind(ErrUsage, fmt.Errorf("only the target cuda counts lanes"))
		}
	}
	sched, err := schedule.Parse(target, s.schedule)
	if err != nil {
		return sched, withKind(ErrUsage, err)
	}
	if sched.Threads == 0 && target == schedule.C {
		sched.Threads = s.threads
	}
	if target == schedule.C {
		sched.Threads = min(sched.Threads, native.MostWorkers)
	}
	return sched, nil
}

// execute runs a program that has its inputs on the target of the options, and adds
// to r.
func (m *Matcha) execute(ctx context.Context, rt *runtime.Runtime, s *settings, p *asg.Program, set *data.Set, in map[string]any, emit func([]types.Word) bool, r *MatchaResult) (out interp.Result, err error) {
	sched, err := s.matchaSchedule()
	if err != nil {
		return interp.Result{}, err
	}
	if asked, err := schedule.Parse(sched.Target, s.schedule); err == nil && sched.Threads > 0 && asked.Threads > sched.Threads {
		r.Notes = append(r.Notes, fmt.Sprintf("threads=%d: %d are the most, and run the program", asked.Threads, sched.Threads))
	}
	start := time.Now()
	defer func() {
		if s.stats && err == nil {
			r.Notes = append(r.Notes, fmt.Sprintf("target %s, schedule %s: %v in all", sched.Target, sched, time.Since(start)))
		}
	}()
	var graphs []*graph.Graph
	for _, v := range in {
		if g, ok := v.(*Graph); ok {
			graphs = append(graphs, g.g)
		}
	}
	if sched.Target == schedule.Interp {
		if s.debug {
			return interp.Result{}, withKind(ErrUsage, errors.New("debug builds are of generated code: the interpreter checks everything anyway"))
		}
		start := time.Now()
		defer func() { r.Times.Search = time.Since(start) }()
		return interp.Run(ctx, p, set, interp.Options{Memory: s.memory, Emit: emit})
	}
	code, err := s.lower(ctx, p, set)
	if err != nil {
		return interp.Result{}, err
	}
	off, err := s.passesOff()
	if err != nil {
		return interp.Result{}, err
	}
	if sched.Target == schedule.CUDA {
		r.Times.Prepare += time.Since(start)
		return s.onDevice(ctx, rt, p, set, code, device.Options{Schedule: sched, Off: off, Emit: emit, Stats: s.lanes, Debug: s.debug}, r)
	}
	o := cpu.Options{Schedule: sched, Objects: rt.Objects, Memory: s.memory, Emit: emit}
	for _, g := range graphs {
		code.Program.EachArray(g.Own)
		if o.Classes == nil {
			for _, k := range g.Classes {
				o.Classes = append(o.Classes, c.Range{First: k.First, End: k.End})
			}
		}
	}
	prog := cpu.NewCode(p.Name, code, off, s.debug)
	r.Times.Prepare += time.Since(start)
	compiled := time.Now()
	if _, err := prog.Compile(ctx, rt.Objects); err != nil { // kept for the run
		return interp.Result{}, err
	}
	r.Times.Compile = time.Since(compiled)
	searched := time.Now()
	got, err := prog.Run(ctx, o)
	r.Times.Search = time.Since(searched)
	if s.stats && err == nil {
		r.Notes = append(r.Notes, fmt.Sprintf("search %v, preparation %v, compilation %v; turns of loops lent %d times",
			r.Times.Search, r.Times.Prepare, r.Times.Compile, got.Lent))
	}
	return got.Result, err
}

// lower makes the kernel IR of a program that has its inputs.
func (s *settings) lower(ctx context.Context, p *asg.Program, set *data.Set) (*irgen.Code, error) {
	if s.debug {
		return irgen.LowerDebug(ctx, p, set)
	}
	return irgen.Lower(ctx, p, set)
}

// onDevice runs code on a GPU.
func (s *settings) onDevice(ctx context.Context, rt *runtime.Runtime, p *asg.Program, set *data.Set, code *irgen.Code, o device.Options, r *MatchaResult) (interp.Result, error) {
	on, err := rt.Session(ctx, s.device, s.gpuMemory, nil)
	if err != nil {
		return interp.Result{}, classify(err)
	}
	got, err := device.Run(ctx, on, p, set, code, o)
	r.Times.Prepare += got.Upload + got.Prepare
	r.Times.Compile, r.Times.Search = got.Compile, got.Search
	r.Use = MatchaUse{got.Blocks, got.Threads, got.Resident, got.Steals, got.Occupancy, got.Utilisation}
	if s.stats && err == nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%s: search %v, upload %v, preparation %v, compilation %v", on, got.Search, got.Upload, got.Prepare, got.Compile))
		if got.Blocks > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%d blocks of %d threads, %.0f %% of the warps that fit; %d thefts", got.Blocks, got.Threads, 100*got.Resident, got.Steals))
		}
		if s.lanes {
			r.Notes = append(r.Notes, fmt.Sprintf("occupancy %.3f, thread utilisation %.3f", got.Occupancy, got.Utilisation))
		}
	}
	return interp.Result{Words: got.Words, Emitted: got.Emitted, Stopped: got.Stopped}, classify(err)
}
