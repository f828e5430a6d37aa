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
	first  uint32      // the first row whose lists are there
	base   uint32      // the first row that is not searched
	end    uint32      // behind the last row whose lists are there
	low    uint32      // the lists have neighbours from low on,
	high   uint32      // and below high; all: all of them
	keys   uint64
	source [maxSources + 1]uint32
	took   time.Duration // to gather them, without the copy
}

// all is the bound of lists that are whole.
const all = ^uint32(0)

// next returns the rows, and the first of their neighbours, with which the search goes on behind the slot. Rows without an end are as
// many as fit.
func (s *slot) next() (row, end, low uint32) {
	if s.high != all {
		return s.first, s.end, s.high
	}
	return s.end, 0, 0
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

// pin borrows page-locked memory for the largest slot from the session, which keeps it for later runs: such memory is slow to get.
func (h *gatherer) pin(x *session.Exec, all []table) error {
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
		if s.memory, err = x.Lend(size); err != nil {
			return err
		}
		if s.sent, err = x.Context().Event(); err != nil {
			return err
		}
	}
	return nil
}

// free gives back the events of pin. The session takes its memory back at the end of the run.
func (h *gatherer) free() error {
	var errs []error
	for k := range h.stage {
		s := &h.stage[k]
		if s.sent != nil {
			errs = append(errs, s.sent.Close())
		}
	}
	return errors.Join(errs...)
}

// gather brings the lists that rows of table i need to a slot: the rows from base on, as many as its memory allows. It returns when
// the lists are on their way.
//
// If the lists of a single row are too long, a chunk has some rows, and of their lists the neighbours from low on that there is room
// for. The candidates among these follow from them alone. The next chunks have the same rows, which end before `end`, and the
// neighbours behind.
func (t *tables) gather(k, i int, s *slot, base, end, low uint32) error {
	start := time.Now()
	defer func() { s.took = time.Since(start) }()
	b := &t.table[i]
	lv := &t.searches[k].levels[b.width]
	n := min(b.guess, b.count-base)
	window := low > 0
	if window {
		n = end - base
	}
	for {
		if err := t.mark(k, i, base, base+n); err != nil {
			return err
		}
		var entries uint64
		s.low, s.high = low, all
		err := t.g.Guard(func() error {
			entries = t.collect(k, lv, s)
			return nil
		})
		if err != nil {
			return err
		}
		bytes := func(entries uint64) uint64 { return 4 * (2*uint64(len(t.keys)) + 1 + entries) }
		needs, has := bytes(entries), uint64(s.memory.Size)
		if needs > has && !window {
			if n > 1 {
				n = max(1, min(n/2, uint32(float64(n)*float64(has)/float64(needs))))
				b.guess = n
				continue
			}
			if name, _ := t.kernelFor(&t.searches[k], int(b.width)); name == pairsKernel {
				return t.short(fmt.Sprintf("the neighbour lists of one partial match take %s, and there is room for %s", memory.Text(needs), memory.Text(has)))
			}
			// Rows whose keys take half of the slot at most.
			window = true
			if n = min(uint32(max(1, has/(16*uint64(len(lv.backs))))), b.count-base); n > 1 {
				continue
			}
		}
		if needs > has {
			// The greatest window that fits.
			err := t.g.Guard(func() error {
				s.high = low + uint32(sort.Search(len(t.of)-int(low), func(i int) bool {
					s.high = low + uint32(i) + 1
					return bytes(t.entries(k, lv, s)) > has
				}))
				entries = t.entries(k, lv, s)
				return nil
			})
			if err != nil {
				return err
			}
			t.moved.windows.Add(1)
		}
		s.first, s.base, s.end, s.keys = base, base, base+n, uint64(len(t.keys))
		if needs < has/2 {
			b.guess = uint32(min(2*uint64(max(n, b.guess)), uint64(t.most(int64(b.room)))))
		}
		return t.send(k, lv, s, entries)
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
	for j := range lv.sources {
		s.source[j] = uint32(len(t.keys))
		for w, word := range t.marks[1+j*t.words : 1+(j+1)*t.words] {
			for ; word != 0; word &= word - 1 {
				t.keys = append(t.keys, uint32(w*64+bits.TrailingZeros64(word)))
			}
		}
	}
	for j := len(lv.sources); j < len(s.source); j++ {
		s.source[j] = uint32(len(t.keys))
	}
	return t.entries(k, lv, s)
}

// entries counts the entries of the keys' lists that the slot is to have.
func (t *tables) entries(k int, lv *level, s *slot) (n uint64) {
	var scratch graph.Scratch
	t.each(k, lv, s, 0, len(t.keys), func(i int, h *graph.Handle) {
		if s.low == 0 && s.high == all {
			n += uint64(h.Degree(t.keys[i]))
		} else {
			n += uint64(len(h.ListIn(t.keys[i], s.low, s.high, &scratch)))
		}
	})
	return n
}

// each calls do with some of the keys, and their relations.
func (t *tables) each(k int, lv *level, s *slot, from, to int, do func(i int, h *graph.Handle)) {
	for j, adj := range lv.sources {
		for i := max(from, int(s.source[j])); i < min(to, int(s.source[j+1])); i++ {
			do(i, t.searches[k].plan.Adjs[adj].Lists)
		}
	}
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
	err = t.meter.Copies(bytes, t.copies, func() error { return t.x.Context().Send(s.memory, 0, h.memory, 0, bytes, t.copies) })
	if err != nil {
		return err
	}
	h.used = true
	return errors.Join(h.sent.Record(t.copies), s.ready.Record(t.copies))
}

// fillEntries is how many entries a goroutine copies at least.
const fillEntries = 1 << 16

// fill copies the lists of all keys, and writes where they begin.
func (t *tables) fill(k int, lv *level, s *slot, at, lists []uint32) error {
	whole := s.low == 0 && s.high == all
	list := func(i int, h *graph.Handle, scratch *graph.Scratch) []uint32 {
		if whole {
			return h.List(t.keys[i], scratch)
		}
		return h.ListIn(t.keys[i], s.low, s.high, scratch)
	}
	n := uint32(0)
	var scratch graph.Scratch
	t.each(k, lv, s, 0, len(t.keys), func(i int, h *graph.Handle) {
		at[i] = n
		if whole {
			n += uint32(h.Degree(t.keys[i]))
		} else {
			n += uint32(len(list(i, h, &scratch)))
		}
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
				t.each(k, lv, s, from, to, func(i int, h *graph.Handle) { copy(lists[at[i]:at[i+1]], list(i, h, &scratch)) })
				return nil
			})
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
