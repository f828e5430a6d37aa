package session_test

import (
	"context"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/testing/long"
)

// stealText counts the nodes of trees, a task a tree: nearly all nodes are in the
// first tree. A warp has a stack of nodes in shared memory; who has several gives
// half of the lowest away, or has them taken.
const stealText = `
#include "base/steal.cuh"

// A node is its depth and a random number that says how many children it has.
#define DEPTH_BITS 8
#define ROOM 128
#define HALF 8

struct Stack { u32 lock, n, given; u64 node[ROOM], gift[HALF]; };
struct X { Market market; u64 push, pull; };
struct P { Run run; Graph graph; X x; };

DEV u64 mix(u64 z) {
  z += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

DEV void lock(Stack& s) {
  while (atomic_cas(&s.lock, 0u, 1u) != 0) spin();
  fence_block();
}
DEV void unlock(Stack& s) {
  fence_block();
  atomic_exch(&s.lock, 0u);
}

// Moves half of the nodes, the lowest, to to; returns how many. Locked, one lane.
DEV u32 halve(Stack& s, u64* to) {
  u32 k = min(s.n / 2, (u32)HALF);
  for (u32 i = 0; i < k; i++) to[i] = s.node[i];
  for (u32 i = k; i < s.n; i++) s.node[i - k] = s.node[i];
  s.n -= k;
  return k;
}

WEFT_KERNEL(trees, P) {
  Board* board = (Board*)shared();
  Stack* all = (Stack*)(shared() + 64);
  Stack& own = all[warp()];
  if (thread() == 0) board_clear(board);
  if (lane() == 0) own.lock = own.n = own.given = 0;
  sync_block();
  Warp g;
  u64 count = 0;
  for (;;) {
    Chunk t = {0, 0, false};
    u32 f = seek(p.run, board, p.x.market, t, [&] {
      u32 got = 0;
      if (g.leader() && p.x.pull) {
        for (u32 w = 0; w < warps() && !got; w++) {
          Stack& victim = all[w];
          if (w == warp() || load_relaxed(&victim.n) < 2) continue;
          lock(victim);
          if (victim.n >= 2 && rise(board)) {
            got = halve(victim, own.node);
            atomic_add(&p.run.counters->steals_block, 1ull);
          }
          unlock(victim);
        }
        if (got) {
          lock(own);
          own.n = got;
          unlock(own);
        }
      }
      return g.shfl(got, 0) != 0;
    });
    if (f == OVER) break;
    if (g.leader()) {
      lock(own);
      if (f == TASKS)
        for (u32 i = 0; i < t.count; i++) own.node[own.n++] = mix(t.first + i) << DEPTH_BITS | (t.first + i == 0 ? 18 : 2);
      if (f == SIBLING)
        for (u32 i = 0; i < own.given; i++) own.node[own.n++] = own.gift[i];
      if (f == MAIL) {
        const u64* mail = (const u64*)mail_of(p.x.market, block());
        for (u32 i = 0; i < mail[0]; i++) own.node[own.n++] = mail[1 + i];
      }
      unlock(own);
      for (u32 step = 0;; step++) {
        if (step % 64 == 0 && stopped(p.run)) {
          lock(own);
          own.n = 0;
          unlock(own);
          break;
        }
        lock(own);
        u64 node = own.n ? own.node[own.n - 1] : 0;
        if (own.n == 0) {
          unlock(own);
          break;
        }
        own.n--;
        count++;
        u32 depth = node & ((1 << DEPTH_BITS) - 1);
        if (depth > 0)
          for (u32 c = 0; c < 1 + (node >> 20) % 3; c++) own.node[own.n++] = mix(node + c) << DEPTH_BITS | (depth - 1);
        if (p.x.push && own.n >= 2) {
          u32 w = hungry_sibling(board);
          if (w != ~0u) {
            all[w].given = halve(own, all[w].gift);
            feed(board, w);
            atomic_add(&p.run.counters->steals_block, 1ull);
          }
        }
        if (own.n >= 2) {
          u32 b = idle_block(p.x.market);
          if (b != ~0u) {
            u64* mail = (u64*)mail_of(p.x.market, b);
            mail[0] = halve(own, mail + 1);
            send(p.x.market, b);
            atomic_add(&p.run.counters->steals_grid, 1ull);
          }
        }
        unlock(own);
      }
    }
    g.sync();
  }
  if (g.leader()) add128(p.run.counters, count);
}
`

// nodes is the number of nodes of the tree below a node.
func nodes(node uint64) uint64 {
	n, depth := uint64(1), node&255
	if depth > 0 {
		for c := range 1 + (node>>20)%3 {
			n += nodes(mix(node+c)<<8 | (depth - 1))
		}
	}
	return n
}

func mix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func TestSteal(t *testing.T) {
	const tasks = 50
	want := uint64(0)
	for i := range uint64(tasks) {
		depth := uint64(2)
		if i == 0 {
			depth = 18
		}
		want += nodes(mix(i)<<8 | depth)
	}
	w := newWorld(10, 2)
	for _, k := range []struct {
		name       string
		push, pull uint64
		devices    int
		grids      int // blocks, by what is resident at once: the others start when those have returned
	}{{"push", 1, 0, 1, 1}, {"pull", 0, 1, 1, 1}, {"both", 1, 1, 1, 1}, {"neither", 0, 0, 1, 1},
		{"two devices", 1, 1, 2, 1}, {"not resident", 1, 1, 1, 3}, {"not resident on two devices", 1, 1, 2, 2}} {
		t.Run(k.name, func(t *testing.T) {
			on(t, k.devices, session.Options{}, func(t *testing.T, s *session.Session) {
				runs := 5
				if !long.Asked() || k.grids > 1 {
					t.Log("one run instead of five: no WEFT_LONG, or grids that are not resident, which take seconds each")
					runs = 1
				}
				for range runs {
					j := w.job()
					j.Tasks, j.Chunk = tasks, 2
					j.Source.Text = kircuda.Text(j.Program) + stealText
					j.Start = func(x *session.Exec) (func() error, error) {
						kernel, err := x.Kernel("trees")
						if err != nil {
							return nil, err
						}
						const threads, shared = 128, 64 + 4*(16+8*(128+8))
						blocks, err := kernel.Resident(threads, shared)
						if err != nil {
							return nil, err
						}
						blocks *= k.grids
						m, err := x.Market(blocks, 9*8)
						return func() error {
							return session.Launch(x, kernel, cuda.Launch{Blocks: blocks, Threads: threads, Shared: shared},
								&struct {
									M          session.Market
									Push, Pull uint64
								}{m, k.push, k.pull})
						}, err
					}
					res, err := s.Run(context.Background(), j)
					if err != nil {
						t.Fatal(err)
					}
					if res.Matches.Lo != want || !res.Complete {
						t.Errorf("%v nodes, want %d; complete %v", res.Matches, want, res.Complete)
					}
					if inside := res.StealsBlock > 0; inside != (k.push|k.pull != 0) || res.StealsGrid == 0 {
						t.Errorf("%d steals inside blocks, %d between", res.StealsBlock, res.StealsGrid)
					}
				}
			})
		})
	}
}
