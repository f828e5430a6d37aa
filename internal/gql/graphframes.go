package gql

// ParseGraphFrames reads a motif of Apache Spark GraphFrames, as
// "(a)-[e]->(b); !(b)-[]->(a)". Its edges are directed and bear at most a name;
// "!" excludes an edge. Vertices are distinct, as everywhere in weft, where
// GraphFrames lets names coincide: ask for that with the semantics hom.
func ParseGraphFrames(text string) (q *Query, err error) {
	defer catch(&err)
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, tokens: tokens}
	s := &querySyntax{body: &bodySyntax{}}
	for {
		s.body.patterns = append(s.body.patterns, p.motifTerm())
		if !p.symbol(";") || p.peek().kind == tokEnd {
			break
		}
	}
	if p.peek().kind != tokEnd {
		e := errorAt(text, p.peek().pos, "unexpected "+describe(p.peek())).expecting("; or the end of a GraphFrames motif")
		if !p.isSymbol("(") && !p.isSymbol("!") {
			e.Suggestion = "MATCH before the pattern, which makes it a query"
		}
		return nil, e
	}
	return resolveQuery(text, tokens, s), nil
}

// motifTerm = ["!"] vertex "-[" [name] "]->" vertex, or a vertex alone.
func (p *parser) motifTerm() patternSyntax {
	t := patternSyntax{pos: p.peek().pos, not: p.symbol("!")}
	t.nodes = append(t.nodes, p.motifNode())
	if !p.isSymbol("-") {
		if t.not {
			p.fail("-[]->, since ! excludes an edge")
		}
		return t
	}
	e := edgeSyntax{pos: p.peek().pos, right: true, min: 1, max: 1}
	p.expectSymbol("-")
	if !p.symbol("[") {
		panic(errorAt(p.text, e.pos, "the edges of a GraphFrames motif are written -[]-> or -[name]->").
			expecting("[").suggesting("MATCH before the pattern, which makes it a query"))
	}
	e.name = p.optionalName("the name of an edge or ]")
	p.expectSymbol("]")
	p.expectSymbol("-")
	p.expectSymbol(">")
	t.edges = append(t.edges, e)
	t.nodes = append(t.nodes, p.motifNode())
	return t
}

func (p *parser) motifNode() nodeSyntax {
	n := nodeSyntax{pos: p.expectSymbol("(").pos}
	n.name = p.optionalName("the name of a vertex or )")
	if p.isSymbol(":") || p.isSymbol("{") {
		panic(errorAt(p.text, p.peek().pos, "a GraphFrames motif has no labels and properties").
			expecting(")").suggesting("MATCH before the pattern, which makes it a query"))
	}
	p.expectSymbol(")")
	return n
}
