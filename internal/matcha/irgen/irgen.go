// Package irgen lowers the graphs of Matcha programs to kernel IR (thesis, section 3.5). A
// program becomes phases, which functions of a thread group run.
//
//   - Neighbour lists, slices and the results of set operations are kir sets. The memory of
//     results is laid out before anything runs.
//   - Other lists that apply makes are never stored: a loop over such a list becomes the loops
//     that make its items.
//   - A value that may not fit 64 bits, judged by the inputs, is checked when it is computed.
//     An overflow fails, as in the interpreter of Matcha.
//
// It must not know targets.
package irgen

import (
	"context"
	"errors"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Lower lowers a program for inputs that Bind has checked. Sizes of lists, labels and numbers
// among the inputs are globals of the code, so that its text does not depend on them. Graphs that the program makes are made now. The error is a
// *syntax.Error that names the part that cannot be lowered yet, or the error of making a graph.
func Lower(ctx context.Context, p *asg.Program, in *data.Set) (*Code, error) {
	return lower(ctx, p, in, false)
}

// LowerDebug is Lower for a debug build: it notes where accesses to memory are, for
// Assert, and checks sums and Counters even where they are known to fit 64 bits.
func LowerDebug(ctx context.Context, p *asg.Program, in *data.Set) (*Code, error) {
	return lower(ctx, p, in, true)
}

func lower(ctx context.Context, p *asg.Program, in *data.Set, debug bool) (c *Code, err error) {
	l := &lowerer{debug: debug, ctx: ctx, p: p, in: in, prog: &kir.Program{Name: p.Name}, vals: map[*asg.Node]*value{}, graphs: map[string]*kir.GlobalDef{},
		supported: map[string]*kir.Func{}, conditions: map[string]condition{}, numbers: map[any]kir.Expr{}, classes: map[string]*labels{}, ints: analyse(p)}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case failure:
			c, err = nil, e.err
		default:
			panic(e)
		}
	}()
	memory := kir.ArrayOf(kir.U32, 0).Writable()
	l.mem, l.shared = &kir.Var{Name: "mem", T: memory}, &kir.Var{Name: "shared", T: memory}
	c = &Code{Program: l.prog}
	if debug {
		l.prog.Places, l.places = map[kir.Stmt]uint32{}, map[*asg.Node]uint32{}
		l.failures = append(l.failures, errors.New("an access outside memory in a function that the program calls, which is a mistake of the compiler"))
	}
	l.findUses()
	l.findSure(p.Main)
	var results []*kir.Var
	body := l.block(func() {
		for _, n := range p.Inputs {
			l.vals[n] = l.input(n)
		}
		l.body(p.Main)
		if p.Main.Result != nil {
			results = l.results(p.Main.Result)
		}
	})
	c.Words, c.SharedWords, c.Lists = l.words, l.sharedWords, l.lists
	l.phases(c, body, results)
	l.prog.Funcs = append(l.helpers, l.prog.Funcs...)
	c.failures, c.mem, c.shared = l.failures, l.mem, l.shared
	return c, kir.Verify(l.prog)
}

// results are the components of the program's result, as variables.
func (l *lowerer) results(n *asg.Node) (out []*kir.Var) {
	kind := kir.I64
	if n.Type.Part(0).Kind == types.Float {
		kind = kir.F64
	}
	for _, x := range l.scalars(n) {
		if x.Type().Kind != kind {
			x = kir.Convert{T: kir.T(kind), X: x}
		}
		if r, ok := x.(kir.Ref); ok {
			out = append(out, r.Var)
			continue
		}
		v := &kir.Var{Name: "result", T: kir.T(kind)}
		l.do(&kir.Let{Var: v, Init: x})
		out = append(out, v)
	}
	return out
}

type failure struct{ err error }

// lowerer writes the program as one list of statements, which phases divides.
type lowerer struct {
	ctx         context.Context
	p           *asg.Program
	in          *data.Set
	prog        *kir.Program
	mem, shared *kir.Var
	words       int64 // of mem that are taken
	sharedWords int64 // of shared
	lists       []List
	out         *[]kir.Stmt
	vals        map[*asg.Node]*value
	graphs      map[string]*kir.GlobalDef // of inputs
	inline      bool                      // in a predicate, which is one expression
	semi        bool                      // in the condition of a relation, which may have semi-joins
	debug       bool                      // for Assert
	at          *asg.Node                 // the node that is being written
	places      map[*asg.Node]uint32      // codes of accesses outside memory
	failures    []error                   // by their codes, from 1 on
	sink        *sink                     // of the value that is being computed; nil: a failure ends the run
	helpers     []*kir.Func               // functions that the program calls
	supported   map[string]*kir.Func      // by their names
	conditions  map[string]condition      // by asg.ViewKey
	classes     map[string]*labels        // of labelsOf
	numbers     map[any]kir.Expr          // of numberOf, by their keys
	ints        analysis
	uses        map[*asg.Node]usage
	sure        map[*asg.Node]bool // nodes that the program needs for all inputs
	outer       bool               // the next loop is the outermost of a node that is Parallel
	parallel    map[kir.Stmt]bool  // such loops
	apart       map[kir.Stmt]bool  // loops whose turns write to different places of the memory of all
}

// takeOuter reports whether the loop that is written next is the outermost one of a node that
// is Parallel. Such a loop is a kir.Loop over numbers.
func (l *lowerer) takeOuter() bool {
	outer := l.outer
	l.outer = false
	return outer
}

// loop appends a loop, whose turns several workers may take if it is outer.
func (l *lowerer) loop(s *kir.Loop, outer bool) {
	if outer {
		if l.parallel == nil {
			l.parallel = map[kir.Stmt]bool{}
		}
		l.parallel[s] = true
	}
	l.do(s)
}

// notYet ends the lowering.
func (l *lowerer) notYet(n *asg.Node, what string) {
	panic(failure{l.p.File.ErrorAt(n.Pos, "not yet in generated code: "+what)})
}

// do appends a statement.
func (l *lowerer) do(s kir.Stmt) {
	*l.out = append(*l.out, s)
	if l.debug {
		l.mark(s)
	}
}

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

// scalars are the components of a Var or Tuple.
func (l *lowerer) scalars(n *asg.Node) []kir.Expr {
	if v := l.vals[n]; v != nil {
		l.need(v)
	}
	return l.parts(n)
}

// parts are the components, whether the value failed or not.
func (l *lowerer) parts(n *asg.Node) []kir.Expr {
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

// body writes the nodes that are at home in f.
func (l *lowerer) body(f *asg.Func) {
	for _, n := range asg.Order(f) {
		if n.Op == asg.Const {
			continue
		}
		l.vals[n] = l.value(n)
	}
}

// value writes a node: its effect at its place, or its value.
func (l *lowerer) value(n *asg.Node) *value {
	before := l.at
	l.outer, l.at = n.Parallel, n
	defer func() { l.outer, l.at = false, before }()
	write := func() *value { return l.stored(n, l.node(n)) }
	switch {
	case n.Op.Step() || n.Effects || l.sure[n]:
		return l.unguarded(write)
	case n.Parallel:
		return l.unsure(write)
	}
	return l.guarded(write)
}

// run writes f for the items of a list and returns the result's components.
func (l *lowerer) run(f *asg.Func, item []kir.Expr) []kir.Expr {
	return l.runAll(f, [][]kir.Expr{item})
}

// runAll is run for the items of lists.
func (l *lowerer) runAll(f *asg.Func, items [][]kir.Expr) []kir.Expr {
	for i, item := range items {
		l.vals[f.Operands[i]] = &value{xs: item}
	}
	return l.again(f)
}

// again is run for items that the operands have.
func (l *lowerer) again(f *asg.Func) []kir.Expr {
	l.body(f)
	if f.Result == nil {
		return nil
	}
	return l.scalars(f.Result)
}
