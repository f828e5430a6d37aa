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
