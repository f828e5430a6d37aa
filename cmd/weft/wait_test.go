//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/ctxio"
	"github.com/weftgraph/weft/internal/vfs"
)

// fifo makes a FIFO that nobody has open.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	return path
}

// ending is the exit code of a command line that ends by itself.
func ending(t *testing.T, ctx context.Context, stdin io.Reader, stdout io.Writer, args ...string) (code int, errs string) {
	t.Helper()
	var text bytes.Buffer
	done := make(chan int, 1)
	go func() { done <- run(ctx, args, stdin, stdout, &text) }()
	select {
	case code := <-done:
		return code, text.String()
	case <-time.After(3 * time.Minute):
		t.Fatalf("%v does not end", args)
		return 0, ""
	}
}

// TestWaitsEnd: what waits for somebody else, or has no end, ends by --timeout and by
// Ctrl-C.
func TestWaitsEnd(t *testing.T) {
	g, pipe := bigGraph(t), fifo(t)
	alone := fifo(t) // others of these commands may still wait to read the first one
	silent, other, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	defer silent.Close()
	unread, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	defer full.Close()
	_, filled := fullPipe(t)
	many := []string{"match", "-g", g, "--pattern", "path(5)", "--to", "csv"}
	for name, c := range map[string]struct {
		args    []string
		stdin   io.Reader
		stdout  io.Writer
		timeout bool // there is one
	}{
		"a graph from a FIFO":           {[]string{"count", "-g", pipe, "--pattern", "triangle"}, nil, io.Discard, true},
		"labels from a FIFO":            {[]string{"exists", "-g", g, "--labels", pipe, "--pattern", "triangle"}, nil, io.Discard, true},
		"patterns from a FIFO":          {[]string{"match", "-g", g, "-f", pipe}, nil, io.Discard, true},
		"a program from a FIFO":         {[]string{"matcha", "run", pipe, "-g", g}, nil, io.Discard, true},
		"a program from standard input": {[]string{"matcha", "run", "-", "-g", g}, silent, io.Discard, true},
		"a program to check":            {[]string{"matcha", "check", pipe}, nil, io.Discard, false},
		"describing a FIFO":             {[]string{"info", pipe}, nil, io.Discard, false},
		"converting a FIFO":             {[]string{"convert", pipe, filepath.Join(t.TempDir(), "x.weft")}, nil, io.Discard, false},
		"a FIFO without a reader":       {append(many, "-o", alone), nil, io.Discard, true},
		"a graph to a FIFO":             {[]string{"gen", "er", "--n", "100", "--m", "200", "--to", "el", "-o", alone}, nil, io.Discard, false},
		"a full pipe":                   {many, nil, full, true},
		"help to a full pipe":           {[]string{"count", "--help"}, nil, filled, false},
		"a version to a full pipe":      {[]string{"version"}, nil, filled, false},
		"checks to a full pipe":         {[]string{"doctor"}, nil, filled, false},
		"a graph to measure":            {[]string{"bench", "-g", pipe, "--pattern", "triangle"}, nil, io.Discard, true},
		"a graph for programs":          {[]string{"bench", "matcha", "-g", pipe, "--program", "triangles"}, nil, io.Discard, true},
		"a graph to a full pipe":        {[]string{"convert", g, "-", "--to", "el"}, nil, full, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.timeout {
				code, errs := ending(t, t.Context(), c.stdin, c.stdout, append(c.args, "--timeout", "100ms")...)
				if code != exitTimeout || !strings.Contains(errs, "timeout") {
					t.Errorf("--timeout: exit %d: %s", code, errs)
				}
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errInterrupted)
			if code, errs := ending(t, ctx, c.stdin, c.stdout, c.args...); code != exitInterrupted || !strings.Contains(errs, "interrupted") {
				t.Errorf("Ctrl-C: exit %d: %s", code, errs)
			}
		})
	}
}

// TestAwaitEnded: of a context that has ended, the cause is the answer, however soon another is there.
func TestAwaitEnded(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)
	for range 1000 {
		if _, err := await(ctx, func() (int, error) { return 1, errTimeout }); err != errInterrupted {
			t.Fatal(err)
		}
	}
}

// TestMessagesEnd: messages that nobody reads hold nothing up after --timeout or Ctrl-C,
// and progress that nobody reads holds nothing up at all.
func TestMessagesEnd(t *testing.T) {
	g, small := bigGraph(t), put(t, "noted.txt", "1 2\n2 2\n2 x\n")
	count := slices.Concat(slow, []string{"-g", g})
	for name, c := range map[string]struct {
		args      []string
		timeout   bool // there is one
		code      int  // with --timeout
		interrupt int  // with Ctrl-C
	}{
		"notes":                {[]string{"count", small, "--pattern", "triangle"}, true, exitTimeout, exitInterrupted},
		"notes of conversion":  {[]string{"convert", small, os.DevNull, "--to", "csv"}, false, 0, exitInterrupted},
		"plain progress":       {slices.Concat(count, []string{"--progress", "plain"}), true, exitTimeout, exitInterrupted},
		"progress as JSON":     {slices.Concat(count, []string{"--progress", "json"}), true, exitTimeout, exitInterrupted},
		"statistics":           {[]string{"match", small, "--pattern", "edge", "--stats"}, true, exitTimeout, exitInterrupted},
		"an error":             {[]string{"count", "none.txt", "--pattern", "triangle"}, true, exitInput, exitInterrupted},
		"a mistake in a flag":  {[]string{"count", "--no-such"}, false, 0, exitUsage},
		"a mistake in a query": {[]string{"exists", small, "MATCH (a"}, true, exitQuery, exitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits for a second twice
			if c.timeout {
				if code := unread(t, t.Context(), append(c.args, "--timeout", "100ms")...); code != c.code {
					t.Errorf("--timeout: exit %d, want %d", code, c.code)
				}
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errInterrupted)
			if code := unread(t, ctx, c.args...); code != c.interrupt {
				t.Errorf("Ctrl-C: exit %d, want %d", code, c.interrupt)
			}
		})
	}
	t.Run("progress alone", func(t *testing.T) {
		r, full := fullPipe(t)
		m := newMessages(t.Context(), full)
		p := &progress{w: m, mode: "plain"}
		for range 3 { // none waits for a reader
			p.show(weft.Progress{Phase: "search", Done: 1, Total: 2}, time.Now())
		}
		go func() { _, _ = io.Copy(io.Discard, r) }()
		if err := m.close(); err != nil {
			t.Error(err)
		}
	})
}

// unread is the exit code of a command line whose standard error nobody reads.
func unread(t *testing.T, ctx context.Context, args ...string) int {
	t.Helper()
	_, full := fullPipe(t)
	return run(ctx, args, nil, io.Discard, full)
}

// fullPipe is a pipe that takes no byte more until r is read.
func fullPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Write(func(fd uintptr) bool {
		for {
			if _, err := syscall.Write(int(fd), make([]byte, 4096)); err != nil { // full
				return true
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// TestEndlessInput: an input without an end is an error, or is read until the timeout, in
// bounded memory.
func TestEndlessInput(t *testing.T) {
	g := bigGraph(t)
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"info", "/dev/zero"}, exitInput},
		{[]string{"info", "/dev/zero", "--format", "edgelist"}, exitInput},
		{[]string{"info", "/dev/zero", "--format", "mtx"}, exitInput},
		{[]string{"info", "/dev/zero", "--format", "tve"}, exitInput},
		{[]string{"info", "/dev/zero", "--format", "parquet"}, exitInput},
		{[]string{"info", "/dev/zero", "--format", "arrow"}, exitInput},
		{[]string{"info", "/dev/zero", "--format", "weft"}, exitInput},
		{[]string{"info", g, "--labels", "/dev/zero"}, exitInput},
		{[]string{"count", "-g", g, "-f", "/dev/zero"}, exitInput},
		{[]string{"matcha", "check", "/dev/zero"}, exitInput},
	} {
		if code, errs := ending(t, t.Context(), nil, io.Discard, c.args...); code != c.code || !strings.Contains(errs, "/dev/zero") {
			t.Errorf("%v: exit %d: %.200s", c.args, code, errs)
		}
	}
}

// TestCompilerEnds: Ctrl-C on the terminal reaches weft and not its compiler, which weft
// ends; so does --timeout.
func TestCompilerEnds(t *testing.T) {
	g, dir, alive := bigGraph(t), t.TempDir(), fifo(t)
	cc := filepath.Join(dir, "cc")
	script := `#!/bin/sh
case "$1" in --version|-dumpmachine) echo endless; exit;; esac
exec 3>"` + alive + `"
trap 'echo interrupted >&3' INT
echo compiling >&3
while :; do sleep 1000; done
`
	if err := os.WriteFile(cc, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"count", "-g", g, "--pattern", "triangle", "--engine", "codegen", "--device", "cpu"},
		{"match", "-g", g, "--pattern", "triangle", "--engine", "codegen", "--device", "cpu"},
		{"motifs", "-g", g, "-k", "4", "--engine", "codegen", "--device", "cpu"},
		{"matcha", "run", "triangles", "-g", g, "--target", "c"},
	} {
		compilerEnds(t, cc, alive, "", args...)
		if args[0] == "motifs" {
			continue // its timeout is the same
		}
		// On a slow machine the timeout may pass before the compiler begins.
		for timeout := 3 * time.Second; !compilerEnds(t, cc, alive, timeout.String(), args...); timeout *= 2 {
			if timeout > 5*time.Minute {
				t.Fatalf("%v: the compiler does not begin", args)
			}
		}
	}
}

// compilerEnds runs a command line whose compiler has no end, and interrupts it, or has it
// end by a timeout: false says that this passed before the compiler had begun.
func compilerEnds(t *testing.T, cc, alive, timeout string, args ...string) (began bool) {
	t.Helper()
	want := exitInterrupted
	if timeout != "" {
		args, want = append(args, "--timeout", timeout), exitTimeout
	}
	c := command(t, args...)
	c.Env = append(c.Env, "CC="+cc, "WEFT_CACHE=off")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, ended := context.WithCancel(t.Context())
	go func() {
		_ = c.Wait()
		ended()
	}()
	f, err := ctxio.Open(ctx, vfs.OS{}, alive)
	if err == nil {
		defer f.Close()
		r := bufio.NewReader(f)
		if line, err := r.ReadString('\n'); line != "compiling\n" {
			t.Fatalf("%v: the compiler said %q, %v", args, line, err)
		}
		if timeout == "" {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGINT)
		}
		<-ctx.Done()
		if line, err := r.ReadString('\n'); line != "" || err != io.EOF {
			t.Errorf("%v: of the compiler there is still %q, %v", args, line, err)
		}
	}
	if code := c.ProcessState.ExitCode(); code != want {
		t.Errorf("%v: exit %d: %s", args, code, errs.String())
	}
	return err == nil
}

// TestPeerEnds: a program of another that weft bench runs ends with what it has started.
func TestPeerEnds(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	g, dir, alive := bigGraph(t), t.TempDir(), fifo(t)
	peers := filepath.Join(dir, "peers.json")
	if err := os.WriteFile(peers, []byte(`[{"name": "slow", "command": ["sh", "-c", "exec 3>`+alive+`; echo begun >&3; sleep 1000 & wait"]}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"bench", "-g", g, "--pattern", "triangle", "--peers", peers}, nil, io.Discard, io.Discard)
	}()
	f, err := os.Open(alive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	if line, err := r.ReadString('\n'); line != "begun\n" {
		t.Fatalf("%q, %v", line, err)
	}
	cancel(errInterrupted)
	if _, err := r.ReadString('\n'); err != io.EOF {
		t.Errorf("it goes on: %v", err)
	}
	select {
	case code := <-ended:
		if code != exitInterrupted {
			t.Errorf("exit %d", code)
		}
	case <-time.After(3 * time.Minute):
		t.Error("weft bench waits for it")
	}
}
