package engine

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Rows hands assignments of vertices to a sink as matches. If the plan has edge choices, each
// assignment is one match for every way to choose the data edges, perhaps none. Engines that
// find vertices on a device leave these choices to Rows.
type Rows struct {
	p     *plan.Plan
	sink  Sink
	limit uint64

	taken atomic.Uint64 // matches, with those past the limit
	free  sync.Pool     // of *chooser
}

// NewRows returns the Rows of a run. Of plans with edge choices it hands over at
// most limit matches, 0: all; for others the limit is the engine's business.
func NewRows(p *plan.Plan, sink Sink, limit int64) *Rows {
	return &Rows{p: p, sink: sink, limit: uint64(max(limit, 0))}
}

// Chooses reports whether assignments and matches differ in number. Limits and totals are then
// those of Rows.
func (r *Rows) Chooses() bool { return len(r.p.Edges) > 0 }

// Matches is how many matches the sink got, of a plan with edge choices.
func (r *Rows) Matches() uint64 {
	n := r.taken.Load()
	if r.limit > 0 {
		n = min(n, r.limit)
	}
	return n
}

// Hand takes rows of vertices, by pattern vertex, one after the other. It returns ErrStop once
// it has handed on the wanted number of matches, or the sink's error.
func (r *Rows) Hand(worker int, rows []uint32) error {
	width := len(r.p.Levels)
	if !r.Chooses() {
		return r.sink.Emit(worker, &Batch{Rows: len(rows) / width, Width: width, Vertices: rows})
	}
	c, _ := r.free.Get().(*chooser)
	if c == nil {
		c = &chooser{r: r, m: make([]uint32, width), e: make([]uint64, len(r.p.Edges))}
		c.batch.Width, c.batch.EdgeWidth = width, len(c.e)
	}
	defer r.free.Put(c)
	c.worker, c.err = worker, nil
	for ; len(rows) > 0 && c.err == nil; rows = rows[width:] {
		c.row = rows[:width]
		for v, l := range r.p.LevelOf {
			c.m[l] = c.row[v]
		}
		c.choose(0)
	}
	if err := c.flush(); err != nil {
		return err
	}
	return c.err
}

// chooser is one worker's way through the data edges of an assignment.
type chooser struct {
	r      *Rows
	worker int
	row    []uint32 // by pattern vertex
	m      []uint32 // by level
	e      []uint64
	batch  Batch
	err    error
}

// chooserRows is how many matches are handed over at once.
const chooserRows = 1024

// choose binds the edges from i on.
func (c *chooser) choose(i int) {
	if i == len(c.e) {
		c.match()
		return
	}
	edge := &c.r.p.Edges[i]
	edge.Rows(c.m[edge.From], c.m[edge.To], func(id uint64) bool {
		if c.r.p.Mode == pattern.Trail && slices.Contains(c.e[:i], id) {
			return true
		}
		c.e[i] = id
		for k := range edge.Checks {
			if !edge.Checks[k].Eval(c.m, c.e) {
				return true
			}
		}
		c.choose(i + 1)
		return c.err == nil
	})
}

func (c *chooser) match() {
	n := c.r.taken.Add(1)
	if c.r.limit > 0 && n > c.r.limit {
		c.err = ErrStop
		return
	}
	b := &c.batch
	b.Vertices, b.Edges = append(b.Vertices, c.row...), append(b.Edges, c.e...)
	if b.Rows++; b.Rows == chooserRows {
		c.err = c.flush()
	}
	if c.err == nil && n == c.r.limit {
		c.err = ErrStop
	}
}

func (c *chooser) flush() error {
	b := &c.batch
	if b.Rows == 0 {
		return nil
	}
	err := c.r.sink.Emit(c.worker, b)
	b.Rows, b.Vertices, b.Edges = 0, b.Vertices[:0], b.Edges[:0]
	return err
}
