package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/graph"
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
)

type column struct {
	kind  colKind
	name  string
	typ   propType
	fixed bool // the user gave the type
	time  timeType
	// unseen: the first lines have no value of a column whose type is guessed.
	unseen bool
	// rounded is a whole number for which the column cannot be float.
	rounded string
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
}

// role says which columns a text table must have.
type role uint8

const (
	edgeRole role = iota
	vertexRole
)

// Names that a header may give to the columns that weft knows.
var columnNames = map[string]colKind{
	"src": colSrc, "source": colSrc, "from": colSrc, "fromnodeid": colSrc, "from_id": colSrc, "source_id": colSrc,
	"src_id": colSrc, "head": colSrc, "start": colSrc, ":start_id": colSrc, "u": colSrc, "tail_node": colSrc, "node1": colSrc, "id1": colSrc,
	"dst": colDst, "target": colDst, "to": colDst, "tonodeid": colDst, "to_id": colDst, "target_id": colDst, "dest": colDst,
	"dst_id": colDst, "destination": colDst, "tail": colDst, "end": colDst, ":end_id": colDst, "v": colDst, "node2": colDst, "id2": colDst,
	"label": colLabel, "type": colLabel, "relation": colLabel, "rel": colLabel, "predicate": colLabel, ":type": colLabel, "edge_label": colLabel,
	"_": colSkip,
}

var vertexNames = map[string]colKind{
	"id": colID, "vertex": colID, "node": colID, "node_id": colID, "nodeid": colID, "vertex_id": colID, "id:id": colID, ":id": colID, "v": colID,
	"label": colLabel, "labels": colLabel, ":label": colLabel, "type": colLabel,
	"_": colSkip,
}

// kindOf finds what a column of that name is.
func kindOf(name string, r role) colKind {
	m := columnNames
	if r == vertexRole {
		m = vertexNames
	}
	name = strings.ToLower(strings.TrimSpace(name))
	if k, ok := m[name]; ok {
		return k
	}
	if r == edgeRole && slices.Contains(graph.TimeNames, name) {
		return colTime
	}
	return colProp
}

// namedColumn reads one item of --columns, or of a header.
func namedColumn(name string, r role, typed bool) (column, bool, error) {
	c := column{}
	stringID := false
	if typed {
		if colon := strings.LastIndexByte(name, ':'); colon > 0 {
			base, t := name[:colon], name[colon+1:]
			i := slices.Index(propNames[:], t)
			unit, isUnit := parseTimeType(t)
			switch {
			case isUnit && kindOf(base, r) == colTime:
				c.time, name = unit, base
			case i >= 0:
				c.typ, c.fixed = propType(i), true
				stringID = propType(i) == propString
				name = base
			case t == "float64" || t == "double":
				c.typ, c.fixed, name = propFloat, true, base
			case t == "int64" || t == "long":
				c.typ, c.fixed, name = propInt, true, base
			case kindOf(base, r) == colTime:
				return c, false, wrapf(ErrColumns, "column %q: unknown unit %q; known are s, ms, us, ns, d and 1e-1 to 1e-18", base, t)
			default:
				return c, false, wrapf(ErrColumns, "column %q: unknown type %q; known are int, float, string, bool", base, t)
			}
		}
	}
	c.kind = kindOf(name, r)
	c.name = strings.TrimSpace(name)
	isID := c.kind == colSrc || c.kind == colDst || c.kind == colID
	return c, stringID && isID, nil
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
		case colSkip:
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
