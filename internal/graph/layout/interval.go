package layout

import "context"

// Interval is GENEVA's interval-PCSR of one partition. Its vertices are few runs of
// consecutive ids. An index of the runs, small enough for the shared memory of a GPU,
// gives the row of a vertex, and the row its list. A rank bitmap gives the row too. The processor
// uses it always, and a GPU where the runs are many.
type Interval struct {
	First []uint32 // the first id of each run, ascending
	Row   []uint32 // the row of First[i]; one more: the number of rows
	Off   []uint32 // row i's list is Adj[Off[i]:Off[i+1]]
	Adj   []uint32

	rows ranks // of the vertices, whatever the number of runs

	id uint64
}

// NewInterval makes the interval-PCSR of a partition of a graph with n vertices on all threads; 0 means all cores. It keeps
// the lists' arrays. The error is that of the context.
func NewInterval(ctx context.Context, l *Lists, n, threads int) (*Interval, error) {
	x := &Interval{Off: l.Off, Adj: l.Adj}
	var err error
	if x.Row, err = starts(ctx, l.Vertices, 0, 1, threads); err != nil {
		return nil, err
	}
	x.First = make([]uint32, len(x.Row)-1)
	for i, row := range x.Row[:len(x.First)] {
		x.First[i] = l.Vertices[row]
	}
	return x, x.index(ctx, l.Vertices, n, threads)
}

// index makes the rank bitmap of the vertices. It stays small enough for a partition of at most a
// fifth of the bytes of GSI's PCSR, of which each vertex has a group.
func (x *Interval) index(ctx context.Context, vertices []uint32, n, threads int) (err error) {
	hashed := 4 * (2*GroupPairs*len(vertices) + len(x.Adj))
	x.rows, err = newRanks(ctx, vertices, uint32(n), hashed/5-int(x.Bytes()), threads)
	return err
}

// vertices returns the vertices of the runs.
func (x *Interval) vertices() []uint32 {
	all := make([]uint32, 0, x.Row[len(x.First)])
	for i, first := range x.First {
		for v := range x.Row[i+1] - x.Row[i] {
			all = append(all, first+v)
		}
	}
	return all
}

// List returns the neighbours of v, ascending; none for a vertex that is not in the partition.
func (x *Interval) List(v uint32) []uint32 {
	r := &x.rows // read here without calls, which would take as long as the rest
	if v >= r.end {
		return nil
	}
	at := v >> rankBits
	if len(r.above) == 1 { // as place does
		up, bit := r.above[0][at>>rankBits], at%(1<<rankBits)
		if up>>bit&1 == 0 {
			return nil
		}
		at, _ = up.find(bit)
	} else if r.above != nil {
		if at = r.place(at); at == 0 {
			return nil
		}
	}
	row, in := r.words[at].find(v)
	return x.Adj[x.Off[row]:x.Off[row+in]]
}

// ID returns the number that copies of the arrays are found by; 0: there is none.
func (x *Interval) ID() uint64 { return x.id }

// Ranks returns the rank bitmap, in which the rank of a vertex is its row. The caller must not change it.
func (x *Interval) Ranks() RankIndex { return x.rows.index() }

// Runs returns the number of runs of consecutive ids.
func (x *Interval) Runs() int { return len(x.First) }

// Bytes returns the size of all arrays.
func (x *Interval) Bytes() uint64 {
	return 4*uint64(len(x.First)+len(x.Row)+len(x.Off)+len(x.Adj)) + x.rows.bytes()
}
