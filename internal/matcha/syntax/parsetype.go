package syntax

import "strconv"

// typ reads a type.
func (p *parser) typ() *Type {
	defer p.deeper()()
	t := p.peek()
	const expected = "a type: int, float, bool, Tuple[…], List[…] or Graph"
	if t.kind != keyword {
		p.unexpected(expected)
	}
	out := &Type{At: t.at, Kind: t.word}
	switch t.word {
	case "int":
		p.next()
		if p.skip("in") {
			out.Lo = p.bound()
			p.want("..")
			out.Hi = p.bound()
		}
	case "float", "bool":
		p.next()
	case "Graph":
		p.next()
		if p.skip("[") {
			out.Elem = p.typ()
			p.want(",")
			key := p.wantKind(text, "the name of a property of edges, in quotes")
			out.Key = &String{key.at, key.word}
			p.want("]")
		}
	case "Tuple":
		p.next()
		p.want("[")
		out.Elem = p.typ()
		p.want(",")
		out.N = p.bound()
		p.want("]")
	case "List":
		p.next()
		p.want("[")
		out.Elem = p.typ()
		if p.skip(",") {
			out.N = p.bound()
		}
		p.want("]")
	default:
		p.unexpected(expected)
	}
	return out
}

// bound reads a whole number with a sign.
func (p *parser) bound() *Int {
	at := p.peek().at
	neg := p.skip("-")
	t := p.wantKind(integer, "a whole number")
	x := p.int(t)
	x.At, x.Neg = at, neg
	if !neg && x.Value == 1<<63 {
		p.fail(t.at, "the number "+t.word+" does not fit 64 bits", "", "")
	}
	return x
}

func (p *parser) int(t token) *Int {
	v, err := strconv.ParseUint(t.word, 10, 64)
	if err != nil || v > 1<<63 {
		p.fail(t.at, "the number "+t.word+" does not fit 64 bits", "a number up to 9223372036854775807", "")
	}
	return &Int{At: t.at, Value: v}
}
