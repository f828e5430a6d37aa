//go:build unix

package graph

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/weftgraph/weft/internal/vfs"
)

// versionOf returns which version of which file f is, and how many names the file has.
func versionOf(f vfs.File) (v version, links uint64, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return v, 0, os.NewSyscallError("fstat", err)
	}
	return version{
		device: uint64(st.Dev), inode: uint64(st.Ino), size: int64(st.Size),
		modified: stamp{int64(st.Mtim.Sec), int64(st.Mtim.Nsec)},
		changed:  stamp{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)},
	}, uint64(st.Nlink), nil
}

// private reports whether this user alone may write a file or folder, and owns it.
func private(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(s.Uid) == int64(os.Geteuid()) && info.Mode().Perm()&0o022 == 0
}
