package view

import (
	"errors"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
)

// match is put before a text to read it as a query.
const match = "MATCH "

// Check returns the mistake in the text of a Matcha operator that holds for every graph, or
// nil. Errors of syntax hold a data.Mistake.
func Check(operator, text string) (err error) {
	switch operator {
	case "subgraph", "between":
		_, err = edge(text)
	case "vertices":
		_, err = vertex(text)
	case "holds":
		_, _, _, err = conditions(text)
	default:
		err = errors.New("no operator " + operator + " has a text")
	}
	return err
}

// Arrows reports whether a text that Check accepts has an edge with a direction.
func Arrows(operator, text string) bool {
	p, err := read(text)
	if operator == "holds" {
		p, _, _, err = conditions(text)
	}
	return err == nil && slices.ContainsFunc(p.Edges, func(e pattern.Edge) bool { return e.Dir != pattern.Either })
}
