package format

import (
	"encoding/binary"

	"github.com/weftgraph/weft/internal/graph"
)

// readSG reads the serialized graphs of the GAP benchmark suite (Beamer, Asanović, Patterson;
// writer.h). A file has these parts, one after another:
//
//	bool directed, i64 arcs, i64 vertices, i64 offsets[vertices+1], neighbours[arcs]
//
// A directed graph has the offsets and neighbours of the inverse after them. A neighbour is an
// i32, or in .wsg an i32 and an i32 weight.
func (r *reading) readSG(f Format) error {
	b, err := r.openBinary("GAPBS's layout")
	if err != nil {
		return err
	}
	defer b.in.Close()
	var h [17]byte
	if err := b.bytes(h[:], "the header"); err != nil {
		return err
	}
	if h[0] > 1 {
		return b.fail(0, ErrHeader, "the first byte (directed) is %d, not 0 or 1", h[0])
	}
	directed := h[0] == 1
	m, n := binary.LittleEndian.Uint64(h[1:]), binary.LittleEndian.Uint64(h[9:])
	if n > r.o.maxVertices() || n >= 1<<31 {
		return b.fail(9, ErrOverflow, "%d vertices; at most %d can be read", n, min(r.o.maxVertices(), 1<<31-1))
	}
	if m > 1<<56 {
		return b.fail(1, ErrHeader, "%d edges; is this GAPBS's layout?", m)
	}
	width := uint64(4)
	if f == WSG {
		width = 8
	}
	half := 8*(n+1) + width*m
	need := 17 + half
	if directed {
		need += half
	}
	if err := b.checkSize(need, 0); err != nil {
		return err
	}
	if err := r.room(n, m); err != nil {
		return err
	}
	off, err := b.uint64s(n+1, "the offsets")
	if err != nil {
		return err
	}
	if err := b.checkOffsets(off, m); err != nil {
		return err
	}
	file := Undirected
	if directed {
		file = Directed
	}
	r.begin(file)
	if !directed && r.directed {
		r.mirror = true
		r.note("--directed on undirected adjacency: each edge is two")
	}
	r.stat.Columns = "src,dst"
	if f == SG && !r.o.KeepDuplicates && len(r.sides) == 0 && r.directed == directed {
		in := graph.CSRInput{Directed: directed, Off: off}
		if in.Adj, err = b.lists(n, m); err != nil {
			return err
		}
		if directed {
			if err := b.skip(half); err != nil {
				return err
			}
		}
		if err := b.end(); err != nil {
			return err
		}
		return b.make(in)
	}
	if err := b.arcs(off, f == WSG, !directed); err != nil {
		return err
	}
	if directed { // the inverse says the same again
		if err := b.skip(half); err != nil {
			return err
		}
	}
	if err := b.end(); err != nil {
		return err
	}
	if f == WSG {
		r.stat.Columns += ",weight:int"
	}
	return r.addRange(0, n)
}

func (b *binReader) skip(n uint64) error {
	buf := make([]byte, 256<<10)
	for n > 0 {
		k := min(n, uint64(len(buf)))
		if err := b.bytes(buf[:k], "the inverse"); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// looksSG checks the header and offsets in a file's head.
func looksSG(h []byte) bool {
	if len(h) < 25 || h[0] > 1 {
		return false
	}
	m, n := binary.LittleEndian.Uint64(h[1:]), binary.LittleEndian.Uint64(h[9:])
	return n < 1<<31 && m < 1<<56 && plausibleOffsets(h[17:], n, m)
}
