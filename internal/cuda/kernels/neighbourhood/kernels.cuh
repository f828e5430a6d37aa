// The local schedule: a team takes a root, makes its neighbourhood a bit matrix and searches
// it. A task of the search is a vertex of level 1 and a part of level 2's candidates. The
// holder of a row, one lane or several, takes one task.
//
// The host twin is engine/host/local.go. The code below level 1 is the plan's own text (lower,
// the rows view).
#ifndef WEFT_LOCAL
#define WEFT_LOCAL
#include "neighbourhood/share.cuh"
#if W_OUTSIDE
#include "neighbourhood/wedges.cuh"
#endif

// Counts a lane's matches that are not in the run's counters yet: those of the current root,
// and those of the roots before it. Its watch is on the run.
struct Tally {
  u128 all = 0, root = 0;
  Watch watch = {0, false};
};

// Whether to leave, at a task of a group below root. All lanes of the group.
template <class G> DEV bool leave(G g, const LocalParams& p, u32 root, Tally& n) {
  if (p.x.often && g.leader() && n.all + n.root) {
    add128(p.run.counters, n.all + n.root);
    add_root(p.run, root, n.root);
    n.all = n.root = 0;
  }
  return n.watch.leave(g, p.run);
}

// The groups of lanes of a team that hold a row each.
template <class C> DEV u32 row_groups() { return C::team / C::Row::lanes; }
template <class C> DEV u32 row_group() { return Team<C::team>::rank() / C::Row::lanes; }

#if !W_OUTSIDE && W_ROWS == 3
#include "neighbourhood/sizes.cuh"
#elif !W_OUTSIDE
// A group's numbers of tasks of a root. They come from a counter of the team, or of all teams
// that search the root; in that case the next number is fetched while one task is searched.
template <class C> struct Turns {
  using G = typename C::Row::G;
  u32* taken;
  u32 next;

  DEV u32 ask() const { return G::leader() ? atomic_add(taken, 1u) : 0; }
  DEV Turns(const Share& share) : taken(share.taken), next(C::shares ? ask() : row_group<C>()) {}
  DEV u32 take() {
    u32 t = C::shares ? G::shfl(next, 0) : next;
    next = C::shares ? ask() : t + row_groups<C>();
    return t;
  }
};

// The matches whose root has the universe s.
template <class C> DEV void search_root(const LocalParams& p, u8* m, u32* rows, const Share& share, Set s, Tally& n) {
  using T = Team<C::team>;
  u32 root = share.root;
  Hood<typename C::Row> h = make_hood<C>(p.run, p.graph, m, rows, root, s, n.watch);
  u32 from = level1_from(p.graph, h), parts = parts_of<C>(h.d);
  Turns<C> turns(share);
  for (u32 t = turns.take(); t < share.tasks; t = turns.take()) {
    if (leave(typename C::Row::G(), p, root, n)) break;
    u32 p1 = from + t / parts, part = t % parts;
#if W_MASK1
    if (!(h.masks[(W_MASK1 - 1) * C::Row::stride + (p1 >> 5)] >> (p1 & 31) & 1)) continue;
#endif
    auto got = nest(p.graph, h, p1, part);
    if (C::Row::G::leader()) n.root += got;
  }
  T::sync();
}
#elif W_SIZES
// The matches that one more common neighbour adds if root and y had c before.
DEV Count gain(const Graph& q, u32 c) {
  return ways(q, c + 1) - ways(q, c);
}

// The pairs of root and outside vertex, by the number of neighbours they share.
template <class C> DEV void search_root(const LocalParams& p, u8* m, u32*, const Share& share, Set s, Tally& n) {
  u32 root = share.root;
  u128 before = n.root;
  s = kept<C>(m, s);
  each_outside<C>(p.run, p.graph, (TeamHead*)m, (u32*)(m + C::keys), share, s, n.watch,
                  [&](u32, u32 y, u32 i, const Wedges<table_size<C>>& t) {
                    u32 c = atomic_add(&t.counts()[i], 1u);
                    if (c + 1 >= W_SHARE && outside_ok(p.graph, root, y)) n.root += gain(p.graph, c);
                  },
                  [&](const Wedges<table_size<C>>&) { before = n.root; }, [&] { n.root = before; });
}
#else
// The matches with outside vertices of one range: found ones get numbers, and
// their rows are made C::room at a time by going over the wedges again.
template <class C>
DEV void search_range(const LocalParams& p, u8* m, u32* out, const Hood<typename C::Row>& h, u32 root, Set s,
                      const Wedges<table_size<C>>& t, Tally& n) {
  using T = Team<C::team>;
  using Row = typename C::Row;
  TeamHead* head = (TeamHead*)m;
  u32* ys = (u32*)(m + C::ys);
  u32* counts = t.counts();
  if (T::rank() == 0) head->found = 0;
  T::sync();
  for (u32 i = T::rank(); i < t.slots; i += T::size()) {
    u32 c = counts[i];
    if (c == 0) continue;
    bool ok = c >= W_SHARE && outside_ok(p.graph, root, t.id(i));
    counts[i] = ok ? atomic_add(&head->found, 1u) + 1 : 0;
  }
  T::sync();
  u32 found = head->found;
  T::sync();
  const u32* ids = C::keeps_list ? (const u32*)(m + C::list) : s.p;
  for (u32 at = 0; at < found; at += C::room) {
    u32 here = min(found - at, (u32)C::room);
    for (u64 i = T::rank(); i < (u64)here * Row::stride; i += T::size()) out[i] = 0;
    for (u32 i = T::rank(); i < t.slots; i += T::size()) {
      u32 c = counts[i];
      if (c > at && c <= at + here) ys[c - 1 - at] = t.id(i);
    }
    T::sync();
    each_of<T>(head, s.n, [&](u32 k) { return t.part(p.graph, s.p[k]); },
               [&](u32 k, u32 y) {
                 u32 c = counts[t.find(y)];
                 if (c > at && c <= at + here) atomic_or(&out[(u64)(c - 1 - at) * Row::stride + (k >> 5)], 1u << (k & 31));
               });
    T::sync();
    u32 parts = parts_of<C>(h.d);
    u64 tasks = (u64)here * parts;
    for (u64 i = row_group<C>(); i < tasks; i += row_groups<C>()) {
      if (leave(typename Row::G(), p, root, n)) {
        if (Row::G::leader()) store_relaxed(&head->left, 1u);
        break;
      }
      u32 c = (u32)(i / parts), y = ys[c], before = lower_bound(ids, h.d, y);
      bool inside = before < h.d && ids[before] == y;
      auto got = nest(p.graph, h, row_load<Row>(out + (u64)c * Row::stride), before, before + inside, inside ? before : ~0u,
                      (u32)(i % parts));
      if (Row::G::leader()) n.root += got;
    }
    T::sync();
    if (load_relaxed(&head->left)) return; // it is written behind the next barrier only
  }
}

template <class C> DEV void search_root(const LocalParams& p, u8* m, u32* rows, const Share& share, Set s, Tally& n) {
  Hood<typename C::Row> h = make_hood<C>(p.run, p.graph, m, rows, share.root, s, n.watch);
  u32* out = C::global_rows ? rows + p.x.scratch_words - C::room * C::Row::stride : (u32*)(m + C::out);
  each_outside<C>(p.run, p.graph, (TeamHead*)m, (u32*)(m + C::keys), share, s, n.watch,
                  [&](u32, u32, u32 i, const Wedges<table_size<C>>& t) { atomic_add(&t.counts()[i], 1u); },
                  [&](const Wedges<table_size<C>>& t) { search_range<C>(p, m, out, h, share.root, s, t, n); }, [] {});
}
#endif

// Adds the matches of a root to those before it.
DEV void count_root(const LocalParams& p, u32 root, Tally& n) {
  n.all += n.root;
  if (p.run.roots) {
    u128 sum = sum128(Warp(), n.root);
    if (lane() == 0 && sum) add_root(p.run, root, sum);
  }
  n.root = 0;
  if (p.x.often) {
    u128 sum = sum128(Warp(), n.all);
    if (lane() == 0 && sum) add128(p.run.counters, sum);
    n.all = 0;
  }
}

// The kernel of one class of roots.
template <class C> DEV void search_class(const LocalParams& p) {
  using T = Team<C::team>;
  u8* m = shared() + T::in_block() * C::bytes;
  u32* rows = C::global_rows ? p.x.scratch + T::number() * p.x.scratch_words : (u32*)(m + C::rows);
  TeamHead* head = (TeamHead*)m;
  const Roots& x = p.x.roots;
  u32* count = x.counts + p.x.of_class * LINE;
  u32 end = count[0], teams = blocks() * (threads() / C::team);
  // Neighbours in the list are alike: a team must not get many heavy ones.
  u32 most = T::is_warp ? min(p.run.chunk, max(1u, end / (teams * 16))) : 1;
  team_begin<T>(head);
#if !W_OUTSIDE && W_ROWS == 3
  team_fill<T>((u32*)(m + C::table), C::slots, 0);
  T::sync();
#endif
  Tally n;
  const u32* list = x.lists + x.starts[p.x.of_class];
  Help<C> help = {p, head, list, end};
  each_task<T>(p.run, head, ClassTasks{p.x.helping ? 0 : end, count + 1, most}, n.watch, help, [&](u64 task) {
    u32 root = list[task];
#if !W_OUTSIDE && W_ROWS == 3
    if (!in_sweep(p.graph, root)) return;
#endif
    Set s = universe(p.graph, root);
    Share share = {root, p.x.taken + task, tasks_of<C>(p.graph, x, root, s)};
    if (!any_left<C>(head, share)) return;
    search_root<C>(p, m, rows, share, s, n);
    count_root(p, root, n);
  });
  u128 sum = sum128(Warp(), n.all);
  if (lane() == 0 && sum) add128(p.run.counters, sum);
}

#endif
