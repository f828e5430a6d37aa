// Package interp runs Matcha programs straight from their graphs, on one core and without a
// compiler. Every other target is compared with it, so it is simple rather than fast. It
// computes only values that are needed. Overflow of arithmetic is an error, and each list is
// compared with its bound.
//
// It must not know kernel IR or targets.
package interp

import (
	"context"
	"errors"
	"fmt"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/memory"
)

// Options are the settings of a run.
type Options struct {
	// Memory is the most bytes for lists, graphs, counters and selections; 0: DefaultMemory. The
	// collector of garbage may take as much again.
	Memory int64
	// Emit is called with each emitted row, a word for each component, in memory that is used
	// again. If it returns false the program stops, without an error. With nil rows are only
	// counted.
	Emit func(row []types.Word) bool
}

// DefaultMemory is the limit of memory where none is said.
const DefaultMemory = 8 << 30

// Result is the result of a run.
type Result struct {
	Words   []types.Word // the program's result, a word a component; nil: none
	Emitted uint64       // rows
	Stopped bool         // Emit wanted no more: Words is nil
}

// Run runs a program for inputs that Bind has checked. The error is a *syntax.Error at the
// place of the mistake, the context's, or that of a limit.
func Run(ctx context.Context, p *asg.Program, in *data.Set, o Options) (r Result, err error) {
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if err := in.Fits(o.Memory); err != nil {
		return Result{}, err
	}
	if err := in.FitsAs(o.Memory, besides(p, in), bytesOf); err != nil {
		return Result{}, err
	}
	if err := memory.ShareOf(ctx).Take("what the program makes", int64(in.BytesAs(besides(p, in), bytesOf))); err != nil {
		return Result{}, err
	}
	m := &machine{ctx: ctx, p: p, in: in, emit: o.Emit, cells: make([]cell, p.Nodes()), runs: map[*asg.Func]*uint64{}}
	m.prepare(p.Main)
	defer func() {
		switch e := recover().(type) {
		case nil:
		case stop:
			if r.Words, err = nil, e.err; errors.Is(err, errEnough) {
				r.Stopped, err = true, nil
			}
			r.Emitted = m.emitted
		default:
			panic(e)
		}
	}()
	m.work(1024)
	m.begin(p.Main)
	m.perform(p.Main)
	if p.Main.Result != nil {
		r.Words = append(r.Words, m.words(p.Main.Result)...)
	}
	r.Emitted = m.emitted
	return r, nil
}

// stop unwinds a run.
type stop struct{ err error }

var errEnough = errors.New("enough")

// machine is one run. Functions are inlined and never call themselves, so that
// each node has at most one value at a time: its cell.
type machine struct {
	ctx     context.Context
	p       *asg.Program
	in      *data.Set
	things  []types.Word // the arguments of a condition
	emit    func(row []types.Word) bool
	emitted uint64
	cells   []cell
	runs    map[*asg.Func]*uint64
	steps   int // since the context was looked at
}

// cell is the value of a node, valid in one run of the function that is the
// node's home. Its memory is used again.
type cell struct {
	home  *uint64 // counts the runs of the home
	valid uint64  // the run in which the value was made
	most  int64   // of a list: its bound
	word  [1]types.Word
	words []types.Word // a Var's or Tuple's
	list  list
	graph *adjacency
	count *counter
}

// prepare makes the cells of f and of the functions inside it.
func (m *machine) prepare(f *asg.Func) {
	runs := new(uint64)
	m.runs[f] = runs
	own := func(n *asg.Node) {
		c := &m.cells[n.ID]
		c.home = runs
		if n.Type.Kind == types.List {
			c.most = m.in.Most(n.Type.Max)
		}
	}
	for _, o := range f.Operands {
		own(o)
	}
	for _, n := range asg.Order(f) {
		own(n)
		for _, inner := range []*asg.Func{n.Cond, n.Func} {
			if inner != nil {
				m.prepare(inner)
			}
		}
	}
	if f == m.p.Main {
		for _, n := range m.p.Inputs {
			own(n)
		}
	}
}

// begin starts a run of f: its nodes have no value yet.
func (m *machine) begin(f *asg.Func) { *m.runs[f]++ }

func (m *machine) perform(f *asg.Func) {
	for _, s := range f.Steps {
		m.eval(s)
	}
}

// tick looks now and then whether the run shall end.
func (m *machine) tick() { m.work(1) }

// work is tick for n steps, which are made without looking.
func (m *machine) work(n int) {
	if m.steps += n; m.steps < 1024 {
		return
	}
	m.steps = 0
	if m.ctx.Err() != nil {
		panic(stop{context.Cause(m.ctx)})
	}
}

// fail ends the run with a mistake at a node.
func (m *machine) fail(n *asg.Node, format string, args ...any) {
	panic(stop{m.p.File.ErrorAt(n.Pos, fmt.Sprintf(format, args...))})
}

// eval returns the cell of a node with its value.
func (m *machine) eval(n *asg.Node) *cell {
	c := &m.cells[n.ID]
	if c.valid != *c.home {
		m.compute(n, c)
		c.valid = *c.home
		if n.Type.Kind == types.List && int64(c.list.n) > c.most {
			what := "the list"
			if n.Given != "" {
				what = n.Given
			}
			m.fail(n, "%s has %d items, more than its bound %s = %d", what, c.list.n, n.Type.Max, c.most)
		}
	}
	return c
}

// words is the value of a Var or Tuple.
func (m *machine) words(n *asg.Node) []types.Word {
	if n.Op == asg.Const {
		return n.Words
	}
	return m.eval(n).words
}

// word is the value of a Var.
func (m *machine) word(n *asg.Node) types.Word { return m.words(n)[0] }

func (m *machine) list(n *asg.Node) *list { return &m.eval(n).list }

// set gives a cell the value of a Var.
func (c *cell) set(x types.Word) {
	c.word[0] = x
	c.words = c.word[:]
}

// Made is a graph that a program makes: edges by their first ends, then their
// information, then their second ends.
type Made struct {
	From, To []types.Word
	Info     []types.Word // nil: there is none
	Labels   map[types.Word]types.Word
}

// Make computes a graph that a program makes, outside of its functions and from
// nothing that is done in order.
func Make(ctx context.Context, p *asg.Program, in *data.Set, n *asg.Node) (out Made, err error) {
	m := &machine{ctx: ctx, p: p, in: in, cells: make([]cell, p.Nodes()), runs: map[*asg.Func]*uint64{}}
	m.prepare(p.Main)
	defer func() {
		switch e := recover().(type) {
		case nil:
		case stop:
			err = e.err
		default:
			panic(e)
		}
	}()
	m.begin(p.Main)
	g := m.eval(n).graph
	out = Made{From: g.from, To: g.to, Labels: g.labels}
	if n.At&asg.WithInfo != 0 {
		out.Info = append([]types.Word{}, g.info...)
	}
	return out, nil
}
