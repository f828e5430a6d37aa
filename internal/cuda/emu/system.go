//go:build linux && (amd64 || arm64)

package emu

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/runtime/code"
)

//go:embed runtime/*.h runtime/*.cpp
var runtimeFiles embed.FS

// systemFiles are all files that the run-time system is compiled from.
func systemFiles() map[string]string {
	files := map[string]string{}
	for _, name := range []string{"base/device.cuh", "base/device_emu.cuh", "base/emu_abi.cuh"} {
		files[name] = kernels.Source(name)
	}
	entries, err := runtimeFiles.ReadDir("runtime")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		text, err := runtimeFiles.ReadFile("runtime/" + e.Name())
		if err != nil {
			panic(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}

// parts are all that the images of the run-time system, and of kernels that are loaded into it, depend on.
func (c *compiler) parts(sanitize Sanitizer) []string {
	parts := []string{"emulated device", c.Version, native.Processor()}
	parts = append(parts, c.flags(sanitize)...)
	files := systemFiles()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		parts = append(parts, name, files[name])
	}
	return parts
}

// digest is a short name for the things that an image depends on.
func digest(parts []string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sum[:8]
}

// library compiles the run-time system as a shared object, loads it, and returns its entry.
func (c *compiler) library(objects *native.Cache) (uintptr, error) {
	l, err := objects.Load(context.Background(), append(c.parts(NoSanitizer), "library"), func(context.Context) ([]byte, error) {
		args := append(c.flags(NoSanitizer), "-shared", "-O2", "api.cpp")
		return c.build("the run-time system", systemFiles(), "runtime.so", args...)
	})
	if err != nil {
		return 0, err
	}
	return l.Symbol("emu_call")
}

// program compiles the run-time system with a sanitizer as a program of its own.
func (c *compiler) program(images *code.Cache, sanitize Sanitizer) ([]byte, error) {
	key := code.KeyOf(append(c.parts(sanitize), "program", string(sanitize)))
	image, _, err := images.GetWithin(context.Background(), key, func(context.Context) ([]byte, error) {
		// For the thread sanitizer the run-time system is not instrumented, only linked with it: lanes hand its
		// records to each other by switching, which the sanitizer is told not to take for synchronization.
		flags := c.flags(sanitize)
		if sanitize == Thread || sanitize == Strict {
			flags = append(c.flags(NoSanitizer), "-DEMU_TSAN", sanitizedStack)
		}
		if sanitize == Strict {
			flags = append(flags, "-DEMU_STRICT")
		}
		object, err := c.build("the run-time system", systemFiles(), "main.o", append(flags, "-O1", "-c", "main.cpp")...)
		if err != nil {
			return nil, err
		}
		return c.build("the run-time system", map[string]string{"main.o": string(object)}, "device", append(c.flags(sanitize), "main.o", "-ldl")...)
	})
	var e *cuda.Error
	if errors.As(err, &e) && strings.Contains(e.Log, "san") {
		return nil, &cuda.Error{Op: "emulated device", Text: "the compiler lacks the sanitizer " + string(sanitize), Log: e.Log, Kind: cuda.ErrNoCompiler}
	}
	return image, err
}
