// Command weft counts and lists patterns in graphs. See `weft --help`.
package main

import (
	"context"
	"os"
	"runtime"

	"github.com/weftgraph/weft/internal/choose"
)

// searches are the commands that count or list matches and do hardly anything else.
var searches = map[string]bool{"count": true, "match": true, "exists": true, "motifs": true, "cliques": true, "bench": true}

func main() {
	choose.Alone()
	if len(os.Args) > 1 && searches[os.Args[1]] {
		choose.Ready("", runtime.GOMAXPROCS(0), choose.AnyGraph) // threads are made while the command line is read
	}
	ctx, stop := withSignals(context.Background())
	a := &app{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, last: true}
	code := a.run(os.Args[1:])
	stop()
	os.Exit(code)
}
