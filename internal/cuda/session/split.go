package session

import (
	"sync/atomic"
	"time"
)

// splitter hands out tasks to devices as ranges. A single device gets all of them at once.
// Several devices get grants. The first grants are small, because the first tasks are those of
// the largest degrees. Later grants have the number of tasks that a device does in targetTime
// by the speed of its last grant, so that a slow device gets less. No grant is more than a part
// of the rest, so that all devices end together. One grant always waits behind the current one,
// so that the device need not wait for the host.
type splitter struct {
	next, total uint64
	least       uint64
	devs        []share
}

// share is the tasks that one device got.
type share struct {
	c       *control
	posted  uint32
	before  uint64    // tasks of all its grants
	size    uint64    // of the last one
	taken   uint32    // as last seen,
	since   time.Time // since then
	started time.Time
}

// targetTime is the time for which a grant should keep a device busy, at the start of a run.
// Later grants may take 1/32 of the run so far, so that their number grows with the logarithm
// of its length.
const targetTime = 500 * time.Microsecond

func newSplitter(total uint64, chunk uint32, devices int) *splitter {
	least := max(uint64(chunk), total/uint64(devices)/1024)
	return &splitter{total: total, least: least, devs: make([]share, devices)}
}

// first is device i's first grant, which it begins with.
func (s *splitter) first(i int, c *control) grant {
	d := &s.devs[i]
	d.c = c
	n := s.total - s.next
	if len(s.devs) > 1 {
		n = min(n, s.least)
	}
	g := s.give(d, n)
	atomic.StoreUint32(&c.Taken, 1)
	if len(s.devs) == 1 {
		atomic.StoreUint32(&c.Closed, 1)
	}
	return g
}

// give posts the next n tasks.
func (s *splitter) give(d *share, n uint64) grant {
	g := grant{First: s.next, Count: n, Before: d.before}
	d.c.Grant[d.posted] = g
	d.posted++
	d.before += n
	d.size = n
	s.next += n
	atomic.StoreUint32(&d.c.Posted, d.posted)
	return g
}

// start notes that all devices search now.
func (s *splitter) start(now time.Time) {
	for i := range s.devs {
		s.devs[i].started, s.devs[i].since, s.devs[i].taken = now, now, 1
	}
}

// poll gives a grant to every device that has none waiting, and closes the
// devices when all is given.
func (s *splitter) poll(now time.Time) {
	for i := range s.devs {
		d := &s.devs[i]
		if atomic.LoadUint32(&d.c.Closed) != 0 {
			continue
		}
		if s.next == s.total {
			atomic.StoreUint32(&d.c.Closed, 1)
			continue
		}
		taken := atomic.LoadUint32(&d.c.Taken)
		if taken < d.posted {
			continue
		}
		s.give(d, s.size(d, taken, now))
	}
}

// size is how many tasks device d gets next.
func (s *splitter) size(d *share, taken uint32, now time.Time) uint64 {
	left := s.total - s.next
	if d.posted == maxGrants-1 {
		return left // no room for another; this cannot happen before a run has gone on for years
	}
	n := d.size
	if taken > d.taken {
		// The last grant was taken over: how long ago the one before was tells
		// how fast the device is.
		took := max(now.Sub(d.since), time.Microsecond)
		aim := max(targetTime, now.Sub(d.started)/32)
		n = uint64(float64(d.size) * min(4, float64(aim)/float64(took)))
		d.taken, d.since = taken, now
	}
	n = min(n, left/uint64(2*len(s.devs)))
	return min(max(n, s.least), left)
}
