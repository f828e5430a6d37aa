// Package native compiles C and C++ text with the compiler of this machine, and
// runs what generated C does, one worker a thread.
package native

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
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/weftgraph/weft/internal/process"
)

// ErrNoCompiler: the machine has no compiler, or native code cannot be loaded
// here. Test with errors.Is.
var ErrNoCompiler = errors.New("no compiler")

// CompileError is a text that does not compile.
type CompileError struct {
	Name     string // of the text
	Compiler string
	Err      error
	Log      string // what the compiler said
}

func (e *CompileError) Error() string {
	return fmt.Sprintf("compile %s: %s: %v\n%s", e.Name, e.Compiler, e.Err, strings.TrimSpace(e.Log))
}

func (e *CompileError) Unwrap() error { return e.Err }

// compileTime bounds one run of a compiler.
const compileTime = 10 * time.Minute

// Compiler is a compiler of this machine.
type Compiler struct {
	path    string
	Version string // with the target
}

// C is the machine's C compiler: the one that the environment's CC names, with
// its arguments, or the first of cc, gcc and clang. The error is an
// ErrNoCompiler that says what was looked for, or why what it compiles could not be
// loaded.
func C() (*Compiler, error) { return theC.get(context.Background()) }

var theC = search{mu: make(chan struct{}, 1), find: func(ctx context.Context) (*Compiler, error) {
	if err := loads(); err != nil {
		return nil, err
	}
	return find(ctx, "C", "CC", "cc", "gcc", "clang")
}}

// CXX is the machine's C++ compiler: CXX, or the first of c++, g++ and clang++.
func CXX() (*Compiler, error) { return theCXX.get(context.Background()) }

var theCXX = search{mu: make(chan struct{}, 1), find: func(ctx context.Context) (*Compiler, error) {
	return find(ctx, "C++", "CXX", "c++", "g++", "clang++", "clang++-19")
}}

// search finds a compiler once a process.
type search struct {
	mu       chan struct{} // a lock that is waited for no longer than a context
	find     func(context.Context) (*Compiler, error)
	found    bool
	compiler *Compiler
	err      error
}

// get returns what find returns, the first time that it is not cut short. When ctx ends
// first, its cause is the error.
func (s *search) get(ctx context.Context) (*Compiler, error) {
	select {
	case s.mu <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.mu }()
	if !s.found {
		c, err := s.find(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s.found, s.compiler, s.err = true, c, err
	}
	return s.compiler, s.err
}

func find(ctx context.Context, language, variable string, names ...string) (*Compiler, error) {
	if set := os.Getenv(variable); set != "" {
		names = []string{set}
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		version, err := process.Command(ctx, path, "--version").Output()
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(version), "\n")
		target, err := process.Command(ctx, path, "-dumpmachine").Output()
		if err != nil {
			continue
		}
		return &Compiler{path: path, Version: first + ", " + strings.TrimSpace(string(target))}, nil
	}
	install := "gcc"
	if language == "C++" {
		install = "g++"
	}
	return nil, fmt.Errorf("%w for %s: looked for %s; install %s or clang, or set %s",
		ErrNoCompiler, language, strings.Join(names, ", "), install, variable)
}

// Processor tells machines apart that -march=native compiles differently for.
func Processor() string {
	return runtime.GOARCH + " " + cpuid.CPU.BrandName + " " + strings.Join(cpuid.CPU.FeatureSet(), ",")
}

// Build writes files into a directory that is removed again, runs the compiler
// there and returns what it wrote to the file out. The error of a text that does
// not compile is a *CompileError, about name. When ctx ends, the compiler is killed with
// all that it has started, and the error is the cause.
func (c *Compiler) Build(ctx context.Context, name string, files map[string]string, out string, args ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "weft-native-")
	if err != nil {
		return nil, fmt.Errorf("native: %w", err)
	}
	defer os.RemoveAll(dir)
	for file, text := range files {
		if !filepath.IsLocal(file) {
			return nil, fmt.Errorf("native: an include named %q", file)
		}
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return nil, fmt.Errorf("native: %w", err)
		}
	}
	within, cancel := context.WithTimeout(ctx, compileTime)
	defer cancel()
	cmd := process.Command(within, c.path, append(args, "-o", out)...)
	cmd.Dir = dir
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if within.Err() != nil {
			err = fmt.Errorf("stopped after %v", compileTime)
		}
		return nil, &CompileError{Name: name, Compiler: c.Version, Err: err, Log: log.String()}
	}
	image, err := os.ReadFile(filepath.Join(dir, out))
	if err != nil {
		return nil, fmt.Errorf("native: %w", err)
	}
	return image, nil
}
