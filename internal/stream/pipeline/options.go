package pipeline

import (
	"fmt"
	"time"

	"github.com/weftgraph/weft/internal/engine/option"
)

// Switches are the engine's options.
var Switches = option.Table{
	option.Number("pipeline.batch", 64, 1, 1<<14, "updates that the GPU brings into its graph together, at most"),
	option.Number("pipeline.wait", 125, 0, 1e6, "microseconds that the GPU waits for more updates before it takes fewer"),
	option.Number("pipeline.window", 1<<14, 64, 1<<20, "updates that are under way on the GPU at the same time, at most"),
	option.Number("pipeline.threads", 256, 64, 512, "threads of a block: those that update the graph, and those of a multiprocessor's groups of searches"),
	option.Switch("pipeline.share", true, "warps that wait for searches take parts of long ones"),
	option.Choice("pipeline.extend", "how matches are extended: by a vertex with all its edges, or by one edge at a time, without use of the order of lists, as a baseline", "vertex", "edge"),
	option.Choice("pipeline.lists", "neighbour lists on the GPU: arrays in order, which additions make new versions of, or hash sets that are changed in place, as a baseline", "sorted", "hash"),
	option.Switch("pipeline.late", true, "changes of edges that the GPU's graph leaves out are put off on the host, and do not reach the GPU"),
	option.Switch("pipeline.filter", true, "the GPU's graph leaves out edges whose labels, and those of their ends, no watched pattern looks at"),
	option.Number("pipeline.blocks", 0, 0, 1<<20, "blocks of the grid, of which one updates the graph; 0: as many as fit"),
}

// Read returns the Options that switches ask for. The error is one of option values.
func Read(opt map[string]string) (o Options, err error) {
	v, err := Switches.Read(opt)
	if err != nil {
		return o, fmt.Errorf("pipeline: %w", err)
	}
	o.Batch, o.Window, o.Blocks = v.Number("pipeline.batch"), v.Number("pipeline.window"), v.Number("pipeline.blocks")
	o.Threads = v.Number("pipeline.threads") / 32 * 32
	o.ByEdge = option.Pick(v, "pipeline.extend", map[string]bool{"vertex": false, "edge": true})
	o.Hash = v.Text("pipeline.lists") == "hash"
	o.Told = !v.On("pipeline.late")
	o.Entire = !v.On("pipeline.filter")
	if !v.On("pipeline.share") {
		o.Share = -1
	}
	if o.Wait = time.Duration(v.Number("pipeline.wait")) * time.Microsecond; o.Wait == 0 {
		o.Wait = -1 // none, where 0 means the default
	}
	return o, nil
}
