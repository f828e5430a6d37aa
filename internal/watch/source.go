package watch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/stream"
)

// Source gives updates in their order, and says how far it is. *stream.File is one.
type Source interface {
	stream.Reader
	// Position returns the numbers of lines and bytes up to the end of the last update.
	Position() (lines, offset int64)
	// Place returns where the last update is.
	Place() stream.Place
	// Waiting reports whether Next has an update without a wait.
	Waiting() bool
	Close() error
}

// Resumer is a Source that can begin in its middle.
type Resumer interface {
	Source
	// Resume makes the next update the one after a position that Position returned, in this process or another. It is called before Next. at is
	// the state of the reader there. read is the offset of another position, up to which updates were read. The error says that the updates after
	// the position, or some of those that were read, are gone.
	Resume(lines, offset, read int64, at stream.State) error
	// State returns the state of the reader, whose Latest is not needed.
	State() stream.State
}

// Trimmer is a Source that keeps updates until they are not needed.
type Trimmer interface {
	// Trim is called after a checkpoint. Updates before a position will not be asked for.
	Trim(lines, offset int64) error
	// Crowded reports whether the room for updates ends.
	Crowded() bool
	// Worth reports whether the updates between two offsets take so much of the room that a file of the graph after the second one, instead of the
	// first, should be written for Trim.
	Worth(from, to int64) bool
}

// progress is how far a source was read, besides its position. It does not change.
type progress struct {
	state    stream.State
	mistakes [stream.Kinds]uint64
}

// ahead reads a source on a goroutine of its own, up to a bound, which holds the source's producer back. The goroutine writes updates
// into a ring, and the service reads them from there without copying.
type ahead struct {
	updates []stream.Update
	lines   []int64
	offsets []int64
	places  []stream.Place
	reached []*progress
	came    []time.Time

	head atomic.Uint64 // updates that the service has released
	tail atomic.Uint64 // updates that were read

	mu     sync.Mutex
	cond   sync.Cond
	sleeps atomic.Int32 // the service or the goroutine is about to wait
	err    error        // why there are no more updates after tail
	ended  bool
	stop   bool
	done   chan struct{}
}

// stampEvery is the number of updates after which the clock is read anew, if they come without a wait.
const stampEvery = 32

// newAhead starts to read. size is the number of updates that may wait.
func newAhead(src *tolerant, size int) *ahead {
	a := &ahead{
		updates: make([]stream.Update, size), lines: make([]int64, size), offsets: make([]int64, size), places: make([]stream.Place, size),
		reached: make([]*progress, size), came: make([]time.Time, size), done: make(chan struct{}),
	}
	a.cond.L = &a.mu
	go a.read(src)
	return a
}

func (a *ahead) read(src *tolerant) {
	defer close(a.done)
	reached := src.progress(nil)
	size := uint64(len(a.updates))
	var stamp time.Time
	for tail := uint64(0); ; tail++ {
		if tail-a.head.Load() == size && !a.wait(func() bool { return tail-a.head.Load() < size }) {
			return
		}
		i := tail % size
		fresh := tail%stampEvery == 0 || !src.Waiting()
		err := src.Next(&a.updates[i])
		if err != nil {
			a.end(err)
			return
		}
		if fresh {
			stamp = time.Now()
		}
		a.lines[i], a.offsets[i] = src.Position()
		reached = src.progress(reached)
		a.reached[i] = reached
		a.places[i] = src.Place()
		a.came[i] = stamp
		a.tail.Store(tail + 1)
		a.wake()
	}
}

// wait blocks until ready, and reports whether reading goes on.
func (a *ahead) wait(ready func() bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sleeps.Add(1)
	defer a.sleeps.Add(-1)
	for !a.stop && !ready() {
		a.cond.Wait()
	}
	return !a.stop
}

// wake ends waits, if there are any.
func (a *ahead) wake() {
	if a.sleeps.Load() > 0 {
		a.mu.Lock()
		a.cond.Broadcast()
		a.mu.Unlock()
	}
}

func (a *ahead) end(err error) {
	a.mu.Lock()
	a.err, a.ended = err, true
	a.cond.Broadcast()
	a.mu.Unlock()
}

// take returns the updates that wait, at most most, after it has waited for one until the deadline. They are the caller's until
// release. It returns none after the deadline. The error is io.EOF at the end, that of the source, or the cause of ctx.
func (a *ahead) take(ctx context.Context, most int, deadline time.Time) (us []stream.Update, first uint64, err error) {
	head := a.head.Load()
	if a.tail.Load() == head {
		wake := func() {
			a.mu.Lock()
			a.cond.Broadcast()
			a.mu.Unlock()
		}
		defer context.AfterFunc(ctx, wake)()
		late := false
		if !deadline.IsZero() {
			timer := time.AfterFunc(time.Until(deadline), func() {
				a.mu.Lock()
				late = true
				a.cond.Broadcast()
				a.mu.Unlock()
			})
			defer timer.Stop()
		}
		a.wait(func() bool { return a.tail.Load() > head || a.ended || late || ctx.Err() != nil })
	}
	if ctx.Err() != nil {
		return nil, head, context.Cause(ctx)
	}
	n := a.tail.Load() - head
	if n == 0 {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.ended && a.tail.Load() == head {
			return nil, head, a.err
		}
		return nil, head, nil
	}
	size := uint64(len(a.updates))
	i := head % size
	n = min(n, uint64(most), size-i)
	return a.updates[i : i+n], head, nil
}

// stamp returns when the update with a number came.
func (a *ahead) stamp(i uint64) time.Time { return a.came[i%uint64(len(a.came))] }

// position returns the position in the source after the update with a number, and how far the source was read.
func (a *ahead) position(i uint64) (lines, offset int64, p *progress) {
	i %= uint64(len(a.offsets))
	return a.lines[i], a.offsets[i], a.reached[i]
}

// place returns where the update with a number is in the source.
func (a *ahead) place(i uint64) stream.Place { return a.places[i%uint64(len(a.places))] }

// release gives n updates back.
func (a *ahead) release(n int) {
	a.head.Add(uint64(n))
	a.wake()
}

// waiting returns the number of updates that were read and not released.
func (a *ahead) waiting() uint64 { return a.tail.Load() - a.head.Load() }

// close tells the goroutine to end after the read that is under way.
func (a *ahead) close() {
	a.mu.Lock()
	a.stop = true
	a.cond.Broadcast()
	a.mu.Unlock()
}

var _ Source = (*stream.File)(nil)
