package serve

import "golang.org/x/sys/unix"

// unsent is the number of bytes of a connection that the client's system has not taken yet.
func unsent(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.SIOCOUTQ) }
