package host

import (
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// emitter gathers one worker's matches into batches for the sink.
type emitter struct {
	p     *plan.Plan
	id    int
	sink  engine.Sink
	batch engine.Batch
}

// batchRows bounds the memory of a listing and how late a match is seen.
const batchRows = 1024

func newEmitter(p *plan.Plan, id int, sink engine.Sink) *emitter {
	e := &emitter{p: p, id: id, sink: sink}
	e.batch.Width, e.batch.EdgeWidth = len(p.Levels), len(p.Edges)
	e.batch.Vertices = make([]uint32, 0, batchRows*e.batch.Width)
	e.batch.Edges = make([]uint64, 0, batchRows*e.batch.EdgeWidth)
	return e
}

func (e *emitter) add(m []uint32, edges []uint64) error {
	b := &e.batch
	n := len(b.Vertices)
	b.Vertices = b.Vertices[:n+b.Width]
	row := b.Vertices[n:]
	for v, l := range e.p.LevelOf {
		row[v] = m[l]
	}
	b.Edges = append(b.Edges, edges...)
	if b.Rows++; b.Rows == batchRows {
		return e.flush()
	}
	return nil
}

func (e *emitter) flush() error {
	b := &e.batch
	if b.Rows == 0 {
		return nil
	}
	err := e.sink.Emit(e.id, b)
	b.Rows, b.Vertices, b.Edges = 0, b.Vertices[:0], b.Edges[:0]
	return err
}

// leaf takes a complete assignment of vertices.
func (w *worker) leaf() {
	if len(w.pr.p.Edges) > 0 {
		w.chooseEdge(0)
		return
	}
	w.match()
}

func (w *worker) match() {
	if w.out != nil {
		if !w.limit.claim() {
			return
		}
		if err := w.out.add(w.m[:], w.e); err != nil {
			w.s.Fail(err)
		}
	}
	w.count = w.count.Add64(1)
}

// chooseEdge binds pattern edges i, i+1, … of Plan.Edges to data edges.
func (w *worker) chooseEdge(i int) {
	if i == len(w.pr.p.Edges) {
		w.match()
		return
	}
	w.eachEdge(i, func() { w.chooseEdge(i + 1) })
}

// edgeChoices is the number of ways to choose the data edges, where both ends
// of all of them lie before the tail.
func (w *worker) edgeChoices(i int) uint64 {
	if i == len(w.pr.p.Edges) {
		return 1
	}
	n := uint64(0)
	w.eachEdge(i, func() { n += w.edgeChoices(i + 1) })
	return n
}

// eachEdge calls f with w.e[i] set to each data edge that edge i may take. Under Trail no data
// edge is used twice.
func (w *worker) eachEdge(i int, f func()) {
	c := &w.pr.p.Edges[i]
	c.Rows(w.m[c.From], w.m[c.To], func(id uint64) bool {
		if w.pr.p.Mode == pattern.Trail {
			for _, used := range w.e[:i] {
				if used == id {
					return true
				}
			}
		}
		w.e[i] = id
		for k := range c.Checks {
			if !c.Checks[k].Eval(w.m[:], w.e) {
				return true
			}
		}
		f()
		return !w.s.Stop.Load()
	})
}
