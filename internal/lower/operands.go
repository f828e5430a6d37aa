package lower

import (
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// operandFuncs writes the operands of each node of the set program, for a schedule that makes a
// node for several partial matches at once. The functions Node<i>::a and b return the sets that
// the node combines, for one lane. The constants of Node<i> say
//
//   - which operation it is (0 a, 1 a ∩ b, 2 a − b);
//   - at which level it is made, if at all;
//   - where its memory is;
//   - whether its base may have been left unfiltered.
func (x *lowering) operandFuncs() {
	for i := range x.nodes {
		n := &x.nodes[i]
		flag := func(b bool) uint64 {
			if b {
				return 1
			}
			return 0
		}
		consts := []kir.Define{
			{Name: "at", Value: uint64(n.At)}, {Name: "op", Value: uint64(n.Op)}, {Name: "made", Value: flag(!n.deferred)},
			{Name: "slot", Value: uint64(max(n.slot, 0))},
		}
		if loose := n.Op != plan.SetList && x.mayBeLazy(n.Base); loose {
			consts = append(consts, kir.Define{Name: "base_lazy", Value: 1}, kir.Define{Name: "base_slot", Value: uint64(x.nodes[n.Base].slot)})
		} else {
			consts = append(consts, kir.Define{Name: "base_lazy"}, kir.Define{Name: "base_slot"})
		}
		x.nodeOwner(i).Consts = consts
		if n.deferred {
			continue
		}
		e := x.newEnv(false)
		a, b := x.operands(i, e)
		x.operand(i, "a", e, a)
		if b != nil {
			e = x.newEnv(false)
			_, b = x.operands(i, e)
			x.operand(i, "b", e, b)
		}
	}
}

func (x *lowering) operand(i int, name string, e *env, set kir.Expr) {
	x.member("Node", i, &kir.Func{
		Name: name, Scope: kir.Lane, Params: []*kir.Var{e.s}, Result: kir.T(kir.Set), Body: []kir.Stmt{&kir.Return{X: set}},
	})
}

// nodeOwner is the type of node i's functions.
func (x *lowering) nodeOwner(i int) *kir.Owner {
	for k := range x.prog.Owners {
		if o := &x.prog.Owners[k]; o.Family == "Node" && o.Index == i {
			return o
		}
	}
	x.owner("Node", i, x.formula(i))
	return &x.prog.Owners[len(x.prog.Owners)-1]
}
