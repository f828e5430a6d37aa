package dynamic

// Record opens a window without marks: until Settle, Make changes lists at once and makes events, as in a window. Lists can be read at the present
// version only. Values, classes and ids are those of all its versions, because Make changes no vertices and no properties. It panics if a window is
// open.
//
// Why: marks take most of the time of changes in a window. They are of no use if a copy of the graph elsewhere has the versions.
func (g *Graph) Record() {
	if g.open || g.recording {
		panic("dynamic: a window is open already")
	}
	g.upToDate()
	g.recording, g.base = true, g.version
	g.events = g.events[:0]
}

// Recording reports whether a window without marks is open.
func (g *Graph) Recording() bool { return g.recording }

// Remember makes the window that Record opened one with marks, so that lists can be read at each of its versions too. Views from before must not be
// used any more. It takes several times as long as the changes of the window took. Without such a window it does nothing.
func (g *Graph) Remember() {
	if !g.recording {
		return
	}
	g.recording = false
	events, present := g.events, g.version
	g.events = nil
	cs := make([]Change, len(events))
	for i := range events {
		e := &events[len(events)-1-i]
		cs[i] = Change{U: e.U, V: e.V, Label: e.Label, Remove: e.Kind == EdgeAdded}
	}
	g.Make(cs, nil)
	g.version = g.base
	g.Begin()
	for i := range events {
		e := &events[i]
		cs[i] = Change{U: e.U, V: e.V, Label: e.Label, Remove: e.Kind == EdgeRemoved, At: e.Version}
	}
	g.Make(cs, nil)
	g.Pass(present)
}
