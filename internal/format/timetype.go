package format

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/graph"
)

// timeType is the type of a column of times, as in time:ms. unit is the length of one unit in
// nanoseconds; 0 means not said. The numbers hold digits decimal digits of a unit: they are
// integers of 10^-digits units.
type timeType struct {
	unit   int64
	digits int
	epoch  bool // the times count from 1970
}

var timeUnits = []struct {
	name string
	ns   int64
}{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"d", 24 * 3600e9}}

// mostTimeDigits is the most digits that a type may name: 10^18 fits in 63 bits.
const mostTimeDigits = 18

// sinceEpoch comes before the unit of times that count from 1970.
const sinceEpoch = "unix_"

// parseTimeType reads the name of a unit, unix_ and a unit for times that count from
// 1970, or 1e-N for integers of 10^-N of a unit that is not said.
func parseTimeType(s string) (timeType, bool) {
	unit, epoch := strings.CutPrefix(s, sinceEpoch)
	for _, u := range timeUnits {
		if unit == u.name {
			return timeType{unit: u.ns, epoch: epoch}, true
		}
	}
	if d, ok := strings.CutPrefix(s, "1e-"); ok {
		n, err := strconv.Atoi(d)
		return timeType{digits: n}, err == nil && n > 0 && n <= mostTimeDigits
	}
	return timeType{}, false
}

// name returns the name that parseTimeType reads. "" means that the type does not say. ok is false if there is
// no such name.
func (t timeType) name() (name string, ok bool) {
	if t.unit == 0 {
		if t.digits > 0 {
			name = fmt.Sprintf("1e-%d", t.digits)
		}
		return name, t.digits <= mostTimeDigits
	}
	for range t.digits {
		if t.unit%10 != 0 {
			return "", false
		}
		t.unit /= 10
	}
	for _, u := range timeUnits {
		if t.unit == u.ns && t.epoch {
			return sinceEpoch + u.name, true
		}
		if t.unit == u.ns {
			return u.name, true
		}
	}
	return "", false
}

// timeTypeOf is the type of the graph's times.
func timeTypeOf(g *graph.Graph) timeType {
	return timeType{g.Read.TimeUnit, g.Read.TimeDigits, g.Read.TimeEpoch}
}

// timeColumn names the column of the graph's times with its type.
func timeColumn(g *graph.Graph) string {
	if name, _ := timeTypeOf(g).name(); name != "" {
		return "time:" + name
	}
	if unit, _ := unixUnit(g); unit.ns > 0 { // plain numbers that look like Unix times
		return "time:" + propNames[propInt]
	}
	return "time"
}
