package lower

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// The tail counts the ways to match the last levels from their sets. For a single level, the count is
// the size of its set, without the vertices that are matched already. For several independent levels,
// it is arithmetic over the sizes of sets and intersections (tailsum.go). The sets are those of the
// plan's tail groups. Each size is computed once.

// tailPlan is the part of the plan's tail that arithmetic closes.
type tailPlan struct {
	groups []plan.TailGroup
	terms  []plan.TailTerm
	// divisor of the terms. 0 means that the count comes from the groups, without terms.
	divisor int64
	// masks are the intersections that the count may need. Each is a set of groups, by bits.
	masks []uint32
}

// planTail decides how many levels the tail closes.
func (x *lowering) planTail() {
	t := &x.p.Tail
	x.tail = len(x.p.Levels)
	if x.o.Counting && t.K == 0 && len(x.p.Edges) > 0 && x.o.View == Sets {
		x.tail--
		x.summed = true
		return
	}
	if !x.o.Counting || t.K == 0 || x.o.View == Checks && t.K == 1 {
		return // each candidate of the last level is tested, and so counted, one by one
	}
	x.tail -= t.K
	x.close = tailPlan{groups: t.Groups, terms: t.Terms, divisor: t.Divisor, masks: x.p.TailBlocks()}
	if t.K > 1 && t.Terms == nil && !x.closable() {
		// Only the last level is closed, because three sets that all meet need more memory
		// than a lane has.
		last := len(x.p.Levels) - 1
		if x.o.View == Checks {
			x.tail, x.close = len(x.p.Levels), tailPlan{}
			return
		}
		x.tail = last
		x.close = tailPlan{groups: []plan.TailGroup{{Levels: []int{last}}}, masks: []uint32{1}}
	}
	x.repOf = make([]int, len(x.p.Levels))
	for r, g := range x.close.groups {
		for _, l := range g.Levels {
			x.repOf[l] = r
		}
	}
}

// tailSet is the set of one group of the tail.
type tailSet struct {
	level int
	inner []inner          // the earlier vertices that may lie in it
	in    map[int]kir.Expr // by level: whether the vertex of that level lies in it
	set   kir.Expr         // its variable; nil: not made yet
}

// inner tests whether the vertex of an earlier level lies in a tail set.
type inner struct {
	level int
	test  func(e *env) kir.Expr
}

// tailFunc returns the function that counts the ways to match the levels from x.tail on.
func (x *lowering) tailFunc() (*kir.Func, error) {
	e := x.newEnv(true)
	t := x.newTail(e)
	t.measure = func(mask uint32) kir.Expr { return t.unmatched(mask, t.common(mask)) }
	count, err := t.total()
	if err != nil {
		return nil, err
	}
	t.timesChoices(count)
	return &kir.Func{
		Name: "tail", Doc: "the number of ways to match the remaining levels: " + strings.Join(x.names[x.tail:], ", "), Scope: kir.Group,
		Params: []*kir.Var{e.s, e.slots, e.cap}, Result: count, Body: t.body,
	}, nil
}

// tailWriter writes the tail function.
type tailWriter struct {
	*lowering
	e    *env
	body []kir.Stmt
	sets []tailSet // by group
	size map[uint32]*kir.Var
	// measure returns the size of an intersection of groups' sets.
	measure func(mask uint32) kir.Expr
}

// newTail collects the sets. The caller sets measure.
func (x *lowering) newTail(e *env) *tailWriter {
	t := &tailWriter{lowering: x, e: e, size: map[uint32]*kir.Var{}}
	for _, g := range x.close.groups {
		l := g.Levels[0]
		s := tailSet{level: l, in: map[int]kir.Expr{}}
		for _, d := range x.p.Levels[l].Distinct {
			if d < x.tail {
				s.inner = append(s.inner, t.membership(l, d))
			}
		}
		t.sets = append(t.sets, s)
	}
	return t
}

// total writes the arithmetic, and returns the type of the count.
func (t *tailWriter) total() (kir.Type, error) {
	count, err := t.width()
	if err != nil {
		return count, err
	}
	t.prog.Types = append(t.prog.Types, kir.Alias{Name: "Count", Type: count})
	switch {
	case t.tail == len(t.p.Levels)-1:
		t.body = append(t.body, &kir.Return{X: kir.Convert{T: count, X: t.measure(1)}})
	case t.close.divisor != 0:
		t.sum(count)
	default:
		t.choices(count)
	}
	return count, nil
}

// membership tests whether the vertex of level d lies in level l's set. It leaves out the tests that
// level d has made already.
func (t *tailWriter) membership(l, d int) inner {
	lv, of := &t.p.Levels[l], t.p.Member(l, d)
	return inner{d, func(e *env) kir.Expr {
		v := e.m(d)
		b := t.levelBounds(l, t.tail)
		if lv.Ranges != nil && !of.Ranges {
			b.first = nil
			if _, end := t.rangeLimits(t.oneRange(l)); b.end == end {
				b.end = nil
			}
		}
		tests := b.holds(v, e.m)
		if len(lv.Ranges) > 1 && of.Ranges {
			tests = append(tests, t.inRanges(lv.Ranges, v))
		}
		if of.Bits {
			tests = append(tests, kir.Fn(kir.Bit, kir.G(t.bitsOf(lv.Bits, "bits of "+t.names[l])), v))
		}
		for _, back := range of.Back {
			tests = append(tests, t.adjacent(back, v, e.m))
		}
		return kir.All(tests...)
	}}
}

func (t *tailWriter) let(name string, x kir.Expr) *kir.Var {
	v := &kir.Var{Name: name, T: x.Type()}
	t.body = append(t.body, &kir.Let{Var: v, Init: x})
	return v
}

// inside returns a variable that says whether the vertex of in's level lies in set r.
func (t *tailWriter) inside(r int, in inner) kir.Expr {
	s := &t.sets[r]
	if s.in[in.level] == nil {
		s.in[in.level] = kir.R(t.let(fmt.Sprintf("in%d_%d", s.level, in.level), in.test(t.e)))
	}
	return s.in[in.level]
}

// unmatched subtracts from n, the number of vertices in all sets of a block, those that are matched
// already.
func (t *tailWriter) unmatched(mask uint32, n kir.Expr) kir.Expr {
	first := bits.TrailingZeros32(mask)
	for _, in := range t.sets[first].inner {
		tests := []kir.Expr{t.inside(first, in)}
		all := true
		for rest := mask & (mask - 1); rest != 0 && all; rest &= rest - 1 {
			r := bits.TrailingZeros32(rest)
			at := slices.IndexFunc(t.sets[r].inner, func(o inner) bool { return o.level == in.level })
			if all = at >= 0; all {
				tests = append(tests, t.inside(r, t.sets[r].inner[at]))
			}
		}
		if all {
			n = kir.Op2(kir.Sub, n, kir.Convert{T: kir.T(kir.U32), X: kir.All(tests...)})
		}
	}
	return n
}

// common returns the number of vertices in all sets of a block.
func (t *tailWriter) common(mask uint32) kir.Expr {
	var sets, tests, lazy []kir.Expr
	v := &kir.Var{Name: "x", T: kir.T(kir.U32)}
	plain := true
	for rest := mask; rest != 0; rest &= rest - 1 {
		l := t.sets[bits.TrailingZeros32(rest)].level
		alone := t.alone(l, kir.R(v))
		tests = append(tests, alone...)
		plain = plain && len(alone) == 0
		i := t.p.Levels[l].Set
		if t.nodes[i].deferred {
			return t.deferredSize(l, v, alone)
		}
		sets = append(sets, t.setOf(l))
		if t.mayBeLazy(i) {
			tests = append(tests, t.unlessLazy(i, kir.R(v), t.e))
			lazy = append(lazy, t.e.lazy(i))
		}
	}
	size := kir.Fn(kir.Size, sets[0])
	if len(sets) == 2 {
		size = kir.Fn(kir.CountAnd, sets[0], sets[1])
	}
	if plain && len(sets) <= 2 && len(lazy) == 0 {
		return size
	}
	from := sets[0]
	if len(sets) > 1 {
		for _, s := range sets {
			tests = append([]kir.Expr{kir.Fn(kir.Contains, s, kir.R(v))}, tests...)
		}
		for _, s := range sets[1:] {
			from = kir.R(t.let("least", shorter(from, s)))
		}
	}
	slow := kir.Count{Over: from, X: v, Keep: kir.All(tests...)}
	if plain && len(sets) <= 2 {
		return kir.Select{If: kir.Any(lazy...), Then: slow, Else: size}
	}
	return slow
}

// setOf returns a variable with level l's set, within its bounds.
func (t *tailWriter) setOf(l int) kir.Expr {
	r := &t.sets[t.repOf[l]]
	if r.set == nil {
		r.set = kir.R(t.let(fmt.Sprintf("c%d", l), t.candidates(l, t.tail, t.e)))
	}
	return r.set
}

// deferredSize returns the size of level l's set, whose node is not computed.
func (t *tailWriter) deferredSize(l int, v *kir.Var, alone []kir.Expr) kir.Expr {
	i := t.p.Levels[l].Set
	s := &t.nodes[i]
	a, b := t.operandsWithin(i, t.levelBounds(l, t.tail), t.e)
	a = kir.R(t.let("a", a))
	if b != nil {
		b = kir.R(t.let("b", b))
	}
	let := func(name string, init kir.Expr) kir.Expr { return kir.R(t.let(name, init)) }
	if f, ok := t.looksUp(i, a, b, t.levelBounds(l, t.tail), len(alone) == 0, t.e, let); ok {
		f.keep = kir.All(append([]kir.Expr{f.keep}, t.alone(l, kir.R(f.x))...)...)
		return f.size()
	}
	fn := kir.CountAnd
	if s.Op == plan.SetMinus {
		fn = kir.CountMinus
	}
	fast := kir.Fn(fn, a, b)
	base := t.mayBeLazy(s.Base)
	if len(alone) == 0 && !base {
		return fast
	}
	from, other := a, kir.Fn(kir.Contains, b, kir.R(v))
	if s.Op == plan.SetMinus {
		other = kir.NotX(other)
	} else {
		from = kir.R(t.let("least", shorter(a, b)))
		other = kir.All(kir.Fn(kir.Contains, a, kir.R(v)), other)
	}
	tests := append([]kir.Expr{other}, alone...)
	if base {
		tests = append(tests, t.unlessLazy(s.Base, kir.R(v), t.e))
	}
	slow := kir.Count{Over: from, X: v, Keep: kir.All(tests...)}
	if len(alone) > 0 {
		return slow
	}
	return kir.Select{If: t.e.lazy(s.Base), Then: slow, Else: fast}
}
