// Package gql reads the pattern language and makes a pattern.Pattern and the items to return.
// The language is a read-only subset of GQL (ISO/IEC 39075) and of openCypher's MATCH. The
// package also reads other notations: GraphFrames motifs, DotMotif files, t-v-e files and edge
// lists.
//
// It knows texts and positions in them. It must not know graphs, plans or engines: it does not
// ask whether a label or a property exists.
package gql

import (
	"errors"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// Query is a parsed query.
type Query struct {
	Pattern *pattern.Pattern
	Return  Return
	// HasReturn reports whether the text has a RETURN.
	HasReturn        bool
	Explain, Profile bool
	// ModeGiven: the text names the mode that Pattern has.
	ModeGiven bool
	orderAt   int    // place of ORDERED or WITHIN in source, from 1; 0: there is none
	watchAt   int    // of CREATE WATCH
	explainAt int    // of EXPLAIN or PROFILE
	starAt    int    // of the first edge of variable length
	Watch     *Watch // CREATE WATCH; nil for a plain query
	Text      string // the text it was read from
	source    string // the text in which places are counted: Text, or the text of the whole file
	Name      string // of the watch, file or catalogue entry; "" for a plain text
}

// Watch is CREATE WATCH name AS … EMIT ….
type Watch struct {
	Name   string
	Emit   Emit
	nameAt int // place of the name in the query's source, from 1
}

// Emit says which changes a watch reports.
type Emit uint8

// The changes; both is the default.
const (
	EmitBoth Emit = iota
	EmitAdded
	EmitRemoved
)

// ReturnKind is the kind of a query's RETURN.
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
	Expr  pattern.Expr // nil for count(*) with other items
	Name  string       // alias, or the text of the expression
	Count bool         // count(*)
	at    int          // place in the query's source, from 1; 0: there is none
}

// Return is the RETURN clause.
type Return struct {
	Kind    ReturnKind
	Items   []Item
	Vertex  int    // of participation
	Column  string // of a total: its name by AS, or its text; of participation without AS "participation"
	GroupBy []Item
	Limit   int64 // -1: none
	at      int   // place of RETURN in the query's source, from 1; 0: there is none
	limitAt int   // place of LIMIT in the query's source, from 1; 0: there is none
	Sample  int64 // 0: none
	Seed    uint64
	HasSeed bool

	sampleAt, estimateAt int // places, as limitAt
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

// AtWatch is an error about the query's CREATE WATCH, at its place in the text.
func (q *Query) AtWatch(msg string) error { return q.errorAt(q.watchAt, msg) }

// AtExplain is an error about the query's EXPLAIN or PROFILE, at its place in the text.
func (q *Query) AtExplain(msg string) error { return q.errorAt(q.explainAt, msg) }

// AtWatchName is an error about the name of the query's CREATE WATCH, at its place in the text.
func (q *Query) AtWatchName(msg string) error { return q.errorAt(q.Watch.nameAt, msg) }

// AtItem is an error about an item of RETURN, at its place in the text.
func (q *Query) AtItem(item Item, msg string) error { return q.errorAt(item.at, msg) }

// AtReturn is an error about the query's RETURN, at its place in the text.
func (q *Query) AtReturn(msg string) error { return q.errorAt(q.Return.at, msg) }

// AtLimit is an error about the query's LIMIT, at its place in the text.
func (q *Query) AtLimit(msg string) error { return q.errorAt(q.Return.limitAt, msg) }

// AtParam is an error about a parameter, at its first place in the text.
func (q *Query) AtParam(name, msg string) error {
	from := max(strings.Index(q.source, q.Text), 0)
	for _, l := range Lexemes(q.Text) {
		if l.Kind == LexemeParameter && l.Text == name {
			e := errorAt(q.source, from+l.Pos, msg)
			e.Length = l.End - l.Pos
			return e
		}
	}
	return errors.New(msg)
}

// AtText is an error about a part of the query that is written near: at its place in
// the text, where it stands there once.
func (q *Query) AtText(near, msg, expected string) error {
	at := strings.Index(q.source, near)
	if near == "" || at < 0 || strings.Contains(q.source[at+1:], near) {
		if expected != "" {
			msg += ": expected " + expected
		}
		return errors.New(msg)
	}
	return errorAt(q.source, at, msg).expecting(expected)
}

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
		return q.notYet(r.estimateAt, "ESTIMATE")
	case r.Sample != 0:
		return q.notYet(r.sampleAt, "SAMPLE")
	case len(r.GroupBy) > 0 && r.Kind != ReturnParticipation:
		return q.notYet(r.GroupBy[0].at, "GROUP BY without participation")
	}
	if i := slices.IndexFunc(r.Items, func(i Item) bool { return i.Count }); i >= 0 {
		return q.notYet(r.Items[i].at, "count(*) with other items")
	}
	for _, item := range r.GroupBy {
		if !about(item.Expr, r.Vertex) {
			return q.notYet(item.at, "GROUP BY an item that is not about "+q.Pattern.VertexName(r.Vertex)+", whose participation is counted")
		}
	}
	if variable(q.Pattern) {
		return q.notYet(q.starAt, "variable-length edges")
	}
	return nil
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

// variable reports whether p, or a pattern in its conditions, has an edge of variable
// length.
func variable(p *pattern.Pattern) bool {
	for i := range p.Edges {
		if e := &p.Edges[i]; e.Min != 1 || e.Max != 1 {
			return true
		}
	}
	found := false
	for _, w := range p.Where {
		pattern.Walk(w, func(x pattern.Expr) bool {
			if x, ok := x.(pattern.Exists); ok && !found {
				found = variable(x.Sub)
			}
			return !found
		})
	}
	return found
}
