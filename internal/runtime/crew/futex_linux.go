package crew

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// canStandBy says that this system lets a thread wait for a word of memory.
const canStandBy = true

// Operations of futex(2), for words that no other process has.
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)

// wait returns when word is not 0, or wake was called for it, or after that time; or for no reason.
func wait(word *atomic.Uint32, most time.Duration) {
	t := syscall.NsecToTimespec(most.Nanoseconds())
	syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, 0, uintptr(unsafe.Pointer(&t)), 0, 0)
}

// wake wakes the threads that wait for word. It does not block, so it bypasses the scheduler: a
// thread that wakes many would otherwise lose its processor.
func wake(word *atomic.Uint32) {
	syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1, 0, 0, 0)
}
