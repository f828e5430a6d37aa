// Package disk writes files whole or not at all. It makes temporary files and folders, and sweeps those
// that a killed process left behind. It also checks that nobody else can have written a file.
//
// It must not know graphs, formats or compilers.
package disk

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/weftgraph/weft/internal/vfs"
)

// Temporary files and folders of weft are called .NAME.PID-BOOT-HOST-RANDOM.weft-tmp, where NAME is the file that
// they belong to. A process holds a lock (flock) on each of its own.
//
// The first one that a process makes in a folder removes those of ended processes. It removes a file if the name
// has this form, the owner is this user, the host or the boot of the machine is the same, and the lock is free.
//
// Why: process numbers are used again, and are different in each container. The system releases a lock however a
// process ends. The names are checked as well because some network file systems lock within one host only.

const tempSuffix = ".weft-tmp"

// sweepLimit is the number of names that a sweep looks at, in a folder that has more.
const sweepLimit = 1 << 17

// origin is this boot of the machine and this host in a name. A container has a host name of its own, and the
// boot of the machine that it runs on.
var origin = sync.OnceValues(func() (boot, host string) {
	short := func(text []byte) string {
		sum := sha256.Sum256(text)
		return hex.EncodeToString(sum[:4])
	}
	name, _ := os.Hostname()
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		id = []byte(name)
	}
	return short(id), short([]byte(name))
})

// tempName returns a new temporary name for the file called name.
func tempName(name string) string {
	boot, host := origin()
	var random [6]byte
	_, _ = rand.Read(random[:])
	if len(name) > 150 { // a name has at most 255 bytes
		name = strings.ToValidUTF8(name[:150], "")
	}
	return fmt.Sprintf(".%s.%d-%s-%s-%x%s", strings.TrimPrefix(name, "."), os.Getpid(), boot, host, random, tempSuffix)
}

// fromHere reports whether a name is one that tempName gives on this host or since this boot.
func fromHere(name string) bool {
	rest, ok := strings.CutSuffix(name, tempSuffix)
	fields := strings.Split(rest[strings.LastIndexByte(rest, '.')+1:], "-")
	boot, host := origin()
	return ok && len(fields) == 4 && (fields[1] == boot || fields[2] == host)
}

// TempError says that a temporary file or folder cannot be made or written where the system keeps them.
type TempError struct {
	Dir string
	Err error
}

func (e *TempError) Error() string {
	return fmt.Sprintf("temporary files go to %s, which TMPDIR can change: %v", e.Dir, e.Err)
}

func (e *TempError) Unwrap() error { return e.Err }

// Temp is an open temporary file.
type Temp struct {
	fsys vfs.FS
	open vfs.File
	path string
	dir  string // in errors, where the system chose it

	release func() // of the lock; nil while the file is open
}

// NewTemp creates a temporary file in the folder dir, for a file that will be called name. Its permissions
// are mode without the bits of the process's mask.
func NewTemp(fsys vfs.FS, dir, name string, mode fs.FileMode) (*Temp, error) {
	f, path, err := newTemp(fsys, dir, name, func(path string) (vfs.File, error) {
		return fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	})
	if err != nil {
		return nil, err
	}
	return &Temp{fsys: fsys, open: f, path: path}, nil
}

// CheckFolder returns an error if no temporary file can be made in a folder. It makes one and removes it. The error gives
// the cause without a file's name.
func CheckFolder(fsys vfs.FS, dir string) error {
	t, err := NewTemp(fsys, dir, "weft-check", 0o600)
	if err != nil {
		return fmt.Errorf("no file can be made there: %w", cause(err))
	}
	t.Remove()
	return nil
}

// NewTempFile creates a file that only this user may use, in the system's folder for temporary files
// (TMPDIR). Its errors, and those of writing to it, are TempErrors.
func NewTempFile(fsys vfs.FS, name string) (*Temp, error) {
	dir := os.TempDir()
	t, err := NewTemp(fsys, dir, name, 0o600)
	if err != nil {
		return nil, &TempError{dir, cause(err)}
	}
	t.dir = dir
	return t, nil
}

// Write appends to the file.
func (t *Temp) Write(b []byte) (int, error) {
	n, err := t.open.Write(b)
	if err != nil && t.dir != "" {
		err = &TempError{t.dir, cause(err)}
	}
	return n, err
}

// WriteAt writes at an offset of the file. It is safe for concurrent use.
func (t *Temp) WriteAt(b []byte, at int64) (int, error) { return t.open.WriteAt(b, at) }

// ReadAt reads from an offset of the file, which is open. It is safe for concurrent use.
func (t *Temp) ReadAt(b []byte, at int64) (int, error) { return t.open.ReadAt(b, at) }

// Path is where the file is.
func (t *Temp) Path() string { return t.path }

// Close closes the file before it gets its name: closing it may say that writing failed. The file keeps its lock
// until Rename or Remove.
func (t *Temp) Close() error {
	if t.release != nil {
		return nil
	}
	t.release = hold(t.open)
	return t.open.Close()
}

// Rename closes the file and gives it its name. After an error nothing is left of it.
func (t *Temp) Rename(name string) error {
	err := t.Close()
	if err == nil {
		err = t.fsys.Rename(t.path, name)
	}
	if err != nil {
		t.Remove()
		return err
	}
	t.unlock()
	return nil
}

// Remove closes the file and removes it.
func (t *Temp) Remove() {
	removeOpen(t.fsys, t.open, t.path)
	t.unlock()
}

// unlock gives back the lock of a closed file.
func (t *Temp) unlock() {
	if t.release != nil {
		t.release()
		t.release = func() {}
	}
}

// TempDir is a temporary folder that only this user may use.
type TempDir struct {
	Path string
	fsys vfs.FS
	open vfs.File
}

// NewTempDir creates a folder for the purpose name, in the system's folder for temporary files
// (TMPDIR).
func NewTempDir(fsys vfs.FS, name string) (*TempDir, error) {
	f, path, err := newTemp(fsys, os.TempDir(), name, func(path string) (vfs.File, error) {
		if err := fsys.Mkdir(path, 0o700); err != nil {
			return nil, err
		}
		f, err := vfs.Open(fsys, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = errSwept
		case err != nil:
			_ = fsys.RemoveAll(path)
		}
		return f, err
	})
	if err != nil {
		return nil, &TempError{os.TempDir(), cause(err)}
	}
	return &TempDir{path, fsys, f}, nil
}

// Explain adds the name of the system's temporary folder to an error about a file in this one.
func (d *TempDir) Explain(err error) error { return &TempError{filepath.Dir(d.Path), cause(err)} }

// Remove removes the folder and all that is in it.
func (d *TempDir) Remove() {
	removeOpen(d.fsys, d.open, d.Path)
}

// errSwept: a sweep of another process removed a folder before it was open and so could be locked.
var errSwept = errors.New("removed as left by a process that has ended")

// mostTries is how often a new file or folder is made if sweeps of other processes take it away each time.
const mostTries = 100

// newTemp makes a file or folder under a new name until it is locked and still there: a sweep of another
// process may come between.
func newTemp(fsys vfs.FS, dir, name string, create func(path string) (vfs.File, error)) (vfs.File, string, error) {
	sweepOnce(fsys, dir)
	for try := 1; ; try++ {
		path := within(dir, tempName(name))
		f, err := create(path)
		switch {
		case errors.Is(err, fs.ErrExist), errors.Is(err, errSwept) && try < mostTries:
			continue
		case err != nil:
			return nil, "", err
		case lock(f) && isAt(fsys, f, path), try == mostTries: // not every file system can say so
			return f, path, nil
		}
		removeOpen(fsys, f, path)
	}
}

// within is the path of a name in a folder, "" being the current one. It leaves ".." behind a link as it is.
func within(dir, name string) string {
	if dir == "" || os.IsPathSeparator(dir[len(dir)-1]) {
		return dir + name
	}
	return dir + string(os.PathSeparator) + name
}

var swept sync.Map // folders

func sweepOnce(fsys vfs.FS, dir string) {
	if _, done := swept.LoadOrStore(dir, true); !done {
		sweep(fsys, dir)
	}
}

// sweep removes from a folder the temporary files and folders of processes that have ended.
func sweep(fsys vfs.FS, dir string) {
	d, err := vfs.Open(fsys, cmp.Or(dir, "."))
	if err != nil {
		return
	}
	defer d.Close()
	for seen := 0; seen < sweepLimit; {
		names, err := d.Readdirnames(4096)
		for _, name := range names {
			if fromHere(name) {
				sweepFile(fsys, within(dir, name))
			}
		}
		if seen += len(names); err != nil {
			return
		}
	}
}

// isAt reports whether path is still the name of an open file.
func isAt(fsys vfs.FS, f vfs.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := fsys.Lstat(path)
	return err == nil && os.SameFile(open, there)
}

// cause is an error of a file without the file's name.
func cause(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
