package cuda

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/weftgraph/weft/internal/dynlib"
)

// driverNames returns names of the driver's library: for the loader, and then the full path on systems that put it
// outside the loader's path. NVIDIA has no driver for other systems, and the build tag nogpu leaves GPUs out.
func driverNames() []string {
	switch {
	case !dynlib.Available:
		return nil
	case runtime.GOOS == "linux":
		return []string{"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"}
	case runtime.GOOS == "windows":
		return []string{"nvcuda.dll"} // the installer puts it into the system's directory
	}
	return nil
}

// loadedFrom is the file that the loader took for a name, or the name where the system does not tell.
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
