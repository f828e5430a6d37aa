package cached

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/graph/dynamic"
)

type rangeOf = dynamic.Range

// Policy says which lists the cache has.
type Policy uint8

// Policies.
const (
	Walks  Policy = iota // those that random walks expect to be read most often
	Degree               // the longest ones
	Hops                 // all that the search may read: of vertices near the changed edges, as in VSGM
	None                 // none: all are read over the bus
)

// String returns the name of the switch.
func (p Policy) String() string { return [...]string{"walks", "degree", "hops", "off"}[p] }

// errNoRoom is the error of lists that are all to be copied and find no room.
var errNoRoom = errors.New("no room for all lists")

// noRoom is errNoRoom, and cuda.ErrMemory.
type noRoom struct{ of *cuda.Error }

func (e noRoom) Error() string   { return e.of.Error() }
func (e noRoom) Unwrap() []error { return []error{e.of, errNoRoom} }

// Walks that are made: for each task at most, and for all at least.
const (
	walksOfTask = 64
	leastWalks  = 1 << 10
)

// alpha and sure say how many walks are wanted: see walker.needed.
const alpha, sure = 1, 0.5

// choose returns the keys of lists for the cache, the first ones first.
func (x *Device) choose(tasks []walk) ([]uint64, error) {
	switch x.o.Policy {
	case None:
		return nil, nil
	case Degree:
		return x.longest(), nil
	case Hops:
		return x.near(tasks), nil
	}
	w := newWalker(&x.lists, tasks, x.o.Seed+x.work.Batches)
	// GCSM begins with n·D^(k-2)/32^k walks for a pattern of k vertices.
	k := float64(w.depth + 2)
	most := float64(max(leastWalks, len(tasks)*walksOfTask))
	if x.o.Walks > 0 {
		most = float64(len(tasks) * x.o.Walks)
	}
	begin := float64(len(tasks)) * math.Pow(float64(w.most), k-2) / math.Pow(32, k)
	w.run(uint64(min(max(begin, float64(len(tasks))), most)))
	if len(w.sums) > 0 {
		least := math.Inf(1)
		for key := range w.sums {
			least = min(least, w.frequency(key))
		}
		if more := min(w.needed(least, alpha, sure), most) - float64(w.walks); more >= 1 {
			w.run(uint64(more))
		}
	}
	x.work.Walks += w.walks
	keys := make([]uint64, 0, len(w.sums))
	for key := range w.sums {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b uint64) int { return cmp.Or(cmp.Compare(w.sums[b], w.sums[a]), cmp.Compare(a, b)) })
	return keys, nil
}

// longest returns the longest lists of the graph, as far as they may fit.
func (x *Device) longest() (keys []uint64) {
	length := func(key uint64) uint32 {
		h := x.lists.rels[key>>32].heads[uint32(key)]
		return h.N + h.D
	}
	for k, r := range x.lists.rels {
		if r != nil {
			for v := range r.heads {
				if r.heads[v].N+r.heads[v].D > 0 {
					keys = append(keys, listKey(k, uint32(v)))
				}
			}
		}
	}
	slices.SortFunc(keys, func(a, b uint64) int { return cmp.Or(cmp.Compare(length(b), length(a)), cmp.Compare(a, b)) })
	return keys
}

// near returns the lists of all vertices that are as near to those of an anchor as the vertices of which a nest reads lists.
func (x *Device) near(tasks []walk) (keys []uint64) {
	type seen struct {
		v    uint32
		hops int
	}
	best := map[uint32]int{} // hops that are left, by vertex
	var queue []seen
	put := func(v uint32, hops int) {
		if h, ok := best[v]; !ok || h < hops {
			best[v] = hops
			queue = append(queue, seen{v, hops})
		}
	}
	for i := range tasks {
		t := &tasks[i]
		hops := 0
		far := make([]int, len(t.n.Places))
		for l := t.n.First; l < len(far); l++ {
			lv := &t.n.Places[l]
			far[l] = len(far)
			for j := range lv.Pos {
				far[l] = min(far[l], far[lv.Pos[j].At]+1)
			}
			for j := range lv.All {
				hops = max(hops, far[lv.All[j].At])
			}
		}
		for l := range t.n.First {
			put(t.first[l], hops)
		}
	}
	for len(queue) > 0 {
		y := queue[0]
		queue = queue[1:]
		if best[y.v] != y.hops || y.hops == 0 {
			continue
		}
		for _, r := range x.lists.rels {
			if r == nil || int(y.v) >= len(r.heads) {
				continue
			}
			for _, z := range x.lists.ids(r, y.v) {
				put(z&^mark, y.hops-1)
			}
			id, _, _ := x.lists.delta(r, y.v)
			for _, z := range id {
				put(z, y.hops-1)
			}
		}
	}
	for v := range best {
		for k, r := range x.lists.rels {
			if r != nil && int(v) < len(r.heads) {
				keys = append(keys, listKey(k, v))
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// cacheHeader is the bytes of a list in the cache, its ids apart: a key and a head.
const cacheHeader = 8 + 16

// fillCache packs lists as long as there is room, and brings them to the device by one transfer: the keys, the heads, and then the ids (DCSR).
func (x *Device) fillCache(c *cuda.Context, keys []uint64) error {
	x.cached = 0
	if len(keys) == 0 {
		return nil
	}
	room := x.room64()
	total := int64(0)
	words := func(key uint64) int64 {
		h := x.lists.rels[key>>32].heads[uint32(key)]
		return int64(h.N) + 3*int64(h.D)
	}
	n := 0
	for ; n < len(keys); n++ {
		bytes := cacheHeader + 4*words(keys[n])
		if total+bytes > room {
			break
		}
		total += bytes
	}
	if n < len(keys) && x.o.Policy == Hops {
		for _, key := range keys[n:] {
			total += cacheHeader + 4*words(key)
		}
		x.work.Refused++
		x.work.Wanted += uint64(total)
		return noRoom{&cuda.Error{Op: "cached", Kind: cuda.ErrMemory, Text: fmt.Sprintf("the %d lists near the changed edges need %d bytes, and there are %d for them", len(keys), total, room), Hint: "smaller batches need fewer"}}
	}
	if keys = keys[:n]; n == 0 {
		return nil
	}
	slices.Sort(keys)
	if x.stage == nil || int64(len(x.stage.Bytes())) < total {
		if x.stage != nil {
			if err := x.stage.Free(); err != nil {
				return err
			}
			x.stage = nil
		}
		var err error
		if x.stage, err = c.PinnedRaw(total + total/4); err != nil {
			return err
		}
	}
	if err := grow(c, &x.cache, total); err != nil {
		return err
	}
	to := x.stage.Bytes()
	put := unsafe.Slice((*uint64)(unsafe.Pointer(&to[0])), n)
	heads := unsafe.Slice((*head)(unsafe.Pointer(&to[8*n])), n)
	ids := unsafe.Slice((*uint32)(unsafe.Pointer(&to[cacheHeader*n])), (total-int64(cacheHeader*n))/4)
	at := 0
	for i, key := range keys {
		r, v := x.lists.rels[key>>32], uint32(key)
		h := r.heads[v]
		k := int(h.N) + 3*int(h.D)
		put[i] = key
		heads[i] = head{x.cache.Ptr + uint64(cacheHeader*n+4*at), h.N, h.D}
		copy(ids[at:], x.lists.arena.words(r.arrays[v])[:k])
		at += k
	}
	if err := c.Send(x.cache, 0, x.stage, 0, total, nil); err != nil {
		return err
	}
	x.cached = n
	x.work.Copied += uint64(total)
	x.work.Cached += uint64(n)
	return nil
}

// room64 is the number of bytes that the cache may have.
func (x *Device) room64() int64 {
	if x.o.Memory > 0 {
		return x.o.Memory
	}
	return x.free / 2
}
