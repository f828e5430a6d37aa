// Command weft counts and lists patterns in graphs. See `weft --help`.
package main

import (
	"context"
	"os"
)

func main() {
	collectLater()
	ctx, codeFor := withSignals(context.Background())
	a := &app{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: newMessages(ctx, os.Stderr), last: true}
	os.Exit(codeFor(a.run(os.Args[1:])))
}
