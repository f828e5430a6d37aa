package route

import (
	"context"
	"fmt"

	"github.com/weftgraph/weft/internal/engine/partition"
	"github.com/weftgraph/weft/internal/plan"
)

// fewLabels is the most classes of vertices for which auto searches a graph part by part. With more labels, joins read few
// of the lists.
const fewLabels = 4

// inParts returns engine partition for a graph that does not fit the GPUs, if it is free to choose, the graph has few
// labels, and its parts are kept next to its file.
//
// Why: PBE is for graphs without labels. Its searches read each list a few times, and reading lists in host memory passes
// the bus for each look-up. The rule has no measurement yet.
func (t *trial) inParts(ctx context.Context) (Choice, bool) {
	if !t.auto || t.Method != "" || len(t.Graph.Classes) > fewLabels || len(t.Graph.EdgeLabels) > fewLabels {
		return Choice{}, false
	}
	if lists := 4 * int64(len(t.Graph.Out.Adj)); t.Graph.FileName() == "" || 2*lists <= t.session.Memory() {
		return Choice{}, false // without a plan: lists of both directions fit
	}
	p, err := t.Compile(plan.Nest.String(), "")
	if err != nil {
		return Choice{}, false
	}
	e := partition.New(t.session, inCore)
	if !e.Pays(ctx, p) {
		return Choice{}, false
	}
	c, err := t.choice(ctx, e, p, fmt.Sprintf("the graph does not fit the memory of the GPU, and its parts are kept in %s", partition.Folder(t.Graph)))
	return c, err == nil
}
