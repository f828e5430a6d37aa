// Package syntax reads and writes the text of Matcha programs. Lines and indentation become
// tokens, and tokens become a tree. A tree is written back in one canonical form.
//
// It must not know types or what a program means. docs/matcha.md has the grammar.
//
// The language is that of the thesis on Matcha (Y. Wei, Runtime and compiler optimizations for
// subgraph matching algorithms on GPUs, University of Iowa, 2026, chapter 3, section 3.4), with
// declared inputs, let, emit and Counter added.
package syntax
