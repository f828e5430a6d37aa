package pipeline

import (
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/stream/nest"
)

// mostSamples bounds the samples that are kept. Once there are as many, two become one, and the next ones are of twice the time.
const mostSamples = 1 << 10

// gauge samples the usage of a device.
type gauge struct {
	every       time.Duration // of a sample
	began, last time.Time     // when the first updates came, and when the last sample ended
	busy        time.Duration // of all warps, until the last sample
	warps       int
	over        []nest.Sample
}

// sample adds a sample if it is time for one, or if it is the first. The caller holds the lock.
func (x *Device) sample(first bool) {
	g, f := &x.gauge, x.flow
	now := time.Now()
	if g.began.IsZero() || f == nil || f.ctl == nil || f.warps == 0 || now.Sub(g.last) < g.every && !(first && len(g.over) == 0) {
		return
	}
	busy := x.work.Busy + time.Duration(atomic.LoadUint64(&f.ctl.Busy))
	g.warps = f.warps
	g.over = append(g.over, nest.Sample{
		Until: now.Sub(g.began), Busy: busyShare(busy-g.busy, now.Sub(g.last), g.warps), Lists: int64(atomic.LoadUint64(&f.ctl.Used)) * unit,
	})
	g.last, g.busy = now, busy
	if len(g.over) < mostSamples {
		return
	}
	begin := time.Duration(0)
	for i := range mostSamples / 2 {
		a, b := g.over[2*i], g.over[2*i+1]
		b.Busy = (a.Busy*float64(a.Until-begin) + b.Busy*float64(b.Until-a.Until)) / float64(max(b.Until-begin, 1))
		begin = b.Until
		g.over[i] = b
	}
	g.over = g.over[:mostSamples/2]
	g.every *= 2
}

// busyShare is the share of a time in which warps were busy. Warps tell of a search when it ends, so that a short time may seem to have more than all.
func busyShare(busy, of time.Duration, warps int) float64 {
	if of <= 0 || warps == 0 {
		return 0
	}
	return min(float64(busy)/float64(of)/float64(warps), 1)
}

// Usage returns how the device was used so far. Safe for concurrent use; it waits for a call of another method that is under way.
func (x *Device) Usage() nest.Usage {
	x.mu.Lock()
	defer x.mu.Unlock()
	g := &x.gauge
	x.sample(true)
	u := nest.Usage{Busy: busyShare(g.busy, g.last.Sub(g.began), g.warps), Over: append([]nest.Sample(nil), g.over...), Most: x.most}
	if f := x.flow; f != nil && f.ctl != nil {
		u.Lists, u.Room = int64(atomic.LoadUint64(&f.ctl.Used))*unit, f.store.data.Size
		u.Most = max(u.Most, int64(atomic.LoadUint64(&f.ctl.Most))*unit)
	}
	return u
}
