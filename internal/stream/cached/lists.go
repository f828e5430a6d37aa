package cached

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// head says where a vertex's list is, as NestHead of nest/lists.cuh. At ptr there are n ids, ascending, then the d ids of ΔN, the versions
// from which these are neighbours, and those from which they are not any more.
type head struct {
	Ptr  uint64
	N, D uint32
}

// Ids of N that a window changes have the mark. What they are is then said by ΔN.
const (
	mark  = uint32(1) << 31
	never = ^uint32(0)
)

// entry is an id of ΔN, which is a neighbour at the versions from born on, up to and without died.
type entry struct{ id, born, died uint32 }

// relation has the lists of all vertices along edges of a direction and some labels.
type relation struct {
	key    string
	dir    dynamic.Direction
	labels nest.Labels
	pinned *cuda.Pinned
	heads  []head
	arrays []array // by vertex
	maxLen int     // no list was ever longer
	used   bool    // by a nest
}

// key tells relations apart.
func keyOf(r *nest.Rel) string { return fmt.Sprint(r.Dir, r.Labels.All, r.Labels.List) }

// lists are the neighbour lists of a graph that changes, in memory that kernels read over the bus. An update appends to ΔN or marks what is
// in N. After the window, lists that changed are reorganised: N becomes what N and ΔN are at the last version.
type lists struct {
	g       *dynamic.Graph
	arena   arena
	memory  int64 // that the process may use; 0: what there is
	rels    []*relation
	numbers map[*nest.Rel]int // of relations
	buf     []uint32
	tmp     []uint32

	touched []touched
	place   map[[2]uint32]int // in touched, by relation and vertex
	open    map[[3]uint32]int // in a delta, the latest entry of an id, by relation, vertex and id
}

// touched is a list that the window changes.
type touched struct {
	rel, v uint32
	delta  []entry
}

// has reports whether y is in x's list of r at a version.
func has(view dynamic.View, r *relation, x, y uint32) bool {
	if r.labels.All {
		return view.Has(x, y, r.dir, dynamic.AnyLabel)
	}
	for _, l := range r.labels.List {
		if view.Has(x, y, r.dir, l) {
			return true
		}
	}
	return false
}

// list is x's list of r at a version.
func (s *lists) list(view dynamic.View, r *relation, x uint32) []uint32 {
	switch {
	case r.labels.All:
		return view.List(x, r.dir, dynamic.AnyLabel, nil, &s.buf)
	case len(r.labels.List) == 1:
		return view.List(x, r.dir, r.labels.List[0], nil, &s.buf)
	}
	to := s.buf[:0]
	for _, l := range r.labels.List {
		to = append(to, view.List(x, r.dir, l, nil, &s.tmp)...)
	}
	slices.Sort(to)
	s.buf = slices.Compact(to)
	return s.buf
}

// relation returns the number of the relation that r asks for, which has no lists yet if it is new.
func (s *lists) relation(r *nest.Rel) int {
	if i, ok := s.numbers[r]; ok {
		return i
	}
	k := keyOf(r)
	i := slices.IndexFunc(s.rels, func(x *relation) bool { return x != nil && x.key == k })
	if i < 0 {
		x := &relation{key: k, dir: r.Dir, labels: r.Labels}
		if i = slices.Index(s.rels, nil); i < 0 {
			i = len(s.rels)
			s.rels = append(s.rels, nil)
		}
		s.rels[i] = x
	}
	s.rels[i].used = true
	if s.numbers == nil {
		s.numbers = map[*nest.Rel]int{}
	}
	s.numbers[r] = i
	return i
}

// end is the end of the ids that the graph has used.
func (s *lists) end() int { return int(s.g.Layout() >> 32) }

// fill makes the lists of relations that have none, at the version before the window's updates, and gives back those that no nest uses.
func (s *lists) fill(view dynamic.View) error {
	if end := s.end(); uint64(end) > uint64(mark) {
		return fmt.Errorf("cached: the graph uses %d internal ids, and the lists on the device hold those below %d", end, mark)
	}
	for i, r := range s.rels {
		switch {
		case r == nil:
		case !r.used:
			if err := s.drop(r); err != nil {
				return err
			}
			s.rels[i] = nil
		default:
			fresh := r.heads == nil
			if fresh {
				// An edge is in one or two lists, and arrays have room for as much again.
				if err := memory.Check("the lists that the GPU reads", 16*s.g.NumEdges()+uint64(s.end())*uint64(size(head{})), s.memory); err != nil {
					return err
				}
			}
			if err := s.room(r); err != nil {
				return err
			}
			if !fresh {
				continue
			}
			for v := range uint32(s.end()) {
				if l := s.list(view, r, v); len(l) > 0 {
					if err := s.put(r, v, l, nil); err != nil {
						_ = s.drop(r) // a part of the lists is none
						return err
					}
				}
			}
		}
	}
	return nil
}

// room makes r have a head for each id.
func (s *lists) room(r *relation) error {
	end := s.end()
	if end <= len(r.heads) && r.heads != nil {
		return nil
	}
	p, heads, err := pin[head](s.arena.d, max(end+end/4, 1))
	if err != nil {
		return err
	}
	copy(heads, r.heads)
	if r.pinned != nil {
		err = unpin(s.arena.d, r.pinned)
	}
	r.pinned, r.heads = p, heads
	r.arrays = append(r.arrays, make([]array, len(heads)-len(r.arrays))...)
	return err
}

// put makes N and ΔN the list of v.
func (s *lists) put(r *relation, v uint32, n []uint32, delta []entry) error {
	x, h := &r.arrays[v], &r.heads[v]
	need := len(n) + 3*len(delta)
	old := *x
	if c := class(need); x.class < c || x.class > c+2 {
		if need == 0 {
			s.arena.give(old)
			*x, *h = array{}, head{}
			return nil
		}
		y, err := s.arena.take(need)
		if err != nil {
			return err
		}
		*x = y
	}
	w := s.arena.words(*x)
	copy(w, n) // n may be a part of the old array, or of w
	for i, e := range delta {
		w[len(n)+i], w[len(n)+len(delta)+i], w[len(n)+2*len(delta)+i] = e.id, e.born, e.died
	}
	if old != *x {
		s.arena.give(old)
	}
	*h = head{s.arena.ptr(*x), uint32(len(n)), uint32(len(delta))}
	r.maxLen = max(r.maxLen, len(n)+len(delta))
	return nil
}

// ids is N of v.
func (s *lists) ids(r *relation, v uint32) []uint32 {
	if int(v) >= len(r.heads) {
		return nil
	}
	return s.arena.words(r.arrays[v])[:r.heads[v].N]
}

// delta is ΔN of v: ids, and the versions of each.
func (s *lists) delta(r *relation, v uint32) (id, born, died []uint32) {
	h := &r.heads[v]
	w := s.arena.words(r.arrays[v])[h.N:]
	return w[:h.D], w[h.D : 2*h.D], w[2*h.D : 3*h.D]
}

// update brings the events of a window, which began at version base, into the lists.
func (s *lists) update(base uint64, events []dynamic.Event) error {
	if s.place == nil {
		s.place, s.open = map[[2]uint32]int{}, map[[3]uint32]int{}
	}
	for i := range events {
		e := &events[i]
		if e.Kind != dynamic.EdgeAdded && e.Kind != dynamic.EdgeRemoved {
			continue
		}
		before, after, at := s.g.At(e.Version-1), s.g.At(e.Version), uint32(e.Version-base)
		for k, r := range s.rels {
			if r == nil || !r.labels.Has(e.Label) {
				continue
			}
			if r.dir != dynamic.In || !s.g.Directed() {
				s.turn(k, r, before, after, at, e.U, e.V)
			}
			if r.dir != dynamic.Out || !s.g.Directed() {
				s.turn(k, r, before, after, at, e.V, e.U)
			}
		}
	}
	for i := range s.touched {
		t := &s.touched[i]
		r := s.rels[t.rel]
		slices.SortFunc(t.delta, func(a, b entry) int {
			if a.id != b.id {
				return int(int64(a.id) - int64(b.id))
			}
			return int(int64(a.born) - int64(b.born))
		})
		n := s.ids(r, t.v)
		for _, e := range t.delta {
			if e.born == 0 {
				j, _ := slices.BinarySearchFunc(n, e.id, func(x, id uint32) int { return int(int64(x&^mark) - int64(id)) })
				n[j] |= mark
			}
		}
		if err := s.put(r, t.v, n, t.delta); err != nil {
			return err
		}
	}
	return nil
}

// turn notes that y comes into x's list or leaves it at a version, if it does.
func (s *lists) turn(k int, r *relation, before, after dynamic.View, at, x, y uint32) {
	is := has(after, r, x, y)
	if is == has(before, r, x, y) {
		return
	}
	i, ok := s.place[[2]uint32{uint32(k), x}]
	if !ok {
		i = len(s.touched)
		s.touched = append(s.touched, touched{rel: uint32(k), v: x})
		s.place[[2]uint32{uint32(k), x}] = i
	}
	t := &s.touched[i]
	key := [3]uint32{uint32(k), x, y}
	j, known := s.open[key]
	switch {
	case known && (t.delta[j].born == at || t.delta[j].died == at): // by another event of the update
	case is:
		s.open[key] = len(t.delta)
		t.delta = append(t.delta, entry{y, at, never})
	case known:
		t.delta[j].died = at
	default:
		s.open[key] = len(t.delta)
		t.delta = append(t.delta, entry{y, 0, at})
	}
}

// settle reorganises the lists that the window changed.
func (s *lists) settle() error {
	for i := range s.touched {
		t := &s.touched[i]
		r := s.rels[t.rel]
		to := s.buf[:0]
		n, d := s.ids(r, t.v), t.delta
		for len(n) > 0 || len(d) > 0 {
			switch {
			case len(n) > 0 && n[0]&mark != 0:
				n = n[1:]
			case len(d) > 0 && d[0].died != never:
				d = d[1:]
			case len(d) == 0 || len(n) > 0 && n[0] < d[0].id:
				to = append(to, n[0])
				n = n[1:]
			default:
				to = append(to, d[0].id)
				d = d[1:]
			}
		}
		s.buf = to
		if err := s.put(r, t.v, to, nil); err != nil {
			return err
		}
	}
	s.over()
	return nil
}

// forget gives all lists back, also those of a window. If the device is lost, what follows reports it.
func (s *lists) forget() {
	for _, r := range s.rels {
		if r != nil {
			_ = s.drop(r)
		}
	}
	s.over()
}

// over forgets what a window changed.
func (s *lists) over() {
	s.touched = s.touched[:0]
	clear(s.place)
	clear(s.open)
}

func (s *lists) drop(r *relation) error {
	for _, x := range r.arrays {
		s.arena.give(x)
	}
	p := r.pinned
	r.heads, r.arrays, r.pinned = nil, nil, nil
	if p == nil {
		return nil
	}
	return unpin(s.arena.d, p)
}

func (s *lists) close() error {
	var errs []error
	for _, r := range s.rels {
		if r != nil {
			errs = append(errs, s.drop(r))
		}
	}
	s.rels = nil
	return errors.Join(append(errs, s.arena.close())...)
}

// size is the size of a value in bytes.
func size[T any](x T) int64 { return int64(unsafe.Sizeof(x)) }

// has reports whether y is in x's list at a version, from the beginning of the window on.
func (s *lists) has(r *relation, x, y, at uint32) bool {
	n := s.ids(r, x)
	if i, found := slices.BinarySearchFunc(n, y, func(z, y uint32) int { return int(int64(z&^mark) - int64(y)) }); found && n[i]&mark == 0 {
		return true
	}
	id, born, died := s.delta(r, x)
	i, _ := slices.BinarySearch(id, y)
	for ; i < len(id) && id[i] == y; i++ {
		if born[i] <= at && at < died[i] {
			return true
		}
	}
	return false
}
