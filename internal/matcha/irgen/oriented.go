package irgen

import (
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// oriented is a graph of those edges of an input graph whose ends compare in one way, such as
// each edge in one direction. It is made directly from the input's lists, which are in order
// already. It is nil if n is another graph.
func (l *lowerer) oriented(n *asg.Node) *kir.GlobalDef {
	list := n.Args[0]
	if n.At != 0 || l.reads(n, asg.Vertices) {
		return nil
	}
	keep := func(u, v types.Word) bool { return true }
	if list.Op == asg.Apply {
		if len(list.Args) != 1 || list.Effects || len(list.Func.Steps) > 0 || list.Func.Result != list.Func.Operands[0] {
			return nil
		}
		if f := list.Cond; f != nil {
			x := f.Result
			if x.Op != asg.Compare || len(f.Steps) > 0 || !end(x.Args[0], f) || !end(x.Args[1], f) {
				return nil
			}
			keep = func(u, v types.Word) bool {
				ends := [2]types.Word{u, v}
				return types.Compare(x.Name, types.Int, ends[x.Args[0].At], ends[x.Args[1].At])
			}
		}
		list = list.Args[0]
	}
	if list.Op != asg.Edges || list.Args[0].Op != asg.Input {
		return nil
	}
	in := l.in.Input(list.Args[0].Name).Lists()
	g := &kir.GlobalDef{Name: name(n), Kind: kir.Adj, Off: make([]uint64, in.NumVertices()+1)}
	for u := range uint32(in.NumVertices()) {
		for i, v := range in.List(u) {
			if again := i > 0 && in.List(u)[i-1] == v; !again && keep(types.Word(u), types.Word(v)) {
				g.Adj = append(g.Adj, v)
			}
		}
		g.Off[u+1] = uint64(len(g.Adj))
	}
	return l.prog.AddGlobal(g)
}

// end reports whether x is one of the two ends of the edge that f is run for.
func end(x *asg.Node, f *asg.Func) bool { return x.Op == asg.Part && x.Args[0] == f.Operands[0] }

// name is the program's name of a graph, or a word for it.
func name(n *asg.Node) string {
	if n.Given != "" {
		return n.Given
	}
	return "graph"
}
