// Command weft counts and lists patterns in graphs. See `weft --help`.
package main

import (
	"context"
	"os"
)

func main() {
	collectLater()
	ctx, stop := withSignals(context.Background())
	a := &app{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: newMessages(ctx, os.Stderr), last: true}
	code := a.run(os.Args[1:])
	stop()
	os.Exit(code)
}
