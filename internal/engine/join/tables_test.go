package join_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// fan is a vertex with edges X to ten others, of which each has an edge Y to the next one, and the first `ends` have an edge Z; and
// a plan of a pattern in its order.
func fan(t *testing.T, ends int, pattern string) (*graph.Graph, *plan.Plan) {
	t.Helper()
	s := nodiff.Spec{N: 21, Directed: true, EdgeLabels: true}
	for v := range s.N {
		s.Labels = append(s.Labels, []string{"ABC"[min(1, v):][:1]})
		if v > 10 {
			s.Labels[v] = []string{"C"}
		}
	}
	for v := 1; v <= 10; v++ {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: 0, V: v, Label: "X"}, nodiff.SpecEdge{U: v, V: v%10 + 1, Label: "Y"})
		if v <= ends {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: v + 10, Label: "Z"})
		}
	}
	g := s.Build()
	q, err := gql.Parse("MATCH " + pattern)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: []int{0, 1, 2, 3}, NoTail: true, Estimates: true})
	if err != nil {
		t.Fatal(err)
	}
	return g, p
}

// TestRows: how many rows each phase hands to the next, and the bytes of them, whatever the size of batches. With an edge inside
// a phase no row is made that lacks it; with an elimination after the phase there is one for each pair.
func TestRows(t *testing.T) {
	g, p := fan(t, 10, "(a:A)-[:X]->(b:B)-[:Y]->(c:B)<-[:X]-(a), (c)-[:Z]->(d:C)")
	s, err := session.Open([]*cuda.Device{device.Emulated(t, emu.Options{SMs: 2})}, session.Options{Memory: 1 << 26, Ring: 1 << 14})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		how, cpu, gpu string
		most          int // bytes at a time on the processor, in one batch
	}{
		{"single", "1, 10, 10", "1, 10, 10", 80 + 120},
		{"multi", "0, 10", "1, 10", 120},
		{"multi, after", "0, 100, 10", "1, 100, 10", 1200 + 120},
		{"auto", "0, 10", "1, 10", 120},
	} {
		extend, eliminate := c.how, "inside"
		if c.how == "multi, after" {
			extend, eliminate = "multi", "after"
		}
		for _, batch := range []int{0, 1, 7} {
			opt := map[string]string{"join.extend": extend, "join.eliminate": eliminate, "join.batch": fmt.Sprint(batch), "join.filter": "off"}
			for _, e := range []engine.Engine{join.New(), join.NewGPU(s)} {
				r, err := engine.Once(t.Context(), e, g, p, engine.Options{Threads: 1, Opt: opt}, engine.Goal{})
				if err != nil || r.Matches != engine.U64(10) {
					t.Fatalf("%s, batch %d, %s: %v, %v", c.how, batch, r.Device, r.Matches, err)
				}
				rows, widths := c.cpu, []int{1, 3}
				if r.Device != "cpu" {
					rows = c.gpu
				}
				switch c.how {
				case "single":
					widths = []int{1, 2, 3}
				case "multi, after":
					widths = []int{1, 3, 3}
				}
				bytes := 0
				for i, n := range strings.Split(rows, ", ") {
					var rows int
					_, _ = fmt.Sscan(n, &rows)
					bytes += 4 * widths[i] * rows
				}
				said := fmt.Sprint(r.Stats)
				if !strings.Contains(said, fmt.Sprintf("rows by phase: %s; %d bytes in all", rows, bytes)) {
					t.Errorf("%s, batch %d, %s: %s; want the rows %s, %d bytes", c.how, batch, r.Device, said, rows, bytes)
				}
				if batch == 0 && r.Device == "cpu" && !strings.Contains(said, fmt.Sprintf("had at most %d bytes", c.most)) {
					t.Errorf("%s: %s; want %d bytes at a time", c.how, said, c.most)
				}
			}
		}
	}
}

// TestSignaturesOfAPhase: vertices of one phase with one list, but with two signatures, have the candidates that their own signatures
// leave.
func TestSignaturesOfAPhase(t *testing.T) {
	g, p := fan(t, 3, "(a:A)-[:X]->(b:B), (a)-[:X]->(c:B)-[:Z]->(d:C)")
	s, err := session.Open([]*cuda.Device{device.Emulated(t, emu.Options{SMs: 2})}, session.Options{Memory: 1 << 26, Ring: 1 << 14})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	opt := map[string]string{"join.extend": "multi", "join.filter": "signature"}
	for _, e := range []engine.Engine{join.New(), join.NewGPU(s)} {
		r, err := engine.Once(t.Context(), e, g, p, engine.Options{Threads: 1, Opt: opt}, engine.Goal{})
		if err != nil || r.Matches != engine.U64(27) {
			t.Fatalf("%s: %v, %v", r.Device, r.Matches, err)
		}
		if said := fmt.Sprint(r.Stats); !strings.Contains(said, "pattern 1") || !strings.Contains(said, ", 27;") {
			t.Errorf("%s: %s; want 27 rows of b and c", r.Device, said)
		}
	}
}

// TestGPULongRows: rows with most matches of the search go to several warps in parts, in tables that are full and in others, and no
// match is lost or found twice. A row has parts from the beginning if rows are fewer than warps. Warps leave parts of long
// rows, of a loop over vertices or over chunks of candidates.
func TestGPULongRows(t *testing.T) {
	two, three := []int{0, 1, 2}, []int{0, 1, 2, 3}
	for _, c := range []struct {
		pattern     string
		stars, rays int
		want        int // matches of a star
		order       []int
		split       bool // warps leave parts
		count       bool // the goal is a count, not a listing
		batches     []string
	}{
		{"MATCH (a)--(b), (a)--(c), (a)--(d)", 1, 40, 40 * 39 * 38 / 6, three, false, false, []string{"0", "1", "7"}},
		{"MATCH (a)--(b), (a)--(c), (a)--(d)", 64, 20, 20 * 19 * 18 / 6, three, true, false, []string{"0"}},
		{"MATCH (a)--(b), (a)--(c)", 1, 400, 400 * 399 / 2, two, false, false, []string{"0", "1", "50"}},
		{"MATCH (a)--(b), (a)--(c)", 64, 100, 100 * 99 / 2, two, true, false, []string{"0"}},
		{"MATCH (a)--(b), (a)--(c), (a)--(d)", 1, 1500, 1500 * 1499 * 1498 / 6, three, true, true, []string{"0"}},
		{"MATCH (a)--(b), (a)--(c) WHERE deg(b) < 2 AND deg(c) < 2", 1, 1500, 1500 * 1499 / 2, two, true, true, []string{"0"}},
	} {
		s := &nodiff.Spec{N: c.stars * (c.rays + 1)}
		for hub := 0; hub < s.N; hub += c.rays + 1 {
			for v := 1; v <= c.rays; v++ {
				s.Edges = append(s.Edges, nodiff.SpecEdge{U: hub, V: hub + v})
			}
		}
		g, want := s.Build(), c.stars*c.want
		q, err := gql.Parse(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: c.order, NoTail: true, Listing: !c.count})
		if err != nil {
			t.Fatal(err)
		}
		onDevice(t, func(t *testing.T, e engine.Engine) {
			for _, batch := range c.batches {
				var rows atomic.Int64
				o := engine.Options{Listing: !c.count, Opt: map[string]string{"join.extend": "multi", "join.batch": batch, "join.filter": "off"}}
				var goal engine.Goal
				if !c.count {
					goal.Sink = sinkFunc(func(b *engine.Batch) { rows.Add(int64(b.Rows)) })
				}
				r, err := engine.Once(t.Context(), e, g, p, o, goal)
				if err != nil || r.Matches != engine.U64(uint64(want)) || !c.count && rows.Load() != int64(want) {
					t.Errorf("%d times %s, batch %s: %v, %d rows, %v; want %d", c.stars, c.pattern, batch, r.Matches, rows.Load(), err, want)
				}
				// A GPU has more warps than an emulated device, and splits later.
				if s := fmt.Sprint(r.Stats); c.split != strings.Contains(s, "parts of long rows") && !strings.Contains(t.Name(), "/gpu") {
					t.Errorf("%d times %s, batch %s: %s", c.stars, c.pattern, batch, s)
				}
			}
		})
	}
}

// agreesInBatches compares the count of a pattern, in the order of its vertices and with several of them in a phase, with the engine host. Tables
// of an emulated device have each number of rows.
func agreesInBatches(t *testing.T, s *nodiff.Spec, pattern string, o emu.Options, batches ...string) {
	t.Helper()
	g := s.Build()
	q, err := gql.Parse(pattern)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: []int{0, 1, 2, 3}, NoTail: true})
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.Host{}, g, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := cuda.New(device.Backend(t, o), device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	engines.WithSession(t, session.Options{Memory: 1 << 28, Ring: 1 << 16}, func(s *session.Session) {
		for _, batch := range batches {
			opt := map[string]string{"join.extend": "multi", "join.batch": batch, "join.filter": "off"}
			r, err := engine.Once(t.Context(), join.NewGPU(s), g, p, engine.Options{Opt: opt}, engine.Goal{})
			if err != nil || r.Matches != want.Matches {
				t.Errorf("seed %d, batch %s: %v, %v; want %v", o.Seed, batch, r.Matches, err, want.Matches)
			}
		}
	}, d)
}

// TestGPUPartsOfRow: a launch ends when the table is full, and some parts of a row have not been taken by then. The next launch takes
// these alone.
func TestGPUPartsOfRow(t *testing.T) {
	s := &nodiff.Spec{N: 41}
	for v := 1; v <= 40; v++ {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: 0, V: v}, nodiff.SpecEdge{U: v, V: v%40 + 1})
	}
	for seed := range uint64(6) {
		agreesInBatches(t, s, "MATCH (a)--(b), (a)--(c), (b)--(d)", emu.Options{Seed: seed, SMs: 16, Threads: 1}, "1", "2", "40")
	}
}

// TestGPULeftRows: a warp that finds the table full leaves the rest of a row with the rows behind it. The next launch has few rows besides
// these, so a row of its own is for several warps, and these rows are for one.
func TestGPULeftRows(t *testing.T) {
	const hubs, rays = 64, 100
	s := &nodiff.Spec{N: hubs * (2*rays + 1)}
	for i := range hubs {
		hub := i * (2*rays + 1)
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: hub, V: (hub + 2*rays + 1) % s.N})
		for v := hub + 1; v <= hub+rays; v++ {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: hub, V: v}, nodiff.SpecEdge{U: v, V: v + rays})
		}
	}
	agreesInBatches(t, s, "MATCH (a)--(b), (a)--(c), (b)--(d) WHERE deg(a) > 10 AND deg(c) > 10", emu.Options{Seed: 1, SMs: 1, Threads: 1}, "6000", "10000", "11000", "12000")
}
