package partition

import (
	"errors"
	"fmt"
	"math/bits"
	"sort"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/memory"
)

// slot is device memory for the lists that some rows of a table need. It has the vertices of the lists, by source and
// ascending, then where each list begins, and then the lists.
type slot struct {
	memory cuda.Buffer
	leave  *cuda.Event // the lists leave the host,
	ready  *cuda.Event // and are there
	base   uint32      // the first row that is not searched
	end    uint32      // behind the last row whose lists are there
	keys   uint64
	source [maxSources + 1]uint32
	took   time.Duration // to gather them, without the copy
}

// address says where the lists are.
func (s *slot) address(a *deviceArgs) {
	a.Key, a.At, a.List = s.memory.Ptr, s.memory.Ptr+4*s.keys, s.memory.Ptr+4*(2*s.keys+1)
	a.Source = s.source
}

// gatherer gathers lists on the host. The device marks the vertices whose lists rows need. The host copies their lists,
// each once, to page-locked memory, and sends them. Two pieces of that memory take turns, so that one is filled while the
// other is on the bus.
type gatherer struct {
	need   cuda.Buffer // struct PartitionArgs' need
	marks  []uint64    // the same on the host
	words  int         // of a bitmap
	marked uint64      // launches of marks

	stage [2]stage
	turn  int
	keys  []uint32 // of the lists that are gathered now
}

// stage is page-locked memory.
type stage struct {
	memory *cuda.Pinned
	sent   *cuda.Event
	used   bool
}

// reserve takes the device's memory for marks.
func (h *gatherer) reserve(t *tables, words, sources int) (err error) {
	h.words, h.marks = words, make([]uint64, 1+words*sources)
	if h.need, err = t.x.Scratch("marks of vertices", markBytes(int64(len(t.of)), sources)); err != nil {
		return err
	}
	return t.x.Context().Clear(h.need, t.x.Stream())
}

// pin takes page-locked memory for the largest slot.
func (h *gatherer) pin(c *cuda.Context, all []table) error {
	size := int64(0)
	for i := range all {
		size = max(size, all[i].slots[0].memory.Size)
	}
	for k := range h.stage {
		if size == 0 {
			continue
		}
		s := &h.stage[k]
		var err error
		if s.memory, err = c.PinnedRaw(size); err != nil {
			return err
		}
		if s.sent, err = c.Event(); err != nil {
			return err
		}
	}
	return nil
}

// free gives back what pin took.
func (h *gatherer) free() error {
	var errs []error
	for k := range h.stage {
		s := &h.stage[k]
		if s.sent != nil {
			errs = append(errs, s.sent.Close())
		}
		if s.memory != nil {
			errs = append(errs, s.memory.Free())
		}
	}
	return errors.Join(errs...)
}

// gather brings the lists that rows of table i need to a slot: the rows from base on, as many as its memory allows. It
// returns when the lists are on their way.
func (t *tables) gather(k, i int, s *slot, base uint32) error {
	start := time.Now()
	defer func() { s.took = time.Since(start) }()
	b := &t.table[i]
	lv := &t.searches[k].levels[b.width]
	n := min(b.guess, b.count-base)
	for {
		if err := t.mark(k, i, base, base+n); err != nil {
			return err
		}
		var entries uint64
		err := t.g.Guard(func() error {
			entries = t.collect(k, lv, s)
			return nil
		})
		if err != nil {
			return err
		}
		needs, has := 4*(2*uint64(len(t.keys))+1+entries), uint64(s.memory.Size)
		if needs <= has {
			s.base, s.end, s.keys = base, base+n, uint64(len(t.keys))
			if needs < has/2 {
				b.guess = uint32(min(2*uint64(max(n, b.guess)), uint64(t.most(int64(b.room)))))
			}
			return t.send(k, lv, s, entries)
		}
		if n == 1 {
			return t.short(fmt.Sprintf("the neighbour lists of one partial match take %s, and there is room for %s", memory.Text(needs), memory.Text(has)))
		}
		t.moved.split.Add(1)
		n = max(1, min(n/2, uint32(float64(n)*float64(has)/float64(needs))))
		b.guess = n
	}
}

// mark has the device mark the vertices whose lists rows need, and reads the marks.
func (t *tables) mark(k, i int, base, end uint32) error {
	c := t.x.Context()
	if err := c.Clear(cuda.Buffer{Ptr: t.need.Ptr + 8, Size: t.need.Size - 8}, t.copies); err != nil {
		return err
	}
	t.marked++
	a := t.args(k, i)
	a.Base, a.Count, a.Need, a.Words, a.Turn = base, end, t.need.Ptr, uint64(t.words), t.marked
	m := t.kernel[markKernel]
	blocks := max(1, min(m.blocks, int(end-base+uint32(m.threads)-1)/m.threads))
	if err := session.LaunchFixed(t.x, m.Kernel, cuda.Launch{Blocks: blocks, Threads: m.threads, Shared: m.shared, Stream: t.copies}, &a); err != nil {
		return err
	}
	if err := cuda.Fetch(c, t.marks, t.need, 0, t.copies); err != nil {
		return err
	}
	if t.marks[0] != t.marked {
		return &cuda.Error{Op: Name, Kind: cuda.ErrLaunch, Text: "a launch that marks vertices did not run"}
	}
	return nil
}

// collect lists the marked vertices, and counts the entries of their lists.
func (t *tables) collect(k int, lv *level, s *slot) (entries uint64) {
	t.keys = t.keys[:0]
	for j, adj := range lv.sources {
		s.source[j] = uint32(len(t.keys))
		lists := t.searches[k].plan.Adjs[adj].Lists
		for w, word := range t.marks[1+j*t.words : 1+(j+1)*t.words] {
			for ; word != 0; word &= word - 1 {
				v := uint32(w*64 + bits.TrailingZeros64(word))
				t.keys = append(t.keys, v)
				entries += uint64(lists.Degree(v))
			}
		}
	}
	for j := len(lv.sources); j < len(s.source); j++ {
		s.source[j] = uint32(len(t.keys))
	}
	return entries
}

// send copies the lists to page-locked memory, and from there to the slot.
func (t *tables) send(k int, lv *level, s *slot, entries uint64) error {
	h := &t.stage[t.gatherer.turn]
	t.gatherer.turn ^= 1
	if h.used {
		if err := h.sent.Synchronize(); err != nil {
			return err
		}
	}
	keys := len(t.keys)
	bytes := 4 * int64(2*keys+1+int(entries))
	to, err := cuda.View[uint32](h.memory, 0, int(bytes/4))
	if err != nil {
		return err
	}
	copy(to, t.keys)
	at, lists := to[keys:2*keys+1], to[2*keys+1:]
	if err := t.fill(k, lv, s, at, lists); err != nil {
		return err
	}
	t.moved.chunks.Add(1)
	t.moved.bytes.Add(uint64(bytes))
	if err := s.leave.Record(t.copies); err != nil {
		return err
	}
	if err := t.x.Context().Send(s.memory, 0, h.memory, 0, bytes, t.copies); err != nil {
		return err
	}
	h.used = true
	return errors.Join(h.sent.Record(t.copies), s.ready.Record(t.copies))
}

// fillEntries is how many entries a goroutine copies at least.
const fillEntries = 1 << 16

// fill copies the lists of all keys, and writes where they begin.
func (t *tables) fill(k int, lv *level, s *slot, at, lists []uint32) error {
	relations := t.searches[k].plan.Adjs
	each := func(from, to int, do func(i int, h *graph.Handle)) {
		for j, adj := range lv.sources {
			for i := max(from, int(s.source[j])); i < min(to, int(s.source[j+1])); i++ {
				do(i, relations[adj].Lists)
			}
		}
	}
	n := uint32(0)
	each(0, len(t.keys), func(i int, h *graph.Handle) {
		at[i] = n
		n += uint32(h.Degree(t.keys[i]))
	})
	at[len(t.keys)] = n
	fillers := max(1, min(t.o.Threads/len(t.s.Devices()), int(n)/fillEntries))
	errs := make([]error, fillers)
	var wg sync.WaitGroup
	for w := range fillers {
		// The lists from about its share of the entries on.
		cut := func(w int) int {
			return sort.Search(len(t.keys), func(i int) bool { return uint64(at[i])*uint64(fillers) >= uint64(n)*uint64(w) })
		}
		from, to := cut(w), len(t.keys)
		if w+1 < fillers {
			to = cut(w + 1)
		}
		wg.Go(func() {
			errs[w] = t.g.Guard(func() error {
				var scratch graph.Scratch
				each(from, to, func(i int, h *graph.Handle) { copy(lists[at[i]:at[i+1]], h.List(t.keys[i], &scratch)) })
				return nil
			})
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
