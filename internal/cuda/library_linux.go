//go:build !nogpu && (amd64 || arm64)

package cuda

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
)

// driverNames are names of the driver's library: for the loader, and then the full path on systems that put it
// outside the loader's path.
var driverNames = []string{"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"}

// openLibrary stays on one thread, since the loader keeps the reason of a failure for the thread that it happened on.
func openLibrary(name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func closeLibrary(handle uintptr) { purego.Dlclose(handle) }

func findSymbol(handle uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(handle, name)
}

// call calls a C function. Pointers among the arguments are converted in the call itself, so that the
// memory behind them stays in place until call returns.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// loadedFrom is the file that the loader took for a name, or the name.
func loadedFrom(name string) string {
	base, _, _ := strings.Cut(filepath.Base(name), ".so")
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range strings.Lines(string(maps)) {
		at := strings.IndexByte(line, '/')
		if at < 0 {
			continue
		}
		path := strings.TrimSpace(line[at:])
		if strings.HasPrefix(filepath.Base(path), base+".so") {
			return path
		}
	}
	return name
}
