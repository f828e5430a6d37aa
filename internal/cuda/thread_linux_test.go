package cuda

import "syscall"

func threadID() int { return syscall.Gettid() }
