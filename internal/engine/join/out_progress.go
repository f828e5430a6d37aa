package join

import (
	"fmt"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/memory"
)

// tellTime is how often progress is told.
const tellTime = 250 * time.Millisecond

// tell tells how far the device is: at segment k of n that step t.step reads.
func (t *outside) tell(k, n int) error {
	if t.Goal.Details == nil || !t.told.IsZero() && time.Since(t.told) < tellTime {
		return nil
	}
	t.told = time.Now()
	m := t.meter.Sofar()
	rows := uint64(0)
	for l := range t.rows {
		rows += t.rows[l].Load()
	}
	done := min(t.joined, t.rows[0].Load())
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Goal.Details(done, t.x.Tasks(), fmt.Sprintf("phase %d of %d, segment %d of %d, %d rows, %s", t.step, len(t.steps)-1, k, n, rows, copies(m)))
	return nil
}

// copies says in words what was copied.
func copies(m session.Metered) string {
	text := memory.Text(uint64(m.Copied)) + " copied"
	if m.Copying > 0 {
		text += fmt.Sprintf(" in %v, %.1f GiB a second, %.0f %% of the time behind kernels", m.Copying.Round(time.Microsecond), float64(m.Copied)/m.Copying.Seconds()/(1<<30), 100*float64(m.Hidden)/float64(m.Copying))
	}
	return text
}

// outStats says how the run went.
func (o *outRun) outStats() []string {
	m := o.metered
	var kinds []string
	for i := range o.steps {
		kinds = append(kinds, o.steps[i].Kind())
	}
	said := []string{
		"join: " + strings.Join(kinds, ", "),
		fmt.Sprintf("join: out of core: %s; at most %d segments of a relation", &o.room, o.room.segments),
	}
	said = append(said, fmt.Sprintf("join: %s; kernels took %v, and wrote %s to the host's memory", copies(m), m.Computing.Round(time.Microsecond), memory.Text(uint64(o.back))))
	said = append(said, gpu.CopiesOf(m).Line())
	if o.shorts > 0 {
		said = append(said, fmt.Sprintf("join: the shortest lists of %d rows made their candidates", o.shorts))
	}
	if o.nests > 0 {
		text := fmt.Sprintf("join: the segments of an edge passed %d times by segments that stayed on the device", o.nests)
		if o.halts > 0 {
			text += fmt.Sprintf("; candidates that waited for further edges interrupted %d times", o.halts)
		}
		said = append(said, text)
	}
	if o.aheads > 0 {
		said = append(said, fmt.Sprintf("join: %d segments were on their way before the pass that read them", o.aheads))
	}
	return append(said, o.store.said()...)
}
