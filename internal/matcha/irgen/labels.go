package irgen

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Labels of input graphs. The vertices with a label are consecutive, so a label's vertices are a range, and a
// vertex's label is found by bisection. The code has the ranges as arrays.

// labels are the labels of an input graph.
type labels struct {
	// of is a function: the label of vertex v, a u32.
	of *kir.Func
	// first and end are functions: where the vertices with a label, an I64, begin and end. Both are 0 of a
	// label that no vertex has.
	first, end *kir.Func
}

// labelsOf are the labels of an input graph.
func (l *lowerer) labelsOf(name string) *labels {
	if known, ok := l.classes[name]; ok {
		return known
	}
	classes := slices.DeleteFunc(slices.Clone(l.in.Input(name).Graph.Classes), func(c graph.Class) bool { return c.First == c.End })
	var lasts []uint32
	var numbers []types.Word
	for _, c := range classes {
		lasts, numbers = append(lasts, c.End-1), append(numbers, l.in.Label(name, c.First))
	}
	last, labelOf := l.ids(name+" last of labels", lasts), l.column(name+" labels", types.TInt, append(numbers, data.NoLabel))
	slices.SortFunc(classes, func(a, b graph.Class) int {
		return cmp.Compare(l.in.Label(name, a.First), l.in.Label(name, b.First))
	})
	var firsts, ends []uint32
	var sorted []types.Word
	for _, c := range classes {
		firsts, ends, sorted = append(firsts, c.First), append(ends, c.End), append(sorted, l.in.Label(name, c.First))
	}
	ascending := l.column(name+" ascending labels", types.TInt, append(sorted, data.NoLabel))
	some := l.number("labels of "+name, uint32(len(classes)))
	suffix := fmt.Sprint(labelOf.column.Index)

	byVertex := l.support("label_place"+suffix, func() *kir.Func {
		return search(nil, kir.U32, func(i kir.Expr) kir.Expr { return kir.Elem{X: kir.G(last), I: i} })
	})
	byNumber := l.support("label_number"+suffix, func() *kir.Func {
		return search(nil, kir.I64, func(i kir.Expr) kir.Expr { return ascending.at(i, 0) })
	})
	x := &labels{of: l.support("label_of"+suffix, func() *kir.Func {
		v := local("v", kir.U32)
		return &kir.Func{
			Doc: "Returns the label of a vertex.", Params: []*kir.Var{v}, Result: kir.T(kir.I64),
			Body: []kir.Stmt{&kir.Return{X: labelOf.at(invoke(byVertex, some, kir.R(v)), 0)}},
		}
	})}
	end := func(what string, of []uint32) *kir.Func {
		array := l.ids(name+" "+what+" of ascending labels", append(of, 0))
		return l.support("label_"+what+suffix, func() *kir.Func {
			label, at := local("label", kir.I64), local("at", kir.U32)
			is := kir.All(kir.Op2(kir.Lt, kir.R(at), some), kir.Op2(kir.Eq, ascending.at(kir.R(at), 0), kir.R(label)))
			return &kir.Func{
				Doc: "Returns the " + what + " of the vertices with a label.", Params: []*kir.Var{label}, Result: kir.T(kir.U32),
				Body: []kir.Stmt{
					&kir.Let{Var: at, Init: invoke(byNumber, some, kir.R(label))},
					&kir.Return{X: kir.Select{If: is, Then: kir.Elem{X: kir.G(array), I: kir.R(at)}, Else: kir.C(0)}},
				},
			}
		})
	}
	x.first, x.end = end("first", firsts), end("end", ends)
	l.classes[name] = x
	return x
}

// label is the number of a vertex's label. A number that is not a vertex has none.
func (l *lowerer) label(name string, v kir.Expr) kir.Expr {
	vertices := int64(l.in.Input(name).Graph.NumVertices())
	is := kir.All(kir.Op2(kir.Ge, v, i64(0)), kir.Op2(kir.Lt, v, asInt(l.numberOf("vertices "+name, "vertices of "+name, uint32(vertices)))))
	return kir.Select{If: is, Then: invoke(l.labelsOf(name).of, asID(v)), Else: noLabel}
}

// labelEnd is the first vertex with a label, or the one behind the last; where no
// vertex has it, both are 0.
func (l *lowerer) labelEnd(name string, label *asg.Node, end bool) kir.Expr {
	x, ok := l.known(label)
	if ok {
		first, last := l.in.LabelRange(name, x)
		if end {
			return asInt(l.number("end of a label of "+name, last))
		}
		return asInt(l.number("first of a label of "+name, first))
	}
	f := l.labelsOf(name).first
	if end {
		f = l.labelsOf(name).end
	}
	return asInt(invoke(f, l.scalar(label)))
}

// labelCompared returns the operands of a comparison of a vertex's label with a known one. ok is false for other nodes.
func (l *lowerer) labelCompared(n *asg.Node) (of, label *asg.Node, ok bool) {
	if n.Op != asg.Compare || n.Name != "==" {
		return nil, nil, false
	}
	of, label = n.Args[0], n.Args[1]
	if of.Op != asg.VertexLabel {
		of, label = label, of
	}
	if of.Op != asg.VertexLabel {
		return nil, nil, false
	}
	name := of.Args[0].Type.Facts.Input
	_, known := l.known(label)
	return of, label, known && name != "" && of.Args[1].Type.Vertex == name
}

// isLabelled is such a comparison: the vertices with a label are consecutive. It is nil for other comparisons.
func (l *lowerer) isLabelled(n *asg.Node) kir.Expr {
	of, label, ok := l.labelCompared(n)
	if !ok {
		return nil
	}
	name, v := of.Args[0].Type.Facts.Input, l.scalar(of.Args[1])
	return kir.All(kir.Op2(kir.Ge, v, l.labelEnd(name, label, false)), kir.Op2(kir.Lt, v, l.labelEnd(name, label, true)))
}
