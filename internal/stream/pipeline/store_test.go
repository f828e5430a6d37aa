package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// probeText has executors that read a list at the time of their update. Task.what is a place in asked, of which list to
// read, and a row of room words: the number of entries, and each with its label. The entries of a hash set come in any order.
const probeText = `
#include "pipeline/roles.cuh"
struct P { Pipe pipe; const u32* asked; u32* out; u32 room, pause; };
WEFT_KERNEL(probe, P) {
  roles(p.pipe, [&](const Task& task, u64, const Update&, u32 t, Share*) {
    u32* out = p.out + (u64)task.what * p.room;
    for (u32 i = 0; i < p.pause; i++) spin();
    Array a = version(p.pipe.store, p.asked[task.what], t);
    u32 n = 0;
    for (u32 i = 0; i < a.n; i += 32) {
      u32 j = i + lane();
      bool mine = j < a.n && visible(a, j, t);
      u32 votes = ballot(ALL, mine), at = n + popc(votes & Warp::below());
      if (mine && 2 * at + 2 < p.room) {
        out[1 + 2 * at] = id_at(a, j);
        out[2 + 2 * at] = p.pipe.store.words == 4 ? a.p[3 * (u64)a.n + j] : 0;
        if (!contains(a, id_at(a, j), t, Labels{nullptr})) out[1 + 2 * at] = NONE;
      }
      n += popc(votes);
    }
    if (lane() == 0) out[0] = n;
    return true;
  });
}
`

type probeParams struct {
	Pipe        pipe
	Asked, Out  uint64
	Room, Pause uint32
}

// model is a graph as sorted lists.
type model struct {
	directed, labels bool
	lists            [][]entry
}

func (m *model) Lists() int                       { return len(m.lists) }
func (m *model) Append(to []entry, i int) []entry { return append(to, m.lists[i]...) }

func compareEntries(x, y entry) int {
	return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.Label, y.Label))
}

// turn adds the edge, or removes it if it is there, and reports whether it was.
func (m *model) turn(u, v, label uint32) (there bool) {
	one := func(list int, e entry) {
		i, found := slices.BinarySearchFunc(m.lists[list], e, compareEntries)
		if there = found; found {
			m.lists[list] = slices.Delete(slices.Clone(m.lists[list]), i, i+1)
		} else {
			m.lists[list] = slices.Insert(slices.Clone(m.lists[list]), i, e)
		}
	}
	if m.directed {
		one(2*int(u), entry{v, label})
		one(2*int(v)+1, entry{u, label})
		return there
	}
	one(int(u), entry{v, label})
	if u != v {
		one(int(v), entry{u, label})
	}
	return there
}

// probing is a stream with what its probes must find.
type probing struct {
	start   model
	updates []update
	tasks   [][]task
	asked   []uint32
	want    [][]entry
	end     model
	room    int
	hash    bool // lists are hash sets
}

// drawProbing draws a stream over few vertices, of which some are hubs: the same edges come and go again.
func drawProbing(r *rand.Rand, vertices, updates int, directed, labels bool) *probing {
	n := vertices
	if directed {
		n *= 2
	}
	m := model{directed: directed, labels: labels, lists: make([][]entry, n)}
	draw := func() (u, v, label uint32) {
		u, v = r.Uint32N(uint32(vertices)), r.Uint32N(uint32(vertices))
		if r.IntN(3) == 0 {
			u = 0
		}
		if labels {
			label = r.Uint32N(3)
		}
		return
	}
	for range r.IntN(3 * vertices) {
		m.turn(draw())
	}
	p := &probing{start: model{directed, labels, slices.Clone(m.lists)}}
	var recent [][3]uint32
	for range updates {
		u, v, label := draw()
		if len(recent) > 0 && r.IntN(3) == 0 {
			x := recent[r.IntN(len(recent))]
			u, v, label = x[0], x[1], x[2]
		}
		recent = append(recent, [3]uint32{u, v, label})
		if len(recent) > 8 {
			recent = recent[1:]
		}
		var tasks []task
		for range r.IntN(4) { // the graph before an addition, and before a removal
			list := r.IntN(n)
			switch r.IntN(4) {
			case 0:
				list = 0
			case 1:
				if list = int(u); directed {
					list *= 2
				}
			}
			tasks = append(tasks, task{What: uint32(len(p.asked))})
			p.asked = append(p.asked, uint32(list))
			p.want = append(p.want, m.lists[list])
			p.room = max(p.room, 2*len(m.lists[list])+3)
		}
		what := label << 1
		if m.turn(u, v, label) {
			what |= 1
		}
		p.updates = append(p.updates, update{U: u, V: v, What: what})
		p.tasks = append(p.tasks, tasks)
	}
	p.end = m
	return p
}

// probe runs a stream on a device, in launches of some updates each, and compares all that probes find.
func probe(t *testing.T, d *cuda.Device, p *probing, size Flowing, bytes int64, pause uint32, perLaunch int) (x flow, q pool) {
	t.Helper()
	ctx := context.Background()
	size.Dog = 5 * time.Minute // machines may be busy
	var s *Store
	var asked, out cuda.Buffer
	err := d.Do(func(c *cuda.Context) (err error) {
		if s, err = load(ctx, c, &p.start, Sizes{Labels: p.start.labels, Hash: p.hash, Pool: bytes}); err != nil {
			return err
		}
		if asked, err = c.Alloc(int64(4*len(p.asked) + 4)); err != nil {
			return err
		}
		if out, err = c.Alloc(int64(4 * (len(p.asked) + 1) * p.room)); err != nil {
			return err
		}
		return cuda.Upload(c, asked, 0, p.asked)
	})
	if err != nil {
		t.Fatal(err)
	}
	text := probeText
	if p.hash {
		text = hashText + text
	}
	f, err := newFlow(ctx, d, s, p.start.directed, size, kernel{
		name: "probe", text: text,
		params: func(x pipe) any {
			return &probeParams{Pipe: x, Asked: asked.Ptr, Out: out.Ptr, Room: uint32(p.room), Pause: pause}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.updates {
		if err := f.post(ctx, p.updates[i], p.tasks[i]); err != nil {
			t.Fatal(err)
		}
		if perLaunch > 0 && i%perLaunch == perLaunch-1 {
			if err := f.finish(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.finish(ctx); err != nil {
		t.Fatal(err)
	}
	x, q, err = f.state()
	if err != nil {
		t.Fatal(err)
	}
	err = d.Do(func(c *cuda.Context) error {
		found := make([]uint32, len(p.asked)*p.room)
		if err := cuda.Download(c, found, out, 0); err != nil {
			return err
		}
		k := 0
		for i, tasks := range p.tasks {
			for range tasks {
				row := found[k*p.room:][:p.room]
				var got []entry
				for j := range min(int(row[0]), p.room/2-1) {
					got = append(got, entry{row[1+2*j], row[2+2*j]})
				}
				if p.hash {
					slices.SortFunc(got, compareEntries)
				}
				if int(row[0]) != len(p.want[k]) || !slices.Equal(got, p.want[k]) {
					t.Fatalf("at update %d %+v list %d is %v, %d long, want %v", i, p.updates[i], p.asked[k], got, row[0], p.want[k])
				}
				k++
			}
		}
		lists, err := s.check(c)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range lists {
			if !slices.Equal(l, p.end.lists[i]) {
				t.Fatalf("list %d is %v at the end, want %v", i, l, p.end.lists[i])
			}
		}
		return errors.Join(c.Free(asked), c.Free(out))
	})
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return x, q
}

// TestStore compares lists of all versions, read by searches while later updates are made, with a model.
func TestStore(t *testing.T) {
	rounds := 8
	if long.Asked() {
		rounds = 60
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		r := rand.New(rand.NewPCG(device.Seed(), 1))
		for round := range rounds {
			directed, labels := round&1 == 1, round&2 == 2
			p := drawProbing(r, 2+r.IntN([]int{40, 300}[r.IntN(2)]), 1+r.IntN(600), directed, labels)
			p.hash = round&4 == 4
			size := Flowing{Threads: 64 << r.IntN(3), Batch: []int{1, 5, 64, 200, 300}[r.IntN(5)], Wait: -1, Window: 1 << (8 + r.IntN(3)), Queue: 16 << r.IntN(8), Blocks: 3}
			x, _ := probe(t, d, p, size, 4<<20, uint32(r.IntN(2)*20), []int{0, 100}[r.IntN(2)])
			if int(x.Applied) != len(p.updates) || x.Done != x.Applied {
				t.Errorf("%d updates, %d applied, %d done", len(p.updates), x.Applied, x.Done)
			}
		}
	})
}

// TestHashInPlace: hash sets take additions in place while slots are free, and are copied when too few are, or when most of those in use are removed.
// Sorted lists are copied for each addition.
func TestHashInPlace(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		const n = 64 // neighbours of vertex 0 at the start, and 2n slots
		m := model{lists: make([][]entry, 4*n)}
		for v := range uint32(n) {
			m.turn(0, 1+v, 0)
		}
		for _, c := range []struct {
			name         string
			first, turns uint32 // edges from 0 that are turned, one after the other
			hash         bool
			copied       uint64 // entries or slots of the list of 0
		}{
			{"few additions", 1 + n, n / 2, true, 0},
			{"too many additions", 1 + n, n/2 + 1, true, 2 * n}, // three quarters of the slots are in use before the last one
			{"removals", 1, n / 2, true, 0},
			{"most are removed", 1, n/2 + 1, true, 2 * n},
			{"additions to a sorted list", 1 + n, 2, false, n + n + 1},
		} {
			now := model{lists: slices.Clone(m.lists)}
			p := &probing{start: model{lists: slices.Clone(m.lists)}, hash: c.hash, room: 8 * n}
			for i := range c.turns {
				x := update{V: c.first + i}
				p.asked, p.want = append(p.asked, 0), append(p.want, now.lists[0])
				p.tasks = append(p.tasks, []task{{What: i}})
				if now.turn(0, x.V, 0) {
					x.What = 1
				}
				p.updates = append(p.updates, x)
			}
			p.end = now
			if x, _ := probe(t, d, p, Flowing{Batch: 1, Wait: -1, Blocks: 2}, 4<<20, 0, 0); x.Copied != c.copied {
				t.Errorf("%s: %d entries were copied, want %d", c.name, x.Copied, c.copied)
			}
		}
	})
}

// TestPoolThrottles has a pool that holds five versions of the only list that changes, and a slab: the updater waits for the collector.
func TestPoolThrottles(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		r := rand.New(rand.NewPCG(device.Seed(), 2))
		m := model{labels: true, lists: make([][]entry, 1)} // edges from vertex 0 to itself, of many labels
		for label := range uint32(112) {
			m.turn(0, 0, label)
		}
		p := &probing{start: model{labels: true, lists: slices.Clone(m.lists)}, room: 300}
		for len(p.updates) < 300 {
			label := r.Uint32N(200)
			_, there := slices.BinarySearchFunc(m.lists[0], entry{0, label}, compareEntries)
			if n := len(m.lists[0]); there && n < 105 || !there && n > 120 {
				continue // arrays keep to one size of blocks
			}
			p.asked, p.want = append(p.asked, 0), append(p.want, m.lists[0])
			p.tasks = append(p.tasks, []task{{What: uint32(len(p.updates))}})
			what := label << 1
			if m.turn(0, 0, label) {
				what |= 1
			}
			p.updates = append(p.updates, update{What: what})
		}
		p.end = m
		pause := uint32(300)
		if strings.HasSuffix(t.Name(), "/gpu") {
			pause = 5000 // of 0.1 µs each
		}
		x, q := probe(t, d, p, Flowing{Batch: 4, Wait: -1, Window: 512, Blocks: 2}, (1+5*64+24)*unit, pause, 0)
		if x.Waits == 0 {
			t.Errorf("the updater never waited: %+v", x)
		}
		if want := uint64(1 + 5*64 + 24); q.Most != want {
			t.Errorf("at most %d units were in use, want %d", q.Most, want)
		}
	})
}

// TestRoom: the room of batches of up to 256 updates is in shared memory, and that of larger ones is not.
func TestRoom(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for batch, shared := range map[int]bool{64: true, 256: true, 257: false} {
			var s *Store
			err := d.Do(func(c *cuda.Context) (err error) {
				s, err = load(t.Context(), c, &model{lists: make([][]entry, 2)}, Sizes{Pool: 4 << 10})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			f, err := newFlow(t.Context(), d, s, false, Flowing{Batch: batch}, kernel{name: "probe", text: probeText})
			if err != nil {
				t.Fatal(err)
			}
			if (f.raw.Work == 0) != shared {
				t.Errorf("batches of %d updates have their room at %#x", batch, f.raw.Work)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestPoolFull has a pool that is too small for the graph that the updates make.
func TestPoolFull(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		ctx := context.Background()
		m := &model{lists: make([][]entry, 200)}
		var s *Store
		err := d.Do(func(c *cuda.Context) (err error) {
			s, err = load(ctx, c, m, Sizes{Pool: 2 << 10})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		f, err := newFlow(ctx, d, s, false, Flowing{Blocks: 2, Dog: 5 * time.Minute}, kernel{name: "probe", text: probeText, params: func(x pipe) any { return &probeParams{Pipe: x} }})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint32(200) {
			if err = f.post(ctx, update{U: i, V: (i + 1) % 200}, nil); err != nil {
				break
			}
		}
		if err == nil {
			err = f.flush(ctx)
		}
		var full fullError
		if !errors.As(err, &full) || full.update == 0 || full.update > 63 {
			t.Errorf("%v, want that the memory is full at one of the first updates", err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		err = d.Do(func(c *cuda.Context) error {
			_, err := load(ctx, c, m, Sizes{Pool: 64, Spare: 128})
			return err
		})
		if !errors.Is(err, cuda.ErrMemory) {
			t.Errorf("%v, want %v", err, cuda.ErrMemory)
		}
	})
}

// TestWatchdog has an executor that waits for ever: the flow ends with an error within its time.
func TestWatchdog(t *testing.T) {
	const text = `
#include "pipeline/roles.cuh"
struct P { Pipe pipe; };
WEFT_KERNEL(stuck, P) {
  roles(p.pipe, [&](const Task&, u64, const Update&, u32, Share*) {
    while (!warp_stopped(p.pipe)) spin();
    return true;
  });
}
`
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for _, canceled := range []bool{false, true} {
			ctx, cancel := context.WithCancel(context.Background())
			var s *Store
			err := d.Do(func(c *cuda.Context) (err error) {
				s, err = load(ctx, c, &model{lists: make([][]entry, 2)}, Sizes{Pool: 4 << 10})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			size := Flowing{Blocks: 2, Dog: 50 * time.Millisecond}
			if canceled {
				size.Dog = time.Minute
			}
			f, err := newFlow(ctx, d, s, false, size, kernel{name: "stuck", text: text, params: func(x pipe) any { return &struct{ Pipe pipe }{x} }})
			if err != nil {
				t.Fatal(err)
			}
			if err := f.post(ctx, update{U: 0, V: 1}, []task{{}}); err != nil {
				t.Fatal(err)
			}
			want := ErrStuck
			if canceled {
				want = context.Canceled
				time.AfterFunc(5*time.Millisecond, cancel)
			}
			if err := f.flush(ctx); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
			if err := f.post(ctx, update{U: 0, V: 1}, nil); !errors.Is(err, want) {
				t.Errorf("%v after a failure, want %v", err, want)
			}
			cancel()
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestClasses compares the sizes of blocks in Go with those of the text.
func TestClasses(t *testing.T) {
	last := uint64(0)
	for c := range 40 {
		n := classUnits(c)
		if n <= last {
			t.Fatalf("class %d has %d units", c, n)
		}
		for _, x := range []uint64{last + 1, n} {
			if classAbove(x) != c {
				t.Error(fmt.Sprint(x, " units are of class ", classAbove(x), ", want ", c))
			}
		}
		last = n
	}
}
