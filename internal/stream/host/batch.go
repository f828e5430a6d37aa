package host

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/runtime/crew"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// shared makes the updates of a batch: the longest runs of plain changes of edges at a time, and what is between them as Steps does.
//
// No match of any version depends on a change that no watch looks at, and no sink that reads lists is told of one. So it is put off (late.go), or
// several workers make it at once, before the others of its run. The others are made and matched as updates of Steps are, one by one or in a window, in
// which several workers make them. A device searches the second ones while more of them are made (devicebatch.go).
type shared struct {
	m       *Matcher
	has     func(label dynamic.Label, from, to dynamic.Class) bool // as of the device; nil: there is none
	changes []dynamic.Change                                       // of a run
	seen    []bool                                                 // a watch looks at it
	some    []dynamic.Change                                       // those that a watch looks at, or those that none looks at
	short   int                                                    // runs in this batch that were too short for a device, since the last one that was not
	late    bool                                                   // those that none looks at are put off
	ahead   dynamic.Ahead
	ends    dynamic.Ends
	all     dynamic.Each // each, made once
}

// Apply implements nest.Batcher.
func (m *Matcher) Apply(ctx context.Context, batch []stream.Update, sink nest.Sink) (r nest.Result, err error) {
	x := &m.shared
	device := m.device.Device != nil
	if readsLists(sink) || m.g.Rowed() { // no update is a plain one
		return m.Steps(ctx, m.steps(batch), sink)
	}
	x.late = m.late
	if x.late && !device || len(batch) >= m.grain.run && (m.n > 1 || device) {
		return x.apply(ctx, batch, sink)
	}
	return m.Steps(ctx, m.steps(batch), sink)
}

// steps returns the updates of a batch for Steps.
func (m *Matcher) steps(batch []stream.Update) func() (done dynamic.Result, ok bool, err error) {
	m.ahead = stream.Ahead{}
	i := 0
	return func() (done dynamic.Result, ok bool, err error) {
		if ok = i < len(batch); ok {
			m.ahead.See(m.g, batch, i)
			done, err = stream.Apply(m.g, &batch[i])
			i++
		}
		return done, ok, err
	}
}

func (x *shared) apply(ctx context.Context, batch []stream.Update, sink nest.Sink) (r nest.Result, err error) {
	m := x.m
	if err := context.Cause(ctx); err != nil {
		return r, err
	}
	m.clear()
	m.run.reset(ctx, sink)
	x.short = 0
	if x.late {
		m.g.LookAway(x.all, m.grain.late)
		defer m.g.LookBack()
	}
	for len(batch) > 0 {
		var part nest.Result
		var wrong error
		start := time.Now()
		n := 0
		if err == nil && m.bind() == nil { // else Steps says what is wrong
			n = x.plain(batch)
		}
		looked := time.Since(start)
		if x.runs(n, len(batch), r.Updates == 0) {
			x.short = 0
			wrong = x.make(batch[:n], &part)
		} else {
			n = x.others(batch, n)
			wrong = m.both(m.steps(batch[:n]), &part, err)
		}
		at := (*nest.UpdateError)(nil)
		failed := errors.As(wrong, &at)
		if failed {
			at.Index += r.Updates
		}
		if err == nil && wrong != nil {
			err = wrong
			m.g.LookBack()
		}
		r.Updates += part.Updates
		r.Outcomes.Join(part.Outcomes)
		r.Update += looked + part.Update
		r.Match += part.Match
		if failed || part.Updates < n {
			break
		}
		batch = batch[n:]
	}
	r.Counts = m.counts()
	return r, err
}

// runs reports whether the first n updates of a batch of some length, which are plain, are worth a run. first: no updates came before them in
// the batch.
func (x *shared) runs(n, batch int, first bool) bool {
	if d := x.m.device.Device; d != nil {
		return n >= x.m.grain.run && (!d.Whole() || first && n == batch)
	}
	return n >= x.m.grain.run || x.late && n > 0 && (x.m.n == 1 || n == batch)
}

// others returns how many updates of a batch, of which the first n are plain, are made as Steps does.
func (x *shared) others(batch []stream.Update, n int) int {
	if d := x.m.device.Device; d != nil {
		// Each part is a window, at whose end the host waits for the device. So parts grow while runs are short.
		if x.short++; d.Whole() || x.short > 24 {
			return len(batch)
		}
		return min(n+x.m.grain.run<<(x.short-1), len(batch))
	}
	if x.m.n > 1 || !x.late {
		return min(n+x.m.grain.run, len(batch)) // what is not plain is among these
	}
	for n = 1; n < len(batch) && (batch[n].Op > stream.RemoveEdge || len(batch[n].Properties) > 0); {
		n++
	}
	return n
}

// most bounds the updates of a run.
const most = 1 << 20

// plain returns how many updates at the beginning of a batch are plain changes of edges, and finds these.
func (x *shared) plain(batch []stream.Update) int {
	batch = batch[:min(len(batch), most)]
	x.ask()
	x.changes = slices.Grow(x.changes[:0], len(batch))[:len(batch)]
	x.seen = slices.Grow(x.seen[:0], len(batch))[:len(batch)]
	if x.m.n == 1 {
		return x.find(&x.ends, batch, 0, len(batch))
	}
	size := x.m.grain.run
	if n := x.find(&x.ends, batch, 0, min(size, len(batch))); n < size {
		return n
	}
	var end atomic.Int64 // a place at which an update is not plain, or the end
	end.Store(int64(len(batch)))
	x.each((len(batch)-1)/size, func(i int) {
		from := (i + 1) * size
		if int64(from) >= end.Load() {
			return
		}
		to := min(from+size, len(batch))
		var ends dynamic.Ends
		if at := int64(x.find(&ends, batch, from, to)); at < int64(to) {
			for was := end.Load(); at < was && !end.CompareAndSwap(was, at); was = end.Load() {
			}
		}
	})
	return int(end.Load())
}

// find finds the changes of the updates from … to-1, up to one that is not plain, and returns that one's place, or to. It uses ends.
func (x *shared) find(ends *dynamic.Ends, batch []stream.Update, from, to int) int {
	for from < to {
		n := min(dynamic.EndsRoom, to-from)
		k := x.read(ends, batch, from, from+n)
		k = x.m.g.Plain(ends, x.changes[from:from+k])
		x.look(ends, from, from+k)
		if from += k; k < n {
			break
		}
	}
	return from
}

// read reads what the updates from … to-1 say of their changes, up to one that is not plain, and returns their number. The ends have to be found.
func (x *shared) read(ends *dynamic.Ends, batch []stream.Update, from, to int) int {
	g := x.m.g
	base := g.Version() + 1
	ends.Reset()
	for i := from; i < to; i++ {
		u := &batch[i]
		if u.Op > stream.RemoveEdge || len(u.Properties) > 0 || u.HasTime && base+uint64(i) == 1 && g.NumEdges() == 0 {
			return i - from
		}
		label, ok := g.LookupEdgeLabel(u.Label)
		if !ok || !ends.Add(g, &u.U, &u.V) {
			return i - from
		}
		c := &x.changes[i]
		c.Label, c.Remove, c.At = label, u.Op == stream.RemoveEdge, base+uint64(i)
	}
	return to - from
}

// look finds out at which of the changes from … to-1 a watch looks.
func (x *shared) look(ends *dynamic.Ends, from, to int) {
	for i := from; i < to; i++ {
		c := &x.changes[i]
		if c.Result != dynamic.Applied {
			x.seen[i] = false // its ends may be no vertices
			continue
		}
		u, v := ends.Classes(i - from)
		x.seen[i] = len(x.m.Table.Of(c.Label, u, v)) > 0 || x.onDevice(c.Label, u, v)
	}
}

// each is a dynamic.Each of the matcher's workers.
func (x *shared) each(n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
			do(i - 1)
		}
	}
	others := &crew.Crew{}
	others.Spread(min(x.m.n, n)-1, 0, func(int, *crew.Memory) { work() })
	work()
	others.Wait()
}

// take returns the changes that some watch looks at, or those that none looks at.
func (x *shared) take(seen bool) []dynamic.Change {
	x.some = x.some[:0]
	for i := range x.changes {
		if x.seen[i] == seen {
			x.some = append(x.some, x.changes[i])
		}
	}
	return x.some
}

// make makes and matches updates, whose changes were found.
func (x *shared) make(batch []stream.Update, r *nest.Result) (err error) {
	m := x.m
	base := m.g.Version()
	start := time.Now()
	x.changes, x.seen = x.changes[:len(batch)], x.seen[:len(batch)]
	if x.late {
		x.putOff(r)
	} else {
		x.makeSome(x.take(false), r)
	}
	some := x.take(true)
	r.Update = time.Since(start)
	if m.device.Device != nil {
		err = x.posted(some, base+uint64(len(batch)), r)
	} else if k := len(some); k > 0 {
		if m.n < manyWorkers || k < m.grain.run {
			some, err = x.singly(some, r)
		}
		if len(some) > 0 {
			err = x.window(some, r, err)
		}
	}
	m.g.Pass(base + uint64(len(batch)))
	r.Updates = len(batch)
	if err == nil {
		m.run.answered(m.g.Version())
	}
	return err
}

// manyWorkers is how many workers make changes in a window at once, where changes one by one are tried first with fewer. Why: marks take twice
// the time of changes at once.
const manyWorkers = 4

// makeSome makes changes and counts their results.
func (x *shared) makeSome(cs []dynamic.Change, r *nest.Result) {
	x.m.g.Make(cs, x.each)
	for i := range cs {
		r.Outcomes.Add(cs[i].Result)
	}
}

// singly makes changes one by one, as singly of the matcher does, and returns those that are left.
func (x *shared) singly(cs []dynamic.Change, r *nest.Result) ([]dynamic.Change, error) {
	m := x.m
	var part nest.Result
	read := 0 // changes for which lists were read ahead
	_, err := m.singly(func() (done dynamic.Result, ok bool, err error) {
		if ok = len(cs) > 0; ok {
			if read == 0 && len(cs) > 1 {
				read = x.ahead.ReadFor(m.g, cs)
			}
			read--
			done, err = m.g.MakeOne(&cs[0])
			cs = cs[1:]
		}
		return done, ok, err
	}, &part)
	r.Outcomes.Join(part.Outcomes)
	r.Update += part.Update
	r.Match += part.Match
	return cs, err
}

// window makes changes in a window, and matches them if there was no error before.
func (x *shared) window(cs []dynamic.Change, r *nest.Result, before error) (err error) {
	m := x.m
	start := time.Now()
	m.g.Begin()
	x.makeSome(cs, r)
	m.g.Pass(cs[len(cs)-1].At)
	made := time.Now()
	if err = before; err == nil {
		err = m.match(m.g.Events())
	}
	if err == nil {
		m.run.answered(m.g.Version())
	}
	matched := time.Now()
	m.g.SettleBy(x.each)
	r.Update += made.Sub(start) + time.Since(matched)
	r.Match += matched.Sub(made)
	return err
}
