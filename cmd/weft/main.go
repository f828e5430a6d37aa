// Command weft counts and lists patterns in graphs. See `weft --help`.
package main

import (
	"context"
	"os"

	"github.com/weftgraph/weft/internal/route"
)

func main() {
	collectLater()
	route.Alone()
	ctx, stop := withSignals(context.Background())
	a := &app{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: newMessages(ctx, os.Stderr), last: true}
	code := a.run(os.Args[1:])
	stop()
	os.Exit(code)
}
