package host

import (
	"cmp"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// asked is a device that searches before the cores do, and what it found in the batch under way. The tasks of an update are written down by a
// search that descends nowhere. The search that follows meets the same anchors in the same order, and takes the answers. So what is said about
// updates, conditions and the order of deltas is said once, and is the same with a device and without.
//
// A device that need not have the whole batch gets updates while others are made, a few at a time. In between the matcher takes what is
// searched, and gives the deltas to the sink. So these three overlap.
type asked struct {
	nest.Device
	base   uint64 // the version before the batch
	posted uint64 // the last version that the device has
	taken  uint64 // the last version that is matched
	events [2]int // of the window: those of versions that are posted, and that are matched
	firsts []int  // the number of the first task of each version after base
	count  int    // tasks of the batch so far
	tasks  []nest.Task
	found  nest.Found
	first  int    // the number of the first task of found
	listed []bool // the tasks of the batch whose matches are wanted, and not only their number
	alone  bool   // it finds all that changes of edges do by itself
	seen   bool   // the device has the updates of the batch
}

// begin begins a batch after a version.
func (d *asked) begin(base uint64) {
	d.base, d.posted, d.taken, d.count, d.first, d.seen = base, base, base, 0, 0, false
	d.events = [2]int{}
	d.firsts = append(d.firsts[:0], 0)
	d.listed = d.listed[:0]
}

// early reports whether the device is to have updates before the batch is whole, after some number of updates.
func (m *Matcher) early(updates int) bool {
	return m.device.Device != nil && updates%m.grain.portion == 0 && !m.device.Whole()
}

// onward posts the updates that were made since the last call, and matches those that are searched. all: it blocks until these are all.
func (m *Matcher) onward(all bool) error {
	d := &m.device
	if !m.Bound() {
		if err := m.taken(true); err != nil {
			return err
		}
		if err := m.bind(); err != nil {
			return err
		}
	}
	events := m.g.Events()[d.events[0]:]
	m.record(events)
	if err := d.Post(m.run.ctx, d.posted, events, d.tasks); err != nil {
		return err
	}
	d.posted = m.g.Version()
	d.events[0] += len(events)
	err := m.taken(all)
	d.seen = err == nil && all
	return err
}

// record writes down the tasks of the updates after those that are posted.
func (m *Matcher) record(events []dynamic.Event) {
	d := &m.device
	d.tasks = d.tasks[:0]
	s := m.workers[0]
	s.recording, s.ended = true, false
	for v := d.posted + 1; v <= m.g.Version(); v++ {
		d.firsts = append(d.firsts, d.count+len(d.tasks))
		n := 0
		for n < len(events) && events[n].Version == v {
			n++
		}
		if n > 0 {
			s.one(events[:n:n])
		}
		events = events[n:]
	}
	s.recording = false
	d.count += len(d.tasks)
	for i := range d.tasks {
		d.listed = append(d.listed, d.tasks[i].List)
	}
}

// listed reports whether the matches of a nest are wanted from the device, and not only their number.
func (m *Matcher) listed(n *nest.Nest) bool {
	return n.Conditions() || m.run.sink != nil && !n.Watch.Options.CountsOnly
}

// taken matches updates that the device has searched. all: it blocks until these are all that were posted.
func (m *Matcher) taken(all bool) (err error) {
	d := &m.device
	for d.taken < d.posted {
		if d.found, err = d.Take(m.run.ctx, all); err != nil {
			return err
		}
		if d.found.Version > d.taken {
			d.first = d.firsts[d.taken+1-d.base]
			if m.g.Recording() && d.left() {
				m.g.Remember()
			}
			events := m.g.Events()[d.events[1]:d.events[0]]
			n, _ := slices.BinarySearchFunc(events, d.found.Version+1, func(e dynamic.Event, v uint64) int { return cmp.Compare(e.Version, v) })
			d.events[1] += n
			d.taken = d.found.Version
			if err := m.match(events[:n:n]); err != nil {
				return err
			}
			m.run.answered(d.taken)
		}
		if !all {
			break
		}
	}
	return nil
}

// left reports whether the device leaves a task of those that it has found to the cores.
func (d *asked) left() bool {
	for i, n := range d.found.Counts {
		if n > 0 && d.listed[d.first+i] && d.found.At[i] == d.found.At[i+1] {
			return true
		}
	}
	return false
}

// Work says in words what a device did, or is "".
func (m *Matcher) Work() string {
	if m.device.Device == nil {
		return ""
	}
	return m.device.Device.Work()
}

// Usage returns how the device was used so far. ok is false if there is none, or it does not know.
func (m *Matcher) Usage() (u nest.Usage, ok bool) {
	x, ok := m.device.Device.(interface{ Usage() nest.Usage })
	if ok {
		u = x.Usage()
	}
	return u, ok
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

// grouped matches an update that changes one edge, if all watches that the edge concerns have groups and are counted. It reports whether it did.
func (s *searcher) grouped(groups *nest.Groups, e *dynamic.Event) bool {
	if !groups.All {
		return false
	}
	for i := range groups.List {
		if !s.countsOf(groups.List[i].Watch) {
			return false
		}
	}
	s.nextTask(e.Version)
	for i := range groups.List {
		s.group(&groups.List[i], e)
	}
	return true
}

// nextTask makes the first task of an update the next one.
func (s *searcher) nextTask(version uint64) {
	s.task = s.device.firsts[version-s.device.base] - s.device.first
}

// group writes the task of a group down or, in the search that follows, takes the number of its matches.
func (s *searcher) group(x *nest.Group, e *dynamic.Event) {
	sign, version := int8(1), e.Version
	if e.Kind == dynamic.EdgeRemoved {
		sign, version = -1, version-1
	}
	if len(x.Members) == 0 || !x.Watch.Options.Emit.Has(sign) {
		return
	}
	d := s.device
	if s.recording {
		d.tasks = append(d.tasks, nest.Task{Group: x, Update: e.Version, Version: version, First: [2]uint32{e.U, e.V}})
		return
	}
	s.w, s.sign, s.n = x.Watch, sign, [2]engine.Uint128{}
	s.add(d.found.Counts[s.task])
	s.task++
	s.count()
}

// onDevice writes a task down or, in the search that follows, takes its matches.
func (s *searcher) onDevice(n *nest.Nest) {
	d := s.device
	if s.recording {
		x := nest.Task{Nest: n, Update: s.up.version, Version: s.up.version, List: s.m.listed(n)}
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
	if !s.m.listed(n) {
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
