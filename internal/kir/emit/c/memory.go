package c

import (
	"unsafe"

	"github.com/weftgraph/weft/internal/kir"
)

// Memory is the struct Graph of a program's text, and the memory that it points to.
type Memory struct {
	words []uint64
	keep  []any // targets of the words, for the garbage collector
	hubs  []hub
	last  uint32 // the largest id in the lists of hubs
}

// hub is struct Hub of graph.h.
type hub struct {
	bits         uintptr
	vertex, list uint32
}

// Range is the ids First … End-1.
type Range struct{ First, End uint32 }

// maxHubs is the largest number of hubs of a list. Together with the length that makes a hub it
// bounds the memory of their bitmaps: a bitmap is at most eight times as large as its list.
const maxHubs = 4096

// NewMemory lays out the globals of p. Hubs are looked for at the beginning of
// each of the ranges, as long as degrees are large: in weft's graphs ids ascend by
// falling degree within a label class.
func NewMemory(p *kir.Program, classes []Range) *Memory {
	m := &Memory{hubs: make([]hub, 1)}
	var adjs, rest []uint64
	for _, g := range p.Globals {
		if g.Kind == kir.Adj {
			index, most := m.find(g, classes)
			adjs = append(adjs, address(m, g.Off), address(m, g.Adj), address(m, g.First), address(m, index), most)
			s := g.Sparse
			if s == nil {
				s = &kir.Sparse{}
			}
			adjs = append(adjs, address(m, s.Words), address(m, s.Off), uint64(s.Levels))
		}
	}
	for _, kind := range []kir.Kind{kir.Bits, kir.Array, kir.Col} {
		for _, g := range p.Globals {
			switch {
			case g.Kind != kind:
			case kind == kir.Array:
				rest = append(rest, address(m, g.Adj))
			case kind == kir.Bits:
				rest = append(rest, address(m, g.Words))
			default:
				rest = append(rest, address(m, g.Words), address(m, g.Valid))
			}
		}
	}
	numbers := []uint32{0}
	for _, g := range p.Globals {
		if g.Kind == kir.Adj {
			numbers[0] = max(numbers[0], uint32(g.Vertices()))
		}
		if g.Kind == kir.U32 {
			numbers = append(numbers, g.Value)
		}
	}
	if len(numbers)%2 != 0 {
		numbers = append(numbers, 0)
	}
	const head = 3
	m.words = make([]uint64, 0, head+len(adjs)+len(rest)+len(numbers)/2)
	m.words = append(m.words, address(m, m.hubs), uint64(m.last)/64+1, 0)
	m.words = append(append(m.words, adjs...), rest...)
	if len(adjs) > 0 {
		m.words[2] = uint64(uintptr(unsafe.Pointer(&m.words[head])))
	}
	for i := 0; i < len(numbers); i += 2 {
		m.words = append(m.words, *(*uint64)(unsafe.Pointer(&numbers[i])))
	}
	return m
}

// Graph is the struct's address. The Memory must be kept as long as it is used.
func (m *Memory) Graph() uintptr { return uintptr(unsafe.Pointer(&m.words[0])) }

// Forget drops the bitmaps, which were freed.
func (m *Memory) Forget() {
	for i := range m.hubs {
		m.hubs[i].bits = 0
	}
}

// Bitmaps are the addresses of the bitmaps that code has made, which are the C
// library's to free.
func (m *Memory) Bitmaps() (out []uintptr) {
	for i := range m.hubs {
		if m.hubs[i].bits != 0 {
			out = append(out, m.hubs[i].bits)
		}
	}
	return out
}

// address is the address of a slice's memory, 0 for an empty one.
func address[T any](m *Memory, s []T) uint64 {
	if len(s) == 0 {
		return 0
	}
	m.keep = append(m.keep, s)
	return uint64(uintptr(unsafe.Pointer(&s[0])))
}

// find numbers the hubs of g, by vertex or by the row of a sparse list, and says how long a hub's list is at
// least.
func (m *Memory) find(g *kir.GlobalDef, classes []Range) (index []uint32, most uint64) {
	n := uint32(g.Vertices())
	lists, at := n, func(v uint32) uint32 { return v }
	if g.Sparse != nil {
		lists, at = uint32(len(g.Sparse.Off)-1), g.Sparse.Row
	}
	most = max(uint64(n)/256, 64)
	found := 0
	for _, c := range classes {
		for v := c.First; v < min(c.End, n) && found < maxHubs; v++ {
			list := g.List(v)
			if uint64(len(list)) < most {
				break
			}
			if index == nil {
				index = make([]uint32, lists)
			}
			found++
			m.last = max(m.last, list[len(list)-1])
			index[at(v)] = uint32(len(m.hubs))
			m.hubs = append(m.hubs, hub{vertex: v, list: uint32(g.Index)})
		}
	}
	if index == nil {
		most = 1 << 63
	}
	return index, most
}
