package graph

import (
	"context"
	"sync"
)

// soundness is whether a graph's structure was checked, and what was wrong.
type soundness struct {
	mu      sync.Mutex
	checked bool
	err     error
}

// Sound is CheckStructure for code that reads a graph without checking indices:
// made once for a graph that is a file too large to be verified when it was
// opened; others are sound.
func (g *Graph) Sound(ctx context.Context, threads int) error {
	if g.file == nil || len(g.file.data) <= smallFile {
		return nil
	}
	g.sound.mu.Lock()
	defer g.sound.mu.Unlock()
	if !g.sound.checked {
		err := g.CheckStructure(ctx, threads)
		if ctx.Err() != nil {
			return err
		}
		g.sound.checked, g.sound.err = true, err
	}
	return g.sound.err
}
