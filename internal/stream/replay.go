package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Pace says when recorded updates are written.
type Pace struct {
	// Rate is the number of updates in a second. 0 means that their times decide.
	Rate float64
	// Speed is how much faster than by their times updates are written. 0 means as fast as possible.
	Speed float64
}

// Clock is a clock to write by.
type Clock interface {
	Now() time.Time
	// Sleep returns at a time, or with the cause of ctx if that ends first.
	Sleep(ctx context.Context, until time.Time) error
}

// SystemClock is the system's clock.
type SystemClock struct{}

// Now returns the time.
func (SystemClock) Now() time.Time { return time.Now() }

// Sleep returns at a time, or with the cause of ctx if that ends first.
func (SystemClock) Sleep(ctx context.Context, until time.Time) error {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Source is a Reader whose updates are lines. *File is one.
type Source interface {
	Reader
	// Line returns the line of the last update.
	Line() []byte
	// Waiting reports whether Next returns without a wait.
	Waiting() bool
}

// ErrNoTimes means that updates have no times by which they could be written.
var ErrNoTimes = errors.New("the updates have no times")

// Replay writes the lines of updates to w, at a pace. Their times are in nanoseconds. An update without a time, or with an earlier time
// than the first, is due with the one before it. Lines that are due together are written together, before Replay waits
// for the clock or for r. A call of w.Write has whole lines, of at most 4096 bytes unless it is a single line. It returns the number of updates
// that were written whole. skip is called with each mistake; its error ends the replay. The other errors are those of r and w,
// ErrNoTimes about the first update, and the cause of ctx.
func Replay(ctx context.Context, r Source, w io.Writer, p Pace, clock Clock, skip func(*InputError) error) (written uint64, err error) {
	const room = 4096 // a pipe takes so much wholly or, if its reader does not read, not at all
	t := &Tolerant{Reader: r, Each: skip}
	start := clock.Now()
	var buf []byte
	flush := func() error {
		n, err := w.Write(buf)
		written += uint64(bytes.Count(buf[:n], []byte{'\n'}))
		buf = buf[:0]
		return err
	}
	var u Update
	var first int64
	due := start
	for n := uint64(0); ; n++ {
		if !r.Waiting() {
			if err := flushed(len(buf), flush); err != nil {
				return written, err
			}
		}
		if err := t.Next(&u); err != nil {
			if err == io.EOF {
				err = nil
			}
			return written, errors.Join(flushed(len(buf), flush), err)
		}
		switch {
		case p.Rate > 0:
			due = start.Add(duration(float64(n) / p.Rate * 1e9))
		case p.Speed == 0:
		case n == 0 && !u.HasTime:
			return written, fmt.Errorf("%w: the first has none", ErrNoTimes)
		case n == 0:
			first = u.Time
		case u.HasTime && u.Time >= first:
			due = start.Add(duration(float64(uint64(u.Time)-uint64(first)) / p.Speed))
		}
		if due.After(start) && due.After(clock.Now()) {
			if err := flushed(len(buf), flush); err != nil {
				return written, err
			}
			if err := clock.Sleep(ctx, due); err != nil {
				return written, err
			}
		}
		if len(buf)+len(r.Line())+1 > room {
			if err := flushed(len(buf), flush); err != nil {
				return written, err
			}
		}
		buf = append(append(buf, r.Line()...), '\n')
	}
}

// flushed flushes what there is.
func flushed(n int, flush func() error) error {
	if n == 0 {
		return nil
	}
	return flush()
}

// duration returns nanoseconds as a Duration, of which the longest is 292 years.
func duration(ns float64) time.Duration {
	return time.Duration(min(ns, math.MaxInt64/2))
}
