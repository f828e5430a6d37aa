// Package census counts all connected patterns of three, four or five unlabelled vertices in
// one pass, without plans.
//
// Most patterns of that size are sums over vertices and edges. Each term is a product of a few
// small numbers: degrees, triangles and 4-cycles at a vertex and at an edge, and common
// neighbours of two vertices. Package engine/escape has the formulas.
//
// One pass over the vertices as roots finds all these numbers. A walk to the neighbours'
// neighbours counts what the root shares with every other vertex (walk.go). A bit matrix of the
// root's neighbourhood counts the cliques and near-cliques there (matrix.go). Three and four
// vertices need only half of that (smallpatterns.go). Only sums are kept between roots.
//
// Orbits keep numbers of each vertex instead of sums (orbits.go), and those of five vertices numbers of each edge as well (orbits5.go).
//
// It knows adjacency alone. It must not know plans, labels or directions.
package census
