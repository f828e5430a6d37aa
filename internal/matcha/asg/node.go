// Package asg builds the abstract syntax graph of a Matcha program (thesis, section 3.5). Its
// nodes are objects and operators. Its edges go from an operator to its operands. Build makes
// the graph from a program's text, with functions inlined and types inferred.
//
// It must not know data or targets.
package asg

import (
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Op is the kind of a node.
type Op uint8

// Operators. The comments name the arguments.
const (
	Input       Op = iota
	Const          // Words has the value
	Operand        // an item of a list that an Apply goes over
	Neg            // x
	Not            // x
	Arith          // x, y; Name is + - * / %
	Compare        // x, y; Name is == != < <= > >=
	And            // x, y: y is computed only where x is true
	Or             // x, y: y is computed only where x is false
	ToFloat        // x
	MakeTuple      // components
	Part           // tuple; At is the component
	MakeList       // items
	Limit          // list, and perhaps the most items
	Range          // n: 0 … n-1
	MakeGraph      // edges, then labels and informations as At's bits WithLabels and WithInfo say
	Vertices       // graph
	Edges          // graph
	Neighbor       // graph, vertex
	EdgeInfo       // graph, vertex
	VertexLabel    // graph, vertex
	LabelNumber    // graph; Name is the label's
	Subgraph       // input graph; Name is an edge of the pattern language
	Matching       // input graph; Name is a vertex of the pattern language
	Between        // input graph, its vertices u and v; Name is an edge of the pattern language
	Holds          // input graph, its vertices and data edges; Name is conditions of the pattern language
	Apply          // lists
	Intersect      // list, list
	Diff           // list, list
	Sum            // list
	Size           // list

	// Made by passes.

	ApplySum      // lists: the sum of func's results
	ApplySize     // lists: how many items fulfil cond; Func is nil
	IntersectSize // list, list
	DiffSize      // list, list
	Slice         // ascending list, then bounds as At's bits say
	LabelFirst    // input graph, label: the first vertex with it
	LabelEnd      // input graph, label: the vertex behind the last one with it
	Labelled      // graph that is made, vertex, label: the neighbours with it
	Joining       // graph with information, vertex, vertex: the information on the edges from one to the other
	Place         // edge_info or joining, limit, and perhaps a number to add: how many items are below it, as At's bits say
	Window        // list, then places in it: the items from the last of At firsts to the first of the ends

	// Steps.

	NewCounter   // keys
	CounterAdd   // counter, key, number: the count before the addition
	CounterGet   // counter, key
	CounterReset // counter
	Emit         // tuple or Var
)

// Bits of MakeGraph's At.
const (
	WithLabels = 1 << iota
	WithInfo
)

// Bits of Slice's At.
const (
	WithLow    = 1 << iota // items are at least the first bound
	LowOpen                // and not equal to it
	WithHigh               // items are less than the last bound
	HighClosed             // or equal to it
)

// Closed is the bit of Place's At: items that are equal to the limit are below it too.
const Closed = 1

var opNames = [...]string{
	"input", "const", "operand", "neg", "not", "arith", "compare", "and", "or", "to_float", "mk_tuple", "get", "mk_list",
	"limit", "range", "mk_graph", "vertices", "edges", "neighbor", "edge_info", "vertex_label", "label", "subgraph", "matching", "between", "holds", "apply",
	"intersect", "diff", "sum", "size", "apply_sum", "apply_size", "intersect_size", "diff_size", "slice", "label_first",
	"label_end", "labelled", "joining", "place", "window", "counter", "add", "count", "reset", "emit",
}

func (o Op) String() string { return opNames[o] }

// Step reports whether the effect of o depends on earlier steps.
func (o Op) Step() bool { return o >= NewCounter }

// Node is an object or an operator.
type Node struct {
	ID   int
	Op   Op
	Type *types.Type
	Args []*Node
	// Home is the function in whose body the node is computed.
	Home *Func
	// Func and Cond belong to an Apply, ApplySum or ApplySize. Cond is nil if all items count.
	Func, Cond *Func
	// Words is the value of a Const.
	Words []types.Word
	Name  string
	At    int
	// Given is the name that the program gives the value, "" for none.
	Given string
	Pos   syntax.Pos
	// Effects says that an Apply or ApplySum must run even if nothing reads its result, and in
	// its place among the steps.
	Effects bool
	// Parallel says that the items of the outermost list that the node goes over may
	// be taken by several workers at once, in any order.
	Parallel bool
}

// Func is the body of a function that Apply runs for each item, or the program.
type Func struct {
	Parent   *Func // nil: the program
	Operands []*Node
	// Steps are done in their order, each time that the function runs.
	Steps  []*Node
	Result *Node // nil: nothing
}

// Program is a program as a graph.
type Program struct {
	Name   string
	Inputs []*Node
	Main   *Func
	// Keys are the properties that are the information on the edges of inputs.
	Keys []Key
	// Row is the type of emitted rows, nil if the program emits none.
	Row *types.Type
	// File is the program's text, for errors at run time.
	File *syntax.File
	// Texts are the texts of the pattern language, in their order, which this package
	// does not read.
	Texts []Text
	nodes int
}

// Key is the property of edges that an input graph is declared with.
type Key struct {
	Input, Property string
	At              syntax.Pos // of the quote before it
}

// Text is a text of the pattern language in a program.
type Text struct {
	Of   string // the operator: subgraph, vertices, between or holds
	Text string
	At   syntax.Pos // of the quote before it
}

// Nodes is a number larger than all nodes' IDs.
func (p *Program) Nodes() int { return p.nodes }

// Add makes a node of the program.
func (p *Program) Add(n Node) *Node {
	n.ID = p.nodes
	p.nodes++
	return &n
}

// Within reports whether f is outer, or inside of it.
func (f *Func) Within(outer *Func) bool {
	for ; f != nil; f = f.Parent {
		if f == outer {
			return true
		}
	}
	return false
}

// Depth is the number of functions around f.
func (f *Func) Depth() (n int) {
	for f = f.Parent; f != nil; f = f.Parent {
		n++
	}
	return n
}
