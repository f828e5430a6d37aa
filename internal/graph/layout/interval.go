package layout

import "sort"

// Interval is GENEVA's interval-PCSR of one partition. Its vertices are few runs of
// consecutive ids. An index of the runs, small enough for the shared memory of a GPU,
// gives the row of a vertex, and the row its list.
type Interval struct {
	First []uint32 // the first id of each run, ascending
	Row   []uint32 // the row of First[i]; one more: the number of rows
	Off   []uint32 // row i's list is Adj[Off[i]:Off[i+1]]
	Adj   []uint32

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
	return x
}

// List returns the neighbours of v, ascending; none for a vertex that is not in the partition.
func (x *Interval) List(v uint32) []uint32 {
	i := sort.Search(len(x.First), func(i int) bool { return x.First[i] > v }) - 1
	if i < 0 {
		return nil
	}
	row := x.Row[i] + v - x.First[i]
	if row >= x.Row[i+1] {
		return nil
	}
	return x.Adj[x.Off[row]:x.Off[row+1]]
}

// ID returns the number that copies of the arrays are found by; 0: there is none.
func (x *Interval) ID() uint64 { return x.id }

// Runs returns the number of runs of consecutive ids.
func (x *Interval) Runs() int { return len(x.First) }

// Bytes returns the size of all arrays.
func (x *Interval) Bytes() uint64 {
	return 4 * uint64(len(x.First)+len(x.Row)+len(x.Off)+len(x.Adj))
}
