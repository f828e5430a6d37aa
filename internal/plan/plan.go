// Package plan holds the plans that all engines run. A plan is a connected matching order with,
// for each level, two views of the same constraint. The checks say which candidates pass, one
// by one. The set program says how the candidate set is made of neighbour lists and of sets
// that exist already. Every engine runs one of the two views, and none derives them again from
// the pattern.
//
// This package has only the types and their meaning. The packages below it make plans:
//
//	bind     pattern to graph: labels, predicates, relations, edge choices
//	sets     restrictions, the set program with code motion, the tail
//	checks   runs the checks view
//	cost     statistics, random walks, prices
//	order    matching orders, one rule a file
//	formula  counts as arithmetic over smaller counts
//	planner  Compile: the choice of an order and of a method
//	explain  plans as text and as JSON
//
// It must not know engines.
package plan

import (
	"context"
	"math/big"
	"time"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// Plan is how to find the embeddings of one pattern in one graph.
type Plan struct {
	Graph   *graph.Graph
	Pattern *pattern.Pattern
	Mode    pattern.Mode
	Induced bool

	// Order[i] is the pattern vertex matched at level i; LevelOf is its inverse.
	Order   []int
	LevelOf []int
	// OrderName says which rule made the order: ri, gsi, geneva, cost, join, tests, given.
	OrderName string
	Levels    []Level

	// Adjs are the neighbour lists that levels and sets refer to by index.
	Adjs []Adjacency
	// Sets is the set program in the order of evaluation (non-decreasing At).
	// Plans for the method Large have it, and the tail, only with
	// Options.Estimates: that method makes its own sets.
	Sets []Set
	// Tail is how the last levels are counted without being enumerated. It
	// holds only for counting: a listing enumerates every level.
	Tail Tail
	// NoTail asks an engine that orders levels by itself to close none by arithmetic.
	NoTail bool

	// Edges are the choices of data edges that make embeddings of their own:
	// named edges, and every edge in Trail mode. Empty for a plain pattern.
	Edges []EdgeChoice

	// Aut is |Aut| of the pattern with everything attached.
	Aut *big.Int
	// Restricted plans find each subgraph exactly once: embeddings = matches ×
	// Aut. Other plans find every embedding.
	Restricted bool
	// Rooted plans count per vertex at level 0 (participation): restrictions
	// break only the symmetries that fix level 0's vertex.
	Rooted bool

	// Method is how engines should count: Nest always works.
	Method Method
	// Timed replaces the levels' sets when Method is Temporal.
	Timed *TimeProgram
	// Formula, if not nil, gives the number of embeddings by arithmetic over
	// other plans; counting with Method Decomposed runs it.
	Formula *Formula
	// Price is the estimated work of a method other than the nest, in set
	// elements; 0: see the levels.
	Price float64
	// JoinTime is how long engine join is expected to take on a GPU; 0: the plan was not made for it by
	// JoinOnGPU or EitherOnGPU.
	JoinTime time.Duration
	// SemijoinTime is how long semijoins for this query are expected to take, and with them a plan for another engine of
	// GPUs; 0: as for JoinTime.
	SemijoinTime time.Duration
	// OnHost is how long engines of the processor are expected to take; nil: it was not asked, because only a nest
	// comes into question.
	OnHost *HostTimes
	// NoJoin says why EitherOrder did not compare engine join of the processor with other engines; "": it did, or nobody asked.
	NoJoin string
	// Why says in a sentence why this order and method were chosen.
	Why string
	// Empty is non-nil when no embedding can exist (an unknown label, say); it
	// says why, as a note for the user.
	Empty *EmptyReason
	// Warnings for the user: properties that no vertex has, and the like.
	Warnings []string

	// Reduction is not nil where candidates were reduced by semijoins or by the labels of edges; Bits of levels then
	// say what is left.
	Reduction *Reduction

	// Shared holds the data that the plan shares with the plans of its sub-patterns.
	Shared *Shared
}

// Reduction tells what is left of the candidates: those with a neighbour in the relation of each link or, after
// semijoins, with neighbours among the candidates of each neighbour in the pattern.
type Reduction struct {
	Before, After []int   // the numbers of candidates, by vertex of the pattern
	Reads         float64 // list entries that semijoins were expected to read
	// Own are the Bits of predicates, by vertex of the pattern.
	Own [][]uint64
	// Joined: semijoins left these, and not only the test that a vertex has a neighbour in each relation.
	Joined bool
}

// By returns the words for what reduced the candidates, in the plural: semijoins, or the edges' labels.
func (r *Reduction) By() string {
	if r.Joined {
		return "semijoins"
	}
	return "edge labels"
}

// EmptyReason says why a plan can match nothing.
type EmptyReason struct{ Text string }

// Adjacency is one kind of neighbour list: a relation seen in one direction.
type Adjacency struct {
	Lists *graph.Handle
	Name  string // for explain: "N", "N+", "N-", "N[:FOLLOWS]+"
	// Filters returns texts of the pattern language, for the brackets of an edge, that accept
	// the relation's data edges. There is one text if a pattern can ask for such edges; ""
	// accepts all edges. A relation that INDUCED forbids may need several texts, each for a
	// part of it.
	Filters func() ([]string, error)
	// Only, if not nil, says that the lists are those of the edges of one label, whatever else
	// they have.
	Only *EdgeLabel
	// Rev is the index of the same relation seen from the other end; equal to
	// the own index for a symmetric relation.
	Rev int
}

// EdgeLabel is the edges of one label as one of their ends sees them.
type EdgeLabel struct {
	Label uint32 // an index into Graph.EdgeLabels, or graph.NoLabel
	In    bool   // against their direction; false in an undirected graph
	Both  bool   // either way, in a directed graph
}

// Level holds the constraints on the vertex matched at one level.
type Level struct {
	Vertex int // pattern vertex; equal to Order[level]

	// Back are the backward neighbours: candidate c passes when c is (not, if
	// Neg) in the list of m[Level] in Adjs[Adj]. At least one is positive, except at
	// level 0 and at the first level of a further component (allowed products).
	Back []Back
	// Ranges are the id ranges that the label allows, sorted and disjoint; nil:
	// every vertex.
	Ranges []Range
	// Bits are the vertices that pass the predicates on this vertex alone; nil:
	// no such predicate. A bitmap over all internal ids.
	Bits []uint64
	// MinDegree is the least number of neighbours in Adjs[MinDegreeAdj] that a
	// candidate needs (0: none).
	MinDegree    int
	MinDegreeAdj int

	// Below and Above are restrictions: m[this] < m[j] for j in Below, > for j
	// in Above. All are earlier levels.
	Below, Above []int
	// Distinct are earlier levels whose vertex could equal this one by all the
	// above and must not (Iso).
	Distinct []int

	// Set is the index in Sets of this level's candidate set, -1 at level 0 and
	// at the first level of a further component. The set honours Back, and
	// those bounds and ranges that its nodes name; the level's own Below, Above,
	// Ranges, Bits, Distinct and Checks still apply on top.
	Set int
	// Checks are predicates that are known only now: over this vertex and
	// earlier ones.
	Checks []Check

	// Estimate is the expected number of partial matches at this level, and
	// Cost the expected work to make them (set elements read).
	Estimate, Cost float64
	// Rows is the expected number of rows that a join makes of this level if it merges those that nothing later tells apart, and Left
	// the number that a merge leaves of them; 0: it was not asked.
	Rows, Left float64
}

// Back is one backward neighbour of a level.
type Back struct {
	Level int
	Adj   int
	Neg   bool
}

// Range is the vertex ids First ≤ v < End.
type Range struct{ First, End uint32 }

// SetOp is the operation of a set node.
type SetOp uint8

// Operations of the set program.
const (
	SetList  SetOp = iota // N_Adj(m[Of])
	SetAnd                // Base ∩ N_Adj(m[Of])
	SetMinus              // Base − N_Adj(m[Of])
)

// Set is one node of the set program. It can be computed as soon as m[At] is
// bound, and is kept until m[At] changes: that is the code motion.
type Set struct {
	Op   SetOp
	Base int // index of a node; for SetAnd and SetMinus
	Adj  int
	Of   int // level whose neighbour list is read
	At   int // level after which the node is computed: max over its operands
	// Range limits the node to a label's id range; zero End: no limit.
	Range Range
	// Below and Above are levels ≤ At whose vertex bounds the node's elements.
	Below, Above []int
	// SizeOnly: counting needs only the number of elements (a tail's last node).
	SizeOnly bool
	Estimate float64 // expected size
}

// Tail says how arithmetic counts the last K levels.
//
//   - K = 0: every level is enumerated.
//   - K = 1: the last level's count is the size of a set.
//   - K > 1: the last K levels are pairwise independent, and their sets depend on earlier
//     levels only.
//
// Groups defines the count. Where K ≤ 5, Terms writes it as a sum of products of sizes: the
// number of choices is Σ Terms / Divisor. Where K > 5 that sum would be too long, so Terms is
// nil and Divisor is 0. An engine then evaluates Groups, or refuses the plan.
type Tail struct {
	K int
	// Groups are the last K levels. Levels with the same candidates form one group. Groups are
	// in the order of their first levels, and there are at most five.
	//
	// Under Iso, a choice takes len(Levels) vertices from each group's set. No vertex is taken
	// twice in all groups together, and none that an earlier level holds. Under Hom vertices
	// may recur: the number of choices is Π |set|^len(Levels).
	Groups []TailGroup
	Terms  []TailTerm
	// Divisor is the number of orders of interchangeable tail vertices that
	// restrictions would have removed.
	Divisor int64
}

// MaxTail is the largest number of levels that inclusion–exclusion over partitions closes; five
// levels have 52 partitions. For tails of more levels it is the largest number of groups; five
// sets have 31 intersections.
const MaxTail = 5

// TailGroup is levels of the tail that have the same candidates: the same Set,
// Ranges, Bits, and bounds by levels before the tail.
type TailGroup struct {
	Levels []int // ascending
	// Ordered says that restrictions order the group's vertices completely. A choice is then a
	// set, and counts once; otherwise each sequence counts.
	Ordered bool
}

// TailTerm is Coef × Π over blocks of |∩ of the block's levels' sets|.
type TailTerm struct {
	Coef   int64
	Blocks [][]int // levels
}

// EdgeChoice binds a pattern edge to a data edge once both ends are matched.
type EdgeChoice struct {
	Edge     int // index into Pattern.Edges
	From, To int // levels
	// At is the level from which the edge can be chosen. By then both ends are matched, and so
	// is everything that its conditions compare it with.
	At int
	// Rows calls yield with the edge id of each data edge from u to v that the
	// pattern edge accepts, until yield returns false. Ids of the same data edge
	// are equal whichever way it is seen.
	Rows func(u, v uint32, yield func(id uint64) bool)
	// Either: Rows has the data edges from v to u too.
	Either bool
	// Checks are predicates that are known once this edge is chosen.
	Checks []Check
	// Filter is a text of the pattern language, for the brackets of an edge, that accepts the
	// data edges which the choice may take. "" accepts all of them.
	Filter string
	// Accepted returns the data edges that the choice may take: a bit a row of the edge
	// table, nil where it takes every edge. In a graph without an edge table a choice
	// takes all or none.
	Accepted func() []uint64
}

// Check is a predicate over levels' vertices and chosen edges (indexes into
// Plan.Edges). Expr says it over the pattern's vertices and edges.
type Check struct {
	Text string
	Expr pattern.Expr
	Eval func(m []uint32, e []uint64) bool
	Cost int // the number of comparisons of one Eval at most, about
	// InTime: it is part of ORDERED or WITHIN, which Plan.Timed says as well.
	InTime bool
	// Outside: it is of the whole graph, of which the plan's is a part, so that only Eval says it.
	Outside bool
}

// HostTimes are the times that a nest and a join are expected to take for a plan on one thread of the processor.
type HostTimes struct{ Nest, Join time.Duration }

// Method is a way to count.
type Method uint8

const (
	// Nest is the loop nest over the set program with the counting tail.
	Nest Method = iota
	// Local keeps the neighbourhood of level 0's vertex as a bit matrix: all
	// other vertices are its neighbours but at most one, which is level 1.
	Local
	// Large is candidate filtering with an adaptive order and pruning of dead
	// subtrees, for large labelled patterns.
	Large
	// Decomposed evaluates Formula.
	Decomposed
	// Temporal extends edges in windows of time, as Timed says.
	Temporal
	// Walks counts closed walks: homomorphisms of a cycle.
	Walks
)

// String names the method as explain prints it.
func (m Method) String() string {
	return [...]string{"nest", "local", "large", "formula", "temporal", "walks"}[m]
}

// Options choose among plans.
type Options struct {
	// Order is auto (or ""), ri, gsi, geneva, cost, join, tests, or given with Given. Join reduces
	// candidates by semijoins before the order is chosen, where relations are small enough for that to
	// pay. EitherOrder, JoinOnGPU and EitherOnGPU choose among these.
	Order string
	Given []int // pattern vertices in matching order
	// Embeddings asks for a plan that enumerates every embedding (no
	// restrictions); the default breaks symmetry under Iso.
	Embeddings bool
	// Listing plans have no counting tail.
	Listing bool
	// Root ≥ 0 asks for a rooted plan with that pattern vertex at level 0. Use
	// NoRoot otherwise.
	Root int
	// Params are the values of $name.
	Params map[string]any
	// NoTail, NoMotion and NoRestrictions switch techniques off for ablation.
	NoTail, NoMotion, NoRestrictions bool
	// Method forces a method: "" (the plan's choice), nest, local, large, formula, temporal.
	Method string
	// AllowProduct permits disconnected patterns.
	AllowProduct bool
	// Merges says that engine join will merge rows that nothing later tells apart, so that Order join prefers orders with few of them.
	Merges bool
	// Estimates asks for estimates of the levels also where the choice of a plan
	// does without.
	Estimates bool
	// Quick plans trust the model of the graph and make next to no random walks.
	Quick bool
	Seed  uint64
	// Threads are how many planning and the search may use; 0: one. The plan depends on their number only in whether
	// semijoins come first, which searches by many threads gain less from.
	Threads int
	// Context, if not nil, ends planning: Compile then returns its cause, soon.
	Context context.Context
	// Of, if not nil, is the graph of which the plan's is a part. deg() and EXISTS are of that.
	Of *Whole
}

// Whole is a graph, and the vertices of it that a part of it has, by the part's own; nil: all, with the same numbers.
type Whole struct {
	Graph    *graph.Graph
	Vertices []uint32
}

// Vertex is the number in the whole graph of a vertex of the part.
func (w *Whole) Vertex(v uint32) uint32 {
	if w.Vertices == nil {
		return v
	}
	return w.Vertices[v]
}

// Looks reports whether a condition looks at more of a graph than its vertices and the edges among them.
func Looks(x pattern.Expr) (found bool) {
	pattern.Walk(x, func(x pattern.Expr) bool {
		switch x.(type) {
		case pattern.Deg, pattern.Exists:
			found = true
		}
		return !found
	})
	return found
}

// Values of Options.Order that callers give for engines, and users do not.
const (
	// EitherOrder is for a caller that has an engine for either kind of plan: of OrderName join, and of others.
	EitherOrder = "either"
	// JoinOnGPU is for engine join on a GPU. It is join where semijoins are expected to take less time than they save
	// there, and gsi where they are not.
	JoinOnGPU = "join on a GPU"
	// MergeOrder is join, and MergeOnGPU is JoinOnGPU, with Options.Merges.
	MergeOrder = "join with merges"
	MergeOnGPU = "join with merges on a GPU"
	// EitherOnGPU is EitherOrder where JoinOnGPU takes the place of join.
	EitherOnGPU = "either on a GPU"
)

// Ended reports whether the plan is no longer wanted. A search for a better plan then stops
// with the best so far, which Compile throws away.
func (o *Options) Ended() bool { return o.Context != nil && o.Context.Err() != nil }

// NoRoot is the Options.Root of a plan that is not rooted.
const NoRoot = -1
