package session_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/testing/device"
)

// check runs a counting and a listing job and compares what they find.
func (w *world) check(t *testing.T, s *session.Session, change func(*session.Job)) session.Result {
	t.Helper()
	var first session.Result
	for listing := range 2 {
		j := w.job()
		if change != nil {
			change(j)
		}
		var rows [][2]uint32
		if listing == 1 {
			list(j, &rows)
		}
		res, err := s.Run(context.Background(), j)
		if err != nil {
			t.Fatal(err)
		}
		if res.Matches != (session.Count{Lo: uint64(len(w.edges))}) || !res.Complete {
			t.Errorf("%v matches, complete %v; want %d", res.Matches, res.Complete, len(w.edges))
		}
		if listing == 0 {
			first = res
			continue
		}
		slices.SortFunc(rows, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
		if !slices.Equal(rows, w.edges) {
			t.Errorf("%d rows, which are not the %d edges", len(rows), len(w.edges))
		}
	}
	return first
}

// TestPlace: a graph is searched exactly with all memory that a device may have, down to
// next to nothing: what does not fit is read in host memory, neighbour lists first.
func TestPlace(t *testing.T) {
	w := newWorld(10000, 8)
	lists, whole := int64(4*len(w.adj)), w.graphBytes()
	const run = 26 << 10 // besides the arrays
	for _, c := range []struct {
		name   string
		memory int64
		place  session.Place
		host   int64 // bytes; -1: the run is refused
	}{
		{"all fits", whole + run, session.Auto, 0},
		{"lists do not fit", whole - 1, session.Auto, lists},
		{"the rest alone fits", whole - lists + run, session.Auto, lists},
		{"offsets do not fit", whole - lists - 1, session.Auto, lists + int64(8*len(w.off))},
		{"nothing fits", run, session.Auto, whole},
		{"not even the run", 8, session.Auto, -1},
		{"asked for", whole + run, session.Host, lists},
		{"asked for, and nothing fits", run, session.Host, whole},
		{"on the device", whole + run, session.Device, 0},
		{"on the device alone", whole - 1, session.Device, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			on(t, 1, session.Options{Memory: c.memory}, func(t *testing.T, s *session.Session) {
				w := *w
				w.place = c.place
				if c.host < 0 {
					res, err := s.Run(context.Background(), w.job())
					if !errors.Is(err, cuda.ErrMemory) || !errors.Is(err, session.ErrShort) || res.Complete {
						t.Errorf("complete %v, error %v", res.Complete, err)
					}
					return
				}
				if n := s.HostBytes(w.job()); n != c.host {
					t.Errorf("%d bytes are expected in host memory, want %d", n, c.host)
				}
				d := w.check(t, s, nil).Devices[0]
				if d.Host != c.host || d.Resident != whole-c.host {
					t.Errorf("%d bytes in host memory and %d on the device; want %d and %d", d.Host, d.Resident, c.host, whole-c.host)
				}
				if again := w.check(t, s, nil).Devices[0]; again.Uploaded != 0 || again.Host != c.host {
					t.Errorf("the next run copied %d bytes, and had %d in host memory", again.Uploaded, again.Host)
				}
			})
		})
	}
}

// TestLittleDevice: the same by the memory that a device has.
func TestLittleDevice(t *testing.T) {
	w := newWorld(6000, 16)
	for _, sanitize := range []emu.Sanitizer{emu.NoSanitizer, emu.Strict} {
		t.Run(string(sanitize), func(t *testing.T) {
			d := device.Emulated(t, emu.Options{Memory: w.graphBytes() / 2, Sanitize: sanitize})
			s, err := session.Open([]*cuda.Device{d}, session.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if n := w.check(t, s, nil).Devices[0].Host; n != int64(4*len(w.adj)) {
				t.Errorf("%d bytes in host memory", n)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if n := d.InUse(); n != 0 {
				t.Errorf("%d bytes are still in use", n)
			}
		})
	}
}

// TestOnePlace: an array is in one place, and moves where another is wanted; no copy stays.
func TestOnePlace(t *testing.T) {
	w := newWorld(500, 8)
	on(t, 1, session.Options{}, func(t *testing.T, s *session.Session) {
		lists := int64(4 * len(w.adj))
		for i, c := range []struct {
			place  session.Place
			copied bool
			host   int64
		}{
			{session.Auto, true, 0}, {session.Host, true, lists}, {session.Host, false, lists},
			{session.Device, true, 0}, {session.Auto, false, 0}, {session.Host, true, lists}, {session.Auto, true, 0},
		} {
			w.place = c.place
			d := w.check(t, s, nil).Devices[0]
			if d.Uploaded > 0 != c.copied || d.Host != c.host {
				t.Errorf("run %d: %d bytes copied, %d in host memory", i, d.Uploaded, d.Host)
			}
			if d.Uploaded > lists && i > 0 {
				t.Errorf("run %d: %d bytes copied: more than the lists", i, d.Uploaded)
			}
		}
	})
}

// TestHostBudget: host memory for arrays has a bound, too. Those that no run uses go, the
// longest unused first; of a graph that is gone all go at once.
func TestHostBudget(t *testing.T) {
	worlds := []*world{newWorld(2000, 8), newWorld(2000, 8), newWorld(2000, 8)}
	most := int64(0)
	for _, w := range worlds {
		w.place = session.Host
		most = max(most, int64(4*len(w.adj)))
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Host: 2 * most})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range []struct {
			world  int
			copied bool
		}{{0, true}, {1, true}, {0, false}, {2, true}, {0, false}, {1, true}, {2, true}} {
			own := func(j *session.Job) { j.Owner = worlds[c.world] }
			if n := worlds[c.world].check(t, s, own).Devices[0].Uploaded; n > 0 != c.copied {
				t.Errorf("run %d: %d bytes copied", i, n)
			}
		}
		before := d.InUse()
		if err := s.ForgetOwner(worlds[2]); err != nil {
			t.Error(err)
		}
		if freed := before - d.InUse(); freed != worlds[2].graphBytes() {
			t.Errorf("%d bytes were freed with a graph of %d", freed, worlds[2].graphBytes())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		s, err = session.Open([]*cuda.Device{d}, session.Options{Host: most / 2})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Run(context.Background(), worlds[0].job())
		if !errors.Is(err, cuda.ErrMemory) || errors.Is(err, session.ErrShort) || !strings.Contains(err.Error(), "page-locked") {
			t.Errorf("error %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// paged is an owner that is told which arrays need not be in memory.
type paged struct{ unread map[*byte]int }

func (p *paged) Unread(b []byte) { p.unread[&b[0]] = len(b) }

// TestUnread: the owner of lists that have a copy in host memory is told of them before the search, and of nothing else.
func TestUnread(t *testing.T) {
	w := newWorld(500, 8)
	on(t, 1, session.Options{}, func(t *testing.T, s *session.Session) {
		for place, want := range map[session.Place]int{session.Device: 0, session.Host: 1} {
			owner := &paged{map[*byte]int{}}
			w.place = place
			j := w.job()
			j.Owner = owner
			if _, err := s.Run(context.Background(), j); err != nil {
				t.Fatal(err)
			}
			if n := owner.unread[(*byte)(unsafe.Pointer(&w.adj[0]))]; len(owner.unread) != want || n != want*4*len(w.adj) {
				t.Errorf("place %d: %v; the lists have %d bytes", place, owner.unread, 4*len(w.adj))
			}
		}
	})
}

// TestHostMemory: host memory that the process may not have is not taken.
func TestHostMemory(t *testing.T) {
	w := newWorld(500, 8)
	w.place = session.Host
	on(t, 1, session.Options{}, func(t *testing.T, s *session.Session) {
		j := w.job()
		j.HostMemory = 1
		if _, err := s.Run(context.Background(), j); !errors.Is(err, cuda.ErrMemory) || !strings.Contains(err.Error(), "--memory") {
			t.Errorf("error %v", err)
		}
		w.check(t, s, nil)
	})
}

// TestShortInStart: memory that Start lacks beside resident arrays is there when the lists
// are in host memory.
func TestShortInStart(t *testing.T) {
	w := newWorld(10000, 8)
	scratch := int64(4 * len(w.adj) / 2)
	on(t, 1, session.Options{Memory: w.graphBytes() + scratch/2}, func(t *testing.T, s *session.Session) {
		taking := func(j *session.Job) {
			start := j.Start
			j.Start = func(x *session.Exec) (func() error, error) {
				if _, err := x.Scratch("stacks", scratch); err != nil {
					return nil, err
				}
				return start(x)
			}
		}
		j := w.job()
		taking(j)
		if _, err := s.Run(context.Background(), j); !errors.Is(err, session.ErrShort) {
			t.Errorf("error %v", err)
		}
		w := *w
		w.place = session.Host
		if n := w.check(t, s, taking).Devices[0].Host; n == 0 {
			t.Error("nothing in host memory")
		}
	})
}

// below is a source of the neighbours below a bound, which are computed when they are asked
// for.
type below struct {
	lists []uint32
	reads atomic.Int64
	at    func(at int64) error
}

func (b *below) Size() int64 { return int64(4 * len(b.lists)) }

func (b *below) ReadAt(to []byte, at int64) (int, error) {
	b.reads.Add(1)
	if b.at != nil {
		if err := b.at(at); err != nil {
			return 0, err
		}
	}
	for i := range len(to) / 4 {
		binary.LittleEndian.PutUint32(to[4*i:], b.lists[at/4+int64(i)]^0x5a5a5a5a)
	}
	return len(to), nil
}

// TestArrays: arrays of a program may come from sources that compute them while they are
// copied, in both places, small and large. What is kept is not asked for again; an error of a
// source, or one that ends early, is the run's, and leaves nothing that a later run takes.
func TestArrays(t *testing.T) {
	for _, size := range []int{2000, 400000} { // the lists of the second are 12 MiB
		w := newWorldOf(size)
		hidden := slices.Clone(w.adj)
		for i := range hidden {
			hidden[i] ^= 0x5a5a5a5a
		}
		for _, place := range []session.Place{session.Device, session.Host} {
			t.Run(fmt.Sprint(size, place), func(t *testing.T) {
				on(t, 1, session.Options{}, func(t *testing.T, s *session.Session) {
					w := *w
					w.place = place
					src := &below{lists: hidden}
					change := func(from session.Source) func(j *session.Job) {
						return func(j *session.Job) {
							g := j.Program.Globals[0]
							g.Adj = nil // but for the text, the program has no lists
							j.Arrays = func(d *kir.GlobalDef, part kircuda.Part) session.Source {
								if d == g && part == kircuda.Neighbours {
									return from
								}
								return nil
							}
						}
					}
					run := func(from session.Source) (session.Result, error) {
						j := w.job()
						change(from)(j)
						return s.Run(context.Background(), j)
					}
					why := errors.New("cannot be computed")
					if _, err := run(&below{lists: hidden, at: func(at int64) error {
						if at >= src.Size()-1<<20 {
							return why
						}
						return nil
					}}); !errors.Is(err, why) {
						t.Errorf("error %v", err)
					}
					short := io.NewSectionReader(bytes.NewReader(make([]byte, 16)), 0, src.Size())
					if _, err := run(short); !errors.Is(err, io.ErrUnexpectedEOF) {
						t.Errorf("error %v", err)
					}
					for i := range 2 {
						res, err := run(src)
						if err != nil || res.Matches.Lo != uint64(len(w.adj)/2) {
							t.Errorf("run %d: %v matches, want %d: %v", i, res.Matches, len(w.adj)/2, err)
						}
					}
					if n := src.reads.Load(); n != (src.Size()+1<<20-1)>>20 && n != 1 {
						t.Errorf("the source was read %d times", n)
					}
				})
			})
		}
	}
}

// newWorldOf is a ring in which each vertex has the four before and after it as neighbours:
// large worlds that are made quickly.
func newWorldOf(n int) *world {
	w := &world{n: uint32(n), of: kir.Identity{ID: worlds.Add(1)}, off: make([]uint64, n+1)}
	for v := range n {
		list := make([]uint32, 0, 8)
		for k := -4; k <= 4; k++ {
			if k != 0 {
				list = append(list, uint32((v+k+n)%n))
			}
		}
		slices.Sort(list)
		w.adj = append(w.adj, list...)
		w.off[v+1] = uint64(len(w.adj))
	}
	return w
}

// TestCopyEnds: a copy ends between two segments with the run's context, in both places, and
// leaves no array behind.
func TestCopyEnds(t *testing.T) {
	w := newWorldOf(400000)
	for _, place := range []session.Place{session.Device, session.Host} {
		t.Run(fmt.Sprint(place), func(t *testing.T) {
			on(t, 1, session.Options{}, func(t *testing.T, s *session.Session) {
				why := errors.New("enough")
				ctx, cancel := context.WithCancelCause(context.Background())
				src := &below{lists: w.adj, at: func(at int64) error {
					if at >= 3<<20 {
						cancel(why)
					}
					return nil
				}}
				j := w.job()
				j.Place = place
				j.Arrays = func(_ *kir.GlobalDef, part kircuda.Part) session.Source {
					if part == kircuda.Neighbours {
						return src
					}
					return nil
				}
				if res, err := s.Run(ctx, j); !errors.Is(err, why) || res.Complete || res.Matches != (session.Count{}) {
					t.Errorf("%v matches, error %v", res.Matches, err)
				}
				if n := src.reads.Load(); n >= src.Size()>>20 {
					t.Errorf("all %d segments were read", n)
				}
			})
		})
	}
}

// TestGPUHostLists counts in a graph of which a GPU has little memory, with its lists in
// device memory and in host memory.
func TestGPUHostLists(t *testing.T) {
	d := device.GPU(t)
	w := newWorldOf(8 << 20) // lists of 256 MiB
	for _, c := range []struct {
		place  session.Place
		memory int64
	}{{session.Device, 0}, {session.Host, 0}, {session.Auto, w.graphBytes() - 1<<20}, {session.Auto, 64 << 10}} {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: c.memory})
		if err != nil {
			t.Fatal(err)
		}
		w.place = c.place
		for range 2 {
			start := time.Now()
			j := w.job()
			j.Start = grid(j, 512)
			res, err := s.Run(context.Background(), j)
			if err != nil || res.Matches.Lo != uint64(len(w.adj)/2) {
				t.Errorf("place %d: %v matches, want %d: %v", c.place, res.Matches, len(w.adj)/2, err)
				break
			}
			r := res.Devices[0]
			t.Logf("place %d, at most %d MiB: %d MiB on the device, %d in host memory; upload of %d MiB %v, search %v, all %v", c.place, c.memory>>20,
				r.Resident>>20, r.Host>>20, r.Uploaded>>20, r.Upload, r.Search, time.Since(start))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// grid is the start of a job with so many blocks.
func grid(j *session.Job, blocks int) func(x *session.Exec) (func() error, error) {
	return func(x *session.Exec) (func() error, error) {
		k, err := x.Kernel("edges")
		if err != nil {
			return nil, err
		}
		return func() error {
			return session.Launch(x, k, cuda.Launch{Blocks: blocks, Threads: 256}, (*struct{})(nil))
		}, nil
	}
}

// TestHopeless: a run for which there can be no host memory frees no array of another.
func TestHopeless(t *testing.T) {
	small, big := newWorld(500, 8), newWorld(4000, 8)
	small.place, big.place = session.Host, session.Host
	room := int64(4*len(small.adj)) + 10
	on(t, 1, session.Options{Host: room}, func(t *testing.T, s *session.Session) {
		small.check(t, s, nil)
		if _, err := s.Run(context.Background(), big.job()); !errors.Is(err, cuda.ErrMemory) {
			t.Errorf("error %v", err)
		}
		if n := small.check(t, s, nil).Devices[0].Uploaded; n > 0 {
			t.Errorf("%d bytes had to be copied again after a run that could not be", n)
		}
	})
	// The process may not have the memory.
	on(t, 1, session.Options{}, func(t *testing.T, s *session.Session) {
		small.check(t, s, nil)
		j := big.job()
		j.HostMemory = 1
		if _, err := s.Run(context.Background(), j); !errors.Is(err, cuda.ErrMemory) || !strings.Contains(err.Error(), "--memory") {
			t.Errorf("error %v", err)
		}
		if n := small.check(t, s, nil).Devices[0].Uploaded; n > 0 {
			t.Errorf("%d bytes had to be copied again after a run that could not be", n)
		}
	})
}

// TestHostCopies: all devices read the same copy in host memory, which one of them fills. There is room
// for it, or the run is refused before anything is copied.
func TestHostCopies(t *testing.T) {
	w := newWorld(4000, 8)
	w.place = session.Host
	lists := int64(4 * len(w.adj))
	on(t, 2, session.Options{Host: lists - 1}, func(t *testing.T, s *session.Session) {
		_, err := s.Run(context.Background(), w.job())
		if !errors.Is(err, cuda.ErrMemory) || errors.Is(err, session.ErrShort) || !strings.Contains(err.Error(), "page-locked") {
			t.Errorf("error %v", err)
		}
	})
	on(t, 2, session.Options{Host: lists}, func(t *testing.T, s *session.Session) {
		if n := s.HostBytes(w.job()); n != lists {
			t.Errorf("%d bytes are expected in host memory, want %d", n, lists)
		}
		onDevices := w.graphBytes() - lists
		copied := int64(0)
		for _, d := range w.check(t, s, nil).Devices {
			if d.Host != lists {
				t.Errorf("a device reads %d bytes in host memory, want %d", d.Host, lists)
			}
			copied += d.Uploaded
		}
		if want := lists + 2*onDevices; copied != want {
			t.Errorf("%d bytes were copied, want %d", copied, want)
		}
		for _, d := range w.check(t, s, nil).Devices {
			if d.Uploaded != 0 {
				t.Errorf("%d bytes were copied again", d.Uploaded)
			}
		}
		// Another graph takes the place of the copy.
		v := newWorld(2000, 8)
		v.place = session.Host
		v.check(t, s, nil)
		if r := w.check(t, s, nil); r.Devices[0].Uploaded == 0 && r.Devices[1].Uploaded == 0 {
			t.Error("more was kept in host memory than may be")
		}
	})
}

// TestDetails: while arrays are copied, the job is told how many bytes were.
func TestDetails(t *testing.T) {
	w := newWorld(3000, 8)
	for _, place := range []session.Place{session.Device, session.Host} {
		on(t, 1, session.Options{}, func(t *testing.T, s *session.Session) {
			told := make(chan struct{})
			var once sync.Once
			var most atomic.Int64
			j := w.job()
			j.Place = place
			j.Details = func(_, _ uint64, copied int64) {
				if most.Store(copied); copied > 0 {
					once.Do(func() { close(told) })
				}
			}
			j.Arrays = func(g *kir.GlobalDef, part kircuda.Part) session.Source {
				if part != kircuda.Neighbours {
					return nil
				}
				return waiting{told, w}
			}
			if res, err := s.Run(context.Background(), j); err != nil || res.Matches.Lo != uint64(len(w.edges)) {
				t.Errorf("%v matches, error %v", res.Matches, err)
			}
			if n := most.Load(); n <= 0 {
				t.Errorf("%d bytes were told of", n)
			}
		})
	}
}

// waiting gives the neighbours of a world once something was told.
type waiting struct {
	told <-chan struct{}
	w    *world
}

func (x waiting) Size() int64 { return int64(4 * len(x.w.adj)) }

func (x waiting) ReadAt(b []byte, at int64) (int, error) {
	<-x.told
	for i := 0; i+4 <= len(b); i += 4 {
		binary.LittleEndian.PutUint32(b[i:], x.w.adj[(at+int64(i))/4])
	}
	return len(b), nil
}
