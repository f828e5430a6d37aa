package irgen

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
)

// Code is a lowered program: phases, which a target runs one after the other.
//
// Memory. Each worker (a thread, a thread group) has Words u32 of memory. All workers share
// SharedWords u32 and a record of type State, whose fields are 8 bytes each (I64 or F64) and 0
// before the first phase. A parallel phase may read what earlier phases have written. It writes to shared memory only
// where graphs are made: each item to places of its own, or by indivisible additions (kir.FetchAdd).
type Code struct {
	Program     *kir.Program
	Phases      []Phase
	Words       int64
	SharedWords int64
	State       *kir.Record
	// Result are the fields of State that the program's result is after the last
	// phase, a Bool as an I64; none: the program has no result.
	Result      []int
	failures    []error // by their codes, from 1 on
	mem, shared *kir.Var
	// Lists are the lists in the memory of workers and in shared memory.
	Lists []List
}

// Assert makes the code of LowerDebug a debug build, after all other passes. It asserts every
// access to memory. An access outside of it fails with the place in the program. more are
// parameters that a target has added. Call it once.
func (c *Code) Assert(more ...Array) {
	outside := map[*kir.Var]kir.Expr{}
	for _, a := range append(more, Array{c.mem, c.Words}, Array{c.shared, c.SharedWords}) {
		outside[a.Param] = kir.C64(kir.U64, uint64(a.Words))
	}
	kir.Assert(c.Program, outside, 1)
}

// Array is a parameter that is Words u32 of memory.
type Array struct {
	Param *kir.Var
	Words int64
}

// Failure is why a run failed, by the code that a Fail of the program gave.
func (c *Code) Failure(code uint32) error {
	if code == 0 || int64(code) > int64(len(c.failures)) {
		return fmt.Errorf("the program failed for an unknown reason, %d", code)
	}
	return c.failures[code-1]
}

// Phase is a part of a program. A sequential one is Run alone, which one worker calls once as
// run(mem, shared, state).
//
// A parallel one is Item alone, called as item(mem, shared, state, sums, i) once for each i of
// type u64 from 0 on, in any order and by any workers. The field Items of State has their
// number when the phase begins. It reads state, and adds to sums, a record of type Sums that
// belongs to the worker and is 0 when the phase begins. When all items are done the target adds
// up each field k of the workers' sums (I64, wrapping) and adds it to the field Into[k] of
// State.
//
// Both may emit; the rows of a parallel phase come in any order.
type Phase struct {
	Run   *kir.Func
	Item  *kir.Func
	Items int
	Sums  *kir.Record
	Into  []int
}

// List is the memory of a stored list: Words u32 from At on.
type List struct {
	Node   *asg.Node
	At     int64
	Words  int64
	Shared bool // in the memory of all workers
}

// Name is the list's name in the program, or a phrase if it has none.
func (l List) Name() string {
	if l.Node.Given != "" {
		return l.Node.Given
	}
	return "this list"
}

// Format is the code as text for readers.
func (c *Code) Format() string {
	var b strings.Builder
	fmt.Fprintf(&b, "memory: %d words a worker, %d for all\n", c.Words, c.SharedWords)
	for _, p := range c.Phases {
		if p.Run != nil {
			fmt.Fprintf(&b, "phase %s\n", p.Run.Name)
			continue
		}
		fmt.Fprintf(&b, "phase %s, in parallel: %s items", p.Item.Name, c.State.Fields[p.Items].Name)
		for k, f := range p.Into {
			fmt.Fprintf(&b, ", %s to %s", p.Sums.Fields[k].Name, c.State.Fields[f].Name)
		}
		b.WriteByte('\n')
	}
	for i, f := range c.Result {
		if i == 0 {
			b.WriteString("result:")
		}
		fmt.Fprintf(&b, " %s", c.State.Fields[f].Name)
	}
	if len(c.Result) > 0 {
		b.WriteByte('\n')
	}
	return b.String() + kir.Format(c.Program)
}
