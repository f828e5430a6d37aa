package session

import (
	"context"
	"fmt"
	"sync"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/memory"
)

// hostArray is an array in page-locked host memory, or in managed memory: one copy, which all devices of the session that
// want it there read in place.
type hostArray struct {
	key   arrayKey
	owner any          // Job.Owner of the run that brought it
	mem   *cuda.Pinned // of the session's first device
	at    []uint64     // its address on each device; 0: the device has not asked for it
	last  uint64       // the run that used it last
	note  any          // of blocks of columns: how they lie

	mu     sync.Mutex
	filled bool
}

func (a *hostArray) size() int64 { return int64(len(a.mem.Bytes())) }

// fill copies the source to the array, if no device has done so, and returns how many bytes it copied.
// It blocks while another device fills the array. It ends between two segments with the context.
func (a *hostArray) fill(ctx context.Context, from Source) (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.filled {
		return 0, nil
	}
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	b := a.mem.Bytes()
	err := eachSegment(ctx, from.Size(), fillers(), func(at int64, n int) error { return read(from, b[at:][:n], at) })
	if err != nil {
		return 0, err
	}
	a.filled = true
	return from.Size(), nil
}

// hostArrays are the arrays of a session in page-locked host memory, over several runs. The holder of
// the devices uses them. A run in progress reads them only.
type hostArrays struct {
	all map[arrayKey]*hostArray
	run uint64 // number of the current run
}

// sizes are the bytes of the arrays that this run uses, and of the others.
func (h *hostArrays) sizes() (used, idle int64) {
	for _, a := range h.all {
		if a.last == h.run {
			used += a.size()
		} else {
			idle += a.size()
		}
	}
	return used, idle
}

// oldest is the array that has not been used for the longest time; nil: this run uses all.
func (h *hostArrays) oldest() (old *hostArray) {
	for _, a := range h.all {
		if a.last != h.run && (old == nil || a.last < old.last) {
			old = a
		}
	}
	return old
}

// pin brings the arrays that a job is to have into page-locked host memory, not filled yet, or says why
// there is no room. Other arrays make room, the longest unused first, but none goes for a run that is
// refused. It marks the arrays that the run which now begins uses.
//
// Why before the devices begin: each of them would find the same memory free.
func (s *Session) pin(j *Job) error {
	if s.locking != nil {
		s.locking.Lock()
		defer s.locking.Unlock()
	}
	s.host.run++
	wants := make([][]want, len(s.devs))
	missing := map[arrayKey]int64{}
	for i, d := range s.devs {
		d.arrays.run++
		wants[i] = arranged(j, d.room.limit)
		for _, w := range wants[i] {
			if !w.host {
				continue
			}
			if a := s.host.all[w.key]; a != nil && a.mem.Managed() == (j.Place == Managed) {
				a.last = s.host.run
			} else {
				missing[w.key] = w.bytes
			}
		}
	}
	var need int64
	for _, bytes := range missing {
		need += bytes
	}
	used, idle := s.host.sizes()
	if left := s.o.Host - used; need > left {
		return s.refuse(j, fmt.Sprintf("arrays take %s of page-locked host memory, and %s of %s are left", size(need), size(max(left, 0)), size(s.o.Host)))
	}
	if err := s.check(j, need-idle); err != nil {
		return err
	}
	for i, d := range s.devs {
		if err := d.fits(j, wants[i]); err != nil {
			return err
		}
	}
	if err := s.outdateHost(wants); err != nil {
		return err
	}
	for need > 0 {
		err := s.check(j, need)
		used, idle := s.host.sizes()
		if err == nil && need+used+idle <= s.o.Host {
			break
		}
		old := s.host.oldest()
		if old == nil {
			return err
		}
		if err := s.dropHost(old); err != nil {
			return err
		}
	}
	for i := range s.devs {
		for k := range wants[i] {
			if w := &wants[i][k]; w.host {
				if err := s.attach(j, i, w); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// outdateHost drops arrays of which the run has a later version or another layout, or has a copy on each device or in memory of the other kind.
func (s *Session) outdateHost(wants [][]want) error {
	return s.freeHost(func(a *hostArray) bool {
		for _, of := range wants {
			for i := range of {
				if w := &of[i]; a.last != s.host.run && (w.key == a.key || sameLists(w.key, a.key) || a.key.outdated(w.key.of)) {
					return true
				}
			}
		}
		return false
	})
}

// attach makes an array in host memory reachable for device i. The first device that asks for it has the
// memory taken. The driver may refuse, though there should be room: then others make room.
func (s *Session) attach(j *Job, i int, w *want) error {
	a := s.host.all[w.key]
	take := (*cuda.Context).PinnedRaw
	if j.Place == Managed {
		take = (*cuda.Context).Managed
		if err := s.devs[i].dev.Do(s.devs[i].fence); err != nil {
			return err
		}
	}
	if a == nil {
		a = &hostArray{key: w.key, owner: j.Owner, at: make([]uint64, len(s.devs)), last: s.host.run}
		for {
			err := s.devs[0].dev.Do(func(c *cuda.Context) (err error) {
				a.mem, err = take(c, w.bytes)
				return err
			})
			if err == nil {
				break
			}
			old := s.host.oldest()
			if old == nil || !lacks(err) {
				return err
			}
			if err := s.dropHost(old); err != nil {
				return err
			}
		}
		if s.host.all == nil {
			s.host.all = map[arrayKey]*hostArray{}
		}
		s.host.all[w.key] = a
	}
	if a.at[i] != 0 {
		return nil
	}
	return s.devs[i].dev.Do(func(c *cuda.Context) (err error) {
		a.at[i], err = c.Attach(a.mem)
		return err
	})
}

// dropHost gives an array's memory back.
func (s *Session) dropHost(a *hostArray) error {
	delete(s.host.all, a.key)
	var errs []error
	for i, d := range s.devs {
		if a.at[i] != 0 {
			errs = append(errs, d.dev.Do(func(c *cuda.Context) error { return c.Detach(a.mem) }))
		}
	}
	errs = append(errs, s.devs[0].dev.Do(func(*cuda.Context) error { return a.mem.Free() }))
	return cuda.Join(errs...)
}

// freeHost drops the arrays for which which returns true.
func (s *Session) freeHost(which func(*hostArray) bool) error {
	var errs []error
	for _, a := range s.host.all {
		if which(a) {
			errs = append(errs, s.dropHost(a))
		}
	}
	return cuda.Join(errs...)
}

// temporary arrays go at the end of the run: no other run has a name for them, or they are there for a comparison.
func (a *hostArray) temporary() bool { return a.key.own != nil || a.mem.Managed() }

// check says whether the process may have so many more bytes of page-locked memory.
func (s *Session) check(j *Job, bytes int64) error {
	if bytes <= 0 {
		return nil
	}
	if err := memory.Check("arrays in page-locked memory", uint64(bytes), j.HostMemory); err != nil {
		return s.refuse(j, err.Error())
	}
	return nil
}

func (s *Session) refuse(j *Job, why string) error {
	return &cuda.Error{Op: fmt.Sprintf("%s on %v", j.Name, s), Text: why, Kind: cuda.ErrMemory}
}
