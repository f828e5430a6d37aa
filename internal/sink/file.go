package sink

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// File is an output file that appears under its name only when it is whole. A
// name that exists and is no regular file (a device, a pipe) is written
// directly.
type File struct {
	f    *os.File
	name string // the final name
	temp bool
}

// Create opens a new File for name.
func Create(name string) (*File, error) {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() {
		if st.IsDir() {
			return nil, fmt.Errorf("%s is a directory", name)
		}
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &File{f: f, name: name}, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.tmp")
	out := &File{f: f, name: name, temp: true}
	if err != nil {
		return nil, out.explain(err)
	}
	return out, nil
}

// Write writes to the file. An error names the file that the user asked for.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.f.Write(b)
	return n, f.explain(err)
}

func (f *File) explain(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return &os.PathError{Op: pe.Op, Path: f.name, Err: pe.Err}
	}
	return err
}

// Commit closes the file and gives it its name.
func (f *File) Commit() error { return f.CommitAs(f.name) }

// CommitAs is Commit under another name.
func (f *File) CommitAs(name string) error {
	if !f.temp {
		return f.explain(f.f.Close())
	}
	err := f.f.Chmod(0o666 &^ umask())
	if cerr := f.f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.f.Name())
	}
	return f.explain(err)
}

// Abort closes the file and leaves nothing behind.
func (f *File) Abort() {
	_ = f.f.Close()
	if f.temp {
		_ = os.Remove(f.f.Name())
	}
}
