package gql

import (
	"strconv"

	"github.com/weftgraph/weft/internal/pattern"
)

// Parse reads one query in the pattern language. The error is an *Error.
func Parse(text string) (*Query, error) {
	qs, err := parseQueries(text, 1)
	if err != nil {
		return nil, err
	}
	return qs[0], nil
}

// parseQueries reads at most limit queries with semicolons between them.
func parseQueries(text string, limit int) (qs []*Query, err error) {
	defer catch(&err)
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, tokens: tokens}
	watches := map[string]bool{}
	for len(qs) == 0 || p.peek().kind != tokEnd {
		if len(qs) == limit {
			p.last()
		}
		from := p.peek().pos
		q := resolveQuery(text, tokens, p.query())
		q.Text = text[from:p.tokens[max(p.i-1, 0)].end]
		if w := q.Watch; w != nil {
			if watches[w.Name] {
				panic(errorAt(text, w.nameAt-1, "the watch "+pattern.QuoteName(w.Name)+" is defined twice").expecting("another name"))
			}
			watches[w.Name] = true
		}
		qs = append(qs, q)
	}
	return qs, nil
}

// last requires that no query follows.
func (p *parser) last() {
	if p.peek().kind != tokEnd {
		panic(errorAt(p.text, p.peek().pos, "a second query").expecting("the end of the text; only files hold several queries"))
	}
}

// parseGQLFile reads the queries of a file. Watches keep their names; the others
// are called name, or name#0, name#1, … where there are several.
func parseGQLFile(name, text string) ([]*Query, error) {
	qs, err := parseQueries(text, maxQueries)
	for i, q := range qs {
		switch {
		case q.Watch != nil:
		case len(qs) > 1:
			q.Name = name + "#" + strconv.Itoa(i)
		default:
			q.Name = name
		}
	}
	return qs, err
}

// maxQueries bounds the queries of one file.
const maxQueries = 10000
