package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/vfs"
)

// testClock is a clock that only sleeping moves.
type testClock struct {
	now  time.Time
	stop time.Time // sleeping until later ends with errStop, if it is not zero
}

var errStop = errors.New("stopped")

func (c *testClock) Now() time.Time { return c.now }

func (c *testClock) Sleep(_ context.Context, until time.Time) error {
	if !c.stop.IsZero() && until.After(c.stop) {
		return errStop
	}
	c.now = until
	return nil
}

// timedWriter notes when each piece was written. It fails after some bytes, if most is not 0.
type timedWriter struct {
	clock *testClock
	start time.Time
	log   strings.Builder
	n     int
	most  int
}

func (w *timedWriter) Write(b []byte) (int, error) {
	if w.most > 0 && w.n+len(b) > w.most {
		k := w.most - w.n
		w.n = w.most
		return k, io.ErrShortWrite
	}
	w.n += len(b)
	fmt.Fprintf(&w.log, "%v %s", w.clock.now.Sub(w.start), bytes.ReplaceAll(b, []byte("\n"), []byte("; ")))
	w.log.WriteByte('\n')
	return len(b), nil
}

func TestReplay(t *testing.T) {
	const in = "# c\n+ 1 2 A 10\n+ 1 3 A 10\n- 1 2 A\n\n+ 1 4 A 12.5\n+ 1 5 A 9\n+ 1 6 A 30\n"
	all := "+ 1 2 A 10; + 1 3 A 10; - 1 2 A; + 1 4 A 12.5; + 1 5 A 9; + 1 6 A 30; "
	for _, c := range []struct {
		name, in string
		p        Pace
		stop     time.Duration
		most     int
		written  uint64
		want     string
		err      error
	}{
		{name: "own", in: in, p: Pace{Speed: 1}, written: 6, want: "0s + 1 2 A 10; + 1 3 A 10; - 1 2 A; \n2.5s + 1 4 A 12.5; + 1 5 A 9; \n20s + 1 6 A 30; \n"},
		{name: "ten times", in: in, p: Pace{Speed: 10}, written: 6, want: "0s + 1 2 A 10; + 1 3 A 10; - 1 2 A; \n250ms + 1 4 A 12.5; + 1 5 A 9; \n2s + 1 6 A 30; \n"},
		{name: "max", in: in, written: 6, want: "0s " + all + "\n"},
		{name: "rate", in: "+ 1 2\n+ 1 3\n- 1 2\n", p: Pace{Rate: 4}, written: 3, want: "0s + 1 2; \n250ms + 1 3; \n500ms - 1 2; \n"},
		{name: "interrupted", in: in, p: Pace{Speed: 1}, stop: 10 * time.Second, written: 5, want: "0s + 1 2 A 10; + 1 3 A 10; - 1 2 A; \n2.5s + 1 4 A 12.5; + 1 5 A 9; \n", err: errStop},
		{name: "short write", in: in, most: 29, written: 2, err: io.ErrShortWrite},
		{name: "no times", in: "+ 1 2\n", p: Pace{Speed: 1}, err: ErrNoTimes},
		{name: "no times, max", in: "+ 1 2\n", written: 1, want: "0s + 1 2; \n"},
		{name: "dates", in: "+ 1 2 _ 2026-01-01\n+ 1 3 _ 2026-01-01T00:00:01Z\n", p: Pace{Speed: 2}, written: 2, want: "0s + 1 2 _ 2026-01-01; \n500ms + 1 3 _ 2026-01-01T00:00:01Z; \n"},
		{name: "microseconds", in: "+ 1 2 _ 1767225600000000\n+ 1 3 _ 1767225600500000\n", p: Pace{Speed: 1}, written: 2, want: "0s + 1 2 _ 1767225600000000; \n500ms + 1 3 _ 1767225600500000; \n"},
		{name: "mistake", in: "+ 1 2 A 10\nx\n+ 1 3 A 11\n", p: Pace{Speed: 1}, written: 1, want: "0s + 1 2 A 10; \n", err: errStop},
		{name: "empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Open(t.Context(), vfs.OS{}, "-", strings.NewReader(c.in), Options{Lateness: -1, Times: Times{Nanoseconds: true}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			clock := &testClock{now: time.Unix(1000, 0)}
			if c.stop > 0 {
				clock.stop = clock.now.Add(c.stop)
			}
			w := &timedWriter{clock: clock, start: clock.now, most: c.most}
			n, err := Replay(t.Context(), f, w, c.p, clock, func(*InputError) error { return errStop })
			if n != c.written || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || w.log.String() != c.want {
				t.Errorf("%d written, %v,\n%swant %d\n%s", n, err, w.log.String(), c.written, c.want)
			}
		})
	}
}

// TestSystemClock checks that sleeping ends with the context.
func TestSystemClock(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var c SystemClock
	if err := c.Sleep(ctx, c.Now().Add(-time.Hour)); err != nil {
		t.Error(err)
	}
	cancel(errStop)
	if err := c.Sleep(ctx, c.Now().Add(time.Hour)); err != errStop {
		t.Error(err)
	}
}

// pieces notes the sizes of what is written.
type pieces struct {
	sizes []int
	last  byte
}

func (p *pieces) Write(b []byte) (int, error) {
	p.sizes = append(p.sizes, len(b))
	p.last = b[len(b)-1]
	return len(b), nil
}

// TestWholeLines checks that each piece has whole lines, and is no larger than a pipe takes at once.
func TestWholeLines(t *testing.T) {
	in := strings.Repeat("+ 1 2 abc\n", 2000) + "+ 1 2 " + strings.Repeat("x", 5000) + "\n" + strings.Repeat("+ 1 2 abc\n", 10)
	f, err := Open(t.Context(), vfs.OS{}, "-", strings.NewReader(in), Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var w pieces
	n, err := Replay(t.Context(), f, &w, Pace{}, &testClock{}, nil)
	if n != 2011 || err != nil {
		t.Fatal(n, err)
	}
	sum := 0
	for _, size := range w.sizes {
		sum += size
		if size > 4096 && size != 5007 || size%10 != 0 && size != 5007 {
			t.Errorf("a piece of %d bytes", size)
		}
	}
	if sum != len(in) || w.last != '\n' || len(w.sizes) > 10 {
		t.Errorf("%d bytes of %d in pieces %v", sum, len(in), w.sizes)
	}
}
