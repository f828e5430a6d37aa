package lower

import (
	"fmt"

	"github.com/weftgraph/weft/internal/kir"
)

// env has the variables that a function of the set program can use: the state and, in functions that
// make sets, memory.
type env struct {
	x          *lowering
	s          *kir.Var
	slots, cap *kir.Var
	// made are the nodes that the function itself has made, in variables.
	made map[int]kir.Expr
	// own, if not nil, is the vertex of level at, which is not in the state yet.
	own *kir.Var
	at  int
}

// newEnv is an env with parameters of its own.
func (x *lowering) newEnv(writes bool) *env {
	t := kir.Of(x.stateRecord())
	if writes {
		t = t.Writable()
	}
	return &env{
		x: x, s: &kir.Var{Name: "s", T: t}, made: map[int]kir.Expr{},
		slots: &kir.Var{Name: "slots", T: kir.ArrayOf(kir.U32, 0).Writable()},
		cap:   &kir.Var{Name: "cap", T: kir.T(kir.U32)},
	}
}

// stateRecord is the record of a thread group's search state.
func (x *lowering) stateRecord() *kir.Record {
	if x.state == nil {
		x.state = &kir.Record{Name: "State", Doc: "the partial match, by level, and the set of each node", Fields: []kir.FieldDef{
			{Name: "m", Type: kir.ArrayOf(kir.U32, len(x.p.Levels))},
			{Name: "set", Type: kir.ArrayOf(kir.Set, max(1, len(x.nodes)))},
		}}
		if !x.o.Roomy {
			x.state.Doc += "; lazy: a bit a memory, set where the node is its source, unfiltered"
			x.state.Fields = append(x.state.Fields, kir.FieldDef{Name: "lazy", Type: kir.ArrayOf(kir.U32, max(1, (x.slot+31)/32))})
		}
		x.prog.Records = append(x.prog.Records, x.state)
	}
	return x.state
}

func (e *env) field(name string, i int) kir.Expr {
	return kir.Elem{X: kir.Field{X: kir.R(e.s), Name: name}, I: kir.C(uint32(i))}
}

// m is the vertex matched at level l.
func (e *env) m(l int) kir.Expr {
	if e.own != nil && l == e.at {
		return kir.R(e.own)
	}
	return e.field("m", l)
}

// set is the value of node i.
func (e *env) set(i int) kir.Expr {
	if v := e.made[i]; v != nil {
		return v
	}
	return e.field("set", i)
}

// lazyWord is where the bit of node i is.
func (e *env) lazyWord(i int) (word kir.Expr, bit uint32) {
	slot := e.x.nodes[i].slot
	return e.field("lazy", slot/32), 1 << (slot % 32)
}

// lazy reports whether node i was left unfiltered.
func (e *env) lazy(i int) kir.Expr {
	word, bit := e.lazyWord(i)
	return kir.Op2(kir.Ne, kir.Op2(kir.BitAnd, word, kir.C(bit)), kir.C(0))
}

// name is a variable's name for a level's vertex.
func name(l int) string { return fmt.Sprintf("v%d", l) }
