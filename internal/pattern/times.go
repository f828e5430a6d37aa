package pattern

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// Timestamp is the value of a literal such as timestamp '2024-03-10'.
type Timestamp struct {
	Nanos int64  // since 1970, UTC
	Text  string // the literal as it was written
}

// Duration is the value of a literal such as duration 'PT1H30M' or 24h.
type Duration struct {
	Nanos int64
	Text  string // the literal as it was written
}

// TimeKind says which kind of time an expression is.
type TimeKind uint8

// The kinds of time.
const (
	NoTime  TimeKind = iota
	Moment           // counts from a fixed moment
	Span             // the time between two moments
	Missing          // a property that the graph does not have: NULL in any operation
)

// TimeType is the type of an expression that is a time: integers of units of Num/Den
// nanoseconds.
type TimeType struct {
	Kind     TimeKind
	Num, Den int64
	// Known says that the input states that these are times, and their unit. Other times are
	// plain numbers. Combined with a literal they count in that unit from 1970.
	Known bool
}

// TimeError is a mistake in how an expression uses times.
type TimeError struct {
	Msg      string
	Near     string // a part of the expression, as the language writes it
	Expected string
}

func (e *TimeError) Error() string { return e.Msg }

// PlainTimes writes x without literals of times, and with operations only between times of
// equal units, so that an evaluator sees numbers alone. of returns the type of a property. A
// number that is combined with a time is in the time's own unit, as everywhere. assumed says
// that the unit of a plain number had to be assumed. The error is a *TimeError.
func PlainTimes(x Expr, of func(Prop) TimeType) (plain Expr, t TimeType, assumed bool, err error) {
	y := &timeTyper{of: of}
	out, e := y.expr(x)
	if e != nil {
		return nil, TimeType{}, false, e
	}
	if !out.whole { // a fraction of a unit is a number
		out.t = TimeType{}
	}
	return out.x, out.t, y.assumed, nil
}

type timeTyper struct {
	of      func(Prop) TimeType
	assumed bool
}

// timed is a part of an expression without its literals of times.
type timed struct {
	x       Expr
	t       TimeType
	literal *int64 // the nanoseconds of a literal, or of an expression of literals
	mixed   bool   // its unit differs from that of its property
	whole   bool   // every value is a whole number of units
	from    Expr   // as it was written
}

func (a *timed) isTime() bool { return a.t.Kind == Moment || a.t.Kind == Span }

// nanosecond is the unit of literals.
func nanosecond(k TimeKind) TimeType { return TimeType{Kind: k, Num: 1, Den: 1, Known: true} }

func literalTime(k TimeKind, ns int64, from Expr) *timed {
	return &timed{x: Lit{ns}, t: nanosecond(k), literal: &ns, mixed: true, whole: true, from: from}
}

func (y *timeTyper) expr(x Expr) (*timed, *TimeError) {
	out := &timed{x: x, from: x}
	switch x := x.(type) {
	case Lit:
		switch v := x.Value.(type) {
		case Timestamp:
			return literalTime(Moment, v.Nanos, x), nil
		case Duration:
			return literalTime(Span, v.Nanos, x), nil
		case int64:
			out.whole = true
		}
	case Prop:
		out.t = y.of(x)
		out.whole = out.t.Kind != NoTime
	case Unary:
		a, err := y.expr(x.X)
		if err != nil {
			return nil, err
		}
		out.x = Unary{x.Op, a.x}
		if x.Op == OpNeg && a.t.Kind == Span {
			out.t, out.mixed, out.whole = a.t, a.mixed, a.whole
			if a.literal != nil && *a.literal != math.MinInt64 {
				return literalTime(Span, -*a.literal, x), nil
			}
		} else if x.Op == OpNeg && a.mixed {
			return nil, y.fail(a, "a timestamp has no opposite", "")
		}
	case List:
		items := make([]Expr, len(x.Items))
		for i, item := range x.Items {
			a, err := y.expr(item)
			if err != nil {
				return nil, err
			}
			if a.literal != nil {
				return nil, y.fail(a, "a list of times stands behind a time and IN", "")
			}
			items[i] = a.x
		}
		out.x = List{items}
	case Binary:
		return y.binary(x)
	}
	return out, nil
}

func (y *timeTyper) fail(a *timed, msg, expected string) *TimeError {
	return &TimeError{Msg: msg, Near: textOf(a.from), Expected: expected}
}

// textOf is x in the language, as far as it names nothing.
func textOf(x Expr) string {
	switch x := x.(type) {
	case Lit:
		return formatLit(x.Value)
	case Prop:
		return "." + QuoteName(x.Key)
	case Unary:
		return textOf(x.X)
	case Binary:
		return textOf(x.X)
	}
	return ""
}

func (y *timeTyper) binary(x Binary) (*timed, *TimeError) {
	a, err := y.expr(x.X)
	if err != nil {
		return nil, err
	}
	if list, ok := listOf(x.Y); ok && x.Op == OpIn {
		return y.in(x, a, list)
	}
	b, err := y.expr(x.Y)
	if err != nil {
		return nil, err
	}
	out := &timed{x: Binary{x.Op, a.x, b.x}, from: x, whole: a.whole && b.whole && x.Op != OpDiv && x.Op != OpMod}
	if x.Op == OpAnd || x.Op == OpOr || x.Op == OpIn {
		out.whole = false
		return out, nil
	}
	comparison := x.Op >= OpEq && x.Op <= OpGe
	switch {
	case a.t.Kind == Missing || b.t.Kind == Missing:
		if !comparison {
			out.t.Kind = Missing
		}
	case !a.isTime() && !b.isTime():
	case !a.isTime() || !b.isTime():
		return y.besideNumber(x, out, a, b, comparison)
	case comparison:
		return y.compare(x, a, b)
	default:
		return y.arithmetic(x, a, b)
	}
	return out, nil
}

// besideNumber is an operation of a time and an operand that is not a time: a number in the
// time's own unit, or a factor.
func (y *timeTyper) besideNumber(x Binary, out, a, b *timed, comparison bool) (*timed, *TimeError) {
	t, other := a, b
	if !a.isTime() {
		t, other = b, a
	}
	what := "timestamp"
	if t.t.Kind == Span {
		what = "duration"
	}
	factor := x.Op == OpMul && t.t.Kind == Span
	lit, isLit := other.from.(Lit)
	text, isText := lit.Value.(string)
	switch {
	case isText && t.t.Known && comparison:
		return nil, y.fail(other, "a "+what+" is compared with a text", what+" "+quoteString(text))
	case t.mixed && !factor && isLit && lit.Value == nil: // NULL is NULL
	case t.mixed && !factor && t.literal == nil:
		return nil, y.fail(other, "a number next to times of different units has no unit", "a duration, as in 24h")
	case t.mixed && !factor:
		if p, ok := other.from.(Prop); ok {
			return nil, y.fail(t, fmt.Sprintf("a %s is combined with the property %s, which is not a time", what, QuoteName(p.Key)), "a property that is a time")
		}
		return nil, y.fail(t, fmt.Sprintf("a %s is combined with an operand that is not a time", what), "a time")
	}
	switch {
	case comparison:
	case factor, x.Op == OpAdd, x.Op == OpSub && (t == a || t.t.Kind == Span):
		out.t, out.mixed = t.t, t.mixed
	}
	return out, nil
}

// arithmetic is + or - of two times.
func (y *timeTyper) arithmetic(x Binary, a, b *timed) (*timed, *TimeError) {
	kind := NoTime
	switch {
	case x.Op == OpSub && a.t.Kind == b.t.Kind:
		kind = Span
	case x.Op == OpSub && a.t.Kind == Moment:
		kind = Moment
	case x.Op == OpAdd && a.t.Kind == Span && b.t.Kind == Span:
		kind = Span
	case x.Op == OpAdd && a.t.Kind != b.t.Kind:
		kind = Moment
	case !a.t.Known && !b.t.Known && !a.mixed && !b.mixed: // plain numbers
		return &timed{x: Binary{x.Op, a.x, b.x}, from: x}, nil
	default:
		return nil, y.fail(a, fmt.Sprintf("%s of two times has no meaning", x.Op), "a difference of times, or a time and a duration")
	}
	if a.literal != nil && b.literal != nil {
		n, ok := IntArithmetic(x.Op, *a.literal, *b.literal)
		if !ok {
			return nil, y.fail(a, "this time is too far from 1970", "")
		}
		return literalTime(kind, n, x), nil
	}
	a, b, err := y.align(a, b)
	if err != nil {
		return nil, err
	}
	t := a.t
	t.Kind, t.Known = kind, a.t.Known && b.t.Known
	return &timed{x: Binary{x.Op, a.x, b.x}, t: t, mixed: a.mixed || b.mixed, whole: a.whole && b.whole, from: x}, nil
}

// compare is a comparison of two times.
func (y *timeTyper) compare(x Binary, a, b *timed) (*timed, *TimeError) {
	if a.t.Kind != b.t.Kind && (a.t.Known || b.t.Known) {
		return nil, y.fail(b, "a timestamp and a duration are compared", "two times of one kind")
	}
	out := func(x Expr) (*timed, *TimeError) { return &timed{x: x, from: x}, nil }
	op := x.Op
	switch {
	case a.literal != nil && b.literal == nil:
		return out(y.against(turned[op], b, *a.literal))
	case b.literal != nil && a.literal == nil:
		return out(y.against(op, a, *b.literal))
	}
	a, b, err := y.align(a, b)
	if err != nil {
		return nil, err
	}
	return out(Binary{op, a.x, b.x})
}

// turned is the comparison with its sides exchanged.
var turned = map[Op]Op{OpEq: OpEq, OpNe: OpNe, OpLt: OpGt, OpLe: OpGe, OpGt: OpLt, OpGe: OpLe}

// against compares a with a literal, in units of a: between two of them x < 2.5 is
// x <= 2, and nothing is equal.
func (y *timeTyper) against(op Op, a *timed, ns int64) Expr {
	y.assumed = y.assumed || !a.t.Known
	units, rest := new(big.Int).DivMod(times(ns, a.t.Den), big.NewInt(a.t.Num), new(big.Int))
	switch {
	case rest.Sign() == 0:
		return Binary{op, a.x, wholeLit(units)}
	case !a.whole:
		return Binary{op, Binary{OpMul, a.x, Lit{a.t.Num}}, wholeLit(times(ns, a.t.Den))}
	}
	below, above := Binary{OpLe, a.x, wholeLit(units)}, Binary{OpGt, a.x, wholeLit(units)}
	switch op {
	case OpLt, OpLe:
		return below
	case OpGt, OpGe:
		return above
	case OpEq:
		return Binary{OpAnd, below, above}
	}
	return Binary{OpOr, below, above}
}

func times(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

// wholeLit is z. Beyond 63 bits a floating-point number does: it compares with
// integers as z does.
func wholeLit(z *big.Int) Lit {
	if z.IsInt64() {
		return Lit{z.Int64()}
	}
	f, _ := z.Float64()
	return Lit{f}
}

// align gives two times the unit of the finer one.
func (y *timeTyper) align(a, b *timed) (*timed, *timed, *TimeError) {
	if a.t.Num == b.t.Num && a.t.Den == b.t.Den {
		return a, b, nil
	}
	y.assumed = y.assumed || !a.t.Known || !b.t.Known
	for _, side := range []struct{ lit, other **timed }{{&a, &b}, {&b, &a}} {
		if lit := *side.lit; lit.literal != nil { // a literal of whole units
			t := (*side.other).t
			units, rest := new(big.Int).QuoRem(times(*lit.literal, t.Den), big.NewInt(t.Num), new(big.Int))
			if rest.Sign() == 0 && units.IsInt64() {
				t.Kind = lit.t.Kind
				*side.lit = &timed{x: Lit{units.Int64()}, t: t, whole: true, from: lit.from}
				return a, b, nil
			}
		}
	}
	ratio := new(big.Rat).SetFrac(times(a.t.Num, b.t.Den), times(b.t.Num, a.t.Den))
	p, q := ratio.Num(), ratio.Denom()
	if !p.IsInt64() || !q.IsInt64() || p.Cmp(big.NewInt(1)) != 0 && q.Cmp(big.NewInt(1)) != 0 {
		return nil, nil, y.fail(b, "the units of these times do not divide each other", "")
	}
	if p.Cmp(q) > 0 {
		return scaled(a, p.Int64(), b.t), b, nil
	}
	return a, scaled(b, q.Int64(), a.t), nil
}

// scaled is a in the unit of t, which is `by` times finer.
func scaled(a *timed, by int64, t TimeType) *timed {
	t.Kind, t.Known = a.t.Kind, a.t.Known
	return &timed{x: Binary{OpMul, a.x, Lit{by}}, t: t, mixed: true, whole: a.whole, from: a.from}
}

// listOf returns the items of a list.
func listOf(x Expr) ([]Expr, bool) {
	switch x := x.(type) {
	case List:
		return x.Items, true
	case Lit:
		if vs, ok := x.Value.([]any); ok {
			items := make([]Expr, len(vs))
			for i, v := range vs {
				items[i] = Lit{v}
			}
			return items, true
		}
	}
	return nil, false
}

// in is a IN list: one of the comparisons with its items, where an item is a time of
// another unit than a.
func (y *timeTyper) in(x Binary, a *timed, list []Expr) (*timed, *TimeError) {
	plain, items := true, []Expr{}
	var any Expr
	for _, item := range list {
		b, err := y.expr(item)
		if err != nil {
			return nil, err
		}
		eq, err := y.binary(Binary{OpEq, x.X, item})
		if err != nil {
			return nil, err
		}
		both := a.isTime() && b.isTime()
		plain = plain && b.literal == nil && (!both || a.t.Num == b.t.Num && a.t.Den == b.t.Den)
		items = append(items, b.x)
		if any == nil {
			any = eq.x
		} else {
			any = Binary{OpOr, any, eq.x}
		}
	}
	if plain && a.literal == nil || any == nil {
		return &timed{x: Binary{OpIn, a.x, keepList(x.Y, items)}, from: x}, nil
	}
	return &timed{x: any, from: x}, nil
}

// keepList is the list x, whose items did not change, unless they are expressions.
func keepList(x Expr, items []Expr) Expr {
	if _, ok := x.(Lit); ok {
		return x
	}
	return List{items}
}

// FormatTimestamp writes a moment in nanoseconds since 1970 as a literal.
func FormatTimestamp(ns int64) string {
	return "timestamp '" + string(AppendTimestamp(nil, ns, 1)) + "'"
}

// FormatDuration writes a duration in nanoseconds as a literal.
func FormatDuration(ns int64) string {
	return "duration '" + string(AppendDuration(nil, ns, 1)) + "'"
}

// AppendDuration writes n units, of `unit` nanoseconds each, as an ISO 8601 duration with days
// as the longest unit.
func AppendDuration(b []byte, n, unit int64) []byte {
	z := times(n, unit)
	if z.Sign() < 0 {
		b = append(b, '-')
		z.Neg(z)
	}
	b = append(b, 'P')
	rest := new(big.Int)
	part := func(size int64, name byte) bool {
		k := new(big.Int)
		k.QuoRem(z, big.NewInt(size), rest)
		z, rest = rest, z
		if k.Sign() == 0 {
			return false
		}
		b = append(k.Append(b, 10), name)
		return true
	}
	any := part(24*3600e9, 'D')
	if z.Sign() == 0 && any {
		return b
	}
	b = append(b, 'T')
	hours := part(3600e9, 'H')
	minutes := part(60e9, 'M')
	ns := z.Int64()
	if ns == 0 && (hours || minutes) {
		return b
	}
	b = strconv.AppendInt(b, ns/1e9, 10)
	if ns %= 1e9; ns > 0 {
		digits := fmt.Sprintf(".%09d", ns)
		for digits[len(digits)-1] == '0' {
			digits = digits[:len(digits)-1]
		}
		b = append(b, digits...)
	}
	return append(b, 'S')
}
