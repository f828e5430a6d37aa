package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/weftgraph/weft/internal/cuda"
)

// budget is how much device memory a session may take on one device, and has.
// Nothing is allocated that is not in it, so that a run that cannot fit is
// refused before it starts, with the numbers.
type budget struct {
	limit int64
	used  int64
	given bool // by the user, and not the device's own size
	// beyond is what a rehearsal may take besides, to find out how much it needs. limit never changes: it is read while runs go on.
	beyond int64
}

// reserve is memory for the driver, and for loaded kernels and their local memory.
const reserve = 512 << 20

func newBudget(c *cuda.Context, limit int64) (budget, error) {
	if limit < 0 {
		return budget{}, fmt.Errorf("session: a budget of %d bytes", limit)
	}
	free, total, err := c.Memory()
	if err != nil {
		return budget{}, err
	}
	if limit > 0 {
		return budget{limit: min(limit, total), given: true}, nil
	}
	return budget{limit: free - min(reserve, total/10)}, nil
}

func (b *budget) left() int64 { return b.limit + b.beyond - b.used }

// need is one line of a budget: a purpose and its bytes.
type need struct {
	what  string
	bytes int64
}

// tooLittle is the error of needs that exceed a device's free memory.
func (b *budget) tooLittle(info cuda.Info, job string, needs []need, left int64) error {
	var parts []string
	sum := int64(0)
	for _, n := range needs {
		if n.bytes > 0 {
			parts = append(parts, fmt.Sprintf("%s for %s", size(n.bytes), n.what))
			sum += n.bytes
		}
	}
	hint := "use a device with more memory, or the host"
	if b.given {
		hint = "raise --gpu-memory, use a device with more memory, or the host"
	}
	return &shortage{err: &cuda.Error{
		Op:   fmt.Sprintf("%s on %v", job, info),
		Text: fmt.Sprintf("it takes %s (%s), and %s of %s are left", size(sum), strings.Join(parts, ", "), size(max(left, 0)), size(b.limit)),
		Hint: hint,
		Kind: cuda.ErrMemory,
	}}
}

// ErrShort is the error of a run that needs more device memory than the session may use, or than
// other processes have left it.
// Nothing was searched. With Host in place of Auto a run may need less.
var ErrShort = errors.New("too little device memory")

// ErrTaken is the error of a run that is ErrShort because the device itself had less free memory than
// the session may use. Mostly another process has it. A later run may succeed.
var ErrTaken = errors.New("the device's memory is taken")

// shortage is an error that is ErrShort, and perhaps ErrTaken.
type shortage struct {
	err   *cuda.Error
	taken bool
	tried bool  // the run took as little as it can
	least int64 // the memory that would do, in bytes; 0: unknown
}

// TriedLeast reports whether a run had an error though it took as little device memory as it can.
func TriedLeast(err error) bool {
	var s *shortage
	return errors.As(err, &s) && s.tried
}

// LeastOf returns the smallest number of bytes of device memory with which a run works that had an error which is
// ErrShort; 0: the error does not say.
func LeastOf(err error) int64 {
	var s *shortage
	if errors.As(err, &s) {
		return s.least
	}
	return 0
}

func (s *shortage) Error() string { return s.err.Error() }
func (s *shortage) Unwrap() error { return s.err }
func (s *shortage) Is(target error) bool {
	return target == ErrShort || target == ErrTaken && s.taken
}

// Free returns how many bytes of device memory are free: the least of the session's devices. It blocks
// until other runs have ended, or returns the cause of ctx. It gives back what is kept for scratch memory.
func (s *Session) Free(ctx context.Context) (least int64, err error) {
	if err := s.use.take(ctx); err != nil {
		return 0, err
	}
	defer s.release()
	least = math.MaxInt64
	for _, d := range s.devs {
		err := d.dev.Do(func(c *cuda.Context) error {
			if err := d.spares.shrink(c, 0); err != nil {
				return err
			}
			free, _, err := c.Memory()
			least = min(least, free)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return least, nil
}

// size writes bytes for people.
func size(bytes int64) string {
	switch {
	case bytes < 10<<10:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 10<<20:
		return fmt.Sprintf("%d KiB", bytes>>10)
	case bytes < 10<<30:
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}
