package gql

import (
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// ParseEdgeList reads an undirected pattern given by its edges, either as pairs
// "0-1 0-2 1-2" or as lines "0 1"; a pair "0~1" excludes the edge. Lines that
// begin with # or % are comments. A file of several lines "name: 0-1 0-2 …"
// holds a pattern each. Vertices are numbers or words, called v and the number,
// or the word.
func ParseEdgeList(name, text string) (qs []*Query, err error) {
	defer catch(&err)
	if err := checkUTF8(text); err != nil {
		return nil, err
	}
	r := &listReader{lineReader: lineReader{text: text}}
	for r.line("#%") {
		first := r.fields[0]
		if own, ok := strings.CutSuffix(first.text, ":"); ok && own != "" {
			if r.p != nil && len(qs) == 0 {
				panic(r.fail(0, "a name after edges without one").expecting("a name before each pattern, or none"))
			}
			r.p = nil
			from := r.start
			r.pairs(r.fields[1:])
			qs = append(qs, r.query(own, strings.TrimRight(text[from:r.next], "\r\n")))
			continue
		}
		if len(qs) > 0 {
			panic(r.fail(0, "edges without a name").expecting("name: 0-1 0-2 …"))
		}
		if len(r.fields) == 2 && !isPair(first.text) {
			r.add(r.fields[0], r.fields[1], false)
			continue
		}
		r.pairs(r.fields)
	}
	if len(qs) == 0 {
		qs = append(qs, r.query(name, text))
	}
	return qs, nil
}

// isPair reports whether a field is u-v or u~v.
func isPair(s string) bool { return strings.ContainsAny(s, "-~") }

type listReader struct {
	lineReader
	p     *pattern.Pattern
	index map[string]int
}

func (r *listReader) pairs(fields []field) {
	for _, f := range fields {
		cut := strings.IndexAny(f.text, "-~")
		if cut <= 0 || cut == len(f.text)-1 {
			panic(errorAt(r.text, f.pos, "this is not an edge").expecting("u-v, or a line u v"))
		}
		r.add(field{f.text[:cut], f.pos}, field{f.text[cut+1:], f.pos + cut + 1}, f.text[cut] == '~')
	}
}

func (r *listReader) add(u, v field, negated bool) {
	a, b := r.vertex(u), r.vertex(v)
	if msg := addFileEdge(r.p, a, b, pattern.Either, nil); msg != "" {
		panic(errorAt(r.text, u.pos, msg))
	}
	r.p.Edges[len(r.p.Edges)-1].Negated = negated
}

func (r *listReader) vertex(f field) int {
	if r.p == nil {
		r.p, r.index = &pattern.Pattern{}, map[string]int{}
	}
	if v, ok := r.index[f.text]; ok {
		return v
	}
	for i, c := range f.text {
		if !letter(c) && (c < '0' || c > '9') {
			panic(errorAt(r.text, f.pos+i, "the character "+string(c)+" cannot stand in the name of a vertex").expecting("a number or a word"))
		}
	}
	v := len(r.p.Vertices)
	if v == pattern.MaxVertices {
		panic(errorAt(r.text, f.pos, "a pattern may have at most 32 vertices"))
	}
	name := f.text
	if isDigit(name[0]) {
		name = "v" + name
	}
	if r.p.Vertices != nil && r.named(name) {
		panic(errorAt(r.text, f.pos, "a vertex "+f.text+" and a vertex "+name+" cannot be told apart"))
	}
	r.index[f.text] = v
	r.p.Vertices = append(r.p.Vertices, pattern.Vertex{Name: name})
	return v
}

func (r *listReader) named(name string) bool {
	for _, v := range r.p.Vertices {
		if v.Name == name {
			return true
		}
	}
	return false
}

func (r *listReader) query(name, text string) *Query {
	if r.p == nil {
		panic(errorAt(r.text, r.start, "there are no edges").expecting("u-v, or a line u v"))
	}
	if err := r.p.Validate(); err != nil {
		panic(errorAt(r.text, min(r.start, len(r.text)), err.Error()))
	}
	return fileQuery(r.p, name, text)
}
