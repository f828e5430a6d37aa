package dynamic

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// onlooker looks at edges whose classes are even and whose label is at most 1, in one version or, if both, in two.
type onlooker struct {
	g    *Graph
	both bool
	all  bool // it looks at all
}

func (x *onlooker) looks(u, v uint32, label Label) bool {
	return x.all || label <= 1 && x.g.ClassOf(u)%2 == 0 && x.g.ClassOf(v)%2 == 0
}

func (x *onlooker) Sight(u, v uint32, label Label) Sight {
	switch {
	case !x.looks(u, v, label):
		return None
	case x.both:
		return Both
	}
	return Present
}

func (x *onlooker) Edge(*Event) {}

// lateRun is a graph whose changes are made at once, and one in which those that nobody looks at are put off.
type lateRun struct {
	t         *testing.T
	r         *rand.Rand
	once, off *Graph
	eye       *onlooker
	want, got Results
	n         int // vertices
	labels    int
}

// do makes an update of both graphs, in the second one under the eyes of the onlooker.
func (x *lateRun) do(what string, update func(g *Graph) (Result, error)) {
	x.t.Helper()
	res, err := update(x.once)
	if err != nil {
		x.t.Fatal(what, err)
	}
	x.want[res]++
	window := x.off.Open()
	if !window {
		x.off.Follow(x.eye)
	}
	res, err = update(x.off)
	if err != nil {
		x.t.Fatal(what, err)
	}
	x.got[res]++
	if !window {
		x.off.Settle()
		x.off.Follow(nil)
	}
}

func (x *lateRun) end() ID { return Num(uint64(float64(x.n) * x.r.Float64() * x.r.Float64())) } // few vertices have most edges

// edge adds or removes an edge, which is put off if nobody looks at it.
func (x *lateRun) edge(u, v ID, label Label, remove bool) {
	change := func(g *Graph) (Result, error) {
		if remove {
			return g.RemoveEdge(u, v, label)
		}
		return g.AddEdge(u, v, label)
	}
	c, ok := plain(x.off, u, v, label, remove)
	if !ok || c.Result != Applied || x.eye.looks(c.U, c.V, label) {
		x.do("edge", change)
		return
	}
	res, err := change(x.once)
	if err != nil {
		x.t.Fatal(err)
	}
	x.want[res]++
	x.off.PutOff([]Change{c}, []bool{false})
	x.off.Pass(x.off.Version() + 1)
}

// window makes changes that somebody looks at in a window, by several workers.
func (x *lateRun) window(us []Change) {
	x.off.Begin()
	first := x.off.Version()
	for i := range us {
		us[i].At = first + uint64(i) + 1
	}
	x.off.Make(us, together)
	x.off.Pass(first + uint64(len(us)))
	for i := range us {
		c := &us[i]
		x.got[c.Result]++
		u, v := x.off.IDOf(c.U), x.off.IDOf(c.V)
		do := x.once.AddEdge
		if c.Remove {
			do = func(u, v ID, l Label, _ ...Property) (Result, error) { return x.once.RemoveEdge(u, v, l) }
		}
		res, err := do(u, v, c.Label)
		if err != nil || res != c.Result {
			x.t.Fatal(c, res, err)
		}
		x.want[res]++
	}
	x.off.SettleBy(together)
}

// seen compares what the onlooker looks at, while changes are put off.
func (x *lateRun) seen() {
	x.t.Helper()
	var even []Class
	for c := range x.off.NumClasses() {
		if c%2 == 0 {
			even = append(even, Class(c))
		}
	}
	within := x.off.Ranges(even...)
	a, b := View{x.once, 0}, View{x.off, 0} // Now would make what is put off
	var bufs [2][]uint32
	b.Vertices(within, func(v uint32) bool {
		for d := Out; d <= Either; d++ {
			for label := range Label(min(2, x.labels+1)) {
				want, got := a.List(v, d, label, within, &bufs[0]), b.List(v, d, label, within, &bufs[1])
				if !slices.Equal(want, got) {
					x.t.Fatalf("vertex %d, direction %d, label %d: %v, want %v", v, d, label, got, want)
				}
			}
		}
		return true
	})
}

// sameFiles compares all of two graphs, as a file has it.
func sameFiles(t *testing.T, want, got *Graph) {
	t.Helper()
	var files [2]bytes.Buffer
	for i, g := range []*Graph{want, got} {
		if _, err := g.WriteTo(&files[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) || want.NumEdges() != got.NumEdges() {
		t.Fatalf("the graphs differ: %d edges, want %d", got.NumEdges(), want.NumEdges())
	}
}

// equal compares all of both graphs.
func (x *lateRun) equal() {
	x.t.Helper()
	sameFiles(x.t, x.once, x.off)
	sameLists(x.t, x.once.Now(), x.off.Now())
	checkArena(x.t, x.off)
	for k, n := range x.off.TakeLate() {
		x.got[k] += n
	}
	if x.got != x.want {
		x.t.Fatalf("results %v, want %v", x.got, x.want)
	}
}

// TestLate puts off changes that nobody looks at, with buckets of a few changes and of many, between all other kinds of updates, windows and readers. What is
// looked at is right at any time, and the whole graph, its file and the numbers of results are those of changes at once, whenever they are
// asked for.
func TestLate(t *testing.T) {
	for seed := range uint64(120) {
		directed, labels, most := seed&1 != 0, []int{0, 1, 3}[seed/2%3], []int{1, 5, 40, 1 << 20}[seed/6%4]
		t.Run(fmt.Sprintf("directed %v, %d labels, logs of %d, %d", directed, labels, most, seed), func(t *testing.T) {
			x := &lateRun{t: t, r: rand.New(rand.NewPCG(seed, 11)), once: New(directed, false), off: New(directed, false), n: 60, labels: labels}
			x.eye = &onlooker{g: x.off, both: seed%5 == 0}
			r := x.r
			for _, g := range []*Graph{x.once, x.off} {
				for v := range uint64(x.n) {
					if _, err := g.AddVertex(Num(v), g.Class(fmt.Sprint(v%4))); err != nil {
						t.Fatal(err)
					}
				}
				for l := range labels {
					g.EdgeLabel(fmt.Sprint(l))
				}
			}
			each := []Each{nil, together}[seed%2]
			look := func() {
				x.off.LookAway(each, most)
			}
			look()
			if seed%3 == 0 {
				x.off.divide(4 * len(x.off.shards))
			}
			key := func(g *Graph) Key {
				k, err := g.EdgeKey("w", arrow.PrimitiveTypes.Int64)
				if err != nil {
					t.Fatal(err)
				}
				return k
			}
			for step := range 1500 {
				u, v, label := x.end(), x.end(), Label(r.IntN(labels+1))
				change := func(g *Graph) (Result, error) {
					if step%2 == 0 {
						return g.RemoveEdge(u, v, label)
					}
					return g.AddEdge(u, v, label)
				}
				switch k := r.IntN(1000); {
				case k < 3:
					x.do("remove", func(g *Graph) (Result, error) { return g.RemoveVertex(u) })
				case k < 8:
					x.do("add", func(g *Graph) (Result, error) { return g.AddVertex(u, g.Class(fmt.Sprint(k%4))) })
				case k < 12:
					class := fmt.Sprint(r.IntN(4))
					x.do("relabel", func(g *Graph) (Result, error) { return g.Relabel(u, g.Class(class)) })
				case k < 40 && seed%4 == 0:
					x.do("with a value", func(g *Graph) (Result, error) { return g.AddEdge(u, v, label, Property{key(g), OfInt(3)}) })
				case k < 60 && seed%4 == 0:
					x.do("value", func(g *Graph) (Result, error) { return g.SetEdge(u, v, label, Property{key(g), OfInt(int64(k))}) })
				case k < 62:
					x.do("of a time", func(g *Graph) (Result, error) { return g.RemoveEdgeAt(u, v, label, 3) })
				case k < 70: // perhaps nobody looks at it
					x.do("edge", change)
				case k < 76:
					x.off.LookBack()
					switch r.IntN(5) {
					case 0:
						x.equal()
					case 1:
						x.once.Begin() // rows get other numbers in a window
						x.off.Begin()
						for range 20 {
							u, v = x.end(), x.end()
							x.do("edge in a window", change)
						}
						x.once.Settle()
						x.off.Settle()
					case 2: // at once, between others
						x.eye.all = true
						for range 20 {
							u, v = x.end(), x.end()
							x.do("edge", change)
						}
						x.eye.all = false
					case 3:
						s, err := x.off.Now().Snapshot(t.Context())
						if err != nil || s.NumEdges() != x.once.NumEdges() {
							t.Fatal(s.NumEdges(), x.once.NumEdges(), err)
						}
					}
					look()
				case k < 100:
					var us []Change
					for range r.IntN(20) {
						c, ok := plain(x.off, x.end(), x.end(), Label(r.IntN(labels+1)), r.IntN(3) == 0)
						if ok && c.Result == Applied && x.eye.looks(c.U, c.V, c.Label) {
							us = append(us, c)
						}
					}
					x.window(us)
				default:
					x.edge(u, v, label, r.IntN(5) < 1+step/500)
				}
				if step%25 == 0 {
					x.seen()
				}
			}
			x.seen()
			x.off.LookBack()
			x.equal()
			for res, n := range x.got {
				if n == 0 {
					t.Errorf("no update was %v", Result(res))
				}
			}
		})
	}
}

// TestLateBytes checks that the memory of a log is counted and bounded, however long nobody asks for its changes.
func TestLateBytes(t *testing.T) {
	g := New(false, false)
	for v := range uint64(1000) {
		if _, err := g.AddVertex(Num(v), 0); err != nil {
			t.Fatal(err)
		}
	}
	before := g.Bytes()
	g.LookAway(nil, 0)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		if c, _ := plain(g, Num(uint64(r.IntN(1000))), Num(uint64(r.IntN(1000))), NoLabel, r.IntN(2) == 0); c.Result == Applied {
			g.PutOff([]Change{c}, []bool{false})
		}
	}
	if n := g.late.n; n == 0 || n >= bucketMost*len(g.late.buckets) {
		t.Errorf("%d halves are put off", n)
	}
	if n := len(g.late.filled); n == 0 || n > len(g.late.buckets) {
		t.Errorf("%d of %d buckets have something", n, len(g.late.buckets))
	}
	if b := g.late.bytes(); b < 8*uint64(g.late.n) || b > 2*8*bucketMost*uint64(len(g.late.buckets)) || g.Bytes() < before+b {
		t.Errorf("%d bytes of logs, %d of all", b, g.Bytes())
	}
}

// TestLateAtOneEnd changes an edge that somebody looks at, while one of another label has been made at one end alone.
func TestLateAtOneEnd(t *testing.T) {
	for _, directed := range []bool{false, true} {
		for _, first := range []uint64{1, 2} { // the end that has the other edge
			for _, removes := range []bool{false, true} {
				for how, change := range []func(g *Graph, remove bool) (Result, error){
					func(g *Graph, remove bool) (Result, error) {
						g.Follow(&onlooker{g: g, all: true})
						defer g.Follow(nil)
						return changeLooked(g, remove)
					},
					func(g *Graph, remove bool) (Result, error) {
						g.Follow(&onlooker{g: g, all: true, both: true})
						defer g.Follow(nil)
						defer g.Settle()
						return changeLooked(g, remove)
					},
					func(g *Graph, remove bool) (Result, error) {
						g.Begin()
						defer g.Settle()
						return makeLooked(g, remove), nil
					},
					func(g *Graph, remove bool) (Result, error) { return makeLooked(g, remove), nil },
				} {
					t.Run(fmt.Sprintf("directed %v, end %d, removes %v, way %d", directed, first, removes, how), func(t *testing.T) {
						var gs [2]*Graph
						for i := range gs {
							g := New(directed, false)
							gs[i] = g
							for v := range uint64(5) { // each has a page of its own
								if _, err := g.AddVertex(Num(v), g.Class(fmt.Sprint(v))); err != nil {
									t.Fatal(err)
								}
							}
							looked, other := g.EdgeLabel("looked at"), g.EdgeLabel("other")
							if removes {
								for _, l := range []Label{looked, other} {
									if _, err := g.AddEdge(Num(1), Num(2), l); err != nil {
										t.Fatal(err)
									}
								}
							}
							g.LookAway(nil, []int{0, 2}[i])
							// The log of one end becomes full, and that of the other end does not.
							ends := [][2]uint64{{1, 2}, {1, 3}}
							if first == 2 {
								ends = [][2]uint64{{1, 2}, {4, 2}}
							}
							for _, e := range ends {
								c, ok := plain(g, Num(e[0]), Num(e[1]), other, removes)
								if !ok {
									t.Fatal("an edge that cannot be put off")
								}
								g.PutOff([]Change{c}, []bool{false})
							}
							if g.late.parted != (i == 1) {
								t.Fatal("made at one end:", g.late.parted)
							}
							if i == 0 {
								g.MakeLate()
							}
							if res, err := change(g, removes); res != Applied || err != nil {
								t.Fatal(res, err)
							}
							u, _ := g.Vertex(Num(1))
							v, _ := g.Vertex(Num(2))
							for _, x := range [][2]uint32{{u, v}, {v, u}} {
								d := Out
								if x[0] == v {
									d = In
								}
								if has := (View{g, 0}).Has(x[0], x[1], d, looked); has == removes {
									t.Errorf("graph %d: vertex %d has the edge to %d: %v", i, x[0], x[1], has)
								}
							}
							g.LookBack()
						}
						sameLists(t, gs[0].Now(), gs[1].Now())
					})
				}
			}
		}
	}
}

func changeLooked(g *Graph, remove bool) (Result, error) {
	if remove {
		return g.RemoveEdge(Num(1), Num(2), 1)
	}
	return g.AddEdge(Num(1), Num(2), 1)
}

func makeLooked(g *Graph, remove bool) Result {
	c, _ := plain(g, Num(1), Num(2), 1, remove)
	c.At = g.Version() + 1
	cs := []Change{c}
	g.Make(cs, nil)
	g.Pass(c.At)
	return cs[0].Result
}

// TestLateFirstHalf makes a log that the first half of a change fills, while no other log has anything: the second half is then the only one that is put
// off, and the edge is at one end alone.
func TestLateFirstHalf(t *testing.T) {
	g := New(false, false)
	for v, class := range []string{"x", "x", "y"} {
		if _, err := g.AddVertex(Num(uint64(v)), g.Class(class)); err != nil {
			t.Fatal(err)
		}
	}
	g.EdgeLabel("looked at")
	other := g.EdgeLabel("other")
	g.LookAway(nil, 3)
	for _, e := range [][2]uint64{{0, 1}, {0, 2}} { // both halves of the first one are in one log
		c, ok := plain(g, Num(e[0]), Num(e[1]), other, false)
		if !ok {
			t.Fatal("an edge that cannot be put off")
		}
		g.PutOff([]Change{c}, []bool{false})
	}
	if g.late.n != 1 {
		t.Fatalf("%d halves are put off, want 1", g.late.n)
	}
	g.Follow(&onlooker{g: g, all: true})
	if res, err := g.AddEdge(Num(0), Num(2), 1); res != Applied || err != nil {
		t.Fatal(res, err)
	}
	g.Follow(nil)
	u, _ := g.Vertex(Num(0))
	v, _ := g.Vertex(Num(2))
	for _, x := range [][2]uint32{{u, v}, {v, u}} {
		for _, label := range []Label{1, AnyLabel} {
			if !(View{g, 0}).Has(x[0], x[1], Out, label) {
				t.Errorf("vertex %d does not have the edge to %d in the list of label %d", x[0], x[1], label)
			}
		}
	}
}

// TestLateTimes makes changes of edges with times and properties, of which those that nobody looks at have their rows at once and their entries in lists later, between
// all other kinds of updates, windows and readers. What is looked at, the number of edges, the results and all rows are right at any time, and the whole graph and its
// file are those of changes at once, whenever they are asked for.
func TestLateTimes(t *testing.T) { testLateRows(t, true) }

// TestLateProperties is TestLateTimes of edges without times, of a graph whose first edge has a property, as some others have.
func TestLateProperties(t *testing.T) { testLateRows(t, false) }

func testLateRows(t *testing.T, timed bool) {
	for seed := range uint64(120) {
		directed, labels, most := seed&1 != 0, []int{0, 1, 3}[seed/2%3], []int{1, 5, 40, 1 << 20}[seed/6%4]
		t.Run(fmt.Sprintf("directed %v, %d labels, logs of %d, %d", directed, labels, most, seed), func(t *testing.T) {
			x := &lateRun{t: t, r: rand.New(rand.NewPCG(seed, 12)), once: New(directed, false), off: New(directed, false), n: 40, labels: labels}
			x.eye = &onlooker{g: x.off, both: seed%5 == 0}
			r := x.r
			var keys [2]Key
			for i, g := range []*Graph{x.once, x.off} {
				if timed {
					if err := g.KeepTimes(); err != nil {
						t.Fatal(err)
					}
				}
				g.KeepCalendar(seed%4 == 0)
				for v := range uint64(x.n) {
					if _, err := g.AddVertex(Num(v), g.Class(fmt.Sprint(v%4))); err != nil {
						t.Fatal(err)
					}
				}
				for l := range labels {
					g.EdgeLabel(fmt.Sprint(l))
				}
				var err error
				if keys[i], err = g.EdgeKey("w", arrow.PrimitiveTypes.Int64); err != nil {
					t.Fatal(err)
				}
			}
			value := func(g *Graph, k int) []Property {
				if k%3 > 0 {
					return nil
				}
				return []Property{{keys[map[*Graph]int{x.once: 0, x.off: 1}[g]], OfInt(int64(k))}}
			}
			add := func(g *Graph, u, v ID, label Label, at int64, ps ...Property) (Result, error) {
				if !timed {
					return g.AddEdge(u, v, label, ps...)
				}
				return g.AddEdgeAt(u, v, label, at, ps...)
			}
			if !timed { // the first edge decides whether all have rows
				for _, g := range []*Graph{x.once, x.off} {
					if _, err := g.AddEdge(Num(0), Num(1), NoLabel, value(g, 0)...); err != nil || !g.Rowed() || g.Timed() {
						t.Fatal(err, g.Rowed(), g.Timed())
					}
				}
			}
			off := 0
			do := func(what string, update func(g *Graph) (Result, error)) {
				before := x.off.late.n
				x.do(what, update)
				if x.off.late.n > before {
					off++
				}
				if x.off.NumEdges() != x.once.NumEdges() || x.got != x.want {
					t.Fatalf("%s: %d edges, want %d; results %v, want %v", what, x.off.NumEdges(), x.once.NumEdges(), x.got, x.want)
				}
			}
			x.off.LookAway([]Each{nil, together}[seed%2], most)
			if seed%3 == 0 {
				x.off.divide(4 * len(x.off.shards))
			}
			now := int64(0)
			for range 1500 {
				now += int64(r.IntN(2))
				u, v, label, at := x.end(), x.end(), Label(r.IntN(labels+1)), now-int64(r.IntN(6))
				switch k := r.IntN(1000); {
				case k < 3:
					do("remove a vertex", func(g *Graph) (Result, error) { return g.RemoveVertex(u) })
				case k < 8:
					do("add a vertex", func(g *Graph) (Result, error) { return g.AddVertex(u, g.Class(fmt.Sprint(k%4))) })
				case k < 12:
					class := fmt.Sprint(r.IntN(4))
					do("relabel", func(g *Graph) (Result, error) { return g.Relabel(u, g.Class(class)) })
				case k < 40:
					do("value", func(g *Graph) (Result, error) { return g.SetEdge(u, v, label, value(g, 3*k)[0]) })
				case k < 50:
					x.off.LookBack()
					switch r.IntN(4) {
					case 0:
						x.equal()
					case 1:
						x.once.Begin() // rows get other numbers in a window
						x.off.Begin()
						for range 20 {
							u, v = x.end(), x.end()
							do("edge in a window", func(g *Graph) (Result, error) { return add(g, u, v, label, at) })
						}
						x.once.Settle()
						x.off.Settle()
					case 2:
						s, err := x.off.Now().Snapshot(t.Context())
						if err != nil || s.NumEdges() != x.once.NumEdges() {
							t.Fatal(s.NumEdges(), x.once.NumEdges(), err)
						}
					case 3: // at once, between others
						x.eye.all = true
						do("edge", func(g *Graph) (Result, error) { return add(g, u, v, label, at) })
						x.eye.all = false
					}
					x.off.LookAway([]Each{nil, together}[seed%2], most)
				case k < 80: // those before a time leave, as of a sliding window
					for _, e := range x.once.Before(now-40, nil) {
						do("expire", func(g *Graph) (Result, error) { return g.RemoveEdgeAt(e.U, e.V, e.Label, e.Time) })
					}
					if a, b := x.once.Before(now, nil), x.off.Before(now, nil); !slices.Equal(a, b) {
						t.Fatalf("before %d: %v, want %v", now, b, a)
					}
				case k < 300 && timed:
					do("remove", func(g *Graph) (Result, error) { return g.RemoveEdgeAt(u, v, label, at) })
				case k < 400:
					do("remove all", func(g *Graph) (Result, error) { return g.RemoveEdge(u, v, label) })
				default:
					do("add", func(g *Graph) (Result, error) { return add(g, u, v, label, at, value(g, k)...) })
				}
				if now%25 == 0 {
					x.seen()
				}
			}
			x.seen()
			x.off.LookBack()
			x.equal()
			for res, n := range x.got {
				if n == 0 {
					t.Errorf("no update was %v", Result(res))
				}
			}
			if off < 100 && most > 1 {
				t.Errorf("%d changes were put off", off)
			}
		})
	}
}
