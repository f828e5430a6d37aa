package passes

import (
	"strings"

	"github.com/weftgraph/weft/internal/kir"
)

// irPrefix begins the names of the kernel IR's passes. Some of them have the names of passes
// over the graph.
const irPrefix = "ir-"

// IR returns the names of the passes of the kernel IR, with their effects.
func IR() (out [][2]string) {
	for _, p := range kir.Passes {
		out = append(out, [2]string{irPrefix + p.Name, p.Doc})
	}
	return out
}

// OptimizeIR runs the passes of the kernel IR: all but those in off.
func OptimizeIR(p *kir.Program, off ...string) {
	var names []string
	for _, name := range off {
		if name, ok := strings.CutPrefix(name, irPrefix); ok {
			names = append(names, name)
		}
	}
	kir.Optimize(p, names...)
}

// Names are all passes, of the graph and then of the IR.
func Names() (out []string) {
	for _, p := range All {
		out = append(out, p.Name)
	}
	for _, p := range IR() {
		out = append(out, p[0])
	}
	return out
}
