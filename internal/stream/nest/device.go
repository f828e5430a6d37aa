package nest

import (
	"context"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/plan/delta"
)

// Device searches nests of changed edges for a matcher. The matcher posts the updates of a window of the graph and takes their matches, in
// the order of versions. Its methods must not overlap. An error of it is about the device, or the cause of a context. After an error, and
// after a window of which it did not get all updates, Forget must follow.
type Device interface {
	// Bind takes the watches, which were bound anew. All that was posted must have been taken.
	Bind(x *Watches) error
	// Whole reports whether the device wants all updates of a window by one Post. Others begin with the first ones while more are made.
	Whole() bool
	// Has returns a function that reports whether the device's graph has, or is to have, edges with a label from vertices of one class to vertices of
	// another, or on an undirected graph either way; nil: it has all edges. The matcher may leave out updates of other edges. The labels and classes are those of the graph that the watches
	// are bound to. The function is safe for concurrent use, and valid until the next call of another method.
	Has() func(label dynamic.Label, from, to dynamic.Class) bool
	// Post gives the device the updates that made the versions after base, up to the present one, and their tasks, in the order of their
	// updates. A window is open, which began at base or had its last Post there. Post may block until the device has room. The graph may have
	// changed before the window, without a Post.
	Post(ctx context.Context, base uint64, events []dynamic.Event, tasks []Task) error
	// Take returns the matches of versions that are searched and were not taken, from the first one on. If wait is true, it blocks until
	// there is at least one, unless all are taken.
	Take(ctx context.Context, wait bool) (Found, error)
	// Settle takes note that the window is over. All its updates were posted and taken.
	Settle() error
	// Forget drops what the device knows of the graph, and what was not taken. The next Post brings the graph there anew.
	Forget()
	// Work says in words what the device did so far.
	Work() string
	Close() error
}

// Keeper is a Device that keeps the versions of its own graph.
type Keeper interface {
	Device
	// Keep brings the present version of the host's graph to the device, unless it is there. Until the end of the window that the matcher then opens,
	// the device reads no lists of the host's graph, except after it has called Graph.Remember. So the window need not have marks.
	Keep(ctx context.Context) error
}

// Task is a nest to be searched from the vertices of its anchor, at one version. They pass all that the plan says about them. Or it is all nests of a
// group, for a device that has called Table.MakeGroups: First has the ends of the changed edge then, and Found.Counts the sum.
type Task struct {
	Nest    *Nest  // of a group's: nil
	Group   *Group // or nil
	Update  uint64 // the version that its update makes
	Version uint64 // the one to be searched: this, or that before it
	First   [2]uint32
	List    bool // matches are wanted, and not only their number
}

// Found are the matches of the tasks of some updates. It is valid until the next call of Post or Take.
type Found struct {
	Version uint64   // the last one that is taken. Found is about all versions after those that were taken before
	Counts  []uint64 // by task, in the order of Post
	// Rows has the matches of those that are listed, each as its vertices by the places of the nest. Those of task i begin at Rows[At[i]]. A task
	// that has matches and no rows has more than there is room for, and is left to the matcher.
	Rows []uint32
	At   []int
}

// ForDevice reports whether lists of neighbours decide which vertices fit the places of a nest. Conditions on matches and the choice of
// edges are left to the matcher. Patterns with unconnected parts have places that all vertices of the graph fit.
func (n *Nest) ForDevice() bool {
	if n.Kind != delta.Edge || n.Watch.Plan.Parts > 1 {
		return false
	}
	for i := range n.Places {
		if len(n.Places[i].Slow) > 0 {
			return false
		}
	}
	return true
}

// Conditions reports whether a match of the lists alone may fail a condition, or be found from other anchors too.
func (n *Nest) Conditions() bool {
	for i := n.First; i < len(n.Places); i++ {
		if len(n.Places[i].Checks) > 0 {
			return true
		}
	}
	return !n.Exact
}
