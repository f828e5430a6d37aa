package watch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/cached"
	"github.com/weftgraph/weft/internal/stream/host"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/stream/pipeline"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/vfs"
)

// TestDeviceLost: a service whose GPU is lost, at any of its calls, ends with an error. One that continues from the state, on the cores or on another
// GPU, writes what one without a fault writes.
func TestDeviceLost(t *testing.T) {
	for name, engine := range map[string]func(d *cuda.Device, g *dynamic.Graph) (nest.Device, error){
		"cached": func(d *cuda.Device, g *dynamic.Graph) (nest.Device, error) {
			return cached.New(d, g, cached.Options{Threads: 32, Blocks: 1})
		},
		"pipeline": func(d *cuda.Device, g *dynamic.Graph) (nest.Device, error) {
			return pipeline.NewDevice(d, g, pipeline.Options{Flowing: pipeline.Flowing{Threads: 64, Blocks: 2, Dog: 5 * time.Minute}})
		},
	} {
		batch := map[string]int{"cached": 8, "pipeline": 20}[name] // a pipeline gets the first ones of 20 while others are made
		t.Run(name, func(t *testing.T) { deviceLost(t, batch, engine) })
	}
}

func deviceLost(t *testing.T, batch int, engine func(d *cuda.Device, g *dynamic.Graph) (nest.Device, error)) {
	text := randomStream(2, 24)
	want, _ := follow(t, text, Options{Batch: 8})
	run := func(dir string, f *cuda.Faults) error {
		st, err := OpenState(vfs.OS{}, filepath.Join(dir, "state"))
		if err != nil {
			t.Fatal(err)
		}
		g, seq, _ := st.Graph()
		if g == nil {
			g = dynamic.New(false, false)
		}
		o := Options{
			Source: open(t, text), Policy: stream.Skip, Batch: batch, Sinks: []Sink{NewFile(vfs.OS{}, filepath.Join(dir, "out"), "ndjson")}, State: st, Snapshot: 10, From: seq,
		}
		ho := host.Options{Workers: 2}
		if f != nil {
			f.Backend = device.Backend(t, emu.Options{})
			d, err := cuda.New(f, device.Objects().Images)
			if err != nil {
				return err
			}
			defer d.Close()
			x, err := engine(d, g)
			if err != nil {
				return err
			}
			ho.Device = x
		}
		m := host.New(g, ho)
		o.Set = NewSet(g, m, 0)
		if err = tryQueries(t, o.Set, queries); err == nil {
			_, err = Run(t.Context(), o)
		}
		if closed := o.Set.Close(); err == nil {
			err = closed
		}
		return err
	}
	whole := t.TempDir()
	none := &cuda.Faults{}
	if err := run(whole, none); err != nil {
		t.Fatal(err)
	}
	step := 1
	if testing.Short() {
		step = 9
	}
	failed := 0
	for n := 1; n < none.Calls(); n += step {
		dir := t.TempDir()
		err := run(dir, &cuda.Faults{LoseAfter: n})
		if err != nil {
			failed++
			if !errors.Is(err, cuda.ErrLost) {
				t.Errorf("lost after %d calls: %v", n, err)
			}
			var other *cuda.Faults
			if n%2 == 0 {
				other = &cuda.Faults{}
			}
			if err := run(dir, other); err != nil {
				t.Errorf("lost after %d calls, and then %v", n, err)
			}
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "out")); string(got) != want {
			t.Errorf("lost after %d calls, %v:\n%s\nwant\n%s", n, err, got, want)
		}
	}
	if failed < 3 {
		t.Errorf("%d errors of %d calls", failed, none.Calls())
	}
}
