package pattern

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Entry describes one named pattern or family of patterns.
type Entry struct {
	Name    string   // as written before the parameters
	Params  []string // names of the integer parameters
	Meaning string   // one line
	min     []int    // least value of each parameter
	max     []int    // greatest
	build   func(args []int) []*Pattern
}

// Usage is the name with its parameters, as clique(k).
func (e Entry) Usage() string {
	if len(e.Params) == 0 {
		return e.Name
	}
	return e.Name + "(" + strings.Join(e.Params, ",") + ")"
}

// Catalogue returns all named patterns. The vertices of a named pattern are
// called v0, v1, … and, where its edges carry an order, the edges e1, e2, ….
func Catalogue() []Entry {
	var all []Entry
	for _, part := range catalogue {
		all = append(all, part()...)
	}
	return all
}

// catalogue has its parts made when they are first needed, because most starts of the program need none, or the first.
var catalogue = [...]func() []Entry{sync.OnceValue(shapes), sync.OnceValue(directedPatterns), sync.OnceValue(paperPatterns)}

func shapes() []Entry {
	return []Entry{
		fixed("wedge", "two edges that share v1", Either, "0-1 1-2"),
		fixed("triangle", "three vertices, all adjacent", Either, "0-1 0-2 1-2"),
		family("path", "k", 2, MaxVertices, "k vertices in a row", func(k int) *Pattern {
			return shape(k, Either, row(k))
		}),
		family("cycle", "k", 3, MaxVertices, "k vertices in a ring", func(k int) *Pattern {
			return shape(k, Either, ring(k))
		}),
		family("star", "k", 1, MaxVertices-1, "v0 adjacent to k leaves", func(k int) *Pattern {
			return shape(k+1, Either, between([]int{0}, span(1, k)))
		}),
		family("clique", "k", 2, MaxVertices, "k vertices, all adjacent", func(k int) *Pattern {
			return shape(k, Either, allPairs(k))
		}),
		fixed("diamond", "a clique of four less one edge; v0 and v2 are the inner ends", Either, "0-1 0-2 0-3 1-2 2-3"),
		fixed("tailed_triangle", "a triangle with a pendant edge at v2", Either, "0-1 0-2 1-2 2-3"),
		fixed("house", "a square with a triangle on top; v4 is the roof", Either, "0-1 1-2 2-3 0-3 0-4 1-4"),
		fixed("bull", "a triangle with horns at v0 and v1", Either, "0-1 0-2 1-2 0-3 1-4"),
		fixed("bowtie", "two triangles that share v0", Either, "0-1 0-2 1-2 0-3 0-4 3-4"),
		fixed("edge", "two adjacent vertices", Either, motifEdges("edge")),
		fixed("fork", "a star of three with one of its edges drawn out by another, at v3", Either, motifEdges("fork")),
		fixed("banner", "a square with a pendant edge at v0", Either, motifEdges("banner")),
		fixed("cricket", "a triangle with two pendant edges at v0", Either, motifEdges("cricket")),
		fixed("dart", "a diamond with a pendant edge at v0, an inner end", Either, motifEdges("dart")),
		fixed("kite", "a diamond with a pendant edge at v1, an outer end", Either, motifEdges("kite")),
		fixed("gem", "v0 adjacent to all of a row of four", Either, motifEdges("gem")),
		family("book", "k", 1, MaxVertices-2, "k triangles that share the edge from v0 to v1", func(k int) *Pattern {
			return shape(k+2, Either, append(row(2), between([]int{0, 1}, span(2, k))...))
		}),
		family("wheel", "k", 3, MaxVertices-1, "v0 adjacent to all of a ring of k", func(k int) *Pattern {
			rim := ring(k)
			for i := range rim {
				rim[i][0]++
				rim[i][1]++
			}
			return shape(k+1, Either, append(between([]int{0}, span(1, k)), rim...))
		}),
		{
			Name: "lollipop", Params: []string{"m", "n"}, min: []int{3, 1}, max: []int{MaxVertices - 1, MaxVertices - 3},
			Meaning: "a clique of m with a row of n more vertices that begins at v0",
			build: func(a []int) []*Pattern {
				edges := append(allPairs(a[0]), [2]int{0, a[0]})
				for i := range a[1] - 1 {
					edges = append(edges, [2]int{a[0] + i, a[0] + i + 1})
				}
				return []*Pattern{shape(a[0]+a[1], Either, edges)}
			},
		},
		fixed("wheel(4)_less_spoke", "a wheel(4) without one of the edges at its middle", Either, motifEdges("wheel(4)_less_spoke")),
		fixed("clique(5)_less_wedge", "a clique(5) without two edges that share a vertex", Either, motifEdges("clique(5)_less_wedge")),
		fixed("clique(5)_less_edge", "a clique(5) without one of its edges", Either, motifEdges("clique(5)_less_edge")),
		fixed("feed_forward_loop", "v0 → v1 → v2 and v0 → v2", Forward, "0-1 1-2 0-2"),
		fixed("bifan", "v0 and v1 both point at v2 and v3", Forward, "0-2 0-3 1-2 1-3"),
		{
			Name: "motifs", Params: []string{"k"}, min: []int{2}, max: []int{5},
			Meaning: "every connected graph on k vertices, its edges of either direction",
			build:   func(a []int) []*Pattern { return motifs(a[0]) },
		},
		family("fan_in", "k", 1, MaxVertices-1, "k vertices point at v0", func(k int) *Pattern {
			return shape(k+1, Forward, between(span(1, k), []int{0}))
		}),
		family("fan_out", "k", 1, MaxVertices-1, "v0 points at k vertices", func(k int) *Pattern {
			return shape(k+1, Forward, between([]int{0}, span(1, k)))
		}),
		family("scatter_gather", "k", 1, MaxVertices-2, "v0 reaches v1 through each of k intermediaries", func(k int) *Pattern {
			return shape(k+2, Forward, append(between([]int{0}, span(2, k)), between(span(2, k), []int{1})...))
		}),
		family("gather_scatter", "k", 1, (MaxVertices-1)/2, "k vertices point at v0, which points at k others", func(k int) *Pattern {
			return shape(2*k+1, Forward, append(between(span(1, k), []int{0}), between([]int{0}, span(k+1, k))...))
		}),
		family("temporal_cycle", "k", 2, MaxVertices, "a directed ring of k edges e1 < e2 < … in time", temporalCycle),
		{
			Name: "bipartite", Params: []string{"m", "n"}, min: []int{1, 1}, max: []int{MaxVertices - 1, MaxVertices - 1},
			Meaning: "each of m vertices adjacent to each of n others",
			build: func(a []int) []*Pattern {
				return []*Pattern{shape(a[0]+a[1], Either, between(span(0, a[0]), span(a[0], a[1])))}
			},
		},
	}
}

func fixed(name, meaning string, dir Dir, edges string) Entry {
	return Entry{Name: name, Meaning: meaning, build: func([]int) []*Pattern {
		return []*Pattern{mustEdges(dir, edges)}
	}}
}

func family(name, param string, least, most int, meaning string, build func(int) *Pattern) Entry {
	return Entry{
		Name: name, Params: []string{param}, min: []int{least}, max: []int{most}, Meaning: meaning,
		build: func(a []int) []*Pattern { return []*Pattern{build(a[0])} },
	}
}

func temporalCycle(k int) *Pattern {
	p := shape(k, Forward, ring(k))
	p.Order = &Order{}
	for i := range p.Edges {
		p.Edges[i].Name = "e" + strconv.Itoa(i+1)
		p.Order.Edges = append(p.Order.Edges, i)
	}
	return p
}

// shape returns a pattern on n vertices with the given edges.
func shape(n int, dir Dir, edges [][2]int) *Pattern {
	p := &Pattern{}
	for i := range n {
		p.Vertices = append(p.Vertices, Vertex{Name: plainName(i)})
	}
	for _, e := range edges {
		p.Edges = append(p.Edges, Edge{From: e[0], To: e[1], Dir: dir, Min: 1, Max: 1})
	}
	return p
}

func row(k int) (edges [][2]int) {
	for i := 1; i < k; i++ {
		edges = append(edges, [2]int{i - 1, i})
	}
	return edges
}

func ring(k int) [][2]int { return append(row(k), [2]int{k - 1, 0}) }

func allPairs(k int) (edges [][2]int) {
	for i := range k {
		edges = append(edges, between([]int{i}, span(i+1, k-i-1))...)
	}
	return edges
}

func between(from, to []int) (edges [][2]int) {
	for _, u := range from {
		for _, v := range to {
			edges = append(edges, [2]int{u, v})
		}
	}
	return edges
}

// span is first, first+1, … of length n.
func span(first, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = first + i
	}
	return out
}

// UnknownName is the error of ByName for a name that is not in the catalogue.
type UnknownName struct {
	Name    string
	Nearest string // "" where no name is near
}

func (e *UnknownName) Error() string {
	msg := fmt.Sprintf("no pattern is called %q", e.Name)
	if e.Nearest != "" {
		msg += fmt.Sprintf("; did you mean %s?", e.Nearest)
	}
	return msg
}

// ByName returns the patterns of a catalogue name, such as "triangle", "clique(5)",
// "stmatch:q7" or "motifs(4)". It is one pattern, except for motifs. Each call returns fresh
// patterns. The error is an *UnknownName if the name is not in the catalogue; otherwise it says
// which parameter is wrong.
func ByName(text string) ([]*Pattern, error) {
	if _, err := Lookup(strings.TrimSpace(text)); err == nil { // some names have parentheses
		return Named(strings.TrimSpace(text), nil)
	}
	name, args, err := splitCall(text)
	if err != nil {
		return nil, err
	}
	return Named(name, args)
}

// Lookup returns the catalogue's entry for a name without its parameters, in
// any case of letters.
func Lookup(name string) (Entry, error) {
	var names []string
	usage := map[string]string{}
	for _, part := range catalogue {
		for _, e := range part() {
			if strings.EqualFold(e.Name, name) {
				return e, nil
			}
			names = append(names, e.Name)
			usage[e.Name] = e.Usage()
		}
	}
	return Entry{}, &UnknownName{name, usage[Suggest(name, names)]}
}

// Named is ByName with the name and the parameters apart.
func Named(name string, args []int) ([]*Pattern, error) {
	e, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	if len(args) != len(e.Params) {
		return nil, fmt.Errorf("%s takes %s, not %d", e.Usage(), plural(len(e.Params), "parameter"), len(args))
	}
	for i, a := range args {
		if a < e.min[i] || a > e.max[i] {
			return nil, fmt.Errorf("%s needs %s from %d to %d, not %d", e.Usage(), e.Params[i], e.min[i], e.max[i], a)
		}
	}
	ps := e.build(args)
	if ps == nil {
		return nil, fmt.Errorf("%s is not connected", callName(e.Name, args))
	}
	for _, p := range ps {
		if n := len(p.Vertices); n > MaxVertices {
			return nil, fmt.Errorf("%s has %d vertices: a pattern may have at most %d", e.Usage(), n, MaxVertices)
		}
		if p.Name == "" {
			p.Name = callName(e.Name, args)
		}
	}
	return ps, nil
}

func callName(name string, args []int) string {
	if len(args) == 0 {
		return name
	}
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = strconv.Itoa(a)
	}
	return name + "(" + strings.Join(texts, ",") + ")"
}

func plural(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// splitCall splits "name(1,2)" into its name and integers.
func splitCall(text string) (name string, args []int, err error) {
	text = strings.TrimSpace(text)
	name, rest, call := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	if !call {
		return name, nil, nil
	}
	inside, ok := strings.CutSuffix(rest, ")")
	if !ok {
		if strings.Contains(rest, ")") {
			return "", nil, fmt.Errorf("%q is more than a name: as a query, MATCH %s", text, text)
		}
		return "", nil, fmt.Errorf("%q lacks its closing parenthesis", text)
	}
	if strings.TrimSpace(inside) == "" {
		return name, nil, nil
	}
	for _, a := range strings.Split(inside, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(a))
		if err != nil {
			return "", nil, fmt.Errorf("parameter %q of %s is not an integer", strings.TrimSpace(a), name)
		}
		args = append(args, n)
	}
	return name, args, nil
}
