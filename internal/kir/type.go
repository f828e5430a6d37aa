package kir

import "fmt"

// Kind is the kind of a type.
type Kind uint8

// Kinds of types.
const (
	Void Kind = iota
	Bool
	U32
	U64
	I64
	F64
	U128
	// Set is an ascending list of u32 without repeats, or a slice of one: a
	// view, which owns no memory.
	Set
	// Row is a set of bits over a small universe: positions 0 … n-1.
	Row
	// Array is a run of Len elements (0: known to the caller only).
	Array
	// Rec is a record, passed by reference.
	Rec
	// Adj, Bits and Col are globals' types: neighbour lists, a bitmap over ids,
	// and a column of numbers.
	Adj
	Bits
	Col
	// Hood is the neighbourhood of a vertex, which rows are over; see rows.go.
	Hood
)

var kindNames = [...]string{"void", "bool", "u32", "u64", "i64", "f64", "u128", "set", "row", "array", "record", "adj", "bits", "col", "hood"}

func (k Kind) String() string { return kindNames[k] }

// Type is the type of a value. Types are compared with ==.
type Type struct {
	Kind   Kind
	Elem   Kind    // of an Array
	Len    int     // of an Array
	Record *Record // of a Rec
	// Mut says that the memory of an Array or Rec may be written.
	Mut bool
}

// T is the type of a kind that needs nothing else to be said.
func T(k Kind) Type { return Type{Kind: k} }

// ArrayOf is a read-only array of n elements. 0 means that the caller knows the number.
func ArrayOf(elem Kind, n int) Type { return Type{Kind: Array, Elem: elem, Len: n} }

// Of is a reference to a record.
func Of(r *Record) Type { return Type{Kind: Rec, Record: r} }

// Writable is t with permission to write its memory.
func (t Type) Writable() Type {
	t.Mut = true
	return t
}

func (t Type) String() string {
	s := t.Kind.String()
	switch t.Kind {
	case Array:
		s = t.Elem.String() + "[]"
		if t.Len > 0 {
			s = fmt.Sprintf("%s[%d]", t.Elem, t.Len)
		}
	case Rec:
		s = t.Record.Name
	}
	if t.Mut {
		s += "&"
	}
	return s
}

// integer reports whether t is a whole number.
func (t Type) integer() bool {
	switch t.Kind {
	case U32, U64, I64, U128:
		return true
	}
	return false
}

func (t Type) number() bool { return t.integer() || t.Kind == F64 }

// Record is a group of named fields: the state of a search, a tuple.
type Record struct {
	Name   string
	Doc    string
	Fields []FieldDef
}

// FieldDef is one field of a record.
type FieldDef struct {
	Name string
	Type Type
}

// Field returns the field of that name; ok is false where there is none.
func (r *Record) Field(name string) (f FieldDef, ok bool) {
	for _, f := range r.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return FieldDef{}, false
}
