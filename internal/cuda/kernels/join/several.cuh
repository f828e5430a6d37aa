// Phases of several vertices, and eliminations (GENEVA, section 5).
//
// A warp takes a row, and goes through the combinations of candidates as nested loops do. No table has the matches between
// them. The vertices of the outer levels come one by one. Those of the last two levels come as products: up to 32 candidates of one
// level, tested once, with up to 32 of the other, so that lanes have pairs. If the candidates of the last level depend on
// the vertices of the phase, or are only counted, its loop runs for each vertex of the level before it. The phase's own bounds are
// ranges of the sorted candidates, and tests of a pair in a product. A piece says where each loop was.
//
// Where rows are few, a row is for several warps: each has every n-th chunk of the first level or, in a product of two levels, of
// the longer one. If lists are found for each vertex of the phase, each warp has every n-th vertex. A row may have most of a search's matches. So a warp that has been at one for long leaves the rest of its outermost loop to
// others, in pieces that a later launch begins.
//
// An edge between two vertices of a phase cuts the candidates of the second as a list of its group, which are found anew
// for each match of the first. So the pairs that GENEVA's elimination removes are not made. An elimination of its own,
// where the plan has one, looks for edges between vertices that a row has: a lane a row.
//
// The host twin is package join's search on the processor.
#ifndef JOIN_SEVERAL
#define JOIN_SEVERAL
#include "join/search.cuh"

// A piece has a position for each level, and at the end the number of a pair and the warp's part. A phase of more levels has no room
// for these: it makes no products, and its rows have no parts.
#define JOIN_PLACES 30
#define JOIN_PAIR 30
#define JOIN_PART 31

// A loop that is not the innermost: the chunk of candidates that it is at, in shared memory.
struct JoinDepth {
  u32 v[32];
  u32 begin; // the chunk's position
  u32 votes; // the candidates of the chunk that are still to come
  u32 place; // the position of the vertex that it is at
  u32 next, end;
  u32 from; // vertices at positions before it are done
  u32 unused[2];
};

template <JoinGoal GOAL> struct Several {
  Joiner<GOAL>& j;
  JoinDepth* depth;
  JoinFound f[2];
  bool resumes; // the loops go down to where a piece was left
  u32 parts = 1, part = 0; // the warp has every parts-th chunk of a level, from number `part` on
  bool second = false;     // of the second level, in a product of two
  bool behind = false;     // the row is behind the first one of a piece, and for one warp: its launch was for whole rows
  u32 steps = 0; // chunks of candidates of the row, since the last split

  DEV Several(Joiner<GOAL>& j, JoinDepth* depth) : j(j), depth(depth) {}

  // Whether the warp leaves chunks of the first level to others.
  DEV bool strides() const { return parts > 1 && !second && !j.s.late; }

  // Whether the vertex at a position of the first level is the warp's, where lists are found for each.
  DEV bool mine(u32 at) const { return parts == 1 || !j.s.late || at % parts == part; }

  // The positions of level k that its bounds inside the phase leave: those by the levels of `known`, and lo and hi.
  DEV void range(u32 k, u32& begin, u32& end, u32 known = ~0u, u32 lo = 0, u32 hi = ~0u) {
    const JoinLevel& l = j.s.at[k];
    const Set& base = f[l.group].base;
    for (u32 m = l.above & known; m; m &= m - 1) lo = max(lo, j.w.row[ctz(m)] + 1);
    for (u32 m = l.below & known; m; m &= m - 1) hi = min(hi, j.w.row[ctz(m)]);
    Set s = slice(Warp(), base, lo, hi);
    begin = (u32)(s.p - base.p);
    end = begin + s.n;
  }

  // Whether this lane's element at position i + lane() is a candidate of level k, next to the vertices of the levels of `known`.
  DEV bool test(u32 k, u32 i, u32 end, u32& v, u32 known = ~0u) {
    const JoinLevel& l = j.s.at[k];
    JoinFound& found = f[l.group];
    if (!(j.s.late && l.group)) found.low = 0; // loops of one group are at different places
    bool in = join_test(j.s.group[l.group], j.lists, j.w.row, found, i, end, v);
    for (u32 d = l.distinct & known; d; d &= d - 1) in &= v != j.w.row[ctz(d)];
    return in;
  }

  // Begins the loop of level k at position from, or where its candidates begin. It ends before position to.
  DEV void enter(u32 k, u32 from, u32 to = ~0u) {
    u32 begin, end;
    range(k, begin, end);
    end = min(end, to);
    JoinDepth& d = depth[k];
    u32 next = max(begin, from);
    if (k == 0 && strides()) // a whole chunk, of which the vertices before `from` are done
      next = from > begin ? from - (from - begin) % 32 : begin + 32 * part;
    sync_warp(ALL);
    if (lane() == 0) {
      d.next = next;
      d.end = end;
      d.votes = 0;
      d.from = from;
    }
    sync_warp(ALL);
  }

  // The next chunk of level k with a candidate, if none of the last one is to come: its candidates as a mask, 0 if there is none. They are in
  // the loop's v, which lanes may read after a sync.
  DEV u32 fetch(u32 k, u32& begin, u32& next) {
    JoinDepth& d = depth[k];
    u32 votes = d.votes, end = d.end;
    begin = d.begin;
    next = d.next;
    if (votes) return votes;
    u32 v = 0;
    const u32 stride = k == 0 && strides() ? 32 * parts : 32, from = d.from;
    for (; !votes; next += stride) {
      if (next >= end || j.look()) return 0;
      steps++;
      const bool in = test(k, next, end, v);
      votes = ballot(ALL, in && next + lane() >= from && (k || mine(next + lane())));
      begin = next;
    }
    d.v[lane()] = v;
    return votes;
  }

  // The next vertex of the loop of level k.
  DEV bool advance(u32 k) {
    JoinDepth& d = depth[k];
    u32 begin, next;
    const u32 votes = fetch(k, begin, next);
    if (!votes) return false;
    sync_warp(ALL);
    const u32 level = j.s.at[k].level;
    if (lane() == 0) {
      d.votes = votes & (votes - 1);
      d.begin = begin;
      d.next = next;
      d.place = begin + ctz(votes);
      j.w.row[level] = d.v[ctz(votes)];
      if (j.x.levels && !resumes) atomic_add(&j.run.counters->visits[level], (u64)1);
    }
    sync_warp(ALL);
    return true;
  }

  // The innermost loop, from position from on. Returns as Joiner::join does.
  DEV u32 innermost(u32 k, u32 from) {
    const JoinLevel& l = j.s.at[k];
    const JoinGroup& g = j.s.group[l.group];
    if (j.s.late) f[1] = join_find(g, j.lists, j.w.row, l.level, false);
    u32 begin, end;
    range(k, begin, end);
    begin = max(begin, from);
    j.waiting = 0;
    steps++;
    if (begin < end && GOAL == JOIN_COUNT && !f[l.group].others && !join_tests(g)) {
      j.waiting = join_size(g.distinct | l.distinct, j.w.row, f[l.group], begin, end);
    } else {
      for (u32 i = begin; i < end; i += 32) {
        if (j.look()) return JOIN_DONE;
        steps++;
        u32 v;
        bool in = test(k, i, end, v);
        u32 at = j.chunk(v, i + lane(), in);
        if (at != JOIN_DONE) return at;
        if (j.halted) return JOIN_DONE;
      }
    }
    if (!Joiner<GOAL>::WRITES) j.add(j.waiting);
    return j.flush();
  }

  // Whether the last two levels make products.
  DEV bool multiplies() const { return !j.s.late && j.s.levels <= JOIN_PLACES; }

  // Whether candidates of the last level are counted without a look at each.
  DEV bool counts() const {
    const u32 group = j.s.at[j.s.levels - 1].group;
    return GOAL == JOIN_COUNT && !f[group].others && !join_tests(j.s.group[group]);
  }

  // Where a product was left: positions of a chunk of each level, and the number of a pair.
  struct Place {
    u32 first, second, pair;
  };

  // The number of candidates of the last level next to this lane's vertex `v` of the level before it, where nothing is asked of
  // them but bounds and to differ from vertices of the row. 0 where `in` is false.
  DEV u32 size(u32 v, bool in) {
    const u32 k = j.s.levels - 1;
    const JoinLevel& l = j.s.at[k];
    const Set& base = f[l.group].base;
    const u32 other = 1u << j.s.at[k - 1].level, distinct = j.s.group[l.group].distinct | l.distinct;
    u32 begin, end;
    range(k, begin, end, ~other);
    const u32 lo = in && (l.above & other) ? bisect(base.p, begin, end, v + 1) : begin;
    const u32 hi = in && (l.below & other) ? bisect(base.p, begin, end, v) : end;
    u32 n = in && lo < hi ? hi - lo : 0;
    if (n && (distinct & other)) {
      const u32 at = bisect(base.p, lo, hi, v);
      n -= at < hi && base.p[at] == v;
    }
    u32 seen = distinct & other;
    for (u32 m = distinct & ~other; m; m &= m - 1) {
      const u32 u = j.w.row[ctz(m)], at = bisect(base.p, begin, end, u);
      bool again = at == end || base.p[at] != u || ((seen & other) && u == v); // not there, or a vertex of the row twice
      for (u32 s = seen & ~other; s; s &= s - 1) again |= j.w.row[ctz(s)] == u;
      seen |= m & -m;
      n -= n && !again && at >= lo && at < hi;
    }
    return n;
  }

  // The next chunk of level k with all candidates of the level behind it, which is the last one, from a place on. False: the
  // loop has no further chunk, or the run is to stop, or the table is full. Then `at` is the place to go on from.
  DEV bool product(u32 k, u32 from, u32 pair, Place& at) {
    JoinDepth& d = depth[k];
    u32 begin, next;
    at.first = ~0u;
    const u32 votes = fetch(k, begin, next);
    if (!votes) return false;
    sync_warp(ALL);
    u32* const a = j.w.wait; // the chunk's candidates, and those of the other level's chunk
    u32* const b = j.w.wait + 32;
    const u32 have = popc(votes), here = d.v[lane()];
    if (votes >> lane() & 1) a[popc(votes & Warp::below())] = here;
    if (lane() == 0) {
      d.votes = 0;
      d.begin = begin;
      d.next = next;
      d.place = next - 1; // what is to come of the loop begins behind it
      if (j.x.levels && !resumes && !(second && part)) atomic_add(&j.run.counters->visits[j.s.at[k].level], (u64)have);
    }
    sync_warp(ALL);
    resumes = false;
    if (counts()) {
      j.add(reduce_add(ALL, (u64)size(here, votes >> lane() & 1)));
      return true;
    }
    const JoinLevel& l = j.s.at[k + 1];
    const u32 level = j.s.at[k].level, other = 1u << level;
    u32 i, end;
    range(k + 1, i, end, ~other, l.above & other ? a[0] + 1 : 0, l.below & other ? a[have - 1] : ~0u);
    const u32 stride = second ? 32 * parts : 32;
    if (from > i)
      i = from;
    else if (second)
      i += 32 * part;
    j.waiting = 0;
    for (; i < end; i += stride, pair = 0) {
      if (j.look()) return false;
      steps++;
      u32 v;
      const bool in = test(k + 1, i, end, v, ~other);
      const u32 more = ballot(ALL, in), width = popc(more);
      if (!more) continue;
      sync_warp(ALL); // the last pairs have been read
      if (in) b[popc(more & Warp::below())] = v;
      sync_warp(ALL);
      steps += have * width / 32;
      for (u32 p = pair; p < have * width; p += 32) {
        const u32 of = p + lane(), x = min(of / width, have - 1), y = of % width;
        const u32 va = a[x], vb = b[y];
        bool ok = of < have * width;
        if (l.above & other) ok &= vb > va;
        if (l.below & other) ok &= vb < va;
        if (l.distinct & other) ok &= vb != va;
        const u32 left = pairs(level, va, vb, ok);
        if (j.halted) return false;
        if (left != JOIN_DONE) {
          at.first = begin;
          at.second = i;
          at.pair = p + left;
          return false;
        }
      }
      if (j.waiting >> 30) { // before 32 bits are full
        j.add(j.waiting);
        j.waiting = 0;
      }
    }
    if (!Joiner<GOAL>::WRITES) j.add(j.waiting);
    return true;
  }

  // Takes this lane's pair, of which the first vertex is at a level, if it is ok. Returns JOIN_DONE, or the first lane whose pair
  // there was no more room for.
  DEV u32 pairs(u32 level, u32 va, u32 vb, bool ok) {
    const u32 votes = ballot(ALL, ok), n = popc(votes);
    if (GOAL == JOIN_LIST) {
      const u32 got = emit_rows(Warp(), j.run, ok, [&](u32 c) { return c + 1 == j.x.after ? vb : c == level ? va : j.w.row[c]; });
      if (got == ~0u)
        j.halted = true;
      else
        j.total += got;
      return JOIN_DONE;
    }
    if (!Joiner<GOAL>::WRITES) {
      j.waiting += n;
      return JOIN_DONE;
    }
    if (!n) return JOIN_DONE;
    const u32 mine = popc(votes & Warp::below());
    u32* const first = j.w.place;
    u32* const second = j.w.place + 32;
    sync_warp(ALL); // the last rows have been written
    if (ok) {
      first[mine] = va;
      second[mine] = vb;
    }
    sync_warp(ALL);
    u64 to = 0;
    const u32 fits = j.reserve(n, to);
    j.lines(to, fits, [&](u32 r, u32 c) { return c + 1 == j.x.after ? second[r] : c == level ? first[r] : j.w.row[c]; });
    j.total += fits;
    return fits < n ? ctz(ballot(ALL, ok && mine == fits)) : JOIN_DONE;
  }

  // The warp's part of the row, as a piece has it.
  DEV u32 share() const { return parts | part << 8 | (u32)second << 16; }

  // Whether it is time to split. Other warps have the chunk behind this one if the warp has a part of the row, so it ends a chunk first.
  DEV bool splits() const { return steps > j.x.budget && !(strides() && depth[0].votes); }

  // Leaves what is to come of the outermost loop as pieces, one for each lane at most. Without much room for pieces, it
  // leaves none: each warp must be able to leave one when the table is full.
  DEV void split(u32 row) {
    JoinDepth& d = depth[0];
    const u32 begin = strides() ? d.next : d.place + 1, left = d.end > begin ? d.end - begin : 0;
    if (left < 2) return;
    const u32 unit = strides() ? 32 * parts : 1, size = ((left + 31) / 32 + unit - 1) / unit * unit, pieces = (left + size - 1) / size;
    const JoinArgs& x = j.x;
    u64 k = ~0ull;
    if (lane() == 0) {
      u64 had = load_relaxed(&x.state->left);
      while (x.tail - x.head + (had - x.left) + pieces <= (x.mask + 1) / 2) {
        const u64 now = atomic_cas(&x.state->left, had, had + pieces);
        if (now == had) {
          k = had - x.left;
          break;
        }
        had = now;
      }
    }
    k = shfl(ALL, k, 0);
    if (k == ~0ull) return;
    if (lane() < pieces) {
      JoinPiece& p = x.pieces[(x.tail + k + lane()) & x.mask];
      p.row = row;
      p.rows = 1;
      p.at[0] = begin + lane() * size;
      p.to = min(p.at[0] + size, d.end);
      p.step = 0; // nothing of it is done
      if (j.s.levels <= JOIN_PLACES) p.at[JOIN_PART] = share();
    }
    sync_warp(ALL);
    if (lane() == 0) {
      d.next = d.end = begin;
      d.votes = 0;
      atomic_add(&j.run.counters->user[2], (u64)pieces);
    }
    sync_warp(ALL);
  }

  // Joins a row, from where a piece says on. False: there was no more room, and the rest was left with the rows behind it.
  DEV bool join(u32 row, u32 rows, const JoinPiece* piece) {
    const u32 last = j.s.levels - 1;
    j.read(row);
    for (u32 i = 0; i < 2; i++) {
      if (j.s.group[i].backs == 0 || (i && j.s.late)) break;
      f[i] = join_find(j.s.group[i], j.lists, j.w.row, j.x.width, false);
      if (f[i].base.n == 0) return true;
    }
    resumes = piece && piece->step;
    steps = 0;
    u32 k = 0;
    const bool products = multiplies();
    if (piece) {
      const u32 had = j.s.levels <= JOIN_PLACES ? piece->at[JOIN_PART] : 1;
      parts = had & 255;
      part = had >> 8 & 255;
      second = had >> 16;
    } else {
      parts = behind ? 1 : j.parts;
      part = behind ? 0 : j.part;
      second = parts > 1 && products && last == 1 && !counts() && f[j.s.at[1].group].base.n > f[j.s.at[0].group].base.n;
    }
    enter(0, piece ? piece->at[0] : 0, piece ? piece->to : ~0u);
    for (;;) {
      if (products && k == last - 1) {
        Place at;
        const bool again = resumes;
        const bool more = product(k, again ? piece->at[last] : 0, again ? piece->at[JOIN_PAIR] : 0, at);
        if (j.halted) return true;
        if (!more && at.first != ~0u) {
          JoinPiece& p = j.leave(row, rows, depth[0].end, at.first);
          sync_warp(ALL);
          if (lane() < k) p.at[lane()] = depth[lane()].place;
          if (lane() == k) p.at[k] = at.first;
          if (lane() == last) p.at[last] = at.second;
          if (lane() == last) p.at[JOIN_PAIR] = at.pair;
          if (lane() == last) p.at[JOIN_PART] = share();
          return false;
        }
        if (!more && k == 0) return true;
        if (!more) k--;
        if (splits()) {
          split(row);
          steps = 0;
        }
        continue;
      }
      if (!advance(k)) {
        if (j.halted || k == 0) return true;
        k--;
        continue;
      }
      k++;
      const u32 from = resumes ? piece->at[k] : 0;
      if (k < last) {
        enter(k, from);
        continue;
      }
      resumes = false;
      const u32 at = innermost(k, from);
      if (j.halted) return true;
      if (at != JOIN_DONE) {
        JoinPiece& p = j.leave(row, rows, depth[0].end, at);
        if (lane() < last) p.at[lane()] = depth[lane()].place;
        if (lane() == last) p.at[last] = at; // as lane 0 did for a phase of one vertex
        if (lane() == last && j.s.levels <= JOIN_PLACES) p.at[JOIN_PART] = share();
        return false;
      }
      k--;
      if (splits()) {
        split(row);
        steps = 0;
      }
    }
  }

  DEV void rows() {
    while (!(j.halted = stopped(Warp(), j.run))) {
      JoinPiece* piece;
      u32 row, rows;
      if (!j.next(piece, row, rows)) break;
      bool done = true;
      behind = false;
      for (; rows && done && !j.halted; row++, rows--) {
        done = join(row, rows, piece);
        behind |= piece != 0;
        piece = 0;
      }
      if (!done || j.halted) break;
      if (j.x.often) j.tell();
    }
    j.tell();
  }
};

// Whether a row has the edges of an elimination. One lane.
DEV bool join_keeps(const JoinLists* lists, const JoinStep& s, const u32* row) {
  for (u32 i = 0; i < s.edges; i++) {
    const u32 e = s.edge[i];
    if (contains(join_list(lists[e >> 11], row[e >> 1 & 31]), row[e >> 6 & 31]) == (e & 1)) return false;
  }
  return true;
}

template <JoinGoal GOAL> DEV void join_keep(Joiner<GOAL>& j) {
  const JoinArgs& x = j.x;
  while (!(j.halted = stopped(Warp(), j.run))) {
    JoinPiece* piece;
    u32 first, rows;
    if (!j.next(piece, first, rows)) break;
    const u32 end = first + rows;
    for (; first < end; first += 32) {
      const u32 at = first + lane();
      const u32* row = x.rows + (u64)at * x.width;
      const bool in = at < end && join_keeps(j.lists, j.s, row);
      const u32 votes = ballot(ALL, in), n = popc(votes);
      if (GOAL == JOIN_LIST) {
        if (emit_rows(Warp(), j.run, in, [&](u32 c) { return row[c]; }) == ~0u) j.halted = true;
        if (j.halted) return;
        j.total += n;
        continue;
      }
      if (GOAL == JOIN_COUNT) {
        if (in) add_root(j.run, row[0], 1);
        j.total += n;
        continue;
      }
      sync_warp(ALL);
      if (in) j.w.wait[popc(votes & Warp::below())] = at;
      sync_warp(ALL);
      u64 to = 0;
      const u32 fits = n ? j.reserve(n, to) : 0;
      j.lines(to, fits, [&](u32 r, u32 c) { return x.rows[(u64)j.w.wait[r] * x.width + c]; });
      j.total += fits;
      if (fits < n) {
        const u32 rest = j.w.wait[fits];
        j.leave(rest, end - rest, ~0u, 0);
        j.tell();
        return;
      }
    }
    if (x.often) j.tell();
  }
  j.tell();
}

#endif
