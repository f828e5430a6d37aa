package emu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/weftgraph/weft/internal/cuda"
)

// compileTime bounds one run of the compiler.
const compileTime = 10 * time.Minute

// compilerNames are looked for in this order where CXX is not set.
var compilerNames = []string{"c++", "g++", "clang++", "clang++-19"}

// compiler is the machine's C++ compiler.
type compiler struct {
	path    string
	version string // with the target
	clang   bool
}

var findCompiler = sync.OnceValues(func() (*compiler, error) {
	names := compilerNames
	if cxx := os.Getenv("CXX"); cxx != "" {
		names = []string{cxx}
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		version, err := exec.Command(path, "--version").Output()
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(version), "\n")
		target, err := exec.Command(path, "-dumpmachine").Output()
		if err != nil {
			continue
		}
		return &compiler{path: path, version: first + ", " + strings.TrimSpace(string(target)), clang: strings.Contains(first, "clang")}, nil
	}
	return nil, &cuda.Error{
		Op: "emulated device", Text: "no C++ compiler: looked for " + strings.Join(names, ", "),
		Hint: "install g++ or clang, or set CXX", Kind: cuda.ErrNoCompiler,
	}
})

// sanitizedStack gives the lanes of sanitized kernels, which use more of it, 256 KiB of stack.
const sanitizedStack = "-DWEFT_EMU_STACK_BITS=18"

// flags are those that kernels and the run-time system share, so that both are for the same machine.
func (c *compiler) flags(sanitize Sanitizer) []string {
	flags := []string{"-std=c++17", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-pthread"}
	if sanitize == NoSanitizer {
		return append(flags, "-march=native", "-fno-plt")
	}
	flags = append(flags, "-fsanitize="+string(sanitize), "-fno-omit-frame-pointer", "-g1", sanitizedStack)
	if strings.Contains(string(sanitize), "undefined") {
		flags = append(flags, "-fno-sanitize-recover=all")
	}
	return flags
}

// processor tells machines apart that -march=native compiles differently for.
func processor() string {
	return runtime.GOARCH + " " + cpuid.CPU.BrandName + " " + strings.Join(cpuid.CPU.FeatureSet(), ",")
}

// kernelOptions takes from the options of a source what a C++ compiler of the host understands as a GPU's does:
// macros, and a level of optimisation, which only the emulated device is given.
func kernelOptions(options []string) []string {
	var kept []string
	for _, o := range options {
		if strings.HasPrefix(o, "-D") || strings.HasPrefix(o, "-U") || strings.HasPrefix(o, "-O") {
			kept = append(kept, o)
		}
	}
	return kept
}

// build writes files into a directory that is removed again, runs the compiler there and returns what it wrote to
// the file out. The error of a text that does not compile has what the compiler said.
func (c *compiler) build(name string, files map[string]string, out string, args ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "weft-emu-")
	if err != nil {
		return nil, fmt.Errorf("emu: %w", err)
	}
	defer os.RemoveAll(dir)
	for file, text := range files {
		if !filepath.IsLocal(file) {
			return nil, fmt.Errorf("emu: an include named %q", file)
		}
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return nil, fmt.Errorf("emu: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), compileTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.path, append(args, "-o", out)...)
	cmd.Dir = dir
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return nil, &cuda.Error{
			Op: "compile " + name + " for the emulated device", Text: fmt.Sprintf("%s: %v", c.version, err),
			Log: log.String(), Kind: cuda.ErrCompile,
		}
	}
	image, err := os.ReadFile(filepath.Join(dir, out))
	if err != nil {
		return nil, fmt.Errorf("emu: %w", err)
	}
	return image, nil
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
