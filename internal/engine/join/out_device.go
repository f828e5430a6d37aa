package join

import (
	"errors"
	"fmt"
	"sync"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
)

// Kernels of out-of-core joins.
const (
	segmentMake  = "join_segment_make"
	segmentSize  = "join_segment_size"
	segmentCheck = "join_segment_check"
	segmentSign  = "join_segment_signs"
	segmentTake  = "join_segment_tasks"
)

const segmentsText = "#include \"join/segments.cuh\"\n"

// subTable is the memory of a sub-table: page-locked memory for what kernels read, which is copied to the device unless kernels read it
// there, and for what they write.
type subTable struct {
	in              []byte      // what kernels read
	device          cuda.Buffer // where they read it, unless that is in the host's memory
	inPtr, at       uint64      // the address of in; and where it is in the memory of all sub-tables
	row, out        []uint32
	head            *segmentHead
	rowPtr, outPtr  uint64
	headPtr, counts uint64 // counts: device address of three counters
	sent, done      *cuda.Event
	turn            uint64
	took            func(h segmentHead) error // takes what the kernel has made, on the consumer's goroutine

	filled  int      // bytes of in
	columns []uint32 // of each row, one behind the other
	with    []uint32
}

// line is the pipeline of a device. While kernels read sub-tables, the device's goroutine fills the next one, and the consumer's goroutine takes
// what kernels have made. Why a goroutine of its own: the device would wait while its goroutine takes candidates.
type line struct {
	x       *session.Exec
	meter   *session.Meter
	stream  *cuda.Stream // of copies
	subs    []subTable
	flying  []*subTable    // that kernels read, in the order of launches
	idle    chan *subTable // that may be filled
	ready   chan *subTable // for the consumer; nil: it is not there
	pending sync.WaitGroup // sub-tables in ready, or in the consumer's hands
	ended   chan struct{}  // the consumer has ended
	mu      sync.Mutex
	failure error // of the consumer
	memory  *cuda.Pinned
	kernels map[string]*cuda.Kernel
	turn    uint64
	plan    *outPlan
	poll    func() error // between launches
	ran     func(kernel string)
	back    int64 // bytes that kernels have written to the host's memory
}

// newLine takes memory for sub-tables as the plan has them.
func newLine(x *session.Exec, m *session.Meter, p *outPlan) (l *line, err error) {
	l = &line{x: x, meter: m, plan: p, kernels: map[string]*cuda.Kernel{}, poll: func() error { return nil }}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	read := p.subTable()
	var device cuda.Buffer
	if !p.inPlace {
		if device, err = x.Scratch("sub-tables", subTables*read); err != nil {
			return l, err
		}
	}
	counts, err := x.Scratch("counters of sub-tables", subTables*32)
	if err != nil {
		return l, err
	}
	if err := x.Context().Clear(counts, x.Stream()); err != nil {
		return l, err
	}
	if l.stream, err = x.Context().Stream(); err != nil {
		return l, err
	}
	each := aligned(read + 2*4*int64(p.made) + 64)
	if l.memory, err = x.Lend(subTables * each); err != nil {
		return l, err
	}
	l.subs = make([]subTable, subTables)
	for i := range l.subs {
		s, at := &l.subs[i], int64(i)*each
		memory, ptr := l.memory.Bytes()[at:at+each], l.memory.Ptr()+uint64(at)
		s.in, s.inPtr, s.at = memory[:read], ptr, uint64(at)
		if !p.inPlace {
			s.device = cuda.Buffer{Ptr: device.Ptr + uint64(int64(i)*read), Size: read}
		}
		made := 4 * p.made
		s.row, s.rowPtr = view[uint32](memory[read:], p.made), ptr+uint64(read)
		s.out, s.outPtr = view[uint32](memory[int(read)+made:], p.made), s.rowPtr+uint64(made)
		s.head, s.headPtr = &view[segmentHead](memory[int(read)+2*made:], 1)[0], s.outPtr+uint64(made)
		*s.head = segmentHead{} // of another run
		s.counts = counts.Ptr + 32*uint64(i)
		if s.sent, err = x.Context().Event(); err != nil {
			return l, err
		}
		if s.done, err = x.Context().Event(); err != nil {
			return l, err
		}
	}
	l.idle, l.ready, l.ended = make(chan *subTable, len(l.subs)), make(chan *subTable, len(l.subs)), make(chan struct{})
	for i := range l.subs {
		l.idle <- &l.subs[i]
	}
	go l.consume()
	return l, nil
}

// consume takes what kernels have made, one sub-table after the other. After an error it takes nothing.
func (l *line) consume() {
	defer close(l.ended)
	for s := range l.ready {
		if l.failed() == nil {
			if err := faultless(func() error { return s.took(*s.head) }); err != nil {
				l.mu.Lock()
				l.failure = err
				l.mu.Unlock()
			}
		}
		l.idle <- s
		l.pending.Done()
	}
}

// failed is the consumer's error.
func (l *line) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// fill gives a sub-table the segments that are held, and room for n rows: their columns, and `with` a word for each row and one more.
func (s *subTable) fill(held []segmentHeld, columns, n int) {
	at := copy(s.in, raw(held))
	words := view[uint32](s.in[at:], columns*n+n+1)
	s.columns, s.with = words[:columns*n], words[columns*n:]
	s.filled = at + 4*len(words)
}

// kernel finds a kernel.
func (l *line) kernel(name string) (*cuda.Kernel, error) {
	if k := l.kernels[name]; k != nil {
		return k, nil
	}
	k, err := l.x.Kernel(name)
	l.kernels[name] = k
	return k, err
}

// free returns a sub-table to fill. Blocks until there is one: until a kernel has ended, if two of them wait, or until the consumer has taken what
// one has made.
func (l *line) free() (*subTable, error) {
	for len(l.flying) > subTables-3 {
		if err := l.hand(); err != nil {
			return nil, err
		}
	}
	s := <-l.idle
	return s, l.failed()
}

// hand waits for the kernel that was launched first, and hands its sub-table to the consumer.
func (l *line) hand() error {
	s := l.flying[0]
	l.flying = l.flying[1:]
	if err := s.done.Synchronize(); err != nil {
		return err
	}
	if s.head.Turn != s.turn {
		return &cuda.Error{Op: Name, Kind: cuda.ErrLaunch, Text: fmt.Sprintf("launch number %d did not run", s.turn)}
	}
	if s.head.Made > uint64(len(s.row)) {
		return &cuda.Error{Op: Name, Kind: cuda.ErrLaunch, Text: fmt.Sprintf("%d candidates in a sub-table for %d", s.head.Made, len(s.row))}
	}
	l.pending.Add(1)
	l.ready <- s
	return nil
}

// drain ends all sub-tables, in the order of their launches. Blocks until the consumer has taken what they have.
func (l *line) drain() error {
	for len(l.flying) > 0 {
		if err := l.hand(); err != nil {
			return err
		}
		if err := l.poll(); err != nil {
			return err
		}
	}
	return l.settle()
}

// settle waits until the consumer has nothing to do, and returns its error. Kernels may still run.
func (l *line) settle() error {
	l.pending.Wait()
	return l.failed()
}

// launched notes that a kernel was launched for a sub-table.
func (l *line) launched(s *subTable) error {
	l.flying = append(l.flying, s)
	return s.done.Record(l.x.Stream())
}

// launch sends what fill has made of the sub-table, and runs a kernel over `units` candidates. took gets what it has made, later.
func (l *line) launch(name string, s *subTable, a segmentArgs, units uint64, took func(h segmentHead) error) error {
	k, err := l.kernel(name)
	if err != nil {
		return err
	}
	at := s.inPtr
	if !l.plan.inPlace {
		at = s.device.Ptr
		bytes := int64(s.filled)
		err := l.meter.Copies(bytes, l.stream, func() error { return l.x.Context().Send(s.device, 0, l.memory, int64(s.at), bytes, l.stream) })
		if err != nil {
			return err
		}
		if err := s.sent.Record(l.stream); err != nil {
			return err
		}
		if err := l.x.Stream().Follow(s.sent); err != nil {
			return err
		}
	} else {
		l.meter.Copied += int64(s.filled)
	}
	l.turn++
	s.turn, s.took = l.turn, took
	a.Held = at
	a.With = at + uint64(s.filled-4*len(s.with))
	a.Columns = a.With - uint64(4*len(s.columns))
	a.Row, a.Out = s.rowPtr, s.outPtr
	a.Made, a.Done, a.Head, a.Turn = s.counts, s.counts+16, s.headPtr, s.turn
	if err := l.run(k, name, units, func(g cuda.Launch) error { return session.LaunchFixed(l.x, k, g, &a) }); err != nil {
		return err
	}
	if err := l.launched(s); err != nil {
		return err
	}
	return l.poll()
}

// run launches a kernel over units, each for a lane.
func (l *line) run(k *cuda.Kernel, name string, units uint64, launch func(g cuda.Launch) error) error {
	threads := blockThreads
	if l.x.Info().Emulated {
		threads = emulatedThreads
	}
	shared := 0
	if name == segmentMake {
		shared = threads / 32 * 128 * 4
	}
	resident, err := k.Resident(threads, shared)
	if err != nil {
		return err
	}
	blocks := int(min(uint64(max(resident, 1)), (units+uint64(threads)-1)/uint64(threads)))
	l.ran(name)
	return l.meter.Kernels(l.x.Stream(), func() error {
		return launch(cuda.Launch{Blocks: max(blocks, 1), Threads: threads, Shared: shared})
	})
}

// close waits for work that may read or write the memory, and gives back what the run does not.
func (l *line) close() error {
	var errs []error
	if l.ready != nil {
		close(l.ready)
		<-l.ended
	}
	if l.stream != nil {
		errs = append(errs, l.stream.Synchronize())
	}
	errs = append(errs, l.x.Stream().Synchronize())
	for i := range l.subs {
		for _, e := range []*cuda.Event{l.subs[i].sent, l.subs[i].done} {
			if e != nil {
				errs = append(errs, e.Close())
			}
		}
	}
	if l.stream != nil {
		errs = append(errs, l.stream.Close())
	}
	return errors.Join(errs...)
}
