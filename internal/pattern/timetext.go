package pattern

import (
	"math/big"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/regex"
	"github.com/weftgraph/weft/internal/timetext"
)

// AppendTimestamp writes the moment n units, of `unit` nanoseconds each, after 1970, UTC, in
// the form of RFC 3339.
func AppendTimestamp(b []byte, n, unit int64) []byte {
	perSecond := int64(time.Second) / max(unit, 1)
	if perSecond == 0 { // units of whole seconds
		return time.Unix(n*(unit/int64(time.Second)), 0).UTC().AppendFormat(b, time.RFC3339)
	}
	s, rest := n/perSecond, n%perSecond
	if rest < 0 {
		s, rest = s-1, rest+perSecond
	}
	return time.Unix(s, rest*unit).UTC().AppendFormat(b, time.RFC3339Nano)
}

// ParseTimestamp reads a date, or a date and a time of day, as nanoseconds since 1970. Without
// a zone it is UTC. msg says what is wrong, or is "".
func ParseTimestamp(s string) (ns int64, msg string) {
	t, ok := timetext.Parse(s)
	if !ok {
		return 0, "this is not a date and time"
	}
	z := new(big.Int).Add(times(t.Unix(), int64(time.Second)), big.NewInt(int64(t.Nanosecond())))
	if !z.IsInt64() {
		return 0, "a timestamp lies between the years 1678 and 2261"
	}
	return z.Int64(), ""
}

// isoDuration is a duration as ISO 8601 has it: weeks, days, hours, minutes,
// seconds. Years and months are matched so that the error can say what is wrong.
var isoDuration = regex.Once(`^([-+]?)P(?:([\d.,]+)Y)?(?:([\d.,]+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d{1,9}))?S)?)?$`)

// ParseDuration reads an ISO 8601 duration without years and months as nanoseconds.
// msg says what is wrong.
func ParseDuration(s string) (ns int64, msg string) {
	m := isoDuration().FindStringSubmatch(strings.ToUpper(s))
	switch {
	case m == nil, strings.Join(m[2:], "") == "", strings.HasSuffix(strings.ToUpper(s), "T"):
		return 0, "this is not a duration"
	case m[2] != "" || m[3] != "":
		return 0, "years and months have no fixed length"
	}
	z := new(big.Int)
	for i, size := range []time.Duration{7 * 24 * time.Hour, 24 * time.Hour, time.Hour, time.Minute, time.Second} {
		n, _ := new(big.Int).SetString("0"+m[4+i], 10)
		z.Add(z, n.Mul(n, big.NewInt(int64(size))))
	}
	part, _ := new(big.Int).SetString((m[9] + "000000000")[:9], 10)
	z.Add(z, part)
	if m[1] == "-" {
		z.Neg(z)
	}
	if !z.IsInt64() {
		return 0, "a duration is at most 292 years"
	}
	return z.Int64(), ""
}
