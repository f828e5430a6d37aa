package dynamic

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
)

// staticBytes is the memory of a static graph's adjacency, edge table and ids, without anything that it makes when it is read.
func staticBytes(s *graph.Graph) uint64 {
	b := 8*uint64(len(s.Out.Off)) + 4*uint64(len(s.Out.Adj))
	if s.Directed {
		b += 8*uint64(len(s.In.Off)) + 4*uint64(len(s.In.Adj))
	}
	if e := s.Edges; e != nil {
		b += 8*uint64(len(e.Off)) + 4*uint64(len(e.Dst)+len(e.Src)+len(e.Label)) + 8*uint64(len(e.Time))
	}
	return b + 8*uint64(len(s.IDs.Num)+len(s.IDs.StrOff)) + uint64(len(s.IDs.StrBytes))
}

// drawn is a list of distinct edges over n vertices. With hubs, few vertices have most of them.
func drawn(r *rand.Rand, n, m, labels, times int, hubs bool) (es []update) {
	seen := map[modelEdge]bool{}
	for len(es) < m {
		u, v := r.IntN(n), r.IntN(n)
		if hubs {
			u = int(float64(n) * r.Float64() * r.Float64() * r.Float64() * r.Float64())
		}
		if u > v {
			u, v = v, u
		}
		e := modelEdge{u: strconv.Itoa(u), v: strconv.Itoa(v)}
		if labels > 0 {
			e.label = "l" + strconv.Itoa(r.IntN(labels))
		}
		if times > 0 {
			e.time = 1 + r.Int64N(int64(times))
		}
		if u != v && !seen[e] {
			seen[e] = true
			es = append(es, update{op: "+e", u: e.u, v: e.v, label: e.label, time: e.time})
		}
	}
	return es
}

// built is the static graph of some edges; classes is the number of vertex labels.
func built(t testing.TB, es []update, n int, directed bool, classes int) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(graph.BuildOptions{Directed: directed, Threads: 1})
	vc, ec := &graph.VertexChunk{}, &graph.EdgeChunk{}
	var ls texts
	for v := range n {
		vc.ID = append(vc.ID, uint64(v))
		var l []string
		if classes > 0 {
			l = []string{"c" + strconv.Itoa(v%classes)}
		}
		vc.Labels = append(vc.Labels, l)
	}
	labelled := false
	for _, e := range es {
		u, _ := strconv.Atoi(e.u)
		v, _ := strconv.Atoi(e.v)
		ec.Src, ec.Dst = append(ec.Src, uint64(u)), append(ec.Dst, uint64(v))
		if e.time != 0 {
			ec.Time = append(ec.Time, e.time)
		}
		ls.add(e.label)
		labelled = labelled || e.label != ""
	}
	if labelled {
		ec.Label = ls.column()
	}
	if err := b.AddVertices(vc); err != nil {
		t.Fatal(err)
	}
	if err := b.AddEdges(ec); err != nil {
		t.Fatal(err)
	}
	s, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t testing.TB, g *Graph, x update, want Result) {
	t.Helper()
	if got, err := apply(g, x); got != want || err != nil {
		t.Fatalf("%v: %v, %v; want %v", x, got, err, want)
	}
}

// TestTurnover replaces every edge by another. The memory must then be at most 2.5 times that of the static graph, and not much more
// while edges are replaced.
func TestTurnover(t *testing.T) {
	const n, m = 1000, 10000
	for _, x := range []struct {
		name                    string
		n, m                    int
		directed                bool
		classes, labels, window int
		before, after           bool // hubs
		times                   int  // how many; 0: none
	}{
		{"plain", n, m, false, 0, 0, 1, false, false, 0},
		{"windows", n, m, false, 0, 0, 256, false, false, 0},
		{"even to hubs", n, m, false, 30, 0, 256, false, true, 0},
		{"hubs to even", n, m, true, 0, 0, 64, true, false, 0},
		{"sparse", m, m, false, 5, 0, 256, false, false, 0},
		{"labels", n, m, true, 3, 4, 256, true, false, 0},
		{"one label", n, m, false, 0, 1, 1, false, true, 0},
		{"times", n, m, false, 0, 0, 1, false, false, 1 << 30},
		{"times, windows", 2 * n, m, true, 5, 0, 256, true, false, 1 << 30},
		{"few times", 2 * n, m, true, 0, 3, 64, false, true, 10},
		{"parallel edges", n / 10, m, false, 0, 0, 64, false, false, 1 << 30},
		{"many labels", 2 * n, 2 * m, true, 0, 100, 64, false, false, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			es := drawn(r, x.n, x.m, x.labels, x.times, x.before)
			s := built(t, es, x.n, x.directed, x.classes)
			defer s.Close()
			limit := staticBytes(s) * 5 / 2
			g, err := From(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			most := g.Bytes()
			to := drawn(r, x.n, x.m, x.labels, x.times, x.after)
			old := map[update]bool{}
			for _, e := range es {
				old[e] = true
			}
			to = slices.DeleteFunc(to, func(e update) bool { return old[e] })
			r.Shuffle(len(es), func(i, j int) { es[i], es[j] = es[j], es[i] })
			for i, e := range es {
				if x.window > 1 && i%(x.window/2) == 0 {
					g.Settle()
					most = max(most, g.Bytes())
					g.Begin()
				}
				e.op = "-e"
				must(t, g, e, Applied)
				if i < len(to) {
					must(t, g, to[i], Applied)
				}
				if x.window == 1 && i%1000 == 0 {
					most = max(most, g.Bytes())
				}
			}
			g.Settle()
			checkArena(t, g)
			if now := g.Bytes(); now > limit || most > limit+limit/10 {
				t.Errorf("%d bytes, before at most %d, of %d", now, most, limit)
			}

			t.Logf("%.2f times the static graph, at most %.2f", float64(g.Bytes())/float64(limit)*2.5, float64(most)/float64(limit)*2.5)
			end, err := g.Now().Snapshot(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer end.Close()
			compareGraphs(t, end, built(t, to, x.n, x.directed, x.classes))
		})
	}
}

// compareGraphs checks that two static graphs have the same lists by users' ids.
func compareGraphs(t *testing.T, x, y *graph.Graph) {
	t.Helper()
	if x.NumVertices() != y.NumVertices() || x.NumEdges() != y.NumEdges() || !slices.Equal(x.IDs.Num, y.IDs.Num) || !slices.Equal(x.Out.Adj, y.Out.Adj) || !slices.Equal(x.In.Adj, y.In.Adj) {
		t.Fatalf("snapshot of %d vertices, %d edges is not the graph of %d, %d", x.NumVertices(), x.NumEdges(), y.NumVertices(), y.NumEdges())
	}
	if x.Edges != nil && (!slices.Equal(x.Edges.Label, y.Edges.Label) || !slices.Equal(x.Edges.Time, y.Edges.Time)) {
		t.Fatal("edges have other labels or times")
	}
}

// TestReaders reads all versions of a window from several goroutines, for the race detector.
func TestReaders(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	es := drawn(r, 200, 2000, 3, 0, true)
	s := built(t, es[:1000], 200, true, 4)
	defer s.Close()
	g, err := From(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	first := g.Version()
	g.Begin()
	want := []int{int(g.NumEdges())}
	for i, e := range es[1000:1100] {
		must(t, g, e, Applied)
		want = append(want, int(g.NumEdges()))
		if i%10 == 0 {
			must(t, g, update{op: "label", u: e.u, label: "new" + e.v}, Applied)
			want = append(want, int(g.NumEdges()))
			must(t, g, update{op: "-v", u: e.v}, Applied)
			want = append(want, int(g.NumEdges()))
		}
		es[i].op = "-e"
		if res, err := apply(g, es[i]); err != nil || res != Applied && res != Absent {
			t.Fatal(res, err)
		}
		want = append(want, int(g.NumEdges()))
	}
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			var buf []uint32
			for i := k; i < len(want); i += 4 {
				w, edges := g.At(first+uint64(i)), 0
				w.Vertices(nil, func(v uint32) bool {
					for _, l := range w.Labels(v, Out, nil) {
						edges += len(w.List(v, Out, l, nil, &buf))
					}
					return true
				})
				if edges != want[i] {
					t.Errorf("version +%d has %d edges, want %d", i, edges, want[i])
				}
			}
		})
	}
	wg.Wait()
	g.Settle()
	checkArena(t, g)
}

// TestReadAllocates checks that reading allocates nothing once the buffer is large enough.
func TestReadAllocates(t *testing.T) {
	s := built(t, drawn(rand.New(rand.NewPCG(5, 6)), 100, 1000, 2, 0, false), 100, true, 3)
	defer s.Close()
	g, err := From(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	g.Begin()
	must(t, g, update{op: "-v", u: "7"}, Applied)
	w, within := g.Now(), g.Ranges(g.ClassesWith("c1")...)
	buf := make([]uint32, 0, 1000)
	if n := testing.AllocsPerRun(10, func() {
		for v := range g.ids.end {
			w.List(v, Out, AnyLabel, nil, &buf)
			w.List(v, Out, 1, within, &buf)
			w.Len(v, Out, 2, within, &buf)
			w.List(v, Either, AnyLabel, nil, &buf)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func benchmarkGraph(b *testing.B) (*graph.Graph, *Graph, []update) {
	r := rand.New(rand.NewPCG(7, 8))
	es := drawn(r, 20000, 249999, 0, 0, true)
	s := built(b, es[:200000], 20000, false, 5)
	g, err := From(context.Background(), s)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(g.Bytes())/float64(staticBytes(s)), "×static-bytes")
	return s, g, es
}

type edgeIDs struct{ u, v ID }

func benchmarkIDs(g *Graph, es []update) []edgeIDs {
	ids := make([]edgeIDs, len(es))
	for i, e := range es {
		ids[i] = edgeIDs{idOf(g, e.u), idOf(g, e.v)}
	}
	return ids
}

// sorted is the least that a graph of vertices 0 … n-1 can be: a sorted slice of neighbours each.
type sorted [][]uint32

func (s sorted) turn(u, v uint32) {
	for range 2 {
		if i, found := slices.BinarySearch(s[u], v); found {
			s[u] = slices.Delete(s[u], i, i+1)
		} else {
			s[u] = slices.Insert(s[u], i, v)
		}
		u, v = v, u
	}
}

// BenchmarkUpdate adds an edge and removes the one that was added longest ago, in turns: next to sorted slices, which know
// neither users' ids nor versions.
func BenchmarkUpdate(b *testing.B) {
	_, _, es := benchmarkGraph(b)
	b.Run("sorted slices", func(b *testing.B) {
		s := make(sorted, 20000)
		var pairs [][2]uint32
		for _, e := range es {
			u, _ := strconv.Atoi(e.u)
			v, _ := strconv.Atoi(e.v)
			pairs = append(pairs, [2]uint32{uint32(u), uint32(v)})
		}
		for _, p := range pairs[:200000] {
			s.turn(p[0], p[1])
		}
		i := 0
		for b.Loop() {
			p := pairs[(200000+i/2)%len(pairs)]
			if i%2 != 0 {
				p = pairs[i/2%len(pairs)]
			}
			s.turn(p[0], p[1])
			i++
		}
	})
	for _, x := range []struct {
		name          string
		window        int
		labels, times bool
	}{{"single", 1, false, false}, {"windows of 64", 64, false, false}, {"windows of 1024", 1024, false, false}, {"labels, single", 1, true, false}, {"times, single", 1, false, true}, {"times, windows of 64", 64, false, true}} {
		b.Run(x.name, func(b *testing.B) {
			g := New(false, false)
			var labels []Label
			for i := range 3 {
				labels = append(labels, NoLabel)
				if x.labels {
					labels[i] = g.EdgeLabel(strconv.Itoa(i))
				}
			}
			ids := benchmarkIDs(g, es)
			turn := func(i int, add bool) {
				e, label := ids[i%len(ids)], labels[i%len(labels)]
				var res Result
				switch {
				case add && x.times:
					res, _ = g.AddEdgeAt(e.u, e.v, label, int64(i))
				case add:
					res, _ = g.AddEdge(e.u, e.v, label)
				case x.times:
					res, _ = g.RemoveEdgeAt(e.u, e.v, label, int64(i))
				default:
					res, _ = g.RemoveEdge(e.u, e.v, label)
				}
				if res != Applied {
					b.Fatal(i, res)
				}
			}
			for i := range 200000 {
				turn(i, true)
			}
			i := 0
			for b.Loop() {
				if x.window > 1 && i%x.window == 0 {
					g.Settle()
					g.Begin()
				}
				if i%2 == 0 {
					turn(200000+i/2, true)
				} else {
					turn(i/2, false)
				}
				i++
			}
			g.Settle()
		})
	}
}

// BenchmarkList reads all lists, next to those of the static graph.
func BenchmarkList(b *testing.B) {
	s, g, es := benchmarkGraph(b)
	defer s.Close()
	ids := benchmarkIDs(g, es)
	all := slices.Collect(func(yield func(uint32) bool) { g.Now().Vertices(nil, yield) })
	var sum uint32
	dynamic := func(b *testing.B) {
		var buf []uint32
		w := g.Now()
		for b.Loop() {
			for _, v := range all {
				for _, x := range w.List(v, Out, AnyLabel, nil, &buf) {
					sum += x
				}
			}
		}
	}
	b.Run("static", func(b *testing.B) {
		for b.Loop() {
			for v := range uint32(s.NumVertices()) {
				for _, x := range s.Out.List(v) {
					sum += x
				}
			}
		}
	})
	b.Run("dynamic", dynamic)
	g.Begin()
	for _, e := range ids[:1000] {
		if _, err := g.RemoveEdge(e.u, e.v, NoLabel); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("dynamic, 1000 updates in the window", dynamic)
	_ = sum
}

// TestSteps counts the work of each update on a growing graph and then on one whose edges are replaced: words that are moved, and
// blocks that cleaning looks at. Besides the lists of its two vertices, an update has a share that does not grow with the graph.
func TestSteps(t *testing.T) {
	for _, timed := range []bool{false, true} {
		most := []uint64{}
		for _, n := range []int{500, 4000} {
			r := rand.New(rand.NewPCG(9, 10))
			g := New(true, false)
			type pair struct {
				u, v uint64
				time int64
			}
			var present []pair
			worst := uint64(0)
			work := func() uint64 { return listWork(g) }
			longest := uint64(0)
			count := func(before uint64, u, v uint64) {
				lists := uint64(0)
				for _, id := range []uint64{u, v} {
					if x, ok := g.Vertex(Num(id)); ok {
						for _, d := range []Direction{Out, In} {
							lists += uint64(len(g.Now().List(x, d, AnyLabel, nil, new([]uint32)))) + 2
						}
					}
				}
				longest = max(longest, lists)
				if w := work() - before; w > 4*lists {
					worst = max(worst, w-4*lists)
				}
			}
			add := func(k int) {
				p := pair{uint64(r.IntN(n)), uint64(n + r.IntN(n)), int64(k)}
				before := work()
				var res Result
				if timed {
					res, _ = g.AddEdgeAt(Num(p.u), Num(p.v), NoLabel, p.time)
				} else {
					res, _ = g.AddEdge(Num(p.u), Num(p.v), NoLabel)
				}
				if res == Applied {
					present = append(present, p)
				}
				count(before, p.u, p.v)
			}
			for k := range 10 * n {
				add(k)
			}
			for k := range 5 * n {
				i := r.IntN(len(present))
				p := present[i]
				present[i] = present[len(present)-1]
				present = present[:len(present)-1]
				before := work()
				var res Result
				if timed {
					res, _ = g.RemoveEdgeAt(Num(p.u), Num(p.v), NoLabel, p.time)
				} else {
					res, _ = g.RemoveEdge(Num(p.u), Num(p.v), NoLabel)
				}
				if res != Applied {
					t.Fatal(res)
				}
				count(before, p.u, p.v)
				add(10*n + k)
			}
			checkArena(t, g)
			for i := range g.shards {
				if a := &g.shards[i].lists; a.room > a.used*5/4+8*minChunk {
					t.Errorf("%d vertices: room for %d words, of which %d are used", n, a.room, a.used)
				}
			}
			most = append(most, worst)
		}
		t.Logf("times %v: at most %v words", timed, most)
		if most[1] > most[0]*2+1000 {
			t.Errorf("times %v: at most %d words for a small graph, %d for one eight times as large", timed, most[0], most[1])
		}
	}
}

// listWork is the work of all lists so far.
func listWork(g *Graph) uint64 {
	w := g.rows.lists.work
	for i := range g.shards {
		w += g.shards[i].lists.work
	}
	return w
}

// TestHub removes vertices with many edges, and many edges at once: the work must be in proportion to their number.
func TestHub(t *testing.T) {
	const n = 5000
	type build func(g *Graph, i uint64) (Result, error)
	star := func(g *Graph, i uint64) (Result, error) { return g.AddEdge(Num(0), Num(i), NoLabel) }
	parallel := func(g *Graph, i uint64) (Result, error) { return g.AddEdgeAt(Num(0), Num(1), NoLabel, int64(i)) }
	for name, x := range map[string]struct {
		add    build
		change func(g *Graph) (Result, error)
		edges  uint64
	}{
		"remove":          {star, func(g *Graph) (Result, error) { return g.RemoveVertex(Num(0)) }, 0},
		"move":            {star, func(g *Graph) (Result, error) { return g.Relabel(Num(0), g.Class("a")) }, n},
		"parallel":        {parallel, func(g *Graph) (Result, error) { return g.RemoveEdge(Num(1), Num(0), NoLabel) }, 0},
		"parallel vertex": {parallel, func(g *Graph) (Result, error) { return g.RemoveVertex(Num(1)) }, 0},
		"parallel move":   {parallel, func(g *Graph) (Result, error) { return g.Relabel(Num(1), g.Class("a")) }, n},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(false, false)
			for i := range uint64(n) {
				if res, err := x.add(g, i+1); res != Applied || err != nil {
					t.Fatal(res, err)
				}
			}
			before := listWork(g)
			if res, err := x.change(g); res != Applied || err != nil {
				t.Fatal(res, err)
			}
			if w := listWork(g) - before; w > 30*n {
				t.Errorf("%d words moved for %d edges", w, n)
			}
			if g.NumEdges() != x.edges {
				t.Errorf("%d edges", g.NumEdges())
			}
			checkArena(t, g)
		})
	}
}
