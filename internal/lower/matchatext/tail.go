package matchatext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// closed writes the candidates of the tail's groups, and returns the number of ways to choose
// from them. The plan's tail says which products of the sizes of lists and of their
// intersections it is (inclusion–exclusion).
func (n *nest) closed(body *lines) (string, error) {
	t := &tailText{n: n, body: body, lists: map[int]string{}, sizes: map[string]string{}}
	t.once = len(n.terms) == 1 && len(n.terms[0].Blocks) == 1 || len(n.choose) == 1 && len(n.choose[0].Levels) == 1
	if n.choose != nil {
		var factors []string
		for _, g := range n.choose {
			f, err := t.chosen(g)
			if err != nil {
				return "", err
			}
			factors = append(factors, f)
		}
		return strings.Join(factors, " * "), nil
	}
	var terms []string
	for _, x := range n.terms {
		var factors []string
		for _, block := range x.Blocks {
			f, err := t.size(block)
			if err != nil {
				return "", err
			}
			factors = append(factors, f)
		}
		terms = append(terms, product(x.Coef, strings.Join(factors, " * ")))
	}
	sum := added(terms)
	if n.divisor > 1 {
		return fmt.Sprintf("(%s) / %d", sum, n.divisor), nil
	}
	return sum, nil
}

// tailText is the making of one tail.
type tailText struct {
	n     *nest
	body  *lines
	lists map[int]string    // of the first levels of groups
	sizes map[string]string // of what lists have in common
	once  bool              // there is one size, which needs no name
}

// list names the candidates of a group, without the vertices that are matched.
func (t *tailText) list(level int) (string, error) {
	for _, g := range t.n.p.Tail.Groups {
		if slices.Contains(g.Levels, level) && g.Levels[0] >= t.n.tail {
			level = g.Levels[0]
		}
	}
	if t.lists[level] != "" {
		return t.lists[level], nil
	}
	list, conds, err := t.n.candidates(level, t.n.tail)
	if err != nil {
		return "", err
	}
	list = t.n.filtered(list, conds)
	var matched []string
	for _, j := range t.n.p.Levels[level].Distinct {
		if j < t.n.tail {
			matched = append(matched, t.n.names[j])
		}
	}
	if len(matched) > 0 {
		list = fmt.Sprintf("diff(%s, mk_list(val=[%s]))", list, strings.Join(matched, ", "))
	}
	if syntax.IsName(list) {
		t.lists[level] = list
		return list, nil
	}
	if t.n.let != nil {
		t.lists[level] = t.n.let(list)
		return t.lists[level], nil
	}
	t.lists[level] = t.n.fresh(fmt.Sprintf("c%d", level))
	t.body.add("let %s = %s", t.lists[level], list)
	return t.lists[level], nil
}

// size names the number of vertices that the lists of some levels have in common.
func (t *tailText) size(block []int) (string, error) {
	text, name := "", "n"
	for _, l := range block {
		list, err := t.list(l)
		if err != nil {
			return "", err
		}
		name += fmt.Sprint(l)
		if text == "" {
			text = list
		} else {
			text = fmt.Sprintf("intersect(%s, %s)", text, list)
		}
	}
	if t.once || t.n.let != nil {
		return fmt.Sprintf("size(%s)", text), nil
	}
	if t.sizes[text] == "" {
		t.sizes[text] = t.n.fresh(name)
		t.body.add("let %s = size(%s)", t.sizes[text], text)
	}
	return t.sizes[text], nil
}

// chosen is the number of ways to take a group's vertices out of its list.
func (t *tailText) chosen(g plan.TailGroup) (string, error) {
	size, err := t.size(g.Levels[:1])
	if err != nil {
		return "", err
	}
	out := size
	for i := range len(g.Levels) - 1 {
		switch {
		case t.n.p.Mode != pattern.Iso:
			out += " * " + size
		case g.Ordered: // each product is divisible: it is a binomial coefficient times a factorial less
			out = fmt.Sprintf("%s * (%s - %d) / %d", out, size, i+1, i+2)
		default:
			out = fmt.Sprintf("%s * (%s - %d)", out, size, i+1)
		}
	}
	return out, nil
}
