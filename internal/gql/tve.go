package gql

import (
	"fmt"
	"strconv"

	"github.com/weftgraph/weft/internal/pattern"
)

// ParseTVE reads a pattern file of lines "t …", "v id label …" and "e u v [label]". gSpan,
// RapidMatch and many others use dialects of this format:
//
//   - gSpan: "t # 0" begins a pattern and "t # -1" ends the file;
//   - "t N M" begins a pattern of N vertices and M edges, and vertices carry their degree after
//     the label;
//   - without a "t" line there is one pattern.
//
// A file may hold several patterns. A single one is called name, and several name#0, name#1, ….
// Vertices are called v and their number. Edges are undirected. A label of -1, like an absent
// one, matches any label; other labels must be equal. After "t N M", edges that all have the
// label 0 have no label: programs without edge labels write them so. Degrees, N and M are only
// checked. An error is a *Error.
func ParseTVE(name, text string) (qs []*Query, err error) {
	defer catch(&err)
	if err := checkUTF8(text); err != nil {
		return nil, err
	}
	r := &tveReader{lineReader: lineReader{text: text}}
	for r.line("#%") {
		switch r.fields[0].text {
		case "t":
			r.finish()
			if len(r.fields) == 3 && r.fields[1].text == "#" && r.fields[2].text == "-1" {
				return r.queries(name), nil
			}
			r.begin()
		case "v":
			r.vertex()
		case "e":
			r.edge()
		default:
			panic(r.fail(0, "unknown kind of line %q", r.fields[0].text).expecting("t, v or e"))
		}
	}
	r.finish()
	return r.queries(name), nil
}

type tveReader struct {
	lineReader
	p        *pattern.Pattern // being read; nil between patterns
	index    map[int]int      // vertex number in the file → in p
	degree   []int            // as stated; -1 where not
	at       int              // offset where p began
	n, m     int              // as stated; -1 where not
	patterns []*pattern.Pattern
	texts    []string
}

func (r *tveReader) begin() {
	r.p = &pattern.Pattern{}
	r.index, r.degree = map[int]int{}, nil
	r.at, r.n, r.m = r.start, -1, -1
	if len(r.fields) == 3 && r.fields[0].text == "t" && r.fields[1].text != "#" {
		r.n, r.m = r.number(1), r.number(2)
	}
}

// number parses field i, which must be a number from 0.
func (r *tveReader) number(i int) int {
	if i >= len(r.fields) {
		panic(r.fail(i, "the line ends too early").expecting("a number"))
	}
	n, err := strconv.Atoi(r.fields[i].text)
	if err != nil || n < 0 {
		panic(r.fail(i, "%q is not a number", r.fields[i].text).expecting("a number from 0"))
	}
	return n
}

// label returns field i as a label; -1 and an absent one are any.
func (r *tveReader) label(i int) *pattern.Label {
	if i >= len(r.fields) || r.fields[i].text == "-1" {
		return nil
	}
	return &pattern.Label{Op: pattern.LabelName, Name: r.fields[i].text}
}

func (r *tveReader) vertex() {
	if r.p == nil {
		r.begin()
	}
	id := r.number(1)
	if _, ok := r.index[id]; ok {
		panic(r.fail(1, "vertex %d is declared twice", id))
	}
	if len(r.p.Vertices) == pattern.MaxVertices {
		panic(r.fail(1, "a pattern may have at most %d vertices", pattern.MaxVertices))
	}
	r.index[id] = len(r.p.Vertices)
	r.p.Vertices = append(r.p.Vertices, pattern.Vertex{Name: "v" + strconv.Itoa(id), Label: r.label(2)})
	degree := -1
	if len(r.fields) > 3 && r.n >= 0 {
		degree = r.number(3)
	}
	r.degree = append(r.degree, degree)
}

func (r *tveReader) edge() {
	if r.p == nil {
		panic(r.fail(0, "an edge before any vertex").expecting("t or v"))
	}
	var ends [2]int
	for i := range ends {
		id := r.number(i + 1)
		v, ok := r.index[id]
		if !ok {
			panic(r.fail(i+1, "vertex %d is not declared", id).expecting("the number of a v line above"))
		}
		ends[i] = v
	}
	if msg := addFileEdge(r.p, ends[0], ends[1], pattern.Either, r.label(3)); msg != "" {
		panic(r.fail(1, "%s", msg))
	}
}

// finish checks the pattern against the numbers in its header.
func (r *tveReader) finish() {
	if r.p == nil {
		return
	}
	p := r.p
	r.p = nil
	fail := func(format string, args ...any) { panic(errorAt(r.text, r.at, fmt.Sprintf(format, args...))) }
	if err := p.Validate(); err != nil {
		fail("%v", err)
	}
	if r.n >= 0 && (r.n != len(p.Vertices) || r.m != len(p.Edges)) {
		fail("the header states %d vertices and %d edges, and %d and %d follow", r.n, r.m, len(p.Vertices), len(p.Edges))
	}
	degree := make([]int, len(p.Vertices))
	for _, e := range p.Edges {
		degree[e.From]++
		degree[e.To]++
	}
	for v, d := range r.degree {
		if d >= 0 && d != degree[v] {
			fail("%s has degree %d, and its line states %d", p.Vertices[v].Name, degree[v], d)
		}
	}
	if r.n >= 0 {
		dropZeros(p)
	}
	r.patterns = append(r.patterns, p)
	r.texts = append(r.texts, r.text[r.at:min(r.start, len(r.text))])
}

// dropZeros takes the labels from edges that all have the label 0.
func dropZeros(p *pattern.Pattern) {
	for _, e := range p.Edges {
		if e.Label == nil || e.Label.Name != "0" {
			return
		}
	}
	for e := range p.Edges {
		p.Edges[e].Label = nil
	}
}

func (r *tveReader) queries(name string) []*Query {
	if len(r.patterns) == 0 {
		panic(errorAt(r.text, len(r.text), "the file holds no pattern").expecting("t, v and e lines"))
	}
	var out []*Query
	for i, p := range r.patterns {
		own := name
		if len(r.patterns) > 1 {
			own = name + "#" + strconv.Itoa(i)
		}
		out = append(out, fileQuery(p, own, r.texts[i]))
	}
	return out
}
