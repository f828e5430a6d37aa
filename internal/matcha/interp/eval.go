package interp

import (
	"fmt"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// compute gives a cell the value of its node.
func (m *machine) compute(n *asg.Node, c *cell) {
	switch n.Op {
	case asg.Input:
		m.input(n, c)
	case asg.Neg:
		if x := m.word(n.Args[0]); n.Type.Kind == types.Float {
			c.set(types.FromFloat(-x.Float()))
		} else {
			m.arith(n, c, "-", 0, x)
		}
	case asg.Not:
		c.set(1 - m.word(n.Args[0]))
	case asg.Arith:
		m.arith(n, c, n.Name, m.word(n.Args[0]), m.word(n.Args[1]))
	case asg.Compare:
		x, y := m.word(n.Args[0]), m.word(n.Args[1])
		c.set(types.FromBool(types.Compare(n.Name, n.Args[0].Type.Kind, x, y)))
	case asg.And:
		c.set(types.FromBool(m.word(n.Args[0]) != 0 && m.word(n.Args[1]) != 0))
	case asg.Or:
		c.set(types.FromBool(m.word(n.Args[0]) != 0 || m.word(n.Args[1]) != 0))
	case asg.ToFloat:
		c.set(types.FromFloat(float64(m.word(n.Args[0]))))
	case asg.MakeTuple:
		c.words = c.words[:0]
		for _, a := range n.Args {
			x := m.word(a)
			c.words = append(c.words, x)
		}
	case asg.Part:
		c.set(m.words(n.Args[0])[n.At])
	case asg.MakeList:
		c.list.clear(n.Type.Elem.Words())
		for _, a := range n.Args {
			c.list.append(m.words(a)...)
		}
	case asg.Limit:
		m.limit(n, c)
	case asg.Range:
		c.list.clear(1)
		for i := range m.word(n.Args[0]) {
			m.tick()
			c.list.append(i)
		}
	case asg.MakeGraph:
		m.makeGraph(n, c)
	case asg.Vertices:
		m.vertices(m.eval(n.Args[0]).graph, &c.list)
	case asg.Edges:
		m.edges(m.eval(n.Args[0]).graph, &c.list)
	case asg.Neighbor, asg.EdgeInfo:
		m.eval(n.Args[0]).graph.neighbours(&c.list, m.word(n.Args[1]), n.Op == asg.EdgeInfo)
	case asg.Subgraph:
		c.graph = &adjacency{lists: m.in.Subgraph(n)}
		if e := m.in.EdgeInfo(n); e != nil {
			c.graph.lists, c.graph.info = e.Lists.Lists(), e.Info
		}
	case asg.Matching:
		ids := m.in.Matching(n)
		c.list = list{n: len(ids), width: 1, ids: ids}
	case asg.Between:
		c.list.clear(1)
		u, v := uint32(m.word(n.Args[1])), uint32(m.word(n.Args[2]))
		m.in.Between(n).Each(u, v, func(edge uint64) bool {
			m.tick()
			c.list.append(types.Word(edge))
			return true
		})
	case asg.Holds:
		m.things = m.things[:0]
		for _, a := range n.Args[1:] {
			m.things = append(m.things, m.word(a))
		}
		c.set(types.FromBool(m.in.Condition(n).Eval(m.things)))
	case asg.Labelled:
		m.labelled(n, c)
	case asg.VertexLabel:
		c.set(m.label(m.eval(n.Args[0]).graph, m.word(n.Args[1])))
	case asg.LabelNumber:
		c.set(m.in.LabelNumber(n.Args[0].Type.Facts.Input, n.Name))
	case asg.Apply:
		c.list.clear(1)
		if n.Type.Kind == types.List {
			c.list.clear(n.Type.Elem.Words())
		}
		m.each(n, func() {
			if n.Type.Kind == types.List {
				c.list.append(m.words(n.Func.Result)...)
			}
		})
	case asg.ApplySum:
		total := make([]types.Word, n.Type.Words())
		m.each(n, func() { m.addTo(n, total, m.words(n.Func.Result)) })
		c.words = total
	case asg.ApplySize:
		size := types.Word(0)
		m.each(n, func() { size++ })
		c.set(size)
	case asg.IntersectSize, asg.DiffSize:
		m.combine(n, c, n.Op == asg.IntersectSize)
		c.set(types.Word(c.list.n))
	case asg.Slice:
		m.slice(n, c)
	case asg.Joining:
		m.joining(n, c)
	case asg.Place:
		c.set(m.place(n))
	case asg.Window:
		m.window(n, c)
	case asg.LabelFirst, asg.LabelEnd:
		first, end := m.in.LabelRange(n.Args[0].Type.Facts.Input, m.word(n.Args[1]))
		if c.set(types.Word(first)); n.Op == asg.LabelEnd {
			c.set(types.Word(end))
		}
	case asg.Intersect:
		m.combine(n, c, true)
	case asg.Diff:
		m.combine(n, c, false)
	case asg.Sum:
		m.sum(n, c)
	case asg.Size:
		c.set(types.Word(m.list(n.Args[0]).n))
	case asg.NewCounter:
		m.newCounter(n, c)
	case asg.CounterAdd:
		c.set(m.count(n, m.word(n.Args[1]), m.word(n.Args[2])))
	case asg.CounterGet:
		c.set(m.count(n, m.word(n.Args[1]), 0))
	case asg.CounterReset:
		k := m.eval(n.Args[0]).count
		m.work(k.size())
		k.reset()
	case asg.Emit:
		row := m.words(n.Args[0])
		m.emitted++
		if m.emit != nil && !m.emit(row) {
			panic(stop{errEnough})
		}
	default:
		panic(fmt.Sprintf("interp: cannot run %s", n.Op))
	}
}

func (m *machine) input(n *asg.Node, c *cell) {
	in := m.in.Input(n.Name)
	switch n.Type.Kind {
	case types.Graph:
		c.graph = &adjacency{input: n.Name, lists: in.Lists().Lists()}
		if e := m.in.EdgeInfo(n); e != nil {
			c.graph.lists, c.graph.info = e.Lists.Lists(), e.Info
		}
	case types.List:
		w := n.Type.Elem.Words()
		c.list = list{n: len(in.Items) / w, width: w, words: in.Items}
	default:
		c.set(in.Var)
	}
}

func (m *machine) arith(n *asg.Node, c *cell, op string, x, y types.Word) {
	z, err := types.Compute(op, n.Type.Kind, x, y)
	if err != nil { // of whole numbers only
		m.fail(n, "%v: %d %s %d", err, x, op, y)
	}
	c.set(z)
}

// limit is a list with a largest number of items.
func (m *machine) limit(n *asg.Node, c *cell) {
	l, most := m.list(n.Args[0]), m.word(n.Args[1])
	if types.Word(l.n) > most {
		what := "the list"
		if n.Given != "" {
			what = n.Given
		}
		m.fail(n, "%s has %d items, more than the %d that mk_list allows", what, l.n, most)
	}
	c.list = *l
}

// each runs the functions of an apply for the items of its lists, in order, and calls done
// after each.
func (m *machine) each(n *asg.Node, done func()) {
	lists := make([]list, len(n.Args))
	for i, a := range n.Args {
		lists[i] = *m.list(a)
		if lists[i].n != lists[0].n {
			m.fail(n, "apply goes over lists of %d and of %d items", lists[0].n, lists[i].n)
		}
	}
	for i := range lists[0].n {
		m.tick()
		if n.Cond != nil {
			m.begin(n.Cond)
			m.operands(n.Cond, lists, i)
			m.perform(n.Cond)
			if m.word(n.Cond.Result) == 0 {
				continue
			}
		}
		if n.Func != nil {
			m.begin(n.Func)
			m.operands(n.Func, lists, i)
			m.perform(n.Func)
		}
		done()
	}
}

// operands gives the operands of a function the items i of lists.
func (m *machine) operands(f *asg.Func, lists []list, i int) {
	for j, o := range f.Operands {
		c := &m.cells[o.ID]
		c.words = append(c.words[:0], lists[j].at(i, &c.word)...)
		c.valid = *c.home
	}
}

// sum adds the items of a list, tuples component by component.
func (m *machine) sum(n *asg.Node, c *cell) {
	l := m.list(n.Args[0])
	total := make([]types.Word, n.Type.Words())
	var room [1]types.Word
	for i := range l.n {
		m.tick()
		m.addTo(n, total, l.at(i, &room))
	}
	c.words = total
}

func (m *machine) addTo(n *asg.Node, total, item []types.Word) {
	for j, x := range item {
		sum, err := types.Compute("+", n.Type.Part(j).Kind, total[j], x)
		if err != nil {
			m.fail(n, "%v: %d + %d", err, total[j], x)
		}
		total[j] = sum
	}
}
