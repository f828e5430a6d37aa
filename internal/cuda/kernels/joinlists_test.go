package kernels_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/testing/device"
)

// joinListsText looks every vertex up: the lists that groups find, and that single lanes find.
const joinListsText = `
#include "join/lists.cuh"

struct Found { u64 at; u32 n, alone; };
struct P { JoinLists l; Found* found; u32 vertices, room; };

template <int N> DEV void all(const P& p) {
  Group<N> g;
  JoinLists l = p.l;
  u32 took = join_keep_index(l, (u32*)shared(), p.room);
  W_ASSERT(took == (join_index_words(l) <= p.room ? join_index_words(l) : 0));
  sync_block();
  u32 step = blocks() * threads() / N;
  for (u32 v = (block() * threads() + thread()) / N; v < p.vertices; v += step) {
    Set s = join_list(g, l, v), t = join_list(l, v);
    u32 differs = g.sum((u32)(s.p != t.p || s.n != t.n || join_degree(l, v) != t.n));
    if (g.leader()) p.found[v] = Found{(u64)(s.p - l.adj), s.n, differs};
  }
}
WEFT_KERNEL(g1, P) { all<1>(p); }
WEFT_KERNEL(g4, P) { all<4>(p); }
WEFT_KERNEL(g8, P) { all<8>(p); }
WEFT_KERNEL(g16, P) { all<16>(p); }
WEFT_KERNEL(g32, P) { all<32>(p); }
`

// deviceLists is struct JoinLists of join/lists.cuh.
type deviceLists struct {
	Adj, Off, Groups, First, Row, Place uint64
	Kind, N                             uint32
}

// randomPartition is the lists of those of n vertices that have an edge: about one in sparse, in
// runs of about that length.
func randomPartition(r *rand.Rand, n, sparse int) *layout.Lists {
	l := &layout.Lists{Off: []uint32{0}}
	in := false
	for v := range n {
		if r.IntN(sparse) == 0 {
			in = !in
		}
		if !in || sparse > 1 && r.IntN(sparse) == 0 {
			continue
		}
		l.Vertices = append(l.Vertices, uint32(v))
		l.Adj = append(l.Adj, randomSet(r, 1+r.IntN(5), n)...)
		l.Off = append(l.Off, uint32(len(l.Adj)))
	}
	return l
}

// TestJoinLists: in each layout, groups of each size and single lanes find the lists that the host
// finds, with the index in shared memory and where it does not fit.
func TestJoinLists(t *testing.T) {
	const room = 64
	type layoutCase struct {
		name string
		list func(v uint32) []uint32
		adj  []uint32
		args func(b *buffers) deviceLists
	}
	r := rand.New(rand.NewPCG(device.Seed(), 4))
	const n = 700
	var cases []layoutCase
	inShared, elsewhere, chains := false, false, false
	levels, rankLevels := map[int]bool{}, map[int]bool{} // of sparse and of ranked lists
	for _, l := range []*layout.Lists{
		{Off: []uint32{0}}, // no vertex has an edge of the label
		randomPartition(r, 1, 1),
		randomPartition(r, n, 1),
		randomPartition(r, n, 3),
		randomPartition(r, n, 60),
		{Vertices: []uint32{5, 650}, Off: []uint32{0, 2, 3}, Adj: []uint32{1, 9, 4}}, // in two words of eleven
	} {
		off := make([]uint64, n+1)
		next := 0
		for v := range uint32(n) {
			if next < len(l.Vertices) && l.Vertices[next] == v {
				next++
			}
			off[v+1] = uint64(l.Off[next])
		}
		what := fmt.Sprintf("%d vertices", len(l.Vertices))
		cases = append(cases, layoutCase{what + ", CSR", func(v uint32) []uint32 { return l.Adj[off[v]:off[v+1]] }, l.Adj, func(b *buffers) deviceLists {
			return deviceLists{Off: b.in(raw(off)), N: n}
		}})
		sparse := graph.NewSparse(&graph.CSR{Off: off, Adj: l.Adj})
		index := sparse.Index()
		levels[index.Levels] = true
		cases = append(cases, layoutCase{what + ", sparse", sparse.List, l.Adj, func(b *buffers) deviceLists {
			return deviceLists{Groups: b.in(raw(index.Words)), Place: b.in(raw(index.Off)), Kind: 3, N: uint32(index.Levels)}
		}})
		for _, load := range []int{1, 15, 200} {
			h, err := layout.NewHashed(t.Context(), l, load, 1)
			if err != nil {
				t.Fatal(err)
			}
			chains = chains || len(h.Groups) > int(h.Buckets)*2*layout.GroupPairs
			cases = append(cases, layoutCase{fmt.Sprintf("%s, hashed, %d for a group", what, load), h.List, h.Adj, func(b *buffers) deviceLists {
				return deviceLists{Groups: b.in(raw(h.Groups)), Kind: 1, N: h.Buckets}
			}})
		}
		x, err := layout.NewInterval(t.Context(), l, int(n), 1)
		if err != nil {
			t.Fatal(err)
		}
		ranks := x.Ranks()
		rankLevels[len(ranks.First)] = true
		cases = append(cases, layoutCase{fmt.Sprintf("%s, ranked, levels from %d", what, ranks.First), x.List, x.Adj, func(b *buffers) deviceLists {
			return deviceLists{Groups: b.in(raw(ranks.Words)), Row: b.in(raw(ranks.First)), Place: b.in(raw(x.Off)), Kind: 4, N: uint32(len(ranks.First))}
		}})
		inShared = inShared || x.Runs() > 0 && 2*x.Runs()+1 <= room
		elsewhere = elsewhere || 2*x.Runs()+1 > room
		cases = append(cases, layoutCase{fmt.Sprintf("%s, interval, %d runs", what, x.Runs()), x.List, x.Adj, func(b *buffers) deviceLists {
			return deviceLists{First: b.in(raw(x.First)), Row: b.in(raw(x.Row)), Place: b.in(raw(x.Off)), Kind: 2, N: uint32(x.Runs())}
		}})
	}
	if !inShared || !elsewhere || !chains || len(levels) < 2 || len(rankLevels) < 2 {
		t.Fatalf("an index in shared memory: %v, one that does not fit: %v, chains: %v, levels of sparse lists: %v, of ranked ones: %v", inShared, elsewhere, chains, levels, rankLevels)
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for _, size := range []int{1, 4, 8, 16, 32} {
			t.Run(fmt.Sprint(size), func(t *testing.T) {
				for _, c := range cases {
					type found struct {
						At       uint64
						N, Alone uint32
					}
					out := make([]found, n)
					err := d.Do(func(ctx *cuda.Context) error {
						return launch(ctx, joinListsText, fmt.Sprintf("g%d", size), 2, 64, 4*room, func(b *buffers) any {
							l := c.args(b)
							l.Adj = b.in(raw(append(slices.Clone(c.adj), 0)))
							return &struct {
								Lists          deviceLists
								Found          uint64
								Vertices, Room uint32
							}{l, b.out(raw(out)), n, room}
						})
					})
					if err != nil {
						t.Fatal(c.name, err)
					}
					for v, got := range out {
						want := c.list(uint32(v))
						if int(got.N) != len(want) || !slices.Equal(c.adj[got.At:][:got.N], want) {
							t.Fatalf("%s: vertex %d has %d neighbours from %d on, want %v", c.name, v, got.N, got.At, want)
						}
						if got.Alone != 0 {
							t.Fatalf("%s: vertex %d: a lane alone finds another list", c.name, v)
						}
					}
				}
			})
		}
	})
}

// measureListsText looks vertices up and adds up the lengths of their lists: by_warp with a warp for each vertex, by_lane
// with a lane for each. A warp adds up its lanes' sums before its one atomic addition: one for each lane would take longer than
// the look-ups. One block of one warp is GENEVA's set-up (section 8.2).
const measureListsText = `
#include "join/lists.cuh"
struct P { JoinLists l; const u32* ids; u64* total; u64 n; u32 room, unused; };
WEFT_KERNEL(by_warp, P) {
  JoinLists l = p.l;
  join_keep_index(l, (u32*)shared(), p.room);
  sync_block();
  u64 sum = 0, step = (u64)blocks() * threads() / 32;
  for (u64 i = ((u64)block() * threads() + thread()) / 32; i < p.n; i += step) sum += join_list(Warp(), l, p.ids[i]).n;
  if (lane() == 0) atomic_add(p.total, sum);
}
WEFT_KERNEL(by_lane, P) {
  JoinLists l = p.l;
  join_keep_index(l, (u32*)shared(), p.room);
  sync_block();
  u64 sum = 0, step = (u64)blocks() * threads();
  for (u64 i = (u64)block() * threads() + thread(); i < p.n; i += step) sum += join_list(l, p.ids[i]).n;
  sum = Warp().sum(sum);
  if (lane() == 0) atomic_add(p.total, sum);
}
`

// TestMeasureJoinLists prints, as JSON lines, how long a GPU takes to find a list in each layout: with one warp, and
// with a grid; a warp for each list, and a lane for each; in the partitions of a label of one run of ids, and of many. Among 1<<22 vertices, of which a GPU's cache
// has the index, and among 1<<25. With WEFT_MEASURE set; skipped elsewhere, and where there is no GPU.
func TestMeasureJoinLists(t *testing.T) {
	if os.Getenv("WEFT_MEASURE") == "" {
		t.Skip("WEFT_MEASURE is not set")
	}
	d, err := cuda.Open(0, device.Objects().Images)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	for _, n := range []int{1 << 22, 1 << 25} {
		if err := d.Do(func(c *cuda.Context) error { return measureLists(c, d.Info(), n, os.Stdout) }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMeasuredLookups: the kernel that is measured finds all lists, on the emulated device.
func TestMeasuredLookups(t *testing.T) {
	d := device.Emulated(t, emu.Options{})
	if err := d.Do(func(c *cuda.Context) error { return measureLists(c, d.Info(), 1<<9, io.Discard) }); err != nil {
		t.Fatal(err)
	}
}

// measureLists measures labels whose vertices, of n, are one run of ids or every second run of a length. It fails where
// a layout finds other lists.
func measureLists(c *cuda.Context, info cuda.Info, n int, out io.Writer) error {
	r := rand.New(rand.NewPCG(device.Seed(), 10))
	m, err := c.Module(cuda.Source{Name: "measurelists.cu", Text: measureListsText, Includes: kernels.Includes(measureListsText)})
	if err != nil {
		return err
	}
	defer m.Close()
	kernel := map[string]*cuda.Kernel{"warp": nil, "lane": nil}
	for by := range kernel {
		if kernel[by], err = m.Kernel("by_" + by); err != nil {
			return err
		}
	}
	start, err := c.Event()
	if err != nil {
		return err
	}
	defer start.Close()
	end, err := c.Event()
	if err != nil {
		return err
	}
	defer end.Close()
	const room = 4096                              // words of shared memory
	for _, length := range []int{n, 4096, 16, 1} { // of runs; as many ids between them
		l := &layout.Lists{Off: []uint32{0}}
		for v := range uint32(n) {
			if int(v)/length%2 == 0 {
				l.Vertices = append(l.Vertices, v)
				l.Adj = append(l.Adj, v, v+1)
				l.Off = append(l.Off, uint32(len(l.Adj)))
			}
		}
		h, err := layout.NewHashed(context.Background(), l, 1, 1)
		if err != nil {
			return err
		}
		x, err := layout.NewInterval(context.Background(), l, int(n), 1)
		if err != nil {
			return err
		}
		ranks := x.Ranks()
		// A list's bytes: what finds it, and its entries.
		bytes := map[string]int{
			"hashed": 4 * (len(h.Groups) + len(h.Adj)), "interval": 4 * (len(x.First) + len(x.Row) + len(x.Off) + len(x.Adj)),
			"ranked": 4 * (len(ranks.Words) + len(ranks.First) + len(x.Off) + len(x.Adj)),
		}
		ids := make([]uint32, 0, len(l.Vertices))
		for _, i := range r.Perm(len(l.Vertices)) {
			ids = append(ids, l.Vertices[i])
		}
		for _, one := range []bool{true, false} {
			asked := ids
			if one {
				asked = ids[:min(len(ids), 1<<16)]
			}
			for _, way := range []struct{ kind, by string }{{"hashed", "warp"}, {"hashed", "lane"}, {"interval", "warp"}, {"interval", "lane"}, {"ranked", "warp"}, {"ranked", "lane"}} {
				kind, k := way.kind, kernel[way.by]
				b := &buffers{c: c}
				p := struct {
					Lists      deviceLists
					IDs, Total uint64
					N          uint64
					Room, _    uint32
				}{IDs: b.in(raw(asked)), N: uint64(len(asked)), Room: room}
				total := []uint64{0}
				p.Total = b.out(raw(total))
				switch kind {
				case "hashed":
					p.Lists = deviceLists{Adj: b.in(raw(h.Adj)), Groups: b.in(raw(h.Groups)), Kind: 1, N: h.Buckets}
				case "ranked":
					p.Lists = deviceLists{Adj: b.in(raw(x.Adj)), Groups: b.in(raw(ranks.Words)), Row: b.in(raw(ranks.First)), Place: b.in(raw(x.Off)), Kind: 4, N: uint32(len(ranks.First))}
				default:
					p.Lists = deviceLists{Adj: b.in(raw(x.Adj)), First: b.in(raw(x.First)), Row: b.in(raw(x.Row)), Place: b.in(raw(x.Off)), Kind: 2, N: uint32(x.Runs())}
				}
				launch := cuda.Launch{Blocks: 1, Threads: 32, Shared: 4 * room}
				if !one {
					launch.Threads = 256
					if info.Emulated {
						launch.Threads = 64
					}
					if launch.Blocks, err = k.Resident(launch.Threads, launch.Shared); err != nil {
						return err
					}
				}
				rounds := 3 // the first one warms up
				err := b.err
				for range rounds {
					err = errors.Join(err, start.Record(nil), k.Launch(launch, &p), end.Record(nil), c.Synchronize())
				}
				if err != nil {
					return err
				}
				took, err := end.Since(start)
				if err != nil {
					return err
				}
				for _, f := range b.back {
					err = errors.Join(err, f())
				}
				for _, buf := range b.all {
					err = errors.Join(err, c.Free(buf))
				}
				if err != nil {
					return err
				}
				if want := uint64(2 * rounds * len(asked)); total[0] != want {
					return fmt.Errorf("%s, runs of %d: %d neighbours, want %d", kind, length, total[0], want)
				}
				line, _ := json.Marshal(map[string]any{
					"layout": kind, "by": way.by, "runs": x.Runs(), "vertices": len(ids), "one_warp": one, "device": info.String(),
					"ns_a_list": float64(took.Nanoseconds()) / float64(len(asked)), "index_in_shared": kind == "interval" && 2*x.Runs()+1 <= room,
					"bytes_a_list": float64(bytes[kind]) / float64(len(ids)), "csr_bytes_a_list": float64(8*(n+1)+4*len(x.Adj)) / float64(len(ids)),
				})
				fmt.Fprintln(out, string(line))
			}
		}
	}
	return nil
}
