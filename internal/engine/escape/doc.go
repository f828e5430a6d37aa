// Package escape has the formulas by which all connected patterns of three, four or five vertices
// are counted at once. The formulas are those of ESCAPE (Pinar, Seshadhri and Vishal, ESCAPE:
// efficiently counting all 5-vertex subgraphs, WWW 2017), some of them in another form.
//
// A census adds up Sums, on the processor (engine/host/census) or on a GPU (gpu/census). The
// number of subgraphs of each pattern follows from these (sums.go), and the number of induced
// subgraphs from the numbers of all of them (induced.go). Of one vertex's numbers at the orbits
// of patterns, subgraphs follow from homomorphisms, and induced ones from all (orbits.go).
//
// It knows numbers and patterns. It must not know a graph.
package escape
