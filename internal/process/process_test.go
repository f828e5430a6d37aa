//go:build unix

package process

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestGroup: the end of the context ends what the command has started, too. A FIFO that
// all of them hold open for writing is at its end when none is left.
func TestGroup(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := Command(ctx, "sh", "-c", `exec >"$1"; sh -c 'echo $$; sleep 1000; :' & sleep 1000; wait`, "sh", fifo)
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	alive, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	r := bufio.NewReader(alive)
	if line, err := r.ReadString('\n'); err != nil || strings.TrimSpace(line) == "" {
		t.Fatalf("the inner shell said %q, %v", line, err)
	}
	own, err := syscall.Getpgid(c.Process.Pid)
	if mine := syscall.Getpgrp(); err != nil || own == mine {
		t.Errorf("group %d, and this process is in %d: %v", own, mine, err)
	}
	cancel()
	if err := c.Wait(); !errors.Is(err, context.Canceled) && c.ProcessState.Success() {
		t.Errorf("ended with %v", err)
	}
	if rest, err := r.ReadString('\n'); rest != "" || err == nil {
		t.Errorf("still there: %q, %v", rest, err)
	}
}
