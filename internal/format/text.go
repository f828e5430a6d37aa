package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

type colKind uint8

const (
	colSkip colKind = iota
	colSrc
	colDst
	colID // of a vertex table
	colLabel
	colTime
	colProp
	colDirection // Directed or Undirected, the same in each line
)

type column struct {
	kind  colKind
	name  string
	typ   propType
	fixed bool // the user gave the type
	time  timeType
	// unseen: the first lines have no value of a column whose type is guessed.
	unseen bool
	// against is the value for which the column is text although it looks like numbers. It is a
	// whole number that a float would round, digits after a zero, or a number with a comma.
	against string
}

// textSpec is how the lines of a text table are to be read.
type textSpec struct {
	sep       byte // 0: runs of blanks and tabs
	cols      []column
	extra     bool // lines may have more fields than cols: they are ignored
	stringIDs bool
	scale     int  // times are integers of 10^-scale units
	iso       bool // times are ISO 8601: microseconds since 1970
	start     int64
	count     int64 // data lines promised by a first line; -1: none
	triples   bool  // "count, then head tail relation"
	header    []string
	own       bool   // weft's own comment names the columns
	konect    bool   // the third and fourth columns are weight and time
	lo, span  uint64 // ids must be in [lo, lo+span)
	missing   missing
	padded    bool  // ids may begin with zeros, and are the numbers
	ends      *ends // the ends that the file's column names state, or nil
	names     []string
	direction Direction // of the column of directions
	relation  bool      // head, relation and tail, found by their values
	sizes     *sizes    // the sizes that the first line states, or nil
	apart     bool      // that line has not the fields of an edge
}

// sizes are the two numbers of a first line that may be numbers of vertices and edges.
type sizes struct{ vertices, edges uint64 }

// role says which columns a text table must have.
type role uint8

const (
	edgeRole role = iota
	vertexRole
)

// splitType cuts the type or unit off name:type. known is false if the text after the colon is
// neither.
func splitType(name string) (base string, c column, known bool) {
	colon := strings.LastIndexByte(name, ':')
	if colon <= 0 {
		return name, c, true
	}
	t := name[colon+1:]
	switch unit, isUnit := parseTimeType(t); {
	case slices.Contains(propNames[:], t):
		c.typ, c.fixed = propType(slices.Index(propNames[:], t)), true
	case t == "float64" || t == "double":
		c.typ, c.fixed = propFloat, true
	case t == "int64" || t == "long":
		c.typ, c.fixed = propInt, true
	case isUnit:
		c.time = unit
	default:
		return name, c, false
	}
	return name[:colon], c, true
}

// typeError says why the type in an item of --columns cannot be.
func typeError(name string, r role) error {
	base, t, _ := strings.Cut(name, ":")
	if kindOf(base, r) == colTime {
		return wrapf(ErrColumns, "column %q: unknown unit %q; known are s, ms, us, ns, d and 1e-1 to 1e-18", base, t)
	}
	return wrapf(ErrColumns, "column %q: unknown type %q; known are int, float, string, bool, timestamp", base, t)
}

// konectHeader returns the words of a `% sym|asym|bip …` first line.
func konectHeader(t []byte) []string {
	if len(t) < 2 || t[0] != '%' {
		return nil
	}
	line, _, _ := bytes.Cut(t, newline)
	w := strings.Fields(strings.TrimLeft(string(line), "% "))
	if len(w) >= 1 && len(w) <= 4 && (w[0] == "sym" || w[0] == "asym" || w[0] == "bip") {
		return w
	}
	return nil
}

// fieldsOf splits a line; quotes count only where there is a separator.
func fieldsOf(line []byte, sep byte) [][]byte {
	line = bytes.TrimRight(line, "\r")
	if sep == 0 {
		return bytes.Fields(line)
	}
	var f [][]byte
	for {
		line = bytes.TrimLeft(line, " ")
		if len(line) > 0 && line[0] == '"' {
			v, rest, ok := unquote(line)
			if ok && (len(rest) == 0 || rest[0] == sep) {
				f = append(f, v)
				if len(rest) == 0 {
					return f
				}
				line = rest[1:]
				continue
			}
		}
		i := bytes.IndexByte(line, sep)
		if i < 0 {
			return append(f, bytes.Trim(line, " \t"))
		}
		f = append(f, bytes.Trim(line[:i], " "))
		line = line[i+1:]
	}
}

// unquote reads a quoted field at the start of b; a doubled quote is a quote.
func unquote(b []byte) (v, rest []byte, ok bool) {
	plain := true
	for i := 1; i < len(b); i++ {
		if b[i] != '"' {
			continue
		}
		if i+1 < len(b) && b[i+1] == '"' {
			plain = false
			i++
			continue
		}
		v = b[1:i]
		if !plain {
			v = bytes.ReplaceAll(v, []byte(`""`), []byte(`"`))
		}
		return v, bytes.TrimLeft(b[i+1:], " "), true
	}
	return nil, nil, false
}

func isComment(line []byte) bool {
	return len(line) > 0 && (line[0] == '#' || line[0] == '%')
}

// describe gives the columns as --columns takes them.
func (sp *textSpec) describe() string {
	var b strings.Builder
	for i, c := range sp.cols {
		if i > 0 {
			b.WriteByte(',')
		}
		switch c.kind {
		case colSkip, colDirection:
			b.WriteByte('_')
		case colSrc:
			b.WriteString("src")
		case colDst:
			b.WriteString("dst")
		case colID:
			b.WriteString("id")
		case colLabel:
			b.WriteString("label")
		case colTime:
			b.WriteString("time")
			if t, _ := c.time.name(); t != "" {
				b.WriteString(":" + t)
			}
		case colProp:
			fmt.Fprintf(&b, "%s:%s", c.name, propNames[c.typ])
		}
		if sp.stringIDs && (c.kind == colSrc || c.kind == colID) {
			b.WriteString(":string")
		}
	}
	return b.String()
}
