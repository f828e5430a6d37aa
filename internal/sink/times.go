package sink

import (
	"math"
	"math/big"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// Instant is a moment: N units after 1970, UTC.
type Instant struct {
	N    int64
	Unit arrow.TimeUnit
}

// Time is the moment as Go has it.
func (t Instant) Time() time.Time { return arrow.Timestamp(t.N).ToTime(t.Unit) }

// String is the moment as RFC 3339 has it.
func (t Instant) String() string { return string(t.append(nil)) }

func (t Instant) append(b []byte) []byte {
	return pattern.AppendTimestamp(b, t.N, int64(t.Unit.Multiplier()))
}

// Span is the time between two moments: N units.
type Span struct {
	N    int64
	Unit arrow.TimeUnit
}

// Duration is the span as Go has it; not ok where that has no room for it.
func (t Span) Duration() (d time.Duration, ok bool) {
	size := int64(t.Unit.Multiplier())
	return time.Duration(t.N * size), t.N <= math.MaxInt64/size && t.N >= math.MinInt64/size
}

// String is the span as ISO 8601 has it.
func (t Span) String() string { return string(t.append(nil)) }

func (t Span) append(b []byte) []byte {
	return pattern.AppendDuration(b, t.N, int64(t.Unit.Multiplier()))
}

// GoValue returns a value as Go has it: an Instant becomes a time.Time, and a Span a time.Duration or, if it does not fit, a string.
func GoValue(x any) any {
	switch x := x.(type) {
	case Instant:
		return x.Time()
	case Span:
		if d, ok := x.Duration(); ok {
			return d
		}
		return x.String()
	}
	return x
}

// timeValues turns numbers in t's units into Instants or Spans, and returns the type and the
// unit of the column. ok is false if t is not known to be a time, or its unit is one that Arrow
// does not have.
func timeValues(t pattern.TimeType, f valueFunc) (Type, arrow.TimeUnit, valueFunc, bool) {
	if !t.Known || t.Kind != pattern.Moment && t.Kind != pattern.Span {
		return 0, 0, nil, false
	}
	for _, unit := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond} {
		per := new(big.Rat).SetFrac(big.NewInt(t.Num), big.NewInt(t.Den))
		per.Quo(per, new(big.Rat).SetInt64(int64(unit.Multiplier())))
		if !per.IsInt() || !per.Num().IsInt64() {
			continue
		}
		k := per.Num().Int64()
		return map[bool]Type{true: Timestamp, false: Duration}[t.Kind == pattern.Moment], unit, func(m []uint32, e []uint64) any {
			x := f(m, e)
			n, ok := x.(int64)
			if ok {
				n, ok = pattern.IntArithmetic(pattern.OpMul, n, k)
			}
			if !ok { // NULL, or a number that left the range of times
				return x
			}
			if t.Kind == pattern.Moment {
				return Instant{n, unit}
			}
			return Span{n, unit}
		}, true
	}
	return 0, 0, nil, false
}

// timeColumn is a column of times, or of reader's values if t is not a time.
func timeColumn(name string, typ Type, t pattern.TimeType, f valueFunc) Column {
	if known, unit, values, ok := timeValues(t, f); ok {
		c := Value(name, known, values)
		c.unit = unit
		return c
	}
	c := Value(name, typ, f)
	c.data = true
	return c
}

// edgeTimes returns the unit of g's edge times.
func edgeTimes(g *graph.Graph) pattern.TimeType {
	num, den, said := g.TimeUnit()
	return pattern.TimeType{Kind: pattern.Moment, Num: num, Den: den, Known: said && g.Read.TimeEpoch}
}
