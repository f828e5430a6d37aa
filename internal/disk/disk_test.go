//go:build unix

package disk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/vfs"
)

// TestMain holds temporary files until it is killed, where a test starts its own binary for that.
func TestMain(m *testing.M) {
	if dir := os.Getenv("WEFT_TEST_HOLD"); dir != "" {
		f, err := Create(context.Background(), vfs.OS{}, filepath.Join(dir, "out.csv"))
		if err != nil {
			panic(err)
		}
		d, err := NewTempDir(vfs.OS{}, "native")
		if err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(d.Path, "x.c"), nil, 0o600); err != nil {
			panic(err)
		}
		_, _ = f.Write([]byte("half of a li"))
		_, _ = os.Stdout.WriteString("ready\n")
		select {}
	}
	os.Exit(m.Run())
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func write(t *testing.T, name, text string) {
	t.Helper()
	f, err := Create(t.Context(), vfs.OS{}, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil || string(got) != text {
		t.Errorf("%s has %q, %v; want %q", name, got, err, text)
	}
	if info, err := os.Lstat(name); err != nil || info.Mode() != mode {
		t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, mode)
	}
}

// TestFile: a file has its name when it is whole, and nothing is left of one that is given up.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.csv")
	f, err := Create(t.Context(), vfs.OS{}, name)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Write([]byte("x"))
	if n := names(t, dir); len(n) != 1 || n[0] == "out.csv" || !strings.HasPrefix(n[0], ".out.csv.") {
		t.Errorf("before Commit: %v", n)
	}
	f.Abort()
	if n := names(t, dir); len(n) != 0 {
		t.Errorf("after Abort: %v", n)
	}
	write(t, name, "x")
	if n := names(t, dir); !slices.Equal(n, []string{"out.csv"}) {
		t.Errorf("after Commit: %v", n)
	}
	if f, err = Create(t.Context(), vfs.OS{}, name); err != nil {
		t.Fatal(err)
	}
	if part, err := f.CommitPart(); err != nil || part != name+".partial" {
		t.Errorf("CommitPart: %s, %v", part, err)
	}
	if n := names(t, dir); !slices.Equal(n, []string{"out.csv", "out.csv.partial"}) {
		t.Errorf("after CommitPart: %v", n)
	}
	long := filepath.Join(dir, strings.Repeat("ä", 120)+".csv")
	write(t, long, "long")
	want(t, long, "long", 0o666&^umask(t))
}

func umask(t *testing.T) os.FileMode {
	t.Helper()
	m := syscall.Umask(0)
	syscall.Umask(m)
	return os.FileMode(m)
}

// TestFileKeeps: a file that is replaced hands on its permissions and its group, and a link stays a link.
func TestFileKeeps(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, mode := range []os.FileMode{0o600, 0o640, 0o444, 0o664} {
		if err := os.WriteFile("old", []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod("old", mode); err != nil {
			t.Fatal(err)
		}
		if os.Getuid() == 0 {
			if err := os.Chown("old", 4321, 1234); err != nil {
				t.Fatal(err)
			}
		}
		write(t, "old", "new")
		want(t, "old", "new", mode)
		if os.Getuid() == 0 {
			info, err := os.Stat("old")
			if err != nil {
				t.Fatal(err)
			}
			if s := info.Sys().(*syscall.Stat_t); s.Uid != 4321 || s.Gid != 1234 {
				t.Errorf("owner %d, group %d; want 4321, 1234", s.Uid, s.Gid)
			}
		}
		if err := os.Remove("old"); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir("a", 0o777), os.MkdirAll("b/c", 0o777), os.Symlink("../b/c", "a/d"), os.Symlink("../x", "b/c/link"), os.Symlink("a/d/link", "first")); err != nil {
		t.Fatal(err)
	}
	// b/c/link leads to b/x, though its names in between would say otherwise.
	for _, name := range []string{"first", "a/d/link"} {
		for _, text := range []string{"new", "again"} {
			write(t, name, text)
			want(t, "b/x", text, 0o666&^umask(t))
			if info, err := os.Lstat(name); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("%s is not a link any more: %v, %v", name, info.Mode(), err)
			}
		}
	}
	if n := names(t, "b"); !slices.Equal(n, []string{"c", "x"}) {
		t.Errorf("left: %v", n)
	}
}

// TestFileInPlace: pipes and devices are written, and stay.
func TestFileInPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		b, _ := os.ReadFile("pipe")
		read <- string(b)
	}()
	write(t, "pipe", "through")
	if got := <-read; got != "through" {
		t.Errorf("the pipe gave %q", got)
	}
	if info, err := os.Lstat("pipe"); err != nil || info.Mode() != os.ModeNamedPipe|0o600 {
		t.Errorf("the pipe is %v, %v", info.Mode(), err)
	}
	before, err := os.Stat(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	write(t, os.DevNull, "nothing")
	if after, err := os.Stat(os.DevNull); err != nil || !os.SameFile(before, after) || before.Mode() != after.Mode() {
		t.Errorf("%s is %v, %v", os.DevNull, after.Mode(), err)
	}
	// A pipe without a reader is waited for until the context ends.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Create(ctx, vfs.OS{}, "pipe"); !errors.Is(err, context.Canceled) {
		t.Errorf("a pipe without a reader: %v", err)
	}
}

// TestFileDescriptor: a name of an open file goes on where that file is.
func TestFileDescriptor(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "both"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, text := range []string{"one ", "two"} {
		write(t, fmt.Sprint("/dev/fd/", f.Fd()), text)
	}
	want(t, f.Name(), "one two", 0o666&^umask(t))
}

// TestFileRefused: the message names what was asked for.
func TestFileRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := errors.Join(os.Mkdir("dir", 0o777), os.Symlink("loop", "loop")); err != nil {
		t.Fatal(err)
	}
	for name, what := range map[string]string{
		"socket": "socket is a socket", "dir": "dir is a folder", "dir/": "dir/ is a folder", "new/": "new/ is a folder", ".": ". is a folder",
		"none/x": "there is no folder none", "loop": "symbolic links", "/dev/fd/999": "bad file descriptor",
	} {
		f, err := Create(t.Context(), vfs.OS{}, name)
		if err == nil {
			f.Abort()
		}
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v; want %q", name, err, what)
		}
	}
	if n := names(t, "."); !slices.Equal(n, []string{"dir", "loop", "socket"}) {
		t.Errorf("left: %v", n)
	}
}

// TestFullDevice: a device that is full gives an error that names it.
func TestFullDevice(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	f, err := Create(t.Context(), vfs.OS{}, "/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if _, err := f.Write([]byte("x")); !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "/dev/full: ") {
		t.Errorf("error %v", err)
	}
}

// TestSweep: what a killed process left goes when the next one writes to the folder, and nothing else.
func TestSweep(t *testing.T) {
	dir, tmp := t.TempDir(), t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hold := func() *exec.Cmd {
		c := exec.Command(exe)
		c.Env = append(os.Environ(), "WEFT_TEST_HOLD="+dir, "TMPDIR="+tmp)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatalf("%q, %v", line, err)
		}
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
		return c
	}
	killed := hold()
	_ = killed.Process.Kill()
	_ = killed.Wait()
	left, leftTmp := names(t, dir), names(t, tmp)
	if len(left) != 1 || len(leftTmp) != 1 {
		t.Fatalf("a killed process left %v and %v", left, leftTmp)
	}
	// Another host's, the user's own, and what is nothing that could be held.
	boot, host := origin()
	other := strings.ReplaceAll(strings.ReplaceAll(left[0], boot, "00000000"), host, "00000000")
	pipe := strings.Replace(left[0], "out.csv", "pipe", 1)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, other), nil, 0o600), os.WriteFile(filepath.Join(dir, "mine.weft-tmp"), nil, 0o600),
		syscall.Mkfifo(filepath.Join(dir, pipe), 0o600)); err != nil {
		t.Fatal(err)
	}
	stay := []string{other, pipe, "mine.weft-tmp"}
	hold() // sweeps, and stays
	held, heldTmp := names(t, dir), names(t, tmp)
	if slices.Contains(held, left[0]) || len(held) != len(stay)+1 || slices.Contains(heldTmp, leftTmp[0]) || len(heldTmp) != 1 {
		t.Errorf("after a sweep: %v and %v", held, heldTmp)
	}
	sweep(vfs.OS{}, dir)
	sweep(vfs.OS{}, tmp)
	if n := names(t, dir); !slices.Equal(n, held) {
		t.Errorf("a file that a process holds was removed: %v, was %v", n, held)
	}
	if n := names(t, tmp); !slices.Equal(n, heldTmp) {
		t.Errorf("a folder that a process holds was removed: %v, was %v", n, heldTmp)
	}
}

// TestTempDir: an error says what the folder is for and how to choose another.
func TestTempDir(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	var e *TempError
	if _, err := NewTempDir(vfs.OS{}, "x"); !errors.As(err, &e) || !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("NewTempDir: %v", err)
	}
	if _, err := NewTempFile(vfs.OS{}, "x"); !errors.As(err, &e) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("NewTempFile: %v", err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	f, err := NewTempFile(vfs.OS{}, "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "x"); err != nil {
		t.Fatal(err)
	}
	f.Remove()
	d, err := NewTempDir(vfs.OS{}, "x")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(d.Path); err != nil || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	d.Remove()
	if n := names(t, os.TempDir()); len(n) != 0 {
		t.Errorf("left: %v", n)
	}
}

// TestOwn: files and folders of other users, and those that others may write, are told apart.
func TestOwn(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	reset := func() {
		t.Helper()
		if err := errors.Join(os.RemoveAll(name), os.WriteFile(name, []byte("x"), 0o600), os.Chmod(name, 0o600), os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	reset()
	if b, err := ReadOwn(vfs.OS{}, name); err != nil || string(b) != "x" {
		t.Errorf("%q, %v", b, err)
	}
	if err := CheckOwn(vfs.OS{}, dir); err != nil {
		t.Error(err)
	}
	if err := CheckOwn(vfs.OS{}, filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	real, err := Trusted(name)
	if err != nil {
		t.Skip(err) // temporary files lie where others may write
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if got, err := Trusted(link); err != nil || got != real {
		t.Errorf("%s, %v; want %s", got, err, real)
	}
	if _, err := ReadOwn(vfs.OS{}, link); err == nil {
		t.Error("a link was followed")
	}
	for what, change := range map[string]func() error{
		"others":       func() error { return os.Chmod(name, 0o602) },
		"group":        func() error { return errors.Join(os.Chown(name, -1, 4321), os.Chmod(name, 0o620)) },
		"another user": func() error { return os.Chown(name, 4321, -1) },
		"pipe":         func() error { return errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o600)) },
		"folder":       func() error { return os.Chmod(dir, 0o777) },
		"sticky":       func() error { return os.Chmod(dir, 0o777|os.ModeSticky) },
	} {
		reset()
		if err := change(); errors.Is(err, os.ErrPermission) {
			continue // this user cannot do that
		} else if err != nil {
			t.Fatal(err)
		}
		var foreign *ForeignError
		switch _, err := Trusted(name); {
		case what == "pipe": // which the loader would not take
		case !errors.As(err, &foreign):
			t.Errorf("Trusted, %s: %v", what, err)
		}
		if what == "folder" || what == "sticky" {
			if err := CheckOwn(vfs.OS{}, dir); !errors.As(err, &foreign) {
				t.Errorf("CheckOwn, %s: %v", what, err)
			}
		} else if _, err := ReadOwn(vfs.OS{}, name); !errors.As(err, &foreign) {
			t.Errorf("ReadOwn, %s: %v", what, err)
		}
	}
}

// TestSweepBetween: folders that others sweep away before they are locked are made again.
func TestSweepBetween(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	stop := make(chan struct{})
	var sweeps sync.WaitGroup
	for range 4 {
		sweeps.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					sweep(vfs.OS{}, dir)
				}
			}
		})
	}
	defer sweeps.Wait()
	defer close(stop)
	for range 400 {
		d, err := NewTempDir(vfs.OS{}, "folder")
		if err != nil {
			t.Fatal(err)
		}
		if !isAt(vfs.OS{}, d.open, d.Path) {
			t.Fatal("the folder is gone")
		}
		d.Remove()
	}
}
