package watch

import (
	"container/heap"

	"github.com/weftgraph/weft/internal/stream"
)

// window lets edges expire: one is in the graph while no update is more than span later than it.
type window struct {
	span  int64
	now   int64 // the latest time of an update
	timed bool  // there was one
	edges oldest
}

// add remembers an edge that is added.
func (w *window) add(u *stream.Update) {
	if u.HasTime && (!w.timed || u.Time > w.now) {
		w.now, w.timed = u.Time, true
	}
	if u.Op == stream.AddEdge && u.HasTime {
		heap.Push(&w.edges, stream.Update{Op: stream.RemoveEdge, U: u.U, V: u.V, Label: u.Label, Time: u.Time, HasTime: true})
	}
}

// expire appends to batch the removals that come before an update, because of its time.
func (w *window) expire(u *stream.Update, batch []stream.Update) []stream.Update {
	now := w.now
	if u.HasTime && (!w.timed || u.Time > now) {
		now = u.Time
	}
	for len(w.edges) > 0 && w.edges[0].Time < now && uint64(now)-uint64(w.edges[0].Time) > uint64(w.span) {
		batch = append(batch, heap.Pop(&w.edges).(stream.Update))
	}
	w.add(u)
	return batch
}

// oldest is a heap of edges by their times.
type oldest []stream.Update

func (h oldest) Len() int           { return len(h) }
func (h oldest) Less(i, j int) bool { return h[i].Time < h[j].Time }
func (h oldest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *oldest) Push(x any)        { *h = append(*h, x.(stream.Update)) }

func (h *oldest) Pop() any {
	n := len(*h) - 1
	x := (*h)[n]
	*h = (*h)[:n]
	return x
}
