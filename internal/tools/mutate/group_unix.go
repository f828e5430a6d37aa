//go:build unix

package main

import (
	"os/exec"
	"syscall"
	"time"
)

// inGroup makes the end of c's context end the processes that c started as well.
func inGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
}
