package nest

import (
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/plan/delta"
)

// Member is a nest of a group. Flip: the second end of the changed edge is at the first vertex of the nest's anchor, and the first end at the second.
type Member struct {
	Nest *Nest
	Flip bool
}

// Group is all nests of a watch that an edge of some kind changes, if a device may search them as one task: of each the number of matches is all
// that is wanted, and whether the edge fits its anchor depends on the kind of the edge and on which end has the greater number alone.
//
// Why: an unlabelled pattern has up to a dozen nests for a changed edge. To write down, send and count them one by one takes the host longer than
// many of the searches take the device.
type Group struct {
	Watch   *Watch
	Members []Member
}

// Groups are the groups of the watches that an edge of some kind concerns, in the order of the watches.
type Groups struct {
	List []Group
	All  bool // each of these watches has one
}

// Of returns the group of a watch, or nil.
func (x *Groups) Of(w *Watch) *Group {
	for i := range x.List {
		if x.List[i].Watch == w {
			return &x.List[i]
		}
	}
	return nil
}

// MakeGroups has Groups answer until watches are bound anew. It makes none if there are too many kinds of edges.
func (t *Table) MakeGroups() {
	for up := range t.groups {
		t.groups[up] = make([]Groups, len(t.lists))
		for i, l := range t.lists {
			t.groups[up][i] = groupsOf(l, up == 1)
		}
	}
}

// Groups returns the groups of a changed edge, or nil if none were made. up says that v's vertex has the greater number.
func (t *Table) Groups(label dynamic.Label, u, v dynamic.Class, up bool) *Groups {
	of := t.groups[0]
	if up {
		of = t.groups[1]
	}
	if len(of) == 0 {
		return nil
	}
	return &of[t.key(label, u, v)]
}

// EachGroup calls f with all groups that Groups may return.
func (t *Table) EachGroup(f func(*Group)) {
	for _, of := range t.groups {
		for i := range of {
			for j := range of[i].List {
				f(&of[i].List[j])
			}
		}
	}
}

// groupsOf returns the groups of an edge by its entries.
func groupsOf(l []Entry, up bool) Groups {
	x := Groups{All: true}
	for len(l) > 0 {
		n := 1
		for n < len(l) && l[n].Nest.Watch == l[0].Nest.Watch {
			n++
		}
		if members, ok := membersOf(l[:n], up); ok {
			x.List = append(x.List, Group{l[0].Nest.Watch, members})
		} else {
			x.All = false
		}
		l = l[n:]
	}
	return x
}

// membersOf returns the members of the group of a watch. ok is false if it can have none.
func membersOf(l []Entry, up bool) (out []Member, ok bool) {
	for i := range l {
		n, w := l[i].Nest, l[i].Nest.Watch
		if n.Kind != delta.Edge || n.Every || !n.ForDevice() || n.Conditions() || len(n.Places[0].Checks)+len(n.Places[1].Checks) > 0 ||
			!w.Pairs[n.Pair].Simple || w.AlwaysTimed(&w.Pairs[n.Pair]) {
			return nil, false
		}
		m := Member{n, l[i].Swap || n.Turns && up}
		if second := &n.Places[1]; len(second.Above) > 0 && up == m.Flip || len(second.Below) > 0 && up != m.Flip {
			continue // the anchor's vertices are in the other order
		}
		out = append(out, m)
	}
	return out, true
}
