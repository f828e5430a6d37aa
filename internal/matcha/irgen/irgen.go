// Package irgen lowers the graphs of Matcha programs to kernel IR (thesis,
// section 3.5). A program becomes one function of a thread group. Neighbour
// lists, slices and what set operations make are kir sets; the memory of the
// latter is laid out before anything runs. What apply makes otherwise is never
// stored: a loop over such a list is the loops that make its items.
//
// Arithmetic wraps, where the interpreter of Matcha reports an overflow.
package irgen

import (
	"context"
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Code is a lowered program.
type Code struct {
	Program *kir.Program
	// Run takes the memory, an array of Words u32, and where there is a result the
	// array that takes its components, which are Kind: I64 or F64, a Bool as an I64.
	Run   *kir.Func
	Words int64
	Kind  kir.Kind // Void: the program has no result
}

// Lower lowers a program for inputs that Bind has checked: sizes of lists, labels
// and numbers among the inputs become constants. Graphs that the program makes
// are made now. The error is a *syntax.Error that says what cannot be lowered
// yet, or that of making a graph.
func Lower(ctx context.Context, p *asg.Program, in *data.Set) (c *Code, err error) {
	l := &lowerer{ctx: ctx, p: p, in: in, prog: &kir.Program{Name: p.Name}, vals: map[*asg.Node]*value{}, graphs: map[string]*kir.GlobalDef{}}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case failure:
			c, err = nil, e.err
		default:
			panic(e)
		}
	}()
	l.mem = &kir.Var{Name: "mem", T: kir.ArrayOf(kir.U32, 0).Writable()}
	f := &kir.Func{Name: "run", Scope: kir.Group, Params: []*kir.Var{l.mem}, Result: kir.T(kir.Void)}
	c = &Code{Program: l.prog, Run: f}
	f.Body = l.block(func() {
		for _, n := range p.Inputs {
			l.vals[n] = l.input(n)
		}
		l.body(p.Main)
		if p.Main.Result != nil {
			l.result(c, f, p.Main.Result)
		}
	})
	l.prog.Funcs = []*kir.Func{f}
	l.prog.Owners = []kir.Owner{{}}
	c.Words = l.words
	return c, kir.Verify(l.prog)
}

// result stores the program's result.
func (l *lowerer) result(c *Code, f *kir.Func, n *asg.Node) {
	c.Kind = kir.I64
	if n.Type.Part(0).Kind == types.Float {
		c.Kind = kir.F64
	}
	out := &kir.Var{Name: "out", T: kir.ArrayOf(c.Kind, 0).Writable()}
	f.Params = append(f.Params, out)
	for i, x := range l.scalars(n) {
		if x.Type().Kind == kir.Bool {
			x = kir.Convert{T: kir.T(kir.I64), X: x}
		}
		l.do(&kir.Assign{To: kir.Elem{X: kir.R(out), I: kir.C(uint32(i))}, X: x})
	}
}

type failure struct{ err error }

// lowerer writes one function.
type lowerer struct {
	ctx    context.Context
	p      *asg.Program
	in     *data.Set
	prog   *kir.Program
	mem    *kir.Var
	words  int64 // of mem that are taken
	out    *[]kir.Stmt
	vals   map[*asg.Node]*value
	graphs map[string]*kir.GlobalDef // of inputs
	inline bool                      // in a predicate, which is one expression
}

// notYet ends the lowering.
func (l *lowerer) notYet(n *asg.Node, what string) {
	panic(failure{l.p.File.ErrorAt(n.Pos, "not yet in generated code: "+what)})
}

// do appends a statement.
func (l *lowerer) do(s kir.Stmt) { *l.out = append(*l.out, s) }

// block collects the statements that write makes.
func (l *lowerer) block(write func()) []kir.Stmt {
	before := l.out
	var body []kir.Stmt
	l.out = &body
	write()
	l.out = before
	return body
}

// let names a value, so that it is computed once.
func (l *lowerer) let(name string, x kir.Expr) kir.Expr {
	if _, constant := x.(kir.Const); constant || l.inline {
		return x
	}
	if _, ref := x.(kir.Ref); ref {
		return x
	}
	if name == "" {
		name = "t"
	}
	v := &kir.Var{Name: name, T: x.Type()}
	l.do(&kir.Let{Var: v, Init: x})
	return kir.R(v)
}

// room takes memory for the list of a node and returns it.
func (l *lowerer) room(n *asg.Node) kir.Expr {
	at := l.words
	l.words += l.in.Most(n.Type.Max)
	if l.words < at || l.words > math.MaxUint32 {
		what := "this list"
		if n.Given != "" {
			what = n.Given
		}
		panic(failure{l.p.File.ErrorAt(n.Pos, "the memory for "+what+" lies beyond 2^32 words")})
	}
	return kir.Fn(kir.Room, kir.R(l.mem), kir.C(uint32(at)))
}

// scalars are the components of a Var or Tuple.
func (l *lowerer) scalars(n *asg.Node) []kir.Expr {
	if n.Op == asg.Const {
		switch n.Type.Kind {
		case types.Float:
			return []kir.Expr{kir.F(n.Words[0].Float())}
		case types.Bool:
			return []kir.Expr{kir.Const{T: kir.T(kir.Bool), Bits: uint64(n.Words[0])}}
		}
		return []kir.Expr{i64(int64(n.Words[0]))}
	}
	return l.vals[n].xs
}

func (l *lowerer) scalar(n *asg.Node) kir.Expr { return l.scalars(n)[0] }

func i64(x int64) kir.Expr { return kir.C64(kir.I64, uint64(x)) }

// asInt is a u32 as an Int of Matcha.
func asInt(x kir.Expr) kir.Expr { return kir.Convert{T: kir.T(kir.I64), X: x} }

// asID is an Int that is known to fit as a u32.
func asID(x kir.Expr) kir.Expr {
	if c, ok := x.(kir.Const); ok {
		return kir.C(uint32(c.Bits))
	}
	if c, ok := x.(kir.Convert); ok && c.X.Type().Kind == kir.U32 {
		return c.X
	}
	return kir.Convert{T: kir.T(kir.U32), X: x}
}

// body writes what is at home in f.
func (l *lowerer) body(f *asg.Func) {
	for _, n := range asg.Order(f) {
		if n.Op != asg.Const {
			l.vals[n] = l.node(n)
		}
	}
}

// run writes f for the items of a list and returns the result's components.
func (l *lowerer) run(f *asg.Func, item []kir.Expr) []kir.Expr {
	l.vals[f.Operands[0]] = &value{xs: item}
	l.body(f)
	if f.Result == nil {
		return nil
	}
	return l.scalars(f.Result)
}
