// Package view evaluates a text of the pattern language on a graph, for Matcha programs. It
// finds the vertices that one vertex of a pattern accepts, or the edges that one edge does.
// Programs in Matcha look at labels and properties through it.
//
// It knows the language and plans. It must not know programs or engines.
package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// Of is the views of one graph.
type Of struct{ Graph *graph.Graph }

// Relation is the data edges that "(a)-[…]->(b)", with a WHERE perhaps, accepts:
// of each vertex a the ascending list of b. The lists may be the graph's own. In a small graph they have an offset for
// each vertex, as in long searches (plan.OffsetsPay).
func (o Of) Relation(text string) (graph.Lists, error) {
	p, err := edge(text)
	if err != nil {
		return graph.Lists{}, err
	}
	pl, err := o.compile(p, []int{0, 1})
	if err != nil {
		return graph.Lists{}, placed(text, err)
	}
	lists := (&graph.CSR{Off: make([]uint64, o.Graph.NumVertices()+1)}).Lists()
	if back := pl.Levels[1].Back; pl.Empty == nil && len(back) > 0 {
		lists = pl.Adjs[back[0].Adj].Lists.Whole()
	}
	if lists.Sparse != nil && plan.OffsetsFit(o.Graph) {
		return lists.Sparse.Dense().Lists(), nil
	}
	return lists, nil
}

// Vertices are those that "(a:Label)", with a WHERE perhaps, accepts, ascending.
func (o Of) Vertices(text string) ([]uint32, error) {
	p, err := vertex(text)
	if err != nil {
		return nil, err
	}
	pl, err := o.compile(p, []int{0})
	if err != nil {
		return nil, placed(text, err)
	}
	lv := &pl.Levels[0]
	ranges := lv.Ranges
	if ranges == nil {
		ranges = []plan.Range{{First: 0, End: uint32(o.Graph.NumVertices())}}
	}
	out := []uint32{}
	for _, r := range ranges {
		for v := r.First; v < r.End; v++ {
			if lv.Bits == nil || lv.Bits[v/64]>>(v%64)&1 != 0 {
				out = append(out, v)
			}
		}
	}
	return out, nil
}

// Between is the data edges that "(a)-[…]->(b)", with a WHERE perhaps, accepts, one
// by one.
func (o Of) Between(text string) (*data.DataEdges, error) {
	p, err := edge(text)
	if err != nil {
		return nil, err
	}
	p.Edges[0].Name = "e" // each data edge counts
	pl, err := o.compile(p, []int{0, 1})
	if err != nil {
		return nil, placed(text, err)
	}
	d := &data.DataEdges{Directed: o.Graph.Directed}
	if pl.Empty != nil {
		return d, nil
	}
	c := &pl.Edges[0]
	d.Off, d.Dst = pl.EdgeLists()
	d.Either, d.Turned, d.Most = c.Either, c.From != 0, pl.MostParallel()
	if d.Accepted = c.Accepted(); d.Accepted != nil && o.Graph.Edges == nil {
		return &data.DataEdges{Directed: o.Graph.Directed}, nil
	}
	if d.Either {
		d.Most *= 2
	}
	return d, nil
}

// Condition is the conditions of a text of vertices and of edges: its arguments are
// the vertices that have names, then the edges that do.
func (o Of) Condition(text string) (*data.Condition, error) {
	p, vertices, edges, err := conditions(text)
	if err != nil {
		return nil, err
	}
	c := &data.Condition{Kinds: make([]bool, len(vertices))}
	for range edges {
		c.Kinds = append(c.Kinds, true)
	}
	pl, err := bind.Condition(o.Graph, p)
	if err != nil {
		return nil, placed(text, err)
	}
	check := pl.Levels[len(pl.Levels)-1].Checks[0].Eval
	m, e := make([]uint32, len(p.Vertices)), make([]uint64, len(p.Edges))
	c.Eval = func(args []types.Word) bool {
		for i, v := range vertices {
			m[v] = uint32(args[i])
		}
		for i, j := range edges {
			e[j] = uint64(args[len(vertices)+i])
		}
		return check(m, e)
	}
	c.Code = func(prog *kir.Program, name string) (f *kir.Func, of []int, err error) {
		f, vs, es, err := lower.Condition(pl, prog, name)
		for _, v := range vs {
			of = append(of, slices.Index(vertices, v))
		}
		for _, i := range es {
			of = append(of, len(vertices)+slices.Index(edges, i))
		}
		return f, of, err
	}
	return c, nil
}

// Property is a property of all data edges, or their times.
func (o Of) Property(name string) (*data.Property, error) {
	t := o.Graph.Edges
	if t == nil && len(o.Graph.Out.Adj) == 0 || t != nil && len(t.Dst) == 0 {
		return &data.Property{Kind: types.Int}, nil // no edge has it, so any kind will do
	}
	w := (&expr.Columns{Graph: o.Graph}).Edge(name)
	if w == nil {
		return nil, fmt.Errorf("no edge has the property %s%s", pattern.QuoteName(name), o.properties(name))
	}
	out := &data.Property{}
	switch w.Kind {
	case expr.IntWords, expr.UnsignedWords:
		out.Kind = types.Int
	case expr.FloatWords:
		out.Kind = types.Float
	case expr.BoolWords:
		out.Kind = types.Bool
	case expr.NullWords:
		return nil, fmt.Errorf("no edge has a value of the property %s", pattern.QuoteName(name))
	default:
		return nil, fmt.Errorf("the property %s of edges is not an int, float or bool in each of them", pattern.QuoteName(name))
	}
	for row, x := range w.Words {
		if w.Valid != nil && w.Valid[row/64]>>(row%64)&1 == 0 {
			return nil, fmt.Errorf("the edge from %s to %s has no value of the property %s, and every edge needs one",
				o.Graph.IDs.String(t.Src[row]), o.Graph.IDs.String(t.Dst[row]), pattern.QuoteName(name))
		}
		if w.Kind == expr.UnsignedWords && x>>63 != 0 {
			return nil, fmt.Errorf("the property %s of an edge is %d, which does not fit 64 bits with a sign", pattern.QuoteName(name), x)
		}
		out.Words = append(out.Words, types.Word(x))
	}
	return out, nil
}

// properties says which properties edges have instead of one.
func (o Of) properties(name string) string {
	var known []string
	if t := o.Graph.Edges; t != nil {
		if t.Props != nil {
			for _, f := range t.Props.Schema().Fields() {
				known = append(known, f.Name)
			}
		}
		if t.Time != nil {
			known = append(known, cmp.Or(o.Graph.Read.TimeName, graph.TimeNames[0]))
		}
	}
	if len(known) == 0 {
		return ": they have none"
	}
	return ": they have " + strings.Join(known, ", ")
}

// conditions reads conditions of vertices and edges: of those that have names, which
// are the arguments. The vertices of EXISTS differ from the vertices among these; the
// ends of an edge that is an argument are not known.
func conditions(text string) (p *pattern.Pattern, vertices, edges []int, err error) {
	if p, err = read(text); err != nil {
		return nil, nil, nil, err
	}
	joined := map[int]bool{}
	for i, e := range p.Edges {
		switch {
		case !e.Named() || e.Label != nil:
			err = fmt.Errorf("%s: edges have a name here, and no label", text)
		case e.Min != 1 || e.Max != 1:
			err = fmt.Errorf("%s: %s is not a single data edge", text, e.Name)
		case joined[e.From] || joined[e.To]:
			err = fmt.Errorf("%s: edges have no ends in common here, as in '()-[e]->(), ()-[f]->() WHERE …'", text)
		}
		if err != nil {
			return nil, nil, nil, err
		}
		joined[e.From], joined[e.To] = true, true
		edges = append(edges, i)
	}
	for v, x := range p.Vertices {
		switch {
		case x.Label != nil || x.Name == "" && !joined[v] || x.Name != "" && joined[v]:
			return nil, nil, nil, fmt.Errorf("%s: only conditions may say something of vertices and edges, as in '(a), (b), ()-[e]->() WHERE …'", text)
		case x.Name != "":
			vertices = append(vertices, v)
		}
	}
	for i, w := range p.Where {
		p.Where[i] = pattern.WithoutOuter(w, func(v int) bool { return joined[v] })
	}
	return p, vertices, edges, nil
}

// vertex reads one vertex.
func vertex(text string) (*pattern.Pattern, error) {
	p, err := read(text)
	if err == nil && (len(p.Vertices) != 1 || len(p.Edges) > 0) {
		err = fmt.Errorf("%s is not one vertex", text)
	}
	return p, err
}

// edge reads an edge between two vertices.
func edge(text string) (*pattern.Pattern, error) {
	p, err := read(text)
	if err != nil {
		return nil, err
	}
	if len(p.Vertices) != 2 || len(p.Edges) != 1 || p.Edges[0].Negated {
		return nil, fmt.Errorf("%s is not an edge between two vertices", text)
	}
	for v := range p.Vertices {
		if p.Vertices[v].Label != nil {
			return nil, fmt.Errorf("%s: only the edge may have labels and conditions", text)
		}
	}
	for _, x := range p.Where {
		for _, r := range pattern.Refs(x) {
			if r.Kind == pattern.VertexRef {
				return nil, fmt.Errorf("%s: only the edge may have labels and conditions", text)
			}
		}
	}
	return p, nil
}

// placed gives the mistake that a graph shows in a text, as one in the use of times, its place in the text, where what it
// is near stands once.
func placed(text string, err error) error {
	var wrong *plan.QueryError
	if !errors.As(err, &wrong) || wrong.Near == "" || strings.Count(text, wrong.Near) != 1 {
		return err
	}
	before, _, _ := strings.Cut(text, wrong.Near)
	return &data.Mistake{Msg: wrong.Msg, Expected: wrong.Expected, Col: utf8.RuneCountInString(before) + 1}
}

// read reads the pattern of a query that has nothing else.
func read(text string) (*pattern.Pattern, error) {
	q, err := gql.Parse(match + text)
	var mistake *gql.Error
	if errors.As(err, &mistake) {
		return nil, fmt.Errorf("%s: %w", text, &data.Mistake{Msg: mistake.Msg, Expected: mistake.Expected, Col: max(mistake.Col-len(match), 1)})
	}
	if err != nil {
		return nil, err
	}
	switch p := q.Pattern; {
	case q.HasReturn:
		return nil, fmt.Errorf("%s: nothing is returned here: leave RETURN out", text)
	case p.Order != nil:
		return nil, fmt.Errorf("%s: ORDERED and WITHIN are not conditions: compare times, as in WHERE e.time < f.time", text)
	case p.Induced:
		return nil, fmt.Errorf("%s: INDUCED is about the vertices of a whole pattern", text)
	}
	return q.Pattern, nil
}

// compile plans a pattern as it is written. The semantics do not matter for the vertices and
// edges that it accepts.
func (o Of) compile(p *pattern.Pattern, order []int) (*plan.Plan, error) {
	return planner.Compile(o.Graph, p, plan.Options{
		Order: "given", Given: order, Root: plan.NoRoot, Embeddings: true, Listing: true, Method: "nest", Quick: true,
	})
}
