package lower

import (
	"unsafe"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Globals that conditions and edge choices read.

// columnOf is the global of a column.
func (x *lowering) columnOf(c *expr.Words) *kir.GlobalDef {
	g := x.columns[c]
	if g == nil {
		if c.Kind == expr.TextWords {
			x.textWords()
		}
		elem := kir.I64
		if c.Kind == expr.FloatWords {
			elem = kir.F64
		}
		for _, known := range x.prog.Globals { // the graph's own memory, of another condition
			if c.OfGraph && known.Kind == kir.Col && known.Elem == elem && len(known.Words) == len(c.Words) && len(c.Words) > 0 && &known.Words[0] == &c.Words[0] {
				g = known
			}
		}
		if g == nil {
			g = x.prog.AddGlobal(&kir.GlobalDef{
				Name: "column " + c.Name, Kind: kir.Col, Elem: elem, Words: c.Words, Valid: c.Valid,
			})
			if c.OfGraph && len(c.Words) > 0 {
				g.Of.ID = x.p.Graph.ArrayID(unsafe.Pointer(&c.Words[0]))
			}
		}
		x.columns[c] = g
	}
	return g
}

// neighbours is the global of all neighbours, whatever the direction.
func (x *lowering) neighbours() *kir.GlobalDef {
	return x.ofGraph("N", x.p.Graph.Flat(x.p.Graph.Any()))
}

// edgeLists is the global of data edges by their sources.
func (x *lowering) edgeLists() *kir.GlobalDef {
	off, dst := x.p.EdgeLists()
	return x.ofGraph("edges", &graph.CSR{Off: off, Adj: dst})
}

// ofGraph is the global of lists that the graph keeps.
func (x *lowering) ofGraph(name string, lists *graph.CSR) *kir.GlobalDef {
	return x.adjGlobal(&kir.GlobalDef{
		Name: name, Kind: kir.Adj, Off: lists.Off, Adj: lists.Adj, Of: kir.Identity{ID: x.p.Graph.ArrayID(unsafe.Pointer(&lists.Off[0]))},
	})
}

// adjGlobal is the global of the lists that lists describes, which the program may have already.
func (x *lowering) adjGlobal(lists *kir.GlobalDef) *kir.GlobalDef {
	for _, g := range x.prog.Globals {
		switch {
		case g.Kind != kir.Adj || (g.Sparse == nil) != (lists.Sparse == nil):
		case g.Sparse != nil && &g.Sparse.Off[0] == &lists.Sparse.Off[0], g.Sparse == nil && len(g.Off) == len(lists.Off) && &g.Off[0] == &lists.Off[0]:
			return g
		}
	}
	return x.prog.AddGlobal(lists)
}

// textWords gives texts their place among all texts that conditions of the program
// may compare, and columns of texts their words.
func (x *lowering) textWords() func(text string) uint64 {
	if x.texts == nil {
		var t texts
		t.of(x.top)
		x.texts = x.top.Columns().TextWord(t.columns, t.constants)
	}
	return x.texts
}

// texts are the texts that conditions compare.
type texts struct {
	columns   []*expr.Words
	constants []string
}

// constant adds a literal. If ids are texts, a number that is compared with an id is a text
// too.
func (t *texts) constant(x expr.Value) {
	switch x = expr.LikeID(x, false); x.Kind {
	case expr.Text:
		t.constants = append(t.constants, x.S)
	case expr.List:
		for _, item := range x.List {
			t.constant(item)
		}
	}
}

// of gathers the values that the conditions of p and of its sub-patterns read.
func (t *texts) of(p *plan.Plan) {
	add := func(c *expr.Words) {
		if c != nil && c.Kind == expr.TextWords {
			t.columns = append(t.columns, c)
		}
	}
	visit := func(cs []plan.Check) {
		for i := range cs {
			pattern.Walk(cs[i].Expr, func(y pattern.Expr) bool {
				switch y := y.(type) {
				case pattern.Lit:
					t.constant(expr.Literal(y.Value))
				case pattern.ID:
					add(p.Columns().IDs())
				case pattern.Prop:
					if y.Of.Kind == pattern.VertexRef {
						add(p.Columns().Vertex(y.Key))
					} else {
						add(p.Columns().Edge(y.Key))
					}
				case pattern.Exists:
					t.of(p.Exists(y.Sub).Plan)
				}
				return true
			})
		}
	}
	for l := range p.Levels {
		visit(p.Levels[l].Checks)
	}
	for i := range p.Edges {
		visit(p.Edges[i].Checks)
	}
}
