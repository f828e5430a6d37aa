package serve

import "golang.org/x/sys/unix"

// unsent is the number of bytes of a connection that the client's system has not taken yet.
func unsent(fd int) (int, error) { return unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_NWRITE) }
