package kir

// Expr is an expression: a value of a type. Expressions have no effects, except an Invoke of a
// function that writes the memory of its arguments, emits or fails.
type Expr interface{ Type() Type }

// Const is a constant: Bits holds an integer, 0 or 1, or the bits of an F64.
type Const struct {
	T    Type
	Bits uint64
}

// Var is a parameter, a local or a loop's variable; identity is by pointer.
type Var struct {
	Name string
	T    Type
	// Out marks a parameter that the function assigns and the caller reads.
	Out bool
}

// Ref reads a variable.
type Ref struct{ Var *Var }

// Global reads one of the program's globals.
type Global struct{ G *GlobalDef }

// Field reads a field of a record.
type Field struct {
	X    Expr
	Name string
}

// Elem reads element I of an array.
type Elem struct{ X, I Expr }

// Unary is Op X.
type Unary struct {
	Op Op
	X  Expr
}

// Binary is X Op Y; both have the same type (a shift's count is a u32).
type Binary struct {
	Op   Op
	X, Y Expr
}

// Select is Then where If holds, and Else otherwise. Only the chosen side is
// evaluated.
type Select struct{ If, Then, Else Expr }

// Convert is X as another number type.
type Convert struct {
	T Type
	X Expr
}

// Call is a run-time function.
type Call struct {
	Fn   *Builtin
	Args []Expr
}

// Invoke is a function of the program. Where Fn has Out parameters the
// arguments there are assignable.
type Invoke struct {
	Fn   *Func
	Args []Expr
}

// Count is the number of elements X of Over for which Keep holds. It is a
// group's work; Keep is a lane's.
type Count struct {
	Over Expr
	X    *Var
	Keep Expr
}

// Sum is Σ Value, a u64, over the elements X of Over. It is a group's work; Value
// is a lane's.
type Sum struct {
	Over  Expr
	X     *Var
	Value Expr
}

// Op is an operator. Every operator has a value for all operands: interpreters and texts agree on them.
//
//   - Whole numbers wrap.
//   - A whole number divided by 0, or modulo 0, is 0. Fractions divide as IEEE 754 says.
//   - The least I64 divided by -1 is itself, and 0 modulo -1.
//   - A shift by as many bits as a number has, or more, gives 0. Only an I64 below 0 that is shifted to the right
//     gives -1.
type Op uint8

// Operators.
const (
	Add Op = iota
	Sub
	Mul
	Div
	Mod
	BitAnd
	BitOr
	Shl
	Shr
	Min
	Max
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	And // both sides are evaluated only where needed, as for Or
	Or
	Not
	Neg
)

var opNames = [...]string{"+", "-", "*", "/", "%", "&", "|", "<<", ">>", "min", "max", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "!", "-"}

func (o Op) String() string { return opNames[o] }

// comparison reports whether o makes a Bool of two values.
func (o Op) comparison() bool { return o >= Eq && o <= Ge }

// Type of a constant.
func (x Const) Type() Type { return x.T }

// Type of a variable.
func (x Ref) Type() Type { return x.Var.T }

// Type of a global.
func (x Global) Type() Type { return x.G.Type() }

// Type of the field, writable where the record is.
func (x Field) Type() Type {
	t := x.X.Type()
	f, _ := t.Record.Field(x.Name)
	if f.Type.Kind == Array {
		f.Type.Mut = t.Mut
	}
	return f.Type
}

// Type of the element.
func (x Elem) Type() Type { return T(x.X.Type().Elem) }

// Type of the result: a Bool's or the operand's.
func (x Unary) Type() Type { return x.X.Type() }

// Type of the result: Bool for comparisons and logic, else the left operand's.
func (x Binary) Type() Type {
	if x.Op.comparison() || x.Op == And || x.Op == Or {
		return T(Bool)
	}
	return x.X.Type()
}

// Type of both sides.
func (x Select) Type() Type { return x.Then.Type() }

// Type converted to.
func (x Convert) Type() Type { return x.T }

// Type of the function's result.
func (x Call) Type() Type { return x.Fn.Result }

// Type of the function's result.
func (x Invoke) Type() Type { return x.Fn.Result }

// Type of a sum is u64.
func (Sum) Type() Type { return T(U64) }

// Type of a count is u32.
func (Count) Type() Type { return T(U32) }
