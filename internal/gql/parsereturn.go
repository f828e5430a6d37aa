package gql

import "strconv"

// returns = "RETURN" items ["GROUP BY" items] ["LIMIT" n] ["SAMPLE" n ["SEED" k]]
// ["ESTIMATE WITHIN" x "%"], the last four in any order.
func (p *parser) returns() *returnSyntax {
	r := &returnSyntax{pos: p.peek().pos}
	p.expectKeyword("RETURN")
	r.Limit = -1
	if p.isKeyword("DISTINCT") && p.peekAt(1).kind == tokWord {
		p.hint()
	}
	r.items = p.items()
	seen := map[string]bool{}
	once := func(clause string) {
		if seen[clause] {
			panic(errorAt(p.text, p.tokens[p.i-1].pos, clause+" is already given"))
		}
		seen[clause] = true
	}
	for {
		switch {
		case p.keyword("GROUP"):
			once("GROUP BY")
			p.expectKeyword("BY")
			r.groupBy = p.items()
		case p.keyword("LIMIT"):
			once("LIMIT")
			r.limitAt = p.tokens[p.i-1].pos + 1
			r.Limit = p.integer("a number of matches")
		case p.keyword("SAMPLE"):
			once("SAMPLE")
			r.sampleAt = p.tokens[p.i-1].pos + 1
			p.sample(r)
		case p.keyword("ESTIMATE"):
			once("ESTIMATE")
			r.estimateAt = p.tokens[p.i-1].pos + 1
			p.expectKeyword("WITHIN")
			r.EstimateWithin = p.percent()
		default:
			return r
		}
	}
}

func (p *parser) items() []itemSyntax {
	var items []itemSyntax
	for {
		start := p.peek().pos
		item := itemSyntax{expr: p.expr()}
		item.text = p.text[start:p.tokens[p.i-1].end]
		item.alias = item.text
		if item.expr.kind == exprName {
			item.alias = item.expr.text
		}
		if p.keyword("AS") {
			item.alias = p.variable("the name of the column").text
		}
		items = append(items, item)
		if !p.symbol(",") {
			return items
		}
	}
}

func (p *parser) sample(r *returnSyntax) {
	t := p.peek()
	r.Sample = p.integer("a number of matches")
	if r.Sample == 0 {
		panic(errorAt(p.text, t.pos, "SAMPLE needs at least one match"))
	}
	if p.keyword("SEED") {
		t := p.peek()
		seed, err := strconv.ParseUint(t.text, 10, 64)
		if t.kind != tokInt || err != nil {
			p.fail("a seed from 0 to 18446744073709551615")
		}
		p.i++
		r.Seed, r.HasSeed = seed, true
	}
}

func (p *parser) percent() float64 {
	t := p.peek()
	if t.kind != tokInt && t.kind != tokFloat {
		p.fail("a percentage such as 2%")
	}
	p.i++
	x, err := strconv.ParseFloat(t.text, 64)
	p.expectSymbol("%")
	if err != nil || x <= 0 || x >= 100 {
		panic(errorAt(p.text, t.pos, "an estimate needs an error above 0% and below 100%"))
	}
	return x / 100
}
