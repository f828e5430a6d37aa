package kir

import (
	"fmt"
	"strconv"
)

// Facts for passes that move expressions: the reads of an expression, and the changes that a
// statement may make.

// place is something that statements change and expressions read.
type place struct {
	v     *Var   // a variable; nil: a field of some record of this type
	field string // a field
	index string // of an element, "" where it is not a constant
}

// reads lists the places whose change may change the value of x; elements is
// true where it looks into sets, which set operations write.
func reads(x Expr) (places []place, elements bool) {
	WalkExpr(x, func(y Expr) {
		switch y := y.(type) {
		case Ref:
			places = append(places, place{v: y.Var})
		case Field:
			places = append(places, place{field: fieldKey(y)})
		case Elem:
			if f, ok := y.X.(Field); ok {
				if c, ok := y.I.(Const); ok {
					places = append(places, place{field: fieldKey(f), index: fmt.Sprint(c.Bits)})
				}
			} else {
				elements = true
			}
		case Call:
			switch y.Fn {
			case Item, Slice, Contains, CountAnd, CountMinus:
				elements = true
			}
		case Count, Sum, Invoke:
			elements = true
		}
	})
	return places, elements
}

func fieldKey(f Field) string { return f.X.Type().Record.Name + "." + f.Name }

// changes holds the changes that statements may make.
type changes struct {
	vars     map[*Var]bool
	fields   map[string]map[string]bool // of records: by field, the indexes; "" for all
	elements bool                       // the contents of sets and arrays
	records  bool                       // any field of any record
}

func newChanges() *changes {
	return &changes{vars: map[*Var]bool{}, fields: map[string]map[string]bool{}}
}

// add notes the changes that statements, and those inside them, may make.
func (c *changes) add(body []Stmt) *changes {
	WalkStmts(body, func(s Stmt) {
		switch s := s.(type) {
		case *Let:
			c.vars[s.Var] = true
		case *Each:
			c.vars[s.X] = true
		case *Loop:
			c.vars[s.I] = true
		case *Assign:
			c.target(s.To)
		case *Accumulate:
			c.target(s.To)
		case *SetOp:
			c.target(s.To)
			c.elements = true
		}
		StmtExprs(s, func(x Expr) {
			call, ok := x.(Invoke)
			if !ok {
				return
			}
			for i, v := range call.Fn.Params {
				switch {
				case v.Out:
					c.target(call.Args[i])
				case v.T.Mut && v.T.Kind == Rec:
					c.records = true
				case v.T.Mut:
					c.elements = true
				}
			}
		})
	})
	return c
}

func (c *changes) target(to Expr) {
	switch to := to.(type) {
	case Ref:
		c.vars[to.Var] = true
	case Field:
		c.field(to, "")
	case Elem:
		f, ok := to.X.(Field)
		if !ok {
			c.elements = true
			return
		}
		index := ""
		if i, ok := to.I.(Const); ok {
			index = fmt.Sprint(i.Bits)
		}
		c.field(f, index)
	}
}

func (c *changes) field(f Field, index string) {
	key := fieldKey(f)
	if c.fields[key] == nil {
		c.fields[key] = map[string]bool{}
	}
	c.fields[key][index] = true
}

// touch reports whether the value of x may be another afterwards.
func (c *changes) touch(x Expr) bool {
	places, elements := reads(x)
	if elements && c.elements {
		return true
	}
	for i, p := range places {
		if p.v != nil {
			if c.vars[p.v] {
				return true
			}
			continue
		}
		if c.records {
			return true
		}
		at := c.fields[p.field]
		if at == nil {
			continue
		}
		if p.index == "" {
			// The element that is read of it, if any, says more; it stands before
			// its field.
			if i > 0 && places[i-1].field == p.field && places[i-1].index != "" {
				continue
			}
			return true
		}
		if at[""] || at[p.index] {
			return true
		}
	}
	return false
}

// keys gives equal expressions equal texts.
type keys map[*Var]int

func (k keys) of(x Expr) string { return string(k.append(nil, x)) }

func (k keys) append(b []byte, x Expr) []byte {
	switch x := x.(type) {
	case Const:
		b = append(b, x.T.String()...)
		b = strconv.AppendUint(append(b, ' '), x.Bits, 10)
	case Ref:
		if k[x.Var] == 0 {
			k[x.Var] = len(k) + 1
		}
		b = strconv.AppendInt(append(b, 'v'), int64(k[x.Var]), 10)
	case Global:
		b = strconv.AppendInt(append(b, x.G.Kind.String()...), int64(x.G.Index), 10)
	case Field:
		b = append(append(b, '.'), x.Name...)
	case Elem:
		b = append(b, "[]"...)
	case Unary:
		b = append(b, x.Op.String()...)
	case Binary:
		b = append(b, x.Op.String()...)
	case Select:
		b = append(b, '?')
	case Convert:
		b = append(b, x.T.String()...)
	case Call:
		b = append(b, x.Fn.Name...)
	case Invoke:
		b = append(b, x.Fn.FullName()...)
	case Count:
		b = append(b, "count"...)
	case Sum:
		b = append(b, "sum"...)
	}
	b = append(b, '(')
	for _, y := range parts(x) {
		b = append(k.append(b, y), ',')
	}
	return append(b, ')')
}

// replace puts y where x has an expression with that key.
func (k keys) replace(x Expr, key string, y Expr) Expr {
	if k.of(x) == key {
		return y
	}
	return mapParts(x, func(part Expr) Expr { return k.replace(part, key, y) })
}

// worth reports whether x is worth a variable: it reads memory, and may be
// computed earlier than it is needed.
func worth(x Expr) bool {
	ok := true
	WalkExpr(x, func(y Expr) {
		switch y := y.(type) {
		case Invoke, Count, Sum:
			ok = false
		case Call:
			ok = ok && !y.Fn.Group
		}
	})
	switch x := x.(type) {
	case Call:
		switch x.Fn {
		case List, Below, Above, Degree, Adjacent, Bit, Slice, Contains:
			return ok
		}
	case Elem:
		_, field := x.X.(Field)
		_, fixed := x.I.(Const)
		return ok && field && fixed
	}
	return false
}

// always calls f for the expressions of x, x among them, that are evaluated
// whenever x is: not those behind a condition, and not predicates.
func always(x Expr, f func(Expr)) {
	f(x)
	switch x := x.(type) {
	case Select:
		always(x.If, f)
	case Binary:
		always(x.X, f)
		if x.Op != And && x.Op != Or {
			always(x.Y, f)
		}
	case Count:
		always(x.Over, f)
	case Sum:
		always(x.Over, f)
	default:
		for _, y := range parts(x) {
			always(y, f)
		}
	}
}

// evaluated calls f for the expressions that statement s itself always evaluates before it has
// an effect.
func evaluated(s Stmt, f func(Expr)) {
	for i, x := range Operands(s) {
		op, filter := s.(*SetOp)
		switch {
		case i == 0 && writes(s):
			for _, y := range parts(*x) {
				always(y, f)
			}
		case filter && x == &op.Keep:
		default:
			always(*x, f)
		}
	}
}

// nameOf is a variable's name for an expression.
func nameOf(x Expr) string {
	switch x := x.(type) {
	case Call:
		return x.Fn.Name + "_"
	case Elem:
		if f, ok := x.X.(Field); ok {
			return fmt.Sprintf("%s%d", f.Name, x.I.(Const).Bits)
		}
	}
	return "t"
}
