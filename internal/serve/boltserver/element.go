package boltserver

import (
	"strconv"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// node appends a vertex. Its element id is the user's id. So is its id where that is a number; otherwise it is the vertex's place in the graph.
func node(e *packstream.Encoder, v weft.Element) {
	e.Struct(packstream.TagNode, 4)
	id := v.ID()
	e.Int(number(v, id))
	labels := v.Labels()
	e.List(len(labels))
	for _, l := range labels {
		e.String(l)
	}
	properties(e, v)
	name(e, id)
}

// relationship appends an edge. Its id is its place in the graph.
func relationship(e *packstream.Encoder, x weft.Element) {
	from, to := x.Ends()
	a, b := from.ID(), to.ID()
	e.Struct(packstream.TagRelationship, 8)
	e.Int(int64(x.Number()))
	e.Int(number(from, a))
	e.Int(number(to, b))
	kind := ""
	if l := x.Labels(); len(l) > 0 {
		kind = l[0]
	}
	e.String(kind)
	properties(e, x)
	e.String(strconv.FormatUint(x.Number(), 10))
	name(e, a)
	name(e, b)
}

func number(v weft.Element, id any) int64 {
	if n, ok := id.(int64); ok {
		return n
	}
	return int64(v.Number())
}

// name appends the element id of a vertex.
func name(e *packstream.Encoder, id any) {
	if n, ok := id.(int64); ok {
		var b [20]byte
		e.String(string(strconv.AppendInt(b[:0], n, 10)))
		return
	}
	s, _ := id.(string)
	e.String(s)
}

// properties appends the properties that an element has. Their number is not known before they are read: up to 15 fit the marker, which
// is written first.
func properties(e *packstream.Encoder, x weft.Element) {
	at := len(e.Bytes)
	e.Map(0)
	n := 0
	for key, value := range x.Properties() {
		e.String(key)
		encode(e, value)
		n++
	}
	e.Resize(at, n)
}
