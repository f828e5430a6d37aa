// Package run runs Matcha programs on their targets: the interpreter, C on all cores, or a GPU. It knows what
// each target needs before and after a search, and takes devices and compiled code from a runtime.
//
// It must not know the language.
package run

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
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/runtime"
)

// Options say how a program is run.
type Options struct {
	Target    string // a name of Targets; "" is the first
	Schedule  string // of the target: knobs with commas between them
	Threads   int    // of the target c, where the schedule does not say; 0 is one a core
	Device    string
	GPUMemory int64 // bytes on each GPU; 0 means all free memory
	Memory    int64 // bytes; 0 means the system's limit
	// ProgramMemory is the most bytes of what the program makes. 0 means those of interp.DefaultMemory.
	ProgramMemory int64
	// CompilerMemory is the most bytes of memory of the target's compiler. 0 means unlimited.
	CompilerMemory int64
	Off            []string // passes that are not wanted
	Debug          bool     // a debug build
	Stats          bool     // notes about the work done
	Lanes          bool     // counts the lanes of a GPU that have work

	// Emit is called with each emitted row, and ends the run by returning false. With nil rows
	// are only counted.
	Emit func(words []types.Word) bool
	// Rows takes the place of Emit, for many rows: it is called with batches of rows, one after the other, in memory that
	// is used again. Workers call it concurrently, each at most once at a time; worker is less than
	// native.MostWorkers. It returns how many rows it took, and whether it wants more.
	Rows func(worker int, words []types.Word) (taken int, more bool)
}

// Result is the result of a run, with its times.
type Result struct {
	interp.Result
	Prepare, Compile, Search time.Duration
	Use                      Use
	Notes                    []string
}

// Use is how a program used a GPU; all zero for other targets.
type Use struct {
	Blocks, Threads        int
	WarpsFit               float64
	Thefts                 uint64
	Occupancy, Utilisation float64
}

// UsageError is the error of options that do not fit each other.
type UsageError struct{ error }

// Unwrap returns the cause.
func (e UsageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Targets returns the targets with their meanings, the default first.
func Targets() [][2]string {
	return [][2]string{
		{string(schedule.Interp), "the interpreter, on one core"},
		{string(schedule.C), "C, compiled by the machine's compiler, on all cores"},
		{string(schedule.CUDA), "a GPU"},
	}
}

// schedule is the schedule of the options' target.
func (o *Options) schedule() (schedule.Schedule, error) {
	target := schedule.Interp
	if o.Target != "" {
		target = schedule.Target(o.Target)
	}
	switch target {
	case schedule.Interp, schedule.C, schedule.CUDA:
	default:
		return schedule.Schedule{}, usagef("the target %q: want interp, c or cuda", o.Target)
	}
	if target != schedule.CUDA {
		if runtime.OnGPU(o.Device) {
			return schedule.Schedule{}, usagef("device %s: only the target cuda runs on GPUs", o.Device)
		}
		if o.Lanes {
			return schedule.Schedule{}, usagef("only the target cuda counts lanes")
		}
	}
	sched, err := schedule.Parse(target, o.Schedule)
	if err != nil {
		return sched, UsageError{err}
	}
	if sched.Threads == 0 && target == schedule.C {
		sched.Threads = o.Threads
	}
	if target == schedule.C {
		sched.Threads = min(sched.Threads, native.MostWorkers)
	}
	return sched, nil
}

// program is a program that has its inputs, on its way through a target.
type program struct {
	p   *asg.Program
	set *data.Set
	o   Options
	rt  *runtime.Runtime
}

// Run runs a program with its inputs, among which are graphs. With an error, the result has the part that was
// found before. It blocks while another search uses the GPUs, or until ctx ends.
func Run(ctx context.Context, rt *runtime.Runtime, p *asg.Program, set *data.Set, graphs []*graph.Graph, o Options) (r Result, err error) {
	sched, err := o.schedule()
	if err != nil {
		return r, err
	}
	if asked, err := schedule.Parse(sched.Target, o.Schedule); err == nil && sched.Threads > 0 && asked.Threads > sched.Threads {
		r.Notes = append(r.Notes, fmt.Sprintf("threads=%d: the program runs on %d, the most that are allowed", asked.Threads, sched.Threads))
	}
	start := time.Now()
	x := &program{p, set, o, rt}
	switch sched.Target {
	case schedule.Interp:
		err = x.interpret(ctx, &r)
	case schedule.C:
		err = x.onCPU(ctx, sched, graphs, &r)
	default:
		err = x.onGPU(ctx, sched, &r)
	}
	if o.Stats && err == nil {
		r.Notes = append(r.Notes, fmt.Sprintf("target %s, schedule %s: %v in all", sched.Target, sched, time.Since(start)))
	}
	return r, err
}

// interpret runs the program by the interpreter.
func (x *program) interpret(ctx context.Context, r *Result) (err error) {
	if x.o.Debug {
		return UsageError{errors.New("a debug build needs generated code; the interpreter makes all checks without it")}
	}
	start := time.Now()
	emit := x.o.Emit
	if x.o.Rows != nil {
		emit = func(row []types.Word) bool {
			_, more := x.o.Rows(0, row)
			return more
		}
	}
	r.Result, err = interp.Run(ctx, x.p, x.set, interp.Options{Memory: x.o.ProgramMemory, Emit: emit})
	r.Search = time.Since(start)
	return err
}

// onCPU runs the program as C.
func (x *program) onCPU(ctx context.Context, sched schedule.Schedule, graphs []*graph.Graph, r *Result) error {
	start := time.Now()
	code, err := lower(ctx, x.p, x.set, x.o.Debug)
	if err != nil {
		return err
	}
	o := cpu.Options{Schedule: sched, Objects: x.rt.Objects, Memory: x.o.ProgramMemory, Compiler: x.o.CompilerMemory, Emit: x.o.Emit, Rows: x.o.Rows}
	for _, g := range graphs {
		code.Program.EachArray(g.Own)
		if o.Classes == nil {
			for _, k := range g.Classes {
				o.Classes = append(o.Classes, c.Range{First: k.First, End: k.End})
			}
		}
	}
	prog := cpu.NewCode(x.p.Name, code, x.o.Off, x.o.Debug)
	r.Prepare = time.Since(start)
	compiled := time.Now()
	if _, err := prog.Compile(ctx, x.rt.Objects, o.Compiler); err != nil { // kept for the run
		return err
	}
	r.Compile = time.Since(compiled)
	searched := time.Now()
	got, err := prog.Run(ctx, o)
	r.Result, r.Search = got.Result, time.Since(searched)
	if x.o.Stats && err == nil {
		r.Notes = append(r.Notes, fmt.Sprintf("search %v, preparation %v, compilation %v; turns of loops lent %d times",
			r.Search, r.Prepare, r.Compile, got.Lent))
	}
	return err
}

// onGPU runs the program on a GPU.
func (x *program) onGPU(ctx context.Context, sched schedule.Schedule, r *Result) error {
	start := time.Now()
	code, err := lower(ctx, x.p, x.set, x.o.Debug)
	if err != nil {
		return err
	}
	r.Prepare = time.Since(start)
	on, err := x.rt.Session(ctx, x.o.Device, x.o.GPUMemory, nil)
	if err != nil {
		return err
	}
	o := device.Options{Schedule: sched, Off: x.o.Off, Emit: x.o.Emit, Rows: x.o.Rows, Stats: x.o.Lanes, Debug: x.o.Debug, Memory: x.o.Memory}
	got, err := device.Run(ctx, on, x.p, x.set, code, o)
	r.Result = interp.Result{Words: got.Words, Emitted: got.Emitted, Stopped: got.Stopped}
	r.Prepare += got.Upload + got.Prepare
	r.Compile, r.Search = got.Compile, got.Search
	r.Use = Use{got.Blocks, got.Threads, got.Resident, got.Steals, got.Occupancy, got.Utilisation}
	if got.Host > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("the graph does not fit the memory of the GPU, so the program is slower: %s of its arrays were read in host memory", memory.Text(uint64(got.Host))))
	}
	if !x.o.Stats || err != nil {
		return err
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%s: search %v, upload %v, preparation %v, compilation %v", on, got.Search, got.Upload, got.Prepare, got.Compile))
	if got.Blocks > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d blocks of %d threads, %.0f %% of the warps that fit; %d thefts", got.Blocks, got.Threads, 100*got.Resident, got.Steals))
	}
	if x.o.Lanes {
		r.Notes = append(r.Notes, fmt.Sprintf("occupancy %.3f, thread utilisation %.3f", got.Occupancy, got.Utilisation))
	}
	return nil
}

// lower makes the kernel IR of a program that has its inputs.
func lower(ctx context.Context, p *asg.Program, set *data.Set, debug bool) (*irgen.Code, error) {
	if debug {
		return irgen.LowerDebug(ctx, p, set)
	}
	return irgen.Lower(ctx, p, set)
}

// Code returns the generated code of a program with its inputs. target is "ir", which is the kernel IR, "c" or
// "cuda". The schedule is that of the options.
func Code(ctx context.Context, target string, p *asg.Program, set *data.Set, o Options) (string, error) {
	if target != "ir" && target != "c" && target != "cuda" {
		return "", usagef("no code is generated for %q: want ir, c or cuda", target)
	}
	c, err := lower(ctx, p, set, o.Debug)
	if err != nil {
		return "", err
	}
	switch target {
	case "cuda":
		sched, err := schedule.Parse(schedule.CUDA, o.Schedule)
		if err != nil {
			return "", UsageError{err}
		}
		text, err := device.Text(c, device.Options{Schedule: sched, Off: o.Off, Debug: o.Debug})
		if err != nil {
			return "", UsageError{err}
		}
		return text, nil
	case "c":
		return cpu.NewCode(p.Name, c, o.Off, o.Debug).Text, nil
	}
	passes.OptimizeIR(c.Program, o.Off...)
	if o.Debug {
		c.Assert()
	}
	return c.Format(), nil
}
