package pattern

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// structure is a pattern as a coloured relational structure over its vertices. The colour of a
// vertex has everything that concerns that vertex alone, and the colour of a pair everything
// that concerns the two. The rest (predicates over three or more vertices, ORDERED) stays as
// relations. Colours are ranks of sorted keys, so isomorphic patterns get equal colours.
type structure struct {
	n      int
	global []string  // facts that concern no vertex: mode, INDUCED, constants
	vertex []int     // colour of each vertex
	pair   [][]int32 // colour of each ordered pair
	vkeys  []string  // the keys behind the colours
	pkeys  []string
	wide   []wide
	home   map[string]bool // keys of wide under the identity
}

// wide is a constraint over three or more vertices.
type wide struct {
	support []int
	key     func(vertex func(int) string) string
}

func plainName(v int) string { return "v" + strconv.Itoa(v) }

// newStructure encodes p; colour, when not nil, tells vertices further apart.
func newStructure(p *Pattern, colour []string) *structure {
	s := &structure{n: len(p.Vertices), home: map[string]bool{}}
	s.global = []string{p.Mode.String(), fmt.Sprint("induced=", p.Induced)}
	unary := make([][]string, s.n)
	binary := make([][][]string, s.n)
	for v := range unary {
		unary[v] = append(unary[v], "label "+labelKey(p.Vertices[v].Label))
		if p.Induced && p.Vertices[v].Aside {
			unary[v] = append(unary[v], "aside")
		}
		if colour != nil {
			unary[v] = append(unary[v], "colour "+colour[v])
		}
		binary[v] = make([][]string, s.n)
	}
	add := func(support []int, key func(vertex func(int) string) string) {
		switch len(support) {
		case 0:
			s.global = append(s.global, key(plainName))
		case 1:
			v := support[0]
			unary[v] = append(unary[v], key(func(int) string { return "x" }))
		case 2:
			for i := range 2 {
				u, v := support[i], support[1-i]
				binary[u][v] = append(binary[u][v], key(func(w int) string {
					if w == u {
						return "x"
					}
					return "y"
				}))
			}
		default:
			s.wide = append(s.wide, wide{support, key})
			s.home[key(plainName)] = true
			for _, v := range support {
				unary[v] = append(unary[v], "in "+key(func(w int) string {
					if w == v {
						return "x"
					}
					return "_"
				}))
			}
		}
	}
	s.addEdges(p, add)
	s.addPredicates(p, add)

	sort.Strings(s.global)
	s.global = dedupe(s.global)
	s.number(unary, binary)
	return s
}

// addEdges adds each edge. Two alike parallel edges that only have to exist are
// one; where each choice counts their number is part of the key.
func (s *structure) addEdges(p *Pattern, add func([]int, func(func(int) string) string)) {
	number := map[string]int{}
	first := map[string]int{}
	var order []string
	for i := range p.Edges {
		k := edgeKey(p, i, plainName)
		if number[k] == 0 {
			first[k] = i
			order = append(order, k)
		}
		if number[k] == 0 || countsChoices(p, i) {
			number[k]++
		}
	}
	for _, k := range order {
		i, times := first[k], number[k]
		add(support(p.Edges[i].From, p.Edges[i].To), func(vertex func(int) string) string {
			return edgeKey(p, i, vertex) + " x" + strconv.Itoa(times)
		})
	}
}

func (s *structure) addPredicates(p *Pattern, add func([]int, func(func(int) string) string)) {
	rank := parallelRank(p)
	edge := func(i int, vertex func(int) string) string {
		return "<" + edgeKey(p, i, vertex) + rank[i] + ">"
	}
	var conjuncts []Expr
	for _, w := range p.Where {
		conjuncts = flatten(OpAnd, w, conjuncts)
	}
	for _, x := range conjuncts {
		var vs []int
		for _, r := range Refs(x) {
			if r.Kind == VertexRef {
				vs = append(vs, r.Index)
			} else {
				vs = append(vs, p.Edges[r.Index].From, p.Edges[r.Index].To)
			}
		}
		add(support(vs...), func(vertex func(int) string) string {
			return "where " + exprKey(x, namer{vertex, func(i int) string { return edge(i, vertex) }})
		})
	}
	if o := p.Order; o != nil {
		var vs []int
		for _, i := range o.Edges {
			vs = append(vs, p.Edges[i].From, p.Edges[i].To)
		}
		add(support(vs...), func(vertex func(int) string) string {
			names := make([]string, len(o.Edges))
			for j, i := range o.Edges {
				names[j] = edge(i, vertex)
			}
			return fmt.Sprintf("order on %q within %d %v: %s", o.On, o.Within, o.Duration, strings.Join(names, "<"))
		})
	}
}

// parallelRank tells alike parallel edges apart where a predicate or ORDERED
// names them: by their place in ORDERED, then by index.
func parallelRank(p *Pattern) []string {
	place := make([]int, len(p.Edges))
	for i := range place {
		place[i] = len(p.Edges)
	}
	if p.Order != nil {
		for j, i := range p.Order.Edges {
			place[i] = j
		}
	}
	class := map[string][]int{}
	for i := range p.Edges {
		k := edgeKey(p, i, plainName)
		class[k] = append(class[k], i)
	}
	rank := make([]string, len(p.Edges))
	for _, members := range class {
		if len(members) < 2 {
			continue
		}
		sort.SliceStable(members, func(a, b int) bool { return place[members[a]] < place[members[b]] })
		for r, i := range members {
			rank[i] = " #" + strconv.Itoa(r)
		}
	}
	return rank
}

// support returns the distinct vertices, ascending.
func support(vs ...int) []int {
	sort.Ints(vs)
	out := vs[:0]
	for i, v := range vs {
		if i == 0 || v != vs[i-1] {
			out = append(out, v)
		}
	}
	return out
}

// number replaces keys by their ranks.
func (s *structure) number(unary [][]string, binary [][][]string) {
	join := func(keys []string) string {
		sort.Strings(keys)
		return strings.Join(dedupe(keys), "; ")
	}
	vkey := make([]string, s.n)
	pkey := make([][]string, s.n)
	for u := range s.n {
		vkey[u] = join(unary[u])
		s.vkeys = append(s.vkeys, vkey[u])
		pkey[u] = make([]string, s.n)
		for v := range s.n {
			pkey[u][v] = join(binary[u][v])
			s.pkeys = append(s.pkeys, pkey[u][v])
		}
	}
	sort.Strings(s.vkeys)
	sort.Strings(s.pkeys)
	s.vkeys, s.pkeys = dedupe(s.vkeys), dedupe(s.pkeys)
	s.vertex = make([]int, s.n)
	s.pair = make([][]int32, s.n)
	for u := range s.n {
		s.vertex[u] = sort.SearchStrings(s.vkeys, vkey[u])
		s.pair[u] = make([]int32, s.n)
		for v := range s.n {
			s.pair[u][v] = int32(sort.SearchStrings(s.pkeys, pkey[u][v]))
		}
	}
}

// permute returns s with vertex order[i] called i.
func (s *structure) permute(order []int) *structure {
	t := &structure{n: s.n, vertex: permuted(s.vertex, order), pair: make([][]int32, s.n), home: map[string]bool{}}
	for i, v := range order {
		t.pair[i] = permuted(s.pair[v], order)
	}
	if len(s.wide) == 0 {
		return t
	}
	place := make([]int, s.n)
	for i, v := range order {
		place[v] = i
	}
	for _, w := range s.wide {
		moved := wide{key: func(vertex func(int) string) string {
			return w.key(func(v int) string { return vertex(place[v]) })
		}}
		for _, v := range w.support {
			moved.support = append(moved.support, place[v])
		}
		t.wide = append(t.wide, moved)
		t.home[moved.key(plainName)] = true
	}
	return t
}

// permuted returns list with the element at order[i] at i.
func permuted[T any](list []T, order []int) []T {
	out := make([]T, len(list))
	for i, v := range order {
		out[i] = list[v]
	}
	return out
}

// preserves reports whether perm, a permutation that keeps vertex colours, is
// an automorphism of s.
func (s *structure) preserves(perm []int) bool {
	for u := range s.n {
		for v := range u {
			if s.pair[u][v] != s.pair[perm[u]][perm[v]] {
				return false
			}
		}
	}
	return s.preservesWide(perm)
}

// preservesWide checks the wide constraints of which all vertices are mapped;
// perm[v] is -1 where v is not.
func (s *structure) preservesWide(perm []int) bool {
next:
	for _, w := range s.wide {
		for _, v := range w.support {
			if perm[v] < 0 {
				continue next
			}
		}
		if !s.home[w.key(func(v int) string { return plainName(perm[v]) })] {
			return false
		}
	}
	return true
}

// refine splits colour classes until vertices of one colour see equally many
// vertices of each colour through pairs of each colour (the one-dimensional
// Weisfeiler–Leman algorithm). The colours returned are 0 … k-1 and invariant
// under isomorphism; so is the trace, which two isomorphic inputs share.
func (s *structure) refine(colour []int) (refined []int, trace uint64) {
	var space [MaxVertices]uint64
	sums := space[:min(s.n, len(space))]
	if s.n > len(space) {
		sums = make([]uint64, s.n) // a pattern that Validate refuses
	}
	cur := append([]int(nil), colour...)
	for classes := 0; ; {
		for v := range s.n {
			var sum uint64
			for w, k := range s.pair[v] {
				// How many vertices of each colour see v by colour 0, which mostly
				// means that they do not, follows from the rest.
				if k != 0 && w != v {
					sum += seen(k, cur[w])
				}
			}
			sums[v] = sum
		}
		before := classes
		if classes, trace = regroup(cur, sums, trace); classes == before || classes == s.n {
			return cur, trace
		}
	}
}

// seen is the contribution, to a vertex's sum, of another vertex with a colour, through a pair
// of colour kind.
func seen(kind int32, colour int) uint64 { return mix(uint64(kind)<<32 | uint64(colour)) }

// regroup refines the colours cur by the sum that each vertex sees around it. It returns their
// number and continues the trace.
func regroup(cur []int, sums []uint64, trace uint64) (classes int, _ uint64) {
	var space [MaxVertices]colouring
	entries := space[:min(len(cur), len(space))]
	if len(cur) > len(space) {
		entries = make([]colouring, len(cur))
	}
	// By insertion: there are few, and mostly they are in order.
	for v := range cur {
		x := colouring{cur[v], sums[v], v}
		j := v
		for ; j > 0 && x.before(&entries[j-1]); j-- {
			entries[j] = entries[j-1]
		}
		entries[j] = x
	}
	id := -1
	for i := range entries {
		if i == 0 || entries[i].old != entries[i-1].old || entries[i].hash != entries[i-1].hash {
			id++
		}
		cur[entries[i].v] = id
		trace = mix(trace ^ entries[i].hash ^ mix(uint64(id)))
	}
	return id + 1, trace
}

// colouring is a vertex with its colour and the sum that it sees around it.
type colouring struct {
	old  int
	hash uint64
	v    int
}

func (x *colouring) before(y *colouring) bool {
	return x.old < y.old || x.old == y.old && x.hash < y.hash
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// individualise gives v a colour of its own, before its former equals.
func individualise(colour []int, v int) []int {
	out := make([]int, len(colour))
	for w, c := range colour {
		out[w] = 2*c + 1
	}
	out[v]--
	return out
}

// smallestCell returns the members of the smallest colour class of more than
// one vertex (the first such), or nil where all vertices differ.
func smallestCell(colour []int) []int {
	cells := make([][]int, len(colour))
	for v, c := range colour {
		cells[c] = append(cells[c], v)
	}
	var best []int
	for _, c := range cells {
		if len(c) > 1 && (best == nil || len(c) < len(best)) {
			best = c
		}
	}
	return best
}
