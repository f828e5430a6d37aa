// Package large counts and lists the embeddings of large labelled patterns, of up to 64
// vertices. It is a method of the host engine, for queries where the order of the search
// matters more than the speed of one set intersection.
//
// A run has three steps.
//
//   - Filtering (filter.go, refine.go) makes a candidate set for every pattern vertex from
//     label, degree and neighbour labels, and makes the sets arc-consistent until nothing
//     changes. This is the candidate space of GraphQL (He and Singh, SIGMOD'08) and DAF (Han et
//     al., SIGMOD'19). A count then fixes the vertices that have one candidate
//     (propagation.go); the next steps are about the others.
//   - The candidate graph (space.go) numbers the candidates. Pattern vertices that may share a
//     data vertex share one small universe of candidates. Every pair of adjacent pattern
//     vertices gets a bit matrix between their universes. The candidates of a vertex are then
//     the AND of one row for each matched neighbour: a worst-case-optimal join on bits.
//   - The search is backtracking with forward checking (state.go), in an order chosen anew at
//     each step (order.go). A count (count.go) splits the unmatched vertices into independent
//     components at every step and multiplies their counts (Bayardo and Pehoushek, AAAI'00). It
//     remembers the counts of components by content (Sang et al., SAT'04; the fingerprints of
//     Sharma et al., IJCAI'19). It closes groups of vertices whose neighbours are all matched
//     by inclusion–exclusion (leaves.go). A listing (list.go) enumerates. Both skip the rest of
//     a vertex's candidates when a failure did not involve that vertex: the failing sets of
//     DAF, the conflict-directed backjumping of Prosser (1993).
//
// The package works from the plan's checks alone. The levels are variables, in no particular
// order. It must not know the pattern language or the other methods.
package large
