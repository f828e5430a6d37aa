package pattern

import (
	"runtime"
	"testing"
)

// TestLongKeys: the key of a deep nest takes memory by its size, and not by its square;
// it still tells conditions apart, and sees which are alike.
func TestLongKeys(t *testing.T) {
	names := namer{plainName, plainName}
	nest := func(op Op, depth int, last int64) Expr {
		var x Expr = Deg{Vertex: 0}
		for range depth {
			x = Binary{Op: op, X: x, Y: Prop{Of: Ref{VertexRef, 1}, Key: "weight"}}
		}
		return Binary{Op: OpSub, X: x, Y: Lit{last}}
	}
	bytes := func(depth int) uint64 {
		x := nest(OpSub, depth, 0)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		exprKey(x, names)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, eight := bytes(1000), bytes(8000); eight > 16*one {
		t.Errorf("%d bytes for a nest of 1000, %d for one of 8000", one, eight)
	}
	for _, op := range []Op{OpSub, OpDiv, OpAdd, OpAnd} {
		a, b, c := exprKey(nest(op, 1000, 1), names), exprKey(nest(op, 1000, 1), names), exprKey(nest(op, 1000, 2), names)
		if a != b || a == c {
			t.Errorf("%v: %.40s, the same again %.40s, another %.40s", op, a, b, c)
		}
	}
	// Both ends of an edge are alike where a long condition of each is.
	long := func(of, other int) Expr {
		x := Expr(Deg{Vertex: of})
		for range 100 {
			x = Binary{Op: OpSub, X: x, Y: Deg{Vertex: other}}
		}
		return x
	}
	for _, c := range []struct {
		right Expr
		order int64
	}{{long(1, 0), 2}, {long(1, 1), 1}} {
		p := &Pattern{Vertices: make([]Vertex, 2), Edges: []Edge{{From: 0, To: 1, Dir: Either, Min: 1, Max: 1}}}
		p.Where = []Expr{Binary{Op: OpNe, X: long(0, 1), Y: c.right}}
		if got := p.Automorphisms().Order().Int64(); got != c.order {
			t.Errorf("order %d, want %d", got, c.order)
		}
	}
}
