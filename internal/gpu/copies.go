package gpu

import (
	"fmt"
	"time"

	"github.com/weftgraph/weft/internal/cuda/session"
)

// Copies are what a search copied to its GPUs while it ran: sums over these.
type Copies struct {
	Bytes        int64
	Took, Hidden time.Duration // Hidden is the part of the time in which kernels ran
}

// copiesLine is a line of a result's statistics.
const copiesLine = "copies of the search to GPUs: %d bytes in %d ns, of which kernels ran for %d ns"

// CopiesOf returns what meters have measured.
func CopiesOf(m session.Metered) Copies { return Copies{m.Copied, m.Copying, m.Hidden} }

// Line is the line of statistics.
func (c Copies) Line() string { return fmt.Sprintf(copiesLine, c.Bytes, c.Took, c.Hidden) }

// Read reads the copies from a result's statistics. It returns false if there are none.
func (c *Copies) Read(stats []string) (found bool) {
	*c = Copies{}
	for _, line := range stats {
		var x Copies
		if n, _ := fmt.Sscanf(line, copiesLine, &x.Bytes, &x.Took, &x.Hidden); n == 3 {
			c.Bytes, c.Took, c.Hidden, found = c.Bytes+x.Bytes, c.Took+x.Took, c.Hidden+x.Hidden, true
		}
	}
	return found
}

// Rate is the bytes copied in a second of copying, in GiB; 0: nothing was copied.
func (c Copies) Rate() float64 {
	if c.Took <= 0 {
		return 0
	}
	return float64(c.Bytes) / c.Took.Seconds() / (1 << 30)
}

// Overlap is the share of the time of copying in which kernels ran.
func (c Copies) Overlap() float64 {
	if c.Took <= 0 {
		return 0
	}
	return float64(c.Hidden) / float64(c.Took)
}
