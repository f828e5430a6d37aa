package host

import (
	"context"
	"time"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// single makes updates and matches them one by one, on the graph as it is at the time. A change of an edge that only adds or only removes
// matches is looked at in the version that has the edge, so the graph needs no window. Other updates have a window each.
//
// Why: a window serves workers that match many updates at a time. One worker, and a single update that is to be answered soon, would only pay for it:
// a change in a window takes about twice the time.
type single struct {
	m       *Matcher
	piece   piece // all that an update does, except what it shares with other workers
	entries []nest.Entry
	matched time.Duration // of this batch
	turn    int           // matched changes, for the clock
	owed    time.Duration // for matching, as far as it is not in a result
	err     error         // of binding
}

// singly makes updates and matches them. If there are several workers it does so with a few, and as long as changing the graph takes more time
// than matching. more reports whether other updates may follow.
func (m *Matcher) singly(next func() (done dynamic.Result, ok bool, err error), r *nest.Result) (more bool, err error) {
	start := time.Now()
	x := &m.single
	x.m, x.matched, x.err = m, 0, m.bind()
	x.ready()
	m.g.Follow(x)
	for more = true; more; {
		if m.n > 1 && r.Updates > 0 && r.Updates%m.grain.least == 0 && (m.grain.eager || 2*x.matched > time.Since(start)) {
			break
		}
		done, ok, failed := next()
		if m.g.Open() {
			x.window()
		}
		if more = ok && failed == nil; more {
			r.Updates++
			r.Outcomes.Add(done)
			if x.err == nil {
				m.run.answered(m.g.Version())
			}
		}
		if failed != nil {
			err = &nest.UpdateError{Index: r.Updates, Err: failed}
		}
	}
	m.g.Follow(nil)
	took := time.Since(start)
	x.owed += x.matched
	r.Match = min(x.owed, took)
	r.Update = took - r.Match
	x.owed -= r.Match
	switch {
	case x.err != nil:
		err = x.err
	case m.run.err != nil:
		err = m.run.err
	case m.run.stopped.Load():
		err = context.Cause(m.run.ctx)
	}
	return more, err
}

// ready makes the first worker ready for the next update.
func (x *single) ready() {
	r := &x.m.run
	x.piece.done.Store(false)
	x.piece.next = nil
	x.piece.taken.Store(true)
	r.begin(&x.piece)
	for _, s := range x.m.workers {
		s.ended = r.stopped.Load() || x.err != nil
	}
	x.m.workers[0].piece = &x.piece
}

// sampled is the number of changes of which one worker measures one: a prime, because streams have periods. Why: a look at the clock
// costs time, and a change is short. Several workers measure each change, because the time decides when they begin to share.
const sampled = 11

// Sight implements dynamic.Follower.
func (x *single) Sight(u, v uint32, label dynamic.Label) dynamic.Sight {
	m := x.m
	if x.err == nil {
		x.err = m.bind() // the update before may have brought a class
	}
	if x.err != nil {
		m.g.MakeLate() // nobody knows any more who looks at what
		return dynamic.Both
	}
	x.entries = m.Table.Of(label, m.g.ClassOf(u), m.g.ClassOf(v))
	if len(x.entries) == 0 {
		return dynamic.None
	}
	for i := range x.entries {
		if !x.entries[i].Nest.Single {
			return dynamic.Both
		}
	}
	return dynamic.Present
}

// Edge implements dynamic.Follower.
func (x *single) Edge(e *dynamic.Event) {
	s := x.m.workers[0]
	if s.ended {
		return
	}
	var start time.Time
	timed := x.m.n > 1 || x.turn == 0
	if timed {
		start = time.Now()
	}
	now := x.m.g.Now()
	s.up = update{seq: e.Version + x.m.offset, events: x.m.g.Events(), before: now, after: now, gone: noVertex, come: noVertex}
	s.at(e)
	for i := range x.entries {
		if s.anchor(&x.entries[i], e); s.ended {
			break
		}
	}
	if s.steps++; s.steps%x.m.grain.ticks == 0 {
		s.ended = s.ended || s.run.tick()
	}
	x.finish()
	switch {
	case x.m.n > 1:
		x.matched += time.Since(start)
	case timed:
		x.matched += sampled * time.Since(start)
		x.turn = sampled
	}
	x.turn--
}

// window matches an update that has a window, which it closes.
func (x *single) window() {
	start := time.Now()
	if x.err == nil {
		x.err = x.m.bind()
	}
	if s := x.m.workers[0]; x.err == nil && !s.ended {
		s.events(x.m.g.Events())
		x.finish()
	}
	x.matched += time.Since(start)
	x.m.g.Settle()
}

// finish ends the matching of an update, of which other workers may have got parts, and gives the sink its deltas while the graph has its versions.
func (x *single) finish() {
	r := &x.m.run
	if !r.began {
		if len(x.piece.out.rows) > 0 {
			r.mu.Lock()
			r.flush(&x.piece.out)
			r.mu.Unlock()
		}
		return
	}
	s := x.m.workers[0]
	r.finish(s.piece)
	r.work(s)
	r.wait()
	x.ready()
}
