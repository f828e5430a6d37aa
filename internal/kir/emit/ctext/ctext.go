// Package ctext writes the parts of kir programs that are the same text in C and in C++.
package ctext

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
)

// Binding strengths of operators, the weakest first.
const (
	Select = iota
	Or
	And
	BitOr
	BitAnd
	Equal
	Less
	Shift
	Add
	Mul
	Unary
	Primary
)

// Strength is how strongly operators bind.
var Strength = map[kir.Op]int{
	kir.Add: Add, kir.Sub: Add, kir.Mul: Mul, kir.Div: Mul, kir.Mod: Mul,
	kir.BitAnd: BitAnd, kir.BitOr: BitOr, kir.Shl: Shift, kir.Shr: Shift,
	kir.Eq: Equal, kir.Ne: Equal, kir.Lt: Less, kir.Le: Less, kir.Gt: Less, kir.Ge: Less,
	kir.And: And, kir.Or: Or,
}

// Plain reports whether the operator of C and C++ has the same meaning as kir's. It does not if a divisor may be 0,
// if the least number may be divided by -1, or if a shift may be by all bits or move a signed number to the left.
func Plain(x kir.Binary) bool {
	kind := x.X.Type().Kind
	y, constant := x.Y.(kir.Const)
	switch x.Op {
	case kir.Div, kir.Mod:
		return kind == kir.F64 || constant && y.Bits != 0 && !(kind == kir.I64 && int64(y.Bits) == -1)
	case kir.Shl, kir.Shr:
		return constant && y.Bits < width[kind] && !(x.Op == kir.Shl && kind == kir.I64)
	}
	return true
}

// width is the number of bits of whole numbers.
var width = map[kir.Kind]uint64{kir.U32: 32, kir.U64: 64, kir.I64: 64, kir.U128: 128}

// Constant is the text of a constant: a literal, or an expression that binds as one.
func Constant(x kir.Const) string {
	switch x.T.Kind {
	case kir.Bool:
		return strconv.FormatBool(x.Bits != 0)
	case kir.U32:
		if x.Bits == math.MaxUint32 {
			return "~0u"
		}
		return fmt.Sprintf("%du", x.Bits)
	case kir.U64:
		return fmt.Sprintf("%dull", x.Bits)
	case kir.U128:
		return fmt.Sprintf("(u128)%dull", x.Bits)
	case kir.I64:
		if int64(x.Bits) == math.MinInt64 {
			return "(-9223372036854775807ll - 1)"
		}
		if int64(x.Bits) < 0 {
			return fmt.Sprintf("(%dll)", int64(x.Bits))
		}
		return fmt.Sprintf("%dll", int64(x.Bits))
	case kir.F64:
		return float(math.Float64frombits(x.Bits))
	}
	panic("ctext: no constant of type " + x.T.String())
}

// float writes x exactly: in hexadecimal, or as an expression for values without a literal.
func float(x float64) string {
	switch {
	case math.IsNaN(x):
		return "(0.0 / 0.0)"
	case math.IsInf(x, 1):
		return "(1.0 / 0.0)"
	case math.IsInf(x, -1):
		return "(-1.0 / 0.0)"
	}
	return "(" + strconv.FormatFloat(x, 'x', -1, 64) + ")"
}

// Assigned are the variables that statements change.
func Assigned(body []kir.Stmt) map[*kir.Var]bool {
	out := map[*kir.Var]bool{}
	mark := func(x kir.Expr) {
		if r, ok := x.(kir.Ref); ok {
			out[r.Var] = true
		}
	}
	kir.WalkStmts(body, func(s kir.Stmt) {
		switch s := s.(type) {
		case *kir.Assign:
			mark(s.To)
		case *kir.SetOp:
			mark(s.To)
		case *kir.Accumulate:
			mark(s.To)
		}
		kir.StmtExprs(s, func(x kir.Expr) {
			if c, ok := x.(kir.Invoke); ok {
				for i, v := range c.Fn.Params {
					if v.Out {
						mark(c.Args[i])
					}
				}
			}
		})
	})
	return out
}

// Comment is text that cannot end or continue a line comment.
func Comment(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\\' || r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 {
			return '?'
		}
		return r
	}, s)
}
