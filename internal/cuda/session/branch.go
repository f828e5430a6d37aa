package session

import (
	"errors"

	"github.com/weftgraph/weft/internal/cuda"
)

// branch is a stream beside the run's, for kernels of the search that may run at
// the same time.
type branch struct {
	stream *cuda.Stream
	end    *cuda.Event
	used   bool
}

// Branch makes a stream for kernels of the search that run beside those of
// x.Stream: they begin when the search begins, and the search ends when they have
// ended. It is made in Start and goes into the Launch that is given to Launch.
func (x *Exec) Branch() (*cuda.Stream, error) {
	s, err := x.c.Stream()
	if err != nil {
		return nil, err
	}
	b := &branch{stream: s}
	x.branches = append(x.branches, b)
	b.end, err = x.c.Event()
	return s, err
}

// enter makes a branch wait for the beginning of the search.
func (x *Exec) enter(s *cuda.Stream) error {
	for _, b := range x.branches {
		if b.stream == s {
			if b.used {
				return nil
			}
			b.used = true
			return s.Follow(x.begin)
		}
	}
	return errors.New("session: a launch in a stream that is no branch of the run")
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
	for _, b := range x.branches {
		if b.end != nil {
			errs = append(errs, b.end.Close())
		}
		errs = append(errs, b.stream.Close())
	}
	return errors.Join(errs...)
}
