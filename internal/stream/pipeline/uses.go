package pipeline

import (
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// uses says which data edges some nest on the device may look at, by the edge's label and the classes of its ends. The device's graph has no
// others (as in RapidFlow).
//
// A nest looks at an edge by a link between two places. The link says the label, and the places say the classes. That is so for links that must
// be missing, too: an edge that does not fit a link never breaks it.
type uses struct {
	labels, classes int
	words           int      // of a row
	bits            []uint64 // a row of classes of the second end, by label and class of the first end. An edge without a direction is there both ways
	all             bool     // bits are nil, and all edges are used
}

// mostUses bounds the bits.
const mostUses = 1 << 22

// usesOf returns what the nests of watches on the device look at.
func usesOf(ws *nest.Watches, g *dynamic.Graph) *uses {
	x := &uses{labels: g.NumEdgeLabels() + 1, classes: g.NumClasses()}
	x.words = (x.classes + 63) / 64
	if uint64(x.labels)*uint64(x.classes)*uint64(x.words) > mostUses/64 {
		x.all = true
		return x
	}
	x.bits = make([]uint64, x.labels*x.classes*x.words)
	for _, w := range ws.List {
		for i := 0; w != nil && i < len(w.Nests); i++ {
			if n := &w.Nests[i]; n.ForDevice() {
				x.nest(n, g.Directed())
			}
		}
	}
	for l := range x.labels {
		for u := range x.classes {
			for v := range x.classes {
				if !x.has(dynamic.Label(l), dynamic.Class(u), dynamic.Class(v)) {
					return x
				}
			}
		}
	}
	x.all, x.bits = true, nil
	return x
}

// nest adds what a nest looks at.
func (x *uses) nest(n *nest.Nest, directed bool) {
	allowed := func(v int) []bool { return n.Watch.Allowed[v] }
	for l := n.First; l < len(n.Places); l++ {
		lv := &n.Places[l]
		for i := range lv.All {
			b := &lv.All[i]
			if !directed || b.Dir != dynamic.In {
				x.link(&b.Labels, allowed(b.Of), allowed(lv.V))
			}
			if !directed || b.Dir != dynamic.Out {
				x.link(&b.Labels, allowed(lv.V), allowed(b.Of))
			}
		}
	}
}

// link adds the edges with some labels from some classes to others; nil: all classes.
func (x *uses) link(ls *nest.Labels, from, to []bool) {
	row := make([]uint64, x.words)
	for c := range x.classes {
		if to == nil || to[c] {
			row[c/64] |= 1 << (c % 64)
		}
	}
	for l := range x.labels {
		for c := range x.classes {
			if ls.Has(dynamic.Label(l)) && (from == nil || from[c]) {
				for k, w := range row {
					x.row(l, c)[k] |= w
				}
			}
		}
	}
}

func (x *uses) row(label, class int) []uint64 {
	return x.bits[(label*x.classes+class)*x.words:][:x.words]
}

// has reports whether edges with a label, from a vertex of one class to one of another, are used. The label and the classes are those of a
// graph that the watches are bound to.
func (x *uses) has(label dynamic.Label, from, to dynamic.Class) bool {
	return x.all || x.row(int(label), int(from))[to/64]>>(to%64)&1 == 1
}

// edge is has of an edge between two vertices.
func (x *uses) edge(g *dynamic.Graph, u, v uint32, label dynamic.Label) bool {
	return x.all || x.has(label, g.ClassOf(u), g.ClassOf(v))
}

// widen returns uses for a graph that has what x uses, with labels and classes that came since then as now uses them. It is false if now uses
// edges that the graph may lack.
func (x *uses) widen(now *uses) (*uses, bool) {
	if x.all {
		if now.all || now.labels == x.labels && now.classes == x.classes {
			return &uses{labels: now.labels, classes: now.classes, all: true}, true
		}
	} else if now.all {
		return nil, false
	}
	out := &uses{labels: now.labels, classes: now.classes, words: now.words, bits: append([]uint64(nil), now.bits...)}
	for l := range x.labels {
		for u := range x.classes {
			for v := range x.classes {
				switch l, u, v := dynamic.Label(l), dynamic.Class(u), dynamic.Class(v); {
				case x.has(l, u, v):
					out.row(int(l), int(u))[v/64] |= 1 << (v % 64)
				case now.has(l, u, v):
					return nil, false
				}
			}
		}
	}
	return out, true
}
