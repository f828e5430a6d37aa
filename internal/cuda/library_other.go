//go:build (!linux && !windows) || nogpu || (linux && !amd64 && !arm64)

package cuda

import "errors"

// driverNames is empty: NVIDIA has no driver for this system or processor, or the build tag nogpu leaves GPUs out.
var driverNames []string

var errSystem = errors.New("cuda: no GPUs in this build")

func openLibrary(string) (uintptr, error) { return 0, errSystem }

func closeLibrary(uintptr) {}

func findSymbol(uintptr, string) (uintptr, error) { return 0, errSystem }

func call(uintptr, ...uintptr) uintptr { panic(errSystem) }

func loadedFrom(name string) string { return name }
