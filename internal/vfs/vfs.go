// Package vfs is the file system that weft reads from and writes to.
//
// Readers and writers take an FS and open nothing by themselves, so that a test can give them one that fails:
// package testing/errorfs. OS is the operating system's. Its files are *os.File, so a reader talks to the
// system directly.
//
// The package knows names, files and folders. It must not know formats. Package disk decides which files are
// temporary and when a file gets its name.
package vfs

import (
	"context"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// FS is a file system: those calls of package os that weft makes. Their meaning and their errors are os's.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Rename(from, to string) error
	Link(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	Chtimes(name string, access, modified time.Time) error

	// Map returns the first size bytes of a file of this FS for reading, and how they are given back. The bytes
	// are the file's own where CanMap is true, else a copy.
	Map(f File, size int64) ([]byte, func([]byte) error, error)
}

// File is an open file, as *os.File is one.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Seeker
	io.Closer
	Name() string
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	Readdirnames(n int) ([]string, error)
	Fd() uintptr
	SyscallConn() (syscall.RawConn, error)
}

// OS is the file system of the operating system.
type OS struct{}

func (OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // and not a File that holds a nil pointer
	}
	return f, nil
}

func (OS) Stat(name string) (fs.FileInfo, error)        { return os.Stat(name) }
func (OS) Lstat(name string) (fs.FileInfo, error)       { return os.Lstat(name) }
func (OS) Readlink(name string) (string, error)         { return os.Readlink(name) }
func (OS) ReadDir(name string) ([]fs.DirEntry, error)   { return os.ReadDir(name) }
func (OS) Mkdir(name string, perm fs.FileMode) error    { return os.Mkdir(name, perm) }
func (OS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (OS) Rename(from, to string) error                 { return os.Rename(from, to) }
func (OS) Link(from, to string) error                   { return os.Link(from, to) }
func (OS) Remove(name string) error                     { return os.Remove(name) }
func (OS) RemoveAll(name string) error                  { return os.RemoveAll(name) }

func (OS) Chtimes(name string, access, modified time.Time) error {
	return os.Chtimes(name, access, modified)
}

func (OS) Map(f File, size int64) ([]byte, func([]byte) error, error) { return mapFile(f, size) }

// Or returns fsys, or OS where it is nil.
func Or(fsys FS) FS {
	if fsys == nil {
		return OS{}
	}
	return fsys
}

// Open opens a file for reading.
func Open(fsys FS, name string) (File, error) { return fsys.OpenFile(name, os.O_RDONLY, 0) }

// ReadFile returns the bytes of a file.
func ReadFile(fsys FS, name string) ([]byte, error) {
	f, err := Open(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// WriteFile writes a file, which it creates with the permissions perm. After an error the file may hold a part.
func WriteFile(fsys FS, name string, data []byte, perm fs.FileMode) error {
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

type inContext struct{}

// With returns a context whose file system is fsys. It is for the calls of the root package and of the command,
// whose signatures know no FS; packages inside take one in their options.
func With(ctx context.Context, fsys FS) context.Context {
	return context.WithValue(ctx, inContext{}, fsys)
}

// From returns the file system of a context: the one that With gave it, or OS.
func From(ctx context.Context) FS {
	fsys, _ := ctx.Value(inContext{}).(FS)
	return Or(fsys)
}
