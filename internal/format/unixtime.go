package format

import (
	"math"
	"time"

	"github.com/weftgraph/weft/internal/graph"
)

// Times of these seconds since 1970 look like Unix times: 1989 to 2103. Times in
// milliseconds then have 12 or 13 digits, so that no two units overlap.
const firstUnix, endUnix = 6e8, 4.2e9

// looksUnix reports whether x looks like a Unix time. x is an integer of 10^-digits units, and
// unit is the length of a unit in nanoseconds.
func looksUnix(x, unit int64, digits int) bool {
	s := float64(x) * float64(unit) / 1e9 / math.Pow10(digits)
	return s >= firstUnix && s < endUnix
}

// unixUnits are the units of Unix times.
var unixUnits = []timeUnitName{{1e9, "s", "seconds"}, {1e6, "ms", "milliseconds"}, {1e3, "us", "microseconds"}, {1, "ns", "nanoseconds"}}

type timeUnitName struct {
	ns         int64
	name, long string
}

// unixUnit is the unit in which all times of g, whose unit is not known, look like
// Unix times; its ns is 0 where there is none. last is the unit in which the last of
// them does.
func unixUnit(g *graph.Graph) (all, last timeUnitName) {
	if g.Read.TimeUnit > 0 {
		return all, last
	}
	first, end := timeRange(g)
	for _, u := range unixUnits {
		if looksUnix(end, u.ns, g.Read.TimeDigits) {
			last = u
			if looksUnix(first, u.ns, g.Read.TimeDigits) {
				all = u
			}
		}
	}
	return all, last
}

// timeRange is the first and the last of the edges' times.
func timeRange(g *graph.Graph) (first, last int64) {
	for i, t := range g.Edges.Time {
		if i == 0 {
			first, last = t, t
		}
		first, last = min(first, t), max(last, t)
	}
	return first, last
}

// recogniseTimes decides by the magnitude of all times of g whether they count from
// 1970, and in which unit where the input does not say it.
func (r *reading) recogniseTimes(g *graph.Graph) {
	s := &g.Read
	if g.Edges == nil || len(g.Edges.Time) == 0 || s.TimeEpoch || r.plainTimes {
		return
	}
	first, last := timeRange(g)
	if s.TimeUnit > 0 {
		s.TimeEpoch = looksUnix(first, s.TimeUnit, s.TimeDigits) && looksUnix(last, s.TimeUnit, s.TimeDigits)
		return
	}
	switch u, some := unixUnit(g); {
	case u.ns > 0:
		s.TimeUnit, s.TimeEpoch = u.ns, true
		day := func(x int64) string {
			return time.Unix(int64(float64(x)*float64(u.ns)/1e9/math.Pow10(s.TimeDigits)), 0).UTC().Format(time.DateOnly)
		}
		r.note("times are taken as Unix times in %s, from %s to %s: all look like it (time:unix_%s says so, time:int keeps plain numbers)",
			u.long, day(first), day(last), u.name)
	case some.ns > 0 && some.ns < 1e9:
		r.note("times up to %d look like Unix times in %s, but not all do: they are plain numbers, and a duration counts as seconds (time:%s says otherwise)",
			last, some.long, some.name)
	}
}
