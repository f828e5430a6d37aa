package weft

import (
	"context"
	"math"
	"math/big"
	"time"

	"github.com/weftgraph/weft/internal/choose"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/pattern"
)

// oneProgram says whether the motifs of k vertices are to be counted by one
// generated program, and where: codegen was asked for, with nothing that programs
// of Matcha do not know, and no number in the program passes 64 bits.
func (g *Graph) oneProgram(k int, s *settings) (device string, ok bool) {
	if s.engine != choose.Codegen || len(s.opts) > 0 || s.limit > 0 || s.mode != nil && *s.mode != pattern.Iso {
		return "", false
	}
	device = choose.CodegenDevice(s.device)
	return device, choose.GPUs(device) <= 1 && g.starMaps(k) < 1<<62
}

// starMaps is the number of homomorphisms from the star of k vertices, of which no
// tree of k vertices has more (Sidorenko, A partially ordered set of functionals
// corresponding to graphs, 1994), and so no connected pattern: a bound for what
// counting one needs, before symmetries are divided out.
func (g *Graph) starMaps(k int) (n float64) {
	adj := g.g.Any()
	for v := range g.g.NumVertices() {
		n += math.Pow(float64(adj.Off[v+1]-adj.Off[v]), float64(k-1))
	}
	return n
}

// motifProgram counts all motifs of k vertices by one Matcha program, of whose time
// each has its share.
func (g *Graph) motifProgram(ctx context.Context, k int, qs []*Query, s *settings, device string, options []Option) (out []Result, err error) {
	if err := choose.CheckNames(s.engine, s.device); err != nil {
		return nil, classify(err)
	}
	start := time.Now()
	early, _ := choose.Waited()
	m, err := g.MotifsMatcha(ctx, k, options...)
	if err != nil {
		return nil, err
	}
	planned := time.Since(start)
	target := schedule.C
	on := "cpu"
	if choose.OnGPU(device) {
		target = schedule.CUDA
		session, err := choose.Session(device, s.gpuMemory)
		if err != nil {
			return nil, classify(err)
		}
		on = session.String()
	}
	ran, err := m.Run(ctx, map[string]any{"G": g}, nil, append(options, WithTarget(string(target)), WithDevice(device))...)
	driver, devices := choose.Waited()
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	share := func(d time.Duration) time.Duration { return d / time.Duration(len(qs)) }
	total := share(early + time.Since(start))
	memory := peakMemory()
	for i, q := range qs {
		p, err := q.pattern(s)
		if err != nil {
			return nil, err
		}
		aut := p.Automorphisms().Order()
		var n *big.Int
		if ran.Complete {
			n = new(big.Int).Mul(big.NewInt(ran.Values[i].(int64)), aut)
		}
		r := g.formulaResult(q, p, aut, n)
		r.Engine, r.Device, r.Method, r.Reason = choose.Codegen, on, "program", "asked for by name; one program counts all motifs"
		r.Open, r.Plan = early+driver+devices, share(planned+ran.Times.FrontEnd)
		r.Prepare, r.Search = share(ran.Times.Prepare+ran.Times.Compile), share(ran.Times.Search)
		r.Total, r.PeakMemory = g.load+total, memory
		out = append(out, r)
	}
	return out, err
}
