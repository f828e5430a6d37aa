package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/weftgraph/weft/internal/ctxio"
	"github.com/weftgraph/weft/internal/vfs"
)

// File is an output file that appears under its name only when it is whole. If the name is a symbolic link,
// the link stays, and the file that it leads to is replaced. A replaced file passes its permissions to the
// new one, and its owner and group if this user may set them.
//
// A device, a pipe, or any other file that is not regular is written in place.
type File struct {
	name   string      // as the user gave it
	target string      // where it is, links followed
	old    fs.FileInfo // of the file that is replaced, or nil
	temp   *Temp       // or nil: open is written in place
	open   vfs.File
	fsys   vfs.FS

	settled bool
}

// Error is an error of a File, with the name that the user gave it.
type Error struct {
	Name string
	Err  error
}

func (e *Error) Error() string { return e.Name + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Check says why no file can be written under a name, as far as that can be said before it is written.
func Check(fsys vfs.FS, name string) error {
	_, _, err := place(fsys, name)
	return err
}

// Create opens a File. It blocks while name is a pipe that nobody reads, until ctx ends.
func Create(ctx context.Context, fsys vfs.FS, name string) (*File, error) {
	target, old, err := place(fsys, name)
	if err != nil {
		return nil, err
	}
	f := &File{name: name, target: target, fsys: fsys}
	if fd, ok := descriptor(target); ok {
		if f.open, err = duplicate(fd, target); err != nil {
			return nil, f.explain(err)
		}
		return f, nil
	}
	dir, base := filepath.Split(target)
	switch {
	case old == nil:
		f.temp, err = NewTemp(fsys, dir, base, 0o666)
	case old.Mode().IsRegular():
		f.old = old
		f.temp, err = NewTemp(fsys, dir, base, 0o600)
	default:
		f.open, err = ctxio.OpenFile(ctx, fsys, target, os.O_WRONLY, 0)
	}
	if f.temp != nil {
		f.open = f.temp.open
	}
	if err != nil {
		return nil, f.explain(err)
	}
	return f, nil
}

// place follows a name's links to the file that is there or will be. The FileInfo is nil if there
// is none.
func place(fsys vfs.FS, name string) (string, fs.FileInfo, error) {
	at := name
	for range 40 {
		if _, ok := descriptor(at); ok {
			return at, nil, nil
		}
		dir, base := filepath.Split(at)
		info, err := fsys.Lstat(at)
		switch {
		case base == "":
			return "", nil, fmt.Errorf("%s is a folder; name a file", name)
		case errors.Is(err, fs.ErrNotExist):
			st, err := fsys.Stat(within(dir, "."))
			switch {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), err == nil && !st.IsDir():
				return "", nil, fmt.Errorf("%s: there is no folder %s", name, filepath.Clean(dir))
			case err != nil:
				return "", nil, fmt.Errorf("%s: %w", name, cause(err))
			}
			return at, nil, nil
		case err != nil:
			return "", nil, fmt.Errorf("%s: %w", name, cause(err))
		case info.IsDir():
			return "", nil, fmt.Errorf("%s is a folder; name a file", name)
		case info.Mode()&fs.ModeSocket != 0:
			return "", nil, fmt.Errorf("%s is a socket, which cannot be written; name a file, a pipe or a device", name)
		case info.Mode()&fs.ModeSymlink == 0:
			return at, info, nil
		}
		to, err := fsys.Readlink(at)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", name, cause(err))
		}
		if at = to; !filepath.IsAbs(to) {
			at = within(dir, to)
		}
	}
	return "", nil, fmt.Errorf("%s: %w", name, syscall.ELOOP)
}

// descriptor returns the number of the open file that a path such as /dev/fd/3 names.
func descriptor(path string) (int, bool) {
	switch path {
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if number, ok := strings.CutPrefix(path, dir); ok {
			fd, err := strconv.ParseUint(number, 10, 31)
			return int(fd), err == nil
		}
	}
	return 0, false
}

// Waits reports whether a write may wait for a reader: the file is written in place.
func (f *File) Waits() bool { return f.temp == nil }

// Write writes to the file. An error names the file that the user asked for.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.open.Write(b)
	return n, f.explain(err)
}

// explain names the user's file in an error.
func (f *File) explain(err error) error {
	c := cause(err)
	switch {
	case c == err: // nil, or the end of a context
		return err
	case f.temp != nil && (errors.Is(c, syscall.ENOSPC) || errors.Is(c, syscall.EDQUOT)):
		c = fmt.Errorf("the disk is full; nothing was kept: %w", c)
	}
	return &Error{f.name, c}
}

// Commit ends the file: it is on the disk and has its name, or there is an error and nothing is left.
func (f *File) Commit() error { return f.commit(f.target) }

// CommitPart is Commit of a file that is not all that it should be: its name, which it returns, has ".partial"
// added. Of a file written in place the name is "".
func (f *File) CommitPart() (string, error) {
	if f.temp == nil {
		return "", f.Commit()
	}
	name := f.target + ".partial"
	return name, f.commit(name)
}

func (f *File) commit(name string) error {
	if f.temp == nil {
		return f.explain(f.open.Close())
	}
	if err := f.Settle(); err != nil {
		return err
	}
	if err := f.temp.Rename(name); err != nil {
		return f.explain(err)
	}
	f.syncFolder(name)
	return nil
}

// syncFolder brings names to the disk; not every system can.
func (f *File) syncFolder(name string) {
	dir, _ := filepath.Split(name)
	if d, err := vfs.Open(f.fsys, within(dir, ".")); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Settle brings all of the file to the disk, except for its name. Where files belong together, all are settled
// before CommitAll. After an error nothing is left of the file.
func (f *File) Settle() error {
	if f.temp == nil || f.settled {
		return nil
	}
	err := f.keep()
	if err == nil {
		err = f.open.Sync()
		if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
			err = nil // not every file system can
		}
	}
	if err == nil {
		err = f.temp.Close()
	}
	if err != nil {
		f.temp.Remove()
		return f.explain(err)
	}
	f.settled = true
	return nil
}

// keep gives the new file the owner, the group and the permissions of the old one. Where the group cannot be
// kept, the new group may do no more than everybody.
func (f *File) keep() error {
	if f.old == nil {
		return nil
	}
	mode := f.old.Mode().Perm()
	if !sameGroup(f.open, f.old) {
		mode &= ^fs.FileMode(0o070) | mode<<3&0o070
	}
	return f.open.Chmod(mode)
}

// Abort closes the file and leaves nothing behind.
func (f *File) Abort() {
	if f.temp != nil {
		f.temp.Remove()
		return
	}
	_ = f.open.Close()
}
