package session

import (
	"fmt"
	"math"
	"sort"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// A search may ask for the lists of some vertices alone at a time, and add up what it counts in several sweeps. The cache
// then has all lists of a block of vertices, which lie one behind the other in host memory as in the cache, so that a block is one
// copy at the full rate of the bus. Why: a cache is of little use to a search that reads all lists about as often.

// sweepShare: a search goes in sweeps if its cache would serve less than this share of its reads.
const sweepShare = 0.8

// sweep is the blocks of a search.
type sweep struct {
	key    string   // Job.ReadsKey
	of     arrayKey // of the lists
	l      laid
	room   int64 // bytes of the largest block
	blocks []block
	share  float64
	// cols, if not nil, has the blocks, which are of columns. They lie in host.
	cols *columns
	host *hostArray
}

// block is a range of vertices.
type block struct{ first, end uint32 }

// Sweeps are lists of an adjacency over which a search can go in sweeps. Of a root it asks those of the neighbours that have smaller
// ids than the root, or larger ones; if both are false, of all.
type Sweeps struct {
	Lists        *kir.GlobalDef
	Below, Above bool
	// Columns: the search can go over blocks of columns (columns.go) instead of blocks of lists, with the ids First … End-1 in the lists of an
	// undirected relation. It does so unless whole lists are expected to be cheaper.
	Columns    bool
	First, End uint32
}

// Sweeps says that the search can go in sweeps, and reports whether it may: lists lie in host memory with a cache. It is called in Start,
// for the only device of a run.
func (x *Exec) Sweeps(s Sweeps) (may bool) {
	x.sweeps = &s
	return len(x.tables) > 0 && !x.job.OneSweep
}

// roots are the vertices that may have some of a block as those neighbours.
func (s *Sweeps) roots(b block) (first, end uint32) {
	first, end = 0, math.MaxUint32
	if s.Below {
		first = b.first
	}
	if s.Above {
		end = b.end
	}
	return first, end
}

// planSweep is the sweep of a search of which p would be the cache; nil: it goes over all lists at once.
func (x *Exec) planSweep(p *packed, room int64) *sweep {
	if x.sweeps == nil || x.job.OneSweep {
		return nil
	}
	s := &sweep{key: x.job.ReadsKey, of: x.job.keyOf(x.sweeps.Lists, emit.Neighbours)}
	t := x.tables[s.of]
	if t == nil {
		return nil
	}
	s.l = t.laid
	if x.sweeps.Columns {
		return x.planColumns(s, p, room)
	}
	if p.share >= sweepShare {
		return nil
	}
	shift, n := s.l.shift(), len(s.l.g.Off)-1
	begin := func(v int) int64 { return 4 * int64(s.l.upTo(v, shift)) }
	for v := 0; v < n; {
		end := v + sort.Search(n-v, func(k int) bool { return begin(v+k+1)-begin(v) > room })
		if end == v || len(s.blocks) == mostBlocks {
			return nil // a list is larger than the cache, or the lists of the roots would be read too often
		}
		s.blocks = append(s.blocks, block{uint32(v), uint32(end)})
		s.room = max(s.room, begin(end)-begin(v))
		v = end
	}
	// What is not served: the lists of the roots, in each sweep for which they have a vertex.
	if all := x.job.Reads().All; all > 0 {
		lines := 0
		in := 0 // the block of v
		for v := range n {
			for int(s.blocks[in].end) <= v {
				in++
			}
			visits := len(s.blocks)
			switch {
			case x.sweeps.Above:
				visits -= in
			case x.sweeps.Below:
				visits = in + 1
			}
			ids := int(s.l.g.Off[v+1] - s.l.g.Off[v])
			lines += min(ids, visits) * (ids/32 + 1)
		}
		s.share = max(0, 1-float64(lines)/all)
	}
	if s.share <= p.share {
		return nil
	}
	return s
}

// mostBlocks bounds the blocks of a sweep.
const mostBlocks = 16

func (s *sweep) result(bytes int64) CacheResult {
	c := CacheResult{Lists: len(s.l.g.Off) - 1, Bytes: bytes, Share: s.share, Blocks: len(s.blocks), Columns: s.cols != nil}
	if c.Columns {
		c.Host = s.cols.size()
	}
	return c
}

// serves reports whether the blocks of an earlier run are those of this one.
func (s *sweep) serves(x *Exec, room int64) bool {
	if s.cols != nil {
		a := x.running.host[columnsKey(s.of)]
		if a == nil || a.note.(*columns) != s.cols || x.sweeps == nil || !s.cols.of(x.sweeps) {
			return false
		}
	}
	return x.sweeps != nil && x.sweeps.Columns == (s.cols != nil) && !x.job.OneSweep && s.key != "" && s.key == x.job.ReadsKey && s.of == x.job.keyOf(x.sweeps.Lists, emit.Neighbours) && x.tables[s.of] != nil &&
		s.room <= room && (len(s.blocks) == 1 || s.room >= room-room/4)
}

// beginSweep brings the first block.
func (x *Exec) beginSweep(s *sweep, a *array) error {
	a.owner, a.last = x.job.Owner, x.dev.arrays.run
	if s.cols != nil {
		if err := x.beginColumns(s, a.buf); err != nil {
			return err
		}
	}
	x.sweep, x.swept = s, a.buf
	x.result.Cache = s.result(a.buf.Size)
	for _, t := range x.tables {
		x.result.Cache.Bytes += t.buf.Size
		x.result.Scratch -= t.buf.Size
	}
	if s.cols != nil {
		return nil
	}
	return x.Bring(0)
}

// Columns reports whether the search makes sweeps over columns. Then also the first block is brought by Bring. Called when the search
// has begun.
func (x *Exec) Columns() bool { return x.sweep != nil && x.sweep.cols != nil }

// Blocks is how many sweeps the search makes; 1: one over all lists.
func (x *Exec) Blocks() int {
	if x.sweep == nil {
		return 1
	}
	return len(x.sweep.blocks)
}

// Bring brings the lists of block i, in the order of x.Stream, and has kernels that are launched then ask for these alone. The first is there when
// the search begins. No kernel of the search runs.
func (x *Exec) Bring(i int) error {
	s, t := x.sweep, x.tables[x.sweep.of]
	if s.cols != nil {
		return x.bringColumns(i)
	}
	b, shift := s.blocks[i], s.l.shift()
	from, end := s.l.upTo(int(b.first), shift), s.l.upTo(int(b.end), shift)
	h := cacheHead{block: b.first, blockEnd: b.end}
	h.roots, h.rootsEnd = x.sweeps.roots(b)
	h.window(s.l, x.swept.Ptr, s.l.place(b.first), uint32((end-from)>>shift))
	if err := cuda.Upload(x.c, t.buf, 0, h.words()); err != nil {
		return err
	}
	bytes := 4 * int64(end-from)
	x.result.Uploaded += bytes
	x.running.copied.Add(bytes)
	return x.c.Send(x.swept, 0, x.running.host[laidKey(s.of, s.l)].mem, 4*int64(from), bytes, x.stream)
}

// Again says that the next sweep does all of this device's tasks again except done, which are those that no list was needed for. It is an
// error if this one has not done them all. more reports whether there is to be another: none after a fault, or when the run is stopped.
func (x *Exec) Again(done uint64) (more bool, err error) {
	const one = 1 << cursorBits // the first grant
	got := make([]counters, 1)
	if err := cuda.Download(x.c, got, x.counters, 0); err != nil {
		return false, err
	}
	k := &got[0]
	if k.Stop != 0 || k.Fault != 0 || x.Stopped() {
		return false, nil
	}
	if n := k.Cursor & (one - 1); n != x.run.Tasks {
		return false, &cuda.Error{Op: x.job.Name, Kind: cuda.ErrLaunch, Text: fmt.Sprintf("%d of %d tasks of a sweep were done", n, x.run.Tasks)}
	}
	return true, cuda.Upload(x.c, x.counters, int64(unsafe.Offsetof(k.Cursor)), []uint64{one | done})
}
