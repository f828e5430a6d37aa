package session

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	devices "github.com/weftgraph/weft/internal/testing/device"
)

// withTools runs f with tools on each kind of device; take's memory is freed
// afterwards.
func withTools(t *testing.T, f func(t *testing.T, c *cuda.Context, tools *Tools) error) {
	devices.Each(t, func(t *testing.T, d *cuda.Device) {
		err := d.Do(func(c *cuda.Context) (err error) {
			var all []cuda.Buffer
			tools, err := newTools(context.Background(), c, toolsSource(), c.Main(), d.Info().SMs, func(_ string, bytes int64) (cuda.Buffer, error) {
				b, err := c.Alloc(bytes)
				all = append(all, b)
				return b, err
			})
			if err != nil {
				return err
			}
			err = errors.Join(f(t, c, tools), tools.close())
			for _, b := range all {
				err = errors.Join(err, c.Free(b))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func put[T any](t *testing.T, c *cuda.Context, tools *Tools, s []T) cuda.Buffer {
	t.Helper()
	b, err := tools.take("test", int64(len(raw(s))))
	if err == nil {
		err = cuda.Upload(c, b, 0, s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func get[T any](t *testing.T, c *cuda.Context, b cuda.Buffer, n int) []T {
	t.Helper()
	s := make([]T, n)
	if err := errors.Join(c.Synchronize(), cuda.Download(c, s, b, 0)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOffsets(t *testing.T) {
	withTools(t, func(t *testing.T, c *cuda.Context, tools *Tools) error {
		r := rand.New(rand.NewPCG(devices.Seed(), 3))
		for _, n := range []int{0, 1, 31, 255, 256, 257, scanTile - 1, scanTile, scanTile + 1, 3*scanTile + 77} {
			in := make([]uint32, n)
			want := make([]uint64, n+1)
			for i := range in {
				in[i] = r.Uint32()
				want[i+1] = want[i] + uint64(in[i])
			}
			out := put(t, c, tools, make([]uint64, n+1))
			if err := tools.Offsets(out, put(t, c, tools, in), uint64(n)); err != nil {
				return err
			}
			if !slices.Equal(get[uint64](t, c, out, n+1), want) {
				t.Errorf("%d numbers: the sums differ", n)
			}
		}
		return nil
	})
}

func TestSort(t *testing.T) {
	withTools(t, func(t *testing.T, c *cuda.Context, tools *Tools) error {
		r := rand.New(rand.NewPCG(devices.Seed(), 4))
		for _, n := range []int{0, 1, 33, sortTile - 1, sortTile, 2*sortTile + 100} {
			for _, low := range []int{1, 8, 9, 32} {
				type pair struct{ k, v uint32 }
				want := make([]pair, n)
				keys, values := make([]uint32, n), make([]uint32, n)
				for i := range want {
					k := r.Uint32() >> (32 - low)
					if low == 32 && r.IntN(2) == 0 {
						k = ^r.Uint32N(10) // as complements of degrees are
					}
					want[i] = pair{k, uint32(i)}
					keys[i], values[i] = k, uint32(i)
				}
				slices.SortStableFunc(want, func(a, b pair) int { return cmp.Compare(a.k, b.k) })
				a := pairs{put(t, c, tools, keys), put(t, c, tools, values)}
				b := pairs{put(t, c, tools, keys), put(t, c, tools, values)}
				a, _, err := tools.sort(a, b, uint64(n), low)
				if err != nil {
					return err
				}
				gotK, gotV := get[uint32](t, c, a.keys, n), get[uint32](t, c, a.values, n)
				for i, p := range want {
					if gotK[i] != p.k || gotV[i] != p.v {
						t.Fatalf("%d pairs by %d bits: pair %d is %d, %d, want %v", n, low, i, gotK[i], gotV[i], p)
					}
				}
			}
		}
		return nil
	})
}

// randomLists is a symmetric graph of n vertices; hubs have many neighbours.
func randomLists(r *rand.Rand, n, edges int) [][]uint32 {
	lists := make([][]uint32, n)
	for range edges {
		u, v := uint32(r.IntN(n)), uint32(r.IntN(1+r.IntN(n)))
		if u != v && !slices.Contains(lists[u], v) {
			lists[u], lists[v] = append(lists[u], v), append(lists[v], u)
		}
	}
	for _, l := range lists {
		slices.Sort(l)
	}
	return lists
}

func flatten(lists [][]uint32) (off []uint64, adj []uint32) {
	off = []uint64{0}
	for _, l := range lists {
		adj = append(adj, l...)
		off = append(off, uint64(len(adj)))
	}
	return off, adj
}

// TestDegreeOrder compares with the order's definition: class, then descending
// degree, then the old id.
func TestDegreeOrder(t *testing.T) {
	withTools(t, func(t *testing.T, c *cuda.Context, tools *Tools) error {
		r := rand.New(rand.NewPCG(devices.Seed(), 5))
		for _, classes := range []int{1, 2, 5, 300} {
			const n = 1500
			lists := randomLists(r, n, 6000)
			class := make([]uint32, n)
			for v := range class {
				class[v] = r.Uint32N(uint32(classes))
			}
			off, adj := flatten(lists)
			for _, l := range lists { // the device needs no order
				r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
			}
			_, mixed := flatten(lists)
			var cls cuda.Buffer
			if classes > 1 {
				cls = put(t, c, tools, class)
			}
			o, err := tools.DegreeOrder(Lists{put(t, c, tools, off), put(t, c, tools, mixed)}, cls, classes, n, uint64(len(adj)))
			if err != nil {
				return err
			}
			order := make([]uint32, n)
			for v := range order {
				order[v] = uint32(v)
			}
			slices.SortStableFunc(order, func(a, b uint32) int {
				if classes > 1 && class[a] != class[b] {
					return cmp.Compare(class[a], class[b])
				}
				return cmp.Compare(len(lists[b]), len(lists[a]))
			})
			place := make([]uint32, n)
			for i, v := range order {
				place[v] = uint32(i)
			}
			relabelled := make([][]uint32, n)
			for i, v := range order {
				for _, u := range lists[v] {
					relabelled[i] = append(relabelled[i], place[u])
				}
				slices.Sort(relabelled[i])
			}
			wantOff, wantAdj := flatten(relabelled)
			if !slices.Equal(get[uint32](t, c, o.Order, n), order) || !slices.Equal(get[uint32](t, c, o.Place, n), place) {
				t.Errorf("%d classes: another order", classes)
			}
			if !slices.Equal(get[uint64](t, c, o.Lists.Off, n+1), wantOff) || !slices.Equal(get[uint32](t, c, o.Lists.Adj, len(adj)), wantAdj) {
				t.Errorf("%d classes: other lists", classes)
			}
		}
		return nil
	})
}

func bitmapOf(n int, in func(v int) bool) []uint64 {
	words := make([]uint64, (n+63)/64)
	for v := range n {
		if in(v) {
			words[v/64] |= 1 << (v % 64)
		}
	}
	return words
}

func TestCore(t *testing.T) {
	withTools(t, func(t *testing.T, c *cuda.Context, tools *Tools) error {
		r := rand.New(rand.NewPCG(devices.Seed(), 6))
		const n = 1001
		lists := randomLists(r, n, 2500)
		off, adj := flatten(lists)
		l := Lists{put(t, c, tools, off), put(t, c, tools, adj)}
		for _, least := range []uint32{0, 1, 2, 3, 4, 50} {
			deg := make([]uint32, n)
			gone := make([]bool, n)
			for v := range deg {
				deg[v] = uint32(len(lists[v]))
			}
			for again := true; again; {
				again = false
				for v := range deg {
					if gone[v] || deg[v] >= least {
						continue
					}
					gone[v], again = true, true
					for _, u := range lists[v] {
						deg[u]--
					}
				}
			}
			want := bitmapOf(n, func(v int) bool { return !gone[v] })
			alive := put(t, c, tools, make([]uint64, len(want)))
			if err := tools.Core(alive, l, n, least); err != nil {
				return err
			}
			if !slices.Equal(get[uint64](t, c, alive, len(want)), want) {
				t.Errorf("degree %d: other vertices remain", least)
			}
		}
		return nil
	})
}

func TestCandidates(t *testing.T) {
	withTools(t, func(t *testing.T, c *cuda.Context, tools *Tools) error {
		r := rand.New(rand.NewPCG(devices.Seed(), 7))
		const n = 777
		lists := randomLists(r, n, 3000)
		off, adj := flatten(lists)
		var wants []Want
		for range 9 {
			w := Want{First: r.Uint32N(n), Degree: r.Uint32N(10)}
			w.End = w.First + r.Uint32N(n)
			for range r.IntN(4) {
				f := r.Uint32N(n)
				w.Needs = append(w.Needs, Need{f, f + r.Uint32N(n), r.Uint32N(4)})
			}
			wants = append(wants, w)
		}
		var want []uint64
		for _, w := range wants {
			want = append(want, bitmapOf(n, func(v int) bool {
				ok := uint32(v) >= w.First && uint32(v) < w.End && len(lists[v]) >= int(w.Degree)
				for _, d := range w.Needs {
					have := uint32(0)
					for _, u := range lists[v] {
						if u >= d.First && u < d.End {
							have++
						}
					}
					ok = ok && have >= d.Least
				}
				return ok
			})...)
		}
		words := put(t, c, tools, make([]uint64, len(want)))
		if err := tools.Candidates(words, Lists{put(t, c, tools, off), put(t, c, tools, adj)}, wants, n); err != nil {
			return err
		}
		if !slices.Equal(get[uint64](t, c, words, len(want)), want) {
			t.Error("other candidates")
		}
		return nil
	})
}

// TestToolLeftOut: where a device leaves out one of the kernels of prefix sums, whichever,
// the host sees it, and the sums are zeros, by which no other kernel writes elsewhere.
func TestToolLeftOut(t *testing.T) {
	const n = 2*scanTile + 5
	for left := 1; left <= 4; left++ {
		d, err := cuda.New(&cuda.Faults{Backend: devices.Backend(t, emu.Options{}), SkipOne: left}, devices.Objects().Images)
		if err != nil {
			t.Fatal(err)
		}
		err = d.Do(func(c *cuda.Context) (err error) {
			tools, err := newTools(t.Context(), c, toolsSource(), c.Main(), d.Info().SMs, func(_ string, bytes int64) (cuda.Buffer, error) {
				b, err := c.Alloc(bytes)
				return b, errors.Join(err, c.Fill(b, 0xee, c.Main()), c.Synchronize())
			})
			if err != nil {
				return err
			}
			in, want := make([]uint32, n), make([]uint64, n+1)
			for i := range in {
				in[i] = 1
				want[i+1] = uint64(i + 1)
			}
			noted := put(t, c, tools, []uint64{0})
			tools.noteAt(noted.Ptr)
			out := put(t, c, tools, make([]uint64, n+1))
			if err := errors.Join(c.Fill(out, 0xee, c.Main()), tools.Offsets(out, put(t, c, tools, in), n)); err != nil {
				return err
			}
			err = tools.ran(get[uint64](t, c, noted, 1)[0])
			if left <= 3 {
				want = make([]uint64, n+1)
			}
			if errors.Is(err, cuda.ErrLaunch) != (left <= 3) {
				t.Errorf("kernel %d left out of 3: %v", left, err)
			}
			if !slices.Equal(get[uint64](t, c, out, n+1), want) {
				t.Errorf("kernel %d left out of 3: other sums", left)
			}
			return tools.close()
		})
		if err := errors.Join(err, d.Close()); err != nil {
			t.Error(err)
		}
	}
}
