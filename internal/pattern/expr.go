package pattern

// Expr is a predicate or value over the vertices and edges of a pattern. Names
// are resolved: references are indexes. Evaluation has three values: anything
// over a missing property is NULL, and a match needs true.
type Expr interface{ isExpr() }

// RefKind is the kind of a Ref's target.
type RefKind uint8

// The kinds of Ref.
const (
	VertexRef RefKind = iota
	EdgeRef
)

// Ref names a vertex or an edge of the pattern by index.
type Ref struct {
	Kind  RefKind
	Index int
}

// Lit is a constant: nil (NULL), bool, int64, float64, string, Timestamp, Duration,
// or []any of these.
type Lit struct{ Value any }

// Param is $name, replaced before planning by SubstituteParams.
type Param struct{ Name string }

// Prop is v.key or e.key.
type Prop struct {
	Of  Ref
	Key string
}

// ID is id(v): the user's id of a vertex. IDs compare as numbers where the
// graph's ids are numbers, as strings otherwise.
type ID struct{ Vertex int }

// Deg is deg(v): the number of distinct neighbours of v in the data graph, in either direction.
type Deg struct{ Vertex int }

// RefExpr is a bare name: only comparable with = and <> to another bare name
// (the same data vertex or edge), and inside ALL_DIFFERENT.
type RefExpr struct{ Of Ref }

// Op is an operator of Unary and Binary.
type Op uint8

// Operators.
const (
	OpNot Op = iota
	OpNeg
	OpIsNull
	OpIsNotNull
	OpAnd
	OpOr
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpMod
	OpIn
)

var opText = [...]string{"NOT", "-", "IS NULL", "IS NOT NULL", "AND", "OR", "=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "IN"}

// String returns the operator as the language writes it.
func (o Op) String() string { return opText[o] }

// Unary is NOT x, -x, x IS NULL or x IS NOT NULL.
type Unary struct {
	Op Op
	X  Expr
}

// Binary is x op y; for OpIn, Y is a List, a Lit holding []any, or a Param.
type Binary struct {
	Op   Op
	X, Y Expr
}

// List is [x, y, …].
type List struct{ Items []Expr }

// AllDifferent is ALL_DIFFERENT(x, y, …) over vertices and edges.
type AllDifferent struct{ Refs []Ref }

// Exists is EXISTS { patterns }. Vertices 0 … len(Outer)-1 of Sub are the vertices Outer[i] of
// the enclosing pattern; the others are Sub's own. Sub has the mode of the enclosing pattern
// unless it names one. Under Iso, Sub's own vertices differ from each other and from Sub's
// outer vertices. A text makes all vertices of the patterns around it outer vertices, even
// those that it does not mention.
type Exists struct {
	Sub     *Pattern
	Outer   []int
	OwnMode bool // the text names Sub's mode
	Apart   bool // in keys: under Iso also from the vertices around it that Outer lacks
}

func (Lit) isExpr()          {}
func (Param) isExpr()        {}
func (Prop) isExpr()         {}
func (ID) isExpr()           {}
func (Deg) isExpr()          {}
func (RefExpr) isExpr()      {}
func (Unary) isExpr()        {}
func (Binary) isExpr()       {}
func (List) isExpr()         {}
func (AllDifferent) isExpr() {}
func (Exists) isExpr()       {}
