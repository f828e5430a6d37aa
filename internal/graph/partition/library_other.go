//go:build !linux || (!amd64 && !arm64)

package partition

import "errors"

// libraryNames is empty: METIS is used on Linux only.
var libraryNames []string

var errSystem = errors.New("METIS is used on Linux only")

func openLibrary(string) (uintptr, error) { return 0, errSystem }

func findSymbol(uintptr, string) (uintptr, error) { return 0, errSystem }

func call(uintptr, ...uintptr) uintptr { panic(errSystem) }
