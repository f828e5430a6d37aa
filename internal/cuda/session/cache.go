package session

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// A cache has copies of neighbour lists in device memory, while all lists lie in host memory, laid out as the copies are
// (laid.go). Kernels find a list or its copy by its vertex's place in a table (struct Adj of base/graph.cuh), and read
// no offsets. Until the cache is full, all places are those in host memory, which kernels that prepare the search read.
//
// The search's own memory comes first: the cache is made after Start, of the memory that is left.

// Reads says which neighbour lists a search reads, and how much of each, as far as that is known before it.
type Reads struct {
	// Each yields lists, each at most once, in the order in which they are to have copies.
	Each func(yield func(Read) bool)
	// All is the expected number of lines that are read of all lists.
	All float64
}

// Read is a neighbour list, and how many lines of 128 bytes the search reads of it that its copy has.
type Read struct {
	Lists  *kir.GlobalDef
	Vertex uint32
	Reads  float64
	// Below: only the part below the vertex is worth a copy.
	Below bool
}

// CacheResult tells of a run's cache on one device.
type CacheResult struct {
	Lists int   // that have a copy
	Bytes int64 // of the copies and the tables
	// Share is the part of the expected reads that find a copy.
	Share float64
	// Blocks is how many contents the cache has, one after the other; 0: one.
	Blocks int
	// Columns: a block has a part of every list. Host is the bytes of all blocks in host memory.
	Columns bool
	Host    int64
}

// HeadIDs is CACHE_HEAD: the number of ids before the places of a table.
const HeadIDs = 16

const (
	// tableShare: tables may take 1/tableShare of the memory. Smaller memories are better spent on the search.
	tableShare = 2
	// searchShare is the part of the memory for a cache that is left to the search, which may ask for
	// more once it has begun.
	searchShare = 16
)

// table is the places of an adjacency's vertices.
type table struct {
	laid
	buf cuda.Buffer
}

// outside reports whether the job's lists are to lie in host memory on some device, though its
// Place does not say so.
func (s *Session) outside(j *Job) bool {
	for _, d := range s.devs {
		need := j.Beside()
		for _, w := range arraysOf(j) {
			need += w.bytes
		}
		if need > d.room.limit {
			return true
		}
	}
	return false
}

// Outside reports whether the lists of a job lie in host memory with a cache on the devices, as far as that is known before a run.
func (s *Session) Outside(j *Job) bool {
	return j.Reads != nil && (j.Place == Cached || j.Place == Auto && s.outside(j))
}

// settled is the job as the session runs it: kernels are compiled for a cache only where there may be one.
func (s *Session) settled(j *Job) *Job {
	now := *j
	now.cached = s.Outside(j)
	return &now
}

// copies reports whether the lists of a global may have copies. Sparse ones have none: places of copies are a number for each vertex.
func (j *Job) copies(g *kir.GlobalDef) bool {
	return g.Kind == kir.Adj && len(g.Off) > 1 && len(g.Adj) > 0 && (j.Arrays == nil || j.Arrays(g, emit.Neighbours) == nil)
}

// tableBytes is the size of a table.
func tableBytes(g *kir.GlobalDef) int64 { return 4 * int64(HeadIDs+len(g.Off)-1) }

// tablesOf takes memory for the tables of the lists that are laid out, with their places in host memory.
func (x *Exec) tablesOf(wants []want) error {
	for i := range wants {
		w := &wants[i]
		if w.key.what != laidOut {
			continue
		}
		b, err := x.Scratch("the places of lists", tableBytes(w.g))
		if err != nil {
			return err
		}
		t := &table{laid{w.g}, b}
		if x.tables == nil {
			x.tables = map[arrayKey]*table{}
		}
		x.tables[x.job.keyOf(w.g, emit.Neighbours)] = t
		if err := x.fillTable(x.running.ctx, t, nil, 0, 0); err != nil {
			return err
		}
	}
	return nil
}

// part is where a part of an adjacency is whose lists are laid out; ok: they are.
func (x *Exec) part(g *kir.GlobalDef, part emit.Part, at map[arrayKey]cuda.Buffer) (address uint64, ok bool) {
	if g.Kind != kir.Adj {
		return 0, false
	}
	raw := x.job.keyOf(g, emit.Neighbours)
	t := x.tables[raw]
	if t == nil {
		return 0, part == emit.Cache || part == emit.Shift
	}
	switch part {
	case emit.Neighbours:
		return at[laidKey(raw, t.laid)].Ptr, true
	case emit.Cache:
		return t.buf.Ptr, true
	case emit.Shift:
		return uint64(t.shift() + 2), true
	}
	return 0, part == emit.First
}

// listCopy is a list with its place among the copies, in ids.
type listCopy struct {
	at     uint64
	vertex uint32
	of     int32 // an index of packed.tables; ^of: only the part below the vertex
}

// packed is the content of a cache.
type packed struct {
	key    string     // Job.ReadsKey
	keys   []arrayKey // by table
	tables []laid
	lists  []listCopy // by place
	ids    uint64
	share  float64
	whole  bool // every list that Reads yields has a copy
}

// Size and ReadAt make it a Source.
func (p *packed) Size() int64 { return 4 * int64(p.ids) }

func (p *packed) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	end := at + int64(len(b))
	// The first list that ends behind at.
	i := sort.Search(len(p.lists), func(i int) bool { return 4*int64(p.lists[i].at) > at })
	for i = max(i-1, 0); i < len(p.lists) && 4*int64(p.lists[i].at) < end; i++ {
		l := p.lists[i]
		p.tables[max(l.of, ^l.of)].put(b, at, l.vertex, 4*int64(l.at), l.of < 0)
	}
	return len(b), nil
}

func listOf(g *kir.GlobalDef, v uint32) []uint32 { return g.Adj[g.Off[v]:g.Off[v+1]] }

// belowIn is how many ids of v's list are below v.
func belowIn(list []uint32, v uint32) int {
	return sort.Search(len(list), func(k int) bool { return list[k] >= v })
}

// overlay copies the part of what, which begins at byte from, that lies in b, which begins at byte at.
func overlay(b []byte, at int64, what []byte, from int64) {
	if from < at {
		what = what[min(at-from, int64(len(what))):]
		from = at
	}
	if from-at < int64(len(b)) {
		copy(b[from-at:], what)
	}
}

// pack chooses the lists for a cache of that many bytes. It reads lists, and is called inside Do, which makes an error of a fault.
func (x *Exec) pack(reads *Reads, bytes int64) *packed {
	p := &packed{key: x.job.ReadsKey, whole: true}
	most := uint64(bytes) / 4
	numbers := map[*kir.GlobalDef]int32{}
	found := 0.0
	reads.Each(func(r Read) bool {
		g, v := r.Lists, r.Vertex
		of, ok := numbers[g]
		if !ok {
			of = -1
			if key := x.job.keyOf(g, emit.Neighbours); x.tables[key] != nil {
				of = int32(len(p.tables))
				p.tables, p.keys = append(p.tables, x.tables[key].laid), append(p.keys, key)
			}
			numbers[g] = of
		}
		if of < 0 {
			return true
		}
		l := p.tables[of]
		ids := headIDs + g.Off[v+1] - g.Off[v]
		if r.Below {
			ids = headIDs + 1 + uint64(belowIn(listOf(g, v), v))
			of = ^of
		}
		at := l.aligned(p.ids)
		if at+ids > min(most, l.mostCopies()) {
			p.whole = false
			return p.ids+headIDs < most // smaller lists may fit
		}
		p.lists = append(p.lists, listCopy{at, v, of})
		p.ids = at + ids
		found += r.Reads
		return true
	})
	if reads.All > 0 {
		p.share = min(found/reads.All, 1)
	}
	return p
}

// planCache says what cache the run would have.
func (x *Exec) planCache() error {
	if len(x.tables) == 0 {
		return nil
	}
	room := x.roomForCache()
	p := x.pack(x.job.Reads(), room)
	if s := x.planSweep(p, room); s != nil {
		x.result.Cache = s.result(s.room)
	} else if len(p.lists) > 0 {
		x.result.Cache = CacheResult{Lists: len(p.lists), Bytes: p.Size(), Share: p.share}
	} else {
		return nil
	}
	for _, t := range x.tables {
		x.result.Cache.Bytes += t.buf.Size
		x.result.Scratch -= t.buf.Size
	}
	return nil
}

// roomForCache is the memory that a cache may have once the search has taken its own.
func (x *Exec) roomForCache() int64 {
	room := x.dev.room.left() + x.dev.arrays.idle()
	return room - room/searchShare
}

// keyOfCache is that of the session's cache: there is one on a device.
var keyOfCache = arrayKey{what: made, name: "cached lists"}

// fillCache makes the cache of the memory that is left, or takes that of an earlier run.
func (x *Exec) fillCache(ctx context.Context) error {
	if len(x.tables) == 0 {
		return nil
	}
	d := x.dev
	room := x.roomForCache()
	a := d.arrays.all[keyOfCache]
	var p *packed
	if a != nil {
		if s, ok := a.note.(*sweep); ok && s.serves(x, room) {
			return x.beginSweep(s, a)
		}
		if p, _ = a.note.(*packed); p == nil || p.key == "" || p.key != x.job.ReadsKey || !x.serves(p, room) || x.planSweep(p, room) != nil {
			if err := d.drop(x.c, a); err != nil {
				return err
			}
			a = nil
		}
	}
	if a == nil {
		p = x.pack(x.job.Reads(), room)
		s := x.planSweep(p, room)
		bytes := p.Size()
		if s != nil {
			bytes = s.room
		} else if len(p.lists) == 0 {
			return nil
		}
		b, err := d.alloc(x.c, x.job.Name, "cached lists", bytes)
		if errors.Is(err, ErrShort) {
			return nil // others have taken it: a cache is not necessary
		}
		if err != nil {
			return err
		}
		a = &array{key: keyOfCache, owner: x.job.Owner, buf: b, note: p}
		d.arrays.put(a)
		if s != nil {
			a.note = s
			err := x.beginSweep(s, a)
			if s.cols == nil || !lacks(err) {
				return err
			}
			// The system gives no memory for blocks: a cache of whole lists does without.
			x.job.OneSweep = true
			return errors.Join(d.drop(x.c, a), x.fillCache(ctx))
		}
		if err := d.fill(ctx, x.c, a, counted{p, &x.running.copied}); err != nil {
			return errors.Join(err, d.drop(x.c, a))
		}
		x.result.Uploaded += p.Size()
	}
	a.owner, a.last = x.job.Owner, d.arrays.run
	x.result.Cache = CacheResult{Lists: len(p.lists), Bytes: a.buf.Size, Share: p.share}
	for i, key := range p.keys {
		if err := x.fillTable(ctx, x.tables[key], p, int32(i), a.buf.Ptr); err != nil {
			return err
		}
	}
	return nil
}

// serves reports whether a cache of an earlier run has the lists of this one, and takes at least seven eighths of room or all lists.
func (x *Exec) serves(p *packed, room int64) bool {
	all := !slices.ContainsFunc(p.keys, func(k arrayKey) bool { return x.tables[k] == nil })
	return all && len(x.tables) >= len(p.keys) && (p.whole || p.Size() >= room-room/8)
}

// fillTable writes the places of all lists: in the cache p, which is at base, those that it has of its table i; p is nil if there is
// no cache.
func (x *Exec) fillTable(ctx context.Context, t *table, p *packed, i int32, base uint64) error {
	places := make([]uint32, t.buf.Size/4)
	h := cacheHead{blockEnd: math.MaxUint32, rootsEnd: math.MaxUint32}
	// Of no place, and no null address.
	h.base = x.arrays[laidKey(x.job.keyOf(t.g, emit.Neighbours), t.laid)].Ptr
	h.rows, h.ids, h.marks, h.shift = t.buf.Ptr, t.buf.Ptr, t.buf.Ptr, 31
	if p != nil {
		h.window(t.laid, base, t.split(), -t.split())
	}
	copy(places, h.words())
	for v := range places[HeadIDs:] {
		places[HeadIDs+v] = t.place(uint32(v))
	}
	if p != nil {
		for _, l := range p.lists {
			if max(l.of, ^l.of) == i {
				places[HeadIDs+l.vertex] = t.split() + uint32(l.at>>t.shift())
			}
		}
		x.result.Cache.Bytes += t.buf.Size
		x.result.Scratch -= t.buf.Size
	}
	x.result.Uploaded += t.buf.Size
	return x.dev.fill(ctx, x.c, &array{buf: t.buf}, bytes.NewReader(raw(places)))
}

// cacheHead is struct CacheHead.
type cacheHead struct {
	base            uint64
	first, count    uint32
	block, blockEnd uint32
	roots, rootsEnd uint32
	rows, ids       uint64
	marks           uint64
	rowEnd, shift   uint32
}

func (h *cacheHead) words() []uint32 {
	return []uint32{
		uint32(h.base), uint32(h.base >> 32), h.first, h.count, h.block, h.blockEnd, h.roots, h.rootsEnd,
		uint32(h.rows), uint32(h.rows >> 32), uint32(h.ids), uint32(h.ids >> 32), uint32(h.marks), uint32(h.marks >> 32), h.rowEnd, h.shift,
	}
}

// window sets which places are those of copies: the given number of them from first on. The copies begin at an address.
func (h *cacheHead) window(l laid, address uint64, first, count uint32) {
	h.base, h.first, h.count = address-uint64(first)<<(l.shift()+2), first, count
}

// dropCache gives the cache's memory back while the search goes on, between two of its kernels: they
// read host memory from then on.
func (x *Exec) dropCache() (dropped bool, err error) {
	a := x.dev.arrays.all[keyOfCache]
	if a == nil || len(x.tables) == 0 || x.sweep != nil || a.last != x.dev.arrays.run {
		return false, nil
	}
	if err := x.Join(); err != nil {
		return false, err
	}
	for _, t := range x.tables {
		if err := x.fillTable(x.running.ctx, t, nil, 0, 0); err != nil {
			return false, err
		}
	}
	x.result.Cache = CacheResult{}
	return true, x.dev.drop(x.c, a)
}
