package motifs

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/program"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
)

// MatchaText writes a program that counts every connected pattern of k vertices of a graph without
// directions in one pass.
func MatchaText(ctx context.Context, g *search.Graph, k int, s *setting.Settings) (string, error) {
	if g.Data.Directed && !s.Undirected {
		return "", kind.With(kind.Usage, errors.New("a program of motifs does not look at directions: leave them out (--no-directions, WithDirections(false))"))
	}
	f, err := newFamily(g, k, false, s)
	if err != nil {
		return "", err
	}
	return f.text(ctx)
}

// text is MatchaText.
func (f *family) text(ctx context.Context) (string, error) {
	what := "subgraphs"
	if *f.s.Induced {
		what = "induced subgraphs"
	}
	return f.g.ForestText(ctx, fmt.Sprintf("# Motifs of %d vertices, all of them in one pass: %s.", f.k, what), f.qs)
}

// oneProgram decides whether one generated program counts the motifs, and on which device. It
// does if codegen was asked for, without an option that programs of Matcha do not have, and if no
// number in the program passes 64 bits. On a GPU motifs of five vertices are counted one by one,
// each by its own plan. Why: that took a third of the program's time, including the compilation
// of all 21 plans (docs/gpu.md).
func (f *family) oneProgram(ctx context.Context) (device string, ok bool) {
	s := f.s
	if s.Engine != route.Codegen || len(s.Switches) > 0 || s.Limit > 0 || s.Mode != nil && *s.Mode != pattern.Iso {
		return "", false
	}
	device = route.CodegenDevice(ctx, f.g.Runtime, s.Device)
	gpus := runtime.GPUs(device)
	return device, (gpus == 0 || gpus == 1 && f.k < 5) && library.StarMaps(f.g.Data, f.k) < 1<<62
}

// parts returns the program that counts motifs of four or five vertices by their parts.
func (f *family) parts() (*program.Program, error) {
	text, err := library.MotifsByParts(f.k, f.g.Data.Directed)
	if err != nil {
		return nil, err
	}
	return program.Parse("", text)
}

// pass returns the program that counts all motifs in one pass.
func (f *family) pass(ctx context.Context) (*program.Program, error) {
	text, err := f.text(ctx)
	if err != nil {
		return nil, err
	}
	return program.Parse("", text)
}

// program counts all motifs by one Matcha program, and gives each motif its share of the time.
// It counts motifs of four vertices, and induced motifs of five, by their parts if memory suffices: each worker needs
// numbers for each vertex. It counts all others in one pass.
func (f *family) program(ctx context.Context, device string) (out []search.Result, err error) {
	rt := f.g.Runtime
	if err := route.CheckNames(ctx, rt, f.s.Engine, f.s.Device); err != nil {
		return nil, search.Classify(err)
	}
	start := time.Now()
	early := rt.Early()
	var waits runtime.Waits
	byParts := (f.k == 4 || f.k == 5 && *f.s.Induced) && !f.s.Ordered()
	var m *program.Program
	if byParts {
		m, err = f.parts()
	} else {
		m, err = f.pass(ctx)
	}
	if err != nil {
		return nil, err
	}
	planned := time.Since(start)
	there := *f.s
	there.Target, there.Device = string(schedule.C), device
	on := "cpu"
	if runtime.OnGPU(device) {
		there.Target = string(schedule.CUDA)
		session, err := rt.Session(ctx, device, f.s.GPUMemory, &waits)
		if err != nil {
			return nil, search.Classify(err)
		}
		on = session.String()
	}
	run := func() (program.Result, error) {
		return m.Run(ctx, rt, map[string]any{m.Inputs()[0].Name: f.g.Graph}, nil, &there)
	}
	ran, err := run()
	if byParts && kind.Of(err) == kind.Memory {
		byParts = false
		if m, err = f.pass(ctx); err != nil {
			return nil, err
		}
		ran, err = run()
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	share := func(d time.Duration) time.Duration { return d / time.Duration(len(f.qs)) }
	total := share(early + time.Since(start))
	peak := search.PeakMemory()
	var counts []*big.Int
	for _, v := range ran.Values {
		counts = append(counts, big.NewInt(v.(int64)))
	}
	if byParts && ran.Complete && !*f.s.Induced {
		counts = library.AllSubgraphs(counts)
	}
	for i, p := range f.ps {
		var n *big.Int
		if ran.Complete {
			n = new(big.Int).Mul(counts[i], p.Automorphisms().Order())
		}
		r := f.result(i, n)
		r.Engine, r.Device, r.Method, r.Reason = route.Codegen, on, "program", "asked for by name; one program counts all motifs"
		r.Open, r.Plan = early+waits.Driver+waits.Devices, share(planned+ran.FrontEnd)
		r.Prepare, r.Search = share(ran.Prepare+ran.Compile), share(ran.Search)
		r.Total, r.PeakMemory = total, peak
		out = append(out, r)
	}
	return out, err
}
