package join

import (
	"fmt"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/memory"
)

// Sub-tables: how many are on their way at a time, and how many rows one has at most and at least. One gives room to
// twice as many candidates, which lie in the host's memory.
const (
	subTables    = 3
	mostSubRows  = 1 << 20
	leastSubRows = 32
)

// mostSegment is the most bytes of a segment. Larger ones would not be copied faster, and take longer until kernels begin.
const mostSegment = 64 << 20

// outPlan is how an out-of-core join uses the memory of a device.
type outPlan struct {
	limit     int64
	room      int64    // of a segment; two are on the device
	subRows   int      // of a sub-table
	bits      int64    // of the candidates of a vertex
	fixed     int64    // what else is on the device
	least     int64    // the smallest limit that works
	largest   int64    // bytes of the largest relation
	host      int64    // of all
	segments  int      // of the relation that has most
	relations []string // in words
}

// subRowBytes is the bytes of a row of a sub-table: a vertex, and a candidate or a position.
const subRowBytes = 2 * 4

// planOut divides `limit` bytes of a device between segments and sub-tables. segments is the number of segments of the largest
// relation; 0: as many as necessary.
func (x *onGPU) planOut(limit int64, relations []*relation, segments int) outPlan {
	p := outPlan{limit: limit}
	largest, index := int64(leastSegment), int64(csrBytes)
	for _, r := range relations {
		p.host += r.bytes()
		p.largest = max(p.largest, r.bytes())
		index = max(index, r.index(1))
	}
	largest = max(largest, p.largest)
	if x.tests() {
		p.bits = aligned(int64(8 * ((x.g.NumVertices() + 63) / 64)))
	}
	p.fixed = deviceCounters + p.bits + 4<<10
	least := int64(leastSegment) + 2*index
	column := int64(subTables * subRowBytes)
	p.least = p.fixed + 2*least + column*(leastSubRows+16)
	left := limit - p.fixed
	p.subRows = int(min(max(left/4/column-16, leastSubRows), mostSubRows))
	p.room = (left - column*int64(p.subRows+16)) / 2
	if segments > 0 {
		want := max(largest/int64(segments)+least, least)
		p.least = max(p.least, p.fixed+2*want+column*(leastSubRows+16))
		if p.room < want {
			p.subRows = leastSubRows
		}
		p.room = want
	} else {
		p.room = min(p.room, mostSegment, largest+indexSlack)
	}
	p.room &^= 127
	return p
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
	return fmt.Sprintf("two segments of %s, %d sub-tables of %d rows in two columns", memory.Text(uint64(p.room)), subTables, p.subRows)
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
	segmentHead struct{ Made, Turn uint64 }

	segmentArgs struct {
		Lists                    deviceLists
		Bits, At, With           uint64
		Row, Out                 uint64
		Made, Done, Head, Turn   uint64
		Rows, From, First, End   uint32
		Apart, Below, Above, All uint32
		Neg, _                   uint32
	}

	segmentSigns struct {
		Table, Want, Out, Made, Done, Head, Turn uint64
		Vertices, Columns, Queries, _            uint32
	}

	segmentTasks struct{ Out, Turn uint64 }
)
