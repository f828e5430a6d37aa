// Package census counts all connected patterns of four or five unlabelled vertices at once on GPUs.
//
// Kernels add up the sums of package engine/escape, of which the numbers of all patterns follow. They are the same for all
// graphs, and there is one for each pass over the vertices (kernels.go). A run has all arrays in device memory, or is refused
// (run.go). The host twin is engine/host/census.
//
// It knows adjacency alone. It must not know plans, labels or directions.
package census
