package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
)

// entry is a neighbour in a list.
type entry struct{ ID, Label uint32 }

// lists are neighbour lists by number: of vertex v on an undirected graph, of 2v (to successors) and 2v+1 on a directed one. Each ascends
// by id and label.
type lists interface {
	Lists() int
	// Append appends list i to a slice.
	Append(to []entry, i int) []entry
}

// Sizes are the rooms of a store.
type Sizes struct {
	Labels bool // entries have labels
	Hash   bool // arrays are hash sets, and the kernel has PIPELINE_HASH
	Lists  int  // at least those of the graph
	// Pool is the most memory for neighbour arrays in bytes, and Spare the least that is left when the graph is there.
	Pool, Spare int64
}

// noRoom is the error of a graph that the device has no room for. It is cuda.ErrMemory.
func noRoom(format string, args ...any) error {
	return &cuda.Error{Op: "pipeline", Kind: cuda.ErrMemory, Text: fmt.Sprintf(format, args...), Hint: "give the lists more by --gpu-memory, or use --engine host"}
}

// Store is a multi-version graph in device memory. Its methods are called inside Do.
type Store struct {
	raw               store
	shape             shape
	heads, data, pool cuda.Buffer
}

// chunkBytes is the size of uploads.
const chunkBytes = 16 << 20

// load brings lists to the device as their versions of time 0.
func load(ctx context.Context, c *cuda.Context, from lists, size Sizes) (s *Store, err error) {
	sh := shape{words: 3, hash: size.Hash}
	if size.Labels {
		sh.words = 4
	}
	made := &Store{shape: sh, raw: store{Words: uint32(sh.words), Lists: uint32(max(size.Lists, from.Lists()))}}
	defer func() {
		if err != nil {
			s, err = nil, errors.Join(err, made.free(c))
		}
	}()
	s = made
	end := uint64(1)
	var l []entry
	for i := range from.Lists() {
		if i&0xffff == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if l = from.Append(l[:0], i); len(l) > 0 {
			end += classUnits(sh.class(sh.slots(len(l))))
		}
	}
	units := min(max(uint64(size.Pool)/unit, 1), 1<<32)
	if end+uint64(size.Spare)/unit > units {
		return nil, noRoom("the graph's lists take %d bytes, and updates need %d more, of %d", end*unit, size.Spare, size.Pool)
	}
	for _, x := range []struct {
		to    *cuda.Buffer
		bytes int64
	}{{&s.heads, int64(s.raw.Lists) * sizeOf[head]()}, {&s.data, int64(units) * unit}, {&s.pool, sizeOf[pool]()}} {
		if *x.to, err = c.Alloc(x.bytes); err != nil {
			return nil, err
		}
	}
	s.raw.Heads, s.raw.Pool = s.heads.Ptr, s.data.Ptr
	if err := s.fill(ctx, c, from); err != nil {
		return nil, err
	}
	return s, cuda.Upload(c, s.pool, 0, []pool{{Used: end, Most: end, Bump: end, End: units}})
}

// fill writes heads and arrays.
func (s *Store) fill(ctx context.Context, c *cuda.Context, from lists) error {
	var heads []head
	var data []uint32
	first, at := int64(0), int64(1) // the unit of data[0], and of the next array
	given := int64(0)               // heads that are there
	flush := func() error {
		if err := cuda.Upload(c, s.heads, given*sizeOf[head](), heads); err != nil {
			return err
		}
		given += int64(len(heads))
		if err := cuda.Upload(c, s.data, first*unit, data); err != nil {
			return err
		}
		heads, data, first = heads[:0], data[:0], at
		return context.Cause(ctx)
	}
	first = at
	var l []entry
	for i := range int(s.raw.Lists) {
		l = l[:0]
		if i < from.Lists() {
			l = from.Append(l, i)
		}
		h := head{Rows: [2]row{{Span: uint64(forever) << 32}, {Span: freeRow}}}
		if n := len(l); n > 0 {
			n = s.shape.slots(n)
			h.Rows[0].Array = uint64(n)<<32 | uint64(at)
			size := classUnits(s.shape.class(n))
			begin := len(data)
			data = slices.Grow(data, int(size)*unit/4)[:begin+int(size)*unit/4]
			to := data[begin:]
			clear(to)
			s.shape.put(to, n, l)
			at += int64(size)
		}
		if heads = append(heads, h); len(heads)*int(sizeOf[head]())+4*len(data) > chunkBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// put writes a list to an array of n entries, or slots.
func (x shape) put(to []uint32, n int, l []entry) {
	if x.hash {
		for i := range n {
			to[i], to[n+i] = noVertex, forever
		}
		to[x.words*n] = uint32(len(l))
	}
	for k, e := range l {
		if x.hash {
			for k = homeOf(e.ID, n); to[k] != noVertex; k = (k + 1) % n {
			}
		}
		to[k], to[n+k], to[2*n+k] = e.ID, 0, forever
		if x.words == 4 {
			to[3*n+k] = e.Label
		}
	}
}

// free gives the memory back.
func (s *Store) free(c *cuda.Context) error {
	err := errors.Join(c.Free(s.heads), c.Free(s.data), c.Free(s.pool))
	s.heads, s.data, s.pool = cuda.Buffer{}, cuda.Buffer{}, cuda.Buffer{}
	return err
}

// check reads the whole store back, while no kernel runs, and reports the first thing that is wrong in it: two blocks in the same place,
// units that are neither free nor in use, a list that does not ascend. It returns the entries of each list that are not removed. Tests
// call it.
func (s *Store) check(c *cuda.Context) (out [][]entry, err error) {
	heads := make([]head, s.raw.Lists)
	data := make([]uint32, s.data.Size/4)
	var state [1]pool
	if err := errors.Join(cuda.Download(c, heads, s.heads, 0), cuda.Download(c, data, s.data, 0), cuda.Download(c, state[:], s.pool, 0)); err != nil {
		return nil, err
	}
	p := &state[0]
	at := func(u uint32) []uint32 { return data[uint64(u)*unit/4:] }
	type block struct{ at, end uint64 }
	blocks := []block{{0, 1}, {p.Bump, p.End}}
	used := uint64(1)
	take := func(u uint32, class int) {
		used += classUnits(class)
		blocks = append(blocks, block{uint64(u), uint64(u) + classUnits(class)})
	}
	for i := range heads {
		h := &heads[i]
		rows := append([]row(nil), h.Rows[:]...)
		refs := []uint64{0, 1}
		for u := h.Slab; u != 0; {
			take(u, classAbove(uint64(sizeOf[slab]()/unit)))
			x := (*slab)(unsafe.Pointer(&at(u)[0]))
			for k := range x.Rows {
				rows, refs = append(rows, x.Rows[k]), append(refs, 2+slabRows*uint64(u)+uint64(k))
			}
			u = x.Next
		}
		var list []entry
		for k, r := range rows {
			if r.Span == freeRow {
				continue
			}
			n, u := int(r.Array>>32), uint32(r.Array)
			if n > 0 {
				take(u, s.shape.class(n))
			}
			if refs[k] != h.Current {
				return nil, fmt.Errorf("list %d has the version %#x besides the newest", i, r.Span)
			}
			if r.Span>>32 != uint64(forever) {
				return nil, fmt.Errorf("the newest version of list %d ends at %d", i, r.Span>>32)
			}
			dead, used := uint32(0), uint32(0)
			var last entry
			for j := range n {
				e := entry{ID: at(u)[j]}
				if s.shape.hash && e.ID == noVertex {
					continue
				}
				used++
				if s.raw.Words == 4 {
					e.Label = at(u)[3*n+j]
				}
				if s.shape.hash {
					for k := homeOf(e.ID, n); k != j; k = (k + 1) % n {
						if at(u)[k] == noVertex {
							return nil, fmt.Errorf("list %d has %v in slot %d of %d, behind a free one", i, e, j, n)
						}
					}
				} else if j > 0 && (cmp.Or(cmp.Compare(last.ID, e.ID), cmp.Compare(last.Label, e.Label)) > 0 || last == e && at(u)[n+j] <= at(u)[n+j-1]) {
					return nil, fmt.Errorf("list %d has %v behind %v", i, e, last)
				}
				if last = e; at(u)[2*n+j] == forever {
					list = append(list, e)
				} else {
					dead++
				}
			}
			if s.shape.hash {
				slices.SortFunc(list, func(x, y entry) int { return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.Label, y.Label)) })
				if n > 0 && at(u)[s.shape.words*n] != used {
					return nil, fmt.Errorf("list %d has %d slots in use, and its array says %d", i, used, at(u)[s.shape.words*n])
				}
			}
			if dead != h.Dead {
				return nil, fmt.Errorf("list %d has %d removed entries, and its head says %d", i, dead, h.Dead)
			}
		}
		out = append(out, list)
	}
	if used != p.Used {
		return nil, fmt.Errorf("%d units are in use, and the pool says %d", used, p.Used)
	}
	for class, u := range p.Next {
		free := slices.Clone(p.Held[class][:p.Count[class]])
		for ; u != 0; u = at(u)[0] {
			free = append(append(free, u), at(u)[1:1+poolHeld]...)
		}
		if (len(free) > 0) != (p.Some>>class&1 == 1) {
			return nil, fmt.Errorf("the pool has %d free blocks of class %d, and its bits are %#x", len(free), class, p.Some)
		}
		for _, u := range free {
			blocks = append(blocks, block{uint64(u), uint64(u) + classUnits(class)})
		}
	}
	slices.SortFunc(blocks, func(x, y block) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.end, y.end)) })
	end := uint64(0)
	for _, b := range blocks {
		if b.at != end {
			return nil, fmt.Errorf("a block begins at unit %d, and the one before ends at %d", b.at, end)
		}
		end = b.end
	}
	if end != p.End {
		return nil, fmt.Errorf("the blocks end at unit %d of %d", end, p.End)
	}
	return out, nil
}
