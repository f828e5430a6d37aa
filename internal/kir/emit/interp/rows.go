package interp

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
)

// Hood is the neighbourhood that rows are over. A row is the ascending list of
// its positions.
type Hood struct {
	Rows  [][]uint32 // the neighbours of each position, as far as they are kept
	Masks [][]uint32
	Inner []uint32 // how many neighbours each position has, of those that count
	Cut   uint32   // how many positions' vertices have smaller ids than the root
}

// HoodValue is a neighbourhood as a value, and Row a row.
func HoodValue(h *Hood) Value      { return Value{Hood: h} }
func Row(positions []uint32) Value { return Value{List: positions} }

// rowCall is a function over rows.
func (c *compiler) rowCall(x kir.Call) eval {
	args := c.exprs(x.Args)
	list := func(i int) func(f *frame) []uint32 { return func(f *frame) []uint32 { return args[i](f).List } }
	num := func(i int) func(f *frame) uint32 { return func(f *frame) uint32 { return uint32(args[i](f).N) } }
	keep := func(test func(f *frame, p uint32) bool) eval {
		row := list(0)
		return func(f *frame) Value {
			out := []uint32{}
			for _, p := range row(f) {
				if test(f, p) {
					out = append(out, p)
				}
			}
			return Value{List: out}
		}
	}
	switch x.Fn {
	case kir.RowOnes:
		return func(f *frame) Value {
			out := []uint32{}
			for p := range args[0](f).Hood.Rows {
				out = append(out, uint32(p))
			}
			return Value{List: out}
		}
	case kir.RowOf:
		return func(f *frame) Value { return Value{List: args[0](f).Hood.Rows[args[1](f).N]} }
	case kir.RowMask:
		return func(f *frame) Value { return Value{List: args[0](f).Hood.Masks[args[1](f).N]} }
	case kir.RowAnd, kir.RowMinus:
		other, both := list(1), x.Fn == kir.RowAnd
		return keep(func(f *frame, p uint32) bool { return contains(other(f), p) == both })
	case kir.RowBelow:
		return keep(func(f *frame, p uint32) bool { return p < num(1)(f) })
	case kir.RowFrom:
		return keep(func(f *frame, p uint32) bool { return p >= num(1)(f) })
	case kir.RowWithout:
		return keep(func(f *frame, p uint32) bool { return p != num(1)(f) })
	case kir.RowPart:
		return keep(func(f *frame, p uint32) bool { return p/kir.RowPartBits == num(1)(f) })
	case kir.RowSize:
		return func(f *frame) Value { return Value{N: uint64(len(args[0](f).List))} }
	case kir.RowAny:
		return func(f *frame) Value { return truth(len(args[0](f).List) > 0) }
	case kir.RowHas:
		return func(f *frame) Value { return truth(slices.Contains(args[0](f).List, num(1)(f))) }
	case kir.Inner:
		return func(f *frame) Value { return Value{N: uint64(args[0](f).Hood.Inner[args[1](f).N])} }
	case kir.RootCut:
		return func(f *frame) Value { return Value{N: uint64(args[0](f).Hood.Cut)} }
	case kir.Leave:
		return func(*frame) Value { return truth(false) }
	}
	panic(fmt.Sprintf("interp: no function %s", x.Fn.Name))
}
