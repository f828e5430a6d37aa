package types

import (
	"fmt"
	"math"
	"strconv"
)

// Bound is an upper limit: a formula over sizes of inputs, known once these are.
type Bound struct {
	op   byte // 'n', 's', '+', '*', '<' (the smaller), '>' (the larger)
	n    int64
	size Sym
	a, b *Bound
	// parts is the length of the formula as text. Values are computed from values
	// again and again, and a formula may not double each time.
	parts int
}

// maxParts bounds formulas: what is longer is not known.
const maxParts = 64

// Sym is a size of an input.
type Sym struct {
	Of    SymKind
	Input string
}

// SymKind says which size of an input a Sym is.
type SymKind uint8

// Sizes of inputs.
const (
	Vertices SymKind = iota // of a graph
	Arcs                    // of a graph: an edge without direction is two arcs
	Degree                  // of a graph: the most neighbours of a vertex
	Length                  // of a list
	Fan                     // of a list: the most items that begin with the same number
	Parallel                // of a graph: the most data edges between two vertices
)

var symNames = [...]string{"vertices", "arcs", "max_degree", "length", "fan", "max_parallel"}

func (s Sym) String() string { return symNames[s.Of] + "(" + s.Input + ")" }

// Exactly is a limit that is known.
func Exactly(n int64) *Bound { return &Bound{op: 'n', n: n, parts: 1} }

// Size is a size of an input.
func Size(of SymKind, input string) *Bound { return &Bound{op: 's', size: Sym{of, input}, parts: 1} }

// Constant returns the limit if it depends on no input.
func (b *Bound) Constant() (n int64, ok bool) {
	if b == nil || b.op != 'n' {
		return 0, false
	}
	return b.n, true
}

// Equal reports whether two bounds are the same formula.
func Equal(a, b *Bound) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	return a.op == b.op && a.n == b.n && a.size == b.size && Equal(a.a, b.a) && Equal(a.b, b.b)
}

// MinOf is the smaller of two limits; one that is not known does not count.
func MinOf(a, b *Bound) *Bound {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return formula('<', a, b)
}

// MaxOf is the larger of two limits, Plus their sum and Times their product:
// not known where one is not.
func MaxOf(a, b *Bound) *Bound { return formula('>', a, b) }

// Plus is the sum.
func Plus(a, b *Bound) *Bound { return formula('+', a, b) }

// Times is the product.
func Times(a, b *Bound) *Bound { return formula('*', a, b) }

func formula(op byte, a, b *Bound) *Bound {
	if a == nil || b == nil {
		return nil
	}
	x, okA := a.Constant()
	y, okB := b.Constant()
	switch {
	case okA && okB:
		return Exactly(apply(op, x, y))
	case op == '+' && okB && y == 0:
		return a
	case op == '+' && okB && a.op == '+' && a.b.op == 'n':
		return formula('+', a.a, formula('+', a.b, b))
	case (op == '<' || op == '>') && Equal(a, b):
		return a
	case op == '<' && (covers(b, a) || covers(a, b)):
		if covers(b, a) {
			return a
		}
		return b
	}
	parts := a.parts + b.parts + 1
	if parts > maxParts {
		if op == '<' {
			return a // is a limit as well
		}
		return nil
	}
	return &Bound{op: op, a: a, b: b, parts: parts}
}

// covers reports whether a is one side of the minimum b, which then is smaller.
func covers(a, b *Bound) bool {
	return b.op == '<' && (Equal(a, b.a) || Equal(a, b.b) || covers(a, b.a) || covers(a, b.b))
}

// apply computes with saturation.
func apply(op byte, x, y int64) int64 {
	switch op {
	case '<':
		return min(x, y)
	case '>':
		return max(x, y)
	case '+':
		if x > 0 && y > math.MaxInt64-x {
			return math.MaxInt64
		}
		return x + y
	}
	if x > 0 && y > math.MaxInt64/x {
		return math.MaxInt64
	}
	return x * y
}

// Value is the limit, given the inputs' sizes. What exceeds 64 bits is the
// largest number of 64 bits.
func (b *Bound) Value(size func(Sym) int64) int64 {
	switch b.op {
	case 'n':
		return b.n
	case 's':
		return size(b.size)
	}
	return apply(b.op, b.a.Value(size), b.b.Value(size))
}

func (b *Bound) String() string {
	if b == nil {
		return "?"
	}
	switch b.op {
	case 'n':
		return strconv.FormatInt(b.n, 10)
	case 's':
		return b.size.String()
	case '<':
		return fmt.Sprintf("min(%s, %s)", b.a, b.b)
	case '>':
		return fmt.Sprintf("max(%s, %s)", b.a, b.b)
	}
	if n, ok := b.b.Constant(); ok && b.op == '+' && n < 0 {
		return fmt.Sprintf("%s - %d", b.a, -n)
	}
	return fmt.Sprintf("%s %c %s", b.a.inside(b.op), b.op, b.b.inside(b.op))
}

// inside is the formula as part of a sum or product.
func (b *Bound) inside(op byte) string {
	if op == '*' && b.op == '+' {
		return "(" + b.String() + ")"
	}
	return b.String()
}
