package steal_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/kir"
	kirinterp "github.com/weftgraph/weft/internal/kir/emit/interp"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/steal"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/matcharun"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// busy are items that do something around, between and behind loops of both levels.
var busy = []string{`input G: Graph
def f(u):
    let c = neighbor(G, u)
    let twice = apply(lambda x: x * 2, None, c)
    emit(mk_tuple(val=[u, size(c)]))
    def told(w):
        emit(mk_tuple(val=[w, 77]))
        return w + 1
    let both = sum(apply(told, None, c))
    def g(v):
        let d = intersect(c, neighbor(G, v))
        apply(lambda w: emit(mk_tuple(val=[v, w])), lambda w: w > v, d)
        def h(w):
            let e = diff(d, neighbor(G, w))
            emit(mk_tuple(val=[v + w, size(e)]))
            return sum(apply(lambda x: size(intersect(e, neighbor(G, x))) + 1, None, e))
        return mk_tuple(val=[sum(apply(h, lambda w: w > v, d)), sum(apply(h, None, c)), size(d) + sum(twice) + both])
    def k(v):
        let d = diff(c, neighbor(G, v))
        return sum(apply(lambda w: size(intersect(d, neighbor(G, w))), None, c))
    let all = sum(apply(g, lambda v: v != 3, c))
    let some = sum(apply(k, None, c))
    emit(mk_tuple(val=[u, some]))
    let out = mk_tuple(val=[get(all, 0), get(all, 1), get(all, 2), some, size(c)])
    apply(lambda w: emit(mk_tuple(val=[w, u])), None, c)
    return out
return sum(apply(f, lambda u: u < 7, vertices(G)))
`, `input G: Graph
def f(u):
    let c = neighbor(G, u)
    def g(v):
        let n = Counter(size(vertices(G)))
        let d = intersect(c, neighbor(G, v))
        apply(lambda w: add(n, w, 1), None, d)
        def h(w):
            return size(intersect(d, neighbor(G, w))) + get(n, w)
        return sum(apply(h, None, c)) + sum(apply(h, None, d))
    return sum(apply(g, lambda v: v > u, c)) + sum(apply(g, lambda v: v < u, c)) * size(c)
return sum(apply(f, None, vertices(G)))
`, `input G: Graph
def f(u):
    let n = Counter(size(vertices(G)))
    let c = neighbor(G, u)
    def g(v):
        let d = intersect(c, neighbor(G, v))
        apply(lambda w: add(n, w, 1), None, d)
        return size(d)
    def h(v):
        return sum(apply(lambda w: get(n, w) * size(intersect(c, neighbor(G, w))), None, diff(c, neighbor(G, v))))
    return mk_tuple(val=[sum(apply(g, None, c)), sum(apply(h, None, c))])
return sum(apply(f, None, vertices(G)))
`}

// TestTurns: an item and the turns that are taken from it together give the program's result
// and rows. The turns are of any number and done in any order, before the passes over the
// kernel IR and after them.
func TestTurns(t *testing.T) {
	texts := map[string]string{}
	for i, text := range busy {
		texts[fmt.Sprint("busy ", i)] = text
	}
	for name, text := range matchatest.Programs {
		if !matchatest.Mistakes[name] {
			texts[name] = text
		}
	}
	for _, e := range library.Entries() {
		if len(e.Text) < 8<<10 {
			texts[e.Name] = e.Text
		}
	}
	shared := [3]int{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text, examples := texts[name], 4
		if slices.Contains(busy, text) {
			examples = 24
		}
		for example := range examples {
			in := rapid.Custom(func(t *rapid.T) map[string]data.Input { return matchatest.Inputs(t, text) }).Example(example)
			want, err := matcharun.Interpreted(t, text, in)
			if err != nil {
				t.Fatal(err)
			}
			for choice := range 4 {
				every, optimized := choice&1 != 0, choice&2 != 0
				got, levels := inTurns(t, text, in, every, optimized, rand.New(rand.NewPCG(uint64(example), uint64(choice))))
				if got != want {
					t.Fatalf("%s, example %d, every %v, optimized %v: %.400s, want %.400s", name, example, every, optimized, got, want)
				}
				for l, n := range levels {
					shared[l] += n
				}
			}
		}
	}
	if t.Logf("shared loops by level: %v", shared[1:]); shared[1] == 0 || shared[2] == 0 {
		t.Error("a level has no loops")
	}
}

// inTurns runs a program in the interpreter of the IR. What is taken from each item
// is drawn by r.
func inTurns(t *testing.T, text string, in map[string]data.Input, every, optimized bool, r *rand.Rand) (out string, levels [3]int) {
	t.Helper()
	_, _, code := matcharun.Lowered(t, text, in)
	loops := map[*kir.Func]map[*kir.Each]steal.Loop{}
	for _, p := range code.Phases {
		if p.Item != nil {
			loops[p.Item] = steal.Loops(p.Item, every)
		}
	}
	if optimized {
		kir.Optimize(code.Program)
	}
	items := map[*kir.Func]*item{}
	for f, l := range loops {
		items[f] = ranged(f, l)
		for _, l := range l {
			levels[l.Level]++
		}
	}
	var rows []string
	m, err := kirinterp.New(code.Program, func(row []uint64) bool {
		words := make([]types.Word, len(row))
		for i, x := range row {
			words[i] = types.Word(x)
		}
		rows = append(rows, fmt.Sprint(words))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	mem, shared := [2]kirinterp.Value{}, kirinterp.Array(make([]uint32, code.SharedWords))
	for i := range mem {
		mem[i] = kirinterp.Array(make([]uint32, code.Words))
	}
	state := kirinterp.NewRecord(code.State)
	for _, ph := range code.Phases {
		if ph.Run != nil {
			m.Call(ph.Run, mem[0], shared, state)
			continue
		}
		sums := kirinterp.NewRecord(ph.Sums)
		for at := range state.Rec.Fields[ph.Items].N {
			runs := items[ph.Item].split(r)
			r.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
			for _, run := range runs {
				args := []kirinterp.Value{mem[r.IntN(2)], shared, state, sums, {N: at}}
				for _, x := range run {
					args = append(args, kirinterp.U32(x))
				}
				m.Call(ph.Item, args...)
			}
		}
		for k, f := range ph.Into {
			state.Rec.Fields[f].N += sums.Rec.Fields[k].N
		}
	}
	var result []types.Word
	for _, f := range code.Result {
		result = append(result, types.Word(state.Rec.Fields[f].N))
	}
	slices.Sort(rows)
	return fmt.Sprint(rows, result), levels
}

// item is the function of an item whose shared loops have the ranges of their turns as
// parameters. For each loop, by its number, these are the first, the end, and the turn of the
// loop around it that they are about. In others it has all.
type item struct{ around []int } // by loop: the number of the one around it, or -1

func ranged(f *kir.Func, loops map[*kir.Each]steal.Loop) *item {
	it := &item{around: make([]int, len(loops))}
	param := func(name string) kir.Expr {
		v := &kir.Var{Name: name, T: kir.T(kir.U32)}
		f.Params = append(f.Params, v)
		return kir.R(v)
	}
	first, end, about, turn := make([]kir.Expr, len(loops)), make([]kir.Expr, len(loops)), make([]kir.Expr, len(loops)), make([]*kir.Var, len(loops))
	for k := range len(loops) {
		first[k], end[k], about[k] = param("first"), param("end"), param("about")
		turn[k] = &kir.Var{Name: "turn", T: kir.T(kir.U32)}
	}
	var rewrite func(body []kir.Stmt, around int) []kir.Stmt
	rewrite = func(body []kir.Stmt, around int) (out []kir.Stmt) {
		for _, s := range body {
			e, _ := s.(*kir.Each)
			l, ok := loops[e]
			if !ok {
				for _, b := range kir.Bodies(s) {
					*b = rewrite(*b, around)
				}
				out = append(out, s)
				continue
			}
			k, next := l.Number, &kir.Var{Name: "next", T: kir.T(kir.U32)}
			it.around[k] = around
			mine := kir.All(kir.Op2(kir.Le, first[k], kir.R(turn[k])), kir.Op2(kir.Lt, kir.R(turn[k]), end[k]))
			if around >= 0 {
				mine = kir.Any(kir.Op2(kir.Ne, kir.R(turn[around]), about[k]), mine)
			}
			e.Body = []kir.Stmt{
				&kir.Let{Var: turn[k], Init: kir.R(next)},
				&kir.Accumulate{To: kir.R(next), X: kir.C(1)},
				&kir.If{Cond: mine, Then: rewrite(e.Body, k)},
			}
			out = append(out, &kir.Let{Var: next, Init: kir.C(0)}, e)
		}
		return out
	}
	f.Body = rewrite(f.Body, -1)
	return it
}

// split draws what is taken from an item: the arguments of its function, for who
// has it and for who has come for turns.
func (it *item) split(r *rand.Rand) (runs [][]uint32) {
	const all = math.MaxUint32
	n := len(it.around)
	if n == 0 {
		return [][]uint32{nil}
	}
	one := func(stolen uint32) []uint32 {
		run := make([]uint32, 1+3*n)
		run[0] = stolen
		runs = append(runs, run)
		return run
	}
	has := func(run []uint32, loop int, first, end, about uint32) {
		copy(run[1+3*loop:], []uint32{first, end, about})
	}
	owner := one(0)
	lent := make([]uint32, n) // from which turn on
	for k := range lent {
		lent[k] = r.Uint32N(6)
	}
	cut := make([]uint32, n) // of loops of level 1: the turn whose inner loops are lent
	for k, around := range it.around {
		if around >= 0 {
			continue
		}
		has(owner, k, 0, lent[k], 0)
		run := one(1)
		for i := range n {
			has(run, i, 0, 0, all) // but of loops further in it has all
		}
		has(run, k, lent[k], all, all)
		cut[k] = r.Uint32N(6)
	}
	for k, around := range it.around {
		if around < 0 {
			continue
		}
		has(owner, k, 0, lent[k], cut[around])
		if cut[around] < lent[around] {
			run := one(2)
			for i := range n {
				has(run, i, 0, 0, cut[around])
			}
			has(run, around, cut[around], cut[around]+1, 0)
			has(run, k, lent[k], all, cut[around])
		}
	}
	return runs
}
