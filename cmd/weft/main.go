// Command weft counts and lists patterns in graphs. `weft --help` describes it.
//
// The package has one file for each sub-command. It knows flags, messages, exit codes and
// output files. Everything else is done by package weft and the packages below it.
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
