package join

import (
	"fmt"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/memory"
)

// Sub-tables: how many there are, and how many rows one has at most and at least. Kernels have two, the device's goroutine fills one, and the
// consumer has one. Where the device has room for
// fewer than leastCopied rows, kernels read sub-tables of hostRows rows in the host's memory.
const (
	subTables    = 4
	mostSubRows  = 1 << segmentRowBits
	leastSubRows = 32
	leastCopied  = 1 << 12
	hostRows     = 1 << 14
)

// Segments: their most bytes, and how many are on a device at most. Larger segments would not be copied faster, and take longer
// until kernels begin. Devices have them only where that many smaller ones do not fill their memory.
const (
	mostSegment = 64 << 20
	hugeSegment = 256 << 20
	mostHeld    = 256
	// fewHeld is how many are on a device with room for segments of largeSegment bytes. With two, one is read while the other
	// is copied, so that a kernel looks edges up in one. With room for segments of goodSegment bytes, there are up to manyHeld: all
	// but two of them stay while the segments of an edge pass by (see nested).
	fewHeld      = 4
	largeSegment = 1 << 20
	manyHeld     = 16
	goodSegment  = 4 << 20
)

// outPlan is how an out-of-core join uses the memory of a device.
type outPlan struct {
	limit     int64
	room      int64    // of a segment
	held      int      // segments on the device
	columns   int      // of a sub-table
	subRows   int      // of a sub-table
	made      int      // candidates of a sub-table, at most
	inPlace   bool     // kernels read sub-tables in the host's memory
	bits      int64    // of the candidates of a vertex
	fixed     int64    // what else is on the device
	least     int64    // the smallest limit that works
	largest   int64    // bytes of the largest relation
	host      int64    // of all
	segments  int      // of the relation that has most
	relations []string // in words
}

// subTable is the bytes of a sub-table: of the segments that are held, columns, and a candidate or a position for each row.
func (p *outPlan) subTable() int64 {
	return aligned(int64(p.held)*heldBytes + 4*(int64(p.columns+1)*int64(p.subRows)+1))
}

// planOut divides `limit` bytes of a device between segments and sub-tables. segments is the number of segments of the largest
// relation; 0: as many as necessary. held is the number of segments on the device; 0: as many as have room. batch is the most rows
// of a batch; 0: that is not limited.
func (x *onGPU) planOut(limit int64, relations []*relation, segments, held, batch int) outPlan {
	p := outPlan{limit: limit}
	largest, index := int64(leastSegment), int64(csrBytes)
	for _, r := range relations {
		p.host += r.bytes()
		p.largest = max(p.largest, r.bytes())
		index = max(index, r.index(1))
	}
	for i := range x.steps {
		x.eachProbe(i, func(q *probe) {
			p.columns = max(p.columns, len(q.columns))
			if x.nest != "off" && held != 2 && len(q.edges) > 0 {
				p.columns = max(p.columns, len(q.columns)+1) // see nested
			}
		})
	}
	largest = max(largest, p.largest)
	if x.tests() {
		p.bits = aligned(int64(8 * ((x.g.NumVertices() + 63) / 64)))
	}
	p.fixed = deviceCounters + p.bits + 4<<10
	least := int64(leastSegment) + 2*index
	if segments > 0 {
		least = max(largest/int64(segments)+least, least)
	}
	few := int64(max(held, 2))
	p.least = p.fixed + few*least
	left := max(limit-p.fixed, 0)
	most := mostHeld
	switch {
	case held > 0:
		most = max(held, 2)
	case left < mostHeld*largeSegment:
		most = 8
	}
	// Sub-tables have a fourth.
	p.held = most
	p.subRows = int(min((left/4/subTables-int64(most)*heldBytes-128)/int64(4*(p.columns+1)), mostSubRows))
	if batch > 0 {
		p.subRows = min(p.subRows, max(batch, leastSubRows))
	}
	sub := subTables * p.subTable()
	if p.inPlace = batch == 0 && p.subRows < leastCopied || p.subRows < leastSubRows || left-sub < few*least; p.inPlace {
		p.subRows, sub = hostRows, 0
		if batch > 0 {
			p.subRows = min(p.subRows, max(batch, leastSubRows))
		}
	}
	p.made = max(2*p.subRows, 1<<16)
	if batch > 0 {
		p.made = 2*p.subRows + 64
	}
	left -= sub
	switch p.held = int(few); {
	case segments > 0:
		p.room = least
		if held == 0 {
			p.held = int(min(max(left/p.room, 2), int64(most)))
		}
	case held > 0:
		p.room = min(left/few, mostSegment, largest+indexSlack)
	default:
		if p.held = holding(left, least, most, relations); p.held == 0 {
			p.held = 2
			if left >= fewHeld*largeSegment {
				p.held = int(min(max(left/mostSegment, min(left/goodSegment, manyHeld), fewHeld), int64(most)))
			}
		}
		p.room = min(left/int64(p.held), hugeSegment, largest+indexSlack)
	}
	p.room &^= 127
	return p
}

// holding returns the smallest number of segments of equal size in `left` bytes that have all relations; 0: there is none.
func holding(left, least int64, most int, relations []*relation) int {
	for n := 2; n <= most && left/int64(n) >= least; n++ {
		room := min(left/int64(n), hugeSegment) &^ 127
		sum := 0
		for _, r := range relations {
			sum += r.pieces(room)
		}
		if sum <= n {
			return n
		}
	}
	return 0
}

// deviceCounters is what the session needs on a device for itself.
const deviceCounters = 32 << 10

// fits is the error of a plan for a device with too little memory.
func (p *outPlan) fits(device fmt.Stringer) error {
	if p.limit >= p.least {
		return nil
	}
	return &cuda.Error{
		Op: fmt.Sprintf("join on %v", device), Kind: cuda.ErrMemory,
		Text: fmt.Sprintf("a segment of the graph does not fit: %d bytes of the device's memory may be used, and %d bytes are the least that works", p.limit, p.least),
		Hint: fmt.Sprintf("--gpu-memory %d", p.least),
	}
}

// String says what is on the device.
func (p *outPlan) String() string {
	where := ""
	if p.inPlace {
		where = " in the host's memory"
	}
	return fmt.Sprintf("%d segments of %s, %d sub-tables of %d rows in at most %d columns%s", p.held, memory.Text(uint64(p.room)), subTables, p.subRows, p.columns+1, where)
}

// explain says in words how memory is used.
func (p *outPlan) explain() []string {
	lines := []string{fmt.Sprintf("out of core on a GPU with %s: %s; %s for candidates and counters", memory.Text(uint64(p.limit)), p, memory.Text(uint64(p.fixed)))}
	lines = append(lines, p.relations...)
	return append(lines, fmt.Sprintf("the smallest --gpu-memory that works is %d", p.least))
}

// tests reports whether candidates of a vertex are a bitmap.
func (x *prepared) tests() bool {
	for i := range x.steps {
		for k := range x.steps[i].groups {
			if g := &x.steps[i].groups[k]; i > 0 && (g.tests() || g.queries != nil) {
				return true
			}
		}
	}
	return false
}

// The structs of kernels/join/segments.cuh.
type (
	segmentHead struct{ Made, Counted, Turn uint64 }

	segmentHeld struct {
		From, To    uint64
		Lists       deviceLists
		First, Last uint32
	}

	segmentEdge struct{ Column, Neg, Begin, End uint32 }

	segmentArgs struct {
		Lists                     deviceLists
		Bits, Columns, With, Held uint64
		Row, Out                  uint64
		Made, Done, Head, Turn    uint64
		OwnFrom, OwnTo            uint64
		Rows, From, First, End    uint32
		Apart, Below, Above, All  uint32
		How, Edges, Outer, Own    uint32
		Edge                      [fusedEdges]segmentEdge
	}

	segmentSigns struct {
		Table, Want, Out, Made, Done, Head, Turn uint64
		Vertices, Columns, Queries, _            uint32
	}

	segmentTasks struct{ Out, Turn uint64 }
)

// How candidates are taken: enum SegmentHow. Lists of them, their number, or their number by rows.
const (
	listed = iota
	counted
	countedEach
)

// segmentRowBits are the bits of an entry of segmentArgs.Row that say its row. Those above are the edges that are not known.
const segmentRowBits = 20

// heldBytes is the size of a segmentHeld.
const heldBytes = int64(unsafe.Sizeof(segmentHeld{}))
