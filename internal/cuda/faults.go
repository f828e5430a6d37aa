package cuda

import (
	"fmt"
	"sync"
	"time"
	"unsafe"
)

// Faults is a backend in which calls fail on purpose, to test the layers above it. Counts are from 1; 0 means
// never.
//
//	d, err := cuda.New(&cuda.Faults{Backend: b, FailAlloc: 3})
type Faults struct {
	Backend

	FailAlloc   int // the n-th Alloc or Pin finds no memory
	FailCompile int // the n-th Compile does not compile
	FailLoad    int // the n-th Load is refused: an image for another architecture
	FailLaunch  int // the n-th Launch is refused
	FailCopy    int // the n-th CopyIn, CopyOut, Copy or Fill is refused
	FailWork    int // the n-th look at a stream (Wait, Done) finds that a kernel failed: the device is lost
	LoseAfter   int // after n calls of any kind, Open and Close apart, the device is lost

	// SkipFrom: the n-th Launch and all after it are accepted, and their kernels do not run.
	SkipFrom int
	// SkipOne: the n-th Launch alone is accepted, and its kernel does not run.
	SkipOne int

	// Before the n-th call of any kind, n being CallAt, Call is called: to end a context, say.
	CallAt int
	Call   func()

	// HoldCompile, unless nil, holds each Compile until it is closed.
	HoldCompile <-chan struct{}

	mu                                                      sync.Mutex // guards the rest: Compile is called from other goroutines
	allocs, compiles, loads, launches, copies, looks, calls int
	lost                                                    error
}

// Calls is how many calls were made: a run without faults tells which LoseAfter are worth trying.
func (f *Faults) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Launches is how many kernels were launched.
func (f *Faults) Launches() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.launches
}

// enter counts a call and says whether the device is lost.
func (f *Faults) enter(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost == nil && f.LoseAfter > 0 && f.calls >= f.LoseAfter {
		f.lost = &Error{Op: op, Name: "injected", Text: "the device is gone", Kind: ErrLost, Lost: true}
	}
	if f.calls++; f.calls == f.CallAt {
		f.Call()
	}
	return f.lost
}

// nth counts up to the call that fails.
func (f *Faults) nth(count *int, fail int, e Error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *count++; *count != fail {
		return nil
	}
	e.Name = "injected"
	return &e
}

func (f *Faults) Alloc(bytes int64) (uint64, error) {
	if err := f.enter("alloc"); err != nil {
		return 0, err
	}
	if err := f.nth(&f.allocs, f.FailAlloc, Error{Op: fmt.Sprintf("alloc of %d bytes", bytes), Kind: ErrMemory}); err != nil {
		return 0, err
	}
	return f.Backend.Alloc(bytes)
}

func (f *Faults) Pin(bytes int64) (unsafe.Pointer, uint64, error) {
	if err := f.enter("pinned memory"); err != nil {
		return nil, 0, err
	}
	if err := f.nth(&f.allocs, f.FailAlloc, Error{Op: fmt.Sprintf("%d bytes of pinned memory", bytes), Kind: ErrMemory}); err != nil {
		return nil, 0, err
	}
	return f.Backend.Pin(bytes)
}

func (f *Faults) Manage(bytes int64) (unsafe.Pointer, uint64, error) {
	if err := f.enter("managed memory"); err != nil {
		return nil, 0, err
	}
	if err := f.nth(&f.allocs, f.FailAlloc, Error{Op: fmt.Sprintf("%d bytes of managed memory", bytes), Kind: ErrMemory}); err != nil {
		return nil, 0, err
	}
	return f.Backend.Manage(bytes)
}

func (f *Faults) Attach(host unsafe.Pointer, bytes int64) (uint64, error) {
	if err := f.enter("pinned memory"); err != nil {
		return 0, err
	}
	if err := f.nth(&f.allocs, f.FailAlloc, Error{Op: fmt.Sprintf("%d bytes of pinned memory", bytes), Kind: ErrMemory}); err != nil {
		return 0, err
	}
	return f.Backend.Attach(host, bytes)
}

func (f *Faults) Compile(src Source) ([]byte, error) {
	if err := f.enter("compile"); err != nil {
		return nil, err
	}
	if err := f.nth(&f.compiles, f.FailCompile, Error{Op: "compile of " + src.Name, Kind: ErrCompile}); err != nil {
		return nil, err
	}
	if f.HoldCompile != nil {
		<-f.HoldCompile
	}
	return f.Backend.Compile(src)
}

func (f *Faults) Load(image []byte) (Handle, error) {
	if err := f.enter("load"); err != nil {
		return 0, err
	}
	if err := f.nth(&f.loads, f.FailLoad, Error{Op: "load of a module", Kind: ErrArch}); err != nil {
		return 0, err
	}
	return f.Backend.Load(image)
}

func (f *Faults) Launch(function Handle, blocks, threads, shared int, stream Handle, params unsafe.Pointer, bytes int) error {
	if err := f.enter("launch"); err != nil {
		return err
	}
	if err := f.nth(&f.launches, f.FailLaunch, Error{Op: "launch", Kind: ErrLaunch}); err != nil {
		return err
	}
	if n := f.Launches(); f.SkipFrom > 0 && n >= f.SkipFrom || n == f.SkipOne {
		return nil
	}
	return f.Backend.Launch(function, blocks, threads, shared, stream, params, bytes)
}

// copying is the common part of all transfers.
func (f *Faults) copying(op string) error {
	if err := f.enter(op); err != nil {
		return err
	}
	return f.nth(&f.copies, f.FailCopy, Error{Op: op})
}

func (f *Faults) Fill(dst uint64, value byte, bytes int64, stream Handle) error {
	if err := f.copying("fill"); err != nil {
		return err
	}
	return f.Backend.Fill(dst, value, bytes, stream)
}

func (f *Faults) CopyIn(dst uint64, src unsafe.Pointer, bytes int64, stream Handle) error {
	if err := f.copying("copy to the device"); err != nil {
		return err
	}
	return f.Backend.CopyIn(dst, src, bytes, stream)
}

func (f *Faults) CopyOut(dst unsafe.Pointer, src uint64, bytes int64, stream Handle) error {
	if err := f.copying("copy from the device"); err != nil {
		return err
	}
	return f.Backend.CopyOut(dst, src, bytes, stream)
}

func (f *Faults) Copy(dst, src uint64, bytes int64, stream Handle) error {
	if err := f.copying("copy on the device"); err != nil {
		return err
	}
	return f.Backend.Copy(dst, src, bytes, stream)
}

// look is the common part of Wait and Done.
func (f *Faults) look() error {
	if err := f.enter("wait for a stream"); err != nil {
		return err
	}
	err := f.nth(&f.looks, f.FailWork, Error{Op: "wait for a stream", Text: "a kernel failed", Kind: ErrLaunch, Lost: true})
	if err != nil {
		f.mu.Lock()
		f.lost = err
		f.mu.Unlock()
	}
	return err
}

func (f *Faults) Wait(stream Handle) error {
	if err := f.look(); err != nil {
		return err
	}
	return f.Backend.Wait(stream)
}

func (f *Faults) Done(stream Handle) (bool, error) {
	if err := f.look(); err != nil {
		return false, err
	}
	return f.Backend.Done(stream)
}

// The rest only fails once the device is lost.

func (f *Faults) Free(ptr uint64) error {
	if err := f.enter("free"); err != nil {
		return err
	}
	return f.Backend.Free(ptr)
}

func (f *Faults) Unpin(host unsafe.Pointer) error {
	if err := f.enter("free of pinned memory"); err != nil {
		return err
	}
	return f.Backend.Unpin(host)
}

func (f *Faults) Detach(host unsafe.Pointer) error {
	if err := f.enter("free of pinned memory"); err != nil {
		return err
	}
	return f.Backend.Detach(host)
}

func (f *Faults) Memory() (free, total int64, err error) {
	if err := f.enter("memory"); err != nil {
		return 0, 0, err
	}
	return f.Backend.Memory()
}

func (f *Faults) NewStream() (Handle, error) {
	if err := f.enter("new stream"); err != nil {
		return 0, err
	}
	return f.Backend.NewStream()
}

func (f *Faults) CloseStream(stream Handle) error {
	if err := f.enter("close of a stream"); err != nil {
		return err
	}
	return f.Backend.CloseStream(stream)
}

func (f *Faults) Synchronize() error {
	if err := f.enter("synchronize"); err != nil {
		return err
	}
	return f.Backend.Synchronize()
}

func (f *Faults) NewEvent() (Handle, error) {
	if err := f.enter("new event"); err != nil {
		return 0, err
	}
	return f.Backend.NewEvent()
}

func (f *Faults) CloseEvent(event Handle) error {
	if err := f.enter("close of an event"); err != nil {
		return err
	}
	return f.Backend.CloseEvent(event)
}

func (f *Faults) Record(event, stream Handle) error {
	if err := f.enter("record of an event"); err != nil {
		return err
	}
	return f.Backend.Record(event, stream)
}

func (f *Faults) WaitEvent(event Handle) error {
	if err := f.enter("wait for an event"); err != nil {
		return err
	}
	return f.Backend.WaitEvent(event)
}

func (f *Faults) Follow(stream, event Handle) error {
	if err := f.enter("wait of a stream for an event"); err != nil {
		return err
	}
	return f.Backend.Follow(stream, event)
}

func (f *Faults) Elapsed(from, to Handle) (time.Duration, error) {
	if err := f.enter("time between events"); err != nil {
		return 0, err
	}
	return f.Backend.Elapsed(from, to)
}

func (f *Faults) Unload(module Handle) error {
	if err := f.enter("unload of a module"); err != nil {
		return err
	}
	return f.Backend.Unload(module)
}

func (f *Faults) Function(module Handle, name string) (Handle, Function, error) {
	if err := f.enter("kernel " + name); err != nil {
		return 0, Function{}, err
	}
	return f.Backend.Function(module, name)
}

func (f *Faults) Occupancy(function Handle, threads, shared int) (int, error) {
	if err := f.enter("occupancy"); err != nil {
		return 0, err
	}
	return f.Backend.Occupancy(function, threads, shared)
}
