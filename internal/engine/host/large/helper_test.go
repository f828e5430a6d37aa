package large

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// A labelled graph as test files and generators give it.
type raw struct {
	label []int
	edges [][2]int
}

// readRaw reads the "t N M / v id label degree / e u v" form.
func readRaw(t testing.TB, path string) raw {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var r raw
	sc := bufio.NewScanner(in)
	for sc.Scan() {
		w := strings.Fields(sc.Text())
		if len(w) == 0 {
			continue
		}
		num := func(i int) int {
			n, err := strconv.Atoi(w[i])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		switch w[0] {
		case "v":
			r.label = append(r.label, num(2))
		case "e":
			r.edges = append(r.edges, [2]int{num(1), num(2)})
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return r
}

// A world is a data graph with the internal id of each raw vertex.
type world struct {
	g   *graph.Graph
	id  []uint32
	rng map[int]plan.Range // label → ids
}

// newWorld builds the part of a graph.Graph that this package reads: ids
// grouped by label, by descending degree within a label.
func newWorld(r raw, directed bool) *world {
	n := len(r.label)
	out, in := make([][]uint32, n), make([][]uint32, n)
	order := make([]int, n)
	deg := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for _, e := range r.edges {
		deg[e[0]]++
		deg[e[1]]++
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.label[a], r.label[b]), -cmp.Compare(deg[a], deg[b]), cmp.Compare(a, b))
	})
	w := &world{id: make([]uint32, n), rng: map[int]plan.Range{}}
	for i, v := range order {
		w.id[v] = uint32(i)
		x, ok := w.rng[r.label[v]]
		if !ok {
			x.First = uint32(i)
		}
		x.End = uint32(i + 1)
		w.rng[r.label[v]] = x
	}
	for _, e := range r.edges {
		u, v := w.id[e[0]], w.id[e[1]]
		if u == v {
			continue
		}
		out[u] = append(out[u], v)
		in[v] = append(in[v], u)
		if !directed {
			out[v] = append(out[v], u)
		}
	}
	w.g = &graph.Graph{Directed: directed, Out: csr(out)}
	w.g.In = w.g.Out
	if directed {
		w.g.In = csr(in)
	}
	return w
}

func csr(lists [][]uint32) graph.CSR {
	c := graph.CSR{Off: make([]uint64, 1, len(lists)+1)}
	for _, l := range lists {
		slices.Sort(l)
		c.Adj = append(c.Adj, slices.Compact(l)...)
		c.Off = append(c.Off, uint64(len(c.Adj)))
	}
	return c
}

// planFor makes a plan for an undirected labelled query in a connected order.
func planFor(w *world, q raw) *plan.Plan {
	n := len(q.label)
	nb := make([][]bool, n)
	for i := range nb {
		nb[i] = make([]bool, n)
	}
	for _, e := range q.edges {
		nb[e[0]][e[1]], nb[e[1]][e[0]] = true, true
	}
	p := &plan.Plan{Graph: w.g, Aut: big.NewInt(1), LevelOf: make([]int, n), Method: plan.Large,
		Adjs: []plan.Adjacency{{Lists: w.g.Handle(w.g.Out.Lists()), Name: "N"}}}
	used := make([]bool, n)
	for len(p.Levels) < n {
		best, bestBack := -1, -1
		for u := range n {
			if used[u] {
				continue
			}
			back := 0
			for _, x := range p.Order {
				if nb[u][x] {
					back++
				}
			}
			if back > bestBack {
				best, bestBack = u, back
			}
		}
		l := plan.Level{Vertex: best, Ranges: []plan.Range{w.rng[q.label[best]]}, Set: -1}
		for j, x := range p.Order {
			if nb[best][x] {
				l.Back = append(l.Back, plan.Back{Level: j})
			}
		}
		used[best] = true
		p.LevelOf[best] = len(p.Order)
		p.Order = append(p.Order, best)
		p.Levels = append(p.Levels, l)
	}
	return p
}

// A set is one of the shared data sets of labelled queries.
type set struct {
	w       *world
	queries []query
}

type query struct {
	name string
	want string
	p    *plan.Plan
}

// loadSet reads a data set, or skips the test where there is none.
func loadSet(t testing.TB, name string) *set {
	t.Helper()
	dir := os.Getenv("WEFT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "..", "shared", "data")
	}
	dir = filepath.Join(dir, "labelled", name)
	b, err := os.ReadFile(filepath.Join(dir, "expected.tsv"))
	if err != nil {
		t.Skipf("no data: %v (set WEFT_DATA)", err)
	}
	s := &set{w: newWorld(readRaw(t, filepath.Join(dir, name+".graph.gz")), false)}
	for line := range strings.Lines(string(b)) {
		w := strings.Fields(line)
		if len(w) < 2 || w[0] == "#" {
			continue
		}
		p := planFor(s.w, readRaw(t, filepath.Join(dir, "queries", w[0])))
		s.queries = append(s.queries, query{w[0], w[1], p})
	}
	if len(s.queries) == 0 {
		t.Fatal(fmt.Errorf("%s: no queries", dir))
	}
	return s
}
