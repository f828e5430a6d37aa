package host

import (
	"github.com/weftgraph/weft/internal/stream/nest"
)

// asked is a device that searches before the cores do, and what it found in the batch under way. The tasks of an update are written down by a
// search that descends nowhere. The search that follows meets the same anchors in the same order, and takes the answers. So what is said about
// updates, conditions and the order of deltas is said once, and is the same with a device and without.
type asked struct {
	nest.Device
	base   uint64 // the version before the batch
	firsts []int  // the first task of each version after it
	tasks  []nest.Task
	found  nest.Found
	seen   bool // the device has the updates of the batch
}

// ask has the device search the tasks of a batch.
func (m *Matcher) ask(base uint64) (err error) {
	d := &m.device
	if d.Device == nil {
		return nil
	}
	events := m.g.Events()
	d.base, d.tasks = base, d.tasks[:0]
	d.firsts = append(d.firsts[:0], make([]int, m.g.Version()-base+1)...)
	s := m.workers[0]
	s.recording, s.ended = true, false
	defer func() { s.recording = false }()
	for rest := events; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Version == rest[0].Version {
			n++
		}
		d.firsts[rest[0].Version-base] = len(d.tasks)
		s.one(rest[:n:n])
		rest = rest[n:]
	}
	for i := range d.tasks {
		d.tasks[i].List = d.tasks[i].Nest.Conditions() || m.run.sink != nil && !d.tasks[i].Nest.Watch.Options.CountsOnly
	}
	d.found, err = d.Search(m.run.ctx, base, events, d.tasks)
	d.seen = err == nil
	return err
}

// Work says in words what a device did, or is "".
func (m *Matcher) Work() string {
	if m.device.Device == nil {
		return ""
	}
	return m.device.Device.Work()
}

// settle ends the batch of the device. One that did not see all of it forgets the graph.
func (m *Matcher) settle() (err error) {
	d := &m.device
	if d.Device == nil {
		return nil
	}
	if d.seen {
		err = d.Settle()
	}
	if !d.seen || err != nil {
		d.Forget()
	}
	d.seen = false
	return err
}

// onDevice writes a task down or, in the search that follows, takes its matches.
func (s *searcher) onDevice(n *nest.Nest) {
	d := s.device
	if s.recording {
		x := nest.Task{Nest: n, Version: s.up.version}
		if s.sign < 0 {
			x.Version--
		}
		for l := range n.First {
			x.First[l] = s.a[n.Places[l].V]
		}
		d.tasks = append(d.tasks, x)
		return
	}
	i := s.task
	s.task++
	if !d.tasks[i].List {
		s.add(d.found.Counts[i])
		return
	}
	k := len(n.Places)
	rows := d.found.Rows[d.found.At[i]:d.found.At[i+1]]
	if len(rows) == 0 && d.found.Counts[i] > 0 {
		s.descend(n, n.First)
		return
	}
next:
	for ; len(rows) > 0 && !s.ended; rows = rows[k:] {
		for l := n.First; l < k; l++ {
			lv := &n.Places[l]
			s.set(l, uint32(lv.V), rows[l])
			if !s.passes(lv) {
				continue next
			}
		}
		s.found(n)
		if s.steps++; s.steps%s.m.grain.ticks == 0 {
			s.ended = s.ended || s.run.tick()
		}
	}
}
