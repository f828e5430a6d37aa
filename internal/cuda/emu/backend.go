//go:build linux && (amd64 || arm64)

package emu

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/vfs"
)

// Operations of emu_call, in the order of runtime/api.cpp.
const (
	opOpen = iota
	opClose
	opAlloc
	opFree
	opMemory
	opPin
	opUnpin
	opFill
	opCopyIn
	opCopyOut
	opTake
	opCopy
	opNewStream
	opCloseStream
	opWait
	opDone
	opSynchronize
	opNewEvent
	opCloseEvent
	opRecord
	opWaitEvent
	opFollow
	opElapsed
	opLoad
	opUnload
	opFunction
	opOccupancy
	opLaunch
)

// Answers of emu_call.
const (
	statusOK = iota
	statusError
	statusMemory
	statusLost
)

// args are the numbers that an operation takes, and then those that it gives.
type args [8]uint64

// system is the run-time system: in this process, or at the other end of a pipe.
type system interface {
	// call does one operation. text has the error if the status is not statusOK.
	call(op uint32, a *args, in, out []byte) (status int, text string)
	// pinName is how the run-time system names an open file of this process, "" if it shares its memory.
	pinName(file int) string
	end() error
}

// config is struct Config of runtime/warp.h.
type config struct {
	sms, blocksPerSM, threadsPerSM, threads uint32
	sharedPerBlock, sharedPerSM, memory     uint64
	seed, patience                          uint64
}

// backend is the emulated device as a cuda.Backend.
type backend struct {
	o        Options
	compiler *compiler
	system   system
	dir      *disk.TempDir // for images while they are loaded
	images   int
	pinned   map[unsafe.Pointer]pinned
	copies   map[cuda.Handle][]copyOut
}

// pinned is memory of this process that the device sees at ptr.
type pinned struct {
	mapping []byte // nil: another device pinned it
	ptr     uint64
	bytes   int64
	size    int64 // with the rest of its last page
}

// copyOut is a copy to the host that the run-time system has or will have.
type copyOut struct {
	ticket uint64
	dst    unsafe.Pointer
	bytes  int64
}

// Backend is the device before it is opened, for cuda.New over wrappers such as cuda.Faults.
func Backend(o Options) (cuda.Backend, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	c, err := findCompiler()
	if err != nil {
		return nil, err
	}
	return &backend{o: o, compiler: c, pinned: map[unsafe.Pointer]pinned{}, copies: map[cuda.Handle][]copyOut{}}, nil
}

func (b *backend) Open() (cuda.Info, error) {
	var err error
	if b.dir, err = disk.NewTempDir(vfs.OS{}, "emulated-device"); err != nil {
		return cuda.Info{}, fmt.Errorf("emu: %w", err)
	}
	if b.o.Sanitize == NoSanitizer {
		b.system, err = openLibrary(b.compiler, b.o.Objects)
	} else {
		b.system, err = openProgram(b.compiler, b.o.Objects.Images, b.o.Sanitize, b.dir.Path)
	}
	if err != nil {
		b.dir.Remove()
		return cuda.Info{}, err
	}
	c := config{
		sms: uint32(b.o.SMs), blocksPerSM: uint32(b.o.BlocksPerSM), threadsPerSM: uint32(b.o.ThreadsPerSM), threads: uint32(b.o.Threads),
		sharedPerBlock: uint64(b.o.SharedPerBlock), sharedPerSM: 2 * uint64(b.o.SharedPerBlock), memory: uint64(b.o.Memory),
		seed: b.o.Seed, patience: uint64(b.o.Patience.Milliseconds()),
	}
	if err := b.call("emulated device", opOpen, &args{}, unsafe.Slice((*byte)(unsafe.Pointer(&c)), unsafe.Sizeof(c)), nil); err != nil {
		defer b.dir.Remove()
		return cuda.Info{}, errors.Join(err, b.system.end())
	}
	// Above 9: everything that kernels ask of an architecture is there.
	return cuda.Info{
		Name: "emulated device", Driver: "emulated", Compiler: b.compilerID(), Major: 9, Minor: 0,
		SMs: b.o.SMs, WarpSize: 32, Memory: b.o.Memory, L2: 1 << 20,
		SharedPerBlock: b.o.SharedPerBlock, SharedPerSM: 2 * b.o.SharedPerBlock,
		RegistersPerSM: 65536, ThreadsPerSM: b.o.ThreadsPerSM, BlocksPerSM: b.o.BlocksPerSM, Emulated: true,
	}, nil
}

// compilerID names everything that an image depends on besides its source.
func (b *backend) compilerID() string {
	return fmt.Sprintf("%s %s %x", b.compiler.Version, b.o.Optimize, digest(b.compiler.parts(b.o.Sanitize)))
}

func (b *backend) Close() error {
	defer b.dir.Remove()
	err := b.call("close", opClose, &args{}, nil, nil)
	for host := range b.pinned {
		err = errors.Join(err, b.unmap(host))
	}
	return errors.Join(err, b.system.end())
}

// call does an operation and makes an error of its status.
func (b *backend) call(op string, code uint32, a *args, in, out []byte) error {
	status, text := b.system.call(code, a, in, out)
	switch status {
	case statusOK:
		return nil
	case statusMemory:
		return &cuda.Error{Op: op, Text: "not enough memory on the emulated device", Kind: cuda.ErrMemory}
	case statusLost:
		return &cuda.Error{Op: op, Text: text, Kind: cuda.ErrLaunch, Lost: true}
	}
	e := &cuda.Error{Op: op, Text: text}
	if code == opLaunch {
		e.Kind = cuda.ErrLaunch
	}
	return e
}

func (b *backend) Alloc(bytes int64) (uint64, error) {
	a := args{uint64(bytes)}
	err := b.call(fmt.Sprintf("alloc of %d bytes", bytes), opAlloc, &a, nil, nil)
	return a[0], err
}

func (b *backend) Free(ptr uint64) error { return b.call("free", opFree, &args{ptr}, nil, nil) }

func (b *backend) Memory() (int64, int64, error) {
	var a args
	err := b.call("memory", opMemory, &a, nil, nil)
	return int64(a[0]), int64(a[1]), err
}

// Pin maps memory that a process at the other end of a pipe can map too.
func (b *backend) Pin(bytes int64) (unsafe.Pointer, uint64, error) {
	op := fmt.Sprintf("%d bytes of pinned memory", bytes)
	failed := func(err error) (unsafe.Pointer, uint64, error) {
		return nil, 0, &cuda.Error{Op: op, Text: err.Error(), Kind: cuda.ErrMemory}
	}
	file, err := unix.MemfdCreate("weft-pinned", unix.MFD_CLOEXEC)
	if err != nil {
		return failed(err)
	}
	size := pages(bytes)
	if err := unix.Ftruncate(file, size); err != nil {
		unix.Close(file)
		return failed(err)
	}
	mapping, err := unix.Mmap(file, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(file)
		return failed(err)
	}
	for i := bytes; i < size; i++ {
		mapping[i] = canary
	}
	host := unsafe.Pointer(unsafe.SliceData(mapping))
	files.Store(host, file)
	b.pinned[host] = pinned{mapping: mapping, bytes: bytes}
	ptr, err := b.attach(op, host, size)
	if err != nil {
		return nil, 0, errors.Join(err, b.unmap(host))
	}
	return host, ptr, nil
}

// files are the open files of all memory that is pinned in this process, by its address: a device that
// runs as a process of its own maps them.
var files sync.Map

// pages is the size of the pages that bytes take.
func pages(bytes int64) int64 {
	page := int64(os.Getpagesize())
	return (bytes + page - 1) / page * page
}

// attach tells the device of pinned memory.
func (b *backend) attach(op string, host unsafe.Pointer, size int64) (ptr uint64, err error) {
	file, ok := files.Load(host)
	if !ok {
		return 0, &cuda.Error{Op: op, Text: "it is not pinned"}
	}
	a := args{uint64(uintptr(host)), uint64(size)}
	if err := b.call(op, opPin, &a, []byte(b.system.pinName(file.(int))), nil); err != nil {
		return 0, err
	}
	p := b.pinned[host]
	p.ptr, p.size = a[0], size
	b.pinned[host] = p
	return p.ptr, nil
}

// Manage takes pinned memory: the emulated device reads the host's memory in place, and no page moves.
func (b *backend) Manage(bytes int64) (unsafe.Pointer, uint64, error) { return b.Pin(bytes) }

func (b *backend) Attach(host unsafe.Pointer, bytes int64) (uint64, error) {
	return b.attach(fmt.Sprintf("address of %d bytes of pinned memory", bytes), host, pages(bytes))
}

func (b *backend) Detach(host unsafe.Pointer) error {
	err := b.detach(b.pinned[host])
	delete(b.pinned, host)
	return err
}

// detach lets the device forget pinned memory.
func (b *backend) detach(p pinned) error {
	a := args{p.ptr}
	if b.system.pinName(0) != "" {
		a[1] = uint64(p.size) // its own mapping
	}
	return b.call("free of pinned memory", opUnpin, &a, nil, nil)
}

// canary fills the memory after pinned memory, up to the end of its page.
const canary = 0xc9

func (b *backend) Unpin(host unsafe.Pointer) error {
	p := b.pinned[host]
	err := b.detach(p)
	for i, c := range p.mapping[p.bytes:] {
		if c != canary && err == nil {
			err = &cuda.Error{Op: "free of pinned memory", Text: fmt.Sprintf("a kernel wrote outside it: byte %d of %d bytes", p.bytes+int64(i), p.bytes), Kind: cuda.ErrLaunch, Lost: true}
		}
	}
	return errors.Join(err, b.unmap(host))
}

func (b *backend) unmap(host unsafe.Pointer) error {
	p := b.pinned[host]
	delete(b.pinned, host)
	if p.mapping == nil {
		return nil // another device's
	}
	file, _ := files.LoadAndDelete(host)
	return errors.Join(unix.Close(file.(int)), unix.Munmap(p.mapping))
}

func (b *backend) Fill(dst uint64, value byte, bytes int64, stream cuda.Handle) error {
	return b.call("fill", opFill, &args{dst, uint64(value), uint64(bytes), uint64(stream)}, nil, nil)
}

func (b *backend) CopyIn(dst uint64, src unsafe.Pointer, bytes int64, stream cuda.Handle) error {
	return b.call("copy to the device", opCopyIn, &args{dst, uint64(stream)}, unsafe.Slice((*byte)(src), bytes), nil)
}

// CopyOut copies in the stream's order into memory of the run-time system; the stream's next Wait fetches it.
func (b *backend) CopyOut(dst unsafe.Pointer, src uint64, bytes int64, stream cuda.Handle) error {
	a := args{src, uint64(bytes), uint64(stream)}
	if err := b.call("copy from the device", opCopyOut, &a, nil, nil); err != nil {
		return err
	}
	b.copies[stream] = append(b.copies[stream], copyOut{ticket: a[0], dst: dst, bytes: bytes})
	return nil
}

func (b *backend) Copy(dst, src uint64, bytes int64, stream cuda.Handle) error {
	return b.call("copy", opCopy, &args{dst, src, uint64(bytes), uint64(stream)}, nil, nil)
}

// fetch gets the copies of a stream that has ended its work.
func (b *backend) fetch(stream cuda.Handle) error {
	for _, c := range b.copies[stream] {
		if err := b.call("copy from the device", opTake, &args{c.ticket}, nil, unsafe.Slice((*byte)(c.dst), c.bytes)); err != nil {
			return err
		}
	}
	delete(b.copies, stream)
	return nil
}

func (b *backend) NewStream() (cuda.Handle, error) {
	var a args
	err := b.call("new stream", opNewStream, &a, nil, nil)
	return cuda.Handle(a[0]), err
}

func (b *backend) CloseStream(stream cuda.Handle) error {
	delete(b.copies, stream)
	return b.call("close of a stream", opCloseStream, &args{uint64(stream)}, nil, nil)
}

func (b *backend) Wait(stream cuda.Handle) error {
	if err := b.call("wait", opWait, &args{uint64(stream)}, nil, nil); err != nil {
		return err
	}
	return b.fetch(stream)
}

func (b *backend) Done(stream cuda.Handle) (bool, error) {
	a := args{uint64(stream)}
	if err := b.call("look at a stream", opDone, &a, nil, nil); err != nil || a[0] == 0 {
		return false, err
	}
	return true, b.fetch(stream)
}

func (b *backend) Synchronize() error {
	if err := b.call("wait", opSynchronize, &args{}, nil, nil); err != nil {
		return err
	}
	for stream := range b.copies {
		if err := b.fetch(stream); err != nil {
			return err
		}
	}
	return nil
}

func (b *backend) NewEvent() (cuda.Handle, error) {
	var a args
	err := b.call("new event", opNewEvent, &a, nil, nil)
	return cuda.Handle(a[0]), err
}

func (b *backend) CloseEvent(event cuda.Handle) error {
	return b.call("close of an event", opCloseEvent, &args{uint64(event)}, nil, nil)
}

func (b *backend) Record(event, stream cuda.Handle) error {
	return b.call("record of an event", opRecord, &args{uint64(event), uint64(stream)}, nil, nil)
}

func (b *backend) WaitEvent(event cuda.Handle) error {
	return b.call("wait for an event", opWaitEvent, &args{uint64(event)}, nil, nil)
}

func (b *backend) Follow(stream, event cuda.Handle) error {
	return b.call("wait for an event", opFollow, &args{uint64(stream), uint64(event)}, nil, nil)
}

func (b *backend) Elapsed(from, to cuda.Handle) (time.Duration, error) {
	a := args{uint64(from), uint64(to)}
	err := b.call("time between events", opElapsed, &a, nil, nil)
	return time.Duration(a[0]), err
}

func (b *backend) Compile(src cuda.Source) ([]byte, error) { return b.compiler.kernel(src, b.o) }

// Load gives each image a name of its own: the loader takes equal names for the same library. A sanitizer wants to
// read the file when it reports.
func (b *backend) Load(image []byte) (cuda.Handle, error) {
	b.images++
	path := filepath.Join(b.dir.Path, fmt.Sprintf("kernel%d.so", b.images))
	if err := os.WriteFile(path, image, 0o600); err != nil {
		return 0, fmt.Errorf("emu: %w", err)
	}
	if b.o.Sanitize == NoSanitizer {
		defer os.Remove(path)
	}
	var a args
	err := b.call("load of a module", opLoad, &a, []byte(path), nil)
	return cuda.Handle(a[0]), err
}

func (b *backend) Unload(module cuda.Handle) error {
	return b.call("unload of a module", opUnload, &args{uint64(module)}, nil, nil)
}

func (b *backend) Function(module cuda.Handle, name string) (cuda.Handle, cuda.Function, error) {
	a := args{uint64(module)}
	if err := b.call("kernel "+name, opFunction, &a, []byte(name), nil); err != nil {
		return 0, cuda.Function{}, err
	}
	f := cuda.Function{Registers: 32, MaxThreads: min(1024, b.o.ThreadsPerSM), ParamBytes: int(a[1])}
	if bound := int(a[2]); bound > 0 {
		f.MaxThreads = min(f.MaxThreads, bound)
	}
	return cuda.Handle(a[0]), f, nil
}

func (b *backend) Occupancy(_ cuda.Handle, threads, shared int) (int, error) {
	a := args{uint64(threads), uint64(shared)}
	err := b.call("occupancy", opOccupancy, &a, nil, nil)
	return int(a[0]), err
}

func (b *backend) Launch(function cuda.Handle, blocks, threads, shared int, stream cuda.Handle, params unsafe.Pointer, bytes int) error {
	a := args{uint64(function), uint64(blocks), uint64(threads), uint64(shared), uint64(stream)}
	err := b.call("launch", opLaunch, &a, unsafe.Slice((*byte)(params), bytes), nil)
	runtime.KeepAlive(params)
	return err
}
