package cuda

import (
	"encoding/binary"

	"github.com/weftgraph/weft/internal/kir"
)

// Part is one array of a global that lies in device memory.
type Part uint8

// Parts of globals. An Adj has the first three and Levels, and Cache and Shift in text that is compiled with
// WEFT_CACHED. If it is sparse it has Bitmaps and Rows in place of Off and First. A Bits or a Col has Words, and a Col also Valid: the
// bits of the rows that have a value. An Array has IDs.
const (
	Off Part = iota
	Neighbours
	First
	Words
	Valid
	IDs
	Bitmaps
	Rows
	Levels // no address: struct Adj's levels
	Cache
	Shift // no address: struct Adj's shift
)

// Layout returns the bytes of the struct Graph that Text writes, for a graph of
// n vertices. address says where a part lies on the device; 0 where there is
// none, which First, Valid and Cache may be. cached says that the text is compiled
// with WEFT_CACHED.
func Layout(p *kir.Program, n uint32, cached bool, address func(g *kir.GlobalDef, part Part) uint64) []byte {
	var b []byte
	for _, m := range members {
		none := true
		parts := partsOf(m.kind, false)
		if cached && m.kind == kir.Adj {
			parts = append(parts, Cache, Shift)
		}
		for _, g := range p.Globals {
			if g.Kind != m.kind {
				continue
			}
			none = false
			copy(parts, partsOf(m.kind, g.Sparse != nil))
			for _, part := range parts {
				x := uint64(0)
				switch {
				case part != Levels:
					x = address(g, part)
				case g.Sparse != nil:
					x = uint64(g.Sparse.Levels)
				}
				b = binary.LittleEndian.AppendUint64(b, x)
			}
		}
		if none && m.always {
			b = append(b, make([]byte, 8*len(parts))...)
		}
	}
	b = binary.LittleEndian.AppendUint32(b, n)
	for _, g := range p.Globals {
		if g.Kind == kir.U32 {
			b = binary.LittleEndian.AppendUint32(b, g.Value)
		}
	}
	return append(b, make([]byte, -len(b)&7)...)
}

func partsOf(k kir.Kind, sparse bool) []Part {
	switch k {
	case kir.Adj:
		if sparse {
			return []Part{Bitmaps, Neighbours, Rows, Levels}
		}
		return []Part{Off, Neighbours, First, Levels}
	case kir.Bits:
		return []Part{Words}
	case kir.Col:
		return []Part{Words, Valid}
	}
	return []Part{IDs}
}
