package weft

import (
	"context"
	"errors"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/runtime"
)

// oneProgram says whether the motifs of k vertices are to be counted by one
// generated program, and where: codegen was asked for, with nothing that programs
// of Matcha do not know, and no number in the program passes 64 bits. On a GPU
// motifs of five vertices are counted one by one, each by a plan of its own: that
// took a third of the program's time, compilation of all 21 included (docs/gpu.md).
func (g *Graph) oneProgram(ctx context.Context, k int, s *settings) (device string, ok bool) {
	if s.engine != route.Codegen || len(s.opts) > 0 || s.limit > 0 || s.mode != nil && *s.mode != pattern.Iso {
		return "", false
	}
	device = route.CodegenDevice(ctx, g.rt.r, s.device)
	gpus := runtime.GPUs(device)
	return device, (gpus == 0 || gpus == 1 && k < 5) && g.starMaps(k) < 1<<62
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

// partsProgram is the program of the library that counts the motifs of four
// vertices, induced, by arithmetic over numbers of smaller parts, for g. Programs
// see an input graph with its directions, which motifs do not look at.
func (g *Graph) partsProgram() (*Matcha, error) {
	f, err := library.Parse("motifs4_parts")
	if err != nil {
		return nil, err
	}
	const input = "input G: Graph\n"
	text := syntax.Format(f)
	if g.g.Directed {
		text = strings.Replace(text, input, "input H: Graph\nlet G = subgraph(H, '(a)--(b)')\n", 1)
	}
	return g.rt.ParseMatcha("", text)
}

// copies4 is how many subgraphs like the motif of the column have the vertices of
// each induced motif of the line, for motifs of four vertices in the order of
// motifs(4): path, star, cycle, triangle with a tail, diamond, clique.
var copies4 = [6][6]int64{
	{1, 0, 0, 0, 0, 0},
	{0, 1, 0, 0, 0, 0},
	{4, 0, 1, 0, 0, 0},
	{2, 1, 0, 1, 0, 0},
	{6, 2, 1, 4, 1, 0},
	{12, 4, 3, 12, 6, 1},
}

// allSubgraphs is the numbers of all subgraphs like motifs of four vertices, of
// those of the induced ones.
func allSubgraphs(induced []*big.Int) (out []*big.Int) {
	for q := range copies4 {
		sum := new(big.Int)
		for p, n := range induced {
			sum.Add(sum, new(big.Int).Mul(n, big.NewInt(copies4[p][q])))
		}
		out = append(out, sum)
	}
	return out
}

// motifProgram counts all motifs of k vertices by one Matcha program, of whose time
// each has its share: those of four vertices by their parts, unless there is no
// memory for a number of each vertex on each worker, others in one pass.
func (g *Graph) motifProgram(ctx context.Context, k int, qs []*Query, s *settings, device string) (out []Result, err error) {
	if err := route.CheckNames(ctx, g.rt.r, s.engine, s.device); err != nil {
		return nil, classify(err)
	}
	start := time.Now()
	early := g.rt.r.Early()
	var waits runtime.Waits
	byParts := k == 4 && !s.ordered()
	var m *Matcha
	if byParts {
		m, err = g.partsProgram()
	} else {
		m, err = g.motifsMatcha(ctx, k, qs, s)
	}
	if err != nil {
		return nil, err
	}
	planned := time.Since(start)
	target := schedule.C
	on := "cpu"
	if runtime.OnGPU(device) {
		target = schedule.CUDA
		session, err := g.rt.r.Session(ctx, device, s.gpuMemory, &waits)
		if err != nil {
			return nil, classify(err)
		}
		on = session.String()
	}
	there := *s
	there.target, there.device = string(target), device
	run := func() (MatchaResult, error) {
		return m.run(ctx, g.rt, map[string]any{m.Inputs()[0].Name: g}, nil, &there)
	}
	ran, err := run()
	if byParts && errors.Is(err, ErrMemory) {
		byParts = false
		if m, err = g.motifsMatcha(ctx, k, qs, s); err != nil {
			return nil, err
		}
		ran, err = run()
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	share := func(d time.Duration) time.Duration { return d / time.Duration(len(qs)) }
	total := share(early + time.Since(start))
	memory := peakMemory()
	var counts []*big.Int
	for _, v := range ran.Values {
		counts = append(counts, big.NewInt(v.(int64)))
	}
	if byParts && ran.Complete && !*s.induced {
		counts = allSubgraphs(counts)
	}
	for i, q := range qs {
		p, err := q.pattern(s)
		if err != nil {
			return nil, err
		}
		aut := p.Automorphisms().Order()
		var n *big.Int
		if ran.Complete {
			n = new(big.Int).Mul(counts[i], aut)
		}
		r := g.formulaResult(q, p, aut, n)
		r.Engine, r.Device, r.Method, r.Reason = route.Codegen, on, "program", "asked for by name; one program counts all motifs"
		r.Open, r.Plan = early+waits.Driver+waits.Devices, share(planned+ran.Times.FrontEnd)
		r.Prepare, r.Search = share(ran.Times.Prepare+ran.Times.Compile), share(ran.Times.Search)
		r.Total, r.PeakMemory = g.load+total, memory
		out = append(out, r)
	}
	return out, err
}
