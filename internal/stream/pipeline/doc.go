// Package pipeline finds the matches that updates of a graph add and remove, on a GPU. It is DCSM, chapter 4 of Wei's thesis.
//
// The graph is in device memory, each neighbour list in several versions. One kernel stays on the device. Its updater brings updates
// into the lists, its executors search for the matches of updates that are there, and its collector ends versions that no
// search needs. All three work at the same time, on different updates: kernels/pipeline/flow.cuh tells how.
//
// The package knows plans, changing graphs and devices. It must not know formats of updates, sinks or where updates come from.
package pipeline
