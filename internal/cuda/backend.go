package cuda

import (
	"time"
	"unsafe"
)

// Handle names a stream, event, module or function of a backend; 0 is none.
type Handle uintptr

// Backend is one device as Device drives it: an NVIDIA GPU, or the emulated device. It has no policy. Arguments
// are checked before they get here: sizes are positive, handles are live and of the right kind.
//
// All calls but Compile come from one goroutine that is locked to its thread, Open first and Close last. Errors are *Error
// with Op, Kind and, where nothing works afterwards, Lost.
//
// Copies, fills, launches and records go into a stream and return at once. A stream runs its work in order;
// different streams run at the same time, and a kernel that never ends in one must not hold up the others. A
// kernel that fails while it runs is reported by Wait, Done, WaitEvent, Synchronize or any later call.
type Backend interface {
	// Open makes the device ready and describes it. Info.Compiler must name all that makes an image differ
	// from another of the same Source and Arch: version, flags, run-time library.
	Open() (Info, error)
	// Close ends all work and gives back everything that is still held.
	Close() error

	// Alloc takes device memory, aligned to 256 bytes, contents unknown.
	Alloc(bytes int64) (ptr uint64, err error)
	// Free gives it back. Work that was started earlier is waited for, or may still use it.
	Free(ptr uint64) error
	// Memory is free and total device memory in bytes.
	Memory() (free, total int64, err error)
	// Pin takes page-locked host memory that kernels reach at the device address ptr.
	Pin(bytes int64) (host unsafe.Pointer, ptr uint64, err error)
	// Manage takes managed memory: kernels and the host reach it at the same time, and its pages move to where they are
	// touched. Kernels reach it at the device address ptr. Unpin, Attach and Detach serve it as they serve pinned memory.
	Manage(bytes int64) (host unsafe.Pointer, ptr uint64, err error)
	Unpin(host unsafe.Pointer) error
	// Attach makes memory that another backend of the same kind pinned or manages, and still holds, reachable for
	// kernels of this device at the address ptr.
	Attach(host unsafe.Pointer, bytes int64) (ptr uint64, err error)
	// Detach ends Attach. The memory stays.
	Detach(host unsafe.Pointer) error

	// Fill sets bytes of device memory.
	Fill(dst uint64, value byte, bytes int64, stream Handle) error
	// CopyIn copies from the host. src stays as it is until the stream has been waited for.
	CopyIn(dst uint64, src unsafe.Pointer, bytes int64, stream Handle) error
	// CopyOut copies to the host. dst is complete once the stream has been waited for.
	CopyOut(dst unsafe.Pointer, src uint64, bytes int64, stream Handle) error
	// Copy copies between two places of device memory that do not overlap.
	Copy(dst, src uint64, bytes int64, stream Handle) error

	NewStream() (Handle, error)
	// CloseStream lets work that the stream still has come to its end, without waiting for it.
	CloseStream(stream Handle) error
	// Wait returns when all work in the stream has ended.
	Wait(stream Handle) error
	// Done is Wait without waiting: false while there is work.
	Done(stream Handle) (bool, error)
	// Synchronize waits for all streams.
	Synchronize() error

	NewEvent() (Handle, error)
	CloseEvent(event Handle) error
	// Record puts the event into the stream: it happens when all work before it has ended.
	Record(event, stream Handle) error
	// WaitEvent returns when the event has happened.
	WaitEvent(event Handle) error
	// Follow makes later work in the stream wait for the event.
	Follow(stream, event Handle) error
	// Elapsed is the device's time between two events that have happened.
	Elapsed(from, to Handle) (time.Duration, error)

	// Compile makes an image for this device. It is called from any goroutine, between Open and Close, and may
	// still run when they are over: it needs nothing that Close gives back. The image may be kept on disk and loaded by another process.
	Compile(src Source) (image []byte, err error)
	Load(image []byte) (module Handle, err error)
	Unload(module Handle) error
	// Function finds a kernel and allows it all the shared memory that the device can give a block.
	Function(module Handle, name string) (Handle, Function, error)
	// Occupancy is how many blocks of this size one multiprocessor holds at once.
	Occupancy(function Handle, threads, shared int) (int, error)
	// Launch starts a one-dimensional grid. The bytes at params are the kernel's one argument; they are copied
	// before Launch returns.
	Launch(function Handle, blocks, threads, shared int, stream Handle, params unsafe.Pointer, bytes int) error
}

// Function holds the resources of a compiled kernel and its limits.
type Function struct {
	Registers    int // a thread
	SharedStatic int // bytes of shared memory that are declared in the kernel, a block
	LocalBytes   int // bytes of local memory (spilled registers, stack), a thread
	MaxThreads   int // a block
	ParamBytes   int // size of the argument; 0: the backend cannot tell
}
