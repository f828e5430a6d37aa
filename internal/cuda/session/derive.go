package session

import (
	_ "embed"
	"errors"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
)

//go:embed prepare.cu
var prepareText string

// prepared is the module of the session's own kernels.
func prepared(c *cuda.Context) (*cuda.Module, error) {
	return c.Module(cuda.Source{Name: "prepare.cu", Text: prepareText, Includes: kernels.Includes()})
}

// deriveThreads is the block size of kernels that go over all vertices.
const deriveThreads = 256

// first fills b with where the larger ids begin in each of n lists.
func first(c *cuda.Context, off, adj cuda.Buffer, b cuda.Buffer) (err error) {
	m, err := prepared(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	k, err := m.Kernel("first")
	if err != nil {
		return err
	}
	blocks, err := k.Resident(deriveThreads, 0)
	if err != nil {
		return err
	}
	p := struct{ Off, Adj, None, First, N uint64 }{off.Ptr, adj.Ptr, 0, b.Ptr, uint64(b.Size / 8)}
	if err := k.Launch(cuda.Launch{Blocks: max(blocks, 1), Threads: deriveThreads}, &p); err != nil {
		return err
	}
	return c.Main().Synchronize()
}
