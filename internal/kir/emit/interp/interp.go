// Package interp runs kir programs without a compiler. Its results define what the programs of
// the other emitters must compute. A thread group is one lane here, which does all of the
// group's work.
package interp

import (
	"fmt"

	"github.com/weftgraph/weft/internal/kir"
)

// Machine is a program made ready to run. Calls may run at once.
type Machine struct {
	p     *kir.Program
	funcs map[*kir.Func]*function
	emit  func(row []uint64) bool
}

// Value is an argument, a variable or a result.
type Value struct {
	// N holds numbers and Bool (0 or 1), U128 with its upper half in Hi, and F64
	// by its bits.
	N, Hi uint64
	// List holds a Set, an array of u32, or memory seen as words of 8 bytes, the
	// lower half of each first.
	List []uint32
	// Items holds an array of anything else.
	Items []Value
	Rec   *Record
	Hood  *Hood
}

// Record is a record's fields in their order.
type Record struct{ Fields []Value }

// New verifies p and prepares it. emit takes the rows of the program's matches;
// where it returns false the program stops, and its results mean nothing. It
// may be nil where the program emits nothing.
func New(p *kir.Program, emit func(row []uint64) bool) (*Machine, error) {
	if err := kir.Verify(p); err != nil {
		return nil, err
	}
	m := &Machine{p: p, funcs: map[*kir.Func]*function{}, emit: emit}
	for _, f := range p.Funcs {
		m.funcs[f] = m.compile(f)
	}
	return m, nil
}

// NewRecord returns a record of zero values.
func NewRecord(r *kir.Record) Value {
	out := &Record{}
	for _, f := range r.Fields {
		out.Fields = append(out.Fields, zero(f.Type))
	}
	return Value{Rec: out}
}

// U32 is a number as a value.
func U32(x uint32) Value { return Value{N: uint64(x)} }

// Array is memory, or an array of numbers, as a value.
func Array(x []uint32) Value { return Value{List: x} }

func zero(t kir.Type) Value {
	switch t.Kind {
	case kir.Array:
		if t.Elem == kir.U32 {
			return Value{List: make([]uint32, t.Len)}
		}
		return Value{Items: make([]Value, t.Len)}
	case kir.Rec:
		return NewRecord(t.Record)
	}
	return Value{}
}

// Call runs a function of the program. The values of Out parameters are lost.
func (m *Machine) Call(f *kir.Func, args ...Value) Value {
	code := m.funcs[f]
	if code == nil || len(args) != len(f.Params) {
		panic(fmt.Sprintf("interp: no function %s of %d arguments", f.FullName(), len(args)))
	}
	fr := &frame{vars: make([]Value, code.vars)}
	copy(fr.vars, args)
	code.run(fr)
	return fr.result
}

// frame is one call of a function.
type frame struct {
	vars   []Value
	result Value
}

// function is a function as closures. Parameters are the first variables.
type function struct {
	vars int
	body step
}

func (f *function) run(fr *frame) { f.body(fr) }

// step runs statements and says how they ended.
type step func(f *frame) flow

// eval computes an expression.
type eval func(f *frame) Value

// flow says where a run continues after a statement.
type flow uint8

const (
	next flow = iota
	leave
)

// stopped unwinds a program that was told to stop.
type stopped struct{}

// Run is Call for programs that may be stopped by their consumer of matches;
// ok is false where that happened.
func (m *Machine) Run(f *kir.Func, args ...Value) (result Value, ok bool) {
	defer func() {
		if e := recover(); e != nil {
			if _, is := e.(stopped); !is {
				panic(e)
			}
		}
	}()
	return m.Call(f, args...), true
}

// Failure says that a program failed with the Code of its Fail.
type Failure struct{ Code uint32 }

func (e *Failure) Error() string { return fmt.Sprintf("the program failed, code %d", e.Code) }

// Try is Run for programs that may fail: then the error is a *Failure.
func (m *Machine) Try(f *kir.Func, args ...Value) (result Value, ok bool, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *Failure:
			err = e
		default:
			panic(e)
		}
	}()
	result, ok = m.Run(f, args...)
	return result, ok, nil
}

// compiler is the making of one function.
type compiler struct {
	m    *Machine
	slot map[*kir.Var]int
}

func (m *Machine) compile(f *kir.Func) *function {
	c := &compiler{m, map[*kir.Var]int{}}
	for _, v := range f.Params {
		c.at(v)
	}
	body := c.block(f.Body)
	return &function{vars: len(c.slot), body: body}
}

// at is where a variable lies in the frame.
func (c *compiler) at(v *kir.Var) int {
	i, ok := c.slot[v]
	if !ok {
		i = len(c.slot)
		c.slot[v] = i
	}
	return i
}
