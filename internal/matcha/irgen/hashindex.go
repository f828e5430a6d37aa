package irgen

import (
	"fmt"
	"math/bits"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// hashIndex is a hash table of vertices that are any numbers (thesis, section 3.5.1). A slot
// has a key, the begin and end of the vertex's edges, and the place of its label. Tables are at
// least half empty, and are made before the program runs.
type hashIndex struct {
	find  *kir.Func
	place *kir.GlobalDef // 3 u32 a slot: begin, end, and 0: free, 1: no label, 2 + where the label is
}

// slot is a hash index's entry for a vertex.
type slot struct{ begin, end, label uint32 }

// hashIndex makes the table.
func (l *lowerer) hashIndex(name string, slots map[types.Word]slot) *hashIndex {
	size := uint64(1) << bits.Len64(uint64(2*len(slots)))
	keys := make([]uint64, size)
	place := make([]uint32, 3*size)
	for v, s := range slots {
		at := uint64(hashOf(v)) & (size - 1)
		for place[3*at+2] != 0 {
			at = (at + 1) & (size - 1)
		}
		keys[at] = uint64(v)
		copy(place[3*at:], []uint32{s.begin, s.end, s.label})
	}
	h := &hashIndex{place: l.ids(name+" slots", place)}
	g := l.prog.AddGlobal(&kir.GlobalDef{Name: name + " keys", Kind: kir.Col, Elem: kir.I64, Words: keys})
	v, first, i, at := local("v", kir.I64), local("first", kir.U32), local("i", kir.U32), local("slot", kir.U32)
	mask := l.number("slots of "+name, uint32(size-1))
	free := kir.Op2(kir.Eq, h.field(kir.R(at), 2), kir.C(0))
	key := kir.Fn(kir.CellInt, kir.G(g), kir.Convert{T: kir.T(kir.U64), X: kir.R(at)})
	h.find = l.support(fmt.Sprintf("find%d", g.Index), func() *kir.Func {
		return &kir.Func{
			Doc: "Returns the slot of a vertex, or the free slot for it.", Params: []*kir.Var{v}, Result: kir.T(kir.U32),
			Body: []kir.Stmt{
				&kir.Let{Var: first, Init: hash(kir.R(v))},
				&kir.Loop{I: i, Lo: kir.C(0), Hi: mask, Body: []kir.Stmt{
					&kir.Let{Var: at, Init: kir.Op2(kir.BitAnd, plus(kir.R(first), kir.R(i)), mask)},
					when(kir.Any(free, kir.Op2(kir.Eq, key, kir.R(v))), &kir.Return{X: kir.R(at)}),
				}},
				&kir.Return{X: kir.Op2(kir.BitAnd, kir.Op2(kir.Sub, kir.R(first), kir.C(1)), mask)},
			},
		}
	})
	return h
}

// hashOf computes the same as hash.
func hashOf(key types.Word) uint32 { return uint32(uint64(key) * spread >> 32) }

// ids is an array of numbers that are there before the program runs.
func (l *lowerer) ids(name string, x []uint32) *kir.GlobalDef {
	return l.prog.AddGlobal(&kir.GlobalDef{Name: name, Kind: kir.Array, Adj: x})
}

func (h *hashIndex) field(slot kir.Expr, j uint32) kir.Expr {
	return kir.Elem{X: kir.G(h.place), I: plus(kir.Op2(kir.Mul, slot, kir.C(3)), kir.C(j))}
}

// edges are the places of a vertex's edges.
func (h *hashIndex) edges(l *lowerer, v kir.Expr) (begin, end kir.Expr) {
	s := l.let("slot", invoke(h.find, v))
	return l.let("begin", h.field(s, 0)), l.let("end", h.field(s, 1))
}

// label is a vertex's label, one of labels.
func (h *hashIndex) label(l *lowerer, labels *rows, v kir.Expr) kir.Expr {
	at := l.let("label", h.field(invoke(h.find, v), 2))
	return kir.Select{If: kir.Op2(kir.Ge, at, kir.C(2)), Then: labels.at(kir.Op2(kir.Sub, at, kir.C(2)), 0), Else: noLabel}
}
