package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// A cache has copies of neighbour lists in device memory, while all lists lie in host memory. Kernels find
// a list by its vertex's place in a table (struct Adj of base/graph.cuh). Until the cache is
// full, all places are 0: kernels that prepare the search read host memory.
//
// The search's own memory comes first: the cache is made after Start, of the memory that is left.

// Reads says which neighbour lists a search reads, and how often, as far as that is known before it.
type Reads struct {
	// Each yields lists, each at most once, in the order in which they are to have copies.
	Each func(yield func(Read) bool)
	// All is the expected number of reads of all lists.
	All float64
}

// Read is a neighbour list, and how often it is read.
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
}

// The layout of a table: numbers of ids.
const (
	HeadIDs = 4 // CACHE_HEAD: the copies' address
	UnitIDs = 4 // CACHE_UNIT: places count in units
)

const (
	unitBytes  = 4 * UnitIDs
	copyHead   = 8       // bytes before the ids of a copy
	mostPlaces = 1 << 32 // places are numbers of 32 bits
	// tableShare is the part of the free memory that a table may take. Smaller memories are better spent
	// on the search.
	tableShare = 2
	// searchShare is the part of the memory for a cache that is left to the search, which may ask for
	// more once it has begun.
	searchShare = 16
)

// table is the places of an adjacency's vertices.
type table struct {
	g   *kir.GlobalDef
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

// settled is the job as the session runs it: kernels are compiled for a cache only where there may be one.
func (s *Session) settled(j *Job) *Job {
	now := *j
	now.cached = j.Reads != nil && (j.Place == Cached || j.Place == Auto && s.outside(j))
	return &now
}

// copies reports whether the lists of a global may have copies.
func (j *Job) copies(g *kir.GlobalDef) bool {
	return g.Kind == kir.Adj && len(g.Off) > 1 && len(g.Adj) > 0 && (j.Arrays == nil || j.Arrays(g, emit.Neighbours) == nil)
}

// tablesOf takes memory for the tables of the lists in host memory, and empties them.
func (x *Exec) tablesOf(wants []want) error {
	if !x.job.cached || x.job.least {
		return nil
	}
	for i := range wants {
		w := &wants[i]
		if !w.host || !w.list() || !x.job.copies(w.g) {
			continue
		}
		bytes := 4 * int64(HeadIDs+len(w.g.Off)-1)
		if bytes > (x.dev.room.left()+x.dev.arrays.idle())/tableShare {
			continue
		}
		b, err := x.Scratch("the places of cached lists", bytes)
		if err != nil {
			return err
		}
		if err := x.c.Clear(b, x.stream); err != nil {
			return err
		}
		if x.tables == nil {
			x.tables = map[arrayKey]*table{}
		}
		x.tables[w.key] = &table{w.g, b}
	}
	return nil
}

// tableOf is where the table of a global's lists is; 0: it has none.
func (x *Exec) tableOf(g *kir.GlobalDef) uint64 {
	if t := x.tables[x.job.keyOf(g, emit.Neighbours)]; t != nil {
		return t.buf.Ptr
	}
	return 0
}

// listCopy is a list with its place.
type listCopy struct {
	place  uint32
	vertex uint32
	of     int32 // an index of packed.globals; ^of: only the part below the vertex
}

// packed is the content of a cache.
type packed struct {
	key     string     // Job.ReadsKey
	keys    []arrayKey // by global
	globals []*kir.GlobalDef
	lists   []listCopy // by place
	places  uint64     // the first is not used
	share   float64
	whole   bool // every list that Reads yields has a copy
}

// Size and ReadAt make it a Source.
func (p *packed) Size() int64 { return int64(p.places) * unitBytes }

func (p *packed) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	end := at + int64(len(b))
	// The first list that ends behind at.
	i := sort.Search(len(p.lists), func(i int) bool { return int64(p.lists[i].place)*unitBytes > at })
	for i = max(i-1, 0); i < len(p.lists) && int64(p.lists[i].place)*unitBytes < end; i++ {
		l := p.lists[i]
		g := p.globals[max(l.of, ^l.of)]
		list := listOf(g, l.vertex)
		below := belowIn(list, l.vertex)
		head := binary.LittleEndian.AppendUint32(nil, uint32(len(list)))
		if l.of < 0 {
			list = list[:below]
			head = binary.LittleEndian.AppendUint32(head, uint32(below)|partOnly)
		} else {
			head = binary.LittleEndian.AppendUint32(head, uint32(below))
		}
		from := int64(l.place) * unitBytes
		overlay(b, at, head, from)
		overlay(b, at, raw(list), from+copyHead)
	}
	return len(b), nil
}

// partOnly is CACHE_PART: a mark beside the number of ids below the vertex.
const partOnly = 1 << 31

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
	p := &packed{key: x.job.ReadsKey, places: 1, whole: true}
	most := min(uint64(bytes)/unitBytes, mostPlaces)
	numbers := map[*kir.GlobalDef]int32{}
	found := 0.0
	reads.Each(func(r Read) bool {
		g, v := r.Lists, r.Vertex
		of, ok := numbers[g]
		if !ok {
			of = -1
			if key := x.job.keyOf(g, emit.Neighbours); x.tables[key] != nil {
				of = int32(len(p.globals))
				p.globals, p.keys = append(p.globals, g), append(p.keys, key)
			}
			numbers[g] = of
		}
		if of < 0 {
			return true
		}
		n := g.Off[v+1] - g.Off[v]
		if r.Below {
			n = uint64(belowIn(listOf(g, v), v))
			of = ^of
		}
		units := (copyHead + 4*n + unitBytes - 1) / unitBytes
		if p.places+units > most {
			p.whole = false
			return p.places+1 < most // smaller lists may fit
		}
		p.lists = append(p.lists, listCopy{uint32(p.places), v, of})
		p.places += units
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
	p := x.pack(x.job.Reads(), x.roomForCache())
	if len(p.lists) == 0 {
		return nil
	}
	x.result.Cache = CacheResult{len(p.lists), p.Size(), p.share}
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
		if p, _ = a.note.(*packed); p == nil || p.key == "" || p.key != x.job.ReadsKey || !x.serves(p, room) {
			if err := d.drop(x.c, a); err != nil {
				return err
			}
			a = nil
		}
	}
	if a == nil {
		if p = x.pack(x.job.Reads(), room); len(p.lists) == 0 {
			return nil
		}
		b, err := d.alloc(x.c, x.job.Name, "cached lists", p.Size())
		if errors.Is(err, ErrShort) {
			return nil // others have taken it: a cache is not necessary
		}
		if err != nil {
			return err
		}
		a = &array{key: keyOfCache, owner: x.job.Owner, buf: b, note: p}
		d.arrays.put(a)
		if err := d.fill(ctx, x.c, a, counted{p, &x.running.copied}); err != nil {
			return errors.Join(err, d.drop(x.c, a))
		}
		x.result.Uploaded += p.Size()
	}
	a.owner, a.last = x.job.Owner, d.arrays.run
	x.result.Cache = CacheResult{len(p.lists), a.buf.Size, p.share}
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

// fillTable writes the places of the lists of global i.
func (x *Exec) fillTable(ctx context.Context, t *table, p *packed, i int32, base uint64) error {
	places := make([]uint32, t.buf.Size/4)
	places[0], places[1] = uint32(base), uint32(base>>32)
	for _, l := range p.lists {
		if max(l.of, ^l.of) == i {
			places[HeadIDs+l.vertex] = l.place
		}
	}
	x.result.Uploaded += t.buf.Size
	x.result.Cache.Bytes += t.buf.Size
	x.result.Scratch -= t.buf.Size
	return x.dev.fill(ctx, x.c, &array{buf: t.buf}, bytes.NewReader(raw(places)))
}

// dropCache gives the cache's memory back while the search goes on, between two of its kernels: they
// read host memory from then on.
func (x *Exec) dropCache() (dropped bool, err error) {
	a := x.dev.arrays.all[keyOfCache]
	if a == nil || len(x.tables) == 0 || a.last != x.dev.arrays.run {
		return false, nil
	}
	if err := x.Join(); err != nil {
		return false, err
	}
	for _, t := range x.tables {
		if err := x.c.Clear(t.buf, x.stream); err != nil {
			return false, err
		}
	}
	if err := x.stream.Synchronize(); err != nil {
		return false, err
	}
	x.result.Cache = CacheResult{}
	return true, x.dev.drop(x.c, a)
}
