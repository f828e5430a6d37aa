package pattern

// Walk calls f for x and each expression inside it, parents first, as long as f
// returns true. It does not enter the sub-pattern of an Exists, whose names are
// its own.
func Walk(x Expr, f func(Expr) bool) {
	if x == nil || !f(x) {
		return
	}
	switch x := x.(type) {
	case Unary:
		Walk(x.X, f)
	case Binary:
		Walk(x.X, f)
		Walk(x.Y, f)
	case List:
		for _, i := range x.Items {
			Walk(i, f)
		}
	}
}

// Refs returns the distinct vertices and edges that x mentions, in the order of
// their first mention. An Exists mentions its outer vertices.
func Refs(x Expr) []Ref {
	var out []Ref
	seen := map[Ref]bool{}
	add := func(r Ref) {
		if !seen[r] {
			seen[r] = true
			out = append(out, r)
		}
	}
	Walk(x, func(x Expr) bool {
		switch x := x.(type) {
		case Prop:
			add(x.Of)
		case ID:
			add(Ref{VertexRef, x.Vertex})
		case Deg:
			add(Ref{VertexRef, x.Vertex})
		case RefExpr:
			add(x.Of)
		case AllDifferent:
			for _, r := range x.Refs {
				add(r)
			}
		case Exists:
			for _, v := range x.Outer {
				add(Ref{VertexRef, v})
			}
		}
		return true
	})
	return out
}

// MapRefs returns x with each vertex and edge replaced by f of it. f must keep
// the kind of a Ref.
func MapRefs(x Expr, f func(Ref) Ref) Expr {
	return rewrite(x, func(x Expr) Expr {
		switch x := x.(type) {
		case Prop:
			x.Of = f(x.Of)
			return x
		case ID:
			return ID{f(Ref{VertexRef, x.Vertex}).Index}
		case Deg:
			return Deg{f(Ref{VertexRef, x.Vertex}).Index}
		case RefExpr:
			return RefExpr{f(x.Of)}
		case AllDifferent:
			refs := make([]Ref, len(x.Refs))
			for i, r := range x.Refs {
				refs[i] = f(r)
			}
			return AllDifferent{refs}
		case Exists:
			outer := make([]int, len(x.Outer))
			for i, v := range x.Outer {
				outer[i] = f(Ref{VertexRef, v}).Index
			}
			x.Outer = outer
			return x
		}
		return x
	})
}

// rewrite replaces the leaves of x (all but Unary, Binary and List) by leaf of
// them and copies the rest.
func rewrite(x Expr, leaf func(Expr) Expr) Expr {
	switch x := x.(type) {
	case nil:
		return nil
	case Unary:
		x.X = rewrite(x.X, leaf)
		return x
	case Binary:
		x.X, x.Y = rewrite(x.X, leaf), rewrite(x.Y, leaf)
		return x
	case List:
		items := make([]Expr, len(x.Items))
		for i, e := range x.Items {
			items[i] = rewrite(e, leaf)
		}
		return List{items}
	}
	return leaf(x)
}

func mapRefsAll(xs []Expr, f func(Ref) Ref) []Expr {
	if xs == nil {
		return nil
	}
	out := make([]Expr, len(xs))
	for i, x := range xs {
		out[i] = MapRefs(x, f)
	}
	return out
}

// Conjuncts appends the operands of a nest of AND. A conjunction is true if all of them are,
// even if some value is NULL elsewhere.
func Conjuncts(x Expr, to []Expr) []Expr {
	if y, ok := x.(Binary); ok && y.Op == OpAnd {
		return Conjuncts(y.Y, Conjuncts(y.X, to))
	}
	return append(to, x)
}
