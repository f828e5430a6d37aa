package join_test

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestOutOfCorePath: a path of three vertices in a graph in two segments.
func TestOutOfCorePath(t *testing.T) {
	g := skewed(t)
	p := planned(t, g, "path(3)", plan.Options{Order: "gsi", NoTail: true})
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	onDevice(t, func(t *testing.T, e engine.Engine) {
		for _, n := range []int{1, 2, 3, 7, 50} {
			o := engine.Options{Opt: map[string]string{"join.segments": fmt.Sprint(n)}}
			told := ""
			goal := engine.Goal{Details: func(done, total uint64, detail string) {
				if done > total {
					t.Errorf("%d of %d", done, total)
				}
				told = cmp.Or(told, detail)
			}}
			got, err := engine.Once(t.Context(), e, g, p, o, goal)
			if err != nil || got.Matches != want.Matches || !got.Complete {
				t.Errorf("%d segments: %v (complete %v, %v), want %v", n, got.Matches, got.Complete, err, want.Matches)
			}
			if text := fmt.Sprintf("phase 1 of 2, segment 1 of %d, ", n); n <= 3 && !strings.HasPrefix(told, text) || !strings.Contains(told, " rows, ") || !strings.Contains(told, " copied") {
				t.Errorf("%d segments: told %q", n, told)
			}
		}
	})
}

// outConfig compares joins out of core with the oracle: many small segments and sub-tables.
func outConfig() nodiff.Config {
	c := nodiff.Config{Compile: planner.Compile, MaxVertices: 12, LeastRuns: 1, Fit: fit, Opt: map[string]string{
		"join.batch": "0|1|3|50", "join.segments": "1|2|5|100", "join.held": "0|2|3", "join.shorter": "0|1|2", "join.nested": "auto|on|off", "join.filter": "off|signature", "join.signature": "32|64", "join.lists": "graph|hashed|interval",
	}}
	for _, tech := range []nodiff.Technique{nodiff.Nest, nodiff.LabelledNest, nodiff.Listing, nodiff.Rooted} {
		c.Techniques = append(c.Techniques, tech.With("segments, "+tech.Name).Said("out of core: [0-9]+ segments"))
	}
	c.Techniques = append(c.Techniques,
		nodiff.Nest.With("segments, tails", "join.segments", "5").Said("join: pattern .*sizes"),
		nodiff.Nest.With("segments, edges looked for later", "join.segments", "100", "join.held", "2").Said("join_segment_check [0-9]+ times"),
		nodiff.Nest.With("segments, the shortest lists", "join.shorter", "1").Said("join: the shortest lists of [1-9][0-9]* rows"),
		nodiff.Nest.With("segments, nested", "join.segments", "5", "join.held", "3", "join.nested", "on").Said("join: the segments of an edge passed [1-9][0-9]* times"),
		nodiff.LabelledNest.With("segments, sub-tables on the device", "join.batch", "50").Said("in at most [0-9]+ columns;"),
	)
	return c
}

// TestOutOfCoreAgrees compares counts, listings and counts by vertex with the oracle's, on a device of a few dozen KiB.
func TestOutOfCoreAgrees(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		engines.WithSession(t, session.Options{Memory: 64 << 10, Ring: 1 << 16}, func(s *session.Session) {
			plans := 300
			if device.Required() {
				plans = 100 // memory that a GPU is asked for takes longer than runs
			}
			compare(t, outConfig(), join.NewGPU(s), nodiff.Suite{Plans: plans, Graphs: 4}, nodiff.Suite{Plans: 30, Graphs: 2})
		}, d)
	})
}

// launches returns how often a run launched kernels that read segments, by the kernel.
func launches(t *testing.T, r engine.Result) (all int, by map[string]int) {
	t.Helper()
	by = map[string]int{}
	for _, text := range r.Stats {
		for _, m := range regexp.MustCompile(`join_segment_(\w+) (\d+) times`).FindAllStringSubmatch(text, -1) {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				t.Fatal(err)
			}
			by[m[1]] = n
			all += n
		}
	}
	return all, by
}

// logLaunches logs the launches of a run, and the bytes that went to the device and came back.
func logLaunches(t *testing.T, name string, memory int64, r engine.Result) {
	t.Helper()
	all, by := launches(t, r)
	for _, text := range r.Stats {
		if m := regexp.MustCompile(`^join: (.*) copied.* and wrote (.*) to`).FindStringSubmatch(text); m != nil {
			t.Logf("%s, %d bytes of memory: %d launches %v; %s to the device, %s back", name, memory, all, by, m[1], m[2])
		}
	}
}

// TestOutOfCoreLaunches: with the least memory the number of launches is in proportion to segments and phases. Where all
// segments are on the device, no candidate comes to the host before all its edges are looked for.
func TestOutOfCoreLaunches(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 10, M: 5000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := device.Emulated(t, emu.Options{})
	for _, name := range []string{"triangle", "cycle(4)", "clique(4)", "diamond"} {
		p := planned(t, g, name, plan.Options{Order: "gsi"})
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil || want.Matches.IsZero() {
			t.Fatal(want.Matches, err)
		}
		at := func(memory int64, segments int) (engine.Result, int64) {
			var got engine.Result
			least := int64(0)
			engines.WithSession(t, session.Options{Memory: memory, Ring: 1 << 12}, func(s *session.Session) {
				o := engine.Options{Opt: map[string]string{"join.filter": "off", "join.segments": fmt.Sprint(segments)}}
				x, err := join.NewGPU(s).Prepare(t.Context(), g, p, o)
				if err != nil {
					t.Fatal(err)
				}
				least = x.Traits().Memory.Least
				if got, err = x.Run(t.Context(), engine.Goal{}); memory >= least && (err != nil || got.Matches != want.Matches) {
					t.Errorf("%s, %d bytes: %v, %v; want %v", name, memory, got.Matches, err, want.Matches)
				}
			}, d)
			return got, least
		}
		_, least := at(1, 0)
		got, _ := at(least, 0)
		m := regexp.MustCompile(`at most (\d+) segments of a relation`).FindStringSubmatch(strings.Join(got.Stats, "\n"))
		if m == nil {
			t.Fatal(got.Stats)
		}
		segments, err := strconv.Atoi(m[1])
		if err != nil || segments < 20 {
			t.Fatalf("%d segments, %v", segments, err)
		}
		logLaunches(t, name, least, got)
		if all, by := launches(t, got); all == 0 || all > 2*segments*(len(p.Levels)-1) {
			t.Errorf("%s: %v with %d segments", name, by, segments)
		}
		got, _ = at(1<<20, 3)
		logLaunches(t, name, 1<<20, got)
		if _, by := launches(t, got); by["make"] == 0 || by["check"] > 0 {
			t.Errorf("%s, all segments on the device: %v", name, by)
		}
	}
}

// TestOutOfCoreBudgets: a device that has too little memory for the graph joins out of core by itself, and says so, with the same count and
// the same rows at each budget down to the smallest that works. With less, the error says which that is.
func TestOutOfCoreBudgets(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 12, M: 12000, Directed: true, EdgeLabels: 6, Skew: 1, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"MATCH (a)-[:0]->(b)-[:1]->(c)", "MATCH (a)-[:0]->(b)-[:1]->(c), (a)-[:2]->(c)", "MATCH (a)-[:3]->(b)<-[:4]-(c)-[:5]->(d), (a)-[:0]->(d)",
	} {
		if !strings.Contains(text, "(d)") && !long.Asked() {
			continue // the longest has to do
		}
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, listing := range []bool{false, true} {
			p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "gsi", Listing: listing})
			if err != nil {
				t.Fatal(err)
			}
			rows := &rowSet{}
			goal := engine.Goal{}
			if listing {
				goal.Sink = rows
			}
			want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, goal)
			if err != nil || want.Matches.IsZero() {
				t.Fatal(want.Matches, err)
			}
			all := rows.take()
			device.Each(t, func(t *testing.T, d *cuda.Device) {
				at := func(memory int64) (got engine.Result, traits engine.Traits, err error) {
					engines.WithSession(t, session.Options{Memory: memory, Ring: 1 << 12}, func(s *session.Session) {
						var x engine.Prepared
						x, err = join.NewGPU(s).Prepare(t.Context(), g, p, engine.Options{Listing: listing, Opt: map[string]string{"join.filter": "off"}})
						if err == nil {
							traits = x.Traits()
							got, err = x.Run(t.Context(), goal)
						}
					}, d)
					return got, traits, err
				}
				_, traits, err := at(1000)
				least := int64(0)
				if m := traits.Memory; m != nil {
					least = m.Least
					if last := m.Parts[len(m.Parts)-1]; last != fmt.Sprintf("the smallest --gpu-memory that works is %d", least) {
						t.Error(last)
					}
				}
				if !errors.Is(err, cuda.ErrMemory) || errors.Is(err, session.ErrShort) || least == 0 || !strings.Contains(err.Error(), fmt.Sprint(least)) {
					t.Fatalf("%v, %v", err, traits.Memory)
				}
				if _, _, err := at(least - 1); !errors.Is(err, cuda.ErrMemory) {
					t.Errorf("%d bytes: %v", least-1, err)
				}
				outside := 0
				for memory := least; memory < 1<<20; memory += memory {
					got, traits, err := at(memory)
					if err != nil || got.Matches != want.Matches || !got.Complete {
						t.Errorf("%d bytes: %v (complete %v, %v), want %v", memory, got.Matches, got.Complete, err, want.Matches)
					}
					if got := rows.take(); !slices.Equal(got, all) {
						t.Errorf("%d bytes: %d rows, which differ from %d", memory, len(got), len(all))
					}
					if traits.Memory != nil && len(got.Notes) > 0 && strings.Contains(got.Notes[0], "joined out of core") {
						outside++
					}
				}
				if outside < 2 {
					t.Errorf("out of core at %d budgets", outside)
				}
			})
		}
	}
}

// rowSet takes rows as texts.
type rowSet struct {
	mu   sync.Mutex
	rows []string
}

func (s *rowSet) Emit(_ int, b *engine.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range b.Rows {
		s.rows = append(s.rows, fmt.Sprint(b.Vertices[r*b.Width:(r+1)*b.Width]))
	}
	return nil
}

// take returns the rows in order, and forgets them.
func (s *rowSet) take() []string {
	rows := s.rows
	s.rows = nil
	slices.Sort(rows)
	return rows
}

// TestOutOfCoreMoves: a run whose lists fit and whose tables do not is out of core, and later runs of the plan do not try otherwise.
func TestOutOfCoreMoves(t *testing.T) {
	g := skewed(t)
	p := planned(t, g, "path(4)", plan.Options{Order: "gsi", NoTail: true})
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	b := &calls{Backend: device.Backend(t, emu.Options{})}
	d, err := cuda.New(b, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	engines.WithSession(t, session.Options{Memory: 56 << 10, Ring: 1 << 12}, func(s *session.Session) {
		x, err := join.NewGPU(s).Prepare(t.Context(), g, p, engine.Options{Opt: map[string]string{"join.filter": "off"}})
		if err != nil {
			t.Fatal(err)
		}
		if m := x.Traits().Memory; m != nil && m.Parts != nil {
			t.Fatalf("out of core before a run: %v", m.Parts)
		}
		var allocs [2]int
		for k := range allocs {
			b.count = nil
			got, err := x.Run(t.Context(), engine.Goal{})
			if err != nil || got.Matches != want.Matches || len(got.Notes) == 0 || !strings.Contains(got.Notes[0], "joined out of core") {
				t.Fatalf("run %d: %v, %v, %v; want %v", k, got.Matches, got.Notes, err, want.Matches)
			}
			allocs[k] = b.count["alloc"]
		}
		if allocs[1] >= allocs[0] {
			t.Errorf("%d allocations in the first run, %d in the second", allocs[0], allocs[1])
		}
		if m := x.Traits().Memory; m == nil || m.Parts == nil {
			t.Error("in core after a run")
		}
	}, d)
}

// compiling counts the programs that a device compiles.
type compiling struct {
	cuda.Backend
	programs atomic.Int64
}

func (c *compiling) Compile(src cuda.Source) ([]byte, error) {
	c.programs.Add(1)
	return c.Backend.Compile(src)
}

// TestOutOfCorePrograms: all plans run the same program, which is compiled once.
func TestOutOfCorePrograms(t *testing.T) {
	g := skewed(t)
	b := &compiling{Backend: device.Backend(t, emu.Options{})}
	d, err := cuda.New(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	engines.WithSession(t, session.Options{Memory: 64 << 10, Ring: 1 << 12}, func(s *session.Session) {
		first := int64(0)
		for _, name := range []string{"triangle", "path(3)", "cycle(4)", "clique(4)"} {
			for _, filter := range []string{"off", "signature"} {
				o := engine.Options{Opt: map[string]string{"join.segments": "3", "join.filter": filter}}
				if _, err := engine.Once(t.Context(), join.NewGPU(s), g, planned(t, g, name, plan.Options{Order: "gsi"}), o, engine.Goal{}); err != nil {
					t.Fatal(err)
				}
				if first == 0 {
					first = b.programs.Load()
				}
				if n := b.programs.Load(); n != first || n == 0 {
					t.Errorf("%s, filter %s: %d programs, %d for the first plan", name, filter, n, first)
				}
			}
		}
	}, d)
}
