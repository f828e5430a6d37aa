//go:build !unix

package process

import "os/exec"

// apart does nothing here: the command's Cancel kills the command alone.
func apart(*exec.Cmd) {}
