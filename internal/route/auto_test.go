package route

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/runtime"
)

// finding is a runtime that finds a number of GPUs.
func finding(n int, err error) *runtime.Runtime {
	return runtime.New(runtime.Options{Count: func() (int, error) { return n, err }})
}

// request is one for a pattern whose plan is as expensive as asked.
func request(t *testing.T, work float64) Request {
	t.Helper()
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "er", N: 50, M: 200, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := pattern.ByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	return Request{Runtime: finding(0, cuda.ErrNoDriver), Graph: g, Options: engine.Options{Threads: 1}, Compile: func(method, _ string) (*plan.Plan, error) {
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: method})
		if p != nil {
			p.Price = work
		}
		return p, err
	}}
}

func TestAuto(t *testing.T) {
	asked := 0
	asking := runtime.New(runtime.Options{Count: func() (int, error) {
		asked++
		return 0, cuda.ErrNoDriver
	}})
	broken := &cuda.Error{Op: "start of the GPU driver", Name: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", Code: 803, Kind: cuda.ErrNoDriver}
	for _, c := range []struct {
		work    float64
		listing bool
		asks    int
		reason  string
	}{
		{1e6, false, 0, "before a GPU has begun"},
		{1e12, true, 0, "rows are written"},
		{1e12, false, 1, "no GPU: " + cuda.ErrNoDriver.Error()},
	} {
		asked = 0
		r := request(t, c.work)
		r.Runtime = asking
		r.Listing = c.listing
		got, err := Pick(t.Context(), r)
		if err != nil || got.Engine.Name() != "host" || !strings.Contains(got.Reason, c.reason) || asked != c.asks {
			t.Errorf("%g, listing %v: %v, %q, GPUs asked for %d times, %v", c.work, c.listing, got.Engine, got.Reason, asked, err)
		}
		if len(got.Notes) > 0 {
			t.Errorf("%g: notes where there is no driver: %q", c.work, got.Notes)
		}
	}
	r := request(t, 1e12)
	r.Runtime = finding(0, broken)
	got, err := Pick(t.Context(), r)
	if err != nil || got.Engine.Name() != "host" || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "no GPU can be used: "+broken.Error()) {
		t.Errorf("a driver that does not start: %v, %q, %v", got.Engine, got.Notes, err)
	}
}

// TestAutoWithoutDevice checks that what a GPU cannot do is done by the
// processor, with a note.
func TestAutoWithoutDevice(t *testing.T) {
	if n, err := cuda.Count(); err == nil && n > 0 {
		t.Skip("there is a GPU")
	}
	r := request(t, 1e12)
	r.Runtime = finding(1, nil)
	got, err := Pick(t.Context(), r)
	if err != nil || got.Engine.Name() != "host" || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "gpu:0 cannot") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "millisecond", 1500 * time.Microsecond: "millisecond", 2 * time.Millisecond: "2ms", 1999 * time.Millisecond: "1999ms",
		2 * time.Second: "2s", 10 * time.Second: "10s", 20*time.Second + 400*time.Millisecond: "20s", 90 * time.Second: "90s",
		10 * time.Minute: "10m", 100 * time.Minute: "100m", 10 * time.Hour: "10h", 150 * time.Minute: "3h", 1e9 * time.Second: "277778h",
	} {
		if got := roughly(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// failing is a plan on a GPU that fails.
type failing struct {
	engine.Prepared
	err error
}

func (f failing) Run(context.Context, engine.Goal) (engine.Result, error) {
	return engine.Result{Matches: engine.U64(99)}, f.err
}

func TestOnHost(t *testing.T) {
	r := request(t, 1e12)
	p, err := r.Compile("nest", "")
	if err != nil {
		t.Fatal(err)
	}
	own, err := r.Compile("local", "") // what the processor counts by
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.New(), r.Graph, p, r.Options, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	lost := fmt.Errorf("search: %w", &cuda.Error{Op: "launch", Text: "gone", Kind: cuda.ErrLost})
	choice := func(why error, levels bool) *Choice {
		r := r
		r.Options.Levels = levels
		onHost, err := r.choice(t.Context(), host.New(), own, "expected")
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.choice(t.Context(), host.New(), p, "long")
		if err != nil {
			t.Fatal(err)
		}
		c.ready, c.host = failing{c.ready, why}, &onHost
		return &c
	}
	got, err := choice(lost, false).Run(t.Context(), engine.Goal{})
	if err != nil || got.Matches != want.Matches || got.Plan != own || !strings.Contains(got.Reason, "GPU was chosen, and failed") ||
		len(got.Notes) == 0 || !strings.Contains(got.Notes[len(got.Notes)-1], "gone") {
		t.Errorf("%+v, %v; want %v", got, err, want.Matches)
	}
	got, err = choice(lost, true).Run(t.Context(), engine.Goal{}) // levels of the plan that was explained
	if err != nil || got.Matches != want.Matches || got.Plan != p || len(got.Levels) != len(p.Levels) {
		t.Errorf("with levels: %+v, %v; want %v", got, err, want.Matches)
	}
	// What is not the GPU's fault stays an error, and nothing is counted twice
	// into a sink.
	other := errors.New("other")
	if _, err := choice(other, false).Run(t.Context(), engine.Goal{}); !errors.Is(err, other) {
		t.Errorf("%v", err)
	}
	if _, err := choice(lost, false).Run(t.Context(), engine.Goal{Sink: noSink{}}); !errors.Is(err, cuda.ErrLost) {
		t.Errorf("%v", err)
	}
}

type noSink struct{}

func (noSink) Emit(int, *engine.Batch) error { return nil }

// TestCodegen: the engine that runs on both is the processor's where that is asked
// for, or where there is no GPU.
func TestCodegen(t *testing.T) {
	rt := finding(0, cuda.ErrNoDriver)
	for _, device := range []string{"", "auto", "cpu"} {
		if err := CheckNames(t.Context(), rt, "codegen", device); err != nil {
			t.Error(err)
		}
		r := request(t, 1e6)
		r.Engine, r.Device = "codegen", device
		c, err := Pick(t.Context(), r)
		if err != nil || c.Engine != (codegen.CPU{Objects: r.Runtime.Objects}) || c.Plan.Method != plan.Nest {
			t.Errorf("device %q: %v, %v", device, c.Engine, err)
		}
	}
	if err := CheckNames(t.Context(), rt, "stack", "cpu"); !errors.Is(err, ErrName) {
		t.Error(err)
	}
}

// TestNoDriver: an error says that a GPU was asked for where it was, and else which engine
// needs one.
func TestNoDriver(t *testing.T) {
	rt := finding(0, cuda.ErrNoDriver)
	for _, c := range []struct{ engine, device, want string }{
		{"stack", "", "engine stack runs on GPUs: "}, {"fine", "auto", "engine fine runs on GPUs: "},
		{"stack", "gpu:0", "gpu:0 was asked for: "}, {"", "gpu", "gpu was asked for: "},
	} {
		want := ErrDevice.Error() + ": " + c.want + cuda.ErrNoDriver.Error()
		r := request(t, 1e6)
		r.Engine, r.Device = c.engine, c.device
		_, picked := Pick(t.Context(), r)
		for _, err := range []error{CheckNames(t.Context(), rt, c.engine, c.device), picked} {
			if !errors.Is(err, ErrDevice) || !errors.Is(err, cuda.ErrNoDriver) || err.Error() != want {
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
}

// TestMethodsOfEngine: an engine whose bit matrices are switched off gets nests.
func TestMethodsOfEngine(t *testing.T) {
	for _, c := range []struct{ option, method, want string }{
		{"", "", "[local nest]"}, {"stack.local=off", "", "[nest]"}, {"stack.local=on", "", "[local nest]"},
		{"codegen.local=off", "", "[local nest]"}, {"stack.local=off", "local", "[local]"},
	} {
		name, value, _ := strings.Cut(c.option, "=")
		r := Request{Method: c.method, Options: engine.Options{Opt: map[string]string{name: value}}}
		if got := fmt.Sprint(onGPU[0].methods(r)); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestNestInstead: bit matrices are left for the nest where that costs far less, there
// is much to do, and nobody has asked for them.
func TestNestInstead(t *testing.T) {
	for _, c := range []struct {
		method      string
		local, nest float64
		want        plan.Method
	}{
		{"", 1e18, 1e15, plan.Nest}, {"", 1.6e12, 1e11, plan.Nest}, {"", 1.5e12, 1e11, plan.Local}, {"", 1e10, 1, plan.Local}, {"local", 1e18, 1e15, plan.Local},
	} {
		r := request(t, 0)
		compile := r.Compile
		r.Method = c.method
		r.Compile = func(method, order string) (*plan.Plan, error) {
			p, err := compile(method, order)
			if err == nil {
				p.Price = map[plan.Method]float64{plan.Local: c.local, plan.Nest: c.nest}[p.Method]
			}
			return p, err
		}
		if p, err := onGPU[0].compile(r, onGPU[0].methods(r)[0]); err != nil || p.Method != c.want {
			t.Errorf("%+v: %v, %v", c, p.Method, err)
		}
	}
}

// TestSuitsFine: of the plans that stack runs, fine may take nests, and bit matrices
// of large vertex-induced patterns with a vertex outside the neighbourhood.
func TestSuitsFine(t *testing.T) {
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "er", N: 50, M: 200, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Two vertices that are not neighbours, and a path of vertices that are neighbours of both.
	ends := &pattern.Pattern{Vertices: make([]pattern.Vertex, 7)}
	for v := range ends.Vertices {
		ends.Vertices[v].Name = fmt.Sprintf("v%d", v)
		if v >= 2 {
			ends.Edges = append(ends.Edges, pattern.Edge{From: 0, To: v}, pattern.Edge{From: 1, To: v})
		}
		if v >= 3 {
			ends.Edges = append(ends.Edges, pattern.Edge{From: v - 1, To: v})
		}
	}
	named := func(name string) *pattern.Pattern {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		return ps[0]
	}
	for _, c := range []struct {
		p             *pattern.Pattern
		method, asked string
		induced, want bool
	}{
		{ends, "local", "", true, true},
		{ends, "local", "local", true, false},
		{ends, "local", "", false, false},
		{named("clique(7)"), "local", "", true, false},
		{named("cycle(4)"), "local", "", true, false},
		{named("cycle(5)"), "nest", "", false, true},
		{named("cycle(5)"), "nest", "nest", false, true},
	} {
		c.p.Induced = c.induced
		p, err := planner.Compile(g, c.p, plan.Options{Root: plan.NoRoot, Method: c.method, Quick: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := suitsFine(p, c.asked); got != c.want {
			t.Errorf("%d vertices by %s, induced %v: %v", len(c.p.Vertices), c.method, c.induced, got)
		}
	}
}
