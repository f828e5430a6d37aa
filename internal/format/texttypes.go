package format

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"strconv"

	"github.com/weftgraph/weft/internal/regex"
)

// propType is the type of a property column; it only widens: int → float →
// string.
type propType uint8

const (
	propInt propType = iota
	propFloat
	propBool
	propString
	propTimestamp // never guessed
)

var propNames = [...]string{"int", "float", "bool", "string", "timestamp"}

// guessTypes finds the types of ids, times and properties from the sample.
func (sp *textSpec) guessTypes(rows [][][]byte) {
	for i := range sp.cols {
		c := &sp.cols[i]
		if c.kind == colProp && !c.fixed {
			sp.guessProp(c, i, rows)
			continue
		}
		for _, row := range rows {
			if i >= len(row) {
				continue
			}
			v := row[i]
			switch c.kind {
			case colSrc, colDst, colID:
				if asked := c.fixed && c.typ == propInt; !sp.stringIDs && !asked && (!isInt(v) || isPadded(v) && !sp.padded) && len(v) > 0 {
					sp.stringIDs = true
				}
			case colTime:
				if sp.iso {
					continue
				}
				if _, d, err := parseFixed(v, 0); err == nil {
					sp.scale = max(sp.scale, d)
				} else if _, err := parseISO(v); err == nil { // its unit is its own, whatever the column's type
					sp.iso = true
				}
			}
		}
	}
	sp.scale = roundScale(sp.scale)
}

// guessProp finds the type of the property column c, at place i of rows.
func (sp *textSpec) guessProp(c *column, i int, rows [][][]byte) {
	seen, truths := false, true
	each := func(f func(v []byte)) {
		for _, row := range rows {
			if i < len(row) && len(row[i]) > 0 && !sp.missing.is(row[i], propInt) {
				f(row[i])
			}
		}
	}
	each(func(v []byte) {
		seen = true
		_, truth := parseTruth(v)
		truths = truths && truth
		for c.typ < propString && !c.typ.fits(v) {
			c.typ = c.typ.wider()
		}
	})
	c.unseen = !seen
	if c.typ == propString && truths {
		c.typ = propBool
	}
	if c.typ <= propFloat {
		each(func(v []byte) {
			if isPadded(v) {
				c.typ, c.against = propString, string(v)
			}
		})
	}
	if c.typ == propFloat || c.typ == propString && c.against == "" { // whole numbers before a fraction fit too?
		numbers := true
		each(func(v []byte) {
			_, err := parseFloat(v)
			numbers = numbers && (err == nil || errors.Is(err, errRounded))
			if errors.Is(err, errRounded) && c.against == "" {
				c.against = string(v)
			}
		})
		switch {
		case !numbers:
			c.against = ""
		case c.against != "":
			c.typ = propString
		}
	}
	if c.typ == propString && c.against == "" {
		numbers := true
		each(func(v []byte) {
			switch comma := commaNumber().Match(v); {
			case comma && c.against == "":
				c.against = string(v)
			case !comma && !isNumber(v):
				numbers = false
			}
		})
		if !numbers {
			c.against = ""
		}
	}
}

// commaNumber matches numbers with a comma, before the fraction or between thousands,
// which are not read as numbers.
var commaNumber = regex.Once(`^[+-]?([0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?|([0-9]{1,3}(\.[0-9]{3})+|[0-9]+),[0-9]+)$`)

// parseTruth reads a truth value in the usual cases.
func parseTruth(v []byte) (truth, ok bool) {
	switch string(v) {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// errRounded says that a float64 does not hold a whole number.
var errRounded = errors.New("a whole number that a floating-point number cannot hold")

// errPadded says that digits after a zero, as of a postal code, are not a number.
var errPadded = errors.New("digits that begin with a zero")

// parseFloat reads a floating-point number. A whole number that it would round is
// an error: two that differ must not become one.
func parseFloat(v []byte) (float64, error) {
	x, err := strconv.ParseFloat(bstr(v), 64)
	if err != nil || math.Abs(x) < 1<<53 {
		return x, err
	}
	digits := bytes.TrimPrefix(v, []byte{'+'})
	if !isInt(digits) {
		return x, nil
	}
	whole, _ := new(big.Int).SetString(string(digits), 10)
	if held, _ := big.NewFloat(x).Int(nil); held.Cmp(whole) != 0 {
		return x, errRounded
	}
	return x, nil
}

// roundScale makes a number of digits after the point a usual unit.
func roundScale(d int) int {
	if d == 0 || d > 9 {
		return d
	}
	return (d + 2) / 3 * 3
}

func (t propType) fits(v []byte) bool {
	switch t {
	case propInt:
		_, err := strconv.ParseInt(bstr(v), 10, 64)
		return err == nil
	case propFloat:
		_, err := parseFloat(v)
		return err == nil
	case propBool:
		_, ok := parseTruth(v)
		return ok
	}
	return true
}

func (t propType) wider() propType {
	if t == propInt {
		return propFloat
	}
	return propString
}
