// The candidates of every pattern vertex, for the candidate graph (gMatch, PVLDB 2026, §3).
// First they are the data vertices with the label, the degree and the numbers of neighbours by
// label that the pattern vertex needs. Then, in rounds, those remain that have a candidate of
// each pattern neighbour among their neighbours.
//
// A set of pattern vertices is a word, so each data vertex has one word with the pattern
// vertices that it is a candidate of. The remaining candidates get ranks, in the order of ids.
// So candidates are numbered densely, and a pattern vertex's candidates are in a span of ranks,
// as its label's vertices are in a range of ids.
//
// A round may or may not see marks that other lanes have just removed. In both cases the
// remaining candidates hold every match.
#ifndef FINE_CANDIDATES
#define FINE_CANDIDATES
#include "base/control.cuh"
#include "base/graph.cuh"
#include "base/prepare.cuh"

#define FINE_ROUNDS 8 // of making candidates consistent
#define FINE_QUERY 32 // pattern vertices

// Ids first … end-1.
struct Span {
  u32 first, end;
};

// A least number of neighbours in some spans.
struct Demand {
  u32 adj, spans_at, spans, least;
};

// A pattern vertex.
struct Vertex {
  u32 spans_at, spans;     // of its ids
  u32 demands_at, demands;
  u32 degree, degree_adj;
  u32 bitmap, bitmapped;   // a bitmap of Graph's, if there is one
};

// A pattern edge from one of its ends: v of `from` and w of `to` fit when w is in
// v's list of adj.
struct Edge {
  u32 from, to, adj, unused;
};

// The figures from which the host chooses an order.
struct Survey {
  u32 changed[FINE_ROUNDS];
  u32 first[FINE_QUERY], end[FINE_QUERY]; // the span of a pattern vertex's ranks
  u32 count[FINE_QUERY];                  // its candidates
  u32 overlap[FINE_QUERY];                // which others share a candidate with it
  u64 arcs[1];                            // of each edge
};

// Go's type candidates.
struct Candidates {
  const Vertex* vertices;
  const Span* spans;
  const Demand* demands;
  const Edge* edges;
  const u32* near; // [adjacency][pattern vertex]: those it has an edge of this adjacency to
  u32* marks; // one word for each data vertex: the pattern vertices that it is a candidate of
  u32* alive;      // a data vertex: whether it is a candidate
  const u64* rank; // a data vertex: how many candidates come before it
  u32* ids;        // a rank: its data vertex
  Survey* survey;
  u32 query;       // pattern vertices
  u32 edge_count;
  u32 round;
  u32 unused;
};

// Each lane of a group of 8 takes every 8th neighbour.
typedef Group<8> Team;

// Lists that are read for several pattern edges are this long before a team looks
// between two edges whether to stop.
#define FINE_HUB 4096

// Calls f(i) for i < n, a team an i, whole teams; not for all where the run is to
// stop.
template <class F> DEV void teams_over(const Run& run, u64 n, F f) {
  u32 done = 0;
  for (u64 i = grid_rank() / Team::size(); i < n; i += grid_size() / Team::size()) {
    if ((++done & 15) == 0 && stopped(Team(), run)) return;
    f(i);
  }
}

DEV bool in_spans(const Span* s, u32 n, u32 v) {
  for (u32 i = 0; i < n; i++)
    if (s[i].first <= v && v < s[i].end) return true;
  return false;
}

// Whether v fulfils pattern vertex p's conditions on a single vertex. One lane.
DEV bool fits(const Candidates& c, const Graph& q, const Vertex& p, u32 v) {
  if (!in_spans(c.spans + p.spans_at, p.spans, v)) return false;
  if (p.bitmapped && !bit(q.bits[p.bitmap], v)) return false;
  if (p.degree && degree(adjacency(q, p.degree_adj), v) < p.degree) return false;
  for (u32 i = 0; i < p.demands; i++) {
    Demand d = c.demands[p.demands_at + i];
    Set s = list(adjacency(q, d.adj), v);
    u32 n = 0;
    for (u32 k = 0; k < d.spans && n < d.least; k++) {
      Span r = c.spans[d.spans_at + k];
      n += slice(s, r.first, r.end).n;
    }
    if (n < d.least) return false;
  }
  return true;
}

// marks from conditions on single vertices.
DEV void mark_all(const Candidates& c, const Graph& q, u32 n) {
  for (u64 v = grid_rank(); v < n; v += grid_size()) {
    u32 mine = 0;
    for (u32 p = 0; p < c.query; p++)
      if (fits(c, q, c.vertices[p], (u32)v)) mine |= 1u << p;
    c.marks[v] = mine;
  }
}

// Of the marks of v, those whose pattern neighbours all have a candidate in v's
// lists. Collective.
DEV u32 consistent(const Candidates& c, const Graph& q, Team g, u32 v, u32 mine) {
  for (u32 a = 0; a < W_ADJS && mine; a++) {
    const u32* near = c.near + a * FINE_QUERY;
    u32 wanted = 0, seen = 0;
    for (u32 m = mine; m; m &= m - 1) wanted |= near[ctz(m)];
    if (!wanted) continue;
    Set s = list(adjacency(q, a), v);
    for (u32 i = 0; i < s.n && (wanted & ~seen); i += Team::size()) {
      u32 k = i + g.rank(), there = k < s.n ? load_relaxed(&c.marks[s.p[k]]) : 0;
      seen |= g.either(there);
    }
    for (u32 m = mine; m; m &= m - 1)
      if (near[ctz(m)] & ~seen) mine &= ~(m & (0u - m));
  }
  return mine;
}

// One round; nothing if the round before changed nothing.
DEV void refine(const Run& run, const Candidates& c, const Graph& q) {
  if (c.round && !load_relaxed(&c.survey->changed[c.round - 1])) return;
  Team g;
  teams_over(run, run.vertices, [&](u64 v) {
    u32 mine = g.shfl(load_relaxed(&c.marks[v]), 0);
    if (!mine) return;
    u32 left = consistent(c, q, g, (u32)v, mine);
    if (left != mine && g.leader()) {
      store_relaxed(&c.marks[v], left);
      store_relaxed(&c.survey->changed[c.round], 1u);
    }
  });
}

DEV void note_alive(const Candidates& c, u32 n) {
  for (u64 v = grid_rank(); v < n; v += grid_size()) c.alive[v] = c.marks[v] != 0;
}

// ids, and of the survey all but arcs. Shared memory of 4 * FINE_QUERY words;
// survey->first holds all ones, the rest zeros.
DEV void number(const Candidates& c, u32 n) {
  u32 *first = (u32*)shared(), *end = first + FINE_QUERY, *count = end + FINE_QUERY, *overlap = count + FINE_QUERY;
  if (thread() < FINE_QUERY) {
    first[thread()] = ~0u;
    end[thread()] = count[thread()] = overlap[thread()] = 0;
  }
  sync_block();
  for (u64 v = grid_rank(); v < n; v += grid_size()) {
    u32 mine = c.marks[v];
    if (!mine) continue;
    u32 r = (u32)c.rank[v];
    c.ids[r] = (u32)v;
    for (u32 m = mine; m; m &= m - 1) {
      u32 p = ctz(m);
      atomic_min(&first[p], r);
      atomic_max(&end[p], r + 1);
      atomic_add(&count[p], 1u);
      if (mine & ~load_relaxed(&overlap[p])) atomic_or(&overlap[p], mine);
    }
  }
  sync_block();
  u32 p = thread();
  if (p < FINE_QUERY && count[p]) {
    atomic_min(&c.survey->first[p], first[p]);
    atomic_max(&c.survey->end[p], end[p]);
    atomic_add(&c.survey->count[p], count[p]);
    atomic_or(&c.survey->overlap[p], overlap[p]);
  }
}

// The neighbours of v in adj that are candidates of p. Collective.
template <class A> DEV u32 count_to(const Candidates& c, const A& adj, Team g, u32 v, u32 p) {
  Set s = list(adj, v);
  u32 n = 0;
  for (u32 i = g.rank(); i < s.n; i += Team::size()) n += c.marks[s.p[i]] >> p & 1;
  return g.sum(n);
}

// survey->arcs, of zeros. Shared memory of a double word an edge.
DEV void weigh(const Run& run, const Candidates& c, const Graph& q) {
  u64* arcs = (u64*)shared();
  for (u32 e = thread(); e < c.edge_count; e += threads()) arcs[e] = 0;
  sync_block();
  Team g;
  teams_over(run, c.rank[run.vertices], [&](u64 r) {
    u32 v = c.ids[r], mine = c.marks[v];
    for (u32 e = 0; e < c.edge_count; e++) {
      Edge d = c.edges[e];
      if (!(mine >> d.from & 1)) continue;
      if (degree(adjacency(q, d.adj), v) > FINE_HUB && stopped(g, run)) return;
      u32 found = count_to(c, adjacency(q, d.adj), g, v, d.to);
      if (g.leader() && found) atomic_add(&arcs[e], (u64)found);
    }
  });
  sync_block();
  for (u32 e = thread(); e < c.edge_count; e += threads())
    if (arcs[e]) atomic_add(&c.survey->arcs[e], arcs[e]);
}

#endif
