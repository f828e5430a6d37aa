package view

import "errors"

// match is what is before a text where it is read as a query.
const match = "MATCH "

// Mistake is where a text is none of the pattern language.
type Mistake struct {
	Msg      string
	Expected string // what could stand there; "" where there is nothing to say
	Col      int    // the character of the text, from 1
}

func (m *Mistake) Error() string { return m.Msg }

// Check says what is wrong with the text of an operator of Matcha whatever the graph
// is. Errors of syntax hold a Mistake.
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
