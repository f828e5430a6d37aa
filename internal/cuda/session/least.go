package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/weftgraph/weft/internal/cuda"
)

// page is the unit in which the least memory of a run is named.
const page = 4 << 10

// explained is an error of a run that takes as little memory as it can, with the memory that it would
// need.
func (s *Session) explained(ctx context.Context, j *Job, short error) error {
	var lack *shortage
	if !errors.As(short, &lack) {
		return short
	}
	lack.tried = true
	least, err := s.measured(ctx, j)
	if err != nil {
		return short
	}
	told := *lack.err
	told.Hint = fmt.Sprintf("%d bytes are the least that this query works with: give --gpu-memory as many, use a device with more memory, or the host", least)
	return &shortage{&told, lack.taken, true, least}
}

// Least returns the smallest number of bytes of device memory, in whole pages of 4 KiB, with which the session
// runs a job. It prepares the run on all devices, compiles its kernels if necessary, and searches
// nothing. It blocks until other runs have ended.
//
// It may take more memory on the device than the session may use, as far as the device has it, and
// gives it back at once.
func (s *Session) Least(ctx context.Context, j *Job) (int64, error) {
	if err := j.check(); err != nil {
		return 0, err
	}
	if err := s.use.take(ctx); err != nil {
		return 0, err
	}
	defer s.release()
	j = s.settled(j)
	j.sources = &s.sources
	return s.measured(ctx, j)
}

// measured is Least for a caller that has the devices.
func (s *Session) measured(ctx context.Context, j *Job) (least int64, err error) {
	if j.Place == Device {
		return 0, errors.New("session: no least memory of a run that has all arrays on the device")
	}
	now := *j
	now.least, now.measure, now.cached = true, true, j.Reads != nil && (j.Place == Auto || j.Place == Cached)
	for _, d := range s.devs {
		err := d.dev.Do(func(c *cuda.Context) error {
			// What runs with more memory have made counts if it is found. The graph's own arrays make room when they have to.
			// What is kept for scratch memory, or from managed memory, would be missing from the device's free memory.
			if err := errors.Join(d.freeIf(c, (*array).optional), d.spares.shrink(c, 0), d.unfence(c)); err != nil {
				return err
			}
			all, err := newBudget(c, 0)
			d.room.beyond = max(all.limit+d.room.used-d.room.limit, 0)
			return err
		})
		defer func() { d.room.beyond = 0 }()
		if err != nil {
			return 0, err
		}
	}
	if _, err := s.attempt(ctx, &now); err != nil {
		return 0, err
	}
	for _, d := range s.devs {
		least = max(least, d.needed)
	}
	return (least + page - 1) / page * page, nil
}
