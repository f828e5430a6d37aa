package plan

import (
	"errors"
	"fmt"
)

// QueryError says that weft cannot answer a query. Vertex and Edge are the indexes of the
// faulty vertex or edge in the pattern, or -1 if no single one is at fault.
type QueryError struct {
	Vertex, Edge int
	Msg          string
	Order        bool // the fault lies in ORDERED or WITHIN
	// Near is the faulty part of the query, as the language writes it. Expected is a text that
	// could replace it. Both are "" if not known.
	Near, Expected string
}

// Error returns the message.
func (e *QueryError) Error() string { return e.Msg }

// Errorf is an error that lies in no single vertex or edge.
func Errorf(format string, args ...any) *QueryError {
	return &QueryError{Vertex: -1, Edge: -1, Msg: fmt.Sprintf(format, args...)}
}

// Refusal is the error of an engine, or of a stage of one, that cannot run a plan. Another engine may run the plan, and
// this engine may run another plan of the query.
type Refusal struct{ why error }

// Refusef returns a Refusal that gives the reason.
func Refusef(format string, args ...any) error { return &Refusal{fmt.Errorf(format, args...)} }

// Error returns the reason.
func (r *Refusal) Error() string { return r.why.Error() }

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.why }

// ErrEnded says that planning was given up: the caller knows why.
var ErrEnded = errors.New("planning has ended")

// ArrowsGuessed is the warning about arrows where the direction of edges is a guess.
const ArrowsGuessed = "the pattern has arrows, and the graph is read as undirected unless --directed is given: an arrow matches an edge both ways (--directed=false says that this is right)"
