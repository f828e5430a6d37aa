package partition_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/partition"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestBudgets: with less and less memory of the device the graph has more parts, and the count stays the same until
// an error says that the memory is too little. No run takes more than it may.
func TestBudgets(t *testing.T) {
	spec, triangles := gen.Spec{Model: "rmat", Scale: 9, M: 3500, Seed: 1}, []int64{1 << 16, 48 << 10, 1 << 14}
	if long.Asked() {
		spec, triangles = gen.Spec{Model: "rmat", Scale: 10, M: 9000, Seed: 1}, []int64{1 << 17, 1 << 16, 1 << 14}
	}
	g := generate(t, spec)
	worked := 0
	d := device.Emulated(t, emu.Options{SMs: 1})
	for name, budgets := range map[string][]int64{"triangle": triangles, "clique(4)": triangles[1:2]} {
		p := compile(t, g, name, plan.Options{})
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil || want.Matches.IsZero() {
			t.Fatal(want.Matches, err)
		}
		for _, memory := range budgets {
			engines.WithSession(t, session.Options{Memory: memory}, func(s *session.Session) {
				got, err := engine.Once(t.Context(), over(s), g, p, engine.Options{}, engine.Goal{})
				switch {
				case err == nil && got.Matches == want.Matches && got.Complete:
					worked++
				case memory >= triangles[1] || !errors.Is(err, cuda.ErrMemory):
					t.Errorf("%s in %d bytes: %v (%v), want %v", name, memory, got.Matches, err, want.Matches)
				}
			}, d)
		}
	}
	if worked < 3 {
		t.Errorf("%d budgets worked", worked)
	}
}

// taking notes the memory that was taken at once: of the device, and page-locked.
type taking struct {
	cuda.Backend
	alloc, pin int64
}

func (b *taking) Alloc(bytes int64) (uint64, error) {
	b.alloc = max(b.alloc, bytes)
	return b.Backend.Alloc(bytes)
}

func (b *taking) Pin(bytes int64) (unsafe.Pointer, uint64, error) {
	b.pin = max(b.pin, bytes)
	return b.Backend.Pin(bytes)
}

// TestSmallGraph: a search across parts of a small graph takes memory in proportion to the graph, and not to the memory that
// there is.
// To page-lock some hundred megabytes takes longer than such a search.
func TestSmallGraph(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 6, M: 250, Seed: 2})
	p := compile(t, g, "triangle", plan.Options{})
	b := &taking{Backend: device.Backend(t, emu.Options{SMs: 1})}
	d, err := cuda.New(b, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	engines.WithSession(t, session.Options{Memory: 1 << 28, Ring: 1 << 12}, func(s *session.Session) {
		o := engine.Options{Opt: map[string]string{"partition.parts": "3"}}
		e := partition.New(s, func(s *session.Session) []engine.Engine { return []engine.Engine{stack.New(s)} })
		res, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
		if err != nil || !strings.Contains(strings.Join(res.Stats, "\n"), "in 1 chunks") {
			t.Fatal(res.Stats, err)
		}
	}, d)
	if lists := int64(4 * len(g.Out.Adj)); b.alloc > 64<<10 || b.pin > 64<<10 {
		t.Errorf("%d bytes of the device and %d of page-locked memory at once, for lists of %d bytes", b.alloc, b.pin, lists)
	}
}

// pins counts how often page-locked memory is taken.
type pins struct {
	cuda.Backend
	n int
}

func (b *pins) Pin(bytes int64) (unsafe.Pointer, uint64, error) {
	b.n++
	return b.Backend.Pin(bytes)
}

// TestPinnedAgain: a second run gathers lists into the page-locked memory of the first, which the session has kept.
func TestPinnedAgain(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 6, M: 250, Seed: 2})
	p := compile(t, g, "triangle", plan.Options{})
	b := &pins{Backend: device.Backend(t, emu.Options{SMs: 1})}
	d, err := cuda.New(b, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	engines.WithSession(t, session.Options{Memory: 1 << 20, Ring: 1 << 12}, func(s *session.Session) {
		x, err := over(s).Prepare(t.Context(), g, p, engine.Options{Opt: map[string]string{"partition.parts": "3"}})
		if err != nil {
			t.Fatal(err)
		}
		var first engine.Result
		for run := range 3 {
			before := b.n
			got, err := x.Run(t.Context(), engine.Goal{})
			if err != nil || run > 0 && got.Matches != first.Matches || got.Matches.IsZero() {
				t.Fatal(got.Matches, first.Matches, err)
			}
			if first = got; run > 0 && b.n > before {
				t.Errorf("run %d took page-locked memory %d times", run, b.n-before)
			}
		}
		if b.n == 0 {
			t.Error("no page-locked memory was taken")
		}
	}, d)
}
