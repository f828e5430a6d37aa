package cuda

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/weftgraph/weft/internal/dynlib"
)

// driverAPI is the driver's library with the addresses of the functions that weft calls, under their names
// without "cu" and version.
type driverAPI struct {
	path      string
	version   int        // 13000 is CUDA 13.0
	selection *selection // nil: it shows all GPUs

	init, driverGetVersion, getErrorName, getErrorString                          uintptr
	deviceGetCount, deviceGet, deviceGetName, deviceTotalMem, deviceGetAttribute  uintptr
	primaryCtxRetain, primaryCtxRelease, ctxSetCurrent, ctxSynchronize            uintptr
	memAlloc, memFree, memGetInfo, memHostAlloc, memHostGetPointer, memFreeHost   uintptr
	memsetD8Async, memcpyHtoDAsync, memcpyDtoHAsync, memcpyDtoDAsync              uintptr
	streamCreate, streamDestroy, streamSynchronize, streamQuery, streamWaitEvent  uintptr
	eventCreate, eventDestroy, eventRecord, eventSynchronize, eventElapsedTime    uintptr
	memAllocManaged                                                               uintptr
	moduleLoadDataEx, moduleUnload, moduleGetFunction                             uintptr
	funcGetAttribute, funcSetAttribute, funcGetParamInfo, occupancy, launchKernel uintptr

	managed sync.Map // addresses of managed memory, of all devices
}

// loadDriver opens the driver once a process.
var loadDriver = sync.OnceValues(func() (*driverAPI, error) {
	var refused []string
	for _, name := range driverNames() {
		h, err := dynlib.Open(name)
		if err == nil {
			return startDriver(h, loadedFrom(name), selected())
		}
		if why := err.Error(); !strings.Contains(why, "No such file") {
			refused = append(refused, why)
		}
	}
	if len(driverNames()) == 0 {
		return nil, &Error{Op: "GPU driver", Text: "this build for " + runtime.GOOS + " has no part for GPUs", Hint: "weft uses GPUs on Linux and Windows, in builds without the tag nogpu", Kind: ErrNoDriver}
	}
	text := driverNames()[0] + " was not found"
	if refused != nil {
		text = driverNames()[0] + " cannot be loaded: " + strings.Join(refused, "; ")
	}
	return nil, &Error{Op: "GPU driver", Text: text, Hint: "install an NVIDIA driver; in a container, start it with the GPU's libraries (--gpus all)", Kind: ErrNoDriver}
})

// startDriver starts an opened driver with the GPUs of a selection; nil: with all.
func startDriver(handle dynlib.Library, path string, s *selection) (*driverAPI, error) {
	a := &driverAPI{path: path, selection: s}
	err := resolve(handle, path, []symbol{
		{&a.init, "cuInit"},
		{&a.driverGetVersion, "cuDriverGetVersion"},
		{&a.getErrorName, "cuGetErrorName"},
		{&a.getErrorString, "cuGetErrorString"},
		{&a.deviceGetCount, "cuDeviceGetCount"},
		{&a.deviceGet, "cuDeviceGet"},
		{&a.deviceGetName, "cuDeviceGetName"},
		{&a.deviceTotalMem, "cuDeviceTotalMem_v2"},
		{&a.deviceGetAttribute, "cuDeviceGetAttribute"},
		{&a.primaryCtxRetain, "cuDevicePrimaryCtxRetain"},
		{&a.primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxRelease"},
		{&a.ctxSetCurrent, "cuCtxSetCurrent"},
		{&a.ctxSynchronize, "cuCtxSynchronize"},
		{&a.memAlloc, "cuMemAlloc_v2"},
		{&a.memFree, "cuMemFree_v2"},
		{&a.memGetInfo, "cuMemGetInfo_v2"},
		{&a.memHostAlloc, "cuMemHostAlloc"},
		{&a.memHostGetPointer, "cuMemHostGetDevicePointer_v2"},
		{&a.memFreeHost, "cuMemFreeHost"},
		{&a.memAllocManaged, "cuMemAllocManaged"},
		{&a.memsetD8Async, "cuMemsetD8Async"},
		{&a.memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2"},
		{&a.memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2"},
		{&a.memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2"},
		{&a.streamCreate, "cuStreamCreate"},
		{&a.streamDestroy, "cuStreamDestroy_v2"},
		{&a.streamSynchronize, "cuStreamSynchronize"},
		{&a.streamQuery, "cuStreamQuery"},
		{&a.streamWaitEvent, "cuStreamWaitEvent"},
		{&a.eventCreate, "cuEventCreate"},
		{&a.eventDestroy, "cuEventDestroy_v2"},
		{&a.eventRecord, "cuEventRecord"},
		{&a.eventSynchronize, "cuEventSynchronize"},
		{&a.eventElapsedTime, "cuEventElapsedTime_v2 cuEventElapsedTime"},
		{&a.moduleLoadDataEx, "cuModuleLoadDataEx"},
		{&a.moduleUnload, "cuModuleUnload"},
		{&a.moduleGetFunction, "cuModuleGetFunction"},
		{&a.funcGetAttribute, "cuFuncGetAttribute"},
		{&a.funcSetAttribute, "cuFuncSetAttribute"},
		{&a.funcGetParamInfo, "cuFuncGetParamInfo ?"}, // since CUDA 12.4
		{&a.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor"},
		{&a.launchKernel, "cuLaunchKernel"},
	})
	if err != nil {
		return nil, &Error{Op: "GPU driver", Text: err.Error(), Hint: "the driver is too old: install a newer one", Kind: ErrNoDriver}
	}
	if s != nil {
		if err := s.apply(); err != nil {
			return nil, err
		}
	}
	if r := int(int32(dynlib.Call(a.init, 0))); r != codeSuccess {
		if s != nil && r == codeNoDevice {
			return nil, s.started(0)
		}
		e := a.failure("start of the GPU driver", r)
		if e.Lost || e.Kind == nil {
			e.Kind, e.Lost = ErrNoDriver, false
		}
		return nil, e
	}
	var version int32
	if err := a.check("GPU driver's version", dynlib.Call(a.driverGetVersion, uintptr(unsafe.Pointer(&version)))); err != nil {
		return nil, err
	}
	a.version = int(version)
	if s != nil {
		n, err := a.shown()
		if err == nil {
			err = s.started(n)
		}
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

// symbol is where a function's address goes, and the names it has had, the newest first. "?" at the end says
// that weft does without it.
type symbol struct {
	addr  *uintptr
	names string
}

func resolve(handle dynlib.Library, path string, symbols []symbol) error {
	var missing []string
	for _, s := range symbols {
		names := strings.Fields(s.names)
		for _, name := range names {
			if name == "?" {
				*s.addr = 0
				break
			}
			if addr, err := handle.Symbol(name); err == nil {
				*s.addr = addr
				break
			}
		}
		if *s.addr == 0 && names[len(names)-1] != "?" {
			missing = append(missing, names[0])
		}
	}
	if missing != nil {
		return fmt.Errorf("%s lacks %s", path, strings.Join(missing, ", "))
	}
	return nil
}

// check turns the result of a driver's function into an error.
func (a *driverAPI) check(op string, result uintptr) error {
	if int32(result) == codeSuccess {
		return nil
	}
	return a.failure(op, int(int32(result)))
}

func (a *driverAPI) failure(op string, number int) *Error {
	return errorOf(op, number, a.describe(a.getErrorName, number), a.describe(a.getErrorString, number))
}

// describe asks the driver for an error's name or text.
func (a *driverAPI) describe(fn uintptr, number int) string {
	var text *byte
	if dynlib.Call(fn, uintptr(number), uintptr(unsafe.Pointer(&text))) != codeSuccess {
		return ""
	}
	return goString(text)
}

// goString copies a C string; null gives "".
func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// cString is text with the zero byte that C wants at its end.
func cString(text string) []byte { return append([]byte(text), 0) }

// versionText is a version as people write it: 13.0.
func (a *driverAPI) versionText() string {
	return fmt.Sprintf("%d.%d", a.version/1000, a.version%1000/10)
}
