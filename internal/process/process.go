// Package process starts other programs, such as compilers, that end with a context.
//
// It must not know what the programs do.
package process

import (
	"context"
	"os/exec"
	"time"
)

// grace is how long Wait waits, after ctx ended, for output that a process outside the
// group still holds open.
const grace = 2 * time.Second

// Command returns a command that runs in a process group of its own. The end of ctx
// kills the whole group, with the programs that the command itself started. Ctrl-C on a
// terminal does not reach it: the caller turns that signal into the end of ctx.
// Platforms without process groups kill the command alone.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.WaitDelay = grace
	apart(c)
	return c
}
