package session

import (
	"errors"

	"github.com/weftgraph/weft/internal/cuda"
)

// branch is a second stream of the run, for kernels of the search that may run at the same
// time.
type branch struct {
	stream *cuda.Stream
	end    *cuda.Event
	used   bool
}

// Branch makes a stream for kernels of the search that run concurrently with those of x.Stream.
// They begin where Fork was called, and the search ends when they have ended. Call Branch in
// Start, and pass the stream in the cuda.Launch of Launch.
func (x *Exec) Branch() (*cuda.Stream, error) {
	s, err := x.c.Stream()
	if err != nil {
		return nil, err
	}
	if x.fork == nil {
		if x.fork, err = x.c.Event(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	b := &branch{stream: s}
	x.branches = append(x.branches, b)
	b.end, err = x.c.Event()
	return s, err
}

// Fork marks where branches begin: after the work that is in x.Stream now. Without branches it
// does nothing.
func (x *Exec) Fork() error {
	if len(x.branches) == 0 {
		return nil
	}
	return x.fork.Record(x.stream)
}

// enter makes a branch wait for the fork.
func (x *Exec) enter(s *cuda.Stream) error {
	for _, b := range x.branches {
		if b.stream == s {
			if b.used {
				return nil
			}
			b.used = true
			return s.Follow(x.fork)
		}
	}
	return errors.New("session: a launch in a stream that is not a branch of the run")
}

// join makes the run's stream wait for the branches.
func (x *Exec) join() error {
	for _, b := range x.branches {
		if !b.used {
			continue
		}
		if err := b.end.Record(b.stream); err != nil {
			return err
		}
		if err := x.stream.Follow(b.end); err != nil {
			return err
		}
	}
	return nil
}

// leave gives the branches up.
func (x *Exec) leave() error {
	var errs []error
	if x.fork != nil {
		errs = append(errs, x.fork.Close())
	}
	for _, b := range x.branches {
		if b.end != nil {
			errs = append(errs, b.end.Close())
		}
		errs = append(errs, b.stream.Close())
	}
	return errors.Join(errs...)
}
