package watch

import (
	"math"
	"slices"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
)

// window lets edges expire: one is in the graph while no update is more than span later than it. Which these are is the graph's to say, so
// that an edge that is removed needs no more memory, and a graph from a file goes on as it would have without one.
type window struct {
	span int64
	now  int64               // the latest time of an update or of an edge of the beginning
	due  []dynamic.TimedEdge // edges that leave, by descending times
}

// see takes note of the time of an update.
func (w *window) see(u *stream.Update) {
	if u.HasTime {
		w.now = max(w.now, u.Time)
	}
}

// expire removes an edge that leaves g, if there is one. Those of one time leave in the order of their ends.
func (w *window) expire(g *dynamic.Graph) (done dynamic.Result, ok bool, err error) {
	if len(w.due) == 0 && w.now >= math.MinInt64+w.span {
		w.due = g.Before(w.now-w.span, w.due)
		slices.Reverse(w.due)
	}
	n := len(w.due)
	if n == 0 {
		return done, false, nil
	}
	e := &w.due[n-1]
	w.due = w.due[:n-1]
	done, err = g.RemoveEdgeAt(e.U, e.V, e.Label, e.Time)
	return done, true, err
}
