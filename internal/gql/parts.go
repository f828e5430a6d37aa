package gql

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// Span is a place in a text: from a byte, from 0, to before another.
type Span [2]int

// Parts has the vertices and edges of a query with their places in its text, so that a program can draw and change them. Texts are as
// they are written. No list is nil.
type Parts struct {
	Semantics string       `json:"semantics"` // iso, trail or hom
	Induced   bool         `json:"induced"`
	Mode      Span         `json:"mode"` // of the words between MATCH and the first path; empty where they can be inserted
	Groups    []PartGroup  `json:"groups"`
	Vertices  []PartVertex `json:"vertices"`
	Edges     []PartEdge   `json:"edges"`
	Paths     []PartPath   `json:"paths"` // in the order of the text
	Where     string       `json:"where"` // that of MATCH
	Rest      []Span       `json:"rest"`  // what stands before and after MATCH and its paths
	// Fixed says why the places are not known. All spans are empty then, and there are no paths. It is "" if they are known.
	Fixed string `json:"fixed"`
}

// The kinds of groups.
const (
	GroupMatch     = "match"
	GroupExists    = "exists"    // EXISTS that each match must fulfil
	GroupNot       = "not"       // NOT before a path, or NOT EXISTS that each match must fulfil
	GroupCondition = "condition" // EXISTS in a larger condition, as under OR
)

// PartGroup is what MATCH, EXISTS or NOT is about. The first group is MATCH.
type PartGroup struct {
	Kind   string `json:"kind"`
	Parent int    `json:"parent"` // the group around it; -1 of MATCH
	At     Span   `json:"at"`
	Inside Span   `json:"inside"` // of its paths
	Where  string `json:"where"`
}

// PartVertex is a vertex. Labels, Properties and Where are those of its own group, from all its places there.
type PartVertex struct {
	Name       string `json:"name"` // without quotes; "" if it has none
	Labels     string `json:"labels"`
	Properties string `json:"properties"`
	Where      string `json:"where"`
	Group      int    `json:"group"`
	At         []Span `json:"at"`   // its places in paths, with the parentheses
	Uses       []Span `json:"uses"` // each place of its name
}

// PartEdge is an edge.
type PartEdge struct {
	Name       string `json:"name"`
	From       int    `json:"from"`
	To         int    `json:"to"`
	Direction  string `json:"direction"` // out, or any
	Labels     string `json:"labels"`
	Properties string `json:"properties"`
	Where      string `json:"where"`
	Length     string `json:"length"` // as *1..3; "" of one edge
	Group      int    `json:"group"`
	At         Span   `json:"at"`
	Uses       []Span `json:"uses"`
}

// PartPath is a path. Edges[i] is between Nodes[i] and Nodes[i+1].
type PartPath struct {
	Group int        `json:"group"`
	At    Span       `json:"at"`
	Nodes []PartNode `json:"nodes"`
	Edges []int      `json:"edges"`
}

// PartNode is a place of a vertex in a path, with what is written there.
type PartNode struct {
	Vertex     int    `json:"vertex"`
	At         Span   `json:"at"`
	Labels     string `json:"labels"`
	Properties string `json:"properties"`
	Where      string `json:"where"`
}

// ReadParts reads the parts of a query, or of a GraphFrames motif. It refuses what ParseText refuses, with the same *Error.
func ReadParts(text string) (parts *Parts, err error) {
	if isMotif(text) {
		q, err := ParseGraphFrames(text)
		if err != nil {
			return nil, err
		}
		return drawing(q, "a GraphFrames motif is not changed here: write it as a query with MATCH"), nil
	}
	defer catch(&err)
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, tokens: tokens}
	s := p.query()
	q := resolveQuery(text, tokens, s)
	p.last()
	if c := called(s.body); c != "" {
		return drawing(q, c+" is the name of a pattern, whose vertices and edges are not in the text"), nil
	}
	r := &partsReader{text: text, tokens: tokens, out: newParts(q)}
	r.query(s)
	return r.out, nil
}

func newParts(q *Query) *Parts {
	return &Parts{
		Semantics: q.Pattern.Mode.String(), Induced: q.Pattern.Induced, Groups: []PartGroup{}, Vertices: []PartVertex{}, Edges: []PartEdge{},
		Paths: []PartPath{}, Rest: []Span{},
	}
}

// called is the name of a pattern that a body, or an EXISTS in it, calls; "" if there is none.
func called(b *bodySyntax) (name string) {
	var expr func(*exprSyntax)
	expr = func(x *exprSyntax) {
		if x == nil {
			return
		}
		if x.sub != nil && name == "" {
			name = called(x.sub)
		}
		for _, a := range x.args {
			expr(a)
		}
	}
	for i := range b.patterns {
		p := &b.patterns[i]
		if p.call != nil && name == "" {
			name = p.call.name.text
		}
		p.conditions(expr)
	}
	expr(b.where)
	return name
}

// conditions calls f with the expressions inside the nodes and edges of a path.
func (p *patternSyntax) conditions(f func(*exprSyntax)) {
	element := func(props []propSyntax, where *exprSyntax) {
		for _, k := range props {
			f(k.value)
		}
		if where != nil {
			f(where)
		}
	}
	for i := range p.nodes {
		element(p.nodes[i].props, p.nodes[i].where)
	}
	for i := range p.edges {
		element(p.edges[i].props, p.edges[i].where)
	}
}

// partsReader makes the parts of a syntax tree that was resolved without a mistake.
type partsReader struct {
	text   string
	tokens []token
	out    *Parts
	has    []written // by vertex
}

// written has the texts that stand at the places of a vertex in its own group. inside are the properties without their braces.
type written struct{ labels, properties, inside, where []string }

// partsScope is a group with the names that it sees.
type partsScope struct {
	parent          *partsScope
	group           int
	vertices, edges map[string]int
}

func (r *partsReader) scope(parent *partsScope, g PartGroup) *partsScope {
	g.Parent = -1
	if parent != nil {
		g.Parent = parent.group
	}
	r.out.Groups = append(r.out.Groups, g)
	return &partsScope{parent, len(r.out.Groups) - 1, map[string]int{}, map[string]int{}}
}

func (r *partsReader) query(s *querySyntax) {
	b := s.body
	r.out.Mode = r.trimmed(Span{b.pos, b.patterns[0].pos})
	r.out.Where = r.at(b.whereAt)
	sc := r.scope(nil, r.group(GroupMatch, Span{s.matchAt, b.patterns[len(b.patterns)-1].end}, b))
	r.body(b, sc)
	if s.order != nil {
		for _, n := range s.order.edges {
			r.use(sc, n.text, Span{n.pos, r.end(n.pos)})
		}
	}
	if s.ret != nil {
		for _, items := range [][]itemSyntax{s.ret.items, s.ret.groupBy} {
			for _, i := range items {
				r.expr(sc, i.expr, false)
			}
		}
	}
	at := r.out.Groups[0].At
	for _, rest := range []Span{{0, at[0]}, {at[1], len(r.text)}} {
		if rest = r.trimmed(rest); rest[0] < rest[1] {
			r.out.Rest = append(r.out.Rest, rest)
		}
	}
	byPlace := func(spans []Span) { slices.SortFunc(spans, func(a, b Span) int { return a[0] - b[0] }) }
	for i := range r.out.Vertices {
		v := &r.out.Vertices[i]
		byPlace(v.At)
		byPlace(v.Uses)
		v.Labels, v.Properties, v.Where = joined(r.has[i].labels, "&"), r.has[i].merged(), joined(r.has[i].where, " AND ")
	}
	for i := range r.out.Edges {
		byPlace(r.out.Edges[i].Uses)
	}
	slices.SortFunc(r.out.Paths, func(a, b PartPath) int { return a.At[0] - b.At[0] })
}

// group is the group of a body.
func (r *partsReader) group(kind string, at Span, b *bodySyntax) PartGroup {
	return PartGroup{Kind: kind, At: at, Inside: Span{b.patterns[0].pos, b.patterns[len(b.patterns)-1].end}, Where: r.at(b.whereAt)}
}

func (r *partsReader) at(s Span) string { return r.text[s[0]:s[1]] }

// trimmed is a span without the blanks at its ends.
func (r *partsReader) trimmed(s Span) Span {
	t := strings.TrimSpace(r.at(s))
	from := s[0] + strings.Index(r.at(s), t)
	return Span{from, from + len(t)}
}

// end is the place after the token at pos.
func (r *partsReader) end(pos int) int {
	return r.tokens[sort.Search(len(r.tokens), func(i int) bool { return r.tokens[i].pos >= pos })].end
}

// before is the place after the token before the one that ends at a place.
func (r *partsReader) before(end int) int {
	return r.tokens[sort.Search(len(r.tokens), func(i int) bool { return r.tokens[i].end >= end })-1].end
}

// body reads paths, and then NOT and conditions, which may use names that only later paths have.
func (r *partsReader) body(b *bodySyntax, sc *partsScope) {
	inner := make([]*partsScope, len(b.patterns))
	for i := range b.patterns {
		if p := &b.patterns[i]; !p.not {
			inner[i] = sc
			r.path(p, sc)
		}
	}
	for i := range b.patterns {
		if p := &b.patterns[i]; p.not {
			at := Span{p.pos, p.end}
			inner[i] = r.scope(sc, PartGroup{Kind: GroupNot, At: at, Inside: Span{p.nodes[0].pos, p.end}})
			r.path(p, inner[i])
		}
	}
	for i := range b.patterns {
		b.patterns[i].conditions(func(x *exprSyntax) { r.expr(inner[i], x, true) })
	}
	if b.where != nil {
		r.expr(sc, b.where, true)
	}
}

func (r *partsReader) path(p *patternSyntax, sc *partsScope) {
	out := PartPath{Group: sc.group, Nodes: []PartNode{}, Edges: []int{}}
	for i := range p.nodes {
		out.Nodes = append(out.Nodes, r.node(&p.nodes[i], sc))
	}
	out.At = Span{out.Nodes[0].At[0], p.end}
	for i := range p.edges {
		e := &p.edges[i]
		edge := PartEdge{
			Name: e.name.text, From: out.Nodes[i].Vertex, To: out.Nodes[i+1].Vertex, Direction: direction(e.left || e.right), Labels: r.at(e.at.label),
			Properties: r.at(e.at.props), Where: r.at(e.at.where), Length: r.at(e.at.length), Group: sc.group, At: e.at.whole, Uses: []Span{},
		}
		if e.left {
			edge.From, edge.To = edge.To, edge.From
		}
		if edge.Name != "" {
			edge.Uses = append(edge.Uses, Span{e.name.pos, r.end(e.name.pos)})
			sc.edges[edge.Name] = len(r.out.Edges)
		}
		out.Edges = append(out.Edges, len(r.out.Edges))
		r.out.Edges = append(r.out.Edges, edge)
	}
	r.out.Paths = append(r.out.Paths, out)
}

func direction(directed bool) string {
	if directed {
		return "out"
	}
	return "any"
}

func (r *partsReader) node(n *nodeSyntax, sc *partsScope) PartNode {
	v, ok := -1, false
	for s := sc; s != nil && n.name.text != "" && !ok; s = s.parent {
		v, ok = s.vertices[n.name.text]
	}
	if !ok {
		v = len(r.out.Vertices)
		r.out.Vertices = append(r.out.Vertices, PartVertex{Name: n.name.text, Group: sc.group, At: []Span{}, Uses: []Span{}})
		r.has = append(r.has, written{})
		if n.name.text != "" {
			sc.vertices[n.name.text] = v
		}
	}
	out := PartNode{Vertex: v, At: n.at.whole, Labels: r.at(n.at.label), Properties: r.at(n.at.props), Where: r.at(n.at.where)}
	x := &r.out.Vertices[v]
	x.At = append(x.At, out.At)
	if n.name.text != "" {
		x.Uses = append(x.Uses, Span{n.name.pos, r.end(n.name.pos)})
	}
	if x.Group == sc.group {
		has := &r.has[v]
		has.labels, has.properties, has.where = append(has.labels, out.Labels), append(has.properties, out.Properties), append(has.where, out.Where)
		if len(n.props) > 0 {
			has.inside = append(has.inside, r.at(Span{n.props[0].key.pos, r.before(n.at.props[1])}))
		}
	}
	return out
}

// joined joins texts by an operator, each in parentheses.
func joined(texts []string, op string) string {
	texts = distinct(texts)
	if len(texts) == 1 {
		return texts[0]
	}
	for i, t := range texts {
		texts[i] = "(" + t + ")"
	}
	return strings.Join(texts, op)
}

// merged has the properties of all places, in braces.
func (w *written) merged() string {
	if all := distinct(w.properties); len(all) < 2 {
		return strings.Join(all, "")
	}
	return "{" + strings.Join(distinct(w.inside), ", ") + "}"
}

// distinct are the texts that are not empty, each once.
func distinct(texts []string) (out []string) {
	seen := map[string]bool{"": true}
	for _, t := range texts {
		if !seen[t] {
			out = append(out, t)
		}
		seen[t] = true
	}
	return out
}

// use notes a place of a name. "_" is the vertex or edge around it, and a column is neither.
func (r *partsReader) use(sc *partsScope, name string, at Span) {
	if r.at(at) == "_" {
		return
	}
	for ; sc != nil; sc = sc.parent {
		if v, ok := sc.vertices[name]; ok {
			r.out.Vertices[v].Uses = append(r.out.Vertices[v].Uses, at)
			return
		}
		if e, ok := sc.edges[name]; ok {
			r.out.Edges[e].Uses = append(r.out.Edges[e].Uses, at)
			return
		}
	}
}

// expr reads the names and the EXISTS of an expression. must: each match fulfils it.
func (r *partsReader) expr(sc *partsScope, x *exprSyntax, must bool) {
	at := Span{x.pos, x.end}
	kind := GroupCondition
	switch {
	case x.kind == exprName:
		r.use(sc, x.text, at)
	case must && x.kind == exprBinary && x.op == pattern.OpAnd:
		r.expr(sc, x.args[0], true)
		r.expr(sc, x.args[1], true)
		return
	case must && x.kind == exprUnary && x.op == pattern.OpNot && x.args[0].kind == exprExists:
		kind, x = GroupNot, x.args[0]
	case must:
		kind = GroupExists
	}
	if x.kind == exprExists {
		r.body(x.sub, r.scope(sc, r.group(kind, at, x.sub)))
	}
	for _, a := range x.args {
		r.expr(sc, a, false)
	}
}

// drawing has the parts of a pattern that has no places in a text.
func drawing(q *Query, why string) *Parts {
	out := newParts(q)
	out.Fixed = why
	out.group(q.Pattern, GroupMatch, -1, nil)
	out.Where = out.Groups[0].Where
	return out
}

// group adds a pattern. outer are the vertices of the groups around it that are its first.
func (out *Parts) group(p *pattern.Pattern, kind string, parent int, outer []int) {
	g := len(out.Groups)
	out.Groups = append(out.Groups, PartGroup{Kind: kind, Parent: parent})
	at := slices.Clone(outer)
	for v := len(outer); v < len(p.Vertices); v++ {
		at = append(at, len(out.Vertices))
		out.Vertices = append(out.Vertices, PartVertex{Name: p.Vertices[v].Name, Labels: p.Vertices[v].Label.String(), Group: g, At: []Span{}, Uses: []Span{}})
	}
	var where []string
	for i := range p.Edges {
		e := &p.Edges[i]
		edge := PartEdge{
			Name: e.Name, From: at[e.From], To: at[e.To], Direction: direction(e.Dir == pattern.Forward), Labels: e.Label.String(),
			Where: conjunction(p, e.Where), Group: g, Uses: []Span{},
		}
		if e.Min != 1 || e.Max != 1 {
			edge.Length = fmt.Sprintf("*%d..%d", e.Min, e.Max)
		}
		if e.Negated {
			edge.Group = len(out.Groups)
			out.Groups = append(out.Groups, PartGroup{Kind: GroupNot, Parent: g})
		}
		out.Edges = append(out.Edges, edge)
	}
	for _, x := range p.Where {
		if e, ok := x.(pattern.Exists); ok {
			out.exists(e, GroupExists, g, at)
			continue
		}
		if not, ok := x.(pattern.Unary); ok && not.Op == pattern.OpNot {
			if e, ok := not.X.(pattern.Exists); ok {
				out.exists(e, GroupNot, g, at)
				continue
			}
		}
		where = append(where, conjunction(p, []pattern.Expr{x}))
		pattern.Walk(x, func(x pattern.Expr) bool {
			if e, ok := x.(pattern.Exists); ok {
				out.exists(e, GroupCondition, g, at)
			}
			return true
		})
	}
	out.Groups[g].Where = strings.Join(where, " AND ")
}

// exists adds the pattern of an EXISTS. at are the vertices of the pattern around it.
func (out *Parts) exists(e pattern.Exists, kind string, parent int, at []int) {
	outer := make([]int, len(e.Outer))
	for i, v := range e.Outer {
		outer[i] = at[v]
	}
	out.group(e.Sub, kind, parent, outer)
}

// conjunction writes conditions, with AND between them.
func conjunction(p *pattern.Pattern, xs []pattern.Expr) string {
	var all []string
	for _, x := range xs {
		text := pattern.FormatExpr(p, x)
		if b, ok := x.(pattern.Binary); ok && b.Op == pattern.OpOr {
			text = "(" + text + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, " AND ")
}
