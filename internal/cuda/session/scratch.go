package session

import (
	"errors"
	"slices"

	"github.com/weftgraph/weft/internal/cuda"
)

// spares are pieces of scratch memory that runs have given back and that the device keeps for the next ones: the driver takes
// a millisecond to give memory, and waits for the device when it takes it back. They are not in use for the budget, and go
// whenever other memory is needed. The oldest is the first.
type spares struct {
	all   []cuda.Buffer
	bytes int64
}

// sparesShare is the part of its budget that a device keeps at most.
const sparesShare = 16

// take returns the smallest piece of at least so many bytes, and at most twice as many.
func (s *spares) take(bytes int64) (b cuda.Buffer, ok bool) {
	best := -1
	for i, b := range s.all {
		if b.Size >= bytes && b.Size <= 2*bytes && (best < 0 || b.Size <= s.all[best].Size) {
			best = i
		}
	}
	if best < 0 {
		return b, false
	}
	b = s.all[best]
	s.all = slices.Delete(s.all, best, best+1)
	s.bytes -= b.Size
	return b, true
}

// shrink frees the oldest pieces until all have at most so many bytes.
func (s *spares) shrink(c *cuda.Context, bytes int64) error {
	var errs []error
	for s.bytes > max(bytes, 0) {
		b := s.all[0]
		s.all = s.all[1:]
		s.bytes -= b.Size
		errs = append(errs, c.Free(b))
	}
	return errors.Join(errs...)
}

// scratch is alloc for memory that release gives back. The piece may be larger than what was asked for.
func (d *device) scratch(c *cuda.Context, job, what string, bytes int64) (cuda.Buffer, error) {
	if b, ok := d.spares.take(bytes); ok {
		d.room.used += b.Size
		if d.room.left() >= 0 {
			return b, nil
		}
		if err := d.release(c, b); err != nil { // the rest of the piece is too much
			return cuda.Buffer{}, err
		}
	}
	return d.alloc(c, job, what, bytes)
}

// release keeps memory of scratch for a later run.
func (d *device) release(c *cuda.Context, b cuda.Buffer) error {
	if b.Size == 0 {
		return nil
	}
	d.room.used -= b.Size
	d.spares.all = append(d.spares.all, b)
	d.spares.bytes += b.Size
	return d.spares.shrink(c, min(d.room.limit/sparesShare, d.room.left()))
}
