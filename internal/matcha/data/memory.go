package data

import (
	"fmt"
	"math"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Room is the memory of one node.
type Room struct {
	Node  *asg.Node
	Items int64 // the most items
	Bytes int64
}

// Rooms is what the program's lists, graphs and counters need at most, each
// allocated once before the program runs (thesis, section 3.5.2): nodes of
// functions that are inlined live once at a time.
func (s *Set) Rooms() []Room {
	var out []Room
	asg.Walk(s.p, func(n *asg.Node) {
		var items, words int64
		switch {
		case n.Op == asg.Neighbor || n.Op == asg.EdgeInfo || n.Op == asg.Limit || n.Op == asg.Slice:
			return // a part of what there is already
		case n.Type.Kind == types.List:
			items, words = s.Most(n.Type.Max), int64(n.Type.Elem.Words())
		case n.Type.Kind == types.Graph:
			items, words = s.Most(n.Type.Facts.Edges), 3
		case n.Type.Kind == types.Counter:
			items, words = s.Most(n.Type.Max), 1
			if n.Type.Hashed {
				words = 4
			}
		default:
			return
		}
		bytes := int64(math.MaxInt64)
		if items <= math.MaxInt64/8/words {
			bytes = items * words * 8
		}
		out = append(out, Room{n, items, bytes})
	})
	return out
}

// Fits fails if all of Rooms is more than a limit in bytes, and names the
// largest part.
func (s *Set) Fits(limit int64) error {
	var most Room
	total := int64(0)
	for _, r := range s.Rooms() {
		if r.Bytes > most.Bytes {
			most = r
		}
		if total += r.Bytes; total < 0 || r.Bytes == math.MaxInt64 {
			total = math.MaxInt64
			break
		}
	}
	if total <= limit {
		return nil
	}
	what := "this " + most.Node.Type.Kind.String()
	if most.Node.Given != "" {
		what = most.Node.Given
	}
	bound := most.Node.Type.Max
	if most.Node.Type.Kind == types.Graph {
		bound = most.Node.Type.Facts.Edges
	}
	formula := ""
	if _, ok := bound.Constant(); !ok {
		formula = fmt.Sprintf(" (%s)", bound)
	}
	e := s.p.File.ErrorAt(most.Node.Pos, fmt.Sprintf("%s may have %d items%s, and there is memory for %d words", what, most.Items, formula, limit/8))
	e.Hint = "a smaller range for the inputs that it depends on, a smaller nitems, or more memory"
	return &MemoryError{e}
}

// MemoryError says that a program needs more memory than it may have.
type MemoryError struct{ Err error }

func (e *MemoryError) Error() string { return e.Err.Error() }

// Unwrap returns the place in the program.
func (e *MemoryError) Unwrap() error { return e.Err }
