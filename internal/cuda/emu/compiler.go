package emu

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/native"
)

// compiler is the machine's C++ compiler.
type compiler struct{ *native.Compiler }

func findCompiler() (*compiler, error) {
	c, err := native.CXX()
	if err != nil {
		return nil, &cuda.Error{Op: "emulated device", Text: err.Error(), Kind: cuda.ErrNoCompiler}
	}
	return &compiler{c}, nil
}

// sanitizedStack gives the lanes of sanitized kernels, which use more of it, 256 KiB of stack.
const sanitizedStack = "-DWEFT_EMU_STACK_BITS=18"

// flags are those that kernels and the run-time system share, so that both are for the same machine.
func (c *compiler) flags(sanitize Sanitizer) []string {
	flags := []string{"-std=c++17", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-pthread", "-I."}
	if sanitize == NoSanitizer {
		return append(flags, "-march=native", "-fno-plt")
	}
	if sanitize == Strict {
		sanitize = Thread
	}
	flags = append(flags, "-fsanitize="+string(sanitize), "-fno-omit-frame-pointer", "-g1", sanitizedStack)
	if strings.Contains(string(sanitize), "undefined") {
		flags = append(flags, "-fno-sanitize-recover=all")
	}
	return flags
}

// kernelOptions takes from the options of a source those that a C++ compiler of the host understands: macros,
// and a level of optimisation, which only the emulated device gets.
func kernelOptions(options []string) []string {
	var kept []string
	for _, o := range options {
		if strings.HasPrefix(o, "-D") || strings.HasPrefix(o, "-U") || strings.HasPrefix(o, "-O") {
			kept = append(kept, o)
		}
	}
	return kept
}

// build is Build with the errors of devices.
func (c *compiler) build(name string, files map[string]string, out string, args ...string) ([]byte, error) {
	image, err := c.Build(context.Background(), name, files, out, args...)
	var wrong *native.CompileError
	if errors.As(err, &wrong) {
		return nil, &cuda.Error{
			Op: "compile " + name + " for the emulated device", Text: fmt.Sprintf("%s: %v", wrong.Compiler, wrong.Err),
			Log: wrong.Log, Kind: cuda.ErrCompile,
		}
	}
	return image, err
}

// kernel compiles a program of kernels into a shared object.
func (c *compiler) kernel(src cuda.Source, o Options) ([]byte, error) {
	files := map[string]string{}
	for name, text := range src.Includes {
		files[name] = text
	}
	const main = "weft-kernel.cu"
	files[main] = fmt.Sprintf("#line 1 %q\n%s", src.Name, src.Text)
	args := append(c.flags(o.Sanitize), "-shared", o.Optimize, "-w")
	if src.Debug {
		args = append(args, "-g1", "-DWEFT_DEBUG")
	}
	args = append(args, kernelOptions(src.Options)...)
	return c.build(src.Name, files, "kernel.so", append(args, "-x", "c++", main)...)
}
