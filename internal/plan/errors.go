package plan

import "fmt"

// QueryError says that a query asks for what cannot be asked. Vertex and Edge
// are indexes into the pattern, -1 where the fault lies in no single one.
type QueryError struct {
	Vertex, Edge int
	Msg          string
	Order        bool // the fault lies in ORDERED or WITHIN
	// Near is a part of the query at which the fault lies, as the language writes it,
	// and Expected what could stand there; "" where that is not known.
	Near, Expected string
}

// Error returns the message.
func (e *QueryError) Error() string { return e.Msg }

func queryErrorf(format string, args ...any) *QueryError {
	return &QueryError{Vertex: -1, Edge: -1, Msg: fmt.Sprintf(format, args...)}
}
