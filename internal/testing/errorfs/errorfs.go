// Package errorfs gives tests a file system that fails on purpose. One operation, chosen by its number,
// returns an error or does half of its work. The file system below does everything else.
//
// A test runs a reader or a writer again and again. The first operation fails in the first run, the second in
// the next, until a run has no failure: see Each. The idea is that of Pebble's package of the same name.
package errorfs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/vfs"
)

// Kind is a set of operations.
type Kind uint32

// The operations. Stat is that of names, links and open files; List those of folders' names; Mode those that set
// permissions, owners and times.
const (
	Open Kind = 1 << iota
	Create
	Stat
	List
	Readlink
	Read
	ReadAt
	Write
	Sync
	Close
	Mode
	Mkdir
	Rename
	Remove
	Map
	Link

	All Kind = 1<<iota - 1
)

var kindNames = []string{"open", "create", "stat", "list", "readlink", "read", "readat", "write", "sync", "close", "mode", "mkdir", "rename", "remove", "map", "link"}

// String names the operations.
func (k Kind) String() string {
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// Way says how an operation fails.
type Way uint8

const (
	// Fails does nothing and returns the error. A file is closed nevertheless.
	Fails Way = iota
	// Half reads or writes the first half, and returns the error with it; others fail.
	Half
	// Short lets Read return half of what is asked for, at least a byte, and no error, as it may. Others are not
	// counted.
	Short
	// Ends lets a file end in the middle of what is read, for this read and all later ones. Only reads are counted.
	Ends
)

// Fault says which operation fails, and how.
type Fault struct {
	Kinds Kind  // the operations that are counted
	N     int   // the one of these that fails, from 1; 0: none
	Err   error // with it; of Short and Ends it is not used
	Way   Way
	Stays bool // those of Kinds after it fail as well
}

// Op is an operation that failed.
type Op struct {
	Kind Kind
	Path string
}

// MustFail reports whether a writer has to fail with the operation, because it makes or completes a file that is
// written: one with the name of a temporary file of package disk.
func (o Op) MustFail() bool {
	return o.Kind&(Create|Write|Sync|Close|Rename) != 0 && strings.HasSuffix(o.Path, ".weft-tmp")
}

// Error is an error on purpose. It wraps that of the Fault.
type Error struct {
	Op  Op
	Err error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the Fault's error.
func (e *Error) Unwrap() error { return e.Err }

// FS is a file system with a Fault. It is safe for concurrent use.
type FS struct {
	below vfs.FS
	fault Fault

	mu    sync.Mutex
	seen  int // operations of the Fault's kinds
	fired []Op
	open  map[*file]bool
	maps  int
}

// New returns the file system below with a fault.
func New(below vfs.FS, f Fault) *FS { return &FS{below: below, fault: f, open: map[*file]bool{}} }

// Fired returns the first operation that failed, and whether there is one.
func (f *FS) Fired() (Op, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.fired) == 0 {
		return Op{}, false
	}
	return f.fired[0], true
}

// Seen returns the number of operations of the Fault's kinds.
func (f *FS) Seen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}

// Held returns the names of files that are open, and "a mapping" for each mapping.
func (f *FS) Held() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for o := range f.open {
		out = append(out, o.Name())
	}
	slices.Sort(out)
	return append(out, slices.Repeat([]string{"a mapping"}, f.maps)...)
}

// hit counts an operation, and reports whether it fails.
func (f *FS) hit(k Kind, path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault.Kinds&k == 0 || f.fault.Way == Short && k != Read || f.fault.Way == Ends && k&(Read|ReadAt) == 0 {
		return false
	}
	f.seen++
	if f.seen != f.fault.N && (!f.fault.Stays || f.fault.N == 0 || f.seen < f.fault.N) {
		return false
	}
	f.fired = append(f.fired, Op{k, path})
	return true
}

// fail counts an operation that can only fail as a whole, and returns its error.
func (f *FS) fail(k Kind, name, path string) error {
	if !f.hit(k, path) {
		return nil
	}
	return &fs.PathError{Op: name, Path: path, Err: &Error{Op{k, path}, f.fault.Err}}
}

// OpenFile implements vfs.FS.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	k := Open
	if flag&os.O_CREATE != 0 {
		k = Create
	}
	if err := f.fail(k, "open", name); err != nil {
		return nil, err
	}
	below, err := f.below.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	o := &file{File: below, fs: f}
	f.mu.Lock()
	f.open[o] = true
	f.mu.Unlock()
	return o, nil
}

// Stat implements vfs.FS.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if err := f.fail(Stat, "stat", name); err != nil {
		return nil, err
	}
	return f.below.Stat(name)
}

// Lstat implements vfs.FS.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	if err := f.fail(Stat, "lstat", name); err != nil {
		return nil, err
	}
	return f.below.Lstat(name)
}

// Readlink implements vfs.FS.
func (f *FS) Readlink(name string) (string, error) {
	if err := f.fail(Readlink, "readlink", name); err != nil {
		return "", err
	}
	return f.below.Readlink(name)
}

// ReadDir implements vfs.FS.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.fail(List, "readdir", name); err != nil {
		return nil, err
	}
	return f.below.ReadDir(name)
}

// Mkdir implements vfs.FS.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	if err := f.fail(Mkdir, "mkdir", name); err != nil {
		return err
	}
	return f.below.Mkdir(name, perm)
}

// MkdirAll implements vfs.FS.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	if err := f.fail(Mkdir, "mkdir", name); err != nil {
		return err
	}
	return f.below.MkdirAll(name, perm)
}

// Rename implements vfs.FS.
func (f *FS) Rename(from, to string) error {
	if f.hit(Rename, from) {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: &Error{Op{Rename, from}, f.fault.Err}}
	}
	return f.below.Rename(from, to)
}

// Link implements vfs.FS.
func (f *FS) Link(from, to string) error {
	if f.hit(Link, from) {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: &Error{Op{Link, from}, f.fault.Err}}
	}
	return f.below.Link(from, to)
}

// Remove implements vfs.FS.
func (f *FS) Remove(name string) error {
	if err := f.fail(Remove, "remove", name); err != nil {
		return err
	}
	return f.below.Remove(name)
}

// RemoveAll implements vfs.FS.
func (f *FS) RemoveAll(name string) error {
	if err := f.fail(Remove, "unlinkat", name); err != nil {
		return err
	}
	return f.below.RemoveAll(name)
}

// Chtimes implements vfs.FS.
func (f *FS) Chtimes(name string, access, modified time.Time) error {
	if err := f.fail(Mode, "chtimes", name); err != nil {
		return err
	}
	return f.below.Chtimes(name, access, modified)
}

// Map implements vfs.FS.
func (f *FS) Map(o vfs.File, size int64) ([]byte, func([]byte) error, error) {
	name := o.Name()
	if f.hit(Map, name) {
		return nil, nil, os.NewSyscallError("mmap", &Error{Op{Map, name}, f.fault.Err})
	}
	below := o.(*file).File
	b, free, err := f.below.Map(below, size)
	if err != nil {
		return nil, nil, err
	}
	f.mu.Lock()
	f.maps++
	f.mu.Unlock()
	return b, func(b []byte) error {
		f.mu.Lock()
		f.maps--
		f.mu.Unlock()
		return free(b)
	}, nil
}

// file is an open file of an FS.
type file struct {
	vfs.File
	fs *FS

	mu    sync.Mutex
	ended bool // reads find no more
}

func (o *file) fail(k Kind, name string) error { return o.fs.fail(k, name, o.Name()) }

// read is Read and ReadAt by way of do.
func (o *file) read(k Kind, p []byte, do func([]byte) (int, error)) (int, error) {
	o.mu.Lock()
	ended := o.ended
	o.mu.Unlock()
	if ended {
		return 0, io.EOF
	}
	if len(p) == 0 || !o.fs.hit(k, o.Name()) {
		return do(p)
	}
	failure := &fs.PathError{Op: "read", Path: o.Name(), Err: &Error{Op{k, o.Name()}, o.fs.fault.Err}}
	switch o.fs.fault.Way {
	case Short:
		return do(p[:max(1, len(p)/2)])
	case Half, Ends:
		n, err := do(p)
		n /= 2
		switch {
		case o.fs.fault.Way == Half:
			return n, failure
		case err != nil && err != io.EOF:
			return n, err
		}
		o.mu.Lock()
		o.ended = true
		o.mu.Unlock()
		return n, io.EOF
	}
	return 0, failure
}

// Read implements vfs.File.
func (o *file) Read(p []byte) (int, error) { return o.read(Read, p, o.File.Read) }

// ReadAt implements vfs.File.
func (o *file) ReadAt(p []byte, off int64) (int, error) {
	return o.read(ReadAt, p, func(p []byte) (int, error) { return o.File.ReadAt(p, off) })
}

// write is Write and WriteAt by way of do.
func (o *file) write(p []byte, do func([]byte) (int, error)) (int, error) {
	err := o.fail(Write, "write")
	if err == nil {
		return do(p)
	}
	n := 0
	if o.fs.fault.Way == Half {
		n, _ = do(p[:len(p)/2])
	}
	return n, err
}

// Write implements vfs.File.
func (o *file) Write(p []byte) (int, error) { return o.write(p, o.File.Write) }

// WriteAt implements vfs.File.
func (o *file) WriteAt(p []byte, off int64) (int, error) {
	return o.write(p, func(p []byte) (int, error) { return o.File.WriteAt(p, off) })
}

// Stat implements vfs.File.
func (o *file) Stat() (fs.FileInfo, error) {
	if err := o.fail(Stat, "stat"); err != nil {
		return nil, err
	}
	return o.File.Stat()
}

// Sync implements vfs.File.
func (o *file) Sync() error {
	if err := o.fail(Sync, "sync"); err != nil {
		return err
	}
	return o.File.Sync()
}

// Truncate implements vfs.File.
func (o *file) Truncate(size int64) error {
	if err := o.fail(Write, "truncate"); err != nil {
		return err
	}
	return o.File.Truncate(size)
}

// Chmod implements vfs.File.
func (o *file) Chmod(mode fs.FileMode) error {
	if err := o.fail(Mode, "chmod"); err != nil {
		return err
	}
	return o.File.Chmod(mode)
}

// Chown implements vfs.File.
func (o *file) Chown(uid, gid int) error {
	if err := o.fail(Mode, "chown"); err != nil {
		return err
	}
	return o.File.Chown(uid, gid)
}

// Readdirnames implements vfs.File.
func (o *file) Readdirnames(n int) ([]string, error) {
	if err := o.fail(List, "readdirent"); err != nil {
		return nil, err
	}
	return o.File.Readdirnames(n)
}

// Close implements vfs.File. The file is closed, whatever the error is.
func (o *file) Close() error {
	o.fs.mu.Lock()
	again := !o.fs.open[o]
	delete(o.fs.open, o)
	o.fs.mu.Unlock()
	if again {
		return o.File.Close()
	}
	err := o.fail(Close, "close")
	if closed := o.File.Close(); err == nil {
		err = closed
	}
	return err
}

// most bounds the operations of one run of Each.
const most = 10000

// Each calls run with file systems of which the first operation of the fault's kinds fails, then the second, and
// so on, until run ends without a fault. After each it fails the test where run holds open files or mappings of
// the file system, or the process has files below one of the folders open. It returns the number of faults.
func Each(t *testing.T, fault Fault, folders []string, run func(fsys *FS)) int {
	t.Helper()
	for n := 1; n <= most; n++ {
		fault.N = n
		fsys := New(vfs.OS{}, fault)
		run(fsys)
		op, fired := fsys.Fired()
		at := fmt.Sprintf("operation %d, %s of %s", n, op.Kind, op.Path)
		if held := fsys.Held(); len(held) > 0 {
			t.Errorf("%s: these stay open: %q", at, held)
		}
		for _, folder := range folders {
			if open := Descriptors(folder); len(open) > 0 {
				t.Errorf("%s: the process has %q open", at, open)
			}
		}
		if !fired {
			return n - 1
		}
		if t.Failed() {
			t.FailNow() // the faults after it would say the same
		}
	}
	t.Fatalf("faults after %d operations", most)
	return 0
}

// Descriptors returns the files below a folder that this process has open, as far as the system says so.
func Descriptors(folder string) []string {
	const here = "/proc/self/fd"
	entries, _ := os.ReadDir(here)
	var out []string
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(here, e.Name())); err == nil && strings.HasPrefix(to, folder+string(filepath.Separator)) {
			out = append(out, to)
		}
	}
	return out
}
