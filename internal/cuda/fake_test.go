package cuda

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// fake is a backend in Go: a program of its kernels is a list of names, and what a kernel does is in kernels. It
// checks that all calls come from one thread.
type fake struct {
	thread   int
	memory   map[uint64][]byte
	limit    int64 // of memory that may be allocated; 0: none
	kernels  map[string]func(f *fake, params []byte)
	compiled int
	source   Source // the last that was compiled
	loaded   int
	next     Handle
	modules  map[Handle]string
	names    map[Handle]string
	closed   atomic.Int32
	compiler string
	broken   func(image []byte) bool // images that Load refuses
	fail     error                   // what the next launch returns
	problems []string
}

func newFake() *fake {
	return &fake{memory: map[uint64][]byte{}, modules: map[Handle]string{}, names: map[Handle]string{}, compiler: "fake 1",
		kernels: map[string]func(*fake, []byte){}}
}

func (f *fake) here() {
	if id := threadID(); id != f.thread {
		f.problems = append(f.problems, fmt.Sprintf("a call from thread %d, not %d", id, f.thread))
	}
}

func (f *fake) Open() (Info, error) {
	f.thread = threadID()
	return Info{Name: "fake", Compiler: f.compiler, Major: 9, SMs: 4, WarpSize: 32, SharedPerBlock: 100 << 10, Emulated: true}, nil
}

func (f *fake) Close() error { f.here(); f.closed.Add(1); return nil }

func (f *fake) Alloc(bytes int64) (uint64, error) {
	f.here()
	if f.limit > 0 && bytes > f.limit {
		return 0, &Error{Op: "alloc", Kind: ErrMemory}
	}
	b := make([]byte, bytes)
	ptr := uint64(uintptr(unsafe.Pointer(&b[0])))
	f.memory[ptr] = b
	return ptr, nil
}

func (f *fake) Free(ptr uint64) error { f.here(); delete(f.memory, ptr); return nil }

func (f *fake) Memory() (int64, int64, error) { f.here(); return 1 << 20, 2 << 20, nil }

func (f *fake) Pin(bytes int64) (unsafe.Pointer, uint64, error) {
	ptr, err := f.Alloc(bytes)
	if err != nil {
		return nil, 0, err
	}
	return unsafe.Pointer(&f.memory[ptr][0]), ptr, nil
}

func (f *fake) Manage(bytes int64) (unsafe.Pointer, uint64, error) { return f.Pin(bytes) }

func (f *fake) Unpin(host unsafe.Pointer) error { return f.Free(uint64(uintptr(host))) }

func (f *fake) Attach(host unsafe.Pointer, _ int64) (uint64, error) {
	f.here()
	return uint64(uintptr(host)), nil
}

func (f *fake) Detach(unsafe.Pointer) error { f.here(); return nil }

// at is the memory from an address on.
func (f *fake) at(ptr uint64, bytes int64) []byte {
	for base, b := range f.memory {
		if ptr >= base && ptr+uint64(bytes) <= base+uint64(len(b)) {
			return b[ptr-base:][:bytes]
		}
	}
	panic(fmt.Sprintf("%d bytes at %#x are not allocated", bytes, ptr))
}

func (f *fake) Fill(dst uint64, value byte, bytes int64, _ Handle) error {
	f.here()
	for i := range f.at(dst, bytes) {
		f.at(dst, bytes)[i] = value
	}
	return nil
}

func (f *fake) CopyIn(dst uint64, src unsafe.Pointer, bytes int64, _ Handle) error {
	f.here()
	copy(f.at(dst, bytes), unsafe.Slice((*byte)(src), bytes))
	return nil
}

func (f *fake) CopyOut(dst unsafe.Pointer, src uint64, bytes int64, _ Handle) error {
	f.here()
	copy(unsafe.Slice((*byte)(dst), bytes), f.at(src, bytes))
	return nil
}

func (f *fake) Copy(dst, src uint64, bytes int64, _ Handle) error {
	f.here()
	copy(f.at(dst, bytes), f.at(src, bytes))
	return nil
}

func (f *fake) handle() Handle { f.here(); f.next++; return f.next }

func (f *fake) NewStream() (Handle, error) { return f.handle(), nil }
func (f *fake) CloseStream(Handle) error   { f.here(); return nil }
func (f *fake) Wait(Handle) error          { f.here(); return nil }
func (f *fake) Done(Handle) (bool, error)  { f.here(); return true, nil }
func (f *fake) Synchronize() error         { f.here(); return nil }
func (f *fake) NewEvent() (Handle, error)  { return f.handle(), nil }
func (f *fake) CloseEvent(Handle) error    { f.here(); return nil }
func (f *fake) Record(_, _ Handle) error   { f.here(); return nil }
func (f *fake) WaitEvent(Handle) error     { f.here(); return nil }
func (f *fake) Follow(_, _ Handle) error   { f.here(); return nil }
func (f *fake) Elapsed(from, to Handle) (time.Duration, error) {
	f.here()
	return time.Duration(to - from), nil
}
func (f *fake) Occupancy(_ Handle, threads, _ int) (int, error) { f.here(); return 2048 / threads, nil }

func (f *fake) Compile(src Source) ([]byte, error) {
	f.compiled++
	f.source = src
	if strings.Contains(src.Text, "#error") {
		return nil, &Error{Op: "compile of " + src.Name, Kind: ErrCompile, Log: src.Name + "(1): error: #error"}
	}
	return []byte("image of " + src.Text), nil
}

func (f *fake) Load(image []byte) (Handle, error) {
	f.here()
	text, ok := strings.CutPrefix(string(image), "image of ")
	if !ok || f.broken != nil && f.broken(image) {
		return 0, &Error{Op: "load", Kind: ErrArch}
	}
	f.loaded++
	h := f.handle()
	f.modules[h] = text
	return h, nil
}

func (f *fake) Unload(module Handle) error { f.here(); delete(f.modules, module); return nil }

func (f *fake) Function(module Handle, name string) (Handle, Function, error) {
	f.here()
	if !strings.Contains(f.modules[module], name) {
		return 0, Function{}, &Error{Op: "kernel " + name, Name: "not found"}
	}
	h := f.handle()
	f.names[h] = name
	return h, Function{Registers: 32, SharedStatic: 1 << 10, MaxThreads: 512, ParamBytes: 16}, nil
}

func (f *fake) Launch(function Handle, blocks, threads, shared int, _ Handle, params unsafe.Pointer, bytes int) error {
	if f.fail != nil {
		return f.fail
	}
	if k := f.kernels[f.names[function]]; k != nil {
		k(f, unsafe.Slice((*byte)(params), bytes))
	}
	return nil
}

// addParams is the argument of the fake kernel "add".
type addParams struct {
	Data uint64
	N, X uint32
}

// add adds X to N numbers of 32 bits.
func add(f *fake, params []byte) {
	data, n := binary.LittleEndian.Uint64(params), binary.LittleEndian.Uint32(params[8:])
	for i := range n {
		word := f.at(data+uint64(4*i), 4)
		binary.LittleEndian.PutUint32(word, binary.LittleEndian.Uint32(word)+binary.LittleEndian.Uint32(params[12:]))
	}
}

// open opens a device over b without a cache on disk, unless the test has set one.
func open(t testing.TB, b Backend) *Device {
	t.Helper()
	d, err := New(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if f, ok := b.(*fake); ok && f.problems != nil {
			t.Error(strings.Join(f.problems, "\n"))
		}
	})
	return d
}

// do runs f on the device and fails the test with its error.
func do(t testing.TB, d *Device, f func(c *Context) error) {
	t.Helper()
	if err := d.Do(f); err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0))) // goroutines must be able to change threads
	os.Setenv("WEFT_CACHE", "off")                    // tests of the cache have directories of their own
	os.Exit(m.Run())
}
