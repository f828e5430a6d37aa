package partition

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/memory"
)

// need is the memory of a device that the searches across parts take, in bytes.
type need struct {
	fixed  int64 // the parts of vertices, marks, candidates and counters
	levels int64
	level  int64 // what a level has besides its share of rows and lists
	least  int64 // the share of a level with which a search begins
	enough int64 // the share that has room for the lists of any row that must be there whole
}

// begins is the memory with which a search begins.
func (n *need) begins() int64 { return n.fixed + n.levels*(n.level+n.least) }

// pageBytes is the unit in which memory is named.
const pageBytes = 4 << 10

// works is the memory that is enough whatever lists a search needs.
func (n *need) works() int64 {
	return (n.fixed + n.levels*(n.level+n.enough) + pageBytes - 1) / pageBytes * pageBytes
}

// allocBytes is the unit in which a device gives memory.
const allocBytes = 512

// allocated is what a device takes for so many bytes.
func allocated(bytes int64) int64 {
	return max(bytes+allocBytes-1, allocBytes) / allocBytes * allocBytes
}

// levelBytes is what a level has besides its share, where a kernel has so many warps: the rows that wait, and what the device
// takes more for each piece of memory.
func levelBytes(warps int) int64 {
	return places(warps)*int64(unsafe.Sizeof(devicePiece{})) + 4*allocBytes
}

// places is how many rows may wait: each warp leaves two at most.
func places(warps int) int64 { return int64(1) << bits.Len(uint(2*warps)) }

// needs returns the memory that the searches take.
func (x *prepared) needs() need {
	n, warps := int64(x.g.NumVertices()), 1
	for _, d := range x.s.Devices() {
		warps = max(warps, d.SMs*d.ThreadsPerSM/32)
	}
	out := need{
		fixed:  allocated(x.job().Beside()) + allocated(2*n) + allocated(int64(unsafe.Sizeof(deviceState{}))) + allocated(markBytes(n, x.sources())),
		levels: int64(x.levels()), level: levelBytes(warps),
	}
	var levels, maps int64
	known := map[string]bool{}
	for i := range x.searches {
		s := &x.searches[i]
		levels += int64(len(s.levels))
		maps += int64(len(s.maps))
		for l := 2; l < len(s.levels); l++ {
			if words := s.levels[l].bits; words != nil && !known[bitmapKey(words)] {
				known[bitmapKey(words)] = true
				out.fixed += allocated(8 * int64(len(words)))
			}
		}
	}
	out.fixed += allocated(levels*int64(unsafe.Sizeof(deviceLevel{}))) + allocated(maps)
	rows := int64(leastRows)
	if x.batch > 0 {
		rows = min(rows, int64(x.batch))
	}
	rows *= 4 * int64(x.levels()+1) // of the widest table
	out.least = 3 * (max(rows, x.leastSlot()) + 4)
	out.enough = max(out.least, 3*(x.longest()+4))
	return out
}

// levels is the number of levels that share the memory.
func (x *prepared) levels() int { return max(len(x.p.Order)-2, 1) }

// sources is the most relations whose lists a level reads.
func (x *prepared) sources() (n int) {
	for i := range x.searches {
		for l := 2; l < len(x.searches[i].levels); l++ {
			n = max(n, len(x.searches[i].levels[l].sources))
		}
	}
	return n
}

// leastSlot is the bytes of a chunk that has one neighbour of each vertex of a row.
func (x *prepared) leastSlot() int64 {
	most := 1
	for i := range x.searches {
		for l := 2; l < len(x.searches[i].levels); l++ {
			most = max(most, len(x.searches[i].levels[l].backs))
		}
	}
	return 4 * (3*int64(most) + 1)
}

// markBytes is the size of the marks of n vertices.
func markBytes(n int64, sources int) int64 { return 8 * (1 + (n+63)/64*int64(sources)) }

// bitmapKey is the same for equal bitmaps.
func bitmapKey(words []uint64) string {
	return string(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words)))
}

// longest returns the bytes of a slot that has room for the lists of any row whose last two vertices are counted together; 0: there
// are none. Lists of others may come in several chunks.
func (x *prepared) longest() (bytes int64) {
	longest := map[*graph.Handle]int64{}
	for i := range x.searches {
		s := &x.searches[i]
		if l := len(s.levels) - 2; s.pairs > 0 {
			n := int64(1)
			for k := l; k <= l+1; k++ {
				for _, b := range s.levels[k].backs {
					h := s.plan.Adjs[s.levels[k].sources[b.source]].Lists
					if _, ok := longest[h]; !ok {
						longest[h] = int64(h.MaxDegree())
					}
					n += longest[h] + 2
				}
			}
			bytes = max(bytes, 4*n)
		}
	}
	return bytes
}

// whole returns the bytes of a slot that has room for all lists that a level may need.
func (x *prepared) whole() (bytes int64) {
	for i := range x.searches {
		s := &x.searches[i]
		for l := 2; l < len(s.levels); l++ {
			n := int64(1)
			for _, adj := range s.levels[l].sources {
				h := s.plan.Adjs[adj].Lists
				n += 2*int64(h.NumVertices()) + int64(h.Pairs())
			}
			bytes = max(bytes, 4*n)
		}
	}
	return max(bytes, x.leastSlot())
}

// mostOf returns an upper bound of the number of rows with width vertices. It is at most mostRows.
func (x *prepared) mostOf(width int) int64 {
	most := int64(leastRows)
	for i := range x.searches {
		s := &x.searches[i]
		n := int64(1)
		for l := 1; l < width; l++ {
			lists := s.plan.Adjs[s.plan.Levels[l].Back[firstPositive(&s.plan.Levels[l])].Adj].Lists
			next := int64(lists.Pairs())
			if l > 1 {
				next = int64(lists.MaxDegree())
			}
			if n *= next; n >= mostRows {
				return mostRows
			}
		}
		most = max(most, n)
	}
	return most
}

// works is the smallest memory of a device that is known to be enough for the whole run.
func (x *prepared) works() int64 { return max(x.wants.works(), x.inner.least) }

// fits returns an error if the searches across parts cannot begin in the memory that the session may use. It is asked before
// the graph is cut, which takes long.
func (x *prepared) fits() error {
	if begins := x.wants.begins(); x.parts.Parts > 1 && x.s.Memory() < begins {
		return x.short(fmt.Sprintf("%d bytes of the device's memory may be used, and the part of each vertex, marks of vertices and tables take %d", x.s.Memory(), begins))
	}
	return nil
}

// short is the error of a search across parts that has too little memory. It names the memory that is enough for any row.
func (x *prepared) short(why string) error {
	return &cuda.Error{
		Op: fmt.Sprintf("%s on %v", Name, x.s), Kind: cuda.ErrMemory, Text: "the search across parts has too little memory: " + why,
		Hint: fmt.Sprintf("--gpu-memory %d is enough", x.works()),
	}
}

// memory says how the searches across parts use the memory of a device.
func (x *prepared) memory() *engine.Memory {
	n, budget := &x.wants, x.s.Memory()
	text := func(n int64) string { return memory.Text(uint64(max(n, 0))) }
	return &engine.Memory{Budget: budget, Least: x.works(), Parts: []string{
		fmt.Sprintf("across parts, of %s of a GPU: %s for the part of each vertex, marks of vertices and counters, and %s for each of %d levels",
			text(budget), text(n.fixed), text((budget-n.fixed)/n.levels), n.levels),
		fmt.Sprintf("the smallest --gpu-memory that works is %d", x.works()),
	}}
}
