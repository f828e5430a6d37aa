package graph

import (
	"golang.org/x/sys/unix"

	"github.com/weftgraph/weft/internal/vfs"
)

// hasWriter reports whether a process, perhaps this one, may write the file: has it open
// for that, or mapped. Where the system cannot tell, as of another user's file, it is false.
func hasWriter(f vfs.File) bool {
	// The system refuses a read lease while another process has the file open for writing.
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return err == unix.EAGAIN
	}
	_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	return false
}
