// Package kir is the kernel IR: small typed programs of loops, set operations,
// checks and bounds, between whatever describes a search (a plan, a Matcha
// program) and the text or interpreter that runs it.
//
// A program is a list of functions over globals that never change while it runs
// (neighbour lists, bitmaps, columns, id limits). A function runs at the scope
// of one lane, alone, or of a thread group: then all lanes of the group hold the
// same values, and work together inside set operations. Whatever takes a
// predicate (a filter, a count) runs that predicate a lane at a time.
//
// The package knows nothing of graphs, patterns, plans or devices. Passes
// rewrite programs, one a file; Verify says what every program must hold to,
// and emitters may rely on it.
package kir
