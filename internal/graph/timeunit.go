package graph

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

// TimeUnit returns the length of one unit of the edges' times, num/den
// nanoseconds. Times of an input that does not say their unit are taken as
// seconds, as in Unix times; then said is false.
func (g *Graph) TimeUnit() (num, den int64, said bool) {
	num, den, said = g.Read.TimeUnit, 1, g.Read.TimeUnit > 0
	if !said {
		num = 1e9
	}
	for range min(g.Read.TimeDigits, 18) {
		den *= 10
	}
	return num, den, said
}

// TimeColumn says whether a property is a time, and in which unit.
type TimeColumn struct {
	Exists   bool  // there is such a property
	Moment   bool  // it counts from a fixed moment
	Span     bool  // it is the time between two moments
	Num, Den int64 // of a time: one unit is Num/Den nanoseconds
	Known    bool  // the graph says that it is a time, and its unit; else it may be plain numbers
}

// VertexTime returns the unit of a vertex property that is a time.
func (g *Graph) VertexTime(key string) TimeColumn { return timeColumn(g.VertexProps, key) }

// TimeKeys are the names under which the edges' times are a property, where no other
// property has the name.
func (g *Graph) TimeKeys() []string {
	if g.Read.TimeName == "" {
		return TimeNames
	}
	return append(slices.Clone(TimeNames), g.Read.TimeName)
}

// EdgeTime returns the unit of an edge property that is a time. The edges' times are also found
// under each of TimeKeys that is not the name of a property.
func (g *Graph) EdgeTime(key string) TimeColumn {
	if g.Edges == nil {
		return TimeColumn{}
	}
	if c := timeColumn(g.Edges.Props, key); c.Exists || g.Edges.Time == nil || !slices.Contains(g.TimeKeys(), key) {
		return c
	}
	num, den, said := g.TimeUnit()
	return TimeColumn{Exists: true, Moment: true, Num: num, Den: den, Known: said && g.Read.TimeEpoch}
}

func timeColumn(rec arrow.RecordBatch, key string) TimeColumn {
	if rec == nil {
		return TimeColumn{}
	}
	at := rec.Schema().FieldIndices(key)
	if len(at) == 0 {
		return TimeColumn{}
	}
	unit, span := TypeUnit(rec.Schema().Field(at[0]).Type)
	return TimeColumn{Exists: true, Moment: unit > 0 && !span, Span: span, Num: unit, Den: 1, Known: unit > 0}
}

// TypeUnit returns the length of one unit of an Arrow type that is a time, in nanoseconds, or 0
// for other types. span says whether the type is the time between two moments.
func TypeUnit(t arrow.DataType) (unit int64, span bool) {
	switch t := t.(type) {
	case *arrow.TimestampType:
		return int64(t.Unit.Multiplier()), false
	case *arrow.Date32Type:
		return 24 * 3600e9, false
	case *arrow.Date64Type:
		return 1e6, false
	case *arrow.DurationType:
		return int64(t.Unit.Multiplier()), true
	}
	return 0, false
}
