package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
)

// TestBrokenConnection: an output that its reader closed is told from a connection that broke, whose error is to be read.
func TestBrokenConnection(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, true},
		{fmt.Errorf("rows: %w", io.ErrClosedPipe), true},
		{fmt.Errorf("nats: %w", &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}), false},
		{syscall.ENOSPC, false},
	} {
		if got := isClosedPipe(c.err); got != c.want {
			t.Errorf("%v: %t, want %t", c.err, got, c.want)
		}
	}
}
