// Package kir is the kernel IR: small typed programs of loops, set operations, checks and
// bounds. Package lower makes them of plans, and the Matcha compiler of its programs. Emitters
// write them as text for a compiler, and an interpreter runs them.
//
// A program is a list of functions over globals that never change while it runs (neighbour
// lists, bitmaps, columns, id limits). A function runs in the scope of one lane, or of a thread
// group. In a group all lanes hold the same values, and work together inside set operations. An
// operation that takes a predicate (a filter, a count) runs that predicate one lane at a time.
//
// Passes rewrite programs, one in each file. Verify checks the rules of every program, and
// emitters may rely on them.
//
// The package must not know graphs, patterns, plans or devices.
package kir
