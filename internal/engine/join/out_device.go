package join

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
)

// Kernels of out-of-core joins.
const (
	segmentMake  = "join_segment_make"
	segmentSize  = "join_segment_size"
	segmentCheck = "join_segment_check"
	segmentHits  = "join_segment_hits"
	segmentSign  = "join_segment_signs"
	segmentTake  = "join_segment_tasks"
)

const segmentsText = "#include \"join/segments.cuh\"\n"

// subTable is the memory of a sub-table: columns in page-locked memory that are copied to the device, and
// what kernels write for it.
type subTable struct {
	at, with                []uint32 // page-locked
	row, out                []uint32
	head                    *segmentHead
	rowPtr, outPtr, headPtr uint64
	device                  cuda.Buffer // both columns
	counts                  uint64      // device address of two counters
	sent, done              *cuda.Event
	turn                    uint64
	took                    func(made uint64) error // nil: it is free
}

// line is the pipeline of a device: while a kernel reads one sub-table, the host fills the next.
type line struct {
	x       *session.Exec
	meter   *session.Meter
	stream  *cuda.Stream // of copies
	subs    []subTable
	next    int
	memory  *cuda.Pinned
	kernels map[string]*cuda.Kernel
	turn    uint64
	rows    int
	poll    func() error // between launches
	ran     func(kernel string)
}

// newLine takes memory for sub-tables of the given number of rows.
func newLine(x *session.Exec, m *session.Meter, rows int) (l *line, err error) {
	l = &line{x: x, meter: m, rows: rows, kernels: map[string]*cuda.Kernel{}, poll: func() error { return nil }}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	column := int64(rows) + 16
	device, err := x.Scratch("two columns of sub-tables", subTables*subRowBytes*column)
	if err != nil {
		return l, err
	}
	counts, err := x.Scratch("counters of sub-tables", subTables*16)
	if err != nil {
		return l, err
	}
	if err := x.Context().Clear(counts, x.Stream()); err != nil {
		return l, err
	}
	if l.stream, err = x.Context().Stream(); err != nil {
		return l, err
	}
	made := int64(l.room())
	each := (4*(2*column+2*made) + 64 + 127) &^ 127
	if l.memory, err = x.Lend(subTables * each); err != nil {
		return l, err
	}
	l.subs = make([]subTable, subTables)
	for i := range l.subs {
		s, at := &l.subs[i], int64(i)*each
		array := func(n int64) (words []uint32, ptr uint64) {
			words, ptr = view[uint32](l.memory.Bytes()[at:], int(n)), l.memory.Ptr()+uint64(at)
			at += 4 * n
			return words, ptr
		}
		s.at, _ = array(column)
		s.with, _ = array(column)
		s.row, s.rowPtr = array(made)
		s.out, s.outPtr = array(made)
		at = (at + 63) &^ 63
		s.head, s.headPtr = &view[segmentHead](l.memory.Bytes()[at:], 1)[0], l.memory.Ptr()+uint64(at)
		*s.head = segmentHead{} // of another run
		s.device = cuda.Buffer{Ptr: device.Ptr + uint64(i)*uint64(subRowBytes*column), Size: subRowBytes * column}
		s.counts = counts.Ptr + 16*uint64(i)
		if s.sent, err = x.Context().Event(); err != nil {
			return l, err
		}
		if s.done, err = x.Context().Event(); err != nil {
			return l, err
		}
	}
	return l, nil
}

// room is how many candidates a sub-table may have.
func (l *line) room() int { return 2*l.rows + 64 }

// kernel finds a kernel.
func (l *line) kernel(name string) (*cuda.Kernel, error) {
	if k := l.kernels[name]; k != nil {
		return k, nil
	}
	k, err := l.x.Kernel(name)
	l.kernels[name] = k
	return k, err
}

// free returns the next sub-table. It waits for the kernel that uses it, and first hands over what the kernel has made.
func (l *line) free() (*subTable, error) {
	s := &l.subs[l.next]
	l.next = (l.next + 1) % len(l.subs)
	return s, l.end(s)
}

// end waits for a sub-table, and takes what kernels have made for it.
func (l *line) end(s *subTable) error {
	took := s.took
	if took == nil {
		return nil
	}
	s.took = nil
	if err := s.done.Synchronize(); err != nil {
		return err
	}
	if s.head.Turn != s.turn {
		return &cuda.Error{Op: Name, Kind: cuda.ErrLaunch, Text: fmt.Sprintf("launch number %d did not run", s.turn)}
	}
	return took(s.head.Made)
}

// drain ends all sub-tables, in their order.
func (l *line) drain() error {
	for range l.subs {
		if _, err := l.free(); err != nil {
			return err
		}
	}
	return nil
}

// launch sends `at` numbers of the sub-table's first column and `with` of its second, and runs a kernel over
// `units` candidates. took gets the number that it has made, later.
func (l *line) launch(name string, s *subTable, a segmentArgs, at, with int, units uint64, took func(made uint64) error) error {
	k, err := l.kernel(name)
	if err != nil {
		return err
	}
	column := int64(l.rows) + 16
	second := 4 * column
	from := int64(uintptr(unsafe.Pointer(&s.at[0])) - uintptr(unsafe.Pointer(&l.memory.Bytes()[0])))
	err = l.meter.Copies(4*int64(at+with), l.stream, func() error {
		if err := l.x.Context().Send(s.device, 0, l.memory, from, 4*int64(at), l.stream); err != nil {
			return err
		}
		return l.x.Context().Send(s.device, second, l.memory, from+second, 4*int64(with), l.stream)
	})
	if err != nil {
		return err
	}
	if err := s.sent.Record(l.stream); err != nil {
		return err
	}
	if err := l.x.Stream().Follow(s.sent); err != nil {
		return err
	}
	l.turn++
	s.turn, s.took = l.turn, took
	a.At, a.With, a.Row, a.Out = s.device.Ptr, s.device.Ptr+uint64(second), s.rowPtr, s.outPtr
	a.Made, a.Done, a.Head, a.Turn = s.counts, s.counts+8, s.headPtr, s.turn
	if err := l.run(k, name, units, func(g cuda.Launch) error { return session.LaunchFixed(l.x, k, g, &a) }); err != nil {
		return err
	}
	if err := s.done.Record(l.x.Stream()); err != nil {
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
	if name == segmentMake || name == segmentSize {
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
