package session

import (
	"context"
	"errors"

	"github.com/weftgraph/weft/internal/cuda"
)

// The driver copies memory that is not pinned through its own small pinned buffer, by one
// thread. Large arrays are mostly pages of a mapped file. They go through stageSlots pieces of
// pinned memory instead. Several goroutines fill some pieces while others are on the bus.
const (
	stageSlots = 16
	stageBusy  = 4 // slots on the bus, the others are being filled
	stageSlot  = segment
	stageLeast = 8 << 20 // smaller arrays are copied plainly
)

// stage is a device's pinned memory for uploads, kept between runs.
type stage struct {
	mem    *cuda.Pinned
	stream *cuda.Stream
	sent   []*cuda.Event // by slot: its last copy has ended
}

func newStage(c *cuda.Context) (s *stage, err error) {
	s = &stage{}
	if s.mem, err = c.Pinned(stageSlots * stageSlot); err != nil {
		return nil, err
	}
	if s.stream, err = c.Stream(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	for range stageSlots {
		e, err := c.Event()
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.sent = append(s.sent, e)
	}
	return s, nil
}

func (s *stage) close() error {
	errs := []error{s.mem.Free()}
	for _, e := range s.sent {
		errs = append(errs, e.Close())
	}
	if s.stream != nil {
		errs = append(errs, s.stream.Close())
	}
	return errors.Join(errs...)
}

// slot is the memory of a slot.
func (s *stage) slot(i int) []byte { return s.mem.Bytes()[i*stageSlot : (i+1)*stageSlot] }

// piece is a filled slot and where it goes.
type piece struct {
	slot, n int
	at      int64
}

// upload fills b from a source and waits until it is there.
func (s *stage) upload(ctx context.Context, c *cuda.Context, b cuda.Buffer, from Source) error {
	free, full := make(chan int, stageSlots), make(chan piece, stageSlots)
	for k := range stageSlots {
		free <- k
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	filled := make(chan struct{})
	go func() {
		defer close(filled)
		err := eachSegment(ctx, from.Size(), min(stageSlots-stageBusy, fillers()), func(at int64, n int) error {
			select {
			case slot := <-free:
				if err := read(from, s.slot(slot)[:n], at); err != nil {
					return err
				}
				full <- piece{slot, n, at} // has room for every slot
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		if err != nil {
			fail(err)
		}
	}()
	err := s.send(ctx, c, b, free, full, (from.Size()+segment-1)/segment)
	fail(err)
	<-filled
	return errors.Join(err, s.stream.Synchronize())
}

// send puts filled pieces on the bus, and frees slots in the order in which they
// were sent.
func (s *stage) send(ctx context.Context, c *cuda.Context, b cuda.Buffer, free chan<- int, full <-chan piece, pieces int64) error {
	var busy []int
	for range pieces {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		var p piece
		select {
		case p = <-full:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := c.Send(b, p.at, s.mem, int64(p.slot*stageSlot), int64(p.n), s.stream); err != nil {
			return err
		}
		if err := s.sent[p.slot].Record(s.stream); err != nil {
			return err
		}
		busy = append(busy, p.slot)
		if len(busy) > stageBusy {
			if err := s.sent[busy[0]].Synchronize(); err != nil {
				return err
			}
			free <- busy[0]
			busy = busy[1:]
		}
	}
	return nil
}
