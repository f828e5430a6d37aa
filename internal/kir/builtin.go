package kir

// Builtin is a function of the run-time library, which every emitter has. All
// are without effects and depend on their arguments and on globals only.
type Builtin struct {
	Name   string
	Params []Kind
	Result Type
	// Group functions are a group's work.
	Group bool
}

// The run-time library.
var (
	// List is the neighbours of a vertex; Below and Above its neighbours with
	// smaller and with larger ids than its own.
	List  = &Builtin{Name: "list", Params: []Kind{Adj, U32}, Result: T(Set)}
	Below = &Builtin{Name: "below", Params: []Kind{Adj, U32}, Result: T(Set)}
	Above = &Builtin{Name: "above", Params: []Kind{Adj, U32}, Result: T(Set)}
	// Degree is the number of neighbours.
	Degree = &Builtin{Name: "degree", Params: []Kind{Adj, U32}, Result: T(U32)}
	// Adjacent(a, rev, u, v): is v in list(a, u)? rev has the lists seen from
	// the other end; the shorter of the two lists that can tell is searched.
	Adjacent = &Builtin{Name: "adjacent", Params: []Kind{Adj, Adj, U32, U32}, Result: T(Bool)}
	// Bit tests an id in a bitmap.
	Bit = &Builtin{Name: "bit", Params: []Kind{Bits, U32}, Result: T(Bool)}

	// BitAt is Bit for the rows of columns, which may be more than ids.
	BitAt = &Builtin{Name: "bit_at", Params: []Kind{Bits, U64}, Result: T(Bool)}

	// EdgeFirst(a, u, v) and EdgeEnd(a, u, v) are the places first ≤ i < end of v in u's list,
	// among all lists of a. A list may have v more than once. If first = end, the list does not
	// have v.
	EdgeFirst = &Builtin{Name: "edge_first", Params: []Kind{Adj, U32, U32}, Result: T(U64)}
	EdgeEnd   = &Builtin{Name: "edge_end", Params: []Kind{Adj, U32, U32}, Result: T(U64)}

	// EdgeSource(a, n, i) and EdgeTarget(a, i) are the ends of edge i, of an a with lists of n
	// vertices. Place i among all lists of a is in EdgeSource's list.
	EdgeSource = &Builtin{Name: "edge_source", Params: []Kind{Adj, U32, U64}, Result: T(U32)}
	EdgeTarget = &Builtin{Name: "edge_target", Params: []Kind{Adj, U64}, Result: T(U32)}

	// CellInt and CellFloat are a column's value at a row. If the row has none, as HasCell
	// says, the result has no meaning.
	CellInt   = &Builtin{Name: "cell_int", Params: []Kind{Col, U64}, Result: T(I64)}
	CellFloat = &Builtin{Name: "cell_float", Params: []Kind{Col, U64}, Result: T(F64)}
	HasCell   = &Builtin{Name: "has_cell", Params: []Kind{Col, U64}, Result: T(Bool)}
	// FloatMod is the remainder of a division whose quotient is cut to a whole
	// number, exact, with the sign of the dividend.
	FloatMod = &Builtin{Name: "float_mod", Params: []Kind{F64, F64}, Result: T(F64)}

	// Size is the number of elements; Item(a, i) the i-th of them, from 0; Slice the
	// elements lo ≤ x < hi.
	Size     = &Builtin{Name: "size", Params: []Kind{Set}, Result: T(U32)}
	Item     = &Builtin{Name: "item", Params: []Kind{Set, U32}, Result: T(U32)}
	Slice    = &Builtin{Name: "slice", Params: []Kind{Set, U32, U32}, Result: T(Set)}
	Contains = &Builtin{Name: "contains", Params: []Kind{Set, U32}, Result: T(Bool)}
	// Part(a, i, n) is the set of the n ascending values from a[i] on.
	Part = &Builtin{Name: "part", Params: []Kind{Array, U32, U32}, Result: T(Set)}
	// Room is the memory i elements behind the start of an array.
	Room = &Builtin{Name: "room", Params: []Kind{Array, U32}, Result: ArrayOf(U32, 0).Writable()}

	// CountAnd and CountMinus are |A ∩ B| and |A − B|.
	CountAnd   = &Builtin{Name: "intersect_count", Params: []Kind{Set, Set}, Result: T(U32), Group: true}
	CountMinus = &Builtin{Name: "subtract_count", Params: []Kind{Set, Set}, Result: T(U32), Group: true}
)

// Builtins is the whole run-time library.
var Builtins = []*Builtin{
	List, Below, Above, Degree, Adjacent, Bit, BitAt, EdgeFirst, EdgeEnd, EdgeSource, EdgeTarget, CellInt, CellFloat, HasCell, FloatMod, Size, Item, Slice, Contains, Part, Room, CountAnd, CountMinus,
}
