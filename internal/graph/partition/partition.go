// Package partition cuts the vertices of a graph into parts of about equal size with few edges
// between them. Searches take one part at a time to a device (PBE: Guo et al., SIGMOD 2020).
//
// It has a multilevel partitioner of its own, after Karypis and Kumar (SIAM J. Sci. Comput. 1998),
// and runs METIS where that is installed. Partitions are kept in files next to the graph's.
//
// It must not know patterns, plans or engines.
package partition

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/weftgraph/weft/internal/graph"
)

// Method is a program that makes partitions.
type Method uint8

// The methods.
const (
	Builtin Method = iota
	METIS
)

// Methods are the methods' names.
var Methods = [...]string{"builtin", "metis"}

// String returns the method's name.
func (m Method) String() string { return Methods[m] }

// ParseMethod returns the method of a name. "auto" and "" are Builtin, which every machine has.
func ParseMethod(name string) (Method, error) {
	if name == "" || name == "auto" {
		return Builtin, nil
	}
	if i := slices.Index(Methods[:], name); i >= 0 {
		return Method(i), nil
	}
	return 0, fmt.Errorf("%q is not a method of partitioning: want auto, builtin or metis", name)
}

// DefaultSlack is the usual Options.Slack.
const DefaultSlack = 0.03

// maxParts bounds the memory of the parts' sizes.
const maxParts = 1 << 20

// Options say which partition is wanted.
type Options struct {
	Method Method
	// Parts is the number of parts, from 1 to 2^20. Parts may be empty where a graph has fewer vertices.
	Parts int
	// Slack is the share by which a part may have more bytes than the mean: with 0.03, 3 % more. A
	// part gets more only where vertices cannot be divided, as when one hub has more than a part's share.
	Slack float64
	// Seed is that of the random choices of Builtin. METIS has its own.
	Seed uint64
	// Threads changes no result. 0 means all cores.
	Threads int
}

// Check finds values that make no sense.
func (o *Options) Check() error {
	switch {
	case o.Parts < 1 || o.Parts > maxParts:
		return fmt.Errorf("%d parts: want a number from 1 to %d", o.Parts, maxParts)
	case !(o.Slack >= 0 && o.Slack <= 10):
		return fmt.Errorf("an imbalance of %v: want a number from 0 to 10, as 0.03 for 3 %%", o.Slack)
	}
	return nil
}

// Partition is the part of each vertex, and the sizes that follow.
type Partition struct {
	Of    []uint32 // by vertex, from 0 to len(Parts)-1
	Parts []Part
	// Cut is the number of pairs of neighbours in different parts.
	Cut uint64
}

// Part is the size of one part.
type Part struct {
	Vertices uint64
	Inside   uint64 // pairs of neighbours that are both in the part
	Cross    uint64 // pairs of neighbours of which one is in the part
	Bytes    uint64 // of the offsets and entries of its vertices' lists, in each direction of a directed graph
}

// Balance is the bytes of the largest part, divided by the mean of all parts; 1 is perfect. It is
// 1 for a graph without vertices.
func (p *Partition) Balance() float64 {
	var most, sum uint64
	for _, x := range p.Parts {
		most, sum = max(most, x.Bytes), sum+x.Bytes
	}
	if sum == 0 {
		return 1
	}
	return float64(most) / (float64(sum) / float64(len(p.Parts)))
}

// listBytes are those of the lists of v: an offset and the entries, of 8 and 4 bytes.
func listBytes(g *graph.Graph, v uint32) uint64 {
	b := 8 + 4*uint64(g.Out.Degree(v))
	if g.Directed {
		b += 8 + 4*uint64(g.In.Degree(v))
	}
	return b
}

// Make partitions the vertices of g. Directions of edges do not matter. The same options give the same
// partition, with any number of threads. Make blocks until it is made or ctx ends. The error
// wraps ErrNoMETIS if the method needs METIS and it cannot be used.
func Make(ctx context.Context, g *graph.Graph, o Options) (*Partition, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	of, err := divide(ctx, g, &o)
	if err != nil {
		return nil, err
	}
	return measure(ctx, g, of, o.Parts, o.Threads)
}

// divide returns the part of each vertex.
func divide(ctx context.Context, g *graph.Graph, o *Options) ([]uint32, error) {
	n := g.NumVertices()
	of := make([]uint32, n)
	switch {
	case o.Parts == 1 || n == 0:
		return of, ctx.Err()
	case o.Parts >= n:
		for v := range of {
			of[v] = uint32(v)
		}
		return of, ctx.Err()
	}
	lists := g.Any()
	w := &weighted{off: lists.Off, adj: lists.Adj, vertex: make([]int64, n)}
	for v := range w.vertex {
		w.vertex[v] = int64(listBytes(g, uint32(v)) / 4)
	}
	w.sum()
	if o.Method == METIS {
		return runMETIS(ctx, w, o.Parts, o.Slack)
	}
	threads := o.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return multilevel(ctx, w, o.Parts, o.Slack, o.Seed, threads)
}

// measure finds the sizes of k parts.
func measure(ctx context.Context, g *graph.Graph, of []uint32, k, threads int) (*Partition, error) {
	p := &Partition{Of: of, Parts: make([]Part, k)}
	lists := g.Any()
	var mu sync.Mutex
	ends := make([]uint64, k) // of pairs inside a part, each twice
	err := graph.Parallel(ctx, lists.Off, threads, func(lo, hi uint32) {
		found := map[uint32]*[2]uint64{}
		for v := lo; v < hi; v++ {
			x := found[of[v]]
			if x == nil {
				x = new([2]uint64)
				found[of[v]] = x
			}
			for _, u := range lists.List(v) {
				if of[u] == of[v] {
					x[0]++
				} else {
					x[1]++
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for part, x := range found {
			ends[part] += x[0]
			p.Parts[part].Cross += x[1]
		}
	})
	if err != nil {
		return nil, err
	}
	for v, part := range of {
		x := &p.Parts[part]
		x.Vertices++
		x.Bytes += listBytes(g, uint32(v))
	}
	for i := range p.Parts {
		p.Parts[i].Inside = ends[i] / 2
		p.Cut += p.Parts[i].Cross
	}
	p.Cut /= 2
	return p, nil
}
