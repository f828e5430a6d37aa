package gql

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/weftgraph/weft/internal/caret"
	"github.com/weftgraph/weft/internal/pattern"
)

// Bounds of the expansion of nested macros, and of EXISTS inside EXISTS, whose canonical form
// is computed again at each level.
const (
	maxEdges  = 1024
	maxCalls  = 1024
	maxExists = 4
)

// resolver turns the syntax tree of one text into patterns.
type resolver struct {
	text   string
	words  map[string]bool // every name in the text: fresh names avoid them
	macros map[string]*defineSyntax
	inNot  map[string]bool // names that only stand inside NOT
	calls  int             // of macros and catalogue patterns so far
	starAt int             // place of the first edge of variable length, from 1; 0: there is none
}

func (r *resolver) fail(pos int, format string, args ...any) *Error {
	return errorAt(r.text, pos, fmt.Sprintf(format, args...))
}

// builder is a pattern under construction: that of the query, or one in EXISTS.
type builder struct {
	*resolver
	p         *pattern.Pattern
	vertexPos []int
	edgePos   []int
	edgeNames map[string]bool
	labelled  map[labelled]bool
	own       []int // in EXISTS: own[i] is the vertex for …
	outer     []int // … vertex outer[i] of the enclosing pattern
	later     []func()
	orderFrom string    // the call that brought the order
	unnamed   []offered // edges of patterns of the catalogue that may get names
	depth     int       // of EXISTS around it
	around    *builder  // of the enclosing pattern; nil otherwise
}

// labelled is a label that a place of a vertex has.
type labelled struct {
	vertex int
	label  string
}

// offered is an edge without a name, and the name that it gets where it needs one.
type offered struct {
	edge int
	name string
}

// env is the names that one place sees. A macro body has an env of its own over
// the builder of its caller; EXISTS has one over a builder of its own.
type env struct {
	*builder
	parent   *env // of EXISTS; nil otherwise
	vertices map[string]int
	edges    map[string]int
	offered  map[string]int // names that edges of the catalogue get when they are used
	self     *pattern.Ref   // "_" inside the brackets of a node or edge
	closed   bool           // inside NOT: no new vertex names
	local    func(name string, taken func(string) bool) string
}

func (r *resolver) newEnv(parent *env, p *pattern.Pattern) *env {
	b := &builder{resolver: r, p: p, edgeNames: map[string]bool{}, labelled: map[labelled]bool{}}
	if parent != nil {
		b.around = parent.builder
	}
	return &env{builder: b, parent: parent, vertices: map[string]int{}, edges: map[string]int{}}
}

// resolveQuery builds the query for a syntax tree; it panics with an *Error.
func resolveQuery(text string, tokens []token, q *querySyntax) *Query {
	r := &resolver{text: text, words: map[string]bool{}, macros: map[string]*defineSyntax{}, inNot: map[string]bool{}}
	for _, t := range tokens {
		if t.kind == tokWord || t.kind == tokQuoted {
			r.words[t.text] = true
		}
	}
	out := &Query{Text: text, source: text, Watch: q.watch, Explain: q.explain, Profile: q.profile, ModeGiven: q.body.mode != nil, Return: Return{Limit: -1}}
	if q.explain || q.profile {
		out.explainAt = q.explainAt + 1
	}
	if q.watch != nil {
		out.Name, out.watchAt = q.watch.Name, q.pos+1
	}
	e := r.newEnv(nil, &pattern.Pattern{})
	for _, d := range q.defines {
		r.define(d)
	}
	r.starAt = 0 // macros that are not called have none
	e.body(q.body)
	if ps := q.body.patterns; len(ps) == 1 && ps[0].call != nil && r.macros[ps[0].call.name.text] == nil {
		e.p.Name = catalogueName(ps[0].call)
	}
	if q.order != nil {
		e.order(q.order)
		out.orderAt = q.order.pos + 1
	}
	out.Pattern, out.starAt = e.p, r.starAt
	e.validate(q.body.pos)
	if q.ret != nil {
		out.HasReturn = true
		out.Return = e.returns(q.ret)
	}
	return out
}

// body adds everything between MATCH and ORDERED or RETURN.
func (e *env) body(b *bodySyntax) {
	if b.mode != nil {
		e.p.Mode = *b.mode
	}
	e.p.Induced = b.induced
	e.patterns(b.patterns)
	// Texts inside nodes and NOT may use names that only later paths declare, so they wait
	// until all paths are there.
	e.runLater()
	if b.where != nil {
		e.where(b.where)
	}
}

func (b *builder) runLater() {
	for len(b.later) > 0 {
		f := b.later[0]
		b.later = b.later[1:]
		f()
	}
}

func (e *env) patterns(ps []patternSyntax) {
	for i := range ps {
		p := &ps[i]
		switch {
		case p.call != nil:
			e.call(p.call)
		case p.not:
			e.negated(p)
		default:
			e.path(p)
		}
	}
}

// path adds the nodes and edges of a positive path.
func (e *env) path(p *patternSyntax) {
	at := e.node(&p.nodes[0])
	for i := range p.edges {
		to := e.node(&p.nodes[i+1])
		e.edge(&p.edges[i], at, to)
		at = to
	}
}

// node returns the vertex for n, which is new unless its name is known.
func (e *env) node(n *nodeSyntax) int {
	v, known := -1, false
	if n.name.text != "" {
		v, known = e.vertex(n.name.text)
		if !known {
			if e.closed {
				panic(e.fail(n.name.pos, "NOT introduces no names, and %s is not bound elsewhere", n.name.text).
					expecting("a name from a path without NOT, or () for any vertex"))
			}
			e.freeOfEdges(n.name)
		}
	}
	if !known {
		v = e.addVertex(e.localName(n.name.text), n.pos)
		if n.name.text != "" {
			e.vertices[n.name.text] = v
		}
	}
	e.p.Vertices[v].Aside = false
	if l := n.label; l != nil && !e.labelled[labelled{v, l.String()}] {
		e.labelled[labelled{v, l.String()}] = true
		if have := e.p.Vertices[v].Label; have != nil {
			l = &pattern.Label{Op: pattern.LabelAnd, X: have, Y: l}
		}
		e.p.Vertices[v].Label = l
	}
	e.inline(n.props, n.where, pattern.Ref{Kind: pattern.VertexRef, Index: v})
	return v
}

// localName is the name that a vertex or edge gets in the pattern.
func (e *env) localName(name string) string {
	if name == "" || e.local == nil {
		return name
	}
	return e.local(name, e.taken)
}

// taken reports whether a vertex or edge of the pattern has the name.
func (b *builder) taken(name string) bool {
	if b.edgeNames[name] {
		return true
	}
	return slices.ContainsFunc(b.p.Vertices, func(v pattern.Vertex) bool { return v.Name == name })
}

func (b *builder) addVertex(name string, pos int) int {
	if len(b.p.Vertices) == pattern.MaxVertices {
		if b.around != nil {
			panic(b.fail(pos, "a pattern in EXISTS or NOT may have at most %d vertices, those of the pattern around it included", pattern.MaxVertices))
		}
		panic(b.fail(pos, "a pattern may have at most %d vertices", pattern.MaxVertices))
	}
	b.p.Vertices = append(b.p.Vertices, pattern.Vertex{Name: name})
	b.vertexPos = append(b.vertexPos, pos)
	return len(b.p.Vertices) - 1
}

// vertex looks a name up. Inside EXISTS a name of the enclosing pattern becomes
// an outer vertex.
func (e *env) vertex(name string) (int, bool) {
	if v, ok := e.vertices[name]; ok {
		return v, true
	}
	if e.parent == nil {
		return 0, false
	}
	outer, ok := e.parent.vertex(name)
	if !ok {
		return 0, false
	}
	v := e.fromAround(outer, 0)
	e.vertices[name] = v
	return v, true
}

// fromAround returns the vertex for a vertex of the enclosing pattern.
func (b *builder) fromAround(outer, pos int) int {
	if i := slices.Index(b.outer, outer); i >= 0 {
		return b.own[i]
	}
	v := b.addVertex(b.around.p.Vertices[outer].Name, pos)
	b.p.Vertices[v].Aside = true // unless a path goes through it
	b.own, b.outer = append(b.own, v), append(b.outer, outer)
	return v
}

// allAround adds the vertices of all enclosing patterns that are not mentioned: under
// iso the vertices of b differ from them as well.
func (b *builder) allAround(pos int) {
	if b.around == nil {
		return
	}
	b.around.allAround(pos)
	for outer := range b.around.p.Vertices {
		b.fromAround(outer, pos)
	}
}

// isEdge reports whether name is an edge here or in an enclosing pattern.
func (e *env) isEdge(name string) bool {
	for ; e != nil; e = e.parent {
		if _, ok := e.edges[name]; ok {
			return true
		}
	}
	return false
}

func (e *env) freeOfEdges(n name) {
	if e.isEdge(n.text) {
		panic(e.fail(n.pos, "%s is an edge, so it cannot be a vertex", n.text))
	}
}

// freeForEdge requires that n is new.
func (e *env) freeForEdge(n name) {
	if e.isEdge(n.text) {
		panic(e.fail(n.pos, "the edge %s is declared twice", n.text).expecting("a name of its own for each edge"))
	}
	for a := e; a != nil; a = a.parent {
		if _, ok := a.vertices[n.text]; ok {
			panic(e.fail(n.pos, "%s is a vertex, so it cannot be an edge", n.text))
		}
	}
}

// edge adds s from vertex a to vertex b, as they stand in the text.
func (e *env) edge(s *edgeSyntax, a, b int) int {
	if a == b && s.max == 1 {
		panic(e.fail(s.pos, "an edge from a vertex to itself can never match: graphs are stored without self-loops"))
	}
	if len(e.p.Edges) == maxEdges {
		panic(e.fail(s.pos, "a pattern may have at most %d edges", maxEdges))
	}
	i := len(e.p.Edges)
	e.p.Edges = append(e.p.Edges, e.newEdge(s, a, b))
	e.edgePos = append(e.edgePos, s.pos)
	if s.name.text != "" {
		e.freeForEdge(s.name)
		e.edges[s.name.text] = i
		e.p.Edges[i].Name = e.localName(s.name.text)
		e.edgeNames[e.p.Edges[i].Name] = true
	}
	e.inline(s.props, s.where, pattern.Ref{Kind: pattern.EdgeRef, Index: i})
	return i
}

func (r *resolver) newEdge(s *edgeSyntax, a, b int) pattern.Edge {
	if (s.min != 1 || s.max != 1) && (r.starAt == 0 || s.pos < r.starAt-1) {
		r.starAt = s.pos + 1
	}
	edge := pattern.Edge{From: a, To: b, Label: s.label, Min: s.min, Max: s.max}
	if s.left || s.right {
		edge.Dir = pattern.Forward
	}
	if s.left {
		edge.From, edge.To = b, a
	}
	return edge
}

// inline adds, later, the properties and WHERE inside a node or edge.
func (e *env) inline(props []propSyntax, where *exprSyntax, self pattern.Ref) {
	if props == nil && where == nil {
		return
	}
	e.later = append(e.later, func() {
		inner := *e
		inner.self = &self
		for _, p := range props {
			value, _ := inner.expr(p.value)
			inner.conjunct(pattern.Binary{Op: pattern.OpEq, X: pattern.Prop{Of: self, Key: p.key.text}, Y: value}, p.key.pos)
		}
		if where != nil {
			inner.where(where)
		}
	})
}

// negated adds NOT path: a negated edge where it is a single edge between plain
// names, and NOT EXISTS otherwise.
func (e *env) negated(p *patternSyntax) {
	for i := range p.edges {
		if n := p.edges[i].name.text; n != "" {
			e.inNot[n] = true
		}
	}
	s := patternSyntax{pos: p.pos, nodes: p.nodes, edges: p.edges}
	if !singleEdge(p) {
		e.later = append(e.later, func() {
			x := e.exists(&bodySyntax{pos: p.pos, patterns: []patternSyntax{s}}, true)
			if x == pattern.Expr(never) {
				return // nothing is excluded
			}
			e.conjunct(pattern.Unary{Op: pattern.OpNot, X: x}, p.pos)
		})
		return
	}
	i := len(e.p.Edges)
	e.p.Edges = append(e.p.Edges, pattern.Edge{Negated: true})
	e.edgePos = append(e.edgePos, p.pos)
	e.later = append(e.later, func() {
		inner := *e
		inner.closed = true
		edge := &p.edges[0]
		a, b := inner.node(&p.nodes[0]), inner.node(&p.nodes[1])
		if a == b && edge.max == 1 {
			panic(e.fail(edge.pos, "NOT of an edge from a vertex to itself says nothing: graphs are stored without self-loops"))
		}
		e.p.Edges[i] = e.newEdge(edge, a, b)
		e.p.Edges[i].Negated = true
		inner.self = &pattern.Ref{Kind: pattern.EdgeRef, Index: i}
		inner.edges = maps.Clone(e.edges)
		if edge.name.text != "" {
			e.freeForEdge(edge.name)
			inner.edges[edge.name.text] = i
		}
		for _, prop := range edge.props {
			value, _ := inner.expr(prop.value)
			e.p.Edges[i].Where = append(e.p.Edges[i].Where, pattern.Binary{Op: pattern.OpEq, X: pattern.Prop{Of: *inner.self, Key: prop.key.text}, Y: value})
		}
		if edge.where != nil {
			e.p.Edges[i].Where = append(e.p.Edges[i].Where, inner.boolean(edge.where)...)
		}
	})
}

// singleEdge reports whether a NOT path is one edge between two plain names,
// with predicates about that edge alone and a label that an edge may have.
func singleEdge(p *patternSyntax) bool {
	if len(p.edges) != 1 || !p.nodes[0].plain() || !p.nodes[1].plain() || p.nodes[0].name.text == "" || p.nodes[1].name.text == "" {
		return false
	}
	edge := &p.edges[0]
	if !edge.label.Satisfiable() {
		return false
	}
	alone := true
	var walk func(*exprSyntax)
	walk = func(x *exprSyntax) {
		if x.kind == exprExists || x.kind == exprName && x.text != "_" && x.text != edge.name.text {
			alone = false
		}
		for _, a := range x.args {
			walk(a)
		}
	}
	for _, prop := range edge.props {
		walk(prop.value)
	}
	if edge.where != nil {
		walk(edge.where)
	}
	return alone
}

// never is the value of EXISTS of a sub-pattern that contradicts itself.
var never = pattern.Lit{Value: false}

// exists builds the sub-pattern of EXISTS, or of NOT path where closed; it is never where
// that contradicts itself.
func (e *env) exists(b *bodySyntax, closed bool) pattern.Expr {
	if e.depth == maxExists {
		panic(e.fail(b.pos, "EXISTS is nested more than %d deep", maxExists))
	}
	sub := e.newEnv(e, &pattern.Pattern{Mode: e.p.Mode})
	sub.depth = e.depth + 1
	sub.closed = closed
	sub.body(b)
	if sub.p.Mode == pattern.Iso && len(sub.own) < len(sub.p.Vertices) {
		sub.allAround(b.pos)
	}
	if err := (*pattern.Invalid)(nil); errors.As(sub.p.Validate(), &err) && err.Never {
		return never
	}
	sub.validate(b.pos)
	// The contract puts outer vertices first.
	perm := make([]int, len(sub.p.Vertices))
	next := len(sub.own)
	for v := range perm {
		if i := slices.Index(sub.own, v); i >= 0 {
			perm[v] = i
		} else {
			perm[v] = next
			next++
		}
	}
	return pattern.Exists{Sub: sub.p.Permute(perm), Outer: sub.outer, OwnMode: b.mode != nil}
}

// validate reports the error of Pattern.Validate, at its place in the text.
func (b *builder) validate(pos int) {
	err := b.p.Validate()
	var invalid *pattern.Invalid
	if !errors.As(err, &invalid) {
		return
	}
	if invalid.Vertex >= 0 {
		pos = b.vertexPos[invalid.Vertex]
	}
	if invalid.Edge >= 0 {
		pos = b.edgePos[invalid.Edge]
	}
	panic(b.fail(pos, "%s", invalid.Msg))
}

// order adds ORDERED and WITHIN.
func (e *env) order(o *orderSyntax) {
	if e.p.Order != nil {
		e.bound(o)
		return
	}
	if len(o.edges) == 0 && !slices.ContainsFunc(e.p.Edges, func(x pattern.Edge) bool { return x.Named() }) {
		for _, o := range e.unnamed { // WITHIN is about them, as there is nothing else
			n := freshName(o.name, e.taken)
			e.p.Edges[o.edge].Name, e.edgeNames[n] = n, true
		}
	}
	order := &pattern.Order{On: o.on, Within: o.within, Duration: o.duration}
	for _, n := range o.edges {
		i, ok := e.edgeCalled(n.text)
		if !ok {
			if _, vertex := e.vertices[n.text]; vertex {
				panic(e.fail(n.pos, "%s is a vertex: ORDERED is about edges", n.text))
			}
			panic(e.unknown(n.text, n.pos, slices.Collect(maps.Keys(e.edges))))
		}
		if slices.Contains(order.Edges, i) {
			panic(e.fail(n.pos, "%s cannot come before itself", n.text))
		}
		if edge := &e.p.Edges[i]; edge.Min != 1 || edge.Max != 1 {
			panic(e.fail(n.pos, "%s has a variable length, so it has no single time", n.text))
		}
		order.Edges = append(order.Edges, i)
	}
	e.p.Order = order
}

// bound adds WITHIN to the order that a call has brought.
func (e *env) bound(o *orderSyntax) {
	if len(o.edges) > 0 {
		panic(e.fail(o.pos, "the order is already given by %s", e.orderFrom).expecting("WITHIN alone, which bounds that order"))
	}
	for i := range e.p.Edges {
		x := &e.p.Edges[i]
		if !x.Negated && (x.Named() || e.p.Mode == pattern.Trail) && !slices.Contains(e.p.Order.Edges, i) {
			panic(e.fail(o.pos, "WITHIN is about the order of %s here, and says nothing of the edge %s", e.orderFrom, e.p.EdgeName(i)).
				expecting("a condition between times, as WHERE x.time - y.time <= 3600"))
		}
	}
	e.p.Order.On, e.p.Order.Within, e.p.Order.Duration = o.on, o.within, o.duration
}

// offer notes edges of a pattern of the catalogue, which are called e1, e2, … where that
// is used and means nothing else.
func (e *env) offer(edges []int) {
	for i, edge := range edges {
		if e.p.Edges[edge].Named() {
			continue
		}
		if e.offered == nil {
			e.offered = map[string]int{}
		}
		n := freshName("e"+strconv.Itoa(i+1), func(n string) bool { _, known := e.offered[n]; return known })
		e.offered[n] = edge
		e.unnamed = append(e.unnamed, offered{edge, n})
	}
}

// edgeCalled returns the edge of a name, which an edge of the catalogue may get by it.
func (e *env) edgeCalled(name string) (int, bool) {
	if i, ok := e.edges[name]; ok {
		return i, true
	}
	if _, vertex := e.vertices[name]; vertex {
		return 0, false
	}
	i, ok := e.offered[name]
	if ok {
		delete(e.offered, name)
		e.edges[name] = i
		e.p.Edges[i].Name = e.localName(name)
		e.edgeNames[e.p.Edges[i].Name] = true
	}
	return i, ok
}

// unknown is the error of a name that nothing declares.
func (e *env) unknown(n string, pos int, known []string) *Error {
	err := e.fail(pos, "unknown name %s", n)
	if e.inNot[n] {
		err.Msg = caret.Message(fmt.Sprintf("%s stands inside NOT, which introduces no names", n))
	}
	slices.Sort(known)
	err.Suggestion = pattern.Suggest(n, known)
	return err
}

// names lists the vertices and edges that e sees.
func (e *env) names() []string {
	var out []string
	for ; e != nil; e = e.parent {
		out = slices.AppendSeq(out, maps.Keys(e.vertices))
		out = slices.AppendSeq(out, maps.Keys(e.edges))
	}
	return out
}
