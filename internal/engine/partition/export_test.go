package partition

import (
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
)

// NewChunks is New with a bound on the bytes of a chunk. A chunk has room for one neighbour of each vertex of a row, also if that is more.
func NewChunks(s *session.Session, inCore func(s *session.Session) []engine.Engine, bytes int64) *Engine {
	return &Engine{s: s, inCore: inCore, chunk: bytes}
}

// Kernels returns the texts of all kernels, by name.
func Kernels() map[string]string {
	texts := kernelTexts()
	for name, text := range texts {
		texts[name] = kernelsText + text
	}
	return texts
}

// SetCheck replaces the check of the host's memory.
func SetCheck(p engine.Prepared, check func(what string, need uint64, budget int64) error) {
	p.(*prepared).check = check
}
