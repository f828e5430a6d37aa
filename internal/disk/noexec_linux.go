package disk

import "golang.org/x/sys/unix"

// NoExec reports whether no code can be run from a folder, because of how it is mounted.
func NoExec(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && fs.Flags&unix.ST_NOEXEC != 0
}
