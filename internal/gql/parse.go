package gql

// Parse reads a query in the pattern language. The error is an *Error.
func Parse(text string) (q *Query, err error) {
	defer catch(&err)
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, tokens: tokens}
	return resolveQuery(text, tokens, p.query()), nil
}
