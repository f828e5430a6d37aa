package bolt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// expr computes a value of a row. rows are all of them, for aggregates.
type expr func(s *scope, row map[string]any, rows []map[string]any) (any, error)

// maxStatementDepth bounds expressions inside each other.
const maxStatementDepth = 64

func (p *statementParser) expr() expr {
	if p.depth++; p.depth > maxStatementDepth {
		p.fail(p.peek().at, "expressions lie too deep inside each other")
	}
	defer func() { p.depth-- }()
	x := p.and()
	for p.maybe("OR") {
		x = logic(x, p.and(), true)
	}
	return x
}

func (p *statementParser) and() expr {
	x := p.not()
	for p.maybe("AND") {
		x = logic(x, p.not(), false)
	}
	return x
}

// logic is OR, which ends at true, or AND, which ends at false.
func logic(a, b expr, ends bool) expr {
	return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
		x, err := a(s, row, rows)
		if err = cmp.Or(err, s.work(1)); err != nil || x == ends {
			return x, err
		}
		return b(s, row, rows)
	}
}

func (p *statementParser) not() expr {
	if p.maybe("NOT") {
		if p.depth++; p.depth > maxStatementDepth {
			p.fail(p.peek().at, "expressions lie too deep inside each other")
		}
		x := p.not()
		p.depth--
		return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
			v, err := x(s, row, rows)
			if b, ok := v.(bool); ok {
				return !b, err
			}
			return nil, err
		}
	}
	x := p.postfix()
	for _, op := range []string{"=", "<>", "<=", ">=", "<", ">", "IN", "CONTAINS", "STARTS", "ENDS"} {
		if p.maybe(op) {
			if op == "STARTS" || op == "ENDS" {
				p.want("WITH")
			}
			return comparison(op, x, p.postfix())
		}
	}
	return x
}

func comparison(op string, a, b expr) expr {
	return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
		x, err := a(s, row, rows)
		if err != nil {
			return nil, err
		}
		y, err := b(s, row, rows)
		if err != nil || x == nil || y == nil {
			return nil, err
		}
		t, isText := x.(string)
		u, areTexts := y.(string)
		list, isList := y.([]any)
		switch op {
		case "=":
			return s.order(x, y) == 0, s.err
		case "<>":
			return s.order(x, y) != 0, s.err
		case "<":
			return s.order(x, y) < 0, s.err
		case "<=":
			return s.order(x, y) <= 0, s.err
		case ">":
			return s.order(x, y) > 0, s.err
		case ">=":
			return s.order(x, y) >= 0, s.err
		case "IN":
			if isList {
				return slices.ContainsFunc(list, func(z any) bool { return s.err != nil || s.order(x, z) == 0 }), s.err
			}
		case "CONTAINS":
			if isText && areTexts {
				return strings.Contains(t, u), s.work(len(t))
			}
		case "STARTS":
			if isText && areTexts {
				return strings.HasPrefix(t, u), s.work(len(t))
			}
		case "ENDS":
			if isText && areTexts {
				return strings.HasSuffix(t, u), s.work(len(t))
			}
		}
		return nil, nil
	}
}

// postfix reads a value and what follows it: .key, [i], [i..j].
func (p *statementParser) postfix() expr {
	x := p.primary()
	for {
		switch {
		case p.maybe("."):
			key := p.name("the name of a property")
			of := x
			x = func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
				v, err := of(s, row, rows)
				m, _ := v.(map[string]any)
				return m[key], cmp.Or(err, s.work(1))
			}
		case p.maybe("["):
			x = p.index(x)
		default:
			return x
		}
	}
}

// index reads an index or a slice of a list, after its bracket.
func (p *statementParser) index(of expr) expr {
	var from, to expr
	slice := p.maybe("..")
	if !slice {
		from = p.expr()
		slice = p.maybe("..")
	}
	if slice && !p.peek().is("]") {
		to = p.expr()
	}
	p.want("]")
	return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
		v, err := of(s, row, rows)
		list, ok := v.([]any)
		if err = cmp.Or(err, s.work(1)); err != nil || !ok {
			return nil, err
		}
		place := func(x expr, otherwise int) (int, error) {
			if x == nil {
				return otherwise, nil
			}
			v, err := x(s, row, rows)
			n, ok := v.(int64)
			if !ok {
				return 0, cmp.Or(err, error(&Error{Code: CodeType, Message: "an index of a list is not an integer"}))
			}
			if n < 0 {
				n += int64(len(list))
			}
			return int(min(max(n, -1), int64(len(list)))), err
		}
		i, err := place(from, 0)
		if err != nil {
			return nil, err
		}
		if !slice {
			if i < 0 || i >= len(list) {
				return nil, nil
			}
			return list[i], nil
		}
		j, err := place(to, len(list))
		if err != nil {
			return nil, err
		}
		i, j = max(i, 0), max(j, 0)
		return list[min(i, j):j:j], nil
	}
}

func constant(x any) expr {
	return func(*scope, map[string]any, []map[string]any) (any, error) { return x, nil }
}

// variable is the value of a name in a row.
func variable(name string) expr {
	return func(_ *scope, row map[string]any, _ []map[string]any) (any, error) {
		x, ok := row[name]
		if !ok {
			return nil, &Error{Code: CodeSyntax, Message: fmt.Sprintf("variable `%s` is not defined", cut(name, 100))}
		}
		return x, nil
	}
}

func (p *statementParser) primary() expr {
	w := p.peek()
	switch {
	case w.kind == 's', w.kind == 'n':
		p.take()
		return constant(w.value)
	case w.kind == 'p':
		p.take()
		return func(s *scope, _ map[string]any, _ []map[string]any) (any, error) {
			x, ok := s.params[w.text]
			if !ok {
				return nil, &Error{Code: CodeParameterMissing, Message: "expected parameter(s): " + w.text}
			}
			return x, nil
		}
	case p.maybe("TRUE"):
		return constant(true)
	case p.maybe("FALSE"):
		return constant(false)
	case p.maybe("NULL"):
		return constant(nil)
	case p.maybe("-"):
		n := p.take()
		switch x := n.value.(type) {
		case int64:
			return constant(-x)
		case float64:
			return constant(-x)
		}
		p.i--
		p.unexpected("a number")
	case p.maybe("("):
		x := p.expr()
		p.want(")")
		return x
	case p.maybe("["):
		var items []expr
		for !p.maybe("]") {
			items = append(items, p.expr())
			if !p.maybe(",") && !p.peek().is("]") {
				p.unexpected(", or ]")
			}
		}
		return list(items)
	case p.maybe("{"):
		return p.mapping()
	case w.kind == 'w' && p.words[p.i+1].is("("):
		return p.function()
	case w.kind == 'w', w.kind == 'q':
		p.take()
		return variable(w.text)
	}
	p.unexpected("a value")
	return nil
}

func list(items []expr) expr {
	return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
		out := make([]any, len(items))
		for i, x := range items {
			var err error
			if out[i], err = x(s, row, rows); err != nil {
				return nil, err
			}
		}
		return out, s.pay(out)
	}
}

func (p *statementParser) mapping() expr {
	var keys []string
	var values []expr
	for !p.maybe("}") {
		if p.peek().kind == 's' {
			keys = append(keys, p.take().value.(string))
		} else {
			keys = append(keys, p.name("a key"))
		}
		p.want(":")
		values = append(values, p.expr())
		if !p.maybe(",") && !p.peek().is("}") {
			p.unexpected(", or }")
		}
	}
	return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
		out := map[string]any{}
		for i, x := range values {
			v, err := x(s, row, rows)
			if err != nil {
				return nil, err
			}
			out[keys[i]] = v
		}
		return out, s.pay(out)
	}
}

// function reads a call of a function.
func (p *statementParser) function() expr {
	w := p.take()
	p.want("(")
	name := strings.ToLower(w.text)
	if name == "count" && p.maybe("*") {
		p.want(")")
		p.aggregates = true
		return func(s *scope, _ map[string]any, rows []map[string]any) (any, error) {
			if rows == nil {
				return s.count, nil
			}
			return int64(len(rows)), nil
		}
	}
	distinct := (name == "count" || name == "collect") && p.maybe("DISTINCT")
	x := p.expr()
	p.want(")")
	switch name {
	case "collect", "count":
		p.aggregates = true
		return func(s *scope, _ map[string]any, rows []map[string]any) (any, error) {
			out := []any{}
			n := int64(0)
			seen := map[string]bool{}
			for _, row := range rows {
				v, err := x(s, row, nil)
				if err = cmp.Or(err, s.work(1)); err != nil {
					return nil, err
				}
				if v == nil {
					continue
				}
				if distinct {
					k, err := s.key([]any{v})
					if err = cmp.Or(err, s.spend(64)); err != nil {
						return nil, err
					}
					if seen[k] {
						continue
					}
					seen[k] = true
				}
				if n++; name == "collect" {
					if err := s.spend(16); err != nil {
						return nil, err
					}
					out = append(out, v)
				}
			}
			if name == "count" {
				return n, nil
			}
			return out, nil
		}
	case "size", "head", "tolower", "toupper", "tostring":
		return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
			v, err := x(s, row, rows)
			if err != nil {
				return nil, err
			}
			list, isList := v.([]any)
			text, isText := v.(string)
			switch {
			case name == "size" && isList:
				return int64(len(list)), nil
			case name == "size" && isText:
				return int64(utf8.RuneCountInString(text)), s.work(len(text))
			case name == "head" && len(list) > 0:
				return list[0], nil
			case name == "tolower" && isText:
				return strings.ToLower(text), s.pay(text)
			case name == "toupper" && isText:
				return strings.ToUpper(text), s.pay(text)
			case name == "tostring" && v != nil:
				if err := s.pay(v); err != nil {
					return nil, err
				}
				return fmt.Sprint(v), nil
			}
			return nil, nil
		}
	}
	p.fail(w.at, "there is no function %s in statements without a pattern", cut(w.text, 60))
	return nil
}
