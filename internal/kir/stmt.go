package kir

// Stmt is a statement.
type Stmt interface{ stmt() }

// Let declares a local.
type Let struct {
	Var  *Var
	Init Expr
}

// Assign stores X in To: a Ref, or a Field or Elem of something writable.
type Assign struct{ To, X Expr }

// If runs Then or Else.
type If struct {
	Cond       Expr
	Then, Else []Stmt
}

// Each runs Body for each element of Over, a Set or a Row, in ascending order;
// a group runs it for the same element in all its lanes.
type Each struct {
	X    *Var
	Over Expr
	Body []Stmt
}

// Loop runs Body for I = Lo … Hi-1.
type Loop struct {
	I      *Var
	Lo, Hi Expr
	Body   []Stmt
}

// SetOp makes a set in the memory at Out and stores the view of it in To. It is a group's work.
// Out has room for the largest result of the operation: Intersect min(|A|, |B|), Subtract and
// Filter |A|, Merge the sum of the pieces. Out overlaps no operand, because whole blocks may be
// written there.
type SetOp struct {
	Op   SetOpKind
	To   Expr
	Out  Expr // writable array of u32
	A, B Expr // B: of Intersect and Subtract; A: of all but Merge
	// Filter keeps the elements X of A for which Keep holds: a lane's work.
	X    *Var
	Keep Expr
	// Merge joins the remaining elements of Pieces.
	Pieces []Piece
}

// Piece is a set without some of its own elements: Run − Gone. Gone is nil, or a
// part of Run. Pieces of one Merge have no element in common.
type Piece struct{ Run, Gone Expr }

// SetOpKind is the operation of a SetOp.
type SetOpKind uint8

// Operations of a SetOp.
const (
	Intersect SetOpKind = iota // A ∩ B
	Subtract                   // A − B
	Filter                     // {X ∈ A : Keep}
	Merge                      // the union of Pieces
)

var setOpNames = [...]string{"intersect", "subtract", "filter", "merge"}

func (o SetOpKind) String() string { return setOpNames[o] }

// Accumulate adds X to To, a number.
type Accumulate struct{ To, X Expr }

// Emit passes a match to the caller of the program.
type Emit struct{ Row []Expr }

// Do evaluates X for its effects.
type Do struct{ X Expr }

// Return leaves the function; X is nil where it has no result.
type Return struct{ X Expr }

// Fail records that the run has failed. Code is a u32 other than 0, whose meaning the maker of
// the program knows. The first recorded code counts. Values that the run computes after it have
// no meaning.
type Fail struct{ Code Expr }

// Comment is a line for the reader of the generated text.
type Comment struct{ Text string }

func (*Let) stmt()        {}
func (*Assign) stmt()     {}
func (*If) stmt()         {}
func (*Each) stmt()       {}
func (*Loop) stmt()       {}
func (*SetOp) stmt()      {}
func (*Accumulate) stmt() {}
func (*Emit) stmt()       {}
func (*Do) stmt()         {}
func (*Return) stmt()     {}
func (*Fail) stmt()       {}
func (*Comment) stmt()    {}
