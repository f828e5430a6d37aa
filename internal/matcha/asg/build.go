package asg

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// maxNodes bounds the number of operators after inlining.
const maxNodes = 100_000

// Build makes the graph of a program. Functions are inlined where they are
// called, so that their parameters have the arguments' types. The error is a
// *syntax.Error.
func Build(file *syntax.File) (p *Program, err error) {
	b := &builder{file: file, p: &Program{Name: file.Name, Main: &Func{}, File: file}, used: map[*syntax.Def]bool{}}
	b.region = b.p.Main
	defer func() {
		if e := recover(); e != nil {
			mistake, ok := e.(*syntax.Error)
			if !ok {
				panic(e)
			}
			p, err = nil, mistake
		}
	}()
	top := &scope{names: map[string]binding{}}
	result := b.block(file.Body, top)
	if result != nil && !result.Type.Kind.Scalar() && result.Type.Kind != types.Tuple {
		b.failHint(file.Body[len(file.Body)-1].(*syntax.Return).X.Pos(), fmt.Sprintf("the program returns a %s", result.Type), "a number, True or False, or a Tuple", "emit(item) lists the items of a list")
	}
	b.p.Main.Result = result
	if result == nil && len(b.p.Main.Steps) == 0 {
		b.fail(syntax.Pos{Line: 1, Col: 1}, "the program has no result", "return, or a statement that emits")
	}
	for _, d := range b.defs {
		if !b.used[d] {
			b.failHint(d.At, d.Name+" is never called", "", "a function that is never called has no types, and cannot be checked")
		}
	}
	return b.p, nil
}

// builder walks the text. The first mistake unwinds it by a panic.
type builder struct {
	file   *syntax.File
	p      *Program
	region *Func
	active []any // the functions being inlined, Defs and Lambdas
	defs   []*syntax.Def
	used   map[*syntax.Def]bool
	// given is the name for the value of the expression that comes next.
	given string
	// maybe counts the operators around whose right side may not be computed.
	maybe int
}

// scope has the names that a body sees.
type scope struct {
	names map[string]binding
	outer *scope
}

// binding is the meaning of a name: a value or a function.
type binding struct {
	node *Node
	fn   *closure
}

// closure is a function with the names that its text sees.
type closure struct {
	name   string
	params []syntax.Param
	body   []syntax.Stmt // of a def
	x      syntax.Expr   // of a lambda
	from   any           // the *Def or *Lambda
	scope  *scope
}

func (s *scope) find(name string) (binding, bool) {
	for ; s != nil; s = s.outer {
		if b, ok := s.names[name]; ok {
			return b, true
		}
	}
	return binding{}, false
}

// visible are the names that can be seen from s.
func (s *scope) visible() (out []string) {
	for ; s != nil; s = s.outer {
		for name := range s.names {
			out = append(out, name)
		}
	}
	return out
}

func (b *builder) fail(at syntax.Pos, msg, expected string) { b.failHint(at, msg, expected, "") }

func (b *builder) failHint(at syntax.Pos, msg, expected, hint string) {
	e := b.file.ErrorAt(at, msg)
	e.Expected, e.Hint = expected, hint
	panic(e)
}

// add makes a node in the current region.
func (b *builder) add(at syntax.Pos, n Node) *Node {
	if b.p.nodes >= maxNodes {
		b.failHint(at, "the program is too large", "", fmt.Sprintf("with its functions inlined it has more than %d operators", maxNodes))
	}
	n.Home, n.Pos = b.region, at
	out := b.p.Add(n)
	if n.Op.Step() || n.Effects {
		if b.maybe > 0 {
			b.failHint(at, "an operation with an effect cannot stand after 'and' or 'or'", "", "name it with let, on a line before")
		}
		b.region.Steps = append(b.region.Steps, out)
	}
	return out
}

// declare binds a name in a scope.
func (b *builder) declare(s *scope, at syntax.Pos, name string, x binding) {
	if _, ok := builtins[name]; ok {
		b.fail(at, name+" is an operator of the language", "another name")
	}
	if _, ok := s.names[name]; ok {
		b.failHint(at, name+" is named twice", "another name", "values do not change")
	}
	s.names[name] = x
}

// block builds statements and returns the node of their return, nil for none.
func (b *builder) block(body []syntax.Stmt, s *scope) *Node {
	for i, st := range body {
		switch st := st.(type) {
		case *syntax.Input:
			b.input(st, s)
		case *syntax.Def:
			b.defs = append(b.defs, st)
			b.declare(s, st.At, st.Name, binding{fn: &closure{name: st.Name, params: st.Params, body: st.Body, from: st, scope: s}})
		case *syntax.Let:
			x := b.letValue(st, s)
			b.declare(s, st.At, st.Name, x)
		case *syntax.Do:
			x := b.value(st.X, s)
			if x.Type.Kind != types.Void && x.Op != CounterAdd && !x.Effects {
				b.failHint(st.Pos(), "this value is not used", "", "name it with let, or return it")
			}
		case *syntax.Return:
			if i < len(body)-1 {
				b.fail(body[i+1].Pos(), "a statement after return never runs", "the end of the function, or of the program")
			}
			x := b.value(st.X, s)
			if x.Type.Kind == types.Void {
				return nil
			}
			return x
		}
	}
	return nil
}

func (b *builder) letValue(st *syntax.Let, s *scope) binding {
	if l, ok := st.X.(*syntax.Lambda); ok {
		return binding{fn: b.lambda(l, s)}
	}
	b.given = st.Name
	x := b.value(st.X, s)
	b.given = ""
	if x.Type.Kind == types.Void {
		b.fail(st.X.Pos(), "this expression has no value to name", "an expression with a value")
	}
	if x.Given == "" && x.Op != Const && x.Home == b.region {
		x.Given = st.Name
	}
	return binding{node: x}
}

func (b *builder) input(st *syntax.Input, s *scope) {
	t := b.inputType(st.Type, st.Name)
	n := b.add(st.At, Node{Op: Input, Type: t, Name: st.Name, Given: st.Name})
	b.p.Inputs = append(b.p.Inputs, n)
	b.declare(s, st.At, st.Name, binding{node: n})
}

// inputType is the type of an input with the facts that its declaration says.
func (b *builder) inputType(t *syntax.Type, name string) *types.Type {
	switch t.Kind {
	case "Graph":
		if t.Key == nil {
			return types.InputGraph(name, nil)
		}
		switch t.Elem.Kind {
		case "int", "float", "bool":
		default:
			b.fail(t.Elem.At, "edges with a "+t.Elem.Kind, "int, float or bool")
		}
		b.p.Keys = append(b.p.Keys, Key{name, t.Key.Value, t.Key.At})
		return types.InputGraph(name, b.itemType(t.Elem))
	case "List":
		item := b.itemType(t.Elem)
		max := types.Size(types.Length, name)
		if t.N != nil {
			if t.N.Int64() < 0 {
				b.fail(t.N.At, "a list with a negative number of items", "a number from 0 on")
			}
			max = types.MinOf(max, types.Exactly(t.N.Int64()))
		}
		l := types.ListOf(item, max)
		if item.Kind == types.Tuple && item.Elem.Kind == types.Int {
			return &types.Type{Kind: types.List, Elem: item, Max: max, Fan: types.MinOf(max, types.Size(types.Fan, name))}
		}
		return l
	case "Tuple":
		b.failHint(t.At, "not yet: an input that is a Tuple", "int, float, bool, List[…] or Graph", "declare its numbers one by one")
	}
	return b.itemType(t)
}

// itemType is the type of a Var or Tuple as written.
func (b *builder) itemType(t *syntax.Type) *types.Type {
	switch t.Kind {
	case "int":
		if t.Lo == nil {
			return types.TInt
		}
		lo, hi := t.Lo.Int64(), t.Hi.Int64()
		if lo > hi {
			b.fail(t.Hi.At, "an empty range of numbers", fmt.Sprintf("a number from %d on", lo))
		}
		out := &types.Type{Kind: types.Int, Ranged: true, Lo: lo, Hi: hi}
		if lo >= 0 {
			out.Max = types.Exactly(hi)
		}
		return out
	case "float":
		return types.TFloat
	case "bool":
		return types.TBool
	case "Tuple":
		part := b.itemType(t.Elem)
		if !part.Kind.Scalar() {
			b.fail(t.Elem.At, "a Tuple of "+part.Kind.String(), "int, float or bool")
		}
		n := t.N.Int64()
		if n < 1 || n > maxTuple {
			b.fail(t.N.At, fmt.Sprintf("a Tuple of %d", n), fmt.Sprintf("a size from 1 to %d", maxTuple))
		}
		parts := make([]*types.Type, n)
		for i := range parts {
			parts[i] = part
		}
		return types.TupleOf(parts...)
	}
	b.fail(t.At, "a "+t.Kind+" as an item", "int, float, bool or Tuple[…]")
	return nil
}

// maxTuple is the most components of a tuple.
const maxTuple = 64

func (b *builder) lambda(l *syntax.Lambda, s *scope) *closure {
	return &closure{name: "the lambda", params: l.Params, x: l.X, from: l, scope: s}
}

// inline builds the body of a function for arguments.
func (b *builder) inline(at syntax.Pos, c *closure, args []binding) *Node {
	if len(args) != len(c.params) {
		b.fail(at, fmt.Sprintf("%s takes %s, not %d", c.name, plural(len(c.params), "argument"), len(args)), "")
	}
	for _, a := range b.active {
		if a == c.from {
			b.failHint(at, c.name+" calls itself", "", "functions are inlined, so there is no recursion")
		}
	}
	if d, ok := c.from.(*syntax.Def); ok {
		b.used[d] = true
	}
	b.active = append(b.active, c.from)
	given := b.given
	b.given = ""
	s := &scope{names: map[string]binding{}, outer: c.scope}
	for i, p := range c.params {
		b.declare(s, p.At, p.Name, args[i])
	}
	var out *Node
	if c.x != nil {
		out = b.value(c.x, s)
		if out.Type.Kind == types.Void {
			out = nil
		}
	} else {
		out = b.block(c.body, s)
	}
	b.active = b.active[:len(b.active)-1]
	b.given = given
	return out
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// unknown reports a name that means nothing.
func (b *builder) unknown(at syntax.Pos, name, what string, known []string) {
	best, least := "", 3
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < least && d < len(name) || d == least && k < best {
			best, least = k, d
		}
	}
	hint := ""
	if best != "" {
		hint = "did you mean " + best + "?"
	}
	b.failHint(at, "there is no "+what+" "+name, "", hint)
}

// distance is the number of letters to change, add or drop to make a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
