package pattern

import (
	"errors"
	"testing"
)

// timesOf are the properties of these tests. s and ms are moments, gap is a span of seconds,
// plain is a moment that the graph does not know to be one, and n is a number.
func timesOf(p Prop) TimeType {
	switch p.Key {
	case "s":
		return TimeType{Moment, 1e9, 1, true}
	case "ms":
		return TimeType{Moment, 1e6, 1, true}
	case "odd":
		return TimeType{Moment, 7e8, 1, true}
	case "gap":
		return TimeType{Span, 1e9, 1, true}
	case "plain":
		return TimeType{Moment, 1e9, 1, false}
	case "none":
		return TimeType{Kind: Missing}
	}
	return TimeType{}
}

func TestPlainTimes(t *testing.T) {
	p := &Pattern{Vertices: []Vertex{{Name: "a"}}}
	prop := func(key string) Expr { return Prop{Key: key} }
	at := func(s string) Expr {
		ns, msg := ParseTimestamp(s)
		if msg != "" {
			t.Fatal(msg)
		}
		return Lit{Timestamp{Nanos: ns, Text: "timestamp '" + s + "'"}}
	}
	long := func(s string) Expr {
		ns, msg := ParseDuration(s)
		if msg != "" {
			t.Fatal(msg)
		}
		return Lit{Duration{Nanos: ns, Text: "duration '" + s + "'"}}
	}
	op := func(o Op, x, y Expr) Expr { return Binary{o, x, y} }
	num := func(n int64) Expr { return Lit{n} }
	half := "1970-01-01T00:00:02.5Z"
	for _, c := range []struct {
		x    Expr
		want string // the expression, or an error
		t    TimeType
	}{
		{op(OpGe, prop("s"), at("1970-01-02")), "a.s >= 86400", TimeType{}},
		{op(OpLt, at("1970-01-02"), prop("ms")), "a.ms > 86400000", TimeType{}},
		{op(OpLt, prop("s"), at(half)), "a.s <= 2", TimeType{}},
		{op(OpGe, prop("s"), at(half)), "a.s > 2", TimeType{}},
		{op(OpEq, prop("s"), at(half)), "a.s <= 2 AND a.s > 2", TimeType{}},
		{op(OpNe, prop("s"), at(half)), "a.s <= 2 OR a.s > 2", TimeType{}},
		{op(OpLt, prop("s"), at("1969-12-31T23:59:58.5Z")), "a.s <= -2", TimeType{}},
		{op(OpEq, prop("s"), prop("ms")), "a.s * 1000 = a.ms", TimeType{}},
		{op(OpSub, prop("ms"), prop("s")), "a.ms - a.s * 1000", TimeType{Span, 1e6, 1, true}},
		{op(OpSub, prop("s"), prop("s")), "a.s - a.s", TimeType{Span, 1e9, 1, true}},
		{op(OpAdd, prop("s"), long("P1D")), "a.s + 86400", TimeType{Moment, 1e9, 1, true}},
		{op(OpAdd, prop("s"), long("PT0.5S")), "a.s * 1000000000 + 500000000", TimeType{Moment, 1, 1, true}},
		{op(OpLe, op(OpSub, prop("s"), prop("s")), long("PT1H")), "a.s - a.s <= 3600", TimeType{}},
		{op(OpLe, op(OpMul, prop("gap"), num(2)), long("PT1H")), "a.gap * 2 <= 3600", TimeType{}},
		{op(OpGt, prop("s"), op(OpSub, at("1970-01-02"), long("PT1S"))), "a.s > 86399", TimeType{}},
		{op(OpIn, prop("s"), List{[]Expr{at("1970-01-02"), num(5)}}), "a.s = 86400 OR a.s = 5", TimeType{}},
		{op(OpIn, prop("s"), List{[]Expr{num(5)}}), "a.s IN [5]", TimeType{}},
		{op(OpGe, prop("s"), num(7)), "a.s >= 7", TimeType{}},
		{op(OpAdd, prop("s"), num(7)), "a.s + 7", TimeType{Moment, 1e9, 1, true}},
		{op(OpMod, prop("s"), num(60)), "a.s % 60", TimeType{}},
		{op(OpMul, prop("plain"), prop("plain")), "a.plain * a.plain", TimeType{}},
		{op(OpGe, prop("plain"), Lit{"x"}), "a.plain >= 'x'", TimeType{}},
		{op(OpGe, prop("none"), at("1970-01-01T00:00:00.000000001Z")), "a.none >= 1", TimeType{}},
		{op(OpLt, op(OpAdd, prop("s"), Lit{0.25}), at(half)), "(a.s + 0.25) * 1000000000 < 2500000000", TimeType{}},

		{op(OpGe, prop("n"), at("1970-01-02")), "a timestamp is combined with the property n, which is not a time near timestamp '1970-01-02'", TimeType{}},
		{op(OpGe, prop("s"), Lit{"1970-01-02"}), "a timestamp is compared with a text near '1970-01-02'", TimeType{}},
		{op(OpGe, prop("s"), long("P1D")), "a timestamp and a duration are compared near duration 'P1D'", TimeType{}},
		{op(OpAdd, prop("s"), prop("ms")), "+ of two times has no meaning near .s", TimeType{}},
		{op(OpLt, prop("s"), prop("odd")), "the units of these times do not divide each other near .odd", TimeType{}},
		{op(OpLt, op(OpAdd, prop("s"), long("PT0.5S")), num(5)), "a number next to times of different units has no unit near 5", TimeType{}},
		{Unary{OpNeg, op(OpAdd, prop("s"), long("PT0.5S"))}, "a timestamp has no opposite near .s", TimeType{}},
	} {
		out, typ, _, err := PlainTimes(c.x, timesOf)
		got := ""
		var wrong *TimeError
		if errors.As(err, &wrong) {
			got = wrong.Msg + " near " + wrong.Near
		} else {
			got = FormatExpr(p, out)
		}
		if got != c.want || typ != c.t {
			t.Errorf("%s: %s, %v; want %s, %v", FormatExpr(p, c.x), got, typ, c.want, c.t)
		}
	}
	if _, _, assumed, _ := PlainTimes(op(OpGe, prop("plain"), at("1970-01-02")), timesOf); !assumed {
		t.Error("the unit of a plain number is assumed without a word")
	}
	if _, _, assumed, _ := PlainTimes(op(OpLt, op(OpSub, prop("plain"), prop("plain")), num(5)), timesOf); assumed {
		t.Error("plain numbers need no unit among themselves")
	}
}

func TestTimeTexts(t *testing.T) {
	for in, want := range map[string]string{
		"2024-03-10": "2024-03-10T00:00:00Z", "2024-03-10T12:30": "2024-03-10T12:30:00Z", "2024-03-10 12:30:01.25": "2024-03-10T12:30:01.25Z",
		"2024-03-10T12:00:00+02:00": "2024-03-10T10:00:00Z", "1969-12-31T23:59:59.5Z": "1969-12-31T23:59:59.5Z",
		"2024-02-30": "this is not a date and time", "now": "this is not a date and time", "9999-01-01": "a timestamp lies between the years 1678 and 2261",
	} {
		ns, msg := ParseTimestamp(in)
		if msg == "" {
			msg = string(AppendTimestamp(nil, ns, 1))
		}
		if msg != want {
			t.Errorf("%s: %s, want %s", in, msg, want)
		}
	}
	for in, want := range map[string]string{
		"PT1H30M": "PT1H30M", "P1D": "P1D", "p2w": "P14D", "PT90S": "PT1M30S", "-PT0.25S": "-PT0.25S", "P1DT1S": "P1DT1S", "PT0S": "PT0S", "PT36H": "P1DT12H",
		"P1M": "years and months have no fixed length", "P1Y2D": "years and months have no fixed length",
		"P": "this is not a duration", "PT": "this is not a duration", "P1DT": "this is not a duration", "1h": "this is not a duration", "P999999999999D": "a duration is at most 292 years",
	} {
		ns, msg := ParseDuration(in)
		if msg == "" {
			msg = string(AppendDuration(nil, ns, 1))
		}
		if msg != want {
			t.Errorf("%s: %s, want %s", in, msg, want)
		}
	}
	if got := string(AppendDuration(nil, 1<<62, 1e9)); got != "P53375995583650DT7H45M4S" {
		t.Errorf("a long duration is written as %s", got)
	}
	if got := string(AppendTimestamp(nil, 19792, 24*3600e9)); got != "2024-03-10T00:00:00Z" {
		t.Errorf("days are written as %s", got)
	}
}
