package interp

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/kir"
)

// call is a function of the run-time library.
func (c *compiler) call(x kir.Call) eval {
	var args []eval
	for _, a := range x.Args {
		if g, ok := a.(kir.Global); ok && g.G.Kind != kir.U32 && g.G.Kind != kir.Array {
			continue // globals are known now
		}
		args = append(args, c.expr(a))
	}
	g := func(i int) *kir.GlobalDef { return x.Args[i].(kir.Global).G }
	switch x.Fn {
	case kir.IDs, kir.Words, kir.Floats:
		return c.view(x)
	case kir.List:
		adj := g(0)
		return func(f *frame) Value { return Value{List: list(adj, args[0](f).N)} }
	case kir.Below:
		adj := g(0)
		return func(f *frame) Value {
			v := args[0](f).N
			return Value{List: slice(list(adj, v), 0, uint32(v))}
		}
	case kir.Above:
		adj := g(0)
		return func(f *frame) Value {
			v := args[0](f).N
			return Value{List: slice(list(adj, v), uint32(v), ^uint32(0))}
		}
	case kir.Degree:
		adj := g(0)
		return func(f *frame) Value { return Value{N: uint64(len(list(adj, args[0](f).N)))} }
	case kir.Adjacent:
		adj := g(0)
		return func(f *frame) Value { return truth(contains(list(adj, args[0](f).N), uint32(args[1](f).N))) }
	case kir.Bit:
		words := g(0).Words
		return func(f *frame) Value {
			v := args[0](f).N
			return Value{N: words[v>>6] >> (v & 63) & 1}
		}
	case kir.BitAt:
		words := g(0).Words
		return func(f *frame) Value {
			v := args[0](f).N
			return Value{N: words[v>>6] >> (v & 63) & 1}
		}
	case kir.EdgeFirst, kir.EdgeEnd:
		adj, past := g(0), uint64(0)
		if x.Fn == kir.EdgeEnd {
			past = 1
		}
		return func(f *frame) Value {
			u, v := args[0](f).N, args[1](f).N
			i, _ := slices.BinarySearchFunc(list(adj, u), v+past, func(w uint32, v uint64) int { return cmp.Compare(uint64(w), v) })
			return Value{N: adj.Off[u] + uint64(i)}
		}
	case kir.EdgeSource:
		adj := g(0)
		return func(f *frame) Value {
			n, i := int(args[0](f).N), args[1](f).N
			return Value{N: uint64(sort.Search(n-1, func(v int) bool { return adj.Off[v+1] > i }))}
		}
	case kir.EdgeTarget:
		adj := g(0)
		return func(f *frame) Value { return Value{N: uint64(adj.Adj[args[0](f).N])} }
	case kir.CellInt, kir.CellFloat:
		words := g(0).Words
		return func(f *frame) Value { return Value{N: words[args[0](f).N]} }
	case kir.HasCell:
		valid := g(0).Valid
		return func(f *frame) Value {
			row := args[0](f).N
			return truth(valid == nil || valid[row>>6]>>(row&63)&1 != 0)
		}
	case kir.FloatMod:
		return func(f *frame) Value {
			a, b := args[0](f).N, args[1](f).N
			return Value{N: math.Float64bits(math.Mod(math.Float64frombits(a), math.Float64frombits(b)))}
		}
	case kir.Size:
		return func(f *frame) Value { return Value{N: uint64(len(args[0](f).List))} }
	case kir.Item:
		return func(f *frame) Value { return Value{N: uint64(args[0](f).List[args[1](f).N])} }
	case kir.Slice:
		return func(f *frame) Value {
			return Value{List: slice(args[0](f).List, uint32(args[1](f).N), uint32(args[2](f).N))}
		}
	case kir.Contains:
		return func(f *frame) Value { return truth(contains(args[0](f).List, uint32(args[1](f).N))) }
	case kir.Part:
		return func(f *frame) Value {
			from, n := args[1](f).N, args[2](f).N
			return Value{List: args[0](f).List[from : from+n]}
		}
	case kir.Room:
		return func(f *frame) Value { return Value{List: args[0](f).List[args[1](f).N:]} }
	case kir.CountAnd, kir.CountMinus:
		minus := x.Fn == kir.CountMinus
		return func(f *frame) Value {
			a, b, n := args[0](f).List, args[1](f).List, 0
			for _, v := range a {
				if contains(b, v) != minus {
					n++
				}
			}
			return Value{N: uint64(n)}
		}
	}
	return c.rowCall(x)
}

func truth(b bool) Value {
	if b {
		return Value{N: 1}
	}
	return Value{}
}

func list(adj *kir.GlobalDef, v uint64) []uint32 { return adj.List(uint32(v)) }

func contains(set []uint32, x uint32) bool {
	_, ok := slices.BinarySearch(set, x)
	return ok
}

// slice is the elements lo ≤ x < hi.
func slice(set []uint32, lo, hi uint32) []uint32 {
	b, _ := slices.BinarySearch(set, lo)
	e, _ := slices.BinarySearch(set, hi)
	return set[b:max(b, e)]
}
