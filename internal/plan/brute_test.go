package plan

import (
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// countChecks counts the matches of pl by the checks view.
func countChecks(pl *Plan) (n uint64) {
	m := newMatcher(pl)
	m.yield = func() bool { n++; return true }
	m.run(0)
	return n
}

// countSets counts the matches of pl by the set program and the tail.
func countSets(pl *Plan) uint64 {
	r := &setRunner{pl: pl, m: make([]uint32, len(pl.Levels)), e: make([]uint64, len(pl.Edges)), sets: make([][]uint32, len(pl.Sets))}
	r.level(0)
	if r.total < 0 || r.total%pl.Tail.Divisor != 0 {
		panic("the tail's divisor does not divide")
	}
	return uint64(r.total / pl.Tail.Divisor)
}

// setRunner is the plain meaning of a set program.
type setRunner struct {
	pl    *Plan
	m     []uint32
	e     []uint64
	sets  [][]uint32
	total int64
}

func (r *setRunner) eval(at int) {
	for i := range r.pl.Sets {
		s := &r.pl.Sets[i]
		if s.At != at {
			continue
		}
		csr := r.pl.Adjs[s.Adj].CSR
		var from []uint32
		if s.Op == SetList {
			from = csr.List(r.m[s.Of])
		} else {
			from = r.sets[s.Base]
		}
		var out []uint32
		for _, c := range from {
			ok := s.Op == SetList || csr.Has(r.m[s.Of], c) == (s.Op == SetAnd)
			ok = ok && (s.Range.End == 0 || s.Range.First <= c && c < s.Range.End)
			for _, j := range s.Below {
				ok = ok && c < r.m[j]
			}
			for _, j := range s.Above {
				ok = ok && c > r.m[j]
			}
			if ok {
				out = append(out, c)
			}
		}
		r.sets[i] = out
	}
}

// candidates of level l given the levels before end.
func (r *setRunner) candidates(l, end int) []uint32 {
	lv := &r.pl.Levels[l]
	from := []uint32{}
	if lv.Set >= 0 {
		from = r.sets[lv.Set]
	} else {
		for v := range uint32(r.pl.Graph.NumVertices()) {
			from = append(from, v)
		}
	}
	var out []uint32
next:
	for _, c := range from {
		if !lv.alone(r.pl, c) {
			continue
		}
		for _, j := range lv.Below {
			if j < end && c >= r.m[j] {
				continue next
			}
		}
		for _, j := range lv.Above {
			if j < end && c <= r.m[j] {
				continue next
			}
		}
		for _, j := range lv.Distinct {
			if j < end && c == r.m[j] {
				continue next
			}
		}
		if lv.Set < 0 {
			for _, b := range lv.Back {
				if r.pl.Adjs[b.Adj].CSR.Has(r.m[b.Level], c) == b.Neg {
					continue next
				}
			}
		}
		out = append(out, c)
	}
	return out
}

func (r *setRunner) level(l int) {
	n := len(r.pl.Levels)
	if tail := n - r.pl.Tail.K; l == tail && r.pl.Tail.K > 0 {
		for _, t := range r.pl.Tail.Terms {
			product := t.Coef
			for _, block := range t.Blocks {
				common := r.candidates(block[0], tail)
				for _, j := range block[1:] {
					common = intersect(common, r.candidates(j, tail))
				}
				product *= int64(len(common))
			}
			r.total += product
		}
		return
	}
	if l == n {
		r.total++
		return
	}
next:
	for _, c := range r.candidates(l, l) {
		r.m[l] = c
		for i := range r.pl.Levels[l].Checks {
			if !r.pl.Levels[l].Checks[i].Eval(r.m, r.e) {
				continue next
			}
		}
		r.edges(l, 0)
	}
}

func (r *setRunner) edges(l, i int) {
	for i < len(r.pl.Edges) && r.pl.Edges[i].At < l {
		i++
	}
	if i == len(r.pl.Edges) || r.pl.Edges[i].At > l {
		r.eval(l)
		r.level(l + 1)
		return
	}
	c := &r.pl.Edges[i]
	c.Rows(r.m[c.From], r.m[c.To], func(id uint64) bool {
		for j := range i {
			if r.pl.Mode == pattern.Trail && r.e[j] == id {
				return true
			}
		}
		r.e[i] = id
		for _, check := range c.Checks {
			if !check.Eval(r.m, r.e) {
				return true
			}
		}
		r.edges(l, i+1)
		return true
	})
}

func intersect(x, y []uint32) (out []uint32) {
	for _, a := range x {
		for _, b := range y {
			if a == b {
				out = append(out, a)
			}
		}
	}
	return out
}

func compile(t testing.TB, g *graph.Graph, p *pattern.Pattern, o Options) *Plan {
	t.Helper()
	pl, err := Compile(g, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

func named(t testing.TB, name string) *pattern.Pattern {
	t.Helper()
	ps, err := pattern.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return ps[0]
}

func TestSmoke(t *testing.T) {
	kite := [][2]uint32{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {3, 4}}
	g := graph.FromEdges(5, kite, false)
	for _, name := range []string{"triangle", "wedge", "star(3)", "path(4)", "cycle(4)", "clique(4)", "tailed_triangle"} {
		p := named(t, name)
		all := compile(t, g, p, Options{Root: NoRoot, Embeddings: true})
		one := compile(t, g, p, Options{Root: NoRoot})
		a, b, c, d := countChecks(all), countSets(all), countChecks(one), countSets(one)
		t.Log(name, a, b, c, d, one.Aut)
		if a != b || c != d || c*one.Aut.Uint64() != a {
			t.Errorf("%s: %d %d %d %d", name, a, b, c, d)
		}
	}
}
