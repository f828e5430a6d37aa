// The sources and receivers of a warp's work: tasks, work that other warps give it, and work
// that it gives. Part of Walker (fine/search.cuh).
#ifndef FINE_WORK
#define FINE_WORK
#include "fine/search.cuh"

// Puts the entries of a chunk of tasks on the stack: partial matches of the
// initial pool, or candidates of level 0.
template <class C, Purpose PURPOSE> DEV void Walker<C, PURPOSE>::load(u64 first, u32 count) {
  sync_warp(ALL); // all lanes have seen that the stack is empty
  base = x.depth ? x.depth - 1 : 0;
  bool mine = lane() < count;
  u32 n = count;
  if (x.depth) {
    if (mine) {
      for (u32 j = 0; j <= base; j++) {
        frame(j).vertex[lane()] = x.rows[j * x.room + first + lane()];
        frame(j).parent[lane()] = (u8)lane();
      }
    }
  } else {
    u32 v = mine ? checks.root(first + lane()) : 0;
    mine = mine && checks.root_ok(v);
    u32 votes = ballot(ALL, mine);
    n = popc(votes);
    if (mine) frame(0).vertex[popc(votes & lanes_before())] = v;
    if (lane() == 0) visits += n;
  }
  if (lane() <= base) {
    Frame& f = frame(lane());
    f.count = n;
    f.unpooled = lane() < base ? 0 : n == 32 ? ALL : (1u << n) - 1;
    f.at = f.end = 0;
  }
  sync_warp(ALL);
}

// Gives half of the shallowest frame with work to a hungry warp. top: the deepest frame in use.
// It reads the market less often, because that is a trip to L2.
template <class C, Purpose PURPOSE> DEV void Walker<C, PURPOSE>::share(u32 top) {
  if (PURPOSE == GROW || x.steal == STEAL_OFF) return;
  bool far = x.steal == STEAL_GRID && (looks++ & 7) == 0;
  u32 want = 0;
  if (lane() == 0) want = load_relaxed(&head->board.hungry) || (far && (load_relaxed(x.market.idle) & ~FINISHED));
  if (!shfl(ALL, want, 0)) return;
  u32 l = lane();
  bool rich = false;
  if (l >= base && l <= top) {
    u32 here = waiting(frame(l));
    rich = l < top ? here >= 1 : frame(l).at == frame(l).end ? here >= 2 : here >= FINE_WORTH;
  }
  u32 votes = ballot(ALL, rich);
  if (!votes) return;
  u32 from = ctz(votes), sibling = ~0u, other = ~0u;
  if (lane() == 0) {
    sibling = hungry_sibling(&head->board);
    if (sibling == ~0u && far) other = idle_block(x.market);
  }
  sibling = shfl(ALL, sibling, 0);
  other = shfl(ALL, other, 0);
  if (sibling == ~0u && other == ~0u) return;
  sync_warp(ALL); // the claim, which one lane made, is every lane's
  u8* mail = other == ~0u ? (u8*)0 : mail_of(x.market, other);
  Frame* to = mail ? (Frame*)(mail + FINE_MAIL_HEAD) : stack_of(sibling).frames;
  copy_frames(to, stack.frames, from + 1);
  split(frame(from), to[from], from < top);
  if (lane() == 0) {
    atomic_add(mail ? &run.counters->steals_grid : &run.counters->steals_block, (u64)1);
    if (mail) {
      *(u32*)mail = from;
      send(x.market, other);
    } else {
      store_held(&head->from[sibling], from);
      feed(&head->board, sibling);
    }
  }
  sync_warp(ALL);
}

// Takes over the frames in the block's mail.
template <class C, Purpose PURPOSE> DEV void Walker<C, PURPOSE>::open_mail() {
  const u8* mail = mail_of(x.market, block());
  base = *(const u32*)mail;
  copy_frames(stack.frames, (const Frame*)(mail + FINE_MAIL_HEAD), base + 1);
}

// The life of a warp: tasks while there are any, then work that others give.
template <class C, Purpose PURPOSE> DEV void Walker<C, PURPOSE>::work() {
  Chunk c = {0, 0, false};
  for (Found f = TASKS; f != OVER && !halted; ) {
    f = x.steal == STEAL_OFF ? alone(c) : seek(run, &head->board, x.market, c, [] { return false; });
    if (f == TASKS) load(c.first, c.count);
    if (f == SIBLING) base = load_held(&head->from[warp()]);
    if (f == MAIL) open_mail();
    if (f != OVER) search();
  }
  finish();
}

// Waits for tasks only: other devices may leave some.
template <class C, Purpose PURPOSE> DEV Found Walker<C, PURPOSE>::alone(Chunk& c) {
  for (;;) {
    c = take(Warp(), run);
    if (c.count) return TASKS;
    if (c.over || stopped(Warp(), run)) return OVER;
    spin();
  }
}

template <class C, Purpose PURPOSE> DEV void Walker<C, PURPOSE>::finish() {
  if (PURPOSE == COUNT) flush();
  Counters* c = run.counters;
  if (lane() < MAX_LEVELS && visits) atomic_add(&c->visits[lane()], visits);
  if (lane() == 0) {
    atomic_add(&c->lanes_busy, busy);
    atomic_add(&c->lanes_all, all);
  }
}

#endif
