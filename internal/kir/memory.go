package kir

// Views of memory, an array of u32: parts of it, and words of 8 bytes in it.
//
// Memory belongs to a group. A group function assigns an element of an array parameter, or of a
// view of one, as follows: all lanes have finished their earlier reads, one write is made, and
// all lanes see it afterwards. A lane function writes for itself. Lanes that call it at the
// same time, in a Sum, must each write elsewhere.
var (
	// IDs(a, i, n) is n elements of the memory from a[i] on.
	IDs = &Builtin{Name: "ids", Params: []Kind{Array, U32, U32}, Result: ArrayOf(U32, 0).Writable()}
	// Words(a, i, n) and Floats(a, i, n) are n words in the memory from a[i] on; i is
	// even.
	Words  = &Builtin{Name: "words", Params: []Kind{Array, U32, U32}, Result: ArrayOf(I64, 0).Writable()}
	Floats = &Builtin{Name: "floats", Params: []Kind{Array, U32, U32}, Result: ArrayOf(F64, 0).Writable()}
)

// Shared reports whether x, which is assigned, lies in memory that lanes share: it
// is an element of an array that the function did not declare.
func Shared(x Expr) bool {
	e, ok := x.(Elem)
	if !ok {
		return false
	}
	switch a := e.X.(type) {
	case Ref:
		return a.Var.T.Len == 0
	case Call:
		return true
	}
	return false
}
