package kir

// Views of memory, an array of u32: parts of it, and words of 8 bytes in it.
//
// Memory is a group's: where a group function assigns an element of an array that
// it was given, or of a view of one, all lanes have read what they read before,
// one write is made, and all lanes see it afterwards. A lane function writes for
// itself; where lanes call it at once, in a Sum, each must write elsewhere.
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
