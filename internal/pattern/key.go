package pattern

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// namer writes the vertices and edges of a pattern into a key. Keys of the same thing under two
// namings are equal exactly if the naming maps one onto the other. Automorphisms and canonical
// forms compare predicates in this way.
type namer struct {
	vertex func(int) string
	edge   func(int) string
}

// exprKey writes x in a normal form: AND and OR are flattened, the operands of
// commutative operators are sorted, and a > b is written as b < a. It does not
// try to decide logical equivalence: expressions that only mean the same may
// have different keys, which makes a group smaller and never wrong. A long key is
// replaced by its hash, so that the key of a deep nest does not hold a copy of each
// level below.
func exprKey(x Expr, n namer) string {
	key := longKey(x, n)
	if len(key) <= longestKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return "#" + hex.EncodeToString(sum[:])
}

// longestKey is the most bytes of a key that is kept as it is.
const longestKey = 256

// longKey is exprKey, of any length.
func longKey(x Expr, n namer) string {
	switch x := x.(type) {
	case nil:
		return "nil"
	case Lit:
		return litKey(x.Value)
	case Param:
		return "$" + strconv.Quote(x.Name)
	case Prop:
		return n.ref(x.Of) + "." + strconv.Quote(x.Key)
	case ID:
		return "id(" + n.vertex(x.Vertex) + ")"
	case Deg:
		return "deg(" + n.vertex(x.Vertex) + ")"
	case RefExpr:
		return n.ref(x.Of)
	case Unary:
		return "(" + x.Op.String() + " " + exprKey(x.X, n) + ")"
	case Binary:
		return binaryKey(x, n)
	case List:
		return "[" + strings.Join(sortedKeys(x.Items, n), ",") + "]"
	case AllDifferent:
		names := make([]string, len(x.Refs))
		for i, r := range x.Refs {
			names[i] = n.ref(r)
		}
		sort.Strings(names)
		return "different(" + strings.Join(names, ",") + ")"
	case Exists:
		return existsKey(x, n)
	}
	return fmt.Sprintf("%T", x)
}

func (n namer) ref(r Ref) string {
	if r.Kind == VertexRef {
		return n.vertex(r.Index)
	}
	return n.edge(r.Index)
}

func litKey(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []any:
		items := make([]string, len(v))
		for i, e := range v {
			items[i] = litKey(e)
		}
		sort.Strings(items)
		return "[" + strings.Join(items, ",") + "]"
	case Timestamp:
		return FormatTimestamp(v.Nanos)
	case Duration:
		return FormatDuration(v.Nanos)
	case float64:
		return "f" + strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprintf("%v", v)
}

func binaryKey(x Binary, n namer) string {
	switch x.Op {
	case OpAnd, OpOr, OpAdd, OpMul:
		keys := sortedKeys(flatten(x.Op, x, nil), n)
		return "(" + strings.Join(keys, " "+x.Op.String()+" ") + ")"
	case OpEq, OpNe:
		a, b := exprKey(x.X, n), exprKey(x.Y, n)
		if b < a {
			a, b = b, a
		}
		return "(" + a + x.Op.String() + b + ")"
	case OpGt:
		return binaryKey(Binary{OpLt, x.Y, x.X}, n)
	case OpGe:
		return binaryKey(Binary{OpLe, x.Y, x.X}, n)
	}
	return "(" + exprKey(x.X, n) + " " + x.Op.String() + " " + exprKey(x.Y, n) + ")"
}

// flatten appends the operands of a nest of the associative operator op.
func flatten(op Op, x Expr, to []Expr) []Expr {
	if b, ok := x.(Binary); ok && b.Op == op {
		return flatten(op, b.Y, flatten(op, b.X, to))
	}
	return append(to, x)
}

func sortedKeys(xs []Expr, n namer) []string {
	keys := make([]string, len(xs))
	for i, x := range xs {
		keys[i] = exprKey(x, n)
	}
	sort.Strings(keys)
	return keys
}

// existsKey is the canonical form of the sub-pattern with its outer vertices
// told apart by their names in the enclosing pattern. Outer vertices that the
// sub-pattern does not mention are a set of names.
func existsKey(x Exists, n namer) string {
	sub := x.Sub.brief()
	keep, rest := sub.essential(len(x.Outer))
	colour := make([]string, len(keep))
	for i, v := range keep {
		if v < len(x.Outer) {
			colour[i] = n.vertex(x.Outer[v])
		}
	}
	apart := "all"
	if !x.Apart {
		var names []string
		for _, v := range rest {
			names = append(names, n.vertex(x.Outer[v]))
		}
		sort.Strings(names)
		apart = strings.Join(names, ",")
	}
	if len(rest) > 0 {
		sub = sub.SubPattern(keep)
	}
	if sub.Mode == Iso {
		return "exists{" + newStructure(sub, colour).canonical() + " apart " + apart + "}"
	}
	return "exists{" + newStructure(sub, colour).canonical() + "}"
}

// essential are the vertices of a sub-pattern with `outer` outer vertices, without the outer
// ones that it does not mention; these are rest.
func (p *Pattern) essential(outer int) (keep, rest []int) {
	mentioned := p.mentioned()
	for v := range p.Vertices {
		if v < outer && !mentioned[v] && p.Vertices[v].Aside {
			rest = append(rest, v)
		} else {
			keep = append(keep, v)
		}
	}
	return keep, rest
}

// brief is p without the vertices that its sub-patterns do not mention, if these are apart from
// all vertices of p, as those of a text are. Why: canonical forms of nested ones would take the
// square of the time, and its square.
func (p *Pattern) brief() *Pattern {
	q := *p
	q.Where = nil
	for _, w := range p.Where {
		q.Where = append(q.Where, rewrite(w, func(x Expr) Expr {
			e, ok := x.(Exists)
			if !ok || e.Sub.Mode != Iso || len(e.Outer) != len(p.Vertices) {
				return x
			}
			sub := e.Sub.brief()
			keep, _ := sub.essential(len(e.Outer))
			var outer []int
			for _, v := range keep {
				if v < len(e.Outer) {
					outer = append(outer, e.Outer[v])
				}
			}
			return Exists{Sub: sub.SubPattern(keep), Outer: outer, OwnMode: e.OwnMode, Apart: true}
		}))
	}
	return &q
}

// mentioned tells which vertices have an edge, or stand in a condition.
func (p *Pattern) mentioned() []bool {
	out := make([]bool, len(p.Vertices))
	for i := range p.Edges {
		out[p.Edges[i].From], out[p.Edges[i].To] = true, true
	}
	for _, w := range p.Where {
		for _, r := range Refs(w) {
			if r.Kind == VertexRef {
				out[r.Index] = true
			}
		}
	}
	return out
}

// labelKey writes label algebra with the operands of & and | sorted.
func labelKey(l *Label) string {
	if l == nil {
		return ""
	}
	switch l.Op {
	case LabelName:
		return strconv.Quote(l.Name)
	case LabelAny:
		return "%"
	case LabelNot:
		return "!" + labelKey(l.X)
	}
	var keys []string
	var walk func(*Label)
	walk = func(m *Label) {
		if m.Op == l.Op {
			walk(m.X)
			walk(m.Y)
			return
		}
		keys = append(keys, labelKey(m))
	}
	walk(l)
	sort.Strings(keys)
	sep := "&"
	if l.Op == LabelOr {
		sep = "|"
	}
	return "(" + strings.Join(keys, sep) + ")"
}

// edgeKey writes edge i of p with its attributes and without its name.
func edgeKey(p *Pattern, i int, vertex func(int) string) string {
	e := &p.Edges[i]
	from, to := vertex(e.From), vertex(e.To)
	arrow := ">"
	if e.Dir == Either {
		arrow = "-"
		if to < from {
			from, to = to, from
		}
	}
	var b strings.Builder
	b.WriteString("edge " + from + arrow + to)
	if e.Negated {
		b.WriteString(" not")
	}
	if countsChoices(p, i) {
		// Each data edge is an embedding of its own, so such an edge is not the
		// like of one that only has to exist.
		b.WriteString(" each")
	}
	if e.Label != nil {
		b.WriteString(" :" + labelKey(e.Label))
	}
	if e.variable() {
		fmt.Fprintf(&b, " *%d..%d", e.Min, e.Max)
	}
	if len(e.Where) > 0 {
		var conjuncts []Expr
		for _, w := range e.Where {
			conjuncts = flatten(OpAnd, w, conjuncts)
		}
		self := namer{vertex: vertex, edge: func(int) string { return "e" }}
		b.WriteString(" where " + strings.Join(dedupe(sortedKeys(conjuncts, self)), " and "))
	}
	return b.String()
}

// countsChoices reports whether each choice of a data edge for edge i is an
// embedding of its own.
func countsChoices(p *Pattern, i int) bool {
	e := &p.Edges[i]
	if e.Negated {
		return false
	}
	if e.Named() || p.Mode == Trail {
		return true
	}
	if p.Order != nil {
		for _, j := range p.Order.Edges {
			if i == j {
				return true
			}
		}
	}
	return false
}

func (e *Edge) variable() bool { return e.Min > 1 || e.Max > 1 || e.Min == 0 && e.Max > 0 }

func dedupe(sorted []string) []string {
	out := sorted[:0]
	for i, s := range sorted {
		if i == 0 || s != sorted[i-1] {
			out = append(out, s)
		}
	}
	return out
}
