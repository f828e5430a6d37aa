package format

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"

	"github.com/weftgraph/weft/internal/graph"
)

// readGMatch reads gMatch's binary adjacency: u32 |V|, u32 |E|, u64
// offsets[|V|+1], i32 labels[|V|], i32 neighbours[2|E|]. Ids are 0 … |V|-1.
func (r *reading) readGMatch() error {
	b, err := r.openBinary("gMatch's layout")
	if err != nil {
		return err
	}
	defer b.in.Close()
	var h [8]byte
	if err := b.bytes(h[:], "the header"); err != nil {
		return err
	}
	n, m := uint64(binary.LittleEndian.Uint32(h[:])), uint64(binary.LittleEndian.Uint32(h[4:]))
	if n > r.o.maxVertices() {
		return b.fail(0, ErrOverflow, "%d vertices; at most %d can be read", n, r.o.maxVertices())
	}
	if err := b.checkSize(8+8*(n+1)+4*n+8*m, 0); err != nil {
		return err
	}
	if err := r.room(n, 2*m); err != nil {
		return err
	}
	off, err := b.uint64s(n+1, "the offsets")
	if err != nil {
		return err
	}
	if err := b.checkOffsets(off, 2*m); err != nil {
		return err
	}
	labels, err := b.int32s(n, "the labels")
	if err != nil {
		return err
	}
	labelled := false
	for i, l := range labels {
		if l < 0 {
			return b.fail(b.at-int64(4*(len(labels)-i)), ErrNumber, "vertex %d has the negative label %d", i, l)
		}
		labelled = labelled || l != 0
	}
	r.begin(FileDirection)
	if r.directed {
		r.mirror = true
		r.note("--directed on undirected adjacency: each edge is two")
	}
	r.stat.Columns = "src,dst"
	if !labelled && n > 0 {
		r.note("all vertex labels are 0: read as unlabelled")
	}
	if len(r.sides) == 0 && !r.o.KeepDuplicates && !r.directed {
		in := graph.CSRInput{Off: off}
		if labelled {
			in.Label, in.LabelNames = numberLabels(labels)
		}
		if in.Adj, err = b.lists(n, 2*m); err != nil {
			return err
		}
		if err := b.end(); err != nil {
			return err
		}
		return b.make(in)
	}
	if err := b.arcs(off, false, true); err != nil {
		return err
	}
	if err := b.end(); err != nil {
		return err
	}
	if !labelled {
		return r.addRange(0, n)
	}
	names := map[int32][]string{}
	const step = 1 << 16
	for i := uint64(0); i < n; i += step {
		c := &graph.VertexChunk{Seq: i / step}
		for j := i; j < min(n, i+step); j++ {
			l := labels[j]
			if names[l] == nil {
				names[l] = []string{strconv.Itoa(int(l))}
			}
			c.ID = append(c.ID, j)
			c.Labels = append(c.Labels, names[l])
		}
		if err := r.build.AddVertices(c); err != nil {
			return err
		}
	}
	return nil
}

// numberLabels numbers the labels that occur, in ascending order.
func numberLabels(labels []int32) ([]uint32, []string) {
	index := map[int32]uint32{}
	for _, l := range labels {
		index[l] = 0
	}
	var names []string
	for i, l := range slices.Sorted(maps.Keys(index)) {
		index[l] = uint32(i)
		names = append(names, strconv.Itoa(int(l)))
	}
	out := make([]uint32, len(labels))
	for i, l := range labels {
		out[i] = index[l]
	}
	return out, names
}

// looksGMatch checks the offsets in a file's head.
func looksGMatch(h []byte) bool {
	if len(h) < 24 {
		return len(h) >= 16 && binary.LittleEndian.Uint64(h) == 0 && binary.LittleEndian.Uint64(h[8:]) == 0
	}
	n, m := uint64(binary.LittleEndian.Uint32(h)), uint64(binary.LittleEndian.Uint32(h[4:]))
	return plausibleOffsets(h[8:], n, 2*m)
}

// plausibleOffsets: the numbers begin with 0, do not descend and stay below the
// end.
func plausibleOffsets(h []byte, n, end uint64) bool {
	last := uint64(0)
	for i := uint64(0); i <= n && len(h) >= 8; i++ {
		x := binary.LittleEndian.Uint64(h)
		if x < last || x > end || i == 0 && x != 0 || i == n && x != end {
			return false
		}
		last, h = x, h[8:]
	}
	return true
}
