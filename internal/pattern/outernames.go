package pattern

import "slices"

// WithoutOuter returns x, whose EXISTS no longer differ from some vertices of the
// enclosing pattern: those for which gone is true, which nothing in x mentions.
func WithoutOuter(x Expr, gone func(v int) bool) Expr {
	return rewrite(x, func(x Expr) Expr {
		e, ok := x.(Exists)
		if !ok {
			return x
		}
		left := func(v int) bool { return v < len(e.Outer) && e.Sub.Vertices[v].Aside && gone(e.Outer[v]) }
		sub := e.Sub.Clone()
		for i, w := range sub.Where {
			sub.Where[i] = WithoutOuter(w, left)
		}
		var keep, outer []int
		for v := range sub.Vertices {
			if !left(v) {
				keep = append(keep, v)
				if v < len(e.Outer) {
					outer = append(outer, e.Outer[v])
				}
			}
		}
		e.Sub, e.Outer = sub.SubPattern(keep), slices.Clip(outer)
		return e
	})
}
