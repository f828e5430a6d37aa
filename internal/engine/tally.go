package engine

// Tally is a count that knows when it left 128 bits. Zero times anything is
// zero, so that a factor which is too large only matters where it counts.
type Tally struct {
	N    Uint128
	Over bool // the count is 2^128 or more, and N means nothing
}

// One is the tally of the empty product.
var One = Tally{N: Uint128{Lo: 1}}

// Tally64 returns x as a Tally.
func Tally64(x uint64) Tally { return Tally{N: U64(x)} }

// Plus returns a+b.
func (a Tally) Plus(b Tally) Tally {
	n, over := a.N.AddOver(b.N)
	return Tally{n, over || a.Over || b.Over}
}

// Times returns a*b.
func (a Tally) Times(b Tally) Tally {
	if a.IsZero() || b.IsZero() {
		return Tally{}
	}
	n, over := a.N.MulOver(b.N)
	return Tally{n, over || a.Over || b.Over}
}

// MulDiv returns a*x/d, which must be a whole number. If a is over, the result is at least a.
func (a Tally) MulDiv(x, d uint64) Tally {
	n, over := a.N.MulDiv(x, d)
	return Tally{n, over || a.Over}
}

// IsZero reports whether a is 0.
func (a Tally) IsZero() bool { return !a.Over && a.N.IsZero() }
