package session

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// Exec is one device in a run, as the job's functions see it. It is only valid
// inside them.
type Exec struct {
	c       *cuda.Context
	dev     *device
	job     *Job
	index   int
	workers int // that take rows
	running *running

	run      run
	graph    []byte                   // struct Graph of the generated text
	arrays   map[arrayKey]cuda.Buffer // of the job's globals
	tables   map[arrayKey]*table      // of cached lists
	sweeps   *Sweeps                  // nil: the search cannot go in sweeps
	sweep    *sweep                   // nil: it does not
	swept    cuda.Buffer              // of a block's lists
	stream   *cuda.Stream
	begin    *cuda.Event
	end      *cuda.Event
	branches []*branch
	fork     *cuda.Event

	searching bool // Start has returned
	launched  bool
	modules   map[string]*cuda.Module // by the text that follows Source's
	tools     *Tools
	counters  cuda.Buffer
	scratch   []cuda.Buffer
	atEnd     []func() error
	lent      []*cuda.Pinned
	result    DeviceResult
}

// Context is the device's.
func (x *Exec) Context() *cuda.Context { return x.c }

// Info describes the device.
func (x *Exec) Info() cuda.Info { return x.dev.dev.Info() }

// Index is the device's number among the session's, from 0.
func (x *Exec) Index() int { return x.index }

// Stream is where Launch puts kernels; copies and fills that they need go there
// too.
func (x *Exec) Stream() *cuda.Stream { return x.stream }

// Tasks are the tasks of the whole run: this device gets a part of them.
func (x *Exec) Tasks() uint64 { return x.run.Tasks }

// Kernel compiles the job's source, or takes it from the caches, and finds a
// kernel in it.
func (x *Exec) Kernel(name string) (*cuda.Kernel, error) {
	text, part := x.job.Parts[name]
	if !part || x.Info().Emulated {
		text = x.job.texts(x.Info())[0]
	}
	m := x.modules[text]
	if m == nil {
		start := time.Now()
		var err error
		m, err = x.c.ModuleWithin(x.running.ctx, x.job.source(text))
		x.result.Compile += time.Since(start)
		if err != nil {
			return nil, err
		}
		if x.modules == nil {
			x.modules = map[string]*cuda.Module{}
		}
		x.modules[text] = m
	}
	return m.Kernel(name)
}

// User returns the value of the i-th of the engine's own counters on this device, as added to
// by kernels that have ended. Call it in Start, after waiting for Stream.
func (x *Exec) User(i int) (uint64, error) {
	at := unsafe.Offsetof(counters{}.User) + uintptr(i)*unsafe.Sizeof(uint64(0))
	got := make([]uint64, 1)
	err := cuda.Download(x.c, got, x.counters, int64(at))
	return got[0], err
}

// Room is how many bytes a search may take by Scratch for memory of which it takes as much as
// there is. It is 0 in a run that is to take as little as it can. A cache gets half of the memory.
func (x *Exec) Room() int64 {
	left := x.dev.room.left() + x.dev.arrays.idle()
	switch {
	case x.job.least:
		return 0
	case len(x.tables) > 0:
		return left / 2
	}
	return left
}

// Cached reports whether the run's kernels are compiled for a cache of lists (WEFT_CACHED).
func (x *Exec) Cached() bool { return x.job.cached }

// Least reports whether the run is to take as little device memory as it can.
func (x *Exec) Least() bool { return x.job.least }

// Scratch takes device memory until the end of the run. Its contents are unknown. what names
// the purpose in the error if there is too little memory.
func (x *Exec) Scratch(what string, bytes int64) (cuda.Buffer, error) {
	b, err := x.dev.scratch(x.c, x.job.Name, what, bytes)
	var s *shortage
	if x.searching && errors.As(err, &s) {
		dropped, failed := x.dropCache()
		if failed != nil {
			return b, failed
		}
		if dropped {
			b, err = x.dev.scratch(x.c, x.job.Name, what, bytes)
		}
	}
	if x.searching && errors.As(err, &s) {
		err = s.err // rows may have been taken
	}
	if err == nil {
		x.scratch = append(x.scratch, b)
		x.result.Scratch += b.Size
		b.Size = bytes
	}
	return b, err
}

// Market is struct Market of base/steal.cuh: where blocks without work wait, and get
// work from other blocks. It goes into the engine's part of the argument.
type Market struct {
	Idle, Map, Fed, Mail uint64
	MailBytes, Blocks    uint32
}

// Market takes and clears a market for a grid of `blocks` blocks. Each block has mail of
// mailBytes bytes, rounded up to whole 128-byte lines. A kernel that is launched again needs a
// new one.
func (x *Exec) Market(blocks, mailBytes int) (Market, error) {
	mail := (int64(mailBytes) + 127) &^ 127
	words := (int64(blocks+31)/32*4 + 127) &^ 127
	state, err := x.Scratch("idle blocks", 128+words+4*int64(blocks))
	if err != nil {
		return Market{}, err
	}
	if err := x.c.Clear(state, x.stream); err != nil {
		return Market{}, err
	}
	b, err := x.Scratch("work handed between blocks", mail*int64(blocks))
	if err != nil {
		return Market{}, err
	}
	at := state.Ptr
	return Market{
		Idle: at, Map: at + 128, Fed: at + 128 + uint64(words), Mail: b.Ptr,
		MailBytes: uint32(mail), Blocks: uint32(blocks),
	}, nil
}

// Launch starts a kernel whose argument is struct { Run run; Graph graph; X x; }
// in the order of x.Stream, or of l.Stream, a branch; X is a plain struct. With a
// nil *struct{} the argument is { Run run; Graph graph; }.
func Launch[X any](x *Exec, k *cuda.Kernel, l cuda.Launch, extra *X) error {
	return Prepared(x, k, l, extra)()
}

// LaunchFixed is Launch of a kernel whose text is the same for all programs: its argument is
// struct { Run run; X x; }. Address says where the program's globals are.
func LaunchFixed[X any](x *Exec, k *cuda.Kernel, l cuda.Launch, extra *X) error {
	return x.launch(k, l, &fixed[X]{x.run, *extra})
}

// fixed is the argument of LaunchFixed: a type of Go, which is found faster than one that is made of words.
type fixed[X any] struct {
	Run   run
	Extra X
}

// Address returns where a part of a global of the job's program is in memory that kernels read;
// 0: the program does without it.
func (x *Exec) Address(g *kir.GlobalDef, part emit.Part) uint64 {
	return x.arrays[x.job.keyOf(g, part)].Ptr
}

// Prepared makes the argument of a launch, and returns a function that starts the kernel. Call
// it after all that Start tells x. Why: a search of microseconds must not wait for the
// argument.
func Prepared[X any](x *Exec, k *cuda.Kernel, l cuda.Launch, extra *X) func() error {
	return prepared(x, k, l, x.params(x.graph), extra)
}

func prepared[X any](x *Exec, k *cuda.Kernel, l cuda.Launch, words []uint64, extra *X) func() error {
	if n := unsafe.Sizeof(*extra); n > 0 {
		tail := make([]uint64, (n+7)/8)
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&tail[0])), n), unsafe.Slice((*byte)(unsafe.Pointer(extra)), n))
		words = append(words, tail...)
	}
	arg := argument(words)
	return func() error { return x.launch(k, l, arg) }
}

// launch starts a kernel in its stream, and notes when the search began.
func (x *Exec) launch(k *cuda.Kernel, l cuda.Launch, arg any) error {
	if err := x.started(); err != nil {
		return err
	}
	if l.Stream == nil || l.Stream == x.stream {
		l.Stream = x.stream
	} else if err := x.enter(l.Stream); err != nil {
		return err
	}
	return k.Launch(l, arg)
}

// started notes when the search began, if it has not begun before.
func (x *Exec) started() error {
	if !x.searching || x.launched {
		return nil
	}
	x.launched = true
	return x.begin.Record(x.stream)
}

// params is Run and graph as the words that a kernel's argument begins with.
func (x *Exec) params(graph []byte) []uint64 {
	n := int(unsafe.Sizeof(run{}))/8 + len(graph)/8
	words := make([]uint64, n, n+32) // and room for the engine's counters
	b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
	copy(b, unsafe.Slice((*byte)(unsafe.Pointer(&x.run)), unsafe.Sizeof(run{})))
	copy(b[unsafe.Sizeof(run{}):], graph)
	return words
}

// argument is a struct of just these words: their number differs from plan to
// plan, since every global of the program has its place in the argument.
func argument(words []uint64) any {
	t := reflect.StructOf([]reflect.StructField{{Name: "W", Type: reflect.ArrayOf(len(words), reflect.TypeFor[uint64]())}})
	p := reflect.New(t)
	reflect.Copy(p.Elem().Field(0), reflect.ValueOf(words))
	return p.Interface()
}

// Tools returns the preparations on this device, in the order of x.Stream. Their working memory
// is scratch memory of the run.
func (x *Exec) Tools() (*Tools, error) {
	if x.tools == nil {
		start := time.Now()
		src := x.job.sources.get(sourceParts{name: "prepare.cu"}, toolsSource)
		t, err := newTools(x.running.ctx, x.c, src, x.stream, x.Info().SMs, x.Scratch)
		x.result.Compile += time.Since(start)
		if err != nil {
			return nil, err
		}
		x.tools = t
		x.countTools()
	}
	return x.tools, nil
}

// countTools has the kernels of Tools note in the run's counters that they ran. Kernels that
// ran before there were counters were checked separately.
func (x *Exec) countTools() {
	if x.tools != nil && x.counters.Ptr != 0 {
		x.tools.noteAt(x.counters.Ptr + uint64(unsafe.Offsetof(counters{}.Turn)))
	}
}

// first fills a resident array with where the larger ids begin in each list.
func (x *Exec) first(b cuda.Buffer, l Lists) error {
	t, err := x.Tools()
	if err != nil {
		return err
	}
	// The last word is a place that no list has until the kernel has run. Later runs take the
	// contents of b for valid.
	last := cuda.Buffer{Ptr: b.Ptr + uint64(b.Size-8), Size: 8}
	if err := errors.Join(x.c.Fill(last, 0xff, x.stream), t.First(b, l, uint64(b.Size/8)), x.stream.Synchronize()); err != nil {
		return err
	}
	got := make([]uint64, 1)
	if err := cuda.Download(x.c, got, last, 0); err != nil {
		return err
	}
	if got[0] == math.MaxUint64 {
		return &cuda.Error{Op: x.job.Name, Kind: cuda.ErrLaunch, Text: "the kernel that finds where larger ids begin did not run"}
	}
	return nil
}

// close gives back the run's memory on the device. Of a run that failed nothing is kept for others: its kernels may still write there
// until the driver, which takes the memory back, has waited for them.
func (x *Exec) close(failed bool) error {
	var errs []error
	give := x.dev.release
	if failed {
		give = x.dev.free
	}
	for _, f := range x.atEnd {
		errs = append(errs, f())
	}
	if x.dev.idle++; len(x.lent) > 0 || x.dev.idle > spareRuns {
		for _, p := range x.dev.spare { // this run has asked for other memory, or none has asked for any
			errs = append(errs, p.Free())
		}
		x.dev.spare, x.dev.idle, x.lent = x.lent, 0, nil
	}
	for _, e := range []*cuda.Event{x.begin, x.end} {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	for _, m := range x.modules {
		errs = append(errs, m.Close())
	}
	if x.tools != nil {
		errs = append(errs, x.tools.close())
	}
	for _, b := range x.scratch {
		errs = append(errs, give(x.c, b))
	}
	errs = append(errs, x.dev.freeIf(x.c, (*array).temporary))
	errs = append(errs, x.leave(), x.stream.Close())
	return errors.Join(errs...)
}

// Hand gives rows to the job's Rows, each of Width ids in the order of Columns, as if a kernel had written them. Calls with
// equal k, below Hands, come one after the other.
func (x *Exec) Hand(k int, rows []uint32) {
	x.running.rows.hand(x.index*x.workers+k, rows, len(x.job.Columns))
}

// Hands is how many callers of Hand a device has.
func (x *Exec) Hands() int { return x.workers }

// spareRuns is how many runs in succession that borrow no page-locked memory leave what the runs before have borrowed. A search in parts has
// a run for each part before the one that borrows.
const spareRuns = 64

// Lend gives page-locked memory of at least the given size until the end of the run. Its contents are unknown. The device keeps
// it for its next run that borrows, since such memory is slow to get.
func (x *Exec) Lend(bytes int64) (*cuda.Pinned, error) {
	best := -1
	for i, p := range x.dev.spare {
		if n := int64(len(p.Bytes())); n >= bytes && n <= 2*bytes && (best < 0 || n < int64(len(x.dev.spare[best].Bytes()))) {
			best = i
		}
	}
	if best >= 0 {
		p := x.dev.spare[best]
		x.dev.spare = slices.Delete(x.dev.spare, best, best+1)
		x.lent = append(x.lent, p)
		return p, nil
	}
	p, err := x.c.PinnedRaw(bytes)
	if err == nil {
		x.lent = append(x.lent, p)
	}
	return p, err
}

// AtEnd has f called at the end of the run on this device, also of one that fails, while its streams and memory are still there.
func (x *Exec) AtEnd(f func() error) { x.atEnd = append(x.atEnd, f) }

// Enough ends the run on all devices, as its limit does.
func (x *Exec) Enough() { x.running.stop(nil) }
