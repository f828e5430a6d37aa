//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/weftgraph/weft/internal/vfs"
)

// lock takes the lock of an open file without waiting. A file system that has no locks gives it to everybody.
func lock(f vfs.File) bool {
	err := flock(f)
	return err == nil || !errors.Is(err, syscall.EWOULDBLOCK)
}

func flock(f vfs.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != syscall.EINTR {
			return err
		}
	}
}

// sweepFile removes a temporary file or folder of this user that no process holds.
func sweepFile(fsys vfs.FS, path string) {
	const flags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	f, err := fsys.OpenFile(path, os.O_RDWR|flags, 0) // NFS locks only files that are open for writing
	if err != nil {
		if f, err = fsys.OpenFile(path, flags, 0); err != nil {
			return
		}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() || owner(info) != os.Geteuid() {
		return
	}
	if flock(f) == nil && isAt(fsys, f, path) {
		_ = fsys.RemoveAll(path)
	}
}

// hold keeps the lock of a file that is going to be closed, by a second descriptor, until release is called.
func hold(f vfs.File) (release func()) {
	again, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	return func() { _ = syscall.Close(again) }
}

func removeOpen(fsys vfs.FS, f vfs.File, path string) {
	_ = fsys.RemoveAll(path)
	_ = f.Close()
}

func owner(info os.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}

// sameGroup gives a file the owner and the group of another as far as this user may, and reports whether it has the group.
func sameGroup(f vfs.File, old os.FileInfo) bool {
	want, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	if f.Chown(int(want.Uid), int(want.Gid)) == nil || f.Chown(-1, int(want.Gid)) == nil {
		return true
	}
	info, err := f.Stat()
	return err == nil && info.Sys().(*syscall.Stat_t).Gid == want.Gid
}

// duplicate is an open file of this process once more.
func duplicate(fd int, name string) (vfs.File, error) {
	again, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(again), name), nil
}
