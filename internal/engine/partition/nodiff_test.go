package partition_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/fine"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/engine/partition"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// config compares with the oracle: 1 to 7 parts of graphs of up to 12 vertices, and tables of a few rows.
func config() nodiff.Config {
	return nodiff.Config{Compile: planner.Compile, MaxVertices: 12, LeastRuns: 1, Opt: map[string]string{
		"partition.parts": "1|2|3|4|5|6|7|20", "partition.share": "off", "partition.batch": "2|30",
	}}
}

// techniques are those that a run says it has used.
var techniques = []nodiff.Technique{
	nodiff.Listing,
	nodiff.Nest.With("shared searches", "partition.parts", "3").Said(`searches across parts \(shared\)`),
	nodiff.LabelledNest.With("labels", "partition.parts", "3").Said(`searches across parts`),
	nodiff.Nest.With("a search for each edge", "partition.parts", "4", "partition.share", "off").Said(`searches across parts \(unshared\)`),
	nodiff.Nest.With("two vertices at once", "partition.parts", "5").Said(`counted the last two vertices`),
	{Name: "choices of data edges", Force: func(o *plan.Options, opt map[string]string) {
		o.Listing, o.Root, opt["partition.parts"] = false, plan.NoRoot, "3"
	}, Plan: func(p *plan.Plan) bool { return len(p.Edges) > 0 }},
	{Name: "lists of chosen data edges", Force: inParts(true), Plan: func(p *plan.Plan) bool { return len(p.Edges) > 0 }},
	nodiff.Rooted.With("counts by vertex", "partition.parts", "3").Said(`searches across parts`),
	nodiff.Rooted.With("counts by vertex, a search for each edge", "partition.parts", "3", "partition.share", "off").Said(`searches across parts`),
	{Name: "deg() and EXISTS, counted", Patterns: nodiff.Conditions, Force: inParts(false), Plan: looks},
	{Name: "deg() and EXISTS, listed", Patterns: nodiff.Conditions, Force: inParts(true), Plan: looks},
	nodiff.LabelledNest.With("an empty part", "partition.parts", "20").Said(`20 parts \([1-9][0-9]* empty\)`),
	nodiff.Nest.With("the whole graph in host memory", "partition.memory", "unified").Said(`searched the whole graph in host memory`),
	nodiff.Nest.With("the whole graph in managed memory", "partition.memory", "managed").Said(`searched the whole graph in managed memory`),
}

// inParts forces a search in three parts.
func inParts(listing bool) func(o *plan.Options, opt map[string]string) {
	return func(o *plan.Options, opt map[string]string) {
		o.Method, o.Listing, o.Root, opt["partition.parts"] = "", listing, plan.NoRoot, "3"
	}
}

// looks reports whether conditions of a plan look at more of the graph than a match has.
func looks(p *plan.Plan) bool { return slices.ContainsFunc(p.Pattern.Where, plan.Looks) }

// TestNoDiff compares random plans on random graphs with the oracle, in a few hundred kilobytes of device memory.
func TestNoDiff(t *testing.T) {
	c := config()
	c.Techniques = techniques
	inner := func(s *session.Session) engine.Engine { return join.NewGPU(s) }
	compareWith(t, c, inner, nodiff.Suite{Plans: 10, Graphs: 2}, nodiff.Suite{Plans: 200, Graphs: 4}, nodiff.Suite{Plans: 200, Graphs: 4})
}

// compareWith compares plans whose parts an engine searches: few, or many in long tests, on emulated devices, and some
// number of them on a GPU that is required. That is opened several times, because each of its devices compiles for itself.
func compareWith(t *testing.T, c nodiff.Config, inner func(s *session.Session) engine.Engine, few, many, required nodiff.Suite) {
	t.Helper()
	over := func(t *testing.T, suite nodiff.Suite, devices ...*cuda.Device) {
		var all []engine.Engine
		for _, d := range devices {
			s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: room(d), Ring: 1 << 16})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			all = append(all, partition.New(s, func(s *session.Session) []engine.Engine { return []engine.Engine{inner(s)} }))
		}
		suite.Run(t, c, all)
	}
	switch {
	case device.Required():
		device.Several(t, func(t *testing.T, devices []*cuda.Device) { over(t, required, devices...) })
	case long.Asked():
		device.Each(t, func(t *testing.T, d *cuda.Device) { over(t, many, d) })
	default:
		device.Each(t, func(t *testing.T, d *cuda.Device) { over(t, few, d) })
	}
}

// TestInner compares each engine that may search the parts with the oracle. Each plan is compiled.
func TestInner(t *testing.T) {
	for name, inner := range map[string]func(s *session.Session) engine.Engine{
		"stack": func(s *session.Session) engine.Engine { return stack.New(s) },
		"fine":  func(s *session.Session) engine.Engine { return fine.New(s) },
	} {
		t.Run(name, func(t *testing.T) {
			c := config()
			c.Opt = map[string]string{"partition.parts": "2|3|4"}
			c.Techniques = []nodiff.Technique{
				nodiff.Nest.With("parts", "partition.parts", "3").Said("engine " + name + " searched each part"),
				nodiff.LabelledNest.With("labels", "partition.parts", "2").Said("engine " + name + " searched each part"),
			}
			compareWith(t, c, inner, nodiff.Suite{Plans: 2, Graphs: 3}, nodiff.Suite{Plans: 20, Graphs: 4}, nodiff.Suite{Plans: 12, Graphs: 4})
		})
	}
}

// TestLongLists compares with the oracle where chunks have room for some neighbours of a row's vertices only.
func TestLongLists(t *testing.T) {
	d := device.Emulated(t, emu.Options{SMs: 1})
	for _, bytes := range []int64{1, 72} {
		engines.WithSession(t, session.Options{Ring: 1 << 16}, func(s *session.Session) {
			c := config()
			c.Techniques = []nodiff.Technique{nodiff.Listing}
			for _, tech := range []nodiff.Technique{nodiff.Nest, nodiff.LabelledNest} {
				tech = tech.With(tech.Name, "partition.parts", "3")
				if bytes == 1 {
					tech = tech.Said("longer than a chunk came in [0-9]+ parts")
				}
				c.Techniques = append(c.Techniques, tech)
			}
			suite := nodiff.Suite{Plans: 8, Graphs: 2}
			if long.Asked() {
				suite = nodiff.Suite{Plans: 30, Graphs: 3}
			}
			suite.Run(t, c, []engine.Engine{partition.NewChunks(s, joins, bytes)})
		}, d)
	}
}

// onOne runs f with the engine over one emulated device.
func onOne(t *testing.T, f func(e engine.Engine)) {
	d := device.Emulated(t, emu.Options{SMs: 1})
	engines.WithSession(t, session.Options{Ring: 1 << 16}, func(s *session.Session) { f(partition.New(s, joins)) }, d)
}

// TestRelations: relations in several runs, with deleted entries, without capabilities, and sparse ones.
func TestRelations(t *testing.T) {
	onOne(t, func(e engine.Engine) {
		for _, l := range append([]parts.Layout{parts.Sparse}, parts.Layouts...) {
			t.Run(fmt.Sprintf("%+v", l), func(t *testing.T) {
				x := &parts.Trial{Layout: l}
				c := config()
				c.Techniques = []nodiff.Technique{nodiff.Nest.With("nest", "partition.parts", "3"), nodiff.LabelledNest.With("labels", "partition.parts", "3")}
				suite := nodiff.Suite{Plans: 3, Graphs: 3}
				if long.Asked() {
					suite = parts.Few(8)
				}
				x.Compare(t, c, suite, e)
			})
		}
	})
}
