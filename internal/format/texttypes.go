package format

import (
	"strconv"
)

// propType is the type of a property column; it only widens: int → float →
// string.
type propType uint8

const (
	propInt propType = iota
	propFloat
	propBool
	propString
)

var propNames = [...]string{"int", "float", "bool", "string"}

// guessTypes finds the types of ids, times and properties from the sample.
func (sp *textSpec) guessTypes(rows [][][]byte) {
	for i := range sp.cols {
		c := &sp.cols[i]
		allBool := len(rows) > 0 && !c.fixed && c.kind == colProp
		for _, row := range rows {
			if i >= len(row) {
				continue
			}
			v := row[i]
			switch c.kind {
			case colSrc, colDst, colID:
				if asked := c.fixed && c.typ == propInt; !sp.stringIDs && !asked && !isInt(v) && len(v) > 0 && !looksDamaged(v) {
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
			case colProp:
				if c.fixed || len(v) == 0 {
					continue
				}
				if b := string(v); b != "true" && b != "false" {
					allBool = false
				}
				for c.typ < propString && !c.typ.fits(v) {
					c.typ = c.typ.wider()
				}
			}
		}
		if c.kind == colProp && !c.fixed && allBool && c.typ == propString {
			c.typ = propBool
		}
	}
	sp.scale = roundScale(sp.scale)
}

// looksDamaged tells a number with something wrong about it from a name, so
// that the error is about the number.
func looksDamaged(v []byte) bool {
	for _, c := range v {
		if c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
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
		_, err := strconv.ParseFloat(bstr(v), 64)
		return err == nil
	case propBool:
		return string(v) == "true" || string(v) == "false"
	}
	return true
}

func (t propType) wider() propType {
	if t == propInt {
		return propFloat
	}
	return propString
}
