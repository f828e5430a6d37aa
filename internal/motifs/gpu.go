package motifs

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/gpu/census"
	"github.com/weftgraph/weft/internal/graph"
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

// gpuThree counts motifs of three vertices: a search counts triangles on GPUs, and the degrees do the rest. Why: engines count triangles
// alone faster than a census does, which looks at each edge from both ends.
func (f *family) gpuThree(ctx context.Context) ([]search.Result, error) {
	out := make([]search.Result, len(f.ps))
	wedge, triangle := 0, 1
	if len(f.ps[0].Edges) == 3 {
		wedge, triangle = 1, 0
	}
	r, err := f.g.Count(ctx, f.qs[triangle])
	if r.Embeddings == nil {
		return nil, err
	}
	start := time.Now()
	var n *big.Int
	if r.Complete {
		var late error
		if n, late = wedges(ctx, f.g.Data.Flat(f.g.Data.Any()), f.s.Workers()); late != nil {
			n, err = nil, search.Classify(late)
		}
	}
	why := "degrees count wedges"
	if n != nil {
		if f.ps[wedge].Induced {
			n.Sub(n, new(big.Int).Mul(big.NewInt(3), r.Subgraphs))
			why += ", and the triangles that a GPU counted are subtracted"
		}
		n.Mul(n, f.ps[wedge].Automorphisms().Order())
	}
	out[triangle], out[wedge] = r, f.result(wedge, n)
	w := &out[wedge]
	w.Reason = why
	w.Search, w.PeakMemory = time.Since(start), r.PeakMemory
	w.Total = w.Search
	return out, err
}

// wedges is the number of pairs of edges with a vertex in common. The error is the context's.
func wedges(ctx context.Context, lists *graph.CSR, threads int) (*big.Int, error) {
	var mu sync.Mutex
	var all engine.Uint128
	err := graph.Parallel(ctx, lists.Off, threads, func(lo, hi uint32) {
		var sum engine.Uint128
		for v := lo; v < hi; v++ {
			if d := uint64(lists.Degree(v)); d > 1 {
				sum = sum.Add64(d * (d - 1) / 2)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		all = all.Add(sum)
	})
	return all.Big(), err
}

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
