package pipeline

import (
	"math/bits"
	"unsafe"
)

// The types of this file have the layouts of the structs of the same names in kernels/pipeline.

const (
	forever   = ^uint32(0)
	freeRow   = ^uint64(0)
	unit      = 32 // bytes of the pool's unit
	slabRows  = 32
	stageSize = 8 * (4*4*32 + 4) / 32 // bytes of shared memory a thread: two of STAGE_WORDS for each warp
)

// Steps of the updater, whose times it keeps: STEP_ of flow.cuh.
const (
	stepGather = iota
	stepFetch
	stepSort
	stepRoom
	stepRemove
	stepCopy
	stepPublish
	steps = 8
)

// Codes of faults.
const (
	faultFull = 1 + iota
	faultList
)

type row struct{ Span, Array uint64 }

type slab struct {
	Rows [slabRows]row
	Next uint32
	_    [7]uint32
}

type head struct {
	Rows       [2]row
	Slab, Dead uint32
	Current    uint64
}

type pool struct {
	Next, Count                         [64]uint32
	Held                                [64][poolHeld]uint32
	Some, Used, Most, Bump, End, Unused uint64
}

type update struct{ U, V, What, Tasks uint32 }

type task struct {
	Update, What uint32
	First        [2]uint32
}

type slot struct {
	X         update
	Left, Pad uint32
	Row       [2]uint64
	Array     [2]uint64
}

// share is Share of share.cuh, and parts is Parts.
type share struct {
	Turn, Place, Base, Next, End, Left uint32
	Number                             uint64
	Nest, _                            uint32
	Vertices, Candidates               [32]uint32
}

type parts struct {
	Count     uint64
	Open, Pad uint32
}

type control struct {
	Stop, Closed   uint32
	Posted, Urgent uint64
	Drained        uint64
	_              [4]uint64
	Fault, Ended   uint32
	FaultAt        uint64
	Taken, Done    uint64
	Beat, Busy     uint64
	Shared, Used   uint64
	Steps          [steps]uint64
	Most           uint64
}

type flow struct {
	Applied                         uint64
	_                               [15]uint64
	Ready                           uint64
	_                               [15]uint64
	Next                            uint64
	_                               [15]uint64
	Done                            uint64
	_                               [15]uint64
	Beat, Busy                      uint64
	_                               [14]uint64
	Reserved, Drained               uint64
	_                               [14]uint64
	Given, Taken                    uint64
	Hungry, _                       uint32
	_                               [13]uint64
	Stop, Fault, Ended, Pad         uint32
	Reclaimed, ReclaimedEnd         uint64
	EndedAt, Batches, Waits, Copied uint64
	_                               [8]uint64
}

// searching is Searching of search.cuh, and rows is Rows.
type searching struct {
	Pipe            pipe
	Program, Counts uint64
	Rows            rows
	Most, ByEdge    uint32
}

type rows struct {
	Words       uint64
	Room, Width uint32
}

const (
	placeWords = 8   // of Place
	frameBytes = 184 // of Frame
	noVertex   = ^uint32(0)
)

// store is Store.
type store struct {
	Heads, Pool  uint64
	Lists, Words uint32
}

// pipe is Pipe.
type pipe struct {
	Control, Flow, Pool                       uint64
	Store                                     store
	Updates, Tasks, Slots, Queue, Work        uint64
	Shares, Parts                             uint64
	HostUpdates, HostTasks, Window, QueueSize uint32
	SharesSize, Share                         uint32
	Batch, WaitNS                             uint32
	Directed, Pad                             uint32
}

// deskBytes is the shared memory of the updater's block besides the stage and the batch.
const deskBytes = 64*8 + 8 + 4*4 + int(unsafe.Sizeof(pool{})) + 5*8 + steps*8 + 8

// poolHeld is POOL_HELD of pool.cuh.
const poolHeld = 7

// batchBytes is the room of a batch of the updater.
func batchBytes(batch int) int {
	most := 2 * powerAbove(batch)
	return most*16 + (most+1)*72 + (3*most+1)*4
}

func powerAbove(x int) int { return 1 << bits.Len(uint(max(x, 1)-1)) }

// classUnits returns the units of a class of blocks.
func classUnits(c int) uint64 {
	switch {
	case c == 0:
		return 1
	case c&1 == 1:
		return 1 << ((c + 1) / 2)
	}
	return 3 << (c/2 - 1)
}

// classAbove returns the smallest class of at least x units.
func classAbove(x uint64) int {
	if x <= 1 {
		return 0
	}
	if k := bits.Len64(x - 1); k >= 2 && 3<<(k-2) >= x {
		return 2 * (k - 1)
	} else {
		return 2*k - 1
	}
}

// shape says how arrays lie in the pool.
type shape struct {
	words int  // of an entry: 3, or 4 with labels
	hash  bool // arrays are hash sets
}

// slots returns the n of an array for some entries.
func (x shape) slots(entries int) int {
	if !x.hash || entries == 0 {
		return entries
	}
	return max(leastSlots, 2*entries)
}

// units returns the units of an array of n entries, or slots.
func (x shape) units(n int) uint64 {
	bytes := 4 * uint64(n) * uint64(x.words)
	if x.hash {
		bytes += 4 // the slots in use
	}
	return (bytes + unit - 1) / unit
}

// class returns the class of blocks for an array of n entries, or slots.
func (x shape) class(n int) int { return classAbove(x.units(n)) }

// leastSlots is SLOTS_LEAST of store_hash.cuh.
const leastSlots = 8

// homeOf returns the first of n slots where vertex x may be.
func homeOf(x uint32, n int) int { return int(uint64(x*0x9e3779b1) * uint64(n) >> 32) }

func sizeOf[T any]() int64 {
	var x T
	return int64(unsafe.Sizeof(x))
}
