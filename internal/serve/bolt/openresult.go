package bolt

import (
	"context"
	"fmt"
	"reflect"
	"time"
)

// open is a result that the client has not read to its end.
type open struct {
	Result
	graph string
	first time.Time
	rows  int64
	quiet bool // the client wants no notifications
	stop  context.CancelFunc

	begun bool      // rows were asked for
	asked time.Time // when the client last asked for rows

	over    bool // it ended before the client asked for the rest
	err     error
	summary Summary
}

func (o *open) close() {
	o.Result.Close()
	o.stop()
}

// wait blocks until there is a message; false: the connection ends. Results that the server cuts short, or that the client leaves alone, end
// in the meantime, so that others get their turn.
func (c *conn) wait() (m []byte, ok bool) {
	draining := c.s.draining
	for {
		var watched []*open // that have not ended
		var next *open      // whose time is over first
		for _, r := range c.results {
			if r.over {
				continue
			}
			if watched = append(watched, r); next == nil || c.patience(r).Before(c.patience(next)) {
				next = r
			}
		}
		var late <-chan time.Time
		if next != nil {
			t := time.NewTimer(time.Until(c.patience(next)))
			defer t.Stop()
			late = t.C
		}
		const first = 4
		cases := make([]reflect.SelectCase, first, first+len(watched))
		for i, of := range []any{c.queue, c.base.Done(), late, draining} {
			cases[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(of)}
		}
		for _, r := range watched {
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(r.Done())})
		}
		switch i, x, more := reflect.Select(cases); i {
		case 0:
			if !more {
				return nil, false
			}
			return x.Bytes(), true
		case 1:
			return nil, false
		case 2:
			next.settle(&Error{Code: CodeTerminated, Message: fmt.Sprintf("the client has asked for no rows for %v", c.patience(next).Sub(next.asked))})
		case 3:
			if c.idle() {
				return nil, false
			}
			draining = nil
		default:
			watched[i-first].settle(nil)
		}
	}
}

// patience is the time at which a result ends whose client asks for no more rows. One that has begun keeps others waiting for their turn.
func (c *conn) patience(r *open) time.Time {
	if r.begun {
		return r.asked.Add(min(c.s.o.IdleTimeout, c.s.o.WriteTimeout))
	}
	return r.asked.Add(c.s.o.IdleTimeout)
}

// settle ends a result before the client asks for the rest. why is nil if the search has ended already, which knows the reason.
func (o *open) settle(why error) {
	if o.over {
		return
	}
	o.over, o.err = true, why
	if why != nil {
		o.stop()
	}
	for {
		more, err := o.Next()
		if more && err == nil {
			continue
		}
		if o.err == nil {
			o.err = err
		}
		break
	}
	if o.err == nil {
		o.summary = o.Summary()
	}
	o.close()
}

func (c *conn) closeResults() {
	for id, r := range c.results {
		r.close()
		delete(c.results, id)
	}
}
