// Package host finds the matches that updates of a graph add and remove, on all cores.
//
// A Matcher has watches: patterns with names, which can be added and dropped between batches. Each update is matched at its own versions:
// what it adds at the version that it makes, and what it removes at the version before. So the answers do not depend on the size of batches or
// the number of workers. One worker makes and matches updates one by one. If matching takes most of the time, several workers share it: the
// updates of a batch, except for the first, are made in a window of the changing graph, and then matched at the same time. If a batch has many
// changes of edges in a row, several workers make them too (batch.go).
//
// The plans are of package plan/delta. A table from the label of a changed edge and the labels of its ends leads to the nests
// that it may concern, so an update that concerns none costs little. The search goes level by level: the candidates of a level
// are an intersection of neighbour lists, and are kept as long as the vertices stay that they depend on.
//
// The package knows plans, changing graphs and updates. It must not know formats of updates, sinks or where updates come from.
package host

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// Options are those of a Matcher.
type Options struct {
	Workers int // 0: as many as there are cores
	// Device searches the nests that lists of neighbours decide. It becomes the matcher's to close. nil: all is searched on the cores.
	Device nest.Device
	// AtOnce makes all changes at once. Otherwise those that no watch looks at are put off (late.go).
	AtOnce bool
}

// Matcher matches the updates of one graph. Its methods must not overlap.
type Matcher struct {
	g       *dynamic.Graph
	n       int         // workers that are asked for
	workers []*searcher // at least these
	*nest.Watches
	offset uint64 // of sequence numbers, before versions
	grain  grain
	run    run
	single single
	shared shared
	ahead  stream.Ahead
	device asked
	late   bool // changes may be put off
}

// New returns a matcher of g. While it is in use, g must only change by Apply.
func New(g *dynamic.Graph, o Options) *Matcher {
	n := o.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	m := &Matcher{g: g, n: n, Watches: nest.NewWatches(g), grain: coarse}
	m.run.m, m.shared.m = m, m
	m.shared.all = m.shared.each
	m.device.Device = o.Device
	m.late = !o.AtOnce
	m.run.change.L = &m.run.mu
	for range n {
		m.workers = append(m.workers, newSearcher(m))
	}
	return m
}

var _ nest.Batcher = (*Matcher)(nil)

// Close implements nest.Matcher.
func (m *Matcher) Close() error {
	if m.device.Device == nil {
		return nil
	}
	return m.device.Close()
}

// Add implements nest.Matcher.
func (m *Matcher) Add(name string, p *pattern.Pattern, o nest.WatchOptions) (int, error) {
	w, err := m.Watches.Add(name, p, o)
	if err != nil {
		return 0, err
	}
	m.g.MakeLate()       // it may look at them
	if m.lookAway(nil) { // which makes room
		m.g.LookBack()
	}
	if err := m.bind(); err != nil {
		m.Undo()
		return 0, err
	}
	return w.ID, nil
}

// bind brings what depends on classes and labels up to date.
func (m *Matcher) bind() error {
	if !m.Bind() {
		return nil
	}
	m.g.KeepCalendar(slices.ContainsFunc(m.Watches.List, func(w *nest.Watch) bool { return w != nil && len(w.Timed) > 0 }))
	for _, s := range m.workers {
		if err := s.bind(); err != nil {
			m.Unbind()
			return err
		}
	}
	if m.device.Device != nil {
		if err := m.device.Bind(m.Watches); err != nil {
			m.Unbind()
			return err
		}
		m.device.alone = m.deviceAlone()
	}
	return nil
}

// clear makes all counts 0.
func (m *Matcher) clear() {
	for _, s := range m.workers {
		for _, id := range s.touched {
			s.added[id], s.removed[id] = engine.Uint128{}, engine.Uint128{}
		}
		s.touched = s.touched[:0]
	}
}

// counts returns the counts that are not 0, by watch.
func (m *Matcher) counts() (out []nest.Count) {
	for _, s := range m.workers {
		for _, id := range s.touched {
			i, found := slices.BinarySearchFunc(out, id, func(c nest.Count, id int) int { return c.Watch - id })
			if !found {
				out = slices.Insert(out, i, nest.Count{Watch: id})
			}
			out[i].Added, out[i].Removed = out[i].Added.Add(s.added[id]), out[i].Removed.Add(s.removed[id])
		}
	}
	return out
}

// SetSeq implements nest.Matcher: it makes seq the number of the last update. Updates are numbered from there on, and from 1 on without a call.
func (m *Matcher) SetSeq(seq uint64) { m.offset = seq - m.g.Version() }

// Seq returns the number of the last update.
func (m *Matcher) Seq() uint64 { return m.g.Version() + m.offset }

// Steps is Apply of the updates that next makes, until ok is false. Each call makes one version of the graph, or returns an error and leaves
// the graph as it was.
func (m *Matcher) Steps(ctx context.Context, next func() (done dynamic.Result, ok bool, err error), sink nest.Sink) (r nest.Result, err error) {
	if err := context.Cause(ctx); err != nil {
		return r, err
	}
	m.clear()
	m.run.reset(ctx, sink)
	if m.g.Rowed() && m.lookAway(sink) { // the graph itself puts off what it can
		defer m.g.LookBack()
	}
	err = m.both(next, &r, nil)
	r.Counts = m.counts()
	return r, err
}

// both makes and matches updates one by one and, as soon as that is worth it, together. They are not matched if there was an error before.
func (m *Matcher) both(next func() (done dynamic.Result, ok bool, err error), r *nest.Result, before error) (err error) {
	more := true
	if err = before; err == nil && m.device.Device == nil {
		more, err = m.singly(next, r)
	}
	if more {
		err = m.together(next, r, err)
	}
	return err
}

// together makes updates in a window, and matches them if there was no error before: when there are no more, or with a device meanwhile.
func (m *Matcher) together(next func() (done dynamic.Result, ok bool, err error), r *nest.Result, before error) (err error) {
	start := time.Now()
	m.g.MakeLate()
	m.g.Begin()
	m.device.begin(m.g.Version())
	defer func() {
		matched := time.Now()
		m.g.Settle()
		if settled := m.settle(); err == nil {
			err = settled
		}
		r.Update += time.Since(matched)
	}()
	var failed error
	var meanwhile time.Duration
	err = before
	for {
		done, ok, wrong := next()
		if wrong != nil {
			failed = &nest.UpdateError{Index: r.Updates, Err: wrong}
		}
		if wrong != nil || !ok {
			break
		}
		r.Updates++
		r.Outcomes.Add(done)
		if err == nil && m.early(r.Updates) {
			made := time.Now()
			err = m.onward(false)
			meanwhile += time.Since(made)
		}
	}
	made := time.Now()
	r.Update += made.Sub(start) - meanwhile
	if err == nil {
		err = m.rest()
	}
	r.Match += time.Since(made) + meanwhile
	if err != nil {
		return err
	}
	return failed
}

// rest matches the updates of the window that are not matched.
func (m *Matcher) rest() error {
	if m.device.Device != nil {
		return m.onward(true)
	}
	if err := m.bind(); err != nil {
		return err
	}
	if err := m.match(m.g.Events()); err != nil {
		return err
	}
	m.run.answered(m.g.Version())
	return nil
}

// Present gives a sink all matches of a watch in the graph as it is, as added ones, and returns their number. If sink is nil they
// are counted.
func (m *Matcher) Present(ctx context.Context, name string, sink nest.Sink) (engine.Uint128, error) {
	w := m.Find(name)
	if w == nil {
		return engine.Uint128{}, fmt.Errorf("there is no watch %s", name)
	}
	if err := m.bind(); err != nil {
		return engine.Uint128{}, err
	}
	return m.present(ctx, w, sink)
}
