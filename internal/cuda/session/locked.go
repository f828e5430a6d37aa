package session

import (
	"fmt"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/memory"
)

// lockable makes room for the arrays that a job is to have in page-locked host memory, a copy for
// each device, or says why there is none. It marks the arrays that the run which now begins uses.
// Others make room, the longest unused first, but none goes for a run that is refused.
//
// Why before the devices begin, and for all: each of them would find the same memory free.
func (s *Session) lockable(j *Job) error {
	var need, used, idle int64
	for _, d := range s.devs {
		d.arrays.run++
		wants := arraysOf(j)
		settle(j, wants, d.room.limit)
		for i := range wants {
			w := &wants[i]
			if _, ok := d.arrays.get(w.key, w.host); !ok && w.host {
				need += w.bytes
			}
		}
		for _, a := range d.arrays.all {
			switch {
			case a.host == nil:
			case a.last == d.arrays.run:
				used += a.buf.Size
			default:
				idle += a.buf.Size
			}
		}
	}
	if left := s.o.Host - used; need > left {
		return s.refuse(j, fmt.Sprintf("arrays take %s of page-locked host memory, and %s of %s are left", size(need), size(max(left, 0)), size(s.o.Host)))
	}
	if err := s.check(j, need-idle); err != nil {
		return err
	}
	for need > 0 {
		err := s.check(j, need)
		if err == nil && need+used+idle <= s.o.Host || idle == 0 {
			return err
		}
		freed, err := s.dropOldest()
		if err != nil {
			return err
		}
		idle -= freed
	}
	return nil
}

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

// dropOldest frees the array in host memory that has not been used for the longest time, and
// returns its size.
func (s *Session) dropOldest() (bytes int64, err error) {
	var of *device
	var old *array
	for _, d := range s.devs {
		if a := d.arrays.oldest(true); a != nil && (old == nil || a.last < old.last) {
			of, old = d, a
		}
	}
	return old.buf.Size, of.dev.Do(func(c *cuda.Context) error { return of.drop(c, old) })
}
