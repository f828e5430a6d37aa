package graph

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMappedWriter: a page that a program has mapped and written before can be written again
// without a word in the file's times, so there is no record of such a file.
func TestMappedWriter(t *testing.T) {
	settleTime = -time.Hour
	defer func() { settleTime = 2 * time.Second }()
	t.Setenv("WEFT_CACHE", t.TempDir())
	name := largeFile(t, nil)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, smallFile, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Skip(err)
	}
	_ = f.Close()
	at := &b[smallFile/2]
	*at ^= 1
	*at ^= 1
	if !hasWriter(opened(t, name)) {
		t.Skip("this file system does not know of writers")
	}
	for range 2 {
		if verified, err := reopen(t, name); !verified || err != nil {
			t.Errorf("while it may be written: verified %t, %v", verified, err)
		}
	}
	if err := unix.Munmap(b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		if verified, err := reopen(t, name); verified != want || err != nil {
			t.Errorf("afterwards: verified %t, want %t; %v", verified, want, err)
		}
	}
}

// TestNoLeaseStays: a program that opens the file to write it after it was asked about
// does not wait.
func TestNoLeaseStays(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := opened(t, name)
	if hasWriter(f) {
		t.Error("a file that nobody writes has a writer")
	}
	if lease, err := unix.FcntlInt(f.Fd(), unix.F_GETLEASE, 0); err == nil && lease != unix.F_UNLCK {
		t.Errorf("lease %d stays", lease)
	}
}

func opened(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
