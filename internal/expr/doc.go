// Package expr evaluates the expressions of queries over the columns of a graph: conditions and
// returned values. It has the one meaning of NULL, of numbers, texts and ids, and of comparison
// and arithmetic between them. Generated code computes the same from columns as 64-bit words
// (Words).
//
// It knows graphs, and expressions over pattern vertices and edges. It must not know plans.
// Package engine/oracle does not use it, and decides conditions a second time.
package expr
