//go:build !linux || (!amd64 && !arm64) || nogpu

package partition

import "errors"

// libraryNames is empty: METIS is used on Linux only, in a program that can open shared objects.
var libraryNames []string

var errSystem = errors.New("METIS is used on Linux only, by a weft that was built without the tag nogpu")

func openLibrary(string) (uintptr, error) { return 0, errSystem }

func findSymbol(uintptr, string) (uintptr, error) { return 0, errSystem }

func call(uintptr, ...uintptr) uintptr { panic(errSystem) }
