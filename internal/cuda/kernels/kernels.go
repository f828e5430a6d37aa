// Package kernels holds the device code that engines share: *.cuh files that are embedded in the program and given
// to a compiler by name. device.cuh says what a kernel may use of the machine, and the rules for writing one.
package kernels

import (
	"embed"
	"fmt"
)

// FS has every shared file of device code at its root.
//
//go:embed *.cuh
var FS embed.FS

// Source is the text of a shared file, "device.cuh" say. It panics where there is no such file: names are
// constants of the program.
func Source(name string) string {
	text, err := FS.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("kernels: no shared file %q", name))
	}
	return string(text)
}

// Includes gives every shared file by name, for cuda.Source.Includes. The map is the caller's to extend.
func Includes() map[string]string {
	entries, err := FS.ReadDir(".")
	if err != nil {
		panic(err)
	}
	includes := make(map[string]string, len(entries))
	for _, e := range entries {
		includes[e.Name()] = Source(e.Name())
	}
	return includes
}
