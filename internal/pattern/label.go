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

// Label is label algebra over the set of labels that a vertex or edge carries.
// A nil *Label accepts everything, also what carries no label at all.
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
	p := map[LabelOp]int{LabelOr: 1, LabelAnd: 2, LabelNot: 3, LabelName: 4, LabelAny: 4}[l.Op]
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
