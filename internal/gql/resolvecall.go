package gql

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/caret"
	"github.com/weftgraph/weft/internal/pattern"
)

// define registers a macro; macros may call those defined before them, so that none
// calls itself. A macro goes before a pattern of the catalogue.
func (r *resolver) define(d *defineSyntax) {
	n := d.name
	if r.macros[n.text] != nil {
		panic(r.fail(n.pos, "%s is defined twice", n.text))
	}
	seen := map[string]bool{}
	for _, p := range d.params {
		if seen[p.text] {
			panic(r.fail(p.pos, "the parameter %s is declared twice", p.text))
		}
		seen[p.text] = true
	}
	// A macro that is never called is checked all the same. It is registered
	// only afterwards, so that it cannot call itself.
	probe := r.newEnv(nil, &pattern.Pattern{})
	c := &callSyntax{name: n}
	for _, p := range d.params {
		c.args = append(c.args, argSyntax{name: p})
	}
	probe.macro(c, d)
	probe.runLater()
	r.macros[n.text] = d
}

// call expands a macro or a pattern of the catalogue.
func (e *env) call(c *callSyntax) {
	if e.calls++; e.calls > maxCalls {
		panic(e.fail(c.name.pos, "the macros expand to more than %d calls", maxCalls))
	}
	if d := e.macros[c.name.text]; d != nil {
		e.macro(c, d)
		return
	}
	e.catalogue(c)
}

// argument returns the vertex of a call's argument, which may be a new name.
func (e *env) argument(a argSyntax) int {
	if a.name.text == "" {
		panic(e.fail(a.name.pos, "the argument is a number").expecting("the name of a vertex"))
	}
	return e.node(&nodeSyntax{pos: a.name.pos, name: a.name})
}

// macro expands d in an env of its own: its parameters are the caller's
// vertices, and its other names get fresh ones where the text uses them too.
func (e *env) macro(c *callSyntax, d *defineSyntax) {
	if len(c.args) != len(d.params) {
		panic(e.fail(c.name.pos, "%s takes %s, not %d", d.name.text, vertices(len(d.params)), len(c.args)))
	}
	inner := &env{builder: e.builder, vertices: map[string]int{}, edges: map[string]int{}}
	inner.local = func(name string, taken func(string) bool) string {
		return freshName(name, func(n string) bool { return e.words[n] || taken(n) })
	}
	for i, a := range c.args {
		inner.vertices[d.params[i].text] = e.argument(a)
	}
	inner.patterns(d.body.patterns)
	if d.body.where != nil {
		e.later = append(e.later, func() { inner.where(d.body.where) })
	}
}

// freshName is name, or name_2, name_3, … where it is taken.
func freshName(name string, taken func(string) bool) string {
	out := name
	for i := 2; taken(out); i++ {
		out = name + "_" + strconv.Itoa(i)
	}
	return out
}

// catalogue expands a named pattern. Without vertices as arguments its own names
// v0, v1, … stand in the query; where they are taken, fresh ones do.
func (e *env) catalogue(c *callSyntax) {
	parameters := numbers(c)
	args := c.args[len(parameters):]
	ps, err := pattern.Named(c.name.text, parameters)
	if err != nil {
		panic(e.catalogueError(c, err))
	}
	if len(ps) > 1 {
		all := fmt.Sprintf("%s(%d)", c.name.text, parameters[0])
		var names []string
		for _, p := range ps[:min(len(ps), 6)] {
			names = append(names, p.Name)
		}
		if len(ps) > len(names) {
			names = append(names, "…")
		}
		panic(e.fail(c.name.pos, "%s stands for %d patterns, and MATCH is about one", all, len(ps)).
			expecting(strings.Join(names, ", ") + "; or, to count each of them, --pattern '" + all + "'"))
	}
	named := ps[0]
	if len(args) > 0 && len(args) != len(named.Vertices) {
		panic(e.fail(c.name.pos, "%s has %s, not %d", named.Name, vertices(len(named.Vertices)), len(args)))
	}
	at := make([]int, len(named.Vertices))
	for v := range named.Vertices {
		if len(args) > 0 {
			at[v] = e.argument(args[v])
			continue
		}
		n := freshName(named.Vertices[v].Name, func(n string) bool { return e.taken(n) || e.isEdge(n) })
		at[v] = e.addVertex(n, c.name.pos)
		e.vertices[n] = at[v]
	}
	edgeAt := make([]int, len(named.Edges))
	for i, edge := range named.Edges {
		s := &edgeSyntax{pos: c.name.pos, right: edge.Dir == pattern.Forward, min: 1, max: 1}
		if edge.Name != "" {
			s.name = name{freshName(edge.Name, func(n string) bool {
				_, vertex := e.vertices[n]
				return vertex || e.taken(n) || e.isEdge(n)
			}), c.name.pos}
		}
		edgeAt[i] = e.edge(s, at[edge.From], at[edge.To])
	}
	e.offer(edgeAt)
	if named.Order != nil {
		if e.p.Order != nil {
			panic(e.fail(c.name.pos, "%s carries an order, and the pattern already has one", named.Name))
		}
		e.orderFrom = named.Name
		e.p.Order = &pattern.Order{}
		for _, i := range named.Order.Edges {
			e.p.Order.Edges = append(e.p.Order.Edges, edgeAt[i])
		}
	}
}

func (e *env) catalogueError(c *callSyntax, err error) *Error {
	out := e.fail(c.name.pos, "%s", err.Error())
	var unknown *pattern.UnknownName
	if errors.As(err, &unknown) {
		out.Msg = caret.Message("no pattern or macro is called " + c.name.text)
		out.Suggestion = unknown.Nearest
		var macros []string
		for m := range e.macros {
			macros = append(macros, m)
		}
		if m := pattern.Suggest(c.name.text, macros); m != "" {
			out.Suggestion = m
		}
	}
	return out
}

// catalogueName is the name of the pattern that a call names.
func catalogueName(c *callSyntax) string {
	ps, err := pattern.Named(c.name.text, numbers(c))
	if err != nil {
		return ""
	}
	return ps[0].Name
}

// numbers returns the leading arguments of c that are numbers.
func numbers(c *callSyntax) []int {
	var out []int
	for _, a := range c.args {
		if a.name.text != "" {
			break
		}
		out = append(out, a.number)
	}
	return out
}

func vertices(n int) string {
	if n == 1 {
		return "1 vertex"
	}
	return strconv.Itoa(n) + " vertices"
}
