// Package cpu runs lowered Matcha programs on the processor: it is the target c. It writes a
// program as C, has the machine's compiler compile it, and runs it with threads. One worker
// runs a sequential phase. All workers share the items of a parallel phase.
//
// It knows programs, their data and schedules. It must not know the language.
package cpu

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/irgen"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/matcha/steal"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/native"
)

//go:embed runtime/phase.c
var phaseText string

// Options are the settings of a run.
type Options struct {
	Schedule schedule.Schedule
	// Classes are runs of ids by falling degree, which begin with the hubs of the
	// graphs; none: no vertex is taken for a hub.
	Classes []c.Range
	// Memory is the most bytes that workers and lists may take; 0: as for package
	// interp.
	Memory int64
	// Compiler is the most bytes of memory of the compiler; 0 means unlimited.
	Compiler int64
	// Emit is called with each emitted row, a word for each component, in memory that is used
	// again and in any order, never concurrently. If it returns false the program stops,
	// without an error. With nil rows are only counted.
	Emit func(row []types.Word) bool
	// Rows takes the place of Emit, for many rows. It is called with batches of rows, one after the other, in memory
	// that is used again. Several workers call it concurrently, each at most once at a time; worker is less than
	// native.MostWorkers. It returns how many rows it took, and whether it wants more.
	Rows func(worker int, words []types.Word) (taken int, more bool)
	// Objects keeps compiled code; nil: nothing is kept.
	Objects *native.Cache
}

// Code is a lowered program as C, for all schedules.
type Code struct {
	Text string // the functions and the entry points of the phases

	name    string
	code    *irgen.Code
	lending map[*kir.Func]bool // functions of items with shared loops
}

// NewCode writes a program, which it changes, without the passes over the kernel IR
// that are in off. A debug build asserts every access to memory.
func NewCode(name string, code *irgen.Code, off []string, debug bool) *Code {
	shared := map[*kir.Each]c.SharedLoop{}
	items := map[*kir.Func]bool{}
	for _, p := range code.Phases {
		if p.Item == nil {
			continue
		}
		for each, loop := range steal.Loops(p.Item, true) {
			shared[each], items[p.Item] = c.SharedLoop(loop), true
		}
	}
	passes.OptimizeIR(code.Program, off...)
	if debug {
		code.Assert()
	}
	var b strings.Builder
	b.WriteString(c.TextOf(code.Program, c.Options{Shared: shared}))
	b.WriteString(phaseText)
	for i, p := range code.Phases {
		switch {
		case p.Run != nil:
			fmt.Fprintf(&b, "W_RUN(phase%d, %s, %s)\n", i, c.Name(p.Run), code.State.Name)
		case items[p.Item]:
			fmt.Fprintf(&b, "W_SHARED_ITEMS(phase%d, %s, %s, %s)\n", i, c.Name(p.Item), code.State.Name, p.Sums.Name)
		default:
			fmt.Fprintf(&b, "W_ITEMS(phase%d, %s, %s, %s)\n", i, c.Name(p.Item), code.State.Name, p.Sums.Name)
		}
	}
	return &Code{Text: b.String(), name: name, code: code, lending: items}
}

// Compile compiles the text, or finds it among objects. Run does that too. The end of ctx
// ends the compiler, and the error is the cause. The compiler may have memory bytes; 0 means unlimited.
func (prog *Code) Compile(ctx context.Context, objects *native.Cache, memory int64) (*native.Library, error) {
	return objects.Compile(ctx, prog.name, prog.Text, memory)
}

// extra is struct Extra of phase.c.
type extra struct {
	shared, state uintptr
	items, each   uint64
}

// run is a run under way.
type run struct {
	ctx     context.Context
	code    *irgen.Code
	lending map[*kir.Func]bool // of Code
	o       Options
	lib     *native.Library
	memory  *c.Memory
	private [][]uint64
	shared  []uint64
	state   []uint64

	team native.Team
	lent uint64

	mu      sync.Mutex // of row, and of Emit
	row     []types.Word
	words   [][]types.Word // of workers, for Rows
	emitted atomic.Uint64
	enough  atomic.Bool
}

// errEnough ends a run whose consumer of rows wants no more.
var errEnough = errors.New("enough")

// Result is the result of a run.
type Result struct {
	interp.Result
	Lent uint64 // times that a thread lent turns of a loop to another
}

// Run runs the program. The error is one of the program's failures, ctx's, or that of a limit.
func (prog *Code) Run(ctx context.Context, o Options) (res Result, err error) {
	code := prog.code
	threads := o.Schedule.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	threads = min(threads, native.MostWorkers)
	need := float64(code.Words)*4*float64(threads) + float64(code.SharedWords)*4
	if err := fits(code, threads, need, o.Memory); err != nil {
		return res, err
	}
	if err := memory.ShareOf(ctx).Take("what the program makes", int64(need)); err != nil {
		return res, err
	}
	lib, err := prog.Compile(ctx, o.Objects, o.Compiler)
	if err != nil {
		return res, err
	}
	r := &run{ctx: ctx, code: code, lending: prog.lending, o: o, lib: lib, memory: c.NewMemory(code.Program, o.Classes)}
	for range threads {
		r.private = append(r.private, native.Words(int(code.Words/2+1)))
	}
	r.shared, r.state = make([]uint64, code.SharedWords/2+1), make([]uint64, len(code.State.Fields)+1)
	defer r.team.Close()
	for i := range code.Phases {
		if err = r.phase(i); err != nil {
			break
		}
	}
	res.Emitted, res.Lent = r.emitted.Load(), r.lent
	if errors.Is(err, errEnough) {
		res.Stopped = true
		return res, nil
	}
	if err != nil {
		return res, err
	}
	for _, f := range code.Result {
		res.Words = append(res.Words, types.Word(r.state[f]))
	}
	return res, nil
}

// fits compares the bytes of memory that a run needs with a limit.
func fits(code *irgen.Code, threads int, need float64, limit int64) error {
	if limit == 0 {
		limit = interp.DefaultMemory
	}
	if need <= float64(limit) {
		return nil
	}
	return &data.MemoryError{Err: fmt.Errorf("%d threads of %d bytes, and %d bytes for all, are more than the %d that there may be; fewer threads, or more memory",
		threads, code.Words*4, code.SharedWords*4, limit)}
}

// phase runs one phase.
func (r *run) phase(i int) error {
	p := &r.code.Phases[i]
	x := &extra{each: 1, shared: uintptr(unsafe.Pointer(&r.shared[0])), state: uintptr(unsafe.Pointer(&r.state[0]))}
	j := &native.Job{
		Library: r.lib, Entry: fmt.Sprintf("phase%d", i), Memory: r.memory, Extra: unsafe.Pointer(x),
		Workers: 1, Units: 1, Private: r.private, Schedule: native.Schedule{Static: r.o.Schedule.Static, NoSteal: !r.o.Schedule.Steal},
	}
	if p.Item != nil {
		x.items = uint64(max(0, int64(r.state[p.Items])))
		x.each = x.items/(math.MaxUint32/2) + 1
		j.Units = (x.items + x.each - 1) / x.each
		j.Workers, j.Sums, j.Shared = len(r.private), len(p.Sums.Fields), r.lending[p.Item]
	}
	if width := r.width(); width > 0 {
		cell := 8
		if c.RowKind(r.code.Program) == kir.U32 {
			cell = 4
		}
		j.RowBytes = width * cell
		r.words = make([][]types.Word, len(r.private))
		j.Rows = func(worker int, rows []byte) error { return r.rows(worker, rows, width, cell) }
	}
	res, err := r.team.Run(r.ctx, j)
	runtime.KeepAlive(r)
	r.lent += res.Lent
	if res.Failed != 0 {
		return r.code.Failure(res.Failed)
	}
	for k, f := range p.Into {
		for _, sums := range res.Sums {
			r.state[f] += sums[k]
		}
	}
	return err
}

// width is how many components the rows that the program emits have; 0: it emits
// none.
func (r *run) width() (n int) {
	for _, f := range r.code.Program.Funcs {
		kir.WalkStmts(f.Body, func(s kir.Stmt) {
			if e, ok := s.(*kir.Emit); ok {
				n = len(e.Row)
			}
		})
	}
	return n
}

// rows hands a worker's rows on.
func (r *run) rows(worker int, rows []byte, width, cell int) error {
	if r.enough.Load() {
		return errEnough // another worker was told
	}
	words := r.words[worker][:0]
	if cell == 4 {
		for _, x := range unsafe.Slice((*uint32)(unsafe.Pointer(&rows[0])), len(rows)/4) {
			words = append(words, types.Word(x))
		}
		r.words[worker] = words
	} else {
		words = unsafe.Slice((*types.Word)(unsafe.Pointer(&rows[0])), len(rows)/8)
	}
	taken, more := len(words)/width, true
	switch {
	case r.o.Rows != nil:
		taken, more = r.o.Rows(worker, words)
	case r.o.Emit != nil:
		taken, more = r.oneByOne(words, width)
	}
	r.emitted.Add(uint64(taken))
	if !more {
		r.enough.Store(true)
		return errEnough
	}
	return nil
}

// oneByOne hands rows to Emit.
func (r *run) oneByOne(words []types.Word, width int) (taken int, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ; len(words) > 0; words = words[width:] {
		if r.enough.Load() {
			return taken, false // another worker was told
		}
		taken++
		if r.row = append(r.row[:0], words[:width]...); !r.o.Emit(r.row) {
			r.enough.Store(true)
			return taken, false
		}
	}
	return taken, true
}
