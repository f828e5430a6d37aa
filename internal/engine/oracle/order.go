package oracle

import (
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/graph"
)

// inTime decides ORDERED and WITHIN for the chosen data edges. Each edge named in the order
// must be strictly later than the one before it, and no two may be further apart than the
// bound. Without an order the bound is about all chosen edges.
func (s *search) inTime() bool {
	o := s.p.Order
	if o == nil {
		return true
	}
	edges := o.Edges
	if len(edges) == 0 {
		edges = s.choices
	}
	var times []any
	for _, i := range edges {
		times = append(times, s.time(s.chosen[i]))
	}
	if slices.Contains(times, nil) {
		return false
	}
	for i := range times {
		if i > 0 && len(o.Edges) > 0 {
			if c, ok := compare(times[i-1], times[i]); !ok || c >= 0 {
				return false
			}
		}
		for j := range times {
			if o.Within != 0 && !s.near(times[i], times[j]) {
				return false
			}
		}
	}
	return true
}

// time is the time of a data edge: the property that the order names, or else the
// graph's times, or a property that is called as these are.
func (s *search) time(d *edge) any {
	switch on := s.p.Order.On; {
	case on != "":
		return d.props[on]
	case d.time != nil:
		return d.time
	}
	for _, name := range graph.TimeNames {
		if s.w.hasProp(name) {
			return d.props[name]
		}
	}
	return nil
}

// near reports whether b is at most the bound later than a.
func (s *search) near(a, b any) bool {
	x, ok1 := exact(a)
	y, ok2 := exact(b)
	if !ok1 || !ok2 {
		return false
	}
	gap := y.Sub(y, x)
	if s.p.Order.Duration {
		gap.Mul(gap, s.w.unit(s.p.Order.On))
	}
	return gap.Cmp(new(big.Rat).SetInt64(s.p.Order.Within)) <= 0
}

// exact is a number as a fraction.
func exact(x any) (*big.Rat, bool) {
	switch x := x.(type) {
	case timed:
		return exact(x.raw)
	case int64:
		return new(big.Rat).SetInt64(x), true
	case float64:
		r := new(big.Rat).SetFloat64(x)
		return r, r != nil
	}
	return nil, false
}

func (w *world) hasProp(name string) bool {
	return w.g.Edges != nil && w.g.Edges.Props != nil && len(w.g.Edges.Props.Schema().FieldIndices(name)) > 0
}

// unit is the nanoseconds in one unit of the property that the order is on.
func (w *world) unit(on string) *big.Rat {
	if w.hasProp(on) {
		t := w.g.Edges.Props.Schema().Field(w.g.Edges.Props.Schema().FieldIndices(on)[0]).Type
		if u := unitOf(t); u != nil {
			return u
		}
	}
	num, den, _ := w.g.TimeUnit()
	return big.NewRat(num, den)
}

// unitOf is the nanoseconds in one unit of a type of times; nil for other types.
func unitOf(t arrow.DataType) *big.Rat {
	switch t := t.(type) {
	case *arrow.TimestampType:
		return new(big.Rat).SetInt64(int64(t.Unit.Multiplier()))
	case *arrow.DurationType:
		return new(big.Rat).SetInt64(int64(t.Unit.Multiplier()))
	case *arrow.Date32Type:
		return new(big.Rat).SetInt64(24 * 3600e9)
	case *arrow.Date64Type:
		return new(big.Rat).SetInt64(1e6)
	}
	return nil
}
