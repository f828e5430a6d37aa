package format

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/weftgraph/weft/internal/graph"
)

// attributed gathers the nodes and edges of formats in which each has attributes of its
// own: GraphML, GML and NetworkX's edge list.
type attributed struct {
	r     *reading
	name  string // of the format, for messages
	nodes *frame
	edges *frame
	known nameSet
	// missing are the ends of edges that no node has had yet, with the first place.
	missing              map[string]place
	directed, undirected int64               // edges
	silent               bool                // the file does not say whether edges have a direction
	times                map[string]timeType // units of times, by the property's name
	byDefault            bool                // edges have a direction unless they say otherwise
}

// place is a position in a text.
type place struct {
	line int64
	col  int
	off  int64
}

// mostProperties bounds the properties of nodes, and of edges.
const mostProperties = 4096

func (r *reading) attributed(name string) (*attributed, error) {
	if len(r.o.Columns) > 0 || r.o.Skip > 0 {
		return nil, r.errorf(ErrColumns, "%s has no columns to name and no lines to skip", name)
	}
	return &attributed{r: r, name: name, nodes: newFrame(vertexRole, false), edges: newFrame(edgeRole, false), missing: map[string]place{}, times: map[string]timeType{}}, nil
}

// fail is an error at a place.
func (a *attributed) fail(at place, field string, err error) error {
	e := &Error{File: a.r.src.name, Line: at.line, Column: at.col, Offset: at.off, Cause: err}
	if field != "" {
		e.Excerpt = excerpt([]byte(field))
	}
	return e
}

// node begins a row for a node.
func (a *attributed) node(id string, at place) (*frameChunk, error) {
	if !a.known.add(id) {
		return nil, a.fail(at, id, wrapf(ErrStructure, "the file has this node twice"))
	}
	delete(a.missing, id)
	c := a.nodes.next()
	if err := a.nodes.id(c, 0, id); err != nil {
		return nil, a.fail(at, id, err)
	}
	return c, nil
}

// edge begins a row for an edge, whose ends are nodes somewhere in the file.
func (a *attributed) edge(src, dst string, directed bool, at place) (*frameChunk, error) {
	c := a.edges.next()
	for side, id := range []string{src, dst} {
		if err := a.edges.id(c, side, id); err != nil {
			return nil, a.fail(at, id, err)
		}
		if _, seen := a.missing[id]; !seen && !a.known.has(id) {
			a.missing[id] = at
		}
	}
	if directed {
		a.directed++
	} else {
		a.undirected++
		c.both = append(c.both, c.n-1)
	}
	return c, nil
}

// set sets an attribute of the row of c in f.
func (a *attributed) set(f *frame, c *frameChunk, name string, k cellKind, word int64, text string, at place) error {
	if err := f.set(c, name, k, word, text); err != nil {
		return a.fail(at, "", err)
	}
	if len(f.names) > mostProperties {
		return a.fail(at, "", wrapf(ErrColumns, "more than %d properties", mostProperties))
	}
	return nil
}

// finish hands everything to the builder. An attribute of one of the names in labels is
// the label of a node, or of an edge.
func (a *attributed) finish(nodeLabels, edgeLabels []string) error {
	r := a.r
	if len(a.missing) > 0 {
		var id string
		first := place{off: -1}
		for x, at := range a.missing {
			if first.off < 0 || at.off < first.off || at.off == first.off && x < id {
				id, first = x, at
			}
		}
		return a.fail(first, id, wrapf(ErrRange, "the end of an edge is not a node of the file"))
	}
	a.nodes.takeLabel(nodeLabels)
	a.edges.takeLabel(edgeLabels)
	for _, name := range a.edges.names {
		if slices.Contains(graph.TimeNames, name) && a.edges.kinds[name] == cellInt && a.edges.full(name) {
			a.edges.timeCol = name
			break
		}
	}
	for _, f := range []*frame{a.nodes, a.edges} {
		if err := f.close(); err != nil {
			return r.errorf(ErrColumns, "%v", err)
		}
	}
	if a.nodes.ids == idsText || a.edges.ids == idsText || r.sidesText() {
		r.stringIDs = true
		for _, f := range []*frame{a.nodes, a.edges} {
			if f.ids == idsNumber {
				f.spell()
			}
		}
	}
	file := Undirected
	switch {
	case a.silent && a.directed == 0:
		if file = FileDirection; r.o.Direction == Directed {
			a.directedAll()
		}
	case a.directed > 0, a.byDefault && a.undirected == 0:
		file = Directed
	}
	r.begin(file)
	both := false
	switch {
	case !r.directed || a.undirected == 0:
	case a.directed == 0:
		r.note("--directed on a file of edges without a direction: each is two edges")
		r.mirror = true
	default:
		both = true
		r.note("%d edges have a direction; %d have none, and are two edges each, one either way", a.directed, a.undirected)
	}
	r.stat.Lines = uint64(a.edges.rows)
	if a.nodes.rows > 0 {
		sp := a.nodes.spec()
		r.note("vertices: columns %s", sp.columns)
		if err := r.addFrame(a.nodes, sp); err != nil {
			return err
		}
	}
	r.stat.Columns = "src,dst"
	if a.edges.rows == 0 {
		return nil
	}
	sp := a.edges.spec()
	r.stat.Columns = sp.columns
	sp.time = a.times[a.edges.timeCol]
	r.noteTime(sp.whole, sp)
	if both {
		for _, c := range slices.Clone(a.edges.chunks) {
			if m := c.mirrored(); m.n > 0 {
				a.edges.chunks = append(a.edges.chunks, m)
			}
		}
	}
	return r.addFrame(a.edges, sp)
}

// takeLabel makes the first property of one of the names the label.
func (f *frame) takeLabel(names []string) {
	for _, name := range names {
		if _, ok := f.kinds[name]; ok {
			f.labelCol, f.kinds[name] = name, cellText
			return
		}
	}
}

// mirrored is the rows of c that are edges without a direction, with their ends changed.
func (c *frameChunk) mirrored() *frameChunk {
	m := &frameChunk{cols: map[string]*cellColumn{}}
	for name, col := range c.cols {
		m.cols[name] = &cellColumn{kind: col.kind}
	}
	for _, i := range c.both {
		if c.sameEnds(i) {
			continue
		}
		m.n++
		for side := range 2 {
			if t := c.text[1-side]; t != nil {
				putString(&m.text[side], t.Bytes[t.Off[i]:t.Off[i+1]])
			} else {
				m.num[side] = append(m.num[side], c.num[1-side][i])
			}
		}
		for name, col := range c.cols {
			if i >= len(col.null) || col.null[i] {
				m.cols[name].add(true, 0, "")
			} else if col.kind == cellText {
				m.cols[name].add(false, 0, col.texts[i])
			} else {
				m.cols[name].add(false, col.words[i], "")
			}
		}
	}
	return m
}

// sameEnds reports whether row i is a self-loop.
func (c *frameChunk) sameEnds(i int) bool {
	if c.text[0] == nil {
		return c.num[0][i] == c.num[1][i]
	}
	at := func(t *graph.StringColumn) string { return string(t.Bytes[t.Off[i]:t.Off[i+1]]) }
	return at(c.text[0]) == at(c.text[1])
}

// nameSet is a set of ids.
type nameSet struct {
	nums  idSet
	names map[string]struct{}
}

func numericName(s string) (uint64, bool) {
	if len(s) == 0 || len(s) > 18 || s[0] == '0' && len(s) > 1 || s[0] == '+' {
		return 0, false
	}
	x, err := strconv.ParseUint(s, 10, 63)
	return x, err == nil
}

// add reports whether s is new.
func (n *nameSet) add(s string) bool {
	if x, ok := numericName(s); ok {
		return n.nums.add(x)
	}
	if n.has(s) {
		return false
	}
	if n.names == nil {
		n.names = map[string]struct{}{}
	}
	n.names[s] = struct{}{}
	return true
}

func (n *nameSet) has(s string) bool {
	if x, ok := numericName(s); ok {
		return n.nums.has(x)
	}
	_, ok := n.names[s]
	return ok
}

// parseCell reads a value of a kind.
func parseCell(k cellKind, s string) (word int64, text string, err error) {
	switch k {
	case cellInt:
		word, err = strconv.ParseInt(s, 10, 64)
	case cellFloat:
		var f float64
		f, err = strconv.ParseFloat(s, 64)
		word = floatWord(f)
	case cellBool:
		switch s {
		case "true", "True", "TRUE", "1":
			word = 1
		case "false", "False", "FALSE", "0":
		default:
			return 0, "", fmt.Errorf("not a boolean: want true or false")
		}
	default:
		return 0, s, nil
	}
	if err != nil {
		if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
			return 0, "", ErrOverflow
		}
		return 0, "", ErrNumber
	}
	return word, "", nil
}
