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

// Stored reports whether a node has separate memory. Neighbours, slices, windows and limited lists
// are parts of existing lists.
func Stored(n *asg.Node) bool {
	switch n.Op {
	case asg.Neighbor, asg.EdgeInfo, asg.Joining, asg.Limit, asg.Slice, asg.Window, asg.Input, asg.Subgraph, asg.Matching:
		return false
	}
	return n.Type.Kind == types.List || n.Type.Kind == types.Graph || n.Type.Kind == types.Counter
}

// Bound is the most items of a list, edges of a graph, or keys of a Counter.
func Bound(n *asg.Node) *types.Bound {
	if n.Type.Kind == types.Graph {
		return n.Type.Facts.Edges
	}
	return n.Type.Max
}

// Rooms lists the largest sizes of the program's lists, graphs and counters. Each is allocated
// once before the program runs (thesis, section 3.5.2), because nodes of inlined functions live
// once at a time.
func (s *Set) Rooms() []Room {
	var out []Room
	asg.Walk(s.p, func(n *asg.Node) {
		if !Stored(n) {
			return
		}
		items, words := s.Most(Bound(n)), int64(1)
		switch {
		case n.Type.Kind == types.List:
			words = int64(n.Type.Elem.Words())
		case n.Type.Kind == types.Graph:
			words = 3
		case n.Type.Hashed:
			words = 4
		}
		bytes := int64(math.MaxInt64)
		if items <= math.MaxInt64/8/words {
			bytes = items * words * 8
		}
		out = append(out, Room{n, items, bytes})
	})
	return out
}

// Fits fails if all of Rooms and the selections of texts are more than a limit in
// bytes, and names the largest part.
func (s *Set) Fits(limit int64) error {
	return s.fits(limit, 0, func(r Room) float64 { return float64(r.Bytes) }, func(Room) string {
		return fmt.Sprintf("there is memory for %d words", limit/8)
	})
}

// FitsAs is Fits for a target that takes another number of bytes for a room, and some besides.
func (s *Set) FitsAs(limit int64, besides float64, bytes func(Room) float64) error {
	return s.fits(limit, besides, bytes, func(most Room) string {
		return fmt.Sprintf("the target takes up to %.0f bytes for them, and there may be %d in all", bytes(most), limit)
	})
}

// BytesAs is the number of bytes that FitsAs compares with the limit.
func (s *Set) BytesAs(besides float64, bytes func(Room) float64) float64 {
	total := float64(s.held) + besides
	for _, r := range s.Rooms() {
		total += bytes(r)
	}
	return total
}

// fits is both. why says what is missing, for the largest part.
func (s *Set) fits(limit int64, besides float64, bytes func(Room) float64, why func(most Room) string) error {
	var most Room
	largest := 0.0
	for _, r := range s.Rooms() {
		if b := bytes(r); b > largest {
			most, largest = r, b
		}
	}
	total := s.BytesAs(besides, bytes)
	if total <= float64(limit) {
		return nil
	}
	if most.Node == nil {
		return &MemoryError{Err: fmt.Errorf("what the program looks up takes up to %.0f bytes, and there may be %d", total, limit)}
	}
	what := "this " + most.Node.Type.Kind.String()
	if most.Node.Given != "" {
		what = most.Node.Given
	}
	bound := Bound(most.Node)
	formula := ""
	if _, ok := bound.Constant(); !ok {
		formula = fmt.Sprintf(" (%s)", bound)
	}
	e := s.p.File.ErrorAt(most.Node.Pos, fmt.Sprintf("%s may have %d items%s, and %s", what, most.Items, formula, why(most)))
	e.Hint = "a smaller range for the inputs that it depends on, a smaller nitems, or more memory"
	return &MemoryError{e}
}

// MemoryError says that a program needs more memory than it may have.
type MemoryError struct{ Err error }

func (e *MemoryError) Error() string { return e.Err.Error() }

// Unwrap returns the place in the program.
func (e *MemoryError) Unwrap() error { return e.Err }
