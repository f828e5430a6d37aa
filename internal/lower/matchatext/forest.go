package matchatext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Forest writes one program for several plans without formulas. Equal levels that follow equal
// levels are searched once for all plans, and equal lists are one list. The program's result is
// the plans' numbers of matches, in their order. Its comment is head. G2Miner calls this
// multi-pattern search with pattern-aware sharing of prefixes (OSDI 2022).
func Forest(head string, plans []*plan.Plan) (string, error) {
	m := newWriter(Options{})
	f := &forest{m: m}
	for _, p := range plans {
		n, err := m.nest(p)
		if err != nil {
			return "", err
		}
		for l := range n.names {
			n.names[l] = fmt.Sprintf("v%d", l)
		}
		n.item, n.taken = "w", map[string]bool{}
		f.nests = append(f.nests, n)
	}
	all := make([]int, len(plans))
	for i := range all {
		all[i] = i
	}
	body := &lines{}
	if _, err := f.from(all, 0, body, nil); err != nil {
		return "", err
	}
	for i, p := range plans {
		head += fmt.Sprintf("\n# %d: %s: %s", i, p.Pattern.Name, strings.ReplaceAll(pattern.Format(p.Pattern), "\n", " "))
	}
	return canonical(head + "\n\ninput G: Graph\n\n" + m.lets.String() + body.String())
}

// canonical is a program in canonical form.
func canonical(text string) (string, error) {
	f, err := syntax.Parse(text)
	if err != nil {
		return "", fmt.Errorf("lower: a program that cannot be read: %w\n%s", err, text)
	}
	return syntax.Format(f), nil
}

// forest is the making of one program for several plans.
type forest struct {
	m     *writer
	nests []*nest
	lists int // that have names
}

// listScope has the names of lists in a function and in those around it.
type listScope struct {
	names map[string]string // by what they are
	outer *listScope
}

func (s *listScope) find(text string) string {
	for ; s != nil; s = s.outer {
		if name := s.names[text]; name != "" {
			return name
		}
	}
	return ""
}

// from writes the search of the plans in group from level l on, to the return of their numbers
// of ways to continue. The levels before l are matched, and are the same in all these plans.
// tuple reports whether these are several numbers.
func (f *forest) from(group []int, l int, body *lines, outer *listScope) (tuple bool, err error) {
	scope := &listScope{map[string]string{}, outer}
	// let names a list once.
	let := func(text string) string {
		if syntax.IsName(text) {
			return text
		}
		name := scope.find(text)
		if name == "" {
			name = fmt.Sprintf("s%d", f.lists)
			f.lists++
			scope.names[text] = name
			body.add("let %s = %s", name, text)
		}
		return name
	}
	type next struct{ list, cond string }
	var order []next
	members := map[next][]int{}
	counts := make([]string, len(group))
	for at, i := range group {
		n := f.nests[i]
		n.let = let
		if err := n.known(l-1, body); err != nil {
			return false, err
		}
		if l == n.tail {
			if counts[at], err = n.closed(body); err != nil {
				return false, err
			}
			continue
		}
		list, conds, err := n.candidates(l, l)
		if err != nil {
			return false, err
		}
		if l == len(n.p.Levels)-1 {
			counts[at] = fmt.Sprintf("size(%s)", let(n.filtered(list, conds)))
			continue
		}
		key := next{list, n.cond(conds)}
		if members[key] == nil {
			order = append(order, key)
		}
		members[key] = append(members[key], i)
	}
	for k, key := range order {
		inner := &lines{depth: body.depth + 1}
		several, err := f.from(members[key], l+1, inner, scope)
		if err != nil {
			return false, err
		}
		name := fmt.Sprintf("extend%d", l+1)
		if len(order) > 1 {
			name += fmt.Sprintf("_%d", k+1)
		}
		body.add("def %s(v%d):", name, l)
		body.append(inner)
		total := fmt.Sprintf("sum(apply(%s, %s, %s))", name, key.cond, key.list)
		if len(members[key]) == len(group) {
			body.add("return %s", total)
			return several, nil
		}
		if several {
			sums := fmt.Sprintf("t%d_%d", l+1, k+1)
			body.add("let %s = %s", sums, total)
			total = sums
		}
		for j, i := range members[key] {
			count := total
			if several {
				count = fmt.Sprintf("get(%s, %d)", total, j)
			}
			counts[slices.Index(group, i)] = count
		}
	}
	if len(counts) == 1 {
		body.add("return %s", counts[0])
		return false, nil
	}
	body.add("return mk_tuple(val=[%s])", strings.Join(counts, ", "))
	return true, nil
}
