package format

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/graph"
)

// readEdgeList reads a text edge list of any variant.
func (r *reading) readEdgeList(f Format) error {
	sp, smp, err := guessText(r.head, r.whole, &r.o, edgeRole, f, r.note)
	if err != nil {
		return r.src.place(r.fileError(err), &block{data: r.head})
	}
	words := konectHeader(bytes.TrimPrefix(r.head, bom))
	if words != nil && words[0] == "bip" && r.o.Format != string(EdgeList) {
		return r.errorf(ErrHeader, "a bipartite KONECT file numbers its two sides separately, so 1 is not 1; --format edgelist reads both sides as one set of vertices")
	}
	if words != nil {
		r.konectColumns(sp)
	}
	file := r.textDirection(sp, smp.comments, words)
	sp.stringIDs = sp.stringIDs || r.sidesText()
	for {
		r.stringIDs = sp.stringIDs
		r.begin(file)
		lines, err := r.edgeText(sp)
		if err == nil {
			if n := sp.sizes; n != nil && !sp.apart && n.edges != lines {
				// The first line is an edge after all.
				if !r.src.again() {
					return r.errorf(ErrHeader, "the first line, %d %d, may be an edge, or the numbers of vertices and edges, but %d edges follow; --header no reads it as an edge, --header yes drops it", n.vertices, n.edges, lines)
				}
				r.src.rewind()
				sp.sizes, sp.start = nil, smp.first
				continue
			}
			r.stat.Lines = lines
			break
		}
		var w *widen
		if !errors.As(err, &w) {
			return err
		}
		if !r.src.again() {
			return w.spot
		}
		switch {
		case w.ids:
			sp.stringIDs = true
			r.note("ids are text, since some begin with a zero: %v", w.spot)
		case w.scale > 0:
			sp.scale = w.scale
		default:
			sp.cols[w.col].typ, sp.cols[w.col].against = w.typ, w.against
			r.note("column %s is %s: found after the first lines", sp.cols[w.col].name, propNames[w.typ])
		}
		r.src.rewind()
	}
	if n := sp.sizes; n != nil {
		if n.edges != r.stat.Lines {
			return &Error{File: r.src.name, Line: 1, Offset: -1, Cause: wrapf(ErrCount, "the first line promises %d edges, the file has %d (--skip 1 drops the line)", n.edges, r.stat.Lines)}
		}
		note := fmt.Sprintf("the first line, %d %d, is read as the numbers of vertices and edges", n.vertices, n.edges)
		if !sp.apart {
			note += " (--header no: it is an edge)"
		}
		r.note("%s", note)
		r.promised = n.vertices
	}
	r.stat.Columns = sp.describe()
	if c := sp.timeColumn(); c != nil {
		t := c.time
		r.stat.TimeUnit, r.stat.TimeDigits, r.stat.TimeEpoch = t.unit, t.digits+sp.scale, t.epoch
		r.timeNamed(c.name)
		r.plainTimes = c.fixed && c.typ == propInt
		switch {
		case sp.iso:
			r.stat.TimeUnit, r.stat.TimeDigits, r.stat.TimeEpoch = 1e3, 0, true
			r.note("times are microseconds since 1970 (UTC)")
		case sp.scale > 0:
			r.note("times are integers of 10^-%d of the file's unit, so that no digit is lost", sp.scale)
		}
	}
	if sp.count >= 0 && uint64(sp.count) != r.stat.Lines {
		return &Error{File: r.src.name, Line: 1, Offset: -1, Cause: wrapf(ErrCount, "the first line promises %d edges, the file has %d (--skip 1 drops the line)", sp.count, r.stat.Lines)}
	}
	if r.stat.Lines == 0 {
		r.note("the file has no edges")
	}
	if n := r.comments - min(r.comments, smp.heads(sp.start)); n > 0 {
		r.note("lines after the first edge that begin with # or %% are comments, and are not read: %d", n)
	}
	r.checkComments(smp.comments, words != nil)
	return nil
}

// textDirection is the direction of edges that a text states, and the reason.
func (r *reading) textDirection(sp *textSpec, comments [][]byte, konect []string) Direction {
	d := FileDirection
	switch own := ownComment(comments); {
	case own != FileDirection:
		return own
	case konect != nil && konect[0] == "asym":
		d = Directed
		r.note("directed: the KONECT header says asym")
	case konect != nil && konect[0] == "sym":
		return Undirected
	case sp.direction != FileDirection:
		d = sp.direction
		r.note("%s: the column %s says so", map[Direction]string{Directed: "directed", Undirected: "undirected"}[d], "Type")
	case sp.relation:
		d = Directed
		r.note("directed, with labels: the columns are taken as head, relation and tail, by their values (--columns src,dst,label reads them otherwise)")
	case sp.triples:
		d = Directed
		r.note("a first line with the count, then head, tail and relation: directed, labelled edges")
	case sp.ends != nil && sp.ends.directed && !snapNames(sp, comments):
		d = Directed
		r.directedByName(sp.names[sp.ends.src], sp.names[sp.ends.dst])
	}
	switch said := commentsSay(comments); {
	case d != FileDirection || r.o.Direction != FileDirection:
	case said == Undirected:
		return Undirected
	case said == Directed:
		r.note("the file's comments say that the graph is directed; it is read as undirected (--directed)")
	}
	return d
}

// directedByName says that names of columns make a graph directed.
func (r *reading) directedByName(src, dst string) {
	if r.o.Direction == FileDirection {
		r.note("directed, from column %q to column %q, as their names say (--directed=false: without direction)", src, dst)
	}
}

// snapNames reports whether the names are those of SNAP's comments. Undirected graphs have
// these names too.
func snapNames(sp *textSpec, comments [][]byte) bool {
	return strings.EqualFold(sp.names[sp.ends.src], "FromNodeId") && slices.ContainsFunc(comments, func(c []byte) bool {
		return bytes.Contains(c, []byte(sp.names[sp.ends.src]))
	})
}

// fileError keeps a spot, and wraps anything else in an Error.
func (r *reading) fileError(err error) error {
	var sp *spot
	var e *Error
	if errors.As(err, &sp) || errors.As(err, &e) {
		return err
	}
	return &Error{File: r.src.name, Offset: -1, Cause: err}
}

// timeColumn is the column of times, nil where there is none.
func (sp *textSpec) timeColumn() *column {
	for i := range sp.cols {
		if c := &sp.cols[i]; c.kind == colTime {
			return c
		}
	}
	return nil
}

// konectColumns: KONECT's third column is the weight, its fourth the time.
func (r *reading) konectColumns(sp *textSpec) {
	if len(r.o.Columns) > 0 {
		return
	}
	for i := 2; i < len(sp.cols) && i < 4; i++ {
		c := &sp.cols[i]
		if i == 2 && c.kind != colProp {
			*c = column{kind: colProp, name: "weight"}
		}
		if i == 3 && c.kind != colTime {
			*c = column{kind: colTime, name: "time"}
		}
	}
	if sp.cols[len(sp.cols)-1].kind == colTime || len(sp.cols) > 2 {
		sp.guessTypes(r.sampleRows(sp))
	}
}

func (r *reading) sampleRows(sp *textSpec) [][][]byte {
	smp, err := sampleLines(r.head, r.whole, r.o.Skip)
	if err != nil {
		return nil
	}
	var rows [][][]byte
	for i, l := range smp.lines {
		if smp.offsets[i] >= sp.start {
			rows = append(rows, fieldsOf(l, sp.sep))
		}
	}
	return rows
}

// ownColumns returns the columns that weft's own comment names.
func ownColumns(cs [][]byte) []string {
	if len(cs) == 0 {
		return nil
	}
	s, ok := strings.CutPrefix(string(cs[0]), "# weft edge list: ")
	_, cols, found := strings.Cut(s, ", columns ")
	if !ok || !found {
		return nil
	}
	return strings.Split(cols, ",")
}

// ownComment reads the first comment of an edge list that weft wrote.
func ownComment(cs [][]byte) Direction {
	for _, c := range cs {
		if s, ok := strings.CutPrefix(string(c), "# weft edge list: "); ok {
			if strings.HasPrefix(s, "directed") {
				return Directed
			}
			return Undirected
		}
	}
	return FileDirection
}

// commentsSay looks for the word directed or undirected at the start of a comment.
func commentsSay(cs [][]byte) Direction {
	for _, c := range cs {
		s := strings.ToLower(strings.TrimLeft(string(c), "#% "))
		switch {
		case strings.HasPrefix(s, "directed"), strings.Contains(s, ",d,graph"):
			return Directed
		case strings.HasPrefix(s, "undirected"):
			return Undirected
		}
	}
	return FileDirection
}

// checkComments compares counts in comments with the counts of the reader.
func (r *reading) checkComments(cs [][]byte, konect bool) {
	for _, c := range cs {
		w := strings.Fields(strings.TrimLeft(string(c), "#% "))
		for i, x := range w {
			if strings.EqualFold(x, "edges:") && i+1 < len(w) {
				if n, err := strconv.ParseUint(w[i+1], 10, 64); err == nil && n != r.stat.Lines {
					r.note("the file's comment promises %d edges, the file has %d lines", n, r.stat.Lines)
				}
			}
		}
		if konect && len(w) >= 2 && isInt([]byte(w[0])) && isInt([]byte(w[1])) {
			if n, err := strconv.ParseUint(w[0], 10, 64); err == nil && n != r.stat.Lines {
				r.note("the KONECT header promises %d edges, the file has %d lines", n, r.stat.Lines)
			}
		}
	}
}

// edgeText parses the lines from sp.start on into the builder.
func (r *reading) edgeText(sp *textSpec) (uint64, error) {
	var lines atomic.Uint64
	threads := r.o.threads()
	simple := len(sp.cols) == 2 && sp.cols[0].kind == colSrc && sp.cols[1].kind == colDst && !sp.extra && !sp.stringIDs
	var mu sync.Mutex
	quick := make([]pairs, threads)
	general := make([]*rows, threads)
	err := r.src.eachBlock(r.ctx, sp.start, threads, func(worker int, b *block) error {
		c := graph.EdgeChunk{Seq: b.seq}
		if simple {
			p := &quick[worker]
			if p.wide == nil && !r.mirror && !r.o.KeepDuplicates {
				err := r.build.Fill(mostPairs(len(b.data)), func(room []uint64) (int, uint32, error) {
					n, most, err := p.narrow(b.data, sp, room)
					lines.Add(uint64(n))
					return n, most, err
				})
				if err != errWide {
					return err
				}
			}
			var err error
			if c.Src, c.Dst, err = p.read(b.data, sp); err != nil {
				return err
			}
			lines.Add(uint64(len(c.Src)))
		} else {
			w := general[worker]
			if w == nil {
				w = newRows(sp, edgeRole)
				general[worker] = w
			}
			if err := w.parse(b.data); err != nil {
				return err
			}
			if w.n == 0 {
				return nil
			}
			lines.Add(w.n)
			c.SrcStr, c.DstStr, c.Label = w.srcS, w.dstS, w.label
			if !sp.stringIDs {
				c.Src, c.Dst = w.src, w.dst
			}
			if sp.timeColumn() != nil {
				c.Time = w.times
			}
			c.Props = w.batch()
		}
		if len(c.Src) == 0 && c.SrcStr == nil {
			return nil
		}
		if sp.stringIDs { // the builder's interner has one lock anyway
			mu.Lock()
			defer mu.Unlock()
		}
		return r.addEdges(&c)
	})
	if err == nil {
		r.noteValues(sp, general)
	}
	r.comments = 0
	for w := range threads {
		r.comments += quick[w].f.comments
		if general[w] != nil {
			r.comments += general[w].f.comments
		}
	}
	return lines.Load(), err
}

// addEdges hands a chunk to the builder, and its mirror image where asked.
func (r *reading) addEdges(c *graph.EdgeChunk) error {
	if !r.mirror {
		return r.build.AddEdges(c)
	}
	m := *c
	c.Seq *= 2
	m.Seq = c.Seq + 1
	m.Src, m.Dst, m.SrcStr, m.DstStr = c.Dst, c.Src, c.DstStr, c.SrcStr
	if err := r.build.AddEdges(c); err != nil {
		return err
	}
	return r.build.AddEdges(&m)
}
