// Package census counts all connected patterns of three, four or five
// unlabelled vertices at once, without plans.
//
// Most patterns of that size are sums over vertices and edges of products of a
// few small numbers (degrees, triangles and 4-cycles at a vertex and at an edge,
// neighbours that two vertices share), less the products in which two vertices
// coincide; the formulas are those of ESCAPE (Pinar, Seshadhri and Vishal,
// ESCAPE: efficiently counting all 5-vertex subgraphs, WWW 2017), some of them
// in another form. One pass over the vertices as roots finds all these numbers:
// walking to the neighbours' neighbours gives what the root shares with every
// other vertex (walk.go), and a bit matrix of its neighbourhood gives the cliques
// and near-cliques there (matrix.go). Three and four vertices need only half of
// that (smallpatterns.go). Nothing is kept between roots but the sums
// (sums.go); induced counts follow from the others by arithmetic (induced.go).
//
// It knows adjacency alone and must not know plans, labels or directions.
package census
