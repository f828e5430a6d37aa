package process

import (
	"strconv"
	"syscall"
)

// bounded is a command that bounds the address space, and then becomes the given command. A shell does it, because a limit that this process set on
// a child would come too late for what the child has started by then.
func bounded(memory uint64, name string, args []string) (string, []string) {
	var own syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &own) == nil {
		memory = min(memory, own.Cur) // a lower limit cannot be raised
	}
	return "/bin/sh", append([]string{"-c", `ulimit -v "$0" && exec "$@"`, strconv.FormatUint(memory>>10, 10), name}, args...)
}
