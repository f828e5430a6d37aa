package nest

import (
	"context"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/plan/delta"
)

// Device searches nests of changed edges for a matcher, all those of a batch at once. Its methods must not overlap. An error of it
// is about the device, or the cause of a context. After an error, and after a window without Search, Forget must follow.
type Device interface {
	// Bind takes the watches, which were bound anew.
	Bind(x *Watches) error
	// Search finds the matches of tasks. The events are those of a window of the graph, which is open and began at version base. The graph may
	// have changed before the window, without a Search.
	Search(ctx context.Context, base uint64, events []dynamic.Event, tasks []Task) (Found, error)
	// Settle takes note that the window is over. The graph is as it was after the last event of Search.
	Settle() error
	// Forget drops what the device knows of the graph. The next Search brings it there anew.
	Forget()
	// Work says in words what the device did so far.
	Work() string
	Close() error
}

// Task is a nest to be searched from the vertices of its anchor, at one version. They pass all that the plan says about them.
type Task struct {
	Nest    *Nest
	Version uint64
	First   [2]uint32
	List    bool // matches are wanted, and not only their number
}

// Found are the matches of tasks. It is valid until the next call of Search.
type Found struct {
	Counts []uint64 // by task
	// Rows has the matches of those that are listed, each as its vertices by the places of the nest. Those of task i begin at Rows[At[i]]. A task
	// that has matches and no rows has more than there is room for, and is left to the matcher.
	Rows []uint32
	At   []int
}

// ForDevice reports whether lists of neighbours decide which vertices fit the places of a nest. Conditions on matches and the choice of
// edges are left to the matcher.
func (n *Nest) ForDevice() bool {
	if n.Kind != delta.Edge {
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
