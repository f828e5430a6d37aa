package route

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/stream/cached"
	"github.com/weftgraph/weft/internal/stream/host"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/stream/pipeline"
)

// WatchRequest says which graph is watched, and by which engine.
type WatchRequest struct {
	Runtime        *runtime.Runtime
	Engine, Device string // "" and auto: Watch chooses
	Graph          *dynamic.Graph
	Workers        int   // threads; 0: as many as there are cores
	Memory         int64 // bytes; 0: what there is
	GPUMemory      int64 // bytes of lists on a GPU; 0: half of what is free
	Batch          int   // updates that are made together at most; 0: that is not known
	Switches       map[string]string
}

// WatchChoice is a matcher of a graph's updates. The caller closes it.
type WatchChoice struct {
	nest.Matcher
	Engine, Reason string // Reason is "" for an engine that was asked for
}

// watchEngine is an engine that matches the updates of a graph.
type watchEngine struct {
	Description
	switches option.Table
	make     func(ctx context.Context, r *WatchRequest) (nest.Matcher, error)
}

var watchEngines = []watchEngine{
	{Description{"host", "all cores of this machine"}, host.Switches, func(_ context.Context, r *WatchRequest) (nest.Matcher, error) {
		o, err := host.Read(r.Switches)
		if err != nil {
			return nil, err
		}
		o.Workers = r.Workers
		return host.New(r.Graph, o), nil
	}},
	{Description{"cached", "a GPU that reads the graph in host memory, and has a copy of what it reads most (GCSM)"}, cached.Switches, newCached},
	{Description{"pipeline", "a GPU that holds the graph in several versions, and updates and searches it at the same time (DCSM)"}, pipeline.Switches, newPipeline},
}

// newCached returns a matcher whose nests a GPU searches.
func newCached(ctx context.Context, r *WatchRequest) (nest.Matcher, error) {
	o, err := cached.Read(r.Switches)
	if err != nil {
		return nil, err
	}
	o.Memory, o.HostMemory = r.GPUMemory, r.Memory
	return watchOnGPU(ctx, r, func(d *cuda.Device) (nest.Device, error) { return cached.New(d, r.Graph, o) })
}

// newPipeline is newCached for another engine.
func newPipeline(ctx context.Context, r *WatchRequest) (nest.Matcher, error) {
	o, err := pipeline.Read(r.Switches)
	if err != nil {
		return nil, err
	}
	o.Memory = r.GPUMemory
	return watchOnGPU(ctx, r, func(d *cuda.Device) (nest.Device, error) { return pipeline.NewDevice(d, r.Graph, o) })
}

// watchOnGPU opens the GPU that is asked for, and returns a matcher with the device that make makes of it.
func watchOnGPU(ctx context.Context, r *WatchRequest, make func(d *cuda.Device) (nest.Device, error)) (nest.Matcher, error) {
	var w runtime.Waits
	defer func() { r.Runtime.Waited(w) }()
	d, err := r.Runtime.OpenOne(ctx, r.Device, &w)
	if err != nil {
		return nil, err
	}
	x, err := make(d)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &onGPUMatcher{host.New(r.Graph, host.Options{Workers: r.Workers, Device: x}), d}, nil
}

// onGPUMatcher is a matcher that owns a GPU.
type onGPUMatcher struct {
	*host.Matcher
	d *cuda.Device
}

func (m *onGPUMatcher) Close() error { return errors.Join(m.Matcher.Close(), m.d.Close()) }

// WatchOptions are the switches of engines of watches.
func WatchOptions() (out option.Table) {
	for i := range watchEngines {
		out = append(out, watchEngines[i].switches...)
	}
	return out
}

// WatchEngines lists the engines of watches.
func WatchEngines() []Description {
	var out []Description
	for i := range watchEngines {
		out = append(out, watchEngines[i].Description)
	}
	return out
}

// CheckWatch returns an error that wraps ErrName if no engine of watches has the name. "" and auto are right.
func CheckWatch(name string) error {
	if name == "" || name == "auto" || slices.ContainsFunc(watchEngines, func(e watchEngine) bool { return e.Name == name }) {
		return nil
	}
	var names []string
	for i := range watchEngines {
		names = append(names, watchEngines[i].Name)
	}
	msg := fmt.Sprintf("engine %q: want auto, %s", name, strings.Join(names, ", "))
	if s := pattern.Suggest(name, names); s != "" {
		msg += "; did you mean " + s + "?"
	}
	return fmt.Errorf("%w: %s", ErrName, msg)
}

// Watch returns a matcher by the engine that is asked for, by name or by a switch of it. With "" and auto it is the one that suits the graph.
func Watch(ctx context.Context, r WatchRequest) (c WatchChoice, err error) {
	if err := CheckWatch(r.Engine); err != nil {
		return c, err
	}
	c.Engine = r.Engine
	for name, value := range r.Switches {
		of := option.Owner(name)
		switch err := WatchOptions().Check(name, value); {
		case err != nil:
			return c, fmt.Errorf("%w %s: %w", engine.ErrOption, name, err)
		case c.Engine == "" || c.Engine == "auto":
			c.Engine = of
		case c.Engine != of:
			return c, fmt.Errorf("%w %s: the engine asked for is %s", engine.ErrOption, name, c.Engine)
		}
	}
	if c.Engine == "" || c.Engine == "auto" {
		c.Engine, c.Reason = autoWatch(ctx, &r, leastEdges)
	}
	if c.Engine == "host" && runtime.OnGPU(r.Device) {
		return c, fmt.Errorf("%w: engine host of watches does not run on %s", ErrName, r.Device)
	}
	if c.Engine != "host" && r.Device == "cpu" {
		return c, fmt.Errorf("%w: engine %s runs on GPUs, not on cpu", ErrName, c.Engine)
	}
	i := slices.IndexFunc(watchEngines, func(e watchEngine) bool { return e.Name == c.Engine })
	c.Matcher, err = watchEngines[i].make(ctx, &r)
	return c, err
}

// What auto asks of a graph and of batches before it takes a GPU. A launch, and the copies before it, take as long as many searches of
// edges on a core, so few updates are answered sooner there. The numbers are guesses so far, and cautious ones.
const (
	leastEdges = 1 << 27 // their lists have 1 GiB
	leastBatch = 1 << 10
)

// autoWatch chooses an engine, and gives the reason. least is the number of edges from which a GPU is tried.
func autoWatch(ctx context.Context, r *WatchRequest, least uint64) (engine, reason string) {
	if runtime.OnGPU(r.Device) {
		return "cached", r.Device + " was asked for"
	}
	if r.Device == "cpu" {
		return "host", "cpu was asked for"
	}
	edges := r.Graph.NumEdges()
	switch {
	case edges < least:
		return "host", fmt.Sprintf("the graph has %d edges, and a GPU is tried from %d on", edges, least)
	case r.Batch == 0:
		return "host", "how many updates come at a time is not known"
	case r.Batch < leastBatch:
		return "host", fmt.Sprintf("at most %d updates are made together, of which a GPU wants %d", r.Batch, leastBatch)
	}
	// An edge is in the lists of both ends, which have room for as much again.
	if need, left := 16*edges, memory.Left(r.Memory); need > left {
		return "host", fmt.Sprintf("lists for a GPU would take %s of memory, and %s are left", memory.Text(need), memory.Text(left))
	}
	if n, err := r.Runtime.Count(ctx); err != nil {
		return "host", fmt.Sprintf("no GPU: %v", err)
	} else if n == 0 {
		return "host", "no GPU"
	}
	return "cached", fmt.Sprintf("the graph has %d edges, and up to %d updates are made together", edges, r.Batch)
}
