// Package delta plans how to find the matches that one update of a graph adds or removes.
//
// A plan has nests. Each begins at an anchor: the place in the pattern that a changed part of the data takes. A changed edge
// is at one pair of the pattern's vertices, in one of two ways round. A vertex that is removed, or that gets other labels, is at one vertex.
// From there the other vertices follow, each a neighbour of some before it. If no edge connects the parts of the pattern, one part follows
// the other, and the first vertex of a part may be any vertex of the graph.
//
// Symmetries turn matches with the changed edge at one pair into those at another. So one nest stands for an orbit of pairs,
// with the restrictions of the symmetries that keep its own pair (pattern.Group.PairOrbits). It finds each subgraph once, and
// embeddings are |Aut| times as many. This holds under iso, where a data edge is at one pair of an embedding. Otherwise, and where
// conditions look further than a pair (deg, EXISTS), each pair has a nest, with the restrictions of the whole pattern. A match is then
// found from several anchors, of which the first one counts.
//
// A pair has all that the pattern says about two of its vertices: its edges between them, those that NOT excludes, and under
// INDUCED all others. So an edge that is added may remove matches, and the other way round.
//
// A part of EXISTS that no path connects to the match may decide about all matches at once. No anchor in it leads to a few of them, so its
// nests say only which changes count. All matches before and after such a change are compared.
//
// The package knows patterns. It must not know graphs; package stream/nest binds a plan to a graph that changes.
package delta

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Dir is the direction of data edges between two vertices, as the first one sees them.
type Dir uint8

// Directions. All edges of an undirected graph are Out.
const (
	Out Dir = iota
	In
	Either
)

// Rel asks for a data edge between two vertices, or excludes all such edges.
type Rel struct {
	Dir    Dir
	Label  *pattern.Label // nil: any label, and edges without one
	Where  []pattern.Expr // conditions over edge Edge alone
	Neg    bool
	Edge   int   // of the pattern; -1: INDUCED excludes what none of Unless accepts
	Unless []Rel // not more than directions, labels and conditions
}

// Pair is all that the pattern says about the data edges between U and V, seen from U. U is less than V.
type Pair struct {
	U, V int
	Rels []Rel
}

func (p *Pair) positive() bool {
	return slices.ContainsFunc(p.Rels, func(r Rel) bool { return !r.Neg })
}

// Condition is a conjunct of WHERE.
type Condition struct {
	Expr     pattern.Expr
	Vertices []int
	Edges    []int // of the pattern, if the condition looks at the choices of several, or at more than one edge
	// Distant says that it looks at more of the graph than the edges between matched vertices: by deg or EXISTS.
	Distant bool
}

// Kind is the kind of a nest's anchor.
type Kind uint8

// Kinds of anchors.
const (
	Edge   Kind = iota // a changed edge, at a pair of the pattern
	Vertex             // a vertex that comes, goes or gets other labels
	Degree             // a vertex whose degree changes
	Inner              // a changed edge, at a pair of vertices in EXISTS
	Near               // a vertex whose degree changes, in EXISTS
	Lone               // a vertex that comes, goes or gets other labels, at one in EXISTS that has no edge
)

// Nest finds the matches around an anchor. Those of kinds Inner and Near also search the vertices of EXISTS, which are numbered
// behind the pattern's, and so find a match several times, and others that do not change.
type Nest struct {
	Kind   Kind
	Pair   int  // the pair in Plan.Pairs, or in Plan.Inner for kind Inner
	Alike  int  // the number of pairs, or vertices, that it stands for
	Values bool // of kind Near: properties of the vertex count too
	Turns  bool // a symmetry exchanges the ends of the pair: the first of Order has the greater id
	// Every says that no path leads from the anchor, which is in EXISTS, to the match. Order has the part of EXISTS around the anchor. If the
	// part is there, every match may change.
	Every bool
	// Sub is the EXISTS that the anchor of such a nest is in, if it is closed.
	Sub    *pattern.Pattern
	First  int // the number of vertices of the anchor: the first ones of Order
	Order  []int
	Levels []Level
}

// Level is one vertex of a nest.
type Level struct {
	Vertex       int
	Backs        []Back // what the pattern says about the edges to earlier vertices
	Above, Below []int  // earlier vertices that it has a greater, or smaller, id than
	Apart        []int  // earlier vertices that it may be equal to by all this, and must not
	Checks       []int  // conditions of which it is the last vertex
}

// Back is a Rel to an earlier vertex, which sees it.
type Back struct {
	Of  int
	Rel Rel
}

// Plan is how to find the matches that an update adds or removes.
type Plan struct {
	Pattern    *pattern.Pattern
	Directed   bool
	Aut        *big.Int
	Restricted bool // matches are subgraphs: embeddings are Aut times as many
	Shared     bool // each match that an edge changes is found from one nest, once
	Parts      int  // the number of parts of the pattern that edges connect
	Alone      bool // some part is a single vertex
	Pairs      []Pair
	Where      []Condition
	Choices    []int // edges of the pattern of which each data edge makes a match of its own
	Nests      []Nest
	All        Nest // finds all matches, from the vertices that its first one may be
	// VertexKeys and EdgeKeys are the properties that conditions look at. "" is the time of an edge.
	VertexKeys, EdgeKeys []string
	// Labels are those of all vertices: the pattern's, and behind them those of EXISTS.
	Labels []*pattern.Label
	Inner  []Pair
	Exists map[*pattern.Pattern]*Sub
}

// Sub is how to decide EXISTS: whether the outer vertices, which come first, can be continued.
type Sub struct {
	Outer   int
	Pattern *pattern.Pattern
	Pairs   []Pair
	Where   []Condition
	Choices []int
	Nest    Nest // its anchor is all outer vertices
	// Closed says that the answer depends on the outer vertices at most because the others differ from them. Around are the vertices of the pattern
	// around EXISTS that the outer ones are.
	Closed bool
	Around []int
}

// Compile plans a pattern for graphs that are directed or not. The error is a *plan.QueryError, about a pattern that is wrong, or a part of
// the language that watches do not have.
func Compile(p *pattern.Pattern, directed bool) (*Plan, error) {
	if err := p.Validate(); err != nil {
		if bad, ok := err.(*pattern.Invalid); ok {
			return nil, &plan.QueryError{Vertex: bad.Vertex, Edge: bad.Edge, Msg: bad.Msg}
		}
		return nil, err
	}
	group := p.Automorphisms()
	out := &Plan{
		Pattern: p, Directed: directed, Aut: group.Order(), Restricted: p.Mode == pattern.Iso, Exists: map[*pattern.Pattern]*Sub{},
	}
	c := compiler{out: out, directed: directed}
	var err error
	if out.Pairs, out.Where, out.Choices, err = c.parts(p); err != nil {
		return nil, err
	}
	for _, v := range p.Vertices {
		out.Labels = append(out.Labels, v.Label)
	}
	distant := slices.ContainsFunc(out.Where, func(x Condition) bool { return x.Distant })
	out.Shared = p.Mode == pattern.Iso && !distant && len(out.Choices) == 0
	for v, u := range p.Components() {
		if v == u {
			out.Parts++
		}
	}
	near := nearOf(out.Pairs, len(p.Vertices))
	out.Alone = slices.Contains(near, 0)
	c.vertices = 1<<len(p.Vertices) - 1
	whole := c.order(near)
	c.every = group.Greater(whole, 0)
	if p.Mode != pattern.Iso {
		c.every = nil
	}
	out.All = c.nest(Nest{Kind: Vertex, Alike: len(whole), First: 1, Order: whole}, c.every, nil)
	c.pairNests(near, group)
	c.vertexNests(near, group)
	if distant {
		if err := c.distantNests(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

type compiler struct {
	out      *Plan
	directed bool
	every    [][2]int // restrictions of the whole pattern
	vertices uint32   // of the pattern
}

// start is the vertex of a set with the most neighbours.
func start(near []uint32, among uint32) int {
	best := -1
	for _, v := range pattern.Members(among) {
		if best < 0 || bits.OnesCount32(near[v]) > bits.OnesCount32(near[best]) {
			best = v
		}
	}
	return best
}

// through returns an order of all vertices of a set that begins with some, and has the others that edges connect to it. Each follows a
// neighbour if there is one.
func through(near []uint32, set uint32, first ...int) []int {
	order := pattern.OrderFrom(near, first...)
	for rest := set &^ pattern.SetOf(order); rest != 0; rest = set &^ pattern.SetOf(order) {
		order = pattern.OrderFrom(near, append(order, start(near, rest))...)
	}
	return order
}

// order is through for the vertices of the pattern.
func (c *compiler) order(near []uint32, first ...int) []int {
	return through(near, c.vertices, first...)
}

// nearOf returns the vertices that positive pairs connect each of n vertices to.
func nearOf(pairs []Pair, n int) []uint32 {
	near := make([]uint32, n)
	for i := range pairs {
		if x := &pairs[i]; x.positive() {
			near[x.U] |= 1 << x.V
			near[x.V] |= 1 << x.U
		}
	}
	return near
}

// pairNests makes nests for changed edges.
func (c *compiler) pairNests(near []uint32, group *pattern.Group) {
	out := c.out
	all := make([][2]int, len(out.Pairs))
	for i, x := range out.Pairs {
		all[i] = [2]int{x.U, x.V}
	}
	if !out.Shared {
		for i, x := range all {
			out.Nests = append(out.Nests, c.nest(Nest{Kind: Edge, Pair: i, Alike: 1, First: 2, Order: c.order(near, x[0], x[1])}, c.every, nil))
		}
		return
	}
	orbit, turns := group.PairOrbits(all)
	for i, x := range all {
		if orbit[i] != i {
			continue
		}
		n := Nest{Kind: Edge, Pair: i, Turns: turns[i], First: 2, Order: c.order(near, x[0], x[1])}
		for _, o := range orbit {
			if o == i {
				n.Alike++
			}
		}
		greater := group.Greater(n.Order, 2)
		if n.Turns {
			greater = append(greater, x)
		}
		out.Nests = append(out.Nests, c.nest(n, greater, nil))
	}
}

// vertexNests makes nests for vertices that come, go or get other labels.
func (c *compiler) vertexNests(near []uint32, group *pattern.Group) {
	orbits := group.Orbits()
	for v := range orbits {
		n := Nest{Kind: Vertex, Alike: 1, First: 1, Order: c.order(near, v)}
		greater := c.every
		if c.out.Shared {
			if orbits[v] != v {
				continue
			}
			for _, o := range orbits[v+1:] {
				if o == v {
					n.Alike++
				}
			}
			greater = group.Greater(n.Order, 1)
		}
		c.out.Nests = append(c.out.Nests, c.nest(n, greater, nil))
	}
}

// nest makes the levels of a nest. greater are its restrictions, and within the pairs of EXISTS that it follows.
func (c *compiler) nest(n Nest, greater [][2]int, within []Pair) Nest {
	out := c.out
	inner := n.Kind == Inner || n.Kind == Near || n.Kind == Lone
	for l, v := range n.Order {
		lv := Level{Vertex: v}
		before := pattern.SetOf(n.Order[:l])
		joined := uint32(0)
		if l >= n.First || n.First == 1 {
			lv.Backs, joined = c.backs(v, before, out.Pairs, false)
			more, _ := c.backs(v, before, within, true)
			lv.Backs = append(lv.Backs, more...)
		} else if !inner {
			joined = before // the ends of a changed edge
		}
		for _, x := range greater {
			switch {
			case x[0] == v && before>>x[1]&1 != 0:
				lv.Above = append(lv.Above, x[1])
				joined |= 1 << x[1]
			case x[1] == v && before>>x[0]&1 != 0:
				lv.Below = append(lv.Below, x[0])
				joined |= 1 << x[0]
			}
		}
		if k := len(out.Pattern.Vertices); out.Pattern.Mode == pattern.Iso && v < k {
			for _, u := range pattern.Members(before &^ joined) {
				if u < k {
					lv.Apart = append(lv.Apart, u)
				}
			}
		}
		for i, x := range out.Where {
			if len(x.Edges) == 0 && max(last(x.Vertices, n.Order), 0) == l && !(inner && x.Distant) && !n.Every {
				lv.Checks = append(lv.Checks, i)
			}
		}
		n.Levels = append(n.Levels, lv)
	}
	return n
}

// backs returns what pairs say about v and earlier vertices, and those of them that are neighbours. onlyPositive leaves out what is
// excluded.
func (c *compiler) backs(v int, before uint32, pairs []Pair, onlyPositive bool) (out []Back, joined uint32) {
	for i := range pairs {
		x := &pairs[i]
		if x.U != v && x.V != v {
			continue
		}
		u := x.U + x.V - v
		if before>>u&1 == 0 {
			continue
		}
		for _, r := range x.Rels {
			if r.Neg && onlyPositive {
				continue
			}
			if x.U == v {
				r.Dir = c.turned(r.Dir)
			}
			if !r.Neg {
				joined |= 1 << u
			}
			out = append(out, Back{u, r})
		}
	}
	return out, joined
}

// last is the place in an order of the last of some vertices; -1: there are none.
func last(vertices, order []int) int {
	at := -1
	for _, v := range vertices {
		at = max(at, slices.Index(order, v))
	}
	return at
}

// parts returns what a pattern says about pairs of its vertices, its conditions, and its choices of edges.
func (c *compiler) parts(p *pattern.Pattern) (pairs []Pair, where []Condition, choices []int, err error) {
	where, alone, err := c.conditions(p)
	if err != nil {
		return nil, nil, nil, err
	}
	at := map[[2]int]int{}
	pair := func(u, v int) *Pair {
		k := [2]int{min(u, v), max(u, v)}
		i, ok := at[k]
		if !ok {
			i = len(pairs)
			at[k] = i
			pairs = append(pairs, Pair{U: k[0], V: k[1]})
		}
		return &pairs[i]
	}
	for i := range p.Edges {
		e := &p.Edges[i]
		if e.Min > 1 || e.Max > 1 || e.Min == 0 && e.Max > 0 {
			return nil, nil, nil, &plan.QueryError{Vertex: -1, Edge: i, Msg: "variable-length edges are not supported yet"}
		}
		for _, x := range e.Where {
			if err := c.keys(x); err != nil {
				return nil, nil, nil, err
			}
		}
		if !e.Negated && (e.Named() || p.Mode == pattern.Trail) {
			choices = append(choices, i)
		}
		x := pair(e.From, e.To)
		x.Rels = append(x.Rels, Rel{Dir: c.dir(e, x.U), Label: e.Label, Where: append(slices.Clone(e.Where), alone[i]...), Neg: e.Negated, Edge: i})
	}
	if p.Induced {
		for v := range p.Vertices {
			for u := range v {
				if !p.Vertices[u].Aside && !p.Vertices[v].Aside {
					x := pair(u, v)
					x.Rels = append(x.Rels, c.forbidden(p, u, v)...)
				}
			}
		}
	}
	pairs = slices.DeleteFunc(pairs, func(x Pair) bool { return len(x.Rels) == 0 })
	slices.SortFunc(pairs, func(x, y Pair) int { return slices.Compare([]int{x.U, x.V}, []int{y.U, y.V}) })
	if o := p.Order; o != nil {
		for _, i := range o.Edges {
			if !slices.Contains(choices, i) {
				return nil, nil, nil, orderError("ORDERED is about named edges, and %s is none", p.EdgeName(i))
			}
		}
		if len(o.Edges) < 2 && (len(o.Edges) > 0 || len(choices) < 2) {
			return nil, nil, nil, orderError("WITHIN bounds the times of named edges, and fewer than two have a name: name them, as in -[e]->")
		}
		c.addKey(&c.out.EdgeKeys, o.On)
	}
	return pairs, where, choices, nil
}

func orderError(format string, args ...any) error {
	err := plan.Errorf(format, args...)
	err.Order = true
	return err
}

func (c *compiler) addKey(to *[]string, key string) {
	if !slices.Contains(*to, key) {
		*to = append(*to, key)
	}
}

// keys notes the properties that x looks at, and plans the sub-patterns in it.
func (c *compiler) keys(x pattern.Expr) (err error) {
	pattern.Walk(x, func(x pattern.Expr) bool {
		switch x := x.(type) {
		case pattern.Prop:
			if x.Of.Kind == pattern.VertexRef {
				c.addKey(&c.out.VertexKeys, x.Key)
			} else {
				c.addKey(&c.out.EdgeKeys, x.Key)
			}
		case pattern.Param:
			err = plan.Errorf("no value for parameter $%s", x.Name)
		case pattern.Exists:
			err = c.sub(x)
		}
		return err == nil
	})
	return err
}

// dir is the direction of an edge, as one of its ends sees it.
func (c *compiler) dir(e *pattern.Edge, from int) Dir {
	switch {
	case !c.directed:
		return Out
	case e.Dir == pattern.Either:
		return Either
	case e.From == from:
		return Out
	}
	return In
}

// turned is a direction as the other end sees it.
func (c *compiler) turned(d Dir) Dir {
	switch {
	case c.directed && d == Out:
		return In
	case d == In:
		return Out
	}
	return d
}

// forbidden returns the relations that INDUCED excludes between u and v: for each direction the edges that no edge of the pattern
// accepts.
func (c *compiler) forbidden(p *pattern.Pattern, u, v int) (out []Rel) {
	dirs := []Dir{Out}
	if c.directed {
		dirs = []Dir{Out, In}
	}
next:
	for _, d := range dirs {
		r := Rel{Dir: d, Neg: true, Edge: -1}
		for i := range p.Edges {
			e := &p.Edges[i]
			if e.Negated || min(e.From, e.To) != min(u, v) || max(e.From, e.To) != max(u, v) {
				continue
			}
			k := c.dir(e, u)
			switch {
			case k != d && k != Either:
			case e.Label == nil && len(e.Where) == 0:
				continue next
			default:
				r.Unless = append(r.Unless, Rel{Dir: d, Label: e.Label, Where: e.Where, Edge: i})
			}
		}
		out = append(out, r)
	}
	return out
}

// conditions takes WHERE apart. alone are the conditions over one edge alone, by edge.
func (c *compiler) conditions(p *pattern.Pattern) (out []Condition, alone [][]pattern.Expr, err error) {
	alone = make([][]pattern.Expr, len(p.Edges))
	var all []pattern.Expr
	for _, x := range p.Where {
		all = pattern.Conjuncts(x, all)
	}
	for _, x := range all {
		k := Condition{Expr: x}
		refs := pattern.Refs(x)
		for _, r := range refs {
			if r.Kind == pattern.VertexRef {
				k.Vertices = append(k.Vertices, r.Index)
				continue
			}
			e := &p.Edges[r.Index]
			switch {
			case e.Negated:
				return nil, nil, &plan.QueryError{Vertex: -1, Edge: r.Index, Msg: fmt.Sprintf("%s is a NOT edge: it stands for no edge that a condition could look at", p.EdgeName(r.Index))}
			case len(refs) > 1 && !e.Named() && p.Mode != pattern.Trail:
				return nil, nil, &plan.QueryError{Vertex: -1, Edge: r.Index, Msg: "a condition that compares an edge with something else needs a named edge"}
			}
			k.Edges = append(k.Edges, r.Index)
		}
		if err := c.keys(x); err != nil {
			return nil, nil, err
		}
		pattern.Walk(x, func(x pattern.Expr) bool {
			switch x.(type) {
			case pattern.Deg, pattern.Exists:
				k.Distant = true
			}
			return true
		})
		if len(refs) == 1 && len(k.Edges) == 1 {
			alone[k.Edges[0]] = append(alone[k.Edges[0]], x)
			continue
		}
		out = append(out, k)
	}
	return out, alone, nil
}
