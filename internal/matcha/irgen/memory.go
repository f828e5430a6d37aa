package irgen

import (
	"math"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// rows is a list whose items can be told by their numbers: the components of each
// are words in memory or in a column.
type rows struct {
	n     kir.Expr // a u32
	width int
	at    func(i kir.Expr, j int) kir.Expr // component j of item i, a u32
	words kir.Expr                         // the array that has them, nil: a column has
	// column is the column that has all of them, below how many items are less than an Int. Both may be nil.
	column *kir.GlobalDef
	below  func(x kir.Expr) kir.Expr
}

// memory is a part of the memory of a worker, or of all.
type memory struct {
	l     *lowerer
	name  string
	mem   *kir.Var
	at    int64
	first bool // of all: it begins at 0 whatever the inputs are
}

// take lays out memory for the value of a node, at an even place.
func (l *lowerer) take(n *asg.Node, words int64) memory {
	mem, taken := l.mem, &l.words
	if n.Home == l.p.Main {
		mem, taken = l.shared, &l.sharedWords
	}
	*taken += *taken & 1
	list := List{Node: n, At: *taken, Words: words, Shared: mem == l.shared}
	*taken += words
	if words < 0 || *taken < list.At || *taken > math.MaxUint32 {
		e := l.p.File.ErrorAt(n.Pos, "the memory for "+list.Name()+" lies beyond 2^32 words")
		e.Hint = "smaller ranges of inputs, or fewer items or keys"
		panic(failure{&data.MemoryError{Err: e}})
	}
	first := !slices.ContainsFunc(l.lists, func(x List) bool { return x.Shared == list.Shared })
	l.lists = append(l.lists, list)
	return memory{l, list.Name(), mem, list.At, first}
}

// place is where word i of m lies.
func (m memory) place(i int64) kir.Expr {
	if m.first && i == 0 {
		return kir.C(0)
	}
	return m.l.number("place of "+m.name, uint32(m.at+i))
}

// ids is n words of m from word i on, words and floats n words of 8 bytes there. No target's text
// has n, unless accesses are asserted.
func (m memory) ids(i, n int64) kir.Expr {
	return kir.Fn(kir.IDs, kir.R(m.mem), m.place(i), kir.C(uint32(n)))
}

func (m memory) words(i, n int64) kir.Expr {
	return kir.Fn(kir.Words, kir.R(m.mem), m.place(i), kir.C(uint32(n)))
}

func (m memory) floats(i, n int64) kir.Expr {
	return kir.Fn(kir.Floats, kir.R(m.mem), m.place(i), kir.C(uint32(n)))
}

// most is the value of a list's bound.
func (l *lowerer) most(n *asg.Node) int64 { return l.in.Most(l.boundOf(n)) }

// boundOf is the bound of a list.
func (l *lowerer) boundOf(n *asg.Node) *types.Bound {
	if n.Type.Max == nil {
		panic(failure{l.p.File.ErrorAt(n.Pos, "the size of "+List{Node: n}.Name()+" is unknown")})
	}
	return n.Type.Max
}

// asWord is a component as it lies in memory: a Bool is a number there.
func asWord(x kir.Expr) kir.Expr {
	if x.Type().Kind == kir.Bool {
		return kir.Convert{T: kir.T(kir.I64), X: x}
	}
	return x
}

// fromWord is a component of a kind that lies in memory as x.
func fromWord(k types.Kind, x kir.Expr) kir.Expr {
	if k == types.Bool {
		return kir.Op2(kir.Ne, x, i64(0))
	}
	return x
}

// small reports whether the items of a list are Ints that are ids: numbers of 32
// bits, and not the largest, which bounds them.
func (l *lowerer) small(t *types.Type) bool {
	return t.Kind == types.Int && t.Max != nil && l.in.Most(t.Max) < math.MaxUint32
}

// store writes the items of a list to memory. A list of ascending ids becomes a
// set.
func (l *lowerer) store(n *asg.Node, v *value) *value {
	name := n.Given
	if name == "" {
		name = "list"
	}
	count := local("n", kir.U32)
	most, width := l.most(n), int64(n.Type.Elem.Words())
	words := int64(math.MaxInt64)
	if most < math.MaxUint32/2/width {
		words = 2 * most * width
	}
	ids := n.Type.Ascending && l.small(n.Type.Elem)
	if ids {
		words = most
	}
	m := l.take(n, words)
	l.do(&kir.Let{Var: count, Init: kir.C(0)})
	out := &value{}
	var array kir.Expr
	switch {
	case ids:
		array = m.ids(0, most)
	case n.Type.Elem.Part(0).Kind == types.Float:
		array = m.floats(0, most*width)
	default:
		array = m.words(0, most*width)
	}
	place := func(i kir.Expr, j int) kir.Expr {
		if width > 1 {
			i = kir.Op2(kir.Mul, i, kir.C(uint32(width)))
		}
		if j > 0 {
			i = plus(i, kir.C(uint32(j)))
		}
		return kir.Elem{X: array, I: i}
	}
	l.over(v, func(item []kir.Expr) {
		for j, x := range item {
			if ids {
				x = asID(x)
			}
			l.do(&kir.Assign{To: place(kir.R(count), j), X: asWord(x)})
		}
		l.do(&kir.Accumulate{To: kir.R(count), X: kir.C(1)})
	})
	if ids {
		out.set = l.let(name, kir.Fn(kir.Part, array, kir.C(0), kir.R(count)))
		return out
	}
	kind := n.Type.Elem.Part(0).Kind
	out.rows = &rows{n: kir.R(count), width: int(width), words: array, at: func(i kir.Expr, j int) kir.Expr {
		return fromWord(kind, place(i, j))
	}}
	return out
}

// column is a list of words that are there before the program runs.
func (l *lowerer) column(name string, t *types.Type, items []types.Word) *rows {
	kind := kir.I64
	if t.Part(0).Kind == types.Float {
		kind = kir.F64
	}
	g := &kir.GlobalDef{Name: name, Kind: kir.Col, Elem: kind, Words: make([]uint64, len(items))}
	for i, x := range items {
		g.Words[i] = uint64(x)
	}
	l.prog.AddGlobal(g)
	w := t.Words()
	return &rows{n: l.number("items of "+name, uint32(len(items)/w)), width: w, column: g, at: func(i kir.Expr, j int) kir.Expr {
		row := kir.Op2(kir.Mul, kir.Convert{T: kir.T(kir.U64), X: i}, kir.C64(kir.U64, uint64(w)))
		return fromWord(t.Part(0).Kind, cell(g, kir.Op2(kir.Add, row, kir.C64(kir.U64, uint64(j)))))
	}}
}

// cell is the value of a column at a row, a u64.
func cell(g *kir.GlobalDef, row kir.Expr) kir.Expr {
	if g.Elem == kir.F64 {
		return kir.Fn(kir.CellFloat, kir.G(g), row)
	}
	return kir.Fn(kir.CellInt, kir.G(g), row)
}

// indexed reports whether the items of a list can be told by their numbers.
func (v *value) indexed() bool { return v.set != nil || v.span != nil || v.rows != nil }

// item is item i, a u32, of such a list.
func (l *lowerer) item(v *value, i kir.Expr) []kir.Expr {
	switch {
	case v.set != nil:
		return []kir.Expr{asInt(l.let("", kir.Fn(kir.Item, v.set, i)))}
	case v.span != nil:
		return []kir.Expr{l.let("", plus(v.span[0], asInt(i)))}
	}
	var out []kir.Expr
	for j := range v.rows.width {
		out = append(out, l.let("", v.rows.at(i, j)))
	}
	return out
}
