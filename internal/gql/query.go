// Package gql reads the pattern language, a read-only subset of GQL (ISO/IEC
// 39075) and openCypher's MATCH, and imports other notations: GraphFrames motif
// strings, dotmotif files, t-v-e files and edge lists. All become a
// pattern.Pattern with what is to be returned.
//
// It knows texts and positions in them. It must not know graphs, plans or
// engines: whether a label or property exists is not its question.
package gql

import (
	"errors"

	"github.com/weftgraph/weft/internal/pattern"
)

// Query is a parsed query.
type Query struct {
	Pattern *pattern.Pattern
	Return  Return
	// HasReturn is whether the text says what to return.
	HasReturn        bool
	Explain, Profile bool
	// ModeGiven: the text names the mode that Pattern has.
	ModeGiven bool
	orderAt   int    // place of ORDERED or WITHIN in Text, from 1; 0: there is none
	Watch     *Watch // CREATE WATCH; nil for a plain query
	Text      string // the text it was read from
	source    string // the text that places count from: Text, or that of the whole file
	Name      string // of the watch, file or catalogue entry; "" for a plain text
}

// Watch is CREATE WATCH name AS … EMIT ….
type Watch struct {
	Name string
	Emit Emit
}

// Emit says which changes a watch reports.
type Emit uint8

// The changes; both is the default.
const (
	EmitBoth Emit = iota
	EmitAdded
	EmitRemoved
)

// ReturnKind says what a query returns.
type ReturnKind uint8

// The kinds of RETURN.
const (
	ReturnNone          ReturnKind = iota // no RETURN
	ReturnCount                           // count(*): embeddings
	ReturnSubgraphs                       // count(DISTINCT SUBGRAPHS)
	ReturnExists                          // exists()
	ReturnItems                           // names, properties, expressions
	ReturnParticipation                   // participation(v): matches by data vertex of v
)

// Item is one column of a result.
type Item struct {
	Expr  pattern.Expr // nil for count(*) beside other items
	Name  string       // alias, or the text of the expression
	Count bool         // count(*)
	at    int          // place in Text, from 1; 0: there is none
}

// Return is the RETURN clause.
type Return struct {
	Kind    ReturnKind
	Items   []Item
	Vertex  int    // of participation
	Column  string // of participation: what AS calls it, or "participation"
	GroupBy []Item
	Limit   int64 // -1: none
	limitAt int   // place of LIMIT in Text, from 1; 0: there is none
	Sample  int64 // 0: none
	Seed    uint64
	HasSeed bool
	// EstimateWithin is the relative error asked for, 0.02 for 2 %; 0: exact.
	EstimateWithin float64
}

// Connected reports whether positive edges connect all vertices of the pattern.
func (q *Query) Connected() bool { return q.Pattern.Connected() }

// CheckConnected returns a *Disconnected unless the pattern is connected.
func (q *Query) CheckConnected() error {
	if q.Pattern.Connected() {
		return nil
	}
	for v, c := range q.Pattern.Components() {
		if c != 0 {
			return &Disconnected{q.Pattern.VertexName(0), q.Pattern.VertexName(v)}
		}
	}
	return nil
}

// AtOrder is an error about the query's ORDERED or WITHIN, at its place in the text.
// Without a clause of its own, as for patterns of the catalogue, it has no place.
func (q *Query) AtOrder(msg string) error {
	return q.errorAt(q.orderAt, msg)
}

// AtItem is an error about an item of what the query returns, at its place in the
// text.
func (q *Query) AtItem(item Item, msg string) error { return q.errorAt(item.at, msg) }

// AtLimit is an error about the query's LIMIT, at its place in the text.
func (q *Query) AtLimit(msg string) error { return q.errorAt(q.Return.limitAt, msg) }

// errorAt is an error at a place, from 1; 0: nowhere.
func (q *Query) errorAt(place int, msg string) error {
	if place == 0 {
		return errors.New(msg)
	}
	return errorAt(q.source, place-1, msg)
}

// NotYet returns an *Unsupported where q uses a construct that is parsed and
// not yet run, and nil otherwise.
func NotYet(q *Query) error {
	r := &q.Return
	switch {
	case r.EstimateWithin != 0:
		return &Unsupported{Construct: "ESTIMATE"}
	case r.Sample != 0:
		return &Unsupported{Construct: "SAMPLE"}
	case len(r.GroupBy) > 0 && r.Kind != ReturnParticipation:
		return q.notYet(r.GroupBy[0].at, "GROUP BY without participation")
	case q.Watch != nil:
		return &Unsupported{Construct: "CREATE WATCH"}
	}
	for _, item := range r.GroupBy {
		if !about(item.Expr, r.Vertex) {
			return q.notYet(item.at, "GROUP BY something else than what is known of "+q.Pattern.VertexName(r.Vertex)+", whose participation is counted")
		}
	}
	return notYetPattern(q.Pattern)
}

// about reports whether x is about vertex v alone.
func about(x pattern.Expr, v int) bool {
	for _, r := range pattern.Refs(x) {
		if r != (pattern.Ref{Kind: pattern.VertexRef, Index: v}) {
			return false
		}
	}
	return true
}

// notYet is the error of a construct at a place in the text, from 1; 0: nowhere.
func (q *Query) notYet(place int, construct string) error {
	e := &Unsupported{Construct: construct}
	if place > 0 {
		e.At = errorAt(q.source, place-1, "not yet: "+construct)
	}
	return e
}

func notYetPattern(p *pattern.Pattern) error {
	for i := range p.Edges {
		if e := &p.Edges[i]; e.Min != 1 || e.Max != 1 {
			return &Unsupported{Construct: "variable-length edges"}
		}
	}
	var err error
	for _, w := range p.Where {
		pattern.Walk(w, func(x pattern.Expr) bool {
			if x, ok := x.(pattern.Exists); ok && err == nil {
				err = notYetPattern(x.Sub)
			}
			return err == nil
		})
	}
	return err
}
