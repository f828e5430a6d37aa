package fine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/plan"
)

// maxBitmaps is the most memory that bitmaps of rows may take where nothing else
// is asked for: they are looked at in random order.
const maxBitmaps = 256 << 20

// indexArgs are the arguments of kernels over a candidate graph, besides Run and Graph.
type indexArgs struct {
	Fine       args
	Candidates candidates
	Index      index
	Table      table
}

// makingArgs are the arguments of the kernels that make the candidate graph.
type makingArgs struct {
	Candidates candidates
	Index      index
}

// builder makes a candidate graph on a device.
type builder struct {
	r    *search
	q    *query
	x    *session.Exec
	args makingArgs
	rank cuda.Buffer
	bare cuda.Buffer // words a data vertex
}

// build filters, chooses an order, and makes the rows. out has the addresses that a search over
// them needs. empty says that some pattern vertex has no candidate, so there is no match.
func (r *search) build(x *session.Exec, out *indexArgs) (empty bool, err error) {
	// Compiling is not part of the making.
	if _, err := x.Kernel("fine_search"); err != nil {
		return false, err
	}
	if _, err := x.Tools(); err != nil {
		return false, err
	}
	start := time.Now()
	b := &builder{r: r, q: r.query, x: x}
	s, arcs, err := b.filter()
	if err != nil {
		return false, err
	}
	// Results that a kernel left unfinished, because the run must stop, have no meaning.
	if err := context.Cause(r.ctx); err != nil {
		return false, err
	}
	if r.filtered != nil && x.Index() == 0 {
		for l := range r.filtered {
			r.filtered[l] = []plan.Filtered{{Filter: "candidate graph", Left: uint64(s.Count[l])}}
		}
	}
	if slices.Contains(s.Count[:b.q.n], 0) {
		r.Notes.Add("no vertex passes for one of the pattern's")
		return true, nil
	}
	o, err := orders{b.q, s, arcs}.choose(r.ctx)
	if err != nil {
		return false, err
	}
	p := b.q.plot(s, arcs, o)
	if err := b.rows(p); err != nil {
		return false, err
	}
	out.Candidates, out.Index = b.args.Candidates, b.args.Index
	if out.Table, err = b.table(p); err != nil {
		return false, err
	}
	r.levels, r.blocks = len(p.o.walk), len(p.places)-len(p.o.walk)
	root := p.o.walk[0]
	r.roots = uint64(s.End[root] - s.First[root])
	r.Stats.Add("%s", p.describe(time.Since(start)))
	return false, x.SetTasks(r.roots)
}

// kernel launches one of the kernels of fine/index_kernels.cuh.
func (b *builder) kernel(name string, shared int) error {
	k, err := b.x.Kernel(name)
	if err != nil {
		return err
	}
	threads := blockThreads
	if b.x.Info().Emulated {
		threads = 64
	}
	n, err := k.Resident(threads, shared)
	if err != nil {
		return err
	}
	return prepare(b.r, b.x, k, cuda.Launch{Blocks: max(n, 1), Threads: threads, Shared: shared}, &b.args)
}

// filter makes the candidates and counts them.
func (b *builder) filter() (*survey, []uint64, error) {
	x, c := b.x, b.x.Context()
	n := uint64(b.q.p.Graph.NumVertices())
	if err := b.upload(n); err != nil {
		return nil, nil, err
	}
	a := &b.args.Candidates
	surveyed := bytesOf[survey]()
	found, err := x.Scratch("a summary of candidates", surveyed+8*int64(len(b.q.arcs)))
	if err != nil {
		return nil, nil, err
	}
	a.Survey = found.Ptr
	s := &survey{}
	for i := range s.First {
		s.First[i] = ^uint32(0)
	}
	arcs := make([]uint64, len(b.q.arcs))
	tools, err := x.Tools()
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(cuda.Upload(c, found, 0, []survey{*s}), cuda.Upload(c, found, surveyed, arcs), b.kernel("fine_mark", 0)); err != nil {
		return nil, nil, err
	}
	for a.Round = 0; int(a.Round) < len(s.Changed); a.Round++ {
		if err := b.kernel("fine_refine", 0); err != nil {
			return nil, nil, err
		}
	}
	alive := cuda.Buffer{Ptr: a.Alive, Size: 4 * int64(n)}
	if err := errors.Join(
		b.kernel("fine_alive", 0),
		tools.Offsets(b.rank, alive, n),
		b.kernel("fine_number", 4*4*maxQuery),
		b.kernel("fine_weigh", 8*len(arcs)),
		x.Stream().Synchronize(),
	); err != nil {
		return nil, nil, err
	}
	got := make([]survey, 1)
	err = errors.Join(cuda.Download(c, got, found, 0), cuda.Download(c, arcs, found, surveyed))
	return &got[0], arcs, err
}

// upload brings the conditions onto the device, and takes memory for the survey of data
// vertices.
func (b *builder) upload(n uint64) error {
	w := b.q.conditions()
	var s store
	a := candidates{
		Vertices: put(&s, w.vertices), Spans: put(&s, w.spans), Demands: put(&s, w.demands), Edges: put(&s, w.edges), Near: put(&s, w.near),
		Query: uint32(b.q.n), EdgeCount: uint32(len(w.edges)),
	}
	at, err := s.upload(b.x)
	if err != nil {
		return err
	}
	for _, p := range []*uint64{&a.Vertices, &a.Spans, &a.Demands, &a.Edges, &a.Near} {
		*p += at
	}
	if b.bare, err = b.x.Scratch("candidates", 12*int64(n)); err != nil {
		return err
	}
	if b.rank, err = b.x.Scratch("ranks of candidates", 8*int64(n+1)); err != nil {
		return err
	}
	a.Marks, a.Alive, a.IDs, a.Rank = b.bare.Ptr, b.bare.Ptr+4*n, b.bare.Ptr+8*n, b.rank.Ptr
	b.args.Candidates = a
	return nil
}

// rows makes the rows of a plot, as bitmaps too or as members of a table.
func (b *builder) rows(p *plot) error {
	x, c := b.x, b.x.Context()
	bitmaps := b.r.opt.index == indexBitmap || b.r.opt.index == indexAuto && 4*p.words <= maxBitmaps
	sets := int64(4 * p.words)
	slots := uint64(1)
	for slots < 2*p.members {
		slots *= 2
	}
	if !bitmaps {
		sets = int64(8 * slots)
	}
	bytes := int64(12*p.total+8+4*p.members) + sets
	if p.total >= 1<<32-1 || bytes > x.Room()/2 {
		return fmt.Errorf("%w: it takes %d MB for %d rows", errNotIndexed, bytes>>20, p.total)
	}
	var s store
	at := put(&s, p.rows)
	base, err := s.upload(x)
	if err != nil {
		return err
	}
	sizes, err := x.Scratch("rows of the candidate graph", int64(4*p.total))
	if err != nil {
		return err
	}
	off, err := x.Scratch("rows of the candidate graph", int64(8*(p.total+1)))
	if err != nil {
		return err
	}
	members, err := x.Scratch("the candidate graph", int64(4*max(p.members, 1)))
	if err != nil {
		return err
	}
	lookup, err := x.Scratch("membership in the candidate graph", max(sets, 8))
	if err != nil {
		return err
	}
	i := &b.args.Index
	*i = index{Rows: base + at, Sizes: sizes.Ptr, Off: off.Ptr, Adj: members.Ptr, Slots: slots - 1, Total: p.total, Edges: uint32(len(p.rows))}
	if bitmaps {
		i.Bits = lookup.Ptr
	} else {
		i.Keys = lookup.Ptr
	}
	tools, err := x.Tools()
	if err != nil {
		return err
	}
	return errors.Join(
		c.Clear(lookup, x.Stream()),
		b.kernel("fine_size_rows", 0),
		tools.Offsets(off, sizes, p.total),
		b.kernel("fine_fill_rows", 0),
	)
}

// table brings the table of the search onto the device.
func (b *builder) table(p *plot) (t table, err error) {
	var s store
	t = table{
		Places: put(&s, p.places), Links: put(&s, p.links), Bans: put(&s, p.bans), Groups: put(&s, p.groups), Column: put(&s, p.columns()),
		Levels: uint32(len(p.o.walk)), Blocks: uint32(len(p.places) - len(p.o.walk)), Singles: uint32(p.singles), GroupCount: uint32(len(p.groups)),
		First: p.s.First[p.o.walk[0]],
	}
	at, err := s.upload(b.x)
	for _, a := range []*uint64{&t.Places, &t.Links, &t.Bans, &t.Groups, &t.Column} {
		*a += at
	}
	return t, err
}

// describe says in a sentence which candidate graph was made.
func (p *plot) describe(took time.Duration) string {
	least, most := p.s.Count[0], p.s.Count[0]
	for _, n := range p.s.Count[:p.n] {
		least, most = min(least, n), max(most, n)
	}
	var order []int
	for _, v := range p.o.walk {
		order = append(order, p.p.Levels[v].Vertex)
	}
	return fmt.Sprintf("a candidate graph of %d entries, made in %v: %d to %d candidates a vertex, order %v and %d vertices by arithmetic",
		p.members, took.Round(10*time.Microsecond), least, most, order, p.n-len(order))
}
