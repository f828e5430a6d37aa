package join_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// onDevice runs f with the engine over each kind of device that there is.
func onDevice(t *testing.T, f func(t *testing.T, e engine.Engine)) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		engines.WithSession(t, session.Options{Memory: 1 << 30, Ring: 1 << 16}, func(s *session.Session) { f(t, join.NewGPU(s)) }, d)
	})
}

// compare runs the long suite where long tests are asked for, and the short one elsewhere.
func compare(t *testing.T, c nodiff.Config, e engine.Engine, longer, short nodiff.Suite) {
	if long.Asked() {
		short = longer
	}
	short.Run(t, c, []engine.Engine{e})
}

// gpuConfig compares the engine on GPUs with the oracle: batches of a few rows, so that tables are full all
// the time.
func gpuConfig() nodiff.Config {
	return nodiff.Config{Compile: planner.Compile, MaxVertices: 12, LeastRuns: 1, Fit: fit, Opt: map[string]string{
		"join.batch": "3|50", "join.extend": "multi", "join.filter": "off", "join.cache": "off", "join.sets": "naive", "join.merge": "on", "gpu.adjacency": "host",
	}}
}

// gpuTechniques are those that a run says it has used, in tables of a few rows.
var gpuTechniques = []nodiff.Technique{
	nodiff.Listing, nodiff.Rooted,
	nodiff.LabelledNest.Walked().With("one row in a table", "join.batch", "1", "join.extend", "single").Said("join_rows [0-9]+ times"),
	nodiff.Nest.Walked().With("Prealloc-Combine", "join.output", "prealloc", "join.batch", "40", "join.extend", "single").Said("join_link [0-9]+ times"),
	nodiff.Nest.Walked().With("shared lists", "join.share", "on", "join.batch", "40", "join.extend", "single").Said("[1-9][0-9]* lists were not read again"),
	nodiff.LabelledNest.Walked().With("layers", "join.balance", "on", "join.batch", "40", "join.extend", "single").Said("join_deal [0-9]+ times"),
	nodiff.Nest.Walked().With("two passes", "join.output", "twopass", "join.batch", "40", "join.extend", "single").Said("join_placed [0-9]+ times"),
}

// TestGPUNoDiff compares plans with the oracle: the kernels are the same for all of them.
func TestGPUNoDiff(t *testing.T) {
	c := gpuConfig()
	c.Techniques = gpuTechniques
	nodiff.OnDevices(t, c, func(s *session.Session) engine.Engine { return join.NewGPU(s) })
}

// TestGPUAgrees is the same with many plans, since none costs a compilation.
func TestGPUAgrees(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		c := gpuConfig()
		c.Techniques = gpuTechniques
		compare(t, c, e, nodiff.Suite{Plans: 120, Graphs: 4}, nodiff.Suite{Plans: 16, Graphs: 2})
	})
}

// TestGPULists: lists of single edge labels in each layout, against the oracle: counts, listings and
// counts by vertex, whose ids are the graph's again.
func TestGPULists(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		c := gpuConfig()
		for _, kind := range []string{"hashed", "interval"} {
			if kind == "interval" {
				ranked := nodiff.LabelledNest.With("interval, ranks", "join.lists", kind, "join.index", "ranks")
				c.Techniques = append(c.Techniques, ranked.Said("lists found by rank bitmaps: [1-9]"))
				own := nodiff.LabelledNest.With("interval, own ids", "join.lists", kind, "join.renumber", "off")
				c.Techniques = append(c.Techniques, own.Said("lists by label, interval, not renumbered"))
			}
			for _, tech := range []nodiff.Technique{nodiff.Nest, nodiff.LabelledNest, nodiff.Listing, nodiff.Rooted} {
				said := "lists by label, hashed"
				if kind == "interval" {
					said = "indexes of lists in shared memory[^$]*lists by label, interval"
				}
				c.Techniques = append(c.Techniques, tech.With(kind+", "+tech.Name, "join.lists", kind).Said(said))
			}
		}
		compare(t, c, e, nodiff.Suite{Plans: 400, Graphs: 4}, nodiff.Suite{Plans: 52, Graphs: 2})
	})
}

// TestGPUFilter: candidates that a device filters by signatures, with lists in each layout, against the
// oracle; and it leaves as many as the processor, whose numbers it says.
func TestGPUFilter(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		c := gpuConfig()
		c.Opt["join.signature"] = "32|64"
		for _, kind := range []string{"graph", "hashed", "interval"} {
			for _, tech := range []nodiff.Technique{nodiff.LabelledNest, nodiff.Nest} {
				c.Techniques = append(c.Techniques, tech.With(kind+", "+tech.Name, "join.lists", kind, "join.filter", "signature").Said(`signatures leave[^$]*join_filter`))
			}
		}
		compare(t, c, e, nodiff.Suite{Plans: 400, Graphs: 3}, nodiff.Suite{Plans: 18, Graphs: 3})

		g, p := labelledCycle(t)
		same(t, e, g, p)
		// The degree of the last vertex follows from its edges to the others, which see it from their own ends.
		q, err := gql.Parse("MATCH (a)-[:Y]->(b)-[:Y]->(d), (a)-[:X]->(c), (b)-[:X]->(c), (d)-[:X]->(c)")
		if err != nil {
			t.Fatal(err)
		}
		if p, err = planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: []int{0, 1, 2, 3}}); err != nil {
			t.Fatal(err)
		}
		same(t, e, g, p)
	})
}

// same compares what signatures leave on a device with what they leave on the processor, in each layout of lists.
func same(t *testing.T, e engine.Engine, g *graph.Graph, p *plan.Plan) {
	t.Helper()
	for _, kind := range []string{"graph", "hashed", "interval"} {
		o := engine.Options{Levels: true, Opt: map[string]string{"join.filter": "signature", "join.signature": "64", "join.lists": kind}}
		want, err := engine.Once(t.Context(), join.New(), g, p, o, engine.Goal{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
		if err != nil || got.Matches != want.Matches {
			t.Fatalf("%s: %v, %v; want %v", kind, got.Matches, err, want.Matches)
		}
		if !slices.EqualFunc(got.Filters, want.Filters, slices.Equal) || got.Filters[0] == nil {
			t.Errorf("%s: filters leave %v, on the processor %v", kind, got.Filters, want.Filters)
		}
		said := 0
		for _, s := range want.Stats {
			if strings.Contains(s, "signatures leave") && slices.Contains(got.Stats, s) {
				said++
			}
		}
		if said != len(p.Levels) {
			t.Errorf("%s: %q, on the processor %q", kind, got.Stats, want.Stats)
		}
	}
}

// labelledCycle is a random graph with labels, and a plan of a cycle of four vertices in it, one of
// which has a condition.
func labelledCycle(t *testing.T) (*graph.Graph, *plan.Plan) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	s := nodiff.Spec{N: 300, Directed: true, EdgeLabels: true}
	for v := range s.N {
		s.Labels = append(s.Labels, []string{[]string{"A", "B", "C"}[v%3]})
		for range 4 {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: r.IntN(s.N), Label: []string{"X", "Y", "Z"}[r.IntN(3)]})
		}
	}
	g := s.Build()
	q, err := gql.Parse("MATCH (a:A)-[:X]->(b:B|C)-[:Y]->(c)<-[:X]-(d:A)-[:Y]->(e), (a)-[:Y]->(f:B WHERE deg(f) > 3)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "gsi"})
	if err != nil {
		t.Fatal(err)
	}
	return g, p
}

// TestGPUFilterMustRun: a filter that a device leaves out is an error, not a search without candidates.
func TestGPUFilterMustRun(t *testing.T) {
	g, p := labelledCycle(t)
	d, err := cuda.New(&cuda.Faults{Backend: device.Backend(t, emu.Options{}), SkipOne: 1}, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 1 << 28, Ring: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r, err := engine.Once(t.Context(), join.NewGPU(s), g, p, engine.Options{Opt: map[string]string{"join.filter": "signature"}}, engine.Goal{}); !errors.Is(err, cuda.ErrLaunch) {
		t.Errorf("%v, %v", r.Matches, err)
	}
}

// TestGPUResident: only the lists that a plan reads go to a device, and a second run finds them there.
func TestGPUResident(t *testing.T) {
	s := nodiff.Spec{N: 40, Directed: true, EdgeLabels: true}
	for v := range s.N {
		for i, label := range []string{"A", "B", "C"} {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: (v + 3*i + 1) % s.N, Label: label})
		}
	}
	g := s.Build()
	q, err := gql.Parse("MATCH (x)-[:A]->(y)-[:C]->(z)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: []int{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	count := &copies{Backend: device.Backend(t, emu.Options{})}
	d, err := cuda.New(count, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	// Of 40 vertices with one neighbour each, by two labels: lists, and an index.
	for _, c := range []struct {
		kind, filter string
		index        string
		want         int64
	}{
		{"graph", "off", "auto", 2 * (41*8 + 40*4)},
		{"hashed", "off", "auto", 2 * (40*128 + 40*4)},
		{"interval", "off", "auto", 2 * (40*4 + 41*4 + 4 + 8)},
		{"interval", "off", "ranks", 2 * (40*4 + 41*4 + 4 + 2*8)}, // of 32 vertices a word
		{"graph", "signature", "auto", 2*(41*8+40*4) + 40*256/8},
		{"interval", "signature", "auto", 2*(40*4+41*4+4+8) + 40*256/8 + 40*4},
	} {
		kind, want := c.kind, c.want
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 1 << 28, Ring: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		var copied [2]int64
		for i := range copied {
			count.bytes.Store(0)
			o := engine.Options{Opt: map[string]string{"join.lists": kind, "join.filter": c.filter, "join.index": c.index}}
			r, err := engine.Once(t.Context(), join.NewGPU(s), g, p, o, engine.Goal{})
			if err != nil || r.Matches != engine.U64(uint64(g.NumVertices())) {
				t.Fatalf("%s: %v, %v", kind, r.Matches, err)
			}
			copied[i] = count.bytes.Load()
		}
		if copied[0]-copied[1] != want {
			t.Errorf("%s: the first run copied %d bytes to the device and the second %d, want %d less", kind, copied[0], copied[1], want)
		}
		if _, err := s.Free(t.Context()); err != nil { // gives back what is kept for scratch memory
			t.Fatal(err)
		}
		before := d.InUse()
		if err := s.Forget(); err != nil {
			t.Fatal(err)
		}
		if got := before - d.InUse() - count.tables.Swap(0); got != want {
			t.Errorf("%s: besides tables %d bytes stay on the device, want %d", kind, got, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGPUSparseLists: lists of labels that few vertices have take a device memory in proportion to these, in any of the
// layouts, and not an offset for each vertex of the graph.
func TestGPUSparseLists(t *testing.T) {
	const n, few = 20000, 25
	s := nodiff.Spec{N: n, Directed: true, EdgeLabels: true}
	for v := range few {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: 700 * v, V: 700*v + 300, Label: "A"}, nodiff.SpecEdge{U: 700*v + 300, V: 700*(v+1) + 1, Label: "B"})
	}
	s.Edges = append(s.Edges, nodiff.SpecEdge{U: 300, V: 2, Label: "B"})
	g := s.Build()
	q, err := gql.Parse("MATCH (x)-[:A]->(y)-[:B]->(z)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: []int{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	count := &copies{Backend: device.Backend(t, emu.Options{})}
	d, err := cuda.New(count, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, kind := range []string{"graph", "hashed", "interval"} {
		ss, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 1 << 28, Ring: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		for run := range 2 { // the second one finds the lists there
			r, err := engine.Once(t.Context(), join.NewGPU(ss), g, p, engine.Options{Opt: map[string]string{"join.lists": kind, "join.filter": "off"}}, engine.Goal{})
			if err != nil || r.Matches != engine.U64(few+1) {
				t.Fatalf("%s, run %d: %v, %v", kind, run, r.Matches, err)
			}
		}
		if _, err := ss.Free(t.Context()); err != nil { // gives back what is kept for scratch memory
			t.Fatal(err)
		}
		before := d.InUse()
		if err := ss.Forget(); err != nil {
			t.Fatal(err)
		}
		if got := before - d.InUse() - count.tables.Swap(0); got <= 0 || got >= 8*n {
			t.Errorf("%s: %d bytes of lists stay on the device, for %d edges in a graph of %d vertices", kind, got, len(s.Edges), n)
		}
		if err := ss.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// copies counts what is copied to a device. Its largest allocation is of tables.
type copies struct {
	cuda.Backend
	bytes, tables atomic.Int64
}

func (c *copies) Alloc(bytes int64) (uint64, error) {
	c.tables.Store(max(c.tables.Load(), bytes))
	return c.Backend.Alloc(bytes)
}

func (c *copies) CopyIn(dst uint64, src unsafe.Pointer, bytes int64, stream cuda.Handle) error {
	c.bytes.Add(bytes)
	return c.Backend.CopyIn(dst, src, bytes, stream)
}

// TestGPUSeveral compares phases of several vertices with the oracle, in tables so small that most rows go on in a later
// launch.
func TestGPUSeveral(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		c := nodiff.Config{Compile: planner.Compile, LeastRuns: 1, Opt: map[string]string{"join.batch": "5|60", "join.filter": "off", "join.cache": "off"}}
		for _, tech := range severals() {
			c.Techniques = append(c.Techniques, tech.Walked())
		}
		compare(t, c, e, nodiff.Suite{Plans: 100, Graphs: 2}, nodiff.Suite{Plans: 18, Graphs: 2})
	})
}

// TestGPUTails compares counts whose last phase is a plan's tail with the oracle, with labels and without.
func TestGPUTails(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		c := gpuConfig()
		c.Opt = map[string]string{"join.batch": "5|60", "join.filter": "off"}
		arithmetic := func(tech nodiff.Technique, name string, opt ...string) {
			c.Techniques = append(c.Techniques, tech.With(name, opt...).Said("join_tail_count [0-9]+ times"))
		}
		arithmetic(nodiff.Terms, "a tail")
		arithmetic(nodiff.TermsRanges, "a tail of several ranges")
		rooted := nodiff.Terms
		counted := rooted.Force
		rooted.Plan, rooted.Force = nodiff.Rooted.Plan, func(o *plan.Options, opt map[string]string) {
			counted(o, opt)
			nodiff.Rooted.Force(o, opt)
		}
		arithmetic(rooted, "a tail for each vertex")
		compare(t, c, e, nodiff.Suite{Plans: 100, Graphs: 3}, nodiff.Suite{Plans: 24, Graphs: 3})
	})
}

// TestGPUChoices: tails of more than five levels have no terms, and are counted as choices from the groups of a phase: of vertices
// in order, of different ones, and of any.
func TestGPUChoices(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 5, M: 90, VertexLabels: 2, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, func(t *testing.T, e engine.Engine) {
		for _, c := range []struct{ pattern, text string }{
			{"pattern 5", "(a)--(l:1), (a)--(m:1), (a)--(n:1), (a)--(o:1), (a)--(p:1), (a)--(q:1)"},
			{"pattern 6", "(a)--(l:0), (a)--(m:1), (a)--(n:1), (a)--(o:1), (a)--(p:1), (a)--(q:1)"},
			{"pattern 7", "(a:0)--(b:1), (b)--(l:0), (a)--(m:1), (a)--(n:1), (a)--(o:1), (a)--(p:1), (a)--(q:1)"},
		} {
			for _, mode := range []string{"", "all", "REPEATABLE ELEMENTS "} {
				q, err := gql.Parse("MATCH " + strings.TrimPrefix(mode, "all") + c.text)
				if err != nil {
					t.Fatal(err)
				}
				order := make([]int, len(q.Pattern.Vertices))
				for i := range order {
					order[i] = i
				}
				p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: order, Embeddings: mode == "all"})
				if err != nil {
					t.Fatal(err)
				}
				want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
				if err != nil || want.Matches.IsZero() {
					t.Fatalf("%s: %v, %v", c.text, want.Matches, err)
				}
				r, err := engine.Once(t.Context(), e, g, p, engine.Options{Opt: map[string]string{"join.extend": "multi", "join.filter": "off"}}, engine.Goal{})
				said := fmt.Sprint(r.Stats)
				chosen := strings.Contains(said, c.pattern) && strings.Contains(said, "join_tail_count")
				if err != nil || r.Matches != want.Matches || !chosen && mode != "REPEATABLE ELEMENTS " {
					t.Errorf("%s%s: %v, %v, %s; want %v", mode, c.text, r.Matches, err, said, want.Matches)
				}
			}
		}
	})
}

// TestGPUParts: relations in parts are read as one run.
func TestGPUParts(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		x := &parts.Trial{Layout: parts.Layout{Runs: 2, Deleted: true, Seed: 1}}
		c := gpuConfig()
		c.Engine, c.Compile = x.Engine(e), x.Compile(c.Compile)
		nodiff.Suite{Plans: 10, Graphs: 4}.Run(t, c, []engine.Engine{c.Engine})
		x.Enough(t)
	})
}

// skewed has hubs.
func skewed(t *testing.T) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 7, M: 700, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// planned is a plan of a pattern of the catalogue.
func planned(t *testing.T, g *graph.Graph, name string, o plan.Options) *plan.Plan {
	t.Helper()
	ps, err := pattern.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	o.Root = plan.NoRoot
	p, err := planner.Compile(g, ps[0], o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestGPUTables: tables of few rows and of many, and each switch, give what the host engine counts. A table has
// the size that was asked for.
func TestGPUTables(t *testing.T) {
	g := skewed(t)
	onDevice(t, func(t *testing.T, e engine.Engine) {
		for i, shape := range []string{"diamond", "star(3)", "triangle", "path(4)"} {
			if !long.Asked() && i > 1 {
				continue
			}
			p := planned(t, g, shape, plan.Options{Order: "gsi"})
			want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			for k, batch := range []int{0, 100, 7} {
				if !long.Asked() && (k == 2 || k != i%2) {
					continue
				}
				for _, opt := range []string{"join.extend=multi", "join.share=on", "join.balance=on", "join.cache=on", "join.cache=off", "join.output=prealloc", "join.output=twopass"} {
					name, value, _ := strings.Cut(opt, "=")
					if !long.Asked() && batch > 0 && name == "join.output" {
						continue // a window costs several launches
					}
					o := engine.Options{Levels: true, Opt: map[string]string{"join.batch": fmt.Sprint(batch), "join.extend": "single"}}
					o.Opt[name] = value
					got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
					if err != nil || got.Matches != want.Matches || !got.Complete {
						t.Errorf("%s, batch %d, %s: %v (complete %v, %v), want %v", shape, batch, opt, got.Matches, got.Complete, err, want.Matches)
					}
					levels := len(p.Levels)
					if rows := levels * (levels - 1) / 2; batch > 0 && opt != "join.extend=multi" && !strings.Contains(fmt.Sprint(got.Stats), fmt.Sprintf("room for %d bytes", 4*rows*batch)) {
						t.Errorf("%s, batch %d: %v", shape, batch, got.Stats)
					}
					if one := got.Levels[1].Matches; got.Levels[0].Matches.IsZero() || one.IsZero() || got.Levels[levels-1].Matches != want.Matches {
						t.Errorf("%s: levels %v", shape, got.Levels)
					}
				}
			}
		}
	})
}

// TestGPUFullTables: tables of several hundred rows fill while warps take several rows at a time, and
// no row is left out.
func TestGPUFullTables(t *testing.T) {
	g := skewed(t)
	onDevice(t, func(t *testing.T, e engine.Engine) {
		p := planned(t, g, "path(4)", plan.Options{Order: "gsi"})
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil {
			t.Fatal(err)
		}
		for _, batch := range []int{1000, 300} {
			for _, opt := range []string{"join.share=on", "join.balance=on", "join.cache=on", "join.output=prealloc", "join.output=twopass"} {
				if !long.Asked() && opt != "join.share=on" {
					continue
				}
				name, value, _ := strings.Cut(opt, "=")
				o := engine.Options{Levels: true, Opt: map[string]string{"join.batch": fmt.Sprint(batch), "join.extend": "single", name: value}}
				if got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{}); err != nil || got.Matches != want.Matches || !got.Complete {
					t.Errorf("batch %d, %s: %v (complete %v, %v), want %v", batch, opt, got.Matches, got.Complete, err, want.Matches)
				}
			}
		}
	})
}

// TestGPULayers: rows with lists of very different lengths are joined by the grid, by blocks, by several warps
// and by one, in a count, in a listing and into tables that they fill.
func TestGPULayers(t *testing.T) {
	s := &nodiff.Spec{Directed: true}
	want := uint64(0)
	const roots, longest = 64, 40000
	s.N = 2*roots + longest
	for a := range roots {
		n := map[bool]int{true: 5 + a}[a >= 20]
		switch {
		case a == 0:
			n = longest
		case a < 6:
			n = 1500 + a
		case a < 20:
			n = 500 + a
		}
		want += uint64(n)
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: a, V: roots + a})
		for i := range n {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: roots + a, V: 2*roots + i})
		}
	}
	g := s.Build()
	for _, c := range []struct {
		text, goal string
		want       uint64
		listing    bool
	}{
		{"MATCH (a)-->(b)-->(c)", "count", want, false}, {"MATCH (a)-->(b)-->(c)", "list", want, true},
		{"MATCH (a)-->(b)-->(c), (d)-->(c), (d)<--(a)", "rows", 0, false},
	} {
		if c.goal == "count" && !long.Asked() {
			continue // as in a listing
		}
		q, err := gql.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: []int{0, 1, 2, 3}[:len(q.Pattern.Vertices)], Listing: c.listing})
		if err != nil {
			t.Fatal(err)
		}
		onDevice(t, func(t *testing.T, e engine.Engine) {
			var goal engine.Goal
			var rows atomic.Int64
			if c.listing {
				goal.Sink = sinkFunc(func(b *engine.Batch) { rows.Add(int64(b.Rows)) })
			}
			got, err := engine.Once(t.Context(), e, g, p, engine.Options{Opt: map[string]string{"join.balance": "on", "join.batch": "9000", "join.filter": "off"}}, goal)
			if err != nil || got.Matches != engine.U64(c.want) || !got.Complete || c.listing && rows.Load() != int64(c.want) {
				t.Errorf("%s: %v, %d rows, complete %v, %v; want %d", c.text, got.Matches, rows.Load(), got.Complete, err, c.want)
			}
			for _, layer := range []string{"grid_", "block_", "pool_", ""} {
				if name := "join_" + layer + c.goal; !strings.Contains(fmt.Sprint(got.Stats), name+" ") {
					t.Errorf("%s: %s did not run: %v", c.text, name, got.Stats)
				}
			}
		})
	}
}

// TestGPUStops: a long search ends with its context, with a part of the count; and a listing of a limit
// gives just that many.
func TestGPUStops(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 400, P: 0.5, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := planned(t, g, "cycle(6)", plan.Options{Order: "ri", Quick: true, NoTail: true})
	listed := planned(t, g, "cycle(6)", plan.Options{Order: "ri", Quick: true, Listing: true})
	onDevice(t, func(t *testing.T, e engine.Engine) {
		o := engine.Options{Opt: map[string]string{"join.filter": "off", "join.batch": "1000"}}
		var rows atomic.Int64
		count := sinkFunc(func(b *engine.Batch) { rows.Add(int64(b.Rows)) })
		got, err := engine.Once(t.Context(), e, g, listed, o, engine.Goal{Sink: count, Limit: 777})
		if err != nil || rows.Load() != 777 || got.Matches != engine.U64(777) || got.Complete {
			t.Errorf("%d rows of 777, %v, complete %v, %v", rows.Load(), got.Matches, got.Complete, err)
		}
		for limit := 100 * time.Millisecond; ; limit *= 2 { // a busy machine needs longer until it has counted
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			got, err = engine.Once(ctx, e, g, p, o, engine.Goal{})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || got.Complete {
				t.Fatalf("%v, complete %v", err, got.Complete)
			}
			if !got.Matches.IsZero() {
				return
			}
		}
	})
}

// TestGPUMemory: tables that are larger than the memory become smaller, and no row is lost.
func TestGPUMemory(t *testing.T) {
	g := skewed(t)
	p := planned(t, g, "path(4)", plan.Options{Order: "gsi", Listing: true})
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	const memory = 2 << 20
	s, err := session.Open([]*cuda.Device{device.Emulated(t, emu.Options{SMs: 2})}, session.Options{Memory: memory, Ring: 1 << 14})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var rows atomic.Int64
	sink := sinkFunc(func(b *engine.Batch) { rows.Add(int64(b.Rows)) })
	o := engine.Options{Opt: map[string]string{"join.batch": "16000000", "join.filter": "off"}}
	got, err := engine.Once(t.Context(), join.NewGPU(s), g, p, o, engine.Goal{Sink: sink})
	if err != nil || !got.Complete || got.Matches != want.Matches || engine.U64(uint64(rows.Load())) != want.Matches {
		t.Fatalf("%v, %d rows, complete %v, %v; want %v", got.Matches, rows.Load(), got.Complete, err, want.Matches)
	}
	var bytes int
	for _, s := range got.Stats {
		_, _ = fmt.Sscanf(s, "join: tables have room for %d bytes", &bytes)
	}
	if bytes < memory/16 || bytes > memory/2 {
		t.Errorf("%d bytes: %v", bytes, got.Stats)
	}
}

// TestGPUConditions: conditions that compare several vertices and edges, which the host tests as rows come.
func TestGPUConditions(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		c := gpuConfig()
		c.Patterns = nodiff.Conditions
		compare(t, c, e, nodiff.Suite{Plans: 100, Graphs: 3}, nodiff.Suite{Plans: 10, Graphs: 3})
	})
}

// TestRefusals: each engine refuses switches that are of no use there, and those that do nothing beside others, also of a plan that has no matches.
func TestRefusals(t *testing.T) {
	g := skewed(t)
	s, err := session.Open([]*cuda.Device{device.Emulated(t, emu.Options{})}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	q, err := gql.Parse("MATCH (a:Nobody)--(b)--(c)")
	if err != nil {
		t.Fatal(err)
	}
	empty, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot})
	if err != nil || empty.Empty == nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		opt      string
		cpu, gpu string // what the error says; "": there is none
	}{
		{"join.steal=off", "", "of no use on GPUs"},
		{"join.cache=off", "of no use on the processor", ""},
		{"join.batch=-1", "join.batch", "join.batch"},
		{"join.index=ranks", "of no use on the processor", "only with join.lists=interval"},
		{"join.sets=naive", "", ""},
		{"join.renumber=off", "only with join.lists=interval", "only with join.lists=interval"},
		{"join.renumber=off join.lists=hashed", "only with join.lists=interval", "only with join.lists=interval"},
		{"join.renumber=off join.lists=interval", "", ""},
		{"join.eliminate=after", "join.eliminate: after only with join.extend=multi", "join.eliminate: after only with join.extend=multi"},
		{"join.eliminate=after join.extend=single", "only with join.extend=multi", "only with join.extend=multi"},
		{"join.eliminate=after join.extend=multi", "", ""},
		{"join.eliminate=inside join.extend=single", "", ""},
		{"join.signature=64 join.filter=off", "no vertex has a signature", "no vertex has a signature"},
		{"join.signature=256 join.filter=off", "no vertex has a signature", "no vertex has a signature"},
		{"join.signature=40", "not a multiple of 32", "not a multiple of 32"},
		{"join.signature=64 join.filter=signature", "", ""},
		{"join.signature=64", "", ""},
	} {
		opt := map[string]string{}
		for kv := range strings.FieldsSeq(c.opt) {
			k, v, _ := strings.Cut(kv, "=")
			opt[k] = v
		}
		for _, p := range []*plan.Plan{planned(t, g, "triangle", plan.Options{}), empty} {
			for want, e := range map[*string]engine.Engine{&c.cpu: join.New(), &c.gpu: join.NewGPU(s)} {
				err := engines.Refusal(e, g, p, engine.Options{Opt: opt})
				if (err == nil) != (*want == "") || err != nil && (!errors.Is(err, engine.ErrOption) || !strings.Contains(err.Error(), *want)) {
					t.Errorf("%s: %v, want %q", c.opt, err, *want)
				}
			}
		}
	}
}

// TestSignatureUnused: a run says where the signatures whose length was given were not made, and why.
func TestSignatureUnused(t *testing.T) {
	g := skewed(t)
	labelled, reduced := labelledCycle(t)
	if reduced.Reduction == nil {
		q, err := gql.Parse("MATCH (a)-[:X]->(b)-[:Y]->(c)")
		if err != nil {
			t.Fatal(err)
		}
		if reduced, err = planner.Compile(labelled, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "join"}); err != nil || reduced.Reduction == nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		g            *graph.Graph
		p            *plan.Plan
		filter, want string
	}{
		{g, planned(t, g, "edge", plan.Options{}), "auto", "no filter by signatures: they are expected to take longer than the search"},
		{labelled, reduced, "auto", "no filter by signatures: candidates are reduced by their edges"},
		{labelled, reduced, "signature", "signatures leave"},
	} {
		r, err := engine.Once(t.Context(), join.New(), c.g, c.p, engine.Options{Opt: map[string]string{"join.signature": "64", "join.filter": c.filter}}, engine.Goal{})
		if err != nil || !strings.Contains(strings.Join(r.Stats, "\n"), "join: "+c.want) {
			t.Errorf("join.filter=%s: %v, %v; want %q", c.filter, r.Stats, err, c.want)
		}
	}
}

// TestGPUCompilesForGPUs compiles the kernels for GPUs, without one, each by itself as a GPU does.
func TestGPUCompilesForGPUs(t *testing.T) {
	long.Only(t, "compiling kernels for GPUs takes seconds")
	for name, text := range join.Kernels() {
		t.Run(name, func(t *testing.T) { check.CompileCheck(t, cuda.Source{Name: name + ".cu", Text: text}) })
	}
}

// TestGPUManyRuns: a GPU finds lists by a rank bitmap where the vertices of an edge label are too many runs for shared memory, and
// by runs where these are asked for. Both count what the processor counts.
func TestGPUManyRuns(t *testing.T) {
	const classes = 3000 // of two vertices each, one of which has the label: as many runs
	s := nodiff.Spec{N: 2 * classes, Directed: true, EdgeLabels: true}
	for v := range s.N {
		s.Labels = append(s.Labels, []string{fmt.Sprint("L", v/2)})
	}
	for c := range classes {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: 2 * c, V: 2 * (7 * c % classes), Label: "A"}, nodiff.SpecEdge{U: 2 * c, V: 2 * ((c + 1) % classes), Label: "A"},
			nodiff.SpecEdge{U: 2*c + 1, V: 2 * c, Label: "B"})
	}
	g := s.Build()
	q, err := gql.Parse("MATCH (x)-[:A]->(y)-[:A]->(z)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), join.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches == engine.U64(0) {
		t.Fatal(want.Matches, err)
	}
	d := device.Emulated(t, emu.Options{})
	engines.WithSession(t, session.Options{Memory: 1 << 28, Ring: 1 << 16}, func(s *session.Session) {
		for _, c := range []struct {
			index  string
			ranked bool
		}{{"auto", true}, {"ranks", true}, {"runs", false}} {
			o := engine.Options{Opt: map[string]string{"join.lists": "interval", "join.index": c.index}}
			got, err := engine.Once(t.Context(), join.NewGPU(s), g, p, o, engine.Goal{})
			said := strings.Contains(strings.Join(got.Stats, "\n"), "lists found by rank bitmaps: ")
			if err != nil || got.Matches != want.Matches || said != c.ranked {
				t.Errorf("%s: %v, %v, want %v; %q", c.index, got.Matches, err, want.Matches, got.Stats)
			}
		}
	}, d)
}
