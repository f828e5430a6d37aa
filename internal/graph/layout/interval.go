package layout

// Interval is GENEVA's interval-PCSR of one partition. Its vertices are few runs of
// consecutive ids. An index of the runs, small enough for the shared memory of a GPU,
// gives the row of a vertex, and the row its list.
type Interval struct {
	First []uint32 // the first id of each run, ascending
	Row   []uint32 // the row of First[i]; one more: the number of rows
	Off   []uint32 // row i's list is Adj[Off[i]:Off[i+1]]
	Adj   []uint32

	// before[b] is the number of runs that begin before id b<<shift, for the processor: nearly all
	// look-ups then compare with two runs, without a jump that is guessed wrongly. There are at most
	// twice as many blocks as runs.
	before []uint32
	shift  uint
	starts []uint32 // First, and two that no id reaches

	id uint64
}

// NewInterval makes the interval-PCSR of a partition. It keeps the lists' arrays.
func NewInterval(l *Lists) *Interval {
	x := &Interval{Off: l.Off, Adj: l.Adj}
	for i, v := range l.Vertices {
		if i == 0 || v != l.Vertices[i-1]+1 {
			x.First = append(x.First, v)
			x.Row = append(x.Row, uint32(i))
		}
	}
	x.Row = append(x.Row, uint32(len(l.Vertices)))
	x.block()
	return x
}

// block makes the numbers of runs before each block of ids.
func (x *Interval) block() {
	runs := len(x.First)
	x.starts = append(x.First, None, None)
	x.First = x.starts[:runs:runs]
	last := uint32(0)
	if runs > 0 {
		last = x.First[runs-1]
	}
	for x.shift = 0; int(last>>x.shift) > 2*runs; x.shift++ {
	}
	x.before = make([]uint32, last>>x.shift+2)
	for _, first := range x.First {
		x.before[first>>x.shift+1]++
	}
	for b := range x.before[1:] {
		x.before[b+1] += x.before[b]
	}
}

// List returns the neighbours of v, ascending; none for a vertex that is not in the partition.
func (x *Interval) List(v uint32) []uint32 {
	b := int(min(v>>x.shift, uint32(len(x.before)-2)))
	i, end := x.before[b], x.before[b+1]
	i += 2 - less(v, x.starts[i]) - less(v, x.starts[i+1])
	for i < end && x.starts[i] <= v { // hardly ever
		i++
	}
	// The first i runs begin at v or before.
	if i == 0 {
		return nil
	}
	row := x.Row[i-1] + v - x.First[i-1]
	in := less(row, x.Row[i]) // 0: v is behind the run
	row *= in
	first := x.Off[row]
	return x.Adj[first : first+in*(x.Off[row+1]-first)]
}

// less returns 1 if a < b, and 0 otherwise.
func less(a, b uint32) uint32 { return uint32((uint64(a) - uint64(b)) >> 63) }

// ID returns the number that copies of the arrays are found by; 0: there is none.
func (x *Interval) ID() uint64 { return x.id }

// Runs returns the number of runs of consecutive ids.
func (x *Interval) Runs() int { return len(x.First) }

// Bytes returns the size of all arrays.
func (x *Interval) Bytes() uint64 {
	return 4 * uint64(len(x.First)+len(x.Row)+len(x.Off)+len(x.Adj)+len(x.before))
}
