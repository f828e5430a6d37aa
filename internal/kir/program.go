package kir

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// Program is functions over globals.
type Program struct {
	Name string
	Doc  string // lines for the head of the generated text
	// Defines are named whole numbers of the text, for device code around it.
	Defines []Define
	Globals []*GlobalDef
	Types   []Alias // names of types for outside code
	Records []*Record
	// Owners are the types whose members functions are: Level<0>, Level<1>, …
	Owners []Owner
	Funcs  []*Func // in the order of definition: callees first
	// Places are the codes with which statements fail if Assert finds an access outside of
	// memory. A statement without a code has that of the statement before it. nil means no
	// codes.
	Places map[Stmt]uint32
}

// Define is a named whole number.
type Define struct {
	Name  string
	Value uint64
}

// Alias is a type by another name.
type Alias struct {
	Name string
	Type Type
}

// Owner names a member's type: an index of a family.
type Owner struct {
	Family string // "": a free function
	Index  int
	Doc    string
	Consts []Define
}

// Scope says whether one lane or a thread group runs a function.
type Scope uint8

// Scopes of functions.
const (
	Lane  Scope = iota // each lane for itself
	Group              // all lanes of a thread group together, with equal values
)

func (s Scope) String() string { return [...]string{"lane", "group"}[s] }

// Func is a function. Globals are at hand in every function.
type Func struct {
	Name   string
	Family string // "" or the family of its owner
	Index  int    // of its owner
	Doc    string
	Scope  Scope
	Params []*Var
	Result Type
	Body   []Stmt
	// Rare: it is seldom called, so that a copy of it at every call is not worth
	// the time to compile it.
	Rare bool
	// Indivisible: it is a FetchAdd.
	Indivisible bool
}

// GlobalDef is data that does not change while the program runs. Which fields
// hold it depends on the kind:
//
//	Adj   Off, Adj and perhaps First (where in Adj the ids above a list's own
//	      vertex begin); Oriented says that the program cuts lists there.
//	      Or Sparse and Adj
//	Bits  Words
//	U32   Value: a limit of ids
//	Array Adj: u32 values
//	Col   Words: values (I64 or the bits of F64, as Elem says); Valid: a bit a
//	      row, nil where no value is missing
//
// Of is the identity of data that lasts longer than the program: a device may keep its
// copy for later runs.
type GlobalDef struct {
	Name     string
	Kind     Kind
	Elem     Kind
	Index    int // among the globals of its kind
	Off      []uint64
	Adj      []uint32
	First    []uint64
	Sparse   *Sparse
	Oriented bool
	Words    []uint64
	Valid    []uint64
	Value    uint32

	Of Identity
}

// Identity names immutable data. The zero value names nothing: the data is the
// program's own.
type Identity struct {
	// ID is the number of a relation or column, and Version the number of its state. Part is
	// the number of one of the parts in which a relation is stored.
	ID, Version uint64
	Part        int
}

// Sparse is the index of neighbour lists of which few vertices have any: it has no offset for each vertex. Row i's list is
// Adj[Off[i]:Off[i+1]], and the row of a vertex is found by levels of bitmaps, as graph.SparseIndex describes.
type Sparse struct {
	Vertices, Levels int
	Words, Off       []uint32
}

// Row returns the row of a vertex that has a list.
func (s *Sparse) Row(v uint32) uint32 {
	row, _ := s.row(v)
	return row
}

// row returns the row of v, if it has a list.
func (s *Sparse) row(v uint32) (row uint32, ok bool) {
	row = uint32(uint64(v) >> (6 * s.Levels))
	for k := s.Levels - 1; k >= 0; k-- {
		w := s.Words[4*row:]
		has, bit := uint64(w[0])|uint64(w[1])<<32, v>>(6*k)&63
		if has>>bit&1 == 0 {
			return 0, false
		}
		row = w[2] + uint32(bits.OnesCount64(has&(1<<bit-1)))
	}
	return row, true
}

// Vertices returns the number of vertices of a global of kind Adj.
func (g *GlobalDef) Vertices() int {
	if g.Sparse != nil {
		return g.Sparse.Vertices
	}
	return len(g.Off) - 1
}

// List returns the neighbours of v in a global of kind Adj.
func (g *GlobalDef) List(v uint32) []uint32 {
	if s := g.Sparse; s != nil {
		row, ok := s.row(v)
		if !ok {
			return nil
		}
		return g.Adj[s.Off[row]:s.Off[row+1]]
	}
	return g.Adj[g.Off[v]:g.Off[v+1]]
}

// Type of the global where an expression reads it.
func (g *GlobalDef) Type() Type {
	switch g.Kind {
	case Array:
		return ArrayOf(U32, 0)
	case Col:
		return Type{Kind: Col, Elem: g.Elem}
	}
	return T(g.Kind)
}

// EachArray replaces the memory of each array of the globals by f's result, which has the same
// length.
func (p *Program) EachArray(f func(b []byte) []byte) {
	for _, g := range p.Globals {
		replaceArray(&g.Off, f)
		replaceArray(&g.Adj, f)
		replaceArray(&g.First, f)
		replaceArray(&g.Words, f)
		replaceArray(&g.Valid, f)
		if s := g.Sparse; s != nil {
			replaceArray(&s.Words, f)
			replaceArray(&s.Off, f)
		}
	}
}

func replaceArray[T uint32 | uint64](s *[]T, f func(b []byte) []byte) {
	if n := len(*s); n > 0 {
		b := unsafe.Slice((*byte)(unsafe.Pointer(&(*s)[0])), uintptr(n)*unsafe.Sizeof((*s)[0]))
		*s = unsafe.Slice((*T)(unsafe.Pointer(&f(b)[0])), n)
	}
}

// AddGlobal appends g and numbers it among its kind.
func (p *Program) AddGlobal(g *GlobalDef) *GlobalDef {
	g.Index = p.NumGlobals(g.Kind)
	p.Globals = append(p.Globals, g)
	return g
}

// NumGlobals is the number of globals of a kind.
func (p *Program) NumGlobals(k Kind) (n int) {
	for _, g := range p.Globals {
		if g.Kind == k {
			n++
		}
	}
	return n
}

// Func returns the function of that owner and name, nil if there is none.
func (p *Program) Func(family string, index int, name string) *Func {
	for _, f := range p.Funcs {
		if f.Family == family && f.Index == index && f.Name == name {
			return f
		}
	}
	return nil
}

// FullName is the function's name with its owner's.
func (f *Func) FullName() string {
	if f.Family == "" {
		return f.Name
	}
	return fmt.Sprintf("%s<%d>::%s", f.Family, f.Index, f.Name)
}
