package motifs

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/gpu/census"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
)

// gpuCensus reports whether a census on the GPUs asked for counts the motifs. Nothing may be asked for that only a search for
// each motif knows.
func gpuCensus(s *setting.Settings) bool {
	if !runtime.OnGPU(s.Device) || s.Engine != "" && s.Engine != "auto" {
		return false
	}
	alone := *s
	alone.Device, alone.Switches = "", nil
	for name := range s.Switches {
		if name != gpu.Census {
			return false
		}
	}
	v, err := gpu.Options.Read(s.Switches)
	return err == nil && v.On(gpu.Census) && !oneByOne(&alone)
}

// errNoCensus is the error of a census that is not possible: each motif is counted for itself.
type errNoCensus struct{ why string }

func (e *errNoCensus) Error() string { return e.why }

// gpuCensus counts all motifs in one pass on GPUs, of whose time each has its share. The error is an *errNoCensus, and there are
// no results, if the graph or the memory of the GPUs does not permit it.
func (f *family) gpuCensus(ctx context.Context) ([]search.Result, error) {
	lists := f.g.Data.Flat(f.g.Data.Any())
	ctx, stop := memory.Watch(ctx, f.s.Memory)
	defer stop()
	start := time.Now()
	rt := f.g.Runtime
	early := rt.Early()
	var waits runtime.Waits
	s, err := rt.Session(ctx, f.s.Device, f.s.GPUMemory, &waits)
	if err != nil {
		return nil, search.Classify(err)
	}
	got, err := census.Motifs(ctx, s, f.g.Data, lists, f.ps, census.Options{Memory: f.s.Memory, Progress: f.s.Searching()})
	if cause := memory.Cause(ctx); cause != nil {
		return nil, cause
	}
	if errors.Is(err, session.ErrShort) || errors.Is(err, census.ErrDegree) {
		return nil, &errNoCensus{fmt.Sprintf("a census of all motifs was not possible: %v", err)}
	}
	if err != nil && ctx.Err() == nil {
		return nil, search.Classify(err)
	}
	share := func(d time.Duration) time.Duration { return d / time.Duration(len(f.qs)) }
	total := share(early + time.Since(start))
	peak := search.PeakMemory()
	var out []search.Result
	for i, p := range f.ps {
		var n *big.Int
		if err == nil {
			n = got.Counts[i].Mul(got.Counts[i], p.Automorphisms().Order())
		}
		r := f.result(i, n)
		r.Engine, r.Device, r.Method, r.Reason = "census", s.String(), "census", "passes over the vertices count all motifs"
		r.Open = early + waits.Driver + waits.Devices
		r.Prepare, r.Search = share(got.Upload+got.Prepare+got.Compile), share(got.Search)
		r.Total, r.PeakMemory = total, peak
		if i == 0 {
			r.Stats = got.Stats
		}
		out = append(out, r)
	}
	return out, search.Classify(err)
}
