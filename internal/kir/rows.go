package kir

// Functions over rows: sets of positions in a small universe, as bits. A hood is
// the neighbourhood of one vertex, the root: its neighbours are the universe, in
// ascending order, and the row of a position is its neighbours among them.
//
// A function over rows is a lane's, where a lane may be several of a machine's
// that hold each row together: it is written once for rows of every length.
var (
	// RowOnes is every position; RowOf the neighbours of a position; RowMask the
	// positions that mask i of the program allows.
	RowOnes = &Builtin{Name: "row_ones", Params: []Kind{Hood}, Result: T(Row)}
	RowOf   = &Builtin{Name: "row_of", Params: []Kind{Hood, U32}, Result: T(Row)}
	RowMask = &Builtin{Name: "row_mask", Params: []Kind{Hood, U32}, Result: T(Row)}
	// RowAnd is A ∩ B, RowMinus A − B.
	RowAnd   = &Builtin{Name: "row_and", Params: []Kind{Row, Row}, Result: T(Row)}
	RowMinus = &Builtin{Name: "row_minus", Params: []Kind{Row, Row}, Result: T(Row)}
	// RowBelow has the positions below a given one, RowFrom the others;
	// RowWithout all but one, which need not be in the row or universe.
	RowBelow   = &Builtin{Name: "row_below", Params: []Kind{Row, U32}, Result: T(Row)}
	RowFrom    = &Builtin{Name: "row_from", Params: []Kind{Row, U32}, Result: T(Row)}
	RowWithout = &Builtin{Name: "row_without", Params: []Kind{Row, U32}, Result: T(Row)}
	// RowPart has the positions 32i … 32i+31.
	RowPart = &Builtin{Name: "row_part", Params: []Kind{Row, U32}, Result: T(Row)}
	RowSize = &Builtin{Name: "row_size", Params: []Kind{Row}, Result: T(U32)}
	RowAny  = &Builtin{Name: "row_any", Params: []Kind{Row}, Result: T(Bool)}
	RowHas  = &Builtin{Name: "row_has", Params: []Kind{Row, U32}, Result: T(Bool)}
	// Inner is how many neighbours in the universe a position has, where rows are
	// not kept.
	Inner = &Builtin{Name: "inner", Params: []Kind{Hood, U32}, Result: T(U32)}
	// RootCut is how many vertices of the universe have ids below the root's.
	RootCut = &Builtin{Name: "root_cut", Params: []Kind{Hood}, Result: T(U32)}
	// Leave reports whether a walk over a row, at a position, must end because the search is
	// stopped. The count is then partial.
	Leave = &Builtin{Name: "leave", Params: []Kind{Hood, U32}, Result: T(Bool)}
)

// Rows are the functions over rows.
var Rows = []*Builtin{
	RowOnes, RowOf, RowMask, RowAnd, RowMinus, RowBelow, RowFrom, RowWithout, RowPart, RowSize, RowAny, RowHas, Inner, RootCut, Leave,
}

// RowPartBits is how many positions a part of a row has.
const RowPartBits = 32
