//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// apart gives the command a group of its own, which its Cancel kills.
func apart(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
