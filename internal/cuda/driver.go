package cuda

import (
	"fmt"
	"math"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/dynlib"
	"github.com/weftgraph/weft/internal/runtime/code"
)

// Count returns the number of GPUs that this process can use. If there is none, the error says
// what is missing.
func Count() (int, error) {
	a, err := loadDriver()
	if err != nil {
		return 0, err
	}
	if a.selection != nil {
		return a.selection.count, nil
	}
	n, err := a.shown()
	if err == nil && n == 0 {
		err = a.failure("count of GPUs", codeNoDevice)
	}
	return n, err
}

// shown is how many GPUs the driver shows.
func (a *driverAPI) shown() (int, error) {
	var n int32
	err := a.check("count of GPUs", dynlib.Call(a.deviceGetCount, uintptr(unsafe.Pointer(&n))))
	return int(n), err
}

// Open opens a GPU by its number in the driver's order (CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER), from 0 on. See New
// for images.
func Open(ordinal int, images *code.Cache) (*Device, error) {
	n, err := Count()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= n {
		return nil, &Error{Op: fmt.Sprintf("GPU %d", ordinal), Text: fmt.Sprintf("there are %d GPUs, numbered from 0", n), Hint: codes[101].hint, Kind: ErrNoDevice}
	}
	return New(&driver{ordinal: ordinal}, images)
}

// minMajor is the oldest compute capability that kernels are written for: Volta, 7.0, where the lanes of a warp
// make progress independently.
const minMajor = 7

// driver is the Backend of an NVIDIA GPU. Libraries that are not given are loaded by Open.
type driver struct {
	*driverAPI
	ordinal int
	device  int32
	info    Info
	nvrtc   *nvrtc
	missing error // the reason why there is no NVRTC

	// The arguments of a launch live here, so that it allocates nothing: those of cuLaunchKernel, and the
	// array of addresses of the kernel's only argument.
	launch [11]uintptr
	params [1]unsafe.Pointer
}

func (b *driver) Open() (Info, error) {
	var err error
	if b.driverAPI == nil {
		if b.driverAPI, err = loadDriver(); err != nil {
			return Info{}, err
		}
	}
	if b.nvrtc == nil {
		go loadNVRTC() // the library is large: it is loaded while the context is made
	}
	a := b.driverAPI
	if b.info, err = a.describeDevice(b.ordinal); err != nil {
		return Info{}, err
	}
	if b.info.Major < minMajor {
		return Info{}, &Error{Op: b.info.String(), Text: "its architecture is " + b.info.Arch(), Hint: fmt.Sprintf("weft needs sm_%d0 (Volta) or newer", minMajor), Kind: ErrArch}
	}
	if b.device, err = a.get(b.ordinal); err != nil {
		return Info{}, err
	}
	var ctx uintptr
	if err := a.check("context of "+b.info.String(), dynlib.Call(a.primaryCtxRetain, uintptr(unsafe.Pointer(&ctx)), uintptr(b.device))); err != nil {
		return Info{}, err
	}
	if err := a.check("context of "+b.info.String(), dynlib.Call(a.ctxSetCurrent, ctx)); err != nil {
		dynlib.Call(a.primaryCtxRelease, uintptr(b.device))
		return Info{}, err
	}
	if b.nvrtc == nil {
		b.nvrtc, b.missing = loadNVRTC()
	}
	if b.missing == nil {
		b.info.Compiler = "NVRTC " + b.nvrtc.version()
	}
	return b.info, nil
}

func (b *driver) Close() error {
	dynlib.Call(b.ctxSetCurrent, 0)
	return b.check("close of "+b.info.String(), dynlib.Call(b.primaryCtxRelease, uintptr(b.device)))
}

// Numbers of device attributes (CUdevice_attribute).
const (
	attrWarpSize       = 10
	attrSMs            = 16
	attrL2             = 38
	attrThreadsPerSM   = 39
	attrMajor          = 75
	attrMinor          = 76
	attrSharedPerSM    = 81
	attrManagedAtOnce  = 89 // the host may touch managed memory while kernels run
	attrRegistersPerSM = 82
	attrSharedPerBlock = 97 // with cuFuncSetAttribute
	attrBlocksPerSM    = 106
)

// get is the driver's handle of a GPU.
func (a *driverAPI) get(ordinal int) (device int32, err error) {
	n, err := a.number(ordinal)
	if err != nil {
		return 0, err
	}
	err = a.check(fmt.Sprintf("GPU %d", ordinal), dynlib.Call(a.deviceGet, uintptr(unsafe.Pointer(&device)), n))
	return device, err
}

// describeDevice reads the values of Info, without a context.
func (a *driverAPI) describeDevice(ordinal int) (Info, error) {
	op := fmt.Sprintf("GPU %d", ordinal)
	i := Info{Ordinal: ordinal, Driver: "CUDA " + a.versionText()}
	device, err := a.get(ordinal)
	if err != nil {
		return i, err
	}
	name := make([]byte, 256)
	if err := a.check(op, dynlib.Call(a.deviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)-1), uintptr(device))); err != nil {
		return i, err
	}
	i.Name = goString(&name[0])
	var memory uint64
	if err := a.check(op, dynlib.Call(a.deviceTotalMem, uintptr(unsafe.Pointer(&memory)), uintptr(device))); err != nil {
		return i, err
	}
	i.Memory = int64(memory)
	var l2 int
	for _, want := range []struct {
		attribute uintptr
		to        *int
	}{
		{attrMajor, &i.Major}, {attrMinor, &i.Minor}, {attrSMs, &i.SMs}, {attrWarpSize, &i.WarpSize}, {attrL2, &l2},
		{attrSharedPerBlock, &i.SharedPerBlock}, {attrSharedPerSM, &i.SharedPerSM}, {attrRegistersPerSM, &i.RegistersPerSM},
		{attrThreadsPerSM, &i.ThreadsPerSM}, {attrBlocksPerSM, &i.BlocksPerSM},
	} {
		var v int32
		if err := a.check(op, dynlib.Call(a.deviceGetAttribute, uintptr(unsafe.Pointer(&v)), want.attribute, uintptr(device))); err != nil {
			return i, err
		}
		*want.to = int(v)
	}
	i.L2 = int64(l2)
	return i, nil
}

func (b *driver) Alloc(bytes int64) (uint64, error) {
	var ptr uint64
	r := dynlib.Call(b.memAlloc, uintptr(unsafe.Pointer(&ptr)), uintptr(bytes))
	if r != codeSuccess {
		return 0, b.check(fmt.Sprintf("alloc of %d bytes on %v", bytes, b.info), r)
	}
	return ptr, nil
}

func (b *driver) Free(ptr uint64) error { return b.check("free", dynlib.Call(b.memFree, uintptr(ptr))) }

func (b *driver) Memory() (free, total int64, err error) {
	var f, t uint64
	err = b.check("memory of the device", dynlib.Call(b.memGetInfo, uintptr(unsafe.Pointer(&f)), uintptr(unsafe.Pointer(&t))))
	return int64(f), int64(t), err
}

// Flags of cuMemHostAlloc.
const (
	hostPortable = 1 // pinned for every context: several devices may use it
	hostMapped   = 2
)

func (b *driver) Pin(bytes int64) (unsafe.Pointer, uint64, error) {
	op := fmt.Sprintf("%d bytes of pinned memory", bytes)
	var host unsafe.Pointer
	if err := b.check(op, dynlib.Call(b.memHostAlloc, uintptr(unsafe.Pointer(&host)), uintptr(bytes), hostPortable|hostMapped)); err != nil {
		return nil, 0, err
	}
	ptr, err := b.Attach(host, bytes)
	if err != nil {
		dynlib.Call(b.memFreeHost, uintptr(host))
		return nil, 0, err
	}
	return host, ptr, nil
}

// attachGlobal is a flag of cuMemAllocManaged: kernels of all streams and devices may touch the memory.
const attachGlobal = 1

// Manage refuses devices that do not share pages with a host that touches them at the same time: there a touch of the host
// while a kernel runs ends the process.
func (b *driver) Manage(bytes int64) (unsafe.Pointer, uint64, error) {
	op := fmt.Sprintf("%d bytes of managed memory", bytes)
	var atOnce int32
	if err := b.check(op, dynlib.Call(b.deviceGetAttribute, uintptr(unsafe.Pointer(&atOnce)), attrManagedAtOnce, uintptr(b.device))); err != nil {
		return nil, 0, err
	}
	if atOnce == 0 {
		return nil, 0, &Error{Op: op, Text: fmt.Sprintf("%v and the host cannot touch managed memory at the same time", b.info), Hint: "keep neighbour lists in page-locked host memory", Kind: ErrArch}
	}
	var host unsafe.Pointer
	if err := b.check(op, dynlib.Call(b.memAllocManaged, uintptr(unsafe.Pointer(&host)), uintptr(bytes), attachGlobal)); err != nil {
		return nil, 0, err
	}
	b.managed.Store(host, true)
	return host, uint64(uintptr(host)), nil
}

// Attach needs nothing but the address, because memory is pinned for every context. Managed memory has the same one everywhere.
func (b *driver) Attach(host unsafe.Pointer, bytes int64) (ptr uint64, err error) {
	if _, ok := b.managed.Load(host); ok {
		return uint64(uintptr(host)), nil
	}
	err = b.check(fmt.Sprintf("address of %d bytes of pinned memory", bytes), dynlib.Call(b.memHostGetPointer, uintptr(unsafe.Pointer(&ptr)), uintptr(host), 0))
	return ptr, err
}

func (b *driver) Detach(unsafe.Pointer) error { return nil }

func (b *driver) Unpin(host unsafe.Pointer) error {
	if _, ok := b.managed.LoadAndDelete(host); ok {
		return b.check("free of managed memory", dynlib.Call(b.memFree, uintptr(host)))
	}
	return b.check("free of pinned memory", dynlib.Call(b.memFreeHost, uintptr(host)))
}

func (b *driver) Fill(dst uint64, value byte, bytes int64, stream Handle) error {
	return b.check("fill", dynlib.Call(b.memsetD8Async, uintptr(dst), uintptr(value), uintptr(bytes), uintptr(stream)))
}

func (b *driver) CopyIn(dst uint64, src unsafe.Pointer, bytes int64, stream Handle) error {
	return b.check("copy to the device", dynlib.Call(b.memcpyHtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(stream)))
}

func (b *driver) CopyOut(dst unsafe.Pointer, src uint64, bytes int64, stream Handle) error {
	return b.check("copy from the device", dynlib.Call(b.memcpyDtoHAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(stream)))
}

func (b *driver) Copy(dst, src uint64, bytes int64, stream Handle) error {
	return b.check("copy on the device", dynlib.Call(b.memcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(stream)))
}

// streamNonBlocking keeps a stream out of the order of the legacy default stream, which weft does not use.
const streamNonBlocking = 1

func (b *driver) NewStream() (Handle, error) {
	var h Handle
	err := b.check("new stream", dynlib.Call(b.streamCreate, uintptr(unsafe.Pointer(&h)), streamNonBlocking))
	return h, err
}

func (b *driver) CloseStream(stream Handle) error {
	return b.check("close of a stream", dynlib.Call(b.streamDestroy, uintptr(stream)))
}

func (b *driver) Wait(stream Handle) error {
	return b.check("wait for the device", dynlib.Call(b.streamSynchronize, uintptr(stream)))
}

func (b *driver) Done(stream Handle) (bool, error) {
	r := dynlib.Call(b.streamQuery, uintptr(stream))
	if int32(r) == codeNotReady {
		return false, nil
	}
	return int32(r) == codeSuccess, b.check("look at the device", r)
}

func (b *driver) Synchronize() error {
	return b.check("wait for the device", dynlib.Call(b.ctxSynchronize))
}

func (b *driver) NewEvent() (Handle, error) {
	var h Handle
	err := b.check("new event", dynlib.Call(b.eventCreate, uintptr(unsafe.Pointer(&h)), 0))
	return h, err
}

func (b *driver) CloseEvent(event Handle) error {
	return b.check("close of an event", dynlib.Call(b.eventDestroy, uintptr(event)))
}

func (b *driver) Record(event, stream Handle) error {
	return b.check("record of an event", dynlib.Call(b.eventRecord, uintptr(event), uintptr(stream)))
}

func (b *driver) WaitEvent(event Handle) error {
	return b.check("wait for an event", dynlib.Call(b.eventSynchronize, uintptr(event)))
}

func (b *driver) Follow(stream, event Handle) error {
	return b.check("wait of a stream for an event", dynlib.Call(b.streamWaitEvent, uintptr(stream), uintptr(event), 0))
}

func (b *driver) Elapsed(from, to Handle) (time.Duration, error) {
	var ms float32
	err := b.check("time between events", dynlib.Call(b.eventElapsedTime, uintptr(unsafe.Pointer(&ms)), uintptr(from), uintptr(to)))
	return time.Duration(math.Round(float64(ms) * 1e6)), err
}

func (b *driver) Compile(src Source) ([]byte, error) {
	if b.missing != nil {
		return nil, b.missing
	}
	return b.nvrtc.compile(src, b.info)
}

// Options of cuModuleLoadDataEx (CUjit_option).
const (
	jitErrorLog     = 5
	jitErrorLogSize = 6
)

func (b *driver) Load(image []byte) (Handle, error) {
	log := make([]byte, 16<<10)
	options := [...]int32{jitErrorLog, jitErrorLogSize}
	values := struct { // an array of void*, where the size is a number in place of an address
		log  *byte
		size uintptr
	}{&log[0], uintptr(len(log) - 1)}
	var h Handle
	r := dynlib.Call(b.moduleLoadDataEx, uintptr(unsafe.Pointer(&h)), uintptr(unsafe.Pointer(&image[0])), uintptr(len(options)),
		uintptr(unsafe.Pointer(&options[0])), uintptr(unsafe.Pointer(&values)))
	err := b.check("load of a kernel's image", r)
	if e, ok := err.(*Error); ok {
		e.Log = goString(&log[0])
	}
	return h, err
}

func (b *driver) Unload(module Handle) error {
	return b.check("unload of a module", dynlib.Call(b.moduleUnload, uintptr(module)))
}

// Numbers of function attributes (CUfunction_attribute).
const (
	funcMaxThreads   = 0
	funcSharedStatic = 1
	funcLocalBytes   = 3
	funcRegisters    = 4
	funcMaxDynamic   = 8
)

func (b *driver) Function(module Handle, name string) (Handle, Function, error) {
	op := "kernel " + name
	var h Handle
	var f Function
	cname := cString(name)
	if err := b.check(op, dynlib.Call(b.moduleGetFunction, uintptr(unsafe.Pointer(&h)), uintptr(module), uintptr(unsafe.Pointer(&cname[0])))); err != nil {
		return 0, f, err
	}
	for _, want := range []struct {
		attribute uintptr
		to        *int
	}{{funcMaxThreads, &f.MaxThreads}, {funcSharedStatic, &f.SharedStatic}, {funcLocalBytes, &f.LocalBytes}, {funcRegisters, &f.Registers}} {
		var v int32
		if err := b.check(op, dynlib.Call(b.funcGetAttribute, uintptr(unsafe.Pointer(&v)), want.attribute, uintptr(h))); err != nil {
			return 0, f, err
		}
		*want.to = int(v)
	}
	if b.funcGetParamInfo != 0 {
		var offset, size uint64
		if dynlib.Call(b.funcGetParamInfo, uintptr(h), 0, uintptr(unsafe.Pointer(&offset)), uintptr(unsafe.Pointer(&size))) == codeSuccess {
			f.ParamBytes = int(size)
		}
	}
	// A kernel must ask for more than 48 KB. Permission costs nothing; only the memory that a launch takes
	// matters.
	err := b.check(op, dynlib.Call(b.funcSetAttribute, uintptr(h), funcMaxDynamic, uintptr(b.info.SharedPerBlock-f.SharedStatic)))
	return h, f, err
}

func (b *driver) Occupancy(function Handle, threads, shared int) (int, error) {
	var n int32
	err := b.check("occupancy", dynlib.Call(b.occupancy, uintptr(unsafe.Pointer(&n)), uintptr(function), uintptr(threads), uintptr(shared)))
	return int(n), err
}

func (b *driver) Launch(function Handle, blocks, threads, shared int, stream Handle, params unsafe.Pointer, _ int) error {
	b.params[0] = params
	b.launch = [...]uintptr{uintptr(function), uintptr(blocks), 1, 1, uintptr(threads), 1, 1,
		uintptr(shared), uintptr(stream), uintptr(unsafe.Pointer(&b.params[0])), 0}
	r := dynlib.Call(b.launchKernel, b.launch[:]...)
	b.params[0] = nil
	return b.check("launch", r)
}
