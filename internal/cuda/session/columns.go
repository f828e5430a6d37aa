package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
)

// A search that counts by a third vertex may go over blocks of columns: of each list only the ids of a range of vertices are there at a
// time. A count of wedges u – v – w by w (a cycle of four vertices) adds up over ranges of w, and never over v, any of which may be
// the middle of any wedge. Blocks of whole lists would not do.
//
// In host memory the lists lie once more, by blocks, each of which is one copy: the offsets of the parts of the lists, and their ids.

// columns is how the lists of an adjacency lie by blocks. An id is in as many lists as its own has: lists are those of an undirected
// relation.
type columns struct {
	g      *kir.GlobalDef
	bounds []uint32 // block b is the ids bounds[b] … bounds[b+1]-1
	rows   int      // lists: those of vertices up to the last that has one
	at     []int64  // block b is bytes at[b] … at[b+1]-1
}

// columnLine is the unit of places in a block, in ids.
const columnLine = 32

func lineUp(ids int64) int64 { return (ids + columnLine - 1) &^ (columnLine - 1) }

// rowIDs is the length of the offsets of a block, which come first, in ids.
func (k *columns) rowIDs() int64 { return lineUp(int64(k.rows) + 1) }

// blocks is how many there are.
func (k *columns) blocks() int { return len(k.bounds) - 1 }

// size is the bytes of all blocks, and largest those of the largest.
func (k *columns) size() int64 { return k.at[k.blocks()] }
func (k *columns) largest() (most int64) {
	for b := range k.blocks() {
		most = max(most, k.at[b+1]-k.at[b])
	}
	return most
}

// mostColumns bounds the blocks of columns: the lists of the roots are read over the bus for each.
const mostColumns = 32

// newColumns cuts the ids first … end-1 into blocks of up to room bytes, as few as that allows and of about the same size; nil: there
// would be too many.
func newColumns(g *kir.GlobalDef, first, end uint32, room int64) *columns {
	n := len(g.Off) - 1
	first, end = min(first, uint32(n)), min(end, uint32(n))
	k := &columns{g: g, rows: sort.Search(n, func(v int) bool { return g.Off[v] == g.Off[n] })}
	most := room/4 - k.rowIDs() - columnLine // ids of a block
	most = min(most, 1<<32-1)                // offsets have 32 bits
	if most <= 0 || first >= end {
		return nil
	}
	ids := func(a, b uint32) int64 { return int64(g.Off[b] - g.Off[a]) }
	for parts := (ids(first, end) + most - 1) / most; parts <= mostColumns; parts++ {
		parts := max(parts, 1)
		k.bounds, k.at = []uint32{first}, []int64{0}
		for v := first; v < end; {
			left := parts - int64(k.blocks())
			if left == 0 {
				break
			}
			target := (ids(v, end) + left - 1) / left
			// The first id with which the block has its share: without it if the block would be too large.
			to := v + 1 + uint32(sort.Search(int(end-v-1), func(i int) bool { return ids(v, v+1+uint32(i)) >= target }))
			if ids(v, to) > most && to > v+1 {
				to--
			}
			if left == 1 {
				to = end
			}
			if ids(v, to) > most {
				break
			}
			k.bounds = append(k.bounds, to)
			k.at = append(k.at, k.at[len(k.at)-1]+4*(k.rowIDs()+lineUp(ids(v, to))))
			v = to
		}
		if k.bounds[len(k.bounds)-1] == end {
			return k
		}
	}
	return nil
}

// served reports whether blocks of the same lists that are there already are as good as k, which are as few as a room allows: they are
// of the same ids, no larger than the room, and not more.
func (k *columns) served(old *columns, room int64) bool {
	return old.bounds[0] == k.bounds[0] && old.bounds[old.blocks()] == k.bounds[k.blocks()] && old.largest() <= room && old.blocks() <= k.blocks()
}

// lay writes all blocks to b. It reads the lists, from several goroutines, twice: for the lengths of their parts, and for the ids.
func (k *columns) lay(ctx context.Context, b []byte) error {
	starts, ids := make([]view, k.blocks()), make([]view, k.blocks())
	for i := range starts {
		starts[i] = view(b[k.at[i]:])
		ids[i] = view(b[k.at[i]+4*k.rowIDs() : k.at[i+1]])
		clear(b[k.at[i]:][:4*k.rowIDs()])
	}
	if err := k.eachPart(ctx, func(block int, v uint32, part []uint32) { starts[block].set(int64(v)+1, uint32(len(part))) }); err != nil {
		return err
	}
	var all sync.WaitGroup
	wrong := make([]error, k.blocks())
	for i, s := range starts {
		all.Add(1)
		go func() {
			defer all.Done()
			sum := int64(0)
			for v := range int64(k.rows) {
				sum += int64(s.get(v + 1))
				s.set(v+1, uint32(sum))
			}
			if want := int64(k.g.Off[k.bounds[i+1]] - k.g.Off[k.bounds[i]]); sum != want {
				wrong[i] = fmt.Errorf("session: vertices %d … %d have %d neighbours, and are in %d lists", k.bounds[i], k.bounds[i+1]-1, want, sum)
			}
		}()
	}
	all.Wait()
	for _, err := range wrong {
		if err != nil {
			return err
		}
	}
	return k.eachPart(ctx, func(block int, v uint32, part []uint32) {
		at := int64(starts[block].get(int64(v)))
		copy(ids[block][4*at:], raw(part))
	})
}

// eachPart calls f for the part of each list in each block, from several goroutines.
func (k *columns) eachPart(ctx context.Context, f func(block int, v uint32, part []uint32)) error {
	off := k.g.Off
	return eachSegment(ctx, 4*int64(off[k.rows]), fillers(), func(at int64, n int) error {
		// The lists that begin in the segment.
		begin, end := uint64(at)/4, (uint64(at)+uint64(n))/4
		for v := sort.Search(k.rows, func(v int) bool { return off[v] >= begin }); v < k.rows && off[v] < end; v++ {
			list := listOf(k.g, uint32(v))
			from := belowIn(list, k.bounds[0])
			for b := range k.blocks() {
				if from == len(list) {
					break
				}
				to := from + upTo(list[from:], k.bounds[b+1])
				f(b, uint32(v), list[from:to])
				from = to
			}
		}
		return nil
	})
}

// upTo is how many ids of a list are below x: found near its begin first, since most parts of lists are short.
func upTo(list []uint32, x uint32) int {
	step := 1
	for step < len(list) && list[step-1] < x {
		step *= 2
	}
	low := step / 2
	return low + belowIn(list[low:min(step, len(list))], x)
}

// view is memory as numbers of 32 bits, little-endian as devices have them.
type view []byte

func (w view) get(i int64) uint32    { return binary.LittleEndian.Uint32(w[4*i:]) }
func (w view) set(i int64, x uint32) { binary.LittleEndian.PutUint32(w[4*i:], x) }

// marks are how many entries the columns below some ids have: mark i is of id i << shift, or of the number of vertices if that is
// less. Kernels guess by them how many wedges end in a range of ids.
func (k *columns) marks() (marks []uint64, shift uint32) {
	n := uint64(len(k.g.Off) - 1)
	for n>>shift > min(mostMarks, n/idsOfMark+1) {
		shift++
	}
	for i := uint64(0); i <= n>>shift+1; i++ {
		marks = append(marks, k.g.Off[min(i<<shift, n)])
	}
	return marks, shift
}

const (
	// mostMarks bounds the marks, except for two.
	mostMarks = 1 << 16
	// idsOfMark is the least number of ids between two marks, about: for small graphs more take too much memory.
	idsOfMark = 32
)

// markBytes is the size of the marks on the device, in whole lines.
func markBytes(g *kir.GlobalDef) int64 {
	marks, _ := (&columns{g: g}).marks()
	return 4 * lineUp(2*int64(len(marks)))
}

// planColumns makes s a sweep over blocks of columns. It returns nil if fewer lines are expected to cross the bus with the cache p, or if there is
// no memory for blocks.
func (x *Exec) planColumns(s *sweep, p *packed, room int64) *sweep {
	g := s.l.g
	room -= markBytes(g)
	k := newColumns(g, x.sweeps.First, x.sweeps.End, room)
	all := x.job.Reads().All
	if k == nil || all == 0 {
		return nil
	}
	// The lists of the roots, for each block, and all blocks.
	entries := float64(g.Off[len(g.Off)-1])
	if x.sweeps.Below || x.sweeps.Above {
		entries /= 2
	}
	lines := float64(k.blocks())*(entries/columnLine+float64(k.rows)) + float64(k.size())/(4*columnLine)
	if s.share = max(0, 1-lines/all); s.share <= p.share {
		return nil
	}
	if a := x.running.host[columnsKey(s.of)]; a != nil {
		if old := a.note.(*columns); k.served(old, room) {
			k = old
		}
	}
	if !x.roomForColumns(s.of, k) {
		return nil
	}
	s.cols, s.room = k, markBytes(g)+k.largest()
	for b := range k.blocks() {
		s.blocks = append(s.blocks, block{k.bounds[b], k.bounds[b+1]})
	}
	return s
}

// columnsKey is the identity of the blocks of columns of lists, where key is that of the lists as they are. There is one for each
// adjacency.
func columnsKey(key arrayKey) arrayKey {
	key.what, key.bytes, key.name = inColumns, 0, "blocks of columns"
	return key
}

// roomForColumns reports whether there is host memory for blocks: that of earlier blocks of the same lists would be free.
func (x *Exec) roomForColumns(of arrayKey, k *columns) bool {
	s := x.running.session
	need := k.size()
	if a := s.host.all[columnsKey(of)]; a != nil {
		need -= a.size()
	}
	used, idle := s.host.sizes()
	return need <= s.o.Host-used-idle && s.check(x.job, need) == nil
}

// of reports whether the blocks are of the ids of a search's.
func (k *columns) of(s *Sweeps) bool {
	n := uint32(len(k.g.Off) - 1)
	return k.bounds[0] == min(s.First, n) && k.bounds[k.blocks()] == min(s.End, n)
}

// beginColumns has the blocks of a sweep laid out in host memory, if an earlier run has not, and the marks in b. It is for the only
// device of a run.
func (x *Exec) beginColumns(s *sweep, b cuda.Buffer) error {
	key := columnsKey(s.of)
	a := x.running.host[key]
	if a != nil && a.note.(*columns) != s.cols {
		if err := x.freeColumns(a); err != nil {
			return err
		}
		a = nil
	}
	if a == nil {
		var err error
		if a, err = x.layColumns(key, s.cols); err != nil {
			return err
		}
	}
	s.host, a.last = a, x.running.session.host.run
	x.result.Host += a.size()
	marks, _ := s.cols.marks()
	return cuda.Upload(x.c, b, 0, marks)
}

func (x *Exec) layColumns(key arrayKey, k *columns) (*hostArray, error) {
	s := x.running.session
	if s.locking != nil {
		s.locking.Lock()
		defer s.locking.Unlock()
	}
	mem, err := x.c.PinnedRaw(k.size())
	if err != nil {
		return nil, err
	}
	a := &hostArray{key: key, owner: x.job.Owner, mem: mem, at: make([]uint64, len(s.devs)), note: k}
	if err := k.lay(x.running.ctx, mem.Bytes()[:k.size()]); err != nil {
		return nil, errors.Join(err, mem.Free())
	}
	a.filled = true
	s.host.all[key] = a
	x.running.copied.Add(k.size())
	return a, nil
}

// freeColumns gives the memory of blocks back, inside Do.
func (x *Exec) freeColumns(a *hostArray) error {
	delete(x.running.session.host.all, a.key)
	return a.mem.Free()
}

// bringColumns is Bring of a block of columns.
func (x *Exec) bringColumns(i int) error {
	s, t := x.sweep, x.tables[x.sweep.of]
	k := s.cols
	if err := x.started(); err != nil {
		return err
	}
	_, shift := k.marks()
	at := markBytes(k.g)
	h := cacheHead{base: x.arrays[laidKey(s.of, s.l)].Ptr, block: k.bounds[i], blockEnd: k.bounds[i+1], rootsEnd: math.MaxUint32}
	h.marks, h.shift, h.rowEnd = x.swept.Ptr, shift, uint32(k.rows)
	h.rows = x.swept.Ptr + uint64(at)
	h.ids = h.rows + 4*uint64(k.rowIDs())
	if err := cuda.Upload(x.c, t.buf, 0, h.words()); err != nil {
		return err
	}
	bytes := k.at[i+1] - k.at[i]
	x.result.Uploaded += bytes
	x.running.copied.Add(bytes)
	return x.c.Send(x.swept, at, s.host.mem, k.at[i], bytes, x.stream)
}
