package kir

// certain reports whether x can be evaluated at a place that the program might not reach:
// before a loop without turns, or for a set without elements. x must read nothing outside of
// its memory, for all values of its variables. Only variables that are indexes of lists are
// trusted, because they are indexes wherever the variable is visible.
func certain(x Expr) bool {
	switch x := x.(type) {
	case Const, Ref, Global:
		return true
	case Field:
		return certain(x.X)
	case Elem:
		return inArray(x)
	case Unary:
		return certain(x.X)
	case Binary:
		return certain(x.X) && certain(x.Y) && (x.Op != Div && x.Op != Mod || divides(x.Y))
	case Convert:
		return certain(x.X)
	case Select:
		return certain(x.If) && certain(x.Then) && certain(x.Else)
	case Call:
		switch x.Fn {
		case List, Below, Above, Degree, Bit:
			return index(x.Args[0], x.Args[1])
		case Adjacent:
			return index(x.Args[0], x.Args[2]) && index(x.Args[1], x.Args[3])
		case Size, Slice, Contains:
			for _, y := range x.Args {
				if !certain(y) {
					return false
				}
			}
			return true
		}
	}
	return false
}

// inArray reports whether an element is known to be one of its array.
func inArray(x Elem) bool {
	i, ok := x.I.(Const)
	if !ok {
		return false
	}
	n := uint64(x.X.Type().Len)
	if g, ok := x.X.(Global); ok {
		n = uint64(len(g.G.Adj))
	}
	return i.Bits < n && certain(x.X)
}

// divides reports whether a division by x needs no guard. One with a guard stays where it is: it may cost more than the
// turns that it would be taken out of.
func divides(x Expr) bool {
	c, ok := x.(Const)
	return ok && c.Bits != 0 && (c.T.Kind != I64 || int64(c.Bits) != -1)
}

// index reports whether x numbers a list of a, or is an id that bitmap a has a bit for. A
// variable that is used so is an index; an expression computed of it is not.
func index(a, x Expr) bool {
	switch x := x.(type) {
	case Const:
		g, ok := a.(Global)
		return ok && (g.G.Kind == Adj && x.Bits < uint64(max(g.G.Vertices(), 0)) || g.G.Kind == Bits && x.Bits < 64*uint64(len(g.G.Words)))
	case Ref:
		return true
	case Elem:
		return inArray(x)
	case Convert:
		return index(a, x.X)
	case Select:
		return certain(x.If) && index(a, x.Then) && index(a, x.Else)
	}
	return false
}
