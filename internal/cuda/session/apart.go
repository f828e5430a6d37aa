package session

import (
	"context"
	"errors"
	"sync"
)

// Apart calls f with a session for each single device of s, in their order, for runs that are not runs of all devices. The
// sessions have the budgets of s and the arrays that its runs have left, and end when f returns; f does not close them. Their
// workers together are as many as those of s. Apart blocks until other runs of s have ended, and these wait until f returns.
// When s is closed meanwhile, further runs of the sessions return cuda.ErrClosed.
func (s *Session) Apart(ctx context.Context, f func(each []*Session) error) (err error) {
	if err := s.use.take(ctx); err != nil {
		return err
	}
	defer s.release()
	o := s.o
	used, idle := s.host.sizes()
	o.Host = (o.Host - used - idle) / int64(len(s.devs))
	each := make([]*Session, len(s.devs))
	locking := &sync.Mutex{}
	for i, d := range s.devs {
		use := newLock()
		use.closed = s.use.closed
		each[i] = &Session{o: o, devs: []*device{d}, use: use, workers: s.drainers(), locking: locking}
	}
	defer func() {
		for _, one := range each {
			one.use.held <- struct{}{} // also when s is closed
			one.release()
			err = errors.Join(append(one.lost, err, one.freeHost(func(*hostArray) bool { return true }))...)
		}
	}()
	return f(each)
}
