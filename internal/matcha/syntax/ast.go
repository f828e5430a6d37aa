package syntax

// File is a program.
type File struct {
	Name  string // of the file, "" for a text
	Body  []Stmt
	Tail  []Comment // after the last statement
	lines []string
	mark  int // bytes of a byte order mark before the first line
}

// Stmt is a statement: Input, Def, Let, Return or Do.
type Stmt interface {
	Pos() Pos
	notes() *Notes
}

// Notes are the comments that belong to a statement.
type Notes struct {
	Above []Comment
	Right string // at the end of its first line
	Blank bool   // an empty line stands before the statement, below its comments
}

func (n *Notes) notes() *Notes { return n }

// Input declares what the program is given.
type Input struct {
	Notes
	At   Pos
	Name string
	Type *Type
}

// Def declares a function.
type Def struct {
	Notes
	At     Pos // of the name
	Name   string
	Params []Param
	Body   []Stmt
}

// Param is a parameter of a function.
type Param struct {
	At   Pos
	Name string
}

// Let names a value.
type Let struct {
	Notes
	At   Pos // of the name
	Name string
	X    Expr
}

// Return gives a function, or the program, its result.
type Return struct {
	Notes
	At Pos
	X  Expr
}

// Do evaluates X for what it does: emit, add, an apply of a function that emits.
type Do struct {
	Notes
	X Expr
}

// Type is a type as written.
type Type struct {
	At     Pos
	Kind   string  // int, float, bool, Tuple, List, Graph
	Lo, Hi *Int    // of int in Lo..Hi, which includes both; nil: not said
	Elem   *Type   // of Tuple and List; of Graph: what is known of its edges, nil: nothing
	N      *Int    // of Tuple: its size; of List: the most items, nil: not said
	Key    *String // of Graph with Elem: the property of edges that it is
}

// Expr is an expression.
type Expr interface{ Pos() Pos }

// Name is a name.
type Name struct {
	At   Pos
	Name string
}

// Int is a whole number. Only behind a minus it may be 2^63.
type Int struct {
	At    Pos
	Value uint64
	Neg   bool // in a type's range: the number is -Value
}

// Float is a number with a fraction.
type Float struct {
	At    Pos
	Value float64
}

// Bool is True or False.
type Bool struct {
	At    Pos
	Value bool
}

// None is the absent condition of apply.
type None struct{ At Pos }

// String is a quoted text, the name of a label.
type String struct {
	At    Pos
	Value string
}

// Unary is - or not.
type Unary struct {
	At Pos
	Op string
	X  Expr
}

// Binary is an operator between two expressions.
type Binary struct {
	At   Pos // of the operator
	Op   string
	X, Y Expr
}

// Call applies an operator of the language or a function of the program.
type Call struct {
	At   Pos
	Func string
	Args []Arg
}

// Arg is an argument, with the parameter's name where it was written.
type Arg struct {
	At   Pos
	Name string
	X    Expr
}

// Lambda is a function without a name.
type Lambda struct {
	At     Pos
	Params []Param
	X      Expr
}

// ListLit is the items of a list.
type ListLit struct {
	At    Pos
	Items []Expr
}

// TypeName is a type as an argument.
type TypeName struct{ Type *Type }

// Pos of a statement is where it begins or, for what has a name, its name.
func (s *Input) Pos() Pos { return s.At }

// Pos of the name.
func (s *Def) Pos() Pos { return s.At }

// Pos of the name.
func (s *Let) Pos() Pos { return s.At }

// Pos of the word return.
func (s *Return) Pos() Pos { return s.At }

// Pos of the expression.
func (s *Do) Pos() Pos { return s.X.Pos() }

// Pos of the name.
func (x *Name) Pos() Pos { return x.At }

// Pos of the number.
func (x *Int) Pos() Pos { return x.At }

// Pos of the number.
func (x *Float) Pos() Pos { return x.At }

// Pos of the word.
func (x *Bool) Pos() Pos { return x.At }

// Pos of the word.
func (x *None) Pos() Pos { return x.At }

// Pos of the opening quote.
func (x *String) Pos() Pos { return x.At }

// Pos of the operator.
func (x *Unary) Pos() Pos { return x.At }

// Pos of the operator.
func (x *Binary) Pos() Pos { return x.At }

// Pos of the name.
func (x *Call) Pos() Pos { return x.At }

// Pos of the word lambda.
func (x *Lambda) Pos() Pos { return x.At }

// Pos of the bracket.
func (x *ListLit) Pos() Pos { return x.At }

// Pos of the type.
func (x *TypeName) Pos() Pos { return x.Type.At }
