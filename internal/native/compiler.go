// Package native compiles C and C++ text with the compiler of this machine. It runs generated C
// with one worker on each thread.
//
// It knows compilers, shared objects and the globals of kir programs. It must not know plans or
// Matcha programs.
package native

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/process"
	"github.com/weftgraph/weft/internal/vfs"
)

// ErrNoCompiler: the machine has no compiler, or native code cannot be loaded
// here. Test with errors.Is.
var ErrNoCompiler = errors.New("no compiler")

// CompileError is a text that does not compile.
type CompileError struct {
	Name     string // of the text
	Compiler string
	Err      error
	Log      string // the compiler's output
}

func (e *CompileError) Error() string {
	text := fmt.Sprintf("compile %s: %s: %v", cmp.Or(e.Name, "a pattern"), e.Compiler, e.Err)
	if log := strings.TrimSpace(e.Log); log != "" {
		text += "\n" + log
	}
	return text
}

func (e *CompileError) Unwrap() error { return e.Err }

// MemoryError is the error of a compiler that needs more memory than it may have.
type MemoryError struct {
	Name  string // of the text
	Bytes int64  // that it may have
	Log   string // the compiler's output, which may name files
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("compile %s: the compiler needs more memory than the %s that it may have", cmp.Or(e.Name, "a pattern"), memory.Text(uint64(e.Bytes)))
}

// shortOfMemory is what compilers, linkers and the system's loader say when they get no memory. A compiler that a signal ends is taken for
// one that got none: some are ended before they can say anything.
var shortOfMemory = []string{"out of memory", "memory exhausted", "cannot allocate memory", "failed to map segment", "bad_alloc", "signal terminated program", "due to signal", "terminated with signal"}

// lacked reports whether a compiler that failed lacked memory.
func lacked(state *os.ProcessState, log string) bool {
	log = strings.ToLower(log)
	return state != nil && state.ExitCode() < 0 || slices.ContainsFunc(shortOfMemory, func(s string) bool { return strings.Contains(log, s) })
}

// compileTime bounds one run of a compiler.
const compileTime = 10 * time.Minute

// Compiler is a compiler of this machine.
type Compiler struct {
	path    string
	args    []string // before all others
	files   vfs.FS   // nil: the context's file system
	memory  int64    // bytes that it may have; 0: any number
	Version string   // with the target, and args
}

// C returns the machine's C compiler: the one in the environment's CC, with its arguments, or
// the first of cc, gcc and clang. The error is an ErrNoCompiler that names the compilers looked
// for, or the reason why compiled code could not be loaded.
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

// get returns the result of find, from the first time that it is not cut short. If ctx ends
// first, the error is its cause.
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
	install := "gcc"
	if language == "C++" {
		install = "g++"
	}
	none := func(why string) error {
		return fmt.Errorf("%w for %s: %s; install %s or clang, or set %s", ErrNoCompiler, language, why, install, variable)
	}
	if text := os.Getenv(variable); strings.TrimSpace(text) != "" {
		words, err := splitWords(text)
		if err == nil {
			var c *Compiler
			if c, err = tryCompiler(ctx, words[0], words[1:]...); err == nil {
				return c, nil
			}
		}
		return nil, none(fmt.Sprintf("%s is %q: %v", variable, text, err))
	}
	var failed []string
	for _, name := range names {
		c, err := tryCompiler(ctx, name)
		if err == nil {
			return c, nil
		}
		if !errors.Is(err, exec.ErrNotFound) {
			failed = append(failed, err.Error())
		}
	}
	return nil, none(strings.Join(append([]string{"looked for " + strings.Join(names, ", ")}, failed...), "; "))
}

// tryCompiler asks a compiler for its version and its target.
func tryCompiler(ctx context.Context, name string, args ...string) (*Compiler, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, err
	}
	ask := func(what string) (string, error) {
		out, err := process.Command(ctx, path, append(slices.Clone(args), what)...).Output()
		var failed *exec.ExitError
		if errors.As(err, &failed) && len(failed.Stderr) > 0 {
			said, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n")
			return "", fmt.Errorf("%s %s: %s", name, what, said)
		}
		if err != nil {
			return "", fmt.Errorf("%s %s: %w", name, what, err)
		}
		first, _, _ := strings.Cut(string(out), "\n")
		return strings.TrimSpace(first), nil
	}
	version, err := ask("--version")
	if err != nil {
		return nil, err
	}
	target, err := ask("-dumpmachine")
	if err != nil {
		return nil, err
	}
	return &Compiler{path, args, nil, 0, strings.Join(append([]string{version + ", " + target}, args...), " ")}, nil
}

// splitWords splits a command into words as a shell does: at blanks outside quotes.
// Backslashes and both kinds of quotes are known, variables are not.
func splitWords(text string) ([]string, error) {
	var words []string
	var word []byte
	in, quote := false, byte(0) // in a word, in quotes
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == 0 && strings.IndexByte(" \t\n", c) >= 0:
			if in {
				words = append(words, string(word))
			}
			word, in = word[:0], false
			continue
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '\\' && (quote == 0 || quote == '"' && i+1 < len(text) && strings.IndexByte("\\\"$`", text[i+1]) >= 0):
			if i++; i == len(text) {
				return nil, errors.New("a backslash at the end")
			}
			word = append(word, text[i])
		default:
			word = append(word, c)
		}
		in = true
	}
	if quote != 0 {
		return nil, fmt.Errorf("no closing %c", quote)
	}
	if in {
		words = append(words, string(word))
	}
	return words, nil
}

// Processor tells machines apart that -march=native compiles differently for.
func Processor() string {
	return runtime.GOARCH + " " + cpuid.CPU.BrandName + " " + strings.Join(cpuid.CPU.FeatureSet(), ",")
}

// Within returns the compiler with a limit on its memory, in bytes. 0 means unlimited.
func (c *Compiler) Within(memory int64) *Compiler {
	bounded := *c
	bounded.memory = memory
	return &bounded
}

// Build writes files into a directory that is removed again, runs the compiler
// there and returns what it wrote to the file out. The error of a text that does
// not compile is a *CompileError, about name; of one that needs more memory than the
// compiler may have it is a *MemoryError. When ctx ends, the compiler is killed with
// all that it has started, and the error is the cause.
func (c *Compiler) Build(ctx context.Context, name string, files map[string]string, out string, args ...string) ([]byte, error) {
	fsys := c.files
	if fsys == nil {
		fsys = vfs.From(ctx)
	}
	tmp, err := disk.NewTempDir(fsys, "compile")
	if err != nil {
		return nil, fmt.Errorf("%w that can be used: %w", ErrNoCompiler, err)
	}
	defer tmp.Remove()
	dir := tmp.Path
	for file, text := range files {
		if !filepath.IsLocal(file) {
			return nil, fmt.Errorf("native: an include named %q", file)
		}
		path := filepath.Join(dir, file)
		if err := errors.Join(fsys.MkdirAll(filepath.Dir(path), 0o700), vfs.WriteFile(fsys, path, []byte(text), 0o600)); err != nil {
			return nil, fmt.Errorf("%w that can be used: %w", ErrNoCompiler, tmp.Explain(err))
		}
	}
	within, cancel := context.WithTimeout(ctx, compileTime)
	defer cancel()
	cmd := process.Bounded(within, c.memory, c.path, slices.Concat(c.args, args, []string{"-o", out})...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "LC_ALL=C") // what a killed compiler leaves goes with the folder; its words are those of shortOfMemory
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if within.Err() != nil {
			err = fmt.Errorf("stopped after %v", compileTime)
		} else if c.memory > 0 && lacked(cmd.ProcessState, log.String()) {
			return nil, &MemoryError{Name: name, Bytes: c.memory, Log: log.String()}
		}
		return nil, &CompileError{Name: name, Compiler: c.Version, Err: err, Log: log.String()}
	}
	image, err := vfs.ReadFile(fsys, filepath.Join(dir, out))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &CompileError{Name: name, Compiler: c.Version, Err: errors.New("it ended well and wrote no code"), Log: log.String()}
	case err != nil:
		return nil, fmt.Errorf("%w that can be used: %w", ErrNoCompiler, tmp.Explain(err))
	}
	return image, nil
}
