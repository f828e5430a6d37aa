package asg

import (
	"fmt"
	"maps"
	"slices"

	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// builtin is an operator of the language.
type builtin struct {
	params []string
	need   int    // how many of them, from the first, must be given
	rest   string // the parameter that takes any number of further arguments, "" if none
	build  func(b *builder, a *arguments) *Node
}

var builtins map[string]builtin

func init() {
	builtins = map[string]builtin{
		"mk_tuple":     {params: []string{"nvars", "dtype", "val"}, build: (*builder).mkTuple},
		"get":          {params: []string{"from", "pos"}, need: 2, build: (*builder).get},
		"mk_list":      {params: []string{"nitems", "type", "val"}, build: (*builder).mkList},
		"mk_graph":     {params: []string{"edges", "vlabel", "einfo"}, need: 1, build: (*builder).mkGraph},
		"neighbor":     {params: []string{"g", "v"}, need: 2, build: (*builder).neighbor},
		"edge_info":    {params: []string{"g", "v"}, need: 2, build: (*builder).edgeInfo},
		"vertex_label": {params: []string{"g", "v"}, need: 2, build: (*builder).vertexLabel},
		"label":        {params: []string{"g", "name"}, need: 2, build: (*builder).labelNumber},
		"subgraph":     {params: []string{"g", "edge"}, need: 2, build: (*builder).subgraph},
		"vertices":     {params: []string{"g", "pattern"}, need: 1, build: (*builder).vertices},
		"between":      {params: []string{"g", "edge", "u", "v"}, need: 4, build: (*builder).between},
		"holds":        {params: []string{"g", "pattern"}, need: 2, rest: "vertices and edges", build: (*builder).holds},
		"edges":        {params: []string{"g"}, need: 1, build: (*builder).edges},
		"range":        {params: []string{"n"}, need: 1, build: (*builder).rangeList},
		"apply":        {params: []string{"func", "cond"}, need: 2, rest: "lists", build: (*builder).apply},
		"intersect":    {params: []string{"l1", "l2"}, need: 2, build: (*builder).intersect},
		"diff":         {params: []string{"l1", "l2"}, need: 2, build: (*builder).diff},
		"sum":          {params: []string{"l"}, need: 1, build: (*builder).sum},
		"size":         {params: []string{"l"}, need: 1, build: (*builder).size},
		"emit":         {params: []string{"t"}, need: 1, build: (*builder).emit},
		"Counter":      {params: []string{"keys", "hashed"}, need: 1, build: (*builder).counter},
		"add":          {params: []string{"c", "key", "n"}, need: 3, build: (*builder).counterAdd},
		"reset":        {params: []string{"c"}, need: 1, build: (*builder).counterReset},
	}
}

// arguments are the arguments of an operator's call.
type arguments struct {
	at    syntax.Pos
	name  string
	scope *scope
	by    map[string]syntax.Expr
	rest  []syntax.Expr
	given string // the name that the result will have
}

// call builds a call of an operator or of a function.
func (b *builder) call(c *syntax.Call, s *scope) *Node {
	given := b.given
	b.given = ""
	defer func() { b.given = given }()
	if op, ok := builtins[c.Func]; ok {
		a := b.bind(c, op)
		a.scope, a.given = s, given
		return op.build(b, a)
	}
	f, ok := s.find(c.Func)
	if !ok {
		b.unknown(c.At, c.Func, "function", append(s.visible(), slices.Sorted(maps.Keys(builtins))...))
	}
	if f.fn == nil {
		b.fail(c.At, c.Func+" is a value", "a function")
	}
	var args []binding
	byName := map[string]int{}
	for i, p := range f.fn.params {
		byName[p.Name] = i
	}
	if len(c.Args) == len(f.fn.params) {
		args = make([]binding, len(c.Args))
	} else {
		b.fail(c.At, fmt.Sprintf("%s takes %s, not %d", f.fn.name, plural(len(f.fn.params), "argument"), len(c.Args)), "")
	}
	free := make([]bool, len(args))
	for i := range free {
		free[i] = true
	}
	take := func(i int, a syntax.Arg) {
		free[i] = false
		args[i] = b.argument(a.X, s)
	}
	for _, a := range c.Args {
		if a.Name == "" {
			continue
		}
		i, ok := byName[a.Name]
		if !ok {
			b.unknown(a.At, a.Name, "parameter of "+f.fn.name+" named", slices.Sorted(maps.Keys(byName)))
		}
		if !free[i] {
			b.fail(a.At, a.Name+" is given twice", "")
		}
		take(i, a)
	}
	for _, a := range c.Args {
		if a.Name == "" {
			take(slices.Index(free, true), a)
		}
	}
	out := b.inline(c.At, f.fn, args)
	if out == nil {
		return &Node{Type: types.TVoid, Effects: true, Pos: c.At}
	}
	return out
}

// argument is a value or, for functions that take functions, a function.
func (b *builder) argument(x syntax.Expr, s *scope) binding {
	if fn := b.function(x, s); fn != nil {
		return binding{fn: fn}
	}
	n := b.value(x, s)
	if n.Type.Kind == types.Void {
		b.fail(x.Pos(), "an argument without a value", "an expression with a value")
	}
	return binding{node: n}
}

// function returns the function that x is, nil if it is none.
func (b *builder) function(x syntax.Expr, s *scope) *closure {
	switch x := x.(type) {
	case *syntax.Lambda:
		return b.lambda(x, s)
	case *syntax.Name:
		if f, ok := s.find(x.Name); ok {
			return f.fn
		}
	}
	return nil
}

// bind assigns arguments to an operator's parameters: named ones first, and the others to the
// remaining parameters, in order.
func (b *builder) bind(c *syntax.Call, op builtin) *arguments {
	a := &arguments{at: c.At, name: c.Func, by: map[string]syntax.Expr{}}
	for _, x := range c.Args {
		if x.Name == "" {
			continue
		}
		if !slices.Contains(op.params, x.Name) {
			b.unknown(x.At, x.Name, "parameter of "+c.Func+" named", op.params)
		}
		if a.by[x.Name] != nil {
			b.fail(x.At, x.Name+" is given twice", "")
		}
		a.by[x.Name] = x.X
	}
	left := slices.DeleteFunc(slices.Clone(op.params), func(p string) bool { return a.by[p] != nil })
	for _, x := range c.Args {
		switch {
		case x.Name != "":
		case len(left) > 0:
			a.by[left[0]] = x.X
			left = left[1:]
		case op.rest != "":
			a.rest = append(a.rest, x.X)
		default:
			b.fail(x.At, "one argument too many", fmt.Sprintf("%s of %s", plural(len(op.params), "argument"), c.Func))
		}
	}
	for _, p := range op.params[:op.need] {
		if a.by[p] == nil {
			b.fail(c.At, c.Func+" needs its argument "+p, "")
		}
	}
	return a
}

// value builds an argument, of one of some kinds.
func (b *builder) arg(a *arguments, param string, kinds ...types.Kind) *Node {
	x := a.by[param]
	n := b.value(x, a.scope)
	b.want(n, x.Pos(), fmt.Sprintf("%s of %s", param, a.name), kinds...)
	return n
}

// typeArg reads an argument that is a type; nil if it is absent.
func (b *builder) typeArg(a *arguments, param string) *types.Type {
	x := a.by[param]
	if x == nil {
		return nil
	}
	t, ok := x.(*syntax.TypeName)
	if !ok {
		b.fail(x.Pos(), param+" of "+a.name+" is not a type", "int, float, bool or Tuple[…]")
	}
	return b.itemType(t.Type)
}

// constArg reads an argument that must be known now; ok is false if it is absent.
func (b *builder) constArg(a *arguments, param string, lo, hi int64) (n int64, ok bool) {
	x := a.by[param]
	if x == nil {
		return 0, false
	}
	v := b.value(x, a.scope)
	if v.Op != Const || v.Type.Kind != types.Int {
		b.fail(x.Pos(), param+" of "+a.name+" is not a constant number", fmt.Sprintf("a number from %d to %d", lo, hi))
	}
	if n = int64(v.Words[0]); n < lo || n > hi {
		b.fail(x.Pos(), fmt.Sprintf("%s of %s is %d", param, a.name, n), fmt.Sprintf("a number from %d to %d", lo, hi))
	}
	return n, true
}

// bound is the limit that an argument says, which must be known before the
// program runs.
func (b *builder) bound(a *arguments, param string, n *Node) *types.Bound {
	if n.Type.Max == nil {
		what := "the list made here"
		if a.name == "Counter" {
			what = "the Counter made here"
		}
		if a.given != "" {
			what = a.given
		}
		if n.Op == Const {
			b.fail(a.by[param].Pos(), fmt.Sprintf("the size of %s is %d: it cannot be negative", what, n.Words[0]), "a number from 0 on")
		}
		b.failHint(a.by[param].Pos(), "the size of "+what+" is unknown", "a number with a known range from 0 on",
			"memory is allocated before the program runs: declare an input as int in 0..1000, or give mk_list a constant nitems")
	}
	return n.Type.Max
}

// IsOperator reports whether a name is an operator of the language.
func IsOperator(name string) bool {
	_, ok := builtins[name]
	return ok
}
