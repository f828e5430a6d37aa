package gen

import (
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/weftgraph/weft/internal/graph"
)

// maxLabels is the most labels of vertices, and of edges.
const maxLabels = 1 << 20

// checkLabels checks the parameters of labels.
func (s *Spec) checkLabels() error {
	for _, n := range []uint64{s.VertexLabels, s.EdgeLabels} {
		if n > maxLabels {
			return bad("%d labels: at most %d", n, maxLabels)
		}
	}
	if !(s.Skew >= 0 && s.Skew <= 16) {
		return bad("skew %v: want 0 … 16", s.Skew)
	}
	if s.Skew != 0 && s.VertexLabels == 0 && s.EdgeLabels == 0 {
		return bad("a skew of labels, and no labels")
	}
	return nil
}

// labels draws labels 0 … n-1 by a power law: label k has a weight of (k+1)^-skew.
type labels struct {
	upTo []uint64 // sum of the weights of the labels up to this one
	text [][]byte
	seed uint64
}

// newLabels returns labels, or nil if n is 0. of tells apart labels of the same seed.
func newLabels(n uint64, skew float64, seed, of uint64) *labels {
	if n == 0 {
		return nil
	}
	l := &labels{seed: mix(mix(seed) ^ of)}
	sum := uint64(0)
	for k := range n {
		sum += max(1, uint64(math.Round(math.Pow(float64(k+1), -skew)*(1<<40))))
		l.upTo = append(l.upTo, sum)
		l.text = append(l.text, strconv.AppendUint(nil, k, 10))
	}
	return l
}

// draw returns the label of a key. A key always has the same label.
func (l *labels) draw(key uint64) int {
	r, _ := bits.Mul64(mix(l.seed^key), l.upTo[len(l.upTo)-1])
	k, found := slices.BinarySearch(l.upTo, r)
	if found {
		k++
	}
	return k
}

// edges returns a column with the labels of edges. An edge's label depends on its ends, so that
// the number of threads changes nothing and edges that are made twice stay one.
func (l *labels) edges(src, dst []uint64, directed bool) *graph.StringColumn {
	c := &graph.StringColumn{Off: make([]uint32, 1, len(src)+1)}
	for i, u := range src {
		v := dst[i]
		if !directed {
			u, v = min(u, v), max(u, v)
		}
		c.Bytes = append(c.Bytes, l.text[l.draw(mix(u)+v)]...)
		c.Off = append(c.Off, uint32(len(c.Bytes)))
	}
	return c
}

// vertices gives the vertices 0 … n-1 to b with their labels.
func (l *labels) vertices(b *graph.Builder, n uint64) error {
	text := make([][]string, len(l.text))
	for k, t := range l.text {
		text[k] = []string{string(t)}
	}
	for lo := uint64(0); lo < n; lo += chunkEdges {
		c := &graph.VertexChunk{Seq: lo}
		for v := lo; v < min(lo+chunkEdges, n); v++ {
			c.ID, c.Labels = append(c.ID, v), append(c.Labels, text[l.draw(v)])
		}
		if err := b.AddVertices(c); err != nil {
			return err
		}
	}
	return nil
}
