package join_test

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
)

// pinning counts page-locked memory, and the most of it at a time.
type pinning struct {
	cuda.Backend
	mu        sync.Mutex
	sizes     map[unsafe.Pointer]int64
	now, most int64
}

func (p *pinning) Pin(bytes int64) (unsafe.Pointer, uint64, error) {
	host, ptr, err := p.Backend.Pin(bytes)
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sizes[host] = bytes
		p.now += bytes
		p.most = max(p.most, p.now)
	}
	return host, ptr, err
}

func (p *pinning) Unpin(host unsafe.Pointer) error {
	p.mu.Lock()
	p.now -= p.sizes[host]
	p.mu.Unlock()
	return p.Backend.Unpin(host)
}

// TestOutOfCorePinned: a join out of core takes page-locked memory for two segments and a few sub-tables, however large the graph is: its lists are
// read where they are.
func TestOutOfCorePinned(t *testing.T) {
	var most []int64
	for _, edges := range []uint64{8_000, 32_000} {
		g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 2000, M: edges, Seed: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		p := planned(t, g, "triangle", plan.Options{Order: "gsi"})
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil || want.Matches.IsZero() {
			t.Fatal(want.Matches, err)
		}
		b := &pinning{Backend: device.Backend(t, emu.Options{}), sizes: map[unsafe.Pointer]int64{}}
		d, err := cuda.New(b, device.Objects().Images)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 96 << 10, Ring: 1 << 12})
		if err != nil {
			t.Fatal(err)
		}
		got, err := engine.Once(t.Context(), join.NewGPU(s), g, p, engine.Options{Opt: map[string]string{"join.batch": "500"}}, engine.Goal{})
		if err != nil || got.Matches != want.Matches || !got.Complete {
			t.Errorf("%d edges: %v matches, want %v: %v", edges, got.Matches, want.Matches, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		most = append(most, b.most)
		if lists := 4 * int64(len(g.Out.Adj)); edges == 32_000 && b.most > lists/2 {
			t.Errorf("%d bytes are page-locked, of lists of %d", b.most, lists)
		}
	}
	if most[1] > most[0]+most[0]/10 {
		t.Errorf("%d and %d bytes are page-locked", most[0], most[1])
	}
	t.Log(most)
}
