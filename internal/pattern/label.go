package pattern

import "strings"

// LabelOp is the operator of a Label node.
type LabelOp uint8

// Label operators: a name, any label (%), and & | !.
const (
	LabelName LabelOp = iota
	LabelAny
	LabelAnd
	LabelOr
	LabelNot
)

// Label is label algebra over the set of labels of a vertex or edge. A nil *Label accepts
// everything, also a vertex or edge without a label.
type Label struct {
	Op   LabelOp
	Name string // for LabelName
	X, Y *Label // operands; Y is nil for LabelNot
}

// Matches evaluates l for an element that carries exactly the labels for which
// has returns true; labelled says whether it carries any.
func (l *Label) Matches(has func(name string) bool, labelled bool) bool {
	if l == nil {
		return true
	}
	switch l.Op {
	case LabelName:
		return has(l.Name)
	case LabelAny:
		return labelled
	case LabelAnd:
		return l.X.Matches(has, labelled) && l.Y.Matches(has, labelled)
	case LabelOr:
		return l.X.Matches(has, labelled) || l.Y.Matches(has, labelled)
	default:
		return !l.X.Matches(has, labelled)
	}
}

// Where returns which of n elements match l, as bits: element i is bit i%64 of word
// i/64. with gives the elements that carry a label, and labelled reports whether an
// element carries any. A formula of many names, as alternatives are, is evaluated once
// for all elements.
func (l *Label) Where(n int, with func(name string) []int, labelled func(i int) bool) []uint64 {
	e := labelEval{n: n, with: with, labelled: labelled}
	return e.eval(l)
}

// labelEval is one call of Where.
type labelEval struct {
	n        int
	with     func(string) []int
	labelled func(int) bool
	free     [][]uint64
}

// eval returns the bits of l, which are the caller's.
func (e *labelEval) eval(l *Label) []uint64 {
	switch {
	case l == nil:
		bits := e.none()
		e.complement(bits)
		return bits
	case l.Op == LabelName:
		bits := e.none()
		e.add(bits, l.Name)
		return bits
	case l.Op == LabelAny:
		bits := e.none()
		for i := range e.n {
			if e.labelled(i) {
				bits[i/64] |= 1 << (i % 64)
			}
		}
		return bits
	}
	bits := e.eval(l.X)
	switch {
	case l.Op == LabelNot:
		e.complement(bits)
	case l.Op == LabelOr && l.Y.Op == LabelName:
		e.add(bits, l.Y.Name)
	default:
		other := e.eval(l.Y)
		for i := range bits {
			if l.Op == LabelOr {
				bits[i] |= other[i]
			} else {
				bits[i] &= other[i]
			}
		}
		e.free = append(e.free, other)
	}
	return bits
}

// none returns bits of which none is set.
func (e *labelEval) none() []uint64 {
	if k := len(e.free); k > 0 {
		bits := e.free[k-1]
		e.free = e.free[:k-1]
		clear(bits)
		return bits
	}
	return make([]uint64, (e.n+63)/64)
}

func (e *labelEval) add(bits []uint64, name string) {
	for _, i := range e.with(name) {
		bits[i/64] |= 1 << (i % 64)
	}
}

func (e *labelEval) complement(bits []uint64) {
	for i := range bits {
		bits[i] = ^bits[i]
	}
}

// Names calls f for each label name that l mentions.
func (l *Label) Names(f func(string)) {
	if l == nil {
		return
	}
	if l.Op == LabelName {
		f(l.Name)
	}
	l.X.Names(f)
	l.Y.Names(f)
}

// String writes l in the pattern language, fully parenthesised where needed.
func (l *Label) String() string {
	if l == nil {
		return ""
	}
	var b strings.Builder
	l.write(&b, 0)
	return b.String()
}

func (l *Label) write(b *strings.Builder, prec int) {
	p := [...]int{LabelOr: 1, LabelAnd: 2, LabelNot: 3, LabelName: 4, LabelAny: 4}[l.Op]
	if p < prec {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch l.Op {
	case LabelName:
		b.WriteString(QuoteName(l.Name))
	case LabelAny:
		b.WriteByte('%')
	case LabelNot:
		b.WriteByte('!')
		l.X.write(b, 3)
	case LabelAnd:
		l.X.write(b, 2)
		b.WriteByte('&')
		l.Y.write(b, 2)
	case LabelOr:
		l.X.write(b, 1)
		b.WriteByte('|')
		l.Y.write(b, 1)
	}
}

// QuoteName writes a name as the language reads it back: bare when it is a
// number or an identifier, in back quotes (doubled inside) otherwise.
func QuoteName(s string) string {
	bare := s != ""
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		digit := r >= '0' && r <= '9'
		if !letter && !digit || digit && i == 0 && !allDigits(s) {
			bare = false
		}
	}
	if bare {
		return s
	}
	return "`" + strings.ReplaceAll(s, "`", "``") + "`"
}

func allDigits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
