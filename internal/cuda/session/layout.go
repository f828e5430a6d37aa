package session

// The structs that host and device share, field by field as in base/control.cuh; a
// test compares sizes and offsets with the compiled ones.

// maxLevels is MAX_LEVELS, maxGrants GRANTS, cursorBits CURSOR_BITS.
const (
	maxLevels  = 32
	maxGrants  = 1024
	cursorBits = 40
)

// run is struct Run: the first part of every kernel's argument.
type run struct {
	Control   uint64
	Counters  uint64
	Roots     uint64
	Ring      uint64
	Tasks     uint64
	RingRows  uint32
	RingWidth uint32
	Chunk     uint32
	Vertices  uint32
}

// grant is a range of tasks that one device searches.
type grant struct {
	First, Count, Before uint64
}

// control is struct Control, in mapped host memory. Host and device both write
// it, so all but Grant is read and written atomically.
type control struct {
	Stop    uint32
	Posted  uint32
	Closed  uint32
	_       uint32
	Drained uint64
	_       [5]uint64

	Fault   uint32
	Taken   uint32
	FaultAt uint64
	Done    uint64
	Found   uint64
	_       [4]uint64

	Grant [maxGrants]grant
}

// counters is struct Counters, in device memory.
type counters struct {
	Matches     [2]uint64
	Visits      [maxLevels]uint64
	LanesBusy   uint64
	LanesAll    uint64
	StealsBlock uint64
	StealsGrid  uint64
	User        [8]uint64
	Turn        uint64
	_           uint64

	PollAt   uint64
	Stop     uint32
	Fault    uint32
	Overflow uint32
	_        [27]uint32

	Cursor     uint64
	Installing uint32
	Finished   uint32
	_          [14]uint64

	Reserved uint64
	Drained  uint64
	_        [14]uint64

	Grant [maxGrants]grant
}
