// Package large counts and lists the embeddings of large labelled patterns (up
// to 64 vertices): the method of the host engine for queries where the order
// of the search matters more than the speed of one set intersection.
//
// A run has three steps.
//
//   - Filtering (filter.go, refine.go): a candidate set for every pattern vertex, from
//     label, degree and neighbour labels, made arc-consistent until nothing
//     changes. This is the candidate space of GraphQL (He and Singh, SIGMOD'08)
//     and DAF (Han et al., SIGMOD'19). A count then decides the vertices with one
//     candidate (propagation.go): what follows is about the others.
//   - The candidate graph (space.go): pattern vertices that may share a data
//     vertex share one small universe of candidates, and every pair of adjacent
//     pattern vertices gets a bit matrix between their universes, so that the
//     candidates of a vertex are the AND of one row per matched neighbour: a
//     worst-case-optimal join on bits.
//   - The search: backtracking with forward checking (state.go) in an order
//     chosen anew at each step (order.go). A count (count.go) splits what is
//     left into independent components at every step and multiplies (Bayardo
//     and Pehoushek, AAAI'00), remembers the counts of components by content
//     (Sang et al., SAT'04; the fingerprints of Sharma et al., IJCAI'19), and
//     closes groups of vertices whose neighbours are all matched by
//     inclusion–exclusion (leaves.go). A listing (list.go) enumerates. Both skip
//     the rest of a vertex's candidates when a failure did not involve that
//     vertex: the failing sets of DAF, the conflict-directed backjumping of
//     Prosser (1993).
//
// The package works from the plan's checks alone: the levels are variables, in
// no particular order. It knows nothing of the pattern language and of the
// other methods.
package large
