// Package explain writes plans for people and for programs: as a loop nest in text, and as
// JSON. Both can show the counts and times of a run next to the estimates.
//
// It reads plans. It must not know how they are made.
package explain

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Actual holds the figures of a run at one level, for explain --analyze.
type Actual struct {
	Matches *big.Int // partial matches that reached the level; nil: not known
	Seconds float64  // wall time attributed to the level
	// Filters says how many vertices each filter left for the level, one after the other.
	Filters []plan.Filtered
}

// Text writes p as a loop nest over the user's names. It shows
//
//   - the source of each candidate set, and the level at which it is computed;
//   - the conditions and restrictions of each level;
//   - how the last levels are counted;
//   - the estimates and, for each level in actual, the figures of a run, and how many vertices each filter left.
//
// The error is the writer's. Text only reads p, so it is safe for concurrent use.
func Text(p *plan.Plan, w io.Writer, actual ...Actual) error {
	e := &explainer{p: p, actual: actual, name: plan.LevelNames(p)}
	e.head()
	if p.Method == plan.Temporal {
		e.steps()
	} else {
		e.nest()
	}
	e.filters()
	e.foot()
	_, err := io.WriteString(w, e.b.String())
	return err
}

// explainer writes a plan as text.
type explainer struct {
	p      *plan.Plan
	b      strings.Builder
	name   []string // of the vertex at each level
	actual []Actual
}

func (e *explainer) linef(indent int, format string, args ...any) {
	e.b.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&e.b, format, args...)
	e.b.WriteByte('\n')
}

func (e *explainer) head() {
	p := e.p
	title := p.Pattern.Name
	if title == "" {
		title = "pattern"
	}
	mode := p.Mode.String()
	if p.Induced {
		mode += " induced"
	}
	e.linef(0, "%s: %s, %s, %s", title, count(len(p.Order), "vertex", "vertices"), count(len(p.Pattern.Edges), "edge", "edges"), mode)
	if p.Empty != nil {
		e.linef(0, "matches nothing: %s", p.Empty.Text)
	}
	for _, w := range p.Warnings {
		e.linef(0, "warning: %s", w)
	}
	e.linef(0, "order %s (%s: %s)", strings.Join(e.name, ", "), p.OrderName, p.Why)
	if r := p.Reduction; r != nil {
		var left []string
		for l, v := range p.Order {
			left = append(left, fmt.Sprintf("%s %d of %d", e.name[l], r.After[v], r.Before[v]))
		}
		e.linef(0, "%s leave %s candidates", r.By(), strings.Join(left, ", "))
	}
	switch {
	case p.Restricted && p.Rooted:
		e.linef(0, "each match is one subgraph at one place of %s; the pattern has %s", e.name[0], symmetries(p))
	case p.Restricted:
		e.linef(0, "each match is one subgraph: the pattern has %s, so embeddings = matches × %s", symmetries(p), p.Aut)
	default:
		e.linef(0, "each match is one embedding; the pattern has %s", symmetries(p))
	}
	if r := e.restrictions(); r != "" {
		e.linef(0, "restrictions %s (ids here are places in the degree order: hubs are least)", r)
	}
	e.linef(0, "method %s", p.Method)
	if p.Formula != nil {
		e.linef(0, "embeddings = %s", p.Formula)
		e.linef(0, "(%s; expected work about %s set elements; below is the nest that it stands for)", p.Formula.Why, approx(p.Formula.Cost))
	}
	e.linef(0, "")
}

func symmetries(p *plan.Plan) string {
	if p.Aut.IsInt64() && p.Aut.Int64() == 1 {
		return "no symmetry"
	}
	return fmt.Sprintf("|Aut| = %s symmetries", p.Aut)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// restrictions writes the order among the vertices.
func (e *explainer) restrictions() string {
	var out []string
	for l := range e.p.Levels {
		for _, j := range e.p.Levels[l].Below {
			out = append(out, e.name[l]+" < "+e.name[j])
		}
		for _, j := range e.p.Levels[l].Above {
			out = append(out, e.name[l]+" > "+e.name[j])
		}
	}
	return strings.Join(out, ", ")
}

func (e *explainer) nest() {
	p := e.p
	tail := len(p.Levels) - p.Tail.K
	for l := range p.Levels {
		if l == tail {
			e.tail(l)
			return
		}
		e.linef(l, "for %s in %s%s", e.name[l], e.source(l), e.estimates(l))
		for _, c := range p.Levels[l].Checks {
			e.linef(l+1, "where %s", c.Text)
		}
		for i := range p.Edges {
			if p.Edges[i].At == l {
				e.edge(i, l+1)
			}
		}
		for i := range p.Sets {
			if p.Sets[i].At == l {
				e.set(i, l+1)
			}
		}
	}
	e.linef(len(p.Levels), "%s", e.leaf())
}

func (e *explainer) leaf() string {
	if e.p.Restricted {
		return "a match: " + strings.Join(e.name, ", ")
	}
	return "an embedding: " + strings.Join(e.name, ", ")
}

// source writes where level l's candidates come from, and their conditions.
func (e *explainer) source(l int) string { return e.sourceOf(&e.p.Levels[l], l == 0) }

// sourceOf is source of a level, which is the first one of its plan or another.
func (e *explainer) sourceOf(lv *plan.Level, first bool) string {
	s := "all vertices"
	if lv.Set >= 0 {
		s = e.setName(lv.Set)
	}
	if label := e.p.Pattern.Vertices[lv.Vertex].Label; label != nil {
		s += " :" + label.String()
	}
	below, above := lv.Below, lv.Above
	if lv.Set >= 0 {
		below = without(below, e.p.Sets[lv.Set].Below)
		above = without(above, e.p.Sets[lv.Set].Above)
	}
	for _, j := range below {
		s += " < " + e.name[j]
	}
	for _, j := range above {
		s += " > " + e.name[j]
	}
	if len(lv.Distinct) > 0 {
		names := make([]string, len(lv.Distinct))
		for i, j := range lv.Distinct {
			names[i] = e.name[j]
		}
		s += " ∖ {" + strings.Join(names, ", ") + "}"
	}
	if lv.Set < 0 {
		for _, b := range lv.Back {
			not := ""
			if b.Neg {
				not = " not"
			}
			s += fmt.Sprintf("%s in %s(%s)", not, e.p.Adjs[b.Adj].Name, e.name[b.Level])
		}
	}
	if where := e.unary(lv.Vertex); where != "" {
		s += " where " + where
	}
	if first && lv.MinDegree > 1 {
		s += fmt.Sprintf(" with |%s| ≥ %d", e.p.Adjs[lv.MinDegreeAdj].Name, lv.MinDegree)
	}
	return s
}

// without is the members of list that are not in other.
func without(list, other []int) (out []int) {
	for _, x := range list {
		if !slices.Contains(other, x) {
			out = append(out, x)
		}
	}
	return out
}

// unary writes the conditions on pattern vertex v alone.
func (e *explainer) unary(v int) string {
	var out []string
	var all []pattern.Expr
	for _, x := range e.p.Pattern.Where {
		all = pattern.Conjuncts(x, all)
	}
	for _, x := range all {
		refs := pattern.Refs(x)
		if len(refs) == 1 && refs[0] == (pattern.Ref{Kind: pattern.VertexRef, Index: v}) {
			out = append(out, pattern.FormatExpr(e.p.Pattern, x))
		}
	}
	return strings.Join(out, " AND ")
}

// setName is C and the number of the node, or the neighbour list itself where
// the node is just that.
func (e *explainer) setName(i int) string {
	s := &e.p.Sets[i]
	if s.Op == plan.SetList {
		return e.listOf(s) + e.bounds(s)
	}
	return fmt.Sprintf("C%d", i)
}

func (e *explainer) listOf(s *plan.Set) string {
	return e.p.Adjs[s.Adj].Name + "(" + e.name[s.Of] + ")"
}

// bounds writes the bounds of a node by earlier vertices.
func (e *explainer) bounds(s *plan.Set) string {
	var out []string
	for _, j := range s.Below {
		out = append(out, "< "+e.name[j])
	}
	for _, j := range s.Above {
		out = append(out, "> "+e.name[j])
	}
	if s.Range.End != 0 {
		out = append(out, fmt.Sprintf("ids %d–%d", s.Range.First, s.Range.End-1))
	}
	if len(out) == 0 {
		return ""
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// set writes a node that is more than a neighbour list.
func (e *explainer) set(i, indent int) {
	s := &e.p.Sets[i]
	if s.Op == plan.SetList {
		return
	}
	op := "∩"
	if s.Op == plan.SetMinus {
		op = "−"
	}
	text := fmt.Sprintf("C%d = %s %s %s%s", i, e.setName(s.Base), op, e.listOf(s), e.bounds(s))
	if s.SizeOnly {
		text += ", only its size"
	}
	e.linef(indent, "%s%s", text, around(s.Estimate, "elements"))
}

func (e *explainer) edge(i, indent int) {
	c := &e.p.Edges[i]
	distinct := ""
	if e.p.Mode == pattern.Trail && i > 0 {
		distinct = ", none twice"
	}
	e.linef(indent, "for each edge %s between %s and %s%s", e.p.Pattern.EdgeName(c.Edge), e.name[c.From], e.name[c.To], distinct)
	for _, check := range c.Checks {
		e.linef(indent+1, "where %s", check.Text)
	}
}

// tail writes how the last levels are counted.
func (e *explainer) tail(l int) {
	p := e.p
	symbol := map[int]string{}
	for i, g := range p.Tail.Groups {
		name := string(rune('S' + i)) // S, T, U, V, W: there are five groups at most
		for _, j := range g.Levels {
			symbol[j] = name
		}
		first := g.Levels[0]
		e.linef(l, "%s = %s, for %s%s", name, e.tailSource(first, l), e.nameAll(g.Levels), around(p.Levels[first].Estimate, "matches"))
	}
	if p.Tail.Terms == nil {
		e.linef(l, "count += %s", e.groups())
		return
	}
	var terms []string
	for k, t := range p.Tail.Terms {
		var f []string
		power := map[string]int{}
		for _, block := range t.Blocks {
			var names []string
			for _, i := range block {
				if !slices.Contains(names, symbol[i]) {
					names = append(names, symbol[i])
				}
			}
			size := "|" + strings.Join(names, " ∩ ") + "|"
			if power[size]++; power[size] == 1 {
				f = append(f, size)
			}
		}
		for i, size := range f {
			if n := power[size]; n > 1 {
				f[i] = fmt.Sprintf("%s^%d", size, n)
			}
		}
		c := t.Coef
		sign := ""
		switch {
		case c < 0 && k == 0:
			sign = "−"
		case c < 0:
			sign = " − "
		case k > 0:
			sign = " + "
		}
		text := strings.Join(f, "·")
		if c = max(c, -c); c != 1 {
			text = fmt.Sprintf("%d·%s", c, text)
		}
		terms = append(terms, sign+text)
	}
	sum := strings.Join(terms, "")
	if p.Tail.Divisor > 1 {
		sum = fmt.Sprintf("(%s) / %d", sum, p.Tail.Divisor)
	}
	e.linef(l, "count += %s", sum)
}

// groups writes the count of a tail of many levels.
func (e *explainer) groups() string {
	apart := len(e.p.TailBlocks()) == len(e.p.Tail.Groups)
	var ways, factors []string
	for i, g := range e.p.Tail.Groups {
		name, k := string(rune('S'+i)), len(g.Levels)
		switch {
		case e.p.Mode != pattern.Iso:
			factors = append(factors, fmt.Sprintf("|%s|^%d", name, k))
		case g.Ordered || k == 1:
			factors = append(factors, binomial(name, k))
			ways = append(ways, fmt.Sprintf("%d of %s", k, name))
		default:
			factors = append(factors, fmt.Sprintf("|%s|!/(|%s|−%d)!", name, name, k))
			ways = append(ways, fmt.Sprintf("%d of %s in sequence", k, name))
		}
	}
	if apart {
		return strings.Join(factors, "·")
	}
	return "ways to take " + strings.Join(ways, " and ") + ", no vertex twice"
}

// binomial writes the number of sets of k elements of a set.
func binomial(set string, k int) string {
	if k == 1 {
		return "|" + set + "|"
	}
	return fmt.Sprintf("C(|%s|, %d)", set, k)
}

// nameAll joins the names of some levels, the first and last ones where they
// are many.
func (e *explainer) nameAll(levels []int) string {
	names := make([]string, len(levels))
	for i, l := range levels {
		names[i] = e.name[l]
	}
	n := len(names)
	switch {
	case n == 1:
		return names[0]
	case n > plan.MaxTail:
		return fmt.Sprintf("%s, %s … %s (%d)", names[0], names[1], names[n-1], n)
	}
	return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
}

// tailSource is source without the conditions between level i and other levels of the tail.
func (e *explainer) tailSource(i, tail int) string {
	lv := e.p.Levels[i]
	cut := func(js []int) (out []int) {
		for _, j := range js {
			if j < tail {
				out = append(out, j)
			}
		}
		return out
	}
	lv.Below, lv.Above, lv.Distinct = cut(lv.Below), cut(lv.Above), cut(lv.Distinct)
	return e.sourceOf(&lv, i == 0)
}

// estimates writes the expected and the actual partial matches.
func (e *explainer) estimates(l int) string {
	s := around(e.p.Levels[l].Estimate, "matches")
	if l < len(e.actual) && e.actual[l].Matches != nil {
		s += fmt.Sprintf(", actually %s", e.actual[l].Matches)
		if e.actual[l].Seconds > 0 {
			s += fmt.Sprintf(" in %.3g s", e.actual[l].Seconds)
		}
	}
	return s
}

// around writes an estimate with two digits.
func around(x float64, what string) string {
	if x <= 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return fmt.Sprintf("   (≈ %s %s)", approx(x), what)
}

// approx writes a number with two significant digits, in groups of three.
func approx(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2g", x)
	}
	if x >= 1e15 {
		return fmt.Sprintf("%.1e", x)
	}
	scale := math.Pow(10, math.Floor(math.Log10(x))-1)
	s := fmt.Sprintf("%.0f", math.Round(x/scale)*scale)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// filters writes a table of the vertices that each filter left for each level.
func (e *explainer) filters() {
	rows := [][]string{append([]string{"candidates"}, e.name...)}
	at := map[string]int{}
	for l := range e.actual {
		for _, f := range e.actual[l].Filters {
			i, ok := at[f.Filter]
			if !ok {
				i = len(rows)
				at[f.Filter] = i
				rows = append(rows, append([]string{"filter " + f.Filter}, make([]string, len(e.name))...))
			}
			rows[i][l+1] = strconv.FormatUint(f.Left, 10)
		}
	}
	if len(rows) == 1 {
		return
	}
	e.linef(0, "")
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for c, text := range row {
			width[c] = max(width[c], utf8.RuneCountInString(text))
		}
	}
	for _, row := range rows {
		line := fmt.Sprintf("%-*s", width[0], row[0])
		for c, text := range row[1:] {
			line += fmt.Sprintf("  %*s", width[c+1], text)
		}
		e.linef(0, "%s", strings.TrimRight(line, " "))
	}
}

func (e *explainer) foot() {
	p := e.p
	total := 0.0
	for i := range p.Levels {
		total += p.Levels[i].Cost
	}
	e.linef(0, "")
	if p.Method == plan.Temporal && p.Price > 0 {
		e.linef(0, "expected work: about %s events", approx(p.Price))
	} else if total > 0 {
		e.linef(0, "expected work: about %s set elements", approx(total))
	}
	if text := e.legend(); text != "" {
		e.linef(0, "neighbour lists: %s", text)
	}
}

// legend explains the names of neighbour lists.
func (e *explainer) legend() string {
	var out []string
	used := map[int]bool{e.p.Levels[0].MinDegreeAdj: e.p.Levels[0].MinDegree > 1}
	for l := range e.p.Levels {
		for _, b := range e.p.Levels[l].Back {
			used[b.Adj] = true
		}
	}
	for i, a := range e.p.Adjs {
		if !used[i] {
			continue
		}
		what := "neighbours of x"
		switch {
		case strings.HasSuffix(a.Name, "+"):
			what = "successors of x"
		case strings.HasSuffix(a.Name, "-"):
			what = "predecessors of x"
		case e.p.Graph.Directed:
			what = "neighbours of x either way"
		}
		out = append(out, fmt.Sprintf("%s(x) %s (%d pairs)", a.Name, what, a.Lists.Pairs()))
	}
	return strings.Join(out, "; ")
}
