package route

import (
	"context"
	"fmt"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/join"
)

// Rates of a GPU that auto compares with the processor where the graph does not fit. They are of triangles and cliques of
// four in an R-MAT graph of 100 million edges on an H100 (docs/notes/2026-11-23-gpu-out-of-core.md), for which the cost model
// counts 9.0 and 8.8 billion set elements.
const (
	// stepsOfGPU is how many set elements a GPU reads in a second in its own memory: 24.7 and 25.9 ms.
	stepsOfGPU = 3.5e11
	// stepsOverBus is how many it reads in host memory: 709 and 699 ms.
	stepsOverBus = 1.27e10
	// slowerParts and slowerSegments are how many times as long as in core engine partition, where few edges are between parts,
	// and engine join with segments took at most.
	slowerParts    = 13
	slowerSegments = 140
)

// tightShare: a search may need so much of a GPU's memory besides the graph's arrays that it is prepared there, to see
// whether it fits, where they take more than 1/tightShare of the memory.
const tightShare = 2

// outOfCore compares a GPU that auto would take with the processor, which takes so long, where the graph does not fit the
// GPU. faster reports whether the GPU is to be taken; why gives the reason, "" if the graph fits. It prepares the
// query on the GPU if its memory is tight, and if the GPU can be faster at all.
func outOfCore(ctx context.Context, c *Choice, takes time.Duration) (why string, faster bool) {
	m := c.ready.Traits().Memory
	if m == nil || m.Parts == nil && m.Host() == 0 && arrayBytes(m) <= m.Budget/tightShare {
		return "", true
	}
	if least := c.timeOutOfCore(&engine.Memory{}); m.Host() > 0 && takes <= least {
		return notFit(c, least), false
	}
	m, short, err := c.rehearse(ctx, engine.Goal{})
	switch {
	case err != nil:
		return fmt.Sprintf("%s cannot: %v", c.device, err), false
	case m.Least > m.Budget:
		return fmt.Sprintf("the graph does not fit the memory of %s, where %d bytes are the least that this query works with", c.device, m.Least), false
	case short != nil:
		return fmt.Sprintf("%s cannot: %v", c.device, short), false
	case m.Parts == nil && m.Host() == 0:
		return "", true
	}
	needs := c.timeOutOfCore(m)
	why = notFit(c, needs)
	switch {
	case m.Parts != nil:
		why += fmt.Sprintf(" by engine %s", c.Engine.Name())
	case m.Cache != nil:
		why += fmt.Sprintf(" with lists in host memory, and copies for %.0f %% of the reads", 100*m.Cache.Reads)
	default:
		why += " with lists in host memory"
	}
	return why, needs < takes
}

func notFit(c *Choice, needs time.Duration) string {
	return fmt.Sprintf("the graph does not fit the memory of %s, which is expected to take some %s", c.device, roughly(needs))
}

// timeOutOfCore is how long a GPU with that memory is expected to take, its start included. Without arrays it is the least.
func (c *Choice) timeOutOfCore(m *engine.Memory) time.Duration {
	work := c.Plan.Work()
	seconds := work / stepsOfGPU
	switch {
	case m.Parts != nil && c.Engine.Name() == join.Name:
		seconds *= slowerSegments
	case m.Parts != nil:
		seconds *= slowerParts
	case len(m.Arrays) > 0:
		missed := 1.0
		if m.Cache != nil {
			missed -= m.Cache.Reads
		}
		seconds += missed * work / stepsOverBus
	}
	return startOfGPU + time.Duration(min(seconds, 1e9)*1e9)
}

func arrayBytes(m *engine.Memory) (n int64) {
	for _, a := range m.Arrays {
		n += a.Bytes
	}
	return n
}
