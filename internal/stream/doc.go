// Package stream reads, writes and applies updates of a graph, one at a time and in their order.
//
// It knows formats of updates, and the changing graph that they are applied to. It must not know patterns or matches.
package stream
