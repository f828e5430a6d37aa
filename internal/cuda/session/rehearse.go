package session

import (
	"context"
	"errors"
)

// Plan says where the arrays of a job lie, and what else of a device's memory it takes.
type Plan struct {
	Budget  int64 // bytes that the session may use on each device
	Arrays  []PlannedArray
	Scratch int64       // bytes of the search's own memory
	Cache   CacheResult // none: Lists is 0
	Least   int64       // bytes of the smallest budget that works; 0: unknown
	Managed bool        // arrays that are not on the device lie in managed memory
}

// PlannedArray is an array of a job's program.
type PlannedArray struct {
	Name  string
	Bytes int64
	Host  bool // it is read in host memory, or in managed memory
}

// Plan says where the arrays of a job lie on the first device, as far as that is known before a run.
func (s *Session) Plan(j *Job) Plan { return s.planned(s.settled(j)) }

func (s *Session) planned(j *Job) Plan {
	d := s.devs[0]
	p := Plan{Budget: d.room.limit, Managed: j.Place == Managed}
	wants := arranged(j, d.room.limit)
	for _, w := range wants {
		p.Arrays = append(p.Arrays, PlannedArray{w.what, w.bytes, w.host})
	}
	return p
}

// Rehearse prepares a run of a job on all devices, with the arrays in their places, and searches nothing. It tells
// how the run would use memory. An error is the run's. It blocks until other runs have ended.
func (s *Session) Rehearse(ctx context.Context, j *Job) (Plan, error) {
	if err := j.check(); err != nil {
		return Plan{}, err
	}
	if err := s.use.take(ctx); err != nil {
		return Plan{}, err
	}
	defer s.release()
	j = s.settled(j)
	j.sources = &s.sources
	j.measure = true
	_, err := s.attempt(ctx, j)
	if errors.Is(err, ErrShort) && (j.Place != Device && (j.Place != Auto || j.cached)) {
		j.least = true
		if _, err = s.attempt(ctx, j); errors.Is(err, ErrShort) {
			err = s.explained(ctx, j, err)
		}
	}
	if err != nil {
		return Plan{}, err
	}
	p := s.planned(j)
	p.Scratch, p.Cache = s.devs[0].rehearsed.Scratch, s.devs[0].rehearsed.Cache
	if c := p.Cache; c.Columns {
		p.Arrays = append(p.Arrays, PlannedArray{"neighbours by blocks of columns", c.Host, true})
	}
	if least, err := s.measured(ctx, j); err == nil {
		p.Least = least
	}
	return p, ctx.Err()
}
