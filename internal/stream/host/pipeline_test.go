package host

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/stream/pipeline"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestLawInPipeline is TestLaw with the engine pipeline, whose rings are small and whose batches have any size.
func TestLawInPipeline(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		law(t, 2, func(t *rapid.T, g *dynamic.Graph) nest.Device {
			x, err := pipeline.NewDevice(d, g, pipeline.Options{
				Rows:   rapid.IntRange(1, 100).Draw(t, "rows"),
				Listed: rapid.SampledFrom([]int{0, 1, 10, 30}).Draw(t, "listed"),
				Memory: 1 << rapid.IntRange(12, 16).Draw(t, "memory"),
				ByEdge: rapid.IntRange(0, 3).Draw(t, "by edge") == 0,
				Hash:   rapid.IntRange(0, 2).Draw(t, "hash") == 0,
				Told:   rapid.IntRange(0, 3).Draw(t, "told") == 0,
				Entire: rapid.IntRange(0, 3).Draw(t, "entire") == 0,
				Flowing: pipeline.Flowing{
					Batch: rapid.IntRange(1, 8).Draw(t, "updates"), Window: 64, Queue: 1 << rapid.IntRange(7, 9).Draw(t, "queue"),
					Share: rapid.SampledFrom([]int{-1, 1, 1, 2}).Draw(t, "share"), Shares: rapid.IntRange(1, 4).Draw(t, "shares"),
					Threads: 64, Blocks: rapid.IntRange(2, 3).Draw(t, "blocks"), Wait: -1, Dog: 5 * time.Minute,
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			return x
		}, drawAny)
	})
}

// TestTailInPipeline is TestTail with the engine pipeline.
func TestTailInPipeline(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		tails(t, 12, func(g *dynamic.Graph) nest.Device {
			x, err := pipeline.NewDevice(d, g, pipeline.Options{Flowing: pipeline.Flowing{Threads: 64, Blocks: 2, Wait: -1, Dog: 5 * time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			return x
		})
	})
}

// TestPipelineHubs: long lists that change in each batch, hundreds of updates under way at the same time, a memory that is soon full, and searches that
// many warps share give what the cores find.
func TestPipelineHubs(t *testing.T) {
	const n = 150
	texts := []string{
		"MATCH triangle", "MATCH cycle(4)", "MATCH clique(4)", "MATCH (a)--(b)--(c), NOT (a)--(c)", // and some of which the last two vertices are counted together
		"MATCH star(4)", "MATCH (a)--(b)--(c)--(a), (b)--(d)--(a)",
	}
	full := uint64(0) // how often the memory was
	run := func(t *testing.T, d *cuda.Device, memory int64, share, shares int, hash bool) (out []any) {
		g := hubs(t, n)
		o := Options{Workers: 2}
		var x *pipeline.Device
		if d != nil {
			var err error
			x, err = pipeline.NewDevice(d, g, pipeline.Options{Memory: memory, Hash: hash, Flowing: pipeline.Flowing{
				Window: 256, Wait: -1, Threads: 128, Blocks: 3, Share: share, Shares: shares, Dog: 5 * time.Minute,
			}})
			if err != nil {
				t.Fatal(err)
			}
			o.Device = x
		}
		m := New(g, o)
		defer func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if d == nil {
				return
			}
			if w := x.Totals(); w.Shared > 0 != (share > 0) {
				t.Errorf("%d parts of searches were given away, with a part after %d steps", w.Shared, share)
			}
		}()
		for i, text := range texts {
			if _, err := m.Add(fmt.Sprint(i), parse(t, text), nest.WatchOptions{CountsOnly: i > 1}); err != nil {
				t.Fatal(err)
			}
		}
		r := rand.New(rand.NewPCG(7, 11))
		for _, size := range []int{1, 150, 3, 20} {
			var batch []stream.Update
			for range size {
				op := stream.AddEdge
				if r.IntN(3) == 0 {
					op = stream.RemoveEdge
				}
				batch = append(batch, edge(op, r.Uint64N(2+n/20*r.Uint64N(2)), r.Uint64N(n)))
			}
			found := &lines{}
			res, err := m.Apply(t.Context(), batch, found)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(found.out) // deltas of one update and watch have an order of their own
			out = append(out, res.Counts, found.out)
		}
		if memory > 0 {
			w := x.Totals()
			if full += w.Full; w.Loads != w.Full+1 {
				t.Errorf("%+v, want one load more than times that the memory was full", w)
			}
		}
		return out
	}
	want := run(t, nil, 0, 0, 0, false)
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for _, c := range []struct {
			memory        int64
			share, shares int
			hash          bool
		}{{0, 4, 0, false}, {20 << 10, 2, 2, false}, {0, -1, 0, false}, {0, 4, 0, true}, {0, 2, 2, true}} {
			full = 0
			for try := 0; try == 0 || c.memory > 0 && full == 0 && try < 20; try++ { // if memory is given back early there is room, now and then
				if got := run(t, d, c.memory, c.share, c.shares, c.hash); !reflect.DeepEqual(got, want) {
					t.Errorf("%+v: the device finds\n%v\nand the cores\n%v", c, got, want)
				}
			}
			if c.memory > 0 && full == 0 {
				t.Errorf("%+v: the memory was never full", c)
			}
		}
	})
}

// TestPipelineGroups: the nests of a counted watch are one task for a changed edge, with labels and without, also next to a watch that is listed, and the
// counts are those of the cores. A watch with a condition on the anchor has no groups.
func TestPipelineGroups(t *testing.T) {
	const n = 40
	texts := []string{
		"MATCH (a)--(b)--(c)--(d)", "MATCH (a)--(b)--(c)--(a), (c)--(d)", "MATCH cycle(4)", "MATCH (a:L0)--(b:L1)--(c)--(d:L0)", "MATCH (a:L0)--(b:L0)--(c:L1)",
		"MATCH (a)--(b)--(c) WHERE deg(b) > 3",
	}
	run := func(t *testing.T, d *cuda.Device, listed int) (out []any, tasks uint64) {
		g := dynamic.New(false, false)
		for v := range uint64(n) {
			if _, err := g.AddVertex(dynamic.Num(v), g.Class(fmt.Sprint("L", v%3))); err != nil {
				t.Fatal(err)
			}
		}
		o := Options{Workers: 2}
		var x *pipeline.Device
		if d != nil {
			var err error
			if x, err = pipeline.NewDevice(d, g, pipeline.Options{Flowing: pipeline.Flowing{Window: 64, Wait: -1, Threads: 64, Blocks: 3, Share: 1, Dog: 5 * time.Minute}}); err != nil {
				t.Fatal(err)
			}
			o.Device = x
		}
		m := New(g, o)
		defer func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}()
		for i, text := range texts {
			if _, err := m.Add(fmt.Sprint(i), parse(t, text), nest.WatchOptions{CountsOnly: i != listed}); err != nil {
				t.Fatal(err)
			}
		}
		r := rand.New(rand.NewPCG(3, 5))
		for _, size := range []int{300, 1, 40} {
			var batch []stream.Update
			for range size {
				op := stream.AddEdge
				if r.IntN(3) == 0 {
					op = stream.RemoveEdge
				}
				batch = append(batch, edge(op, r.Uint64N(n), r.Uint64N(n)))
			}
			found := &lines{}
			res, err := m.Apply(t.Context(), batch, found)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(found.out)
			out = append(out, res.Counts, found.out, res.Outcomes.Applied)
		}
		if x != nil {
			tasks = x.Totals().Tasks
		}
		return out, tasks
	}
	applied := func(out []any) (k uint64) {
		for i := 2; i < len(out); i += 3 {
			k += out[i].(uint64)
		}
		return k
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		var asked [2]uint64
		var changes uint64
		for i, listed := range []int{-1, 0} {
			want, _ := run(t, nil, listed)
			got, tasks := run(t, d, listed)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("watch %d is listed: the device finds\n%v\nand the cores\n%v", listed, got, want)
			}
			asked[i], changes = tasks, applied(want)
		}
		// An edge is in a path of four vertices at its middle, or in two ways at an end: three nests, which are one task if they are counted.
		if asked[1] != asked[0]+2*changes {
			t.Errorf("%d tasks, and %d if the path is listed, of %d changes", asked[0], asked[1], changes)
		}
	})
}

// lag is a sink that keeps how many updates were made beyond that of a delta, at most, and up to which update it has all deltas.
type lag struct {
	lines
	made           *uint64
	most, answered uint64
	late           bool // deltas came of updates that were answered
}

func (x *lag) Answered(seq uint64) { x.answered = max(x.answered, seq) }

func (x *lag) Emit(ds []nest.Delta) error {
	for _, d := range ds {
		x.most = max(x.most, *x.made-d.Seq)
		x.late = x.late || d.Seq <= x.answered
	}
	return x.lines.Emit(ds)
}

// TestPipelineOverlaps: the deltas of an update are emitted before the device has got updates that are much later in the same batch. An error of the
// sink or the end of the context in the midst of a batch leaves a matcher that finds what the cores find.
func TestPipelineOverlaps(t *testing.T) {
	const n, window = 60, 64
	refused := errors.New("the sink is full")
	run := func(t *testing.T, d *cuda.Device) (out [][]string) {
		g := hubs(t, n)
		o := Options{Workers: 2}
		if d != nil {
			x, err := pipeline.NewDevice(d, g, pipeline.Options{Flowing: pipeline.Flowing{Window: window, Wait: -1, Blocks: 2, Dog: 5 * time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			o.Device = x
		}
		m := New(g, o)
		defer func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}()
		if _, err := m.Add("wedge", parse(t, "MATCH (a)--(b)--(c)"), nest.WatchOptions{}); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(13, 17))
		m.SetSeq(0)
		made := uint64(0)
		for _, how := range []string{"whole", "refused", "whole", "cancelled", "whole"} {
			size := 5 * window
			if how == "whole" && made > 0 {
				size = window / 2
			}
			ctx, cancel := context.WithCancel(t.Context())
			found := &lag{made: &made}
			if how == "refused" {
				found.stop = func(int) error { return refused }
			}
			first := made
			res, err := m.apply(ctx, size, func(i int) (dynamic.Result, error) {
				if how == "cancelled" && i == size/2 {
					cancel()
				}
				made++
				u := edge(stream.AddEdge, r.Uint64N(n), r.Uint64N(n))
				if r.IntN(3) == 0 {
					u = edge(stream.RemoveEdge, r.Uint64N(2), r.Uint64N(n))
				}
				return stream.Apply(g, &u)
			}, found)
			cancel()
			switch want := map[string]error{"refused": refused, "cancelled": context.Canceled}[how]; {
			case res.Updates != size || made != first+uint64(size):
				t.Fatalf("%s: %d of %d updates were made", how, res.Updates, size)
			case d != nil && !errors.Is(err, want):
				t.Fatalf("%s: %v, want %v", how, err, want)
			}
			if found.late || how == "whole" && found.answered != made {
				t.Errorf("%s: %d of %d updates are answered; deltas come late: %v", how, found.answered, made, found.late)
			}
			if how == "whole" {
				slices.Sort(found.out)
				out = append(out, found.out)
			}
			// The host's ring and the device's window are full, and few updates are on their way to and from them.
			if most := uint64(2*window + 4*coarse.portion); d != nil && how == "whole" && found.most > most {
				t.Errorf("the deltas of an update are emitted after %d more, want at most %d", found.most, most)
			}
		}
		return out
	}
	want := run(t, nil)
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		if got := run(t, d); !reflect.DeepEqual(got, want) {
			t.Errorf("the device finds\n%v\nand the cores\n%v", got, want)
		}
	})
}
