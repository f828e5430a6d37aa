//go:build unix

package native

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// endless makes a compiler that says its name, and then compiles for ever in a process
// of its own. All of it holds the pipe open that alive reads.
func endless(t *testing.T) (path string, alive func() *bufio.Reader) {
	t.Helper()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	path = filepath.Join(dir, "cc")
	script := `#!/bin/sh
case "$1" in --version|-dumpmachine) echo endless; exit;; esac
exec 3>"` + fifo + `"
echo compiling >&3
sh -c 'sleep 1000; :'
`
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path, func() *bufio.Reader {
		f, err := os.Open(fifo)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		r := bufio.NewReader(f)
		if line, err := r.ReadString('\n'); line != "compiling\n" {
			t.Fatalf("%q, %v", line, err)
		}
		return r
	}
}

// TestBuildEnds: a compiler ends with the context, with all that it has started, and
// nothing is left of its files.
func TestBuildEnds(t *testing.T) {
	path, alive := endless(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("CC", path)
	cc, err := find(t.Context(), "C", "CC")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := cc.Build(ctx, "x", map[string]string{"x.c": ""}, "x.so", "x.c")
		done <- err
	}()
	r := alive()
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Error(err)
	}
	if line, err := r.ReadString('\n'); line != "" || err == nil {
		t.Errorf("it goes on: %q, %v", line, err)
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestSearchEnds: a search that was cut short is not remembered, and does not hold up a
// caller whose context ends.
func TestSearchEnds(t *testing.T) {
	began := make(chan struct{})
	calls := 0
	s := search{mu: make(chan struct{}, 1), find: func(ctx context.Context) (*Compiler, error) {
		if calls++; calls == 1 {
			close(began)
			<-ctx.Done()
			return nil, ErrNoCompiler
		}
		return &Compiler{Version: "found"}, nil
	}}
	first, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.get(first)
		done <- err
	}()
	<-began
	second, leave := context.WithCancel(t.Context())
	leave()
	if _, err := s.get(second); !errors.Is(err, context.Canceled) {
		t.Errorf("the second caller: %v", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the first caller: %v", err)
	}
	for range 2 {
		if c, err := s.get(t.Context()); err != nil || c.Version != "found" {
			t.Errorf("%v, %v", c, err)
		}
	}
	if calls != 2 {
		t.Errorf("searched %d times", calls)
	}
}
