package weft

import (
	"errors"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// The errors of calls on values that are nil or zero, which no function of the package
// has made.
var (
	errNoGraph       = withKind(ErrUsage, errors.New("the graph is nil or zero: Open, Generate and FromEdges make graphs"))
	errNoQuery       = withKind(ErrUsage, errors.New("the query is nil or zero: Parse, ParseFile and PatternByName make queries"))
	errNoProgram     = withKind(ErrUsage, errors.New("the program is nil or zero: ParseMatcha makes programs"))
	errNoExplanation = withKind(ErrUsage, errors.New("the explanation is nil or zero: Graph.Explain makes explanations"))
)

// given reports whether q is a query.
func (q *Query) given() error {
	if q == nil || q.q == nil {
		return errNoQuery
	}
	return nil
}

// parsed is q's text as it was parsed; of a zero query that of an empty pattern.
func (q *Query) parsed() *gql.Query {
	if q.given() != nil {
		return &gql.Query{Pattern: &pattern.Pattern{}}
	}
	return q.q
}

// given reports whether m is a program.
func (m *Matcha) given() error {
	if m == nil || m.p == nil {
		return errNoProgram
	}
	return nil
}

// noMatches is what a zero Match is of.
var noMatches = &listing{g: &Graph{g: &graph.Graph{}}, p: &pattern.Pattern{}}

// listed is what m is one of.
func (m Match) listed() *listing {
	if m.of == nil {
		return noMatches
	}
	return m.of
}
