package asg

import (
	"fmt"

	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// sameLength fails if two lists that are used side by side are known to have different lengths;
// msg has places for these. Unknown lengths are compared when the program runs.
func (b *builder) sameLength(at syntax.Pos, msg string, l, r *Node) {
	x, okX := length(l)
	y, okY := length(r)
	if okX && okY && x != y {
		b.fail(at, fmt.Sprintf(msg, x, y), fmt.Sprintf("a list of %s", plural(int(x), "item")))
	}
}

// length is the number of items of a list. ok is false if it depends on the inputs.
func length(l *Node) (n int64, ok bool) {
	switch l.Op {
	case MakeList:
		return int64(len(l.Args)), true
	case Range:
		switch n := l.Args[0]; n.Op {
		case Const:
			return max(int64(n.Words[0]), 0), true
		case Size:
			return length(n.Args[0])
		}
	case Apply:
		if l.Cond == nil && l.Type.Kind == types.List {
			return length(l.Args[0])
		}
	case Limit: // or the program fails
		return length(l.Args[0])
	}
	return 0, false
}

// Together reports whether lists have the same length for all inputs, because they are of the same
// edges: the neighbours of one vertex and the information on the edges to them, or the same window of
// both.
func Together(lists []*Node) bool {
	for i, l := range lists {
		if l.Op != Neighbor && l.Op != EdgeInfo && l.Op != Joining && l.Op != Window {
			return false
		}
		if i > 0 && !sameEdges(lists[0], l) {
			return false
		}
	}
	return true
}

func sameEdges(a, b *Node) bool {
	of := func(o Op) Op { // which edges
		if o == EdgeInfo {
			return Neighbor
		}
		return o
	}
	if of(a.Op) != of(b.Op) || len(a.Args) != len(b.Args) || a.Op == Window && a.At != b.At {
		return false
	}
	first := 0
	if a.Op == Window {
		if !sameEdges(a.Args[0], b.Args[0]) {
			return false
		}
		first = 1
	}
	for i := first; i < len(a.Args); i++ {
		if x, y := a.Args[i], b.Args[i]; x != y && !(x.Op == Part && y.Op == Part && x.At == y.At && x.Args[0] == y.Args[0]) {
			return false
		}
	}
	return true
}
