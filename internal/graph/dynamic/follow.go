package dynamic

// Sight says what must be seen of a change of one edge.
type Sight uint8

// Sights.
const (
	// None: nobody looks at the change.
	None Sight = iota
	// Present: it is enough to see the version that has the edge.
	Present
	// Both: the versions before and after it must be seen.
	Both
)

// Follower sees updates one by one, while they are made. It must not change the graph.
type Follower interface {
	// Sight says what the follower must see of a change of an edge with these ends and this label.
	Sight(u, v uint32, label Label) Sight
	// Edge is called with a change whose Sight is Present: after an edge was added, or before one is removed. Meanwhile the graph has
	// the edge at both versions of the update.
	Edge(e *Event)
}

// Follow makes f see the updates that follow, outside windows; nil ends it. An edge that an update adds or removes alone, without a time, a
// property or a new vertex, changes the lists at once if the sight of it is None or Present. Any other update leaves a window of its own open, in which
// the versions before and after it can be read. Settle must close it before the next update.
//
// Why: marks in lists and their removal take more time than the change of an edge, and most patterns need them for few updates.
func (g *Graph) Follow(f Follower) { g.follower = f }

// Open reports whether a window is open.
func (g *Graph) Open() bool { return g.open }

// single returns what must be seen of a change of one edge that has neither a time nor properties. If that is not Both, the change is to be made at once.
func (g *Graph) single(u, v uint32, label Label) Sight {
	if g.follower == nil {
		if g.open {
			return Both
		}
		return None
	}
	if !g.lone {
		return Both
	}
	sight := g.follower.Sight(u, v, label)
	if sight != Both {
		g.open, g.lone, g.base = false, false, g.version
	}
	return sight
}

// show lets the follower see a change in the version that has the edge.
func (g *Graph) show() {
	g.base = g.version - 1
	g.follower.Edge(&g.events[0])
	g.base = g.version
}
