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

// Bounded is Command for a program that may have at most this number of bytes of memory, as each program that it starts may. What a program maps
// counts too, such as its libraries. 0 means unlimited. Only Linux bounds memory, and no program gets more than this process may have.
func Bounded(ctx context.Context, memory int64, name string, args ...string) *exec.Cmd {
	if memory > 0 {
		name, args = bounded(uint64(memory), name, args)
	}
	return Command(ctx, name, args...)
}
