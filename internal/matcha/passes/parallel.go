package passes

import (
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Parallel marks applies of the program itself, outside functions, that go over a list only to
// count, to add up or to emit. Several workers may take the items of such an apply concurrently
// (thesis, section 3.6). It leaves sums of floats alone, because their value depends on their
// order. It also leaves applies alone that read or change a Counter which lives longer than one
// item.
func Parallel(p *asg.Program) {
	for _, n := range asg.Order(p.Main) {
		n.Parallel = adds(n) && independent(p, n)
	}
}

// adds reports whether all that a node makes of items are sums of whole numbers, a
// count, or nothing, in a loop of its own.
func adds(n *asg.Node) bool {
	switch n.Op {
	case asg.Apply:
		return n.Effects && !floats(n.Type.Elem)
	case asg.ApplySum, asg.Sum:
		return !floats(n.Type)
	case asg.ApplySize, asg.Size:
		return true
	}
	return false
}

func floats(t *types.Type) bool {
	for i := 0; t != nil && t.Kind != types.Void && i < t.Words(); i++ {
		if t.Part(i).Kind == types.Float {
			return true
		}
	}
	return false
}

// independent reports whether a node applies functions to lists that may be long,
// and no item's work depends on another's. A list that is made without doing
// anything is made where it is gone over, by its own functions.
func independent(p *asg.Program, n *asg.Node) bool {
	made := false // by functions of other applies
	for _, from := range n.Args {
		for from.Op == asg.Apply && !from.Effects {
			from, made = from.Args[0], true
		}
		if from.Op == asg.MakeList {
			return false
		}
	}
	for _, f := range inner(n) {
		if touches(f, p.Main) {
			return false
		}
	}
	return len(inner(n)) > 0 || made
}

// touches reports whether steps of f, or of functions inside of it, are on a
// Counter of outer.
func touches(f, outer *asg.Func) bool {
	for _, n := range asg.Order(f) {
		if n.Op.Step() && n.Op != asg.Emit && n.Op != asg.NewCounter && n.Args[0].Home == outer {
			return true
		}
		for _, g := range inner(n) {
			if touches(g, outer) {
				return true
			}
		}
	}
	return false
}
