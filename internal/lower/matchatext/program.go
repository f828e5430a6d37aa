// Package matchatext writes plans as the text of Matcha programs. Each level is a function, and
// a set of the set program is a named list in the function of the level that knows it.
// Restrictions and labels are conditions, of which the compiler's passes make slices. The tail
// is arithmetic over sizes. A formula is a function for each of the counts that it is made of.
//
// It reads plans, and knows the language's syntax. It shares nothing with package lower, which
// writes plans as kernel IR.
package matchatext

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Options say what a program gives. A program for a rooted plan emits each
// vertex with the number of the plan's matches that have it at the root.
type Options struct {
	// List: it emits the vertices of each match, those of Columns, or all in the
	// pattern's order. Otherwise its result is a number.
	List    bool
	Columns []int
	Number  Number
	// Exists: its result is whether there is a match.
	Exists bool
}

// Number says what a program counts.
type Number uint8

// What may be counted: Matches are subgraphs where the plan finds each once, else
// embeddings.
const (
	Matches Number = iota
	Subgraphs
	Embeddings
)

// Program writes the program of a plan, whose input G is the plan's graph. The
// error says what of the plan a program cannot say.
func Program(p *plan.Plan, o Options) (string, error) {
	m := newWriter(o)
	body, err := m.program(p)
	if err != nil {
		return "", err
	}
	return canonical(m.head(p) + "\ninput G: Graph\n\n" + m.lets.String() + body)
}

// writer is the making of one program.
type writer struct {
	o     Options
	taken map[string]bool
	lets  strings.Builder       // of views, before all else
	views map[string]string     // names of views, by what they are
	parts map[*plan.Plan]string // names of functions
	sums  map[string]string     // names of sums of products over vertices, by what they are
}

func newWriter(o Options) *writer {
	return &writer{
		o: o, taken: map[string]bool{"G": true}, views: map[string]string{}, parts: map[*plan.Plan]string{}, sums: map[string]string{},
	}
}

// head says in comments what is counted.
func (m *writer) head(p *plan.Plan) string {
	lines := []string{pattern.Format(p.Pattern)}
	if p.Pattern.Name != "" {
		lines[0] = p.Pattern.Name + ": " + lines[0]
	}
	things := "embeddings"
	if m.subgraphs(p) && p.Aut.Cmp(one) > 0 {
		things = fmt.Sprintf("subgraphs, each of them %s embeddings", p.Aut)
	}
	switch {
	case p.Empty != nil:
		lines = append(lines, "There is no match: "+p.Empty.Text+".")
	case p.Rooted:
		things := "embeddings"
		if p.Restricted {
			things = "subgraphs"
		}
		lines = append(lines, fmt.Sprintf("Emits each vertex with the number of %s that have it as %s.", things, plan.LevelNames(p)[0]))
	case m.o.List:
		lines = append(lines, "Emits "+things+".")
	case m.o.Exists:
		lines = append(lines, "Tells whether there is a match.")
	default:
		lines = append(lines, "Counts "+things+".")
	}
	if m.formula(p) {
		lines = append(lines, "By parts: "+p.Formula.Why+".")
	} else if p.Empty == nil {
		lines = append(lines, fmt.Sprintf("Matching order: %s (%s).", strings.Join(plan.LevelNames(p), ", "), p.OrderName))
	}
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, "\n", " ") // names may have some
	}
	return "# " + strings.Join(lines, "\n# ") + "\n"
}

var one = big.NewInt(1)

// subgraphs reports whether the program is about subgraphs.
func (m *writer) subgraphs(p *plan.Plan) bool {
	if m.o.List || m.o.Number == Matches {
		return p.Restricted
	}
	return m.o.Number == Subgraphs && p.Mode == pattern.Iso
}

// formula reports whether the plan's formula is written, and not its levels.
func (m *writer) formula(p *plan.Plan) bool {
	return p.Method == plan.Decomposed && p.Formula != nil && !m.o.List && !m.o.Exists && !p.Rooted && p.Empty == nil
}

// program writes what stands behind the input.
func (m *writer) program(p *plan.Plan) (string, error) {
	var count string
	var body lines
	switch {
	case p.Empty != nil && m.o.Exists:
		return "return False\n", nil
	case p.Empty != nil && p.Rooted && !m.o.List:
		return unmatched("vertices(G)") + "\n", nil
	case p.Empty != nil:
		return "return 0\n", nil
	case m.formula(p):
		sum, err := m.sum(p.Formula, &body)
		if err != nil {
			return "", err
		}
		if count = sum; m.subgraphs(p) {
			count = divided(sum, p.Aut)
		}
	default:
		n, err := m.nest(p)
		if err != nil {
			return "", err
		}
		if p.Rooted || m.o.List {
			err := n.emitting(&body)
			return body.String(), err
		}
		if count, err = n.from(0, &body); err != nil {
			return "", err
		}
		switch {
		case m.o.Exists || m.subgraphs(p) == p.Restricted:
		case p.Restricted:
			count = times(count, p.Aut)
		default:
			count = divided(count, p.Aut)
		}
	}
	if m.o.Exists {
		count += " > 0"
	}
	body.add("return %s", count)
	return body.String(), nil
}

// divided is count / n.
func divided(count string, n *big.Int) string {
	if n.Cmp(one) == 0 {
		return count
	}
	return fmt.Sprintf("(%s) / %s", count, n)
}

// sum writes the functions that count a formula's parts, and returns the sum of
// them: a number of embeddings.
func (m *writer) sum(f *plan.Formula, body *lines) (string, error) {
	var terms []string
	for _, t := range f.Terms {
		var value string
		var err error
		if len(t.Dot) == 0 {
			value, err = m.part(t.Plan, body)
			value += "()"
		} else {
			value, err = m.dot(t.Dot, body)
		}
		if err != nil {
			return "", err
		}
		terms = append(terms, product(t.Coef, value))
	}
	return added(terms), nil
}

// product is a term of a sum.
func product(coef int64, value string) string {
	switch coef {
	case 1:
		return value
	case -1:
		return "-" + value
	}
	return fmt.Sprintf("%d * %s", coef, value)
}

// added is a sum of terms, of which those that begin with a minus are taken off.
func added(terms []string) string {
	if len(terms) == 0 {
		return "0"
	}
	out := terms[0]
	for _, t := range terms[1:] {
		if rest, minus := strings.CutPrefix(t, "-"); minus {
			out += " - " + rest
		} else {
			out += " + " + t
		}
	}
	return out
}

// dot is the sum over vertices of the products of the numbers of embeddings that
// have them at the root.
func (m *writer) dot(of []*plan.Plan, body *lines) (string, error) {
	v := "v"
	var factors []string
	for _, p := range of {
		name, err := m.part(p, body)
		if err != nil {
			return "", err
		}
		factors = append(factors, fmt.Sprintf("%s(%s)", name, v))
	}
	n, err := m.nest(of[0])
	if err != nil {
		return "", err
	}
	// All of them have the same vertex, with the same label, at their roots.
	list, conds, err := n.candidates(0, 0)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("sum(apply(lambda %s: %s, %s, %s))", v, strings.Join(factors, " * "), n.cond(conds), list)
	if m.sums[text] == "" {
		m.sums[text] = m.fresh(fmt.Sprintf("sum%d", len(m.sums)+1), nil)
		body.add("let %s = %s", m.sums[text], text)
	}
	return m.sums[text], nil
}

// part writes a function that counts the embeddings of a plan, with a given
// vertex at the root if it is rooted, and returns its name.
func (m *writer) part(p *plan.Plan, body *lines) (string, error) {
	if name := m.parts[p]; name != "" {
		return name, nil
	}
	n, err := m.nest(p)
	if err != nil {
		return "", err
	}
	from, root := 0, ""
	if p.Rooted {
		from, root = 1, n.names[0]
	}
	var inner lines
	inner.depth = 1
	count, err := n.from(from, &inner)
	if err != nil {
		return "", err
	}
	name := m.fresh(fmt.Sprintf("part%d", len(m.parts)+1), nil)
	m.parts[p] = name
	body.add("# %s", strings.ReplaceAll(pattern.Format(p.Pattern), "\n", " "))
	body.add("def %s(%s):", name, root)
	body.append(&inner)
	inner = lines{depth: 1}
	inner.add("return %s", times(count, n.group()))
	body.append(&inner)
	return name, nil
}

// times is count × n.
func times(count string, n *big.Int) string {
	if n.Cmp(one) == 0 {
		return count
	}
	return fmt.Sprintf("%s * (%s)", n, count)
}

// fresh is a name that nothing of the whole program has, and nothing in local.
func (m *writer) fresh(name string, local map[string]bool) string {
	for m.taken[name] || local[name] || asg.IsOperator(name) || !syntax.IsName(name) {
		name += "_"
	}
	m.taken[name] = true
	return name
}

// view is the name, used together with local ones, of what a text of the pattern language
// selects.
func (m *writer) view(name, op, text string, local map[string]bool) (string, error) {
	text, err := quoted(text)
	if err != nil {
		return "", err
	}
	call := op + "(G, " + text + ")"
	if m.views[call] == "" {
		m.views[call] = m.fresh(fmt.Sprintf("%s%d", name, len(m.views)+1), local)
		fmt.Fprintf(&m.lets, "let %s = %s\n", m.views[call], call)
	}
	return m.views[call], nil
}

// lines is text by lines, at a depth of blocks.
type lines struct {
	strings.Builder
	depth int
}

func (b *lines) add(format string, args ...any) {
	b.WriteString(strings.Repeat("    ", b.depth))
	fmt.Fprintf(b, format+"\n", args...)
}

func (b *lines) append(inner *lines) { b.WriteString(inner.String()) }

// nest makes the writer of a plan's levels, if a program can say them.
func (m *writer) nest(p *plan.Plan) (*nest, error) {
	for l := range p.Levels {
		positive := func(b plan.Back) bool { return !b.Neg }
		if p.Levels[l].Set < 0 && slices.ContainsFunc(p.Levels[l].Back, positive) {
			return nil, plan.Refusef("the plan has no set program")
		}
	}
	n := &nest{m: m, p: p, sets: make([]string, len(p.Sets)), taken: map[string]bool{}}
	for l, name := range plan.LevelNames(p) {
		if !syntax.IsName(name) || asg.IsOperator(name) || m.taken[name] || n.taken[name] {
			name = n.fresh(fmt.Sprintf("v%d", l))
		}
		n.names = append(n.names, name)
		n.taken[name] = true
	}
	n.item = n.fresh("w")
	n.nameEdges()
	n.close()
	return n, nil
}
