package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/regex"
)

// gml reads a GML file (Himsolt: GML, a portable graph file format, 1997) as a stream of
// keys and values.
type gml struct {
	*attributed
	in     *bufio.Reader
	now    place // of the next byte
	depth  int
	said   bool // the file says whether edges have a direction
	graphs int
}

// gmlToken is a key or a value. Its kind says which: cellNone is a key or a bracket.
type gmlToken struct {
	kind cellKind
	text string // of a key, a bracket or a string; as written of a number
	word int64
	at   place
}

// The tokens that are not keys or values; gmlEnd is the end of the file.
const (
	gmlOpen  = "["
	gmlClose = "]"
	gmlEnd   = ""
)

func (r *reading) readGML() error {
	a, err := r.attributed("GML")
	if err != nil {
		return err
	}
	raw, err := r.src.open()
	if err != nil {
		return err
	}
	defer raw.Close()
	g := &gml{attributed: a, in: bufio.NewReaderSize(raw, 64<<10), now: place{1, 1, 0}}
	if mark, err := g.in.Peek(len(bom)); err == nil && bytes.Equal(mark, bom) {
		_, _ = g.in.Discard(len(bom))
		g.now.off = int64(len(bom))
	}
	if err := g.list(gmlEnd, g.top); err != nil {
		return err
	}
	if g.graphs == 0 {
		return g.fail(g.now, "", wrapf(ErrStructure, "there is no graph [ … ]"))
	}
	if g.silent = !g.said; g.byDefault {
		g.directedAll()
	}
	return g.finish([]string{"labels"}, []string{"label"})
}

// directedAll gives all edges a direction: the file may say so behind them.
func (a *attributed) directedAll() {
	a.directed, a.undirected = a.edges.rows, 0
	for _, c := range a.edges.chunks {
		c.both = nil
	}
}

// byte is the next byte, and io.EOF at the end.
func (g *gml) byte() (byte, error) {
	b, err := g.in.ReadByte()
	if err != nil {
		if err != io.EOF {
			err = g.r.src.readError(err, g.now.off)
		}
		return 0, err
	}
	g.now.off++
	if g.now.col++; b == '\n' {
		g.now.line, g.now.col = g.now.line+1, 1
	}
	return b, nil
}

// peek is the byte that byte gives next, 0 at the end.
func (g *gml) peek() byte {
	b, err := g.in.Peek(1)
	if err != nil {
		return 0
	}
	return b[0]
}

// next is the next token.
func (g *gml) next() (t gmlToken, err error) {
	var b byte
	for {
		t.at = g.now
		if b, err = g.byte(); err == io.EOF {
			return t, nil
		} else if err != nil {
			return t, err
		}
		if b == '#' {
			if err := g.comment(); err != nil {
				return t, err
			}
		} else if b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			break
		}
	}
	switch {
	case b == '[' || b == ']':
		t.text = string(b)
		return t, nil
	case b == '"':
		return g.string(t)
	}
	text := []byte{b}
	for c := g.peek(); c > ' ' && c != '[' && c != ']' && c != '"' && c != '#'; c = g.peek() {
		if len(text) > maxLine {
			return t, g.fail(t.at, string(text), errors.New("a word is longer than 1 MiB"))
		}
		if c, err = g.byte(); err != nil {
			return t, err
		}
		text = append(text, c)
	}
	t.text = string(text)
	if letter := b | 0x20; letter >= 'a' && letter <= 'z' || b == '_' {
		return t, nil
	}
	return g.number(t)
}

// comment skips the rest of a line.
func (g *gml) comment() error {
	for {
		if b, err := g.byte(); err == io.EOF || b == '\n' {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// number is a word that is a number, or else an error.
func (g *gml) number(t gmlToken) (gmlToken, error) {
	t.kind = cellInt
	if x, err := strconv.ParseInt(t.text, 10, 64); err == nil {
		t.word = x
		return t, nil
	} else if errors.Is(err, strconv.ErrRange) {
		return t, g.fail(t.at, t.text, ErrOverflow)
	}
	t.kind = cellFloat
	x, err := strconv.ParseFloat(t.text, 64)
	if errors.Is(err, strconv.ErrRange) {
		return t, g.fail(t.at, t.text, ErrOverflow)
	}
	if err != nil || strings.ContainsAny(t.text, "xXpP_") {
		return t, g.fail(t.at, t.text, wrapf(ErrNumber, "a key, a number, a string or a bracket can stand here"))
	}
	t.word = floatWord(x)
	return t, nil
}

// string reads the rest of a string.
func (g *gml) string(t gmlToken) (gmlToken, error) {
	var text []byte
	for {
		b, err := g.byte()
		if err == io.EOF {
			return t, g.fail(t.at, "", wrapf(ErrTruncated, "a string has no end"))
		}
		if err != nil {
			return t, err
		}
		if b == '"' {
			break
		}
		if len(text) > maxLine {
			return t, g.fail(t.at, string(text), errors.New("a string is longer than 1 MiB"))
		}
		text = append(text, b)
	}
	t.kind, t.text = cellText, html.UnescapeString(string(text))
	if !utf8.ValidString(t.text) {
		return t, g.fail(t.at, t.text, ErrUTF8)
	}
	return t, nil
}

// list reads keys and values up to end, a closing bracket or the end of the file. A value
// that is a list is gmlOpen, and is for do to read.
func (g *gml) list(end string, do func(key, value gmlToken) error) error {
	if g.depth++; g.depth > mostDepth {
		return g.fail(g.now, "", fmt.Errorf("lists are nested more than %d deep", mostDepth))
	}
	defer func() { g.depth-- }()
	for n := 0; ; n++ {
		if n%1024 == 0 && g.r.ctx.Err() != nil {
			return g.r.ctx.Err()
		}
		key, err := g.next()
		if err != nil {
			return err
		}
		switch {
		case key.kind == cellNone && key.text == end:
			return nil
		case key.kind == cellNone && key.text == gmlEnd:
			return g.fail(key.at, "", wrapf(ErrTruncated, "a [ has no ]"))
		case key.kind != cellNone || key.text == gmlOpen || key.text == gmlClose:
			return g.fail(key.at, key.text, wrapf(ErrStructure, "a key must stand here"))
		}
		value, err := g.next()
		if err != nil {
			return err
		}
		if value.kind == cellNone && value.text != gmlOpen {
			special, ok := map[string]string{"NAN": "NaN", "INF": "+Inf"}[strings.ToUpper(value.text)]
			if !ok {
				if value.text == gmlEnd {
					return g.fail(value.at, key.text, wrapf(ErrTruncated, "a key without a value"))
				}
				return g.fail(value.at, value.text, wrapf(ErrStructure, "the key %s has no value", key.text))
			}
			value.kind, value.text = cellFloat, special
			value.word, _, _ = parseCell(cellFloat, special)
		}
		if err := do(key, value); err != nil {
			return err
		}
	}
}

// skip reads a value that is not needed.
func (g *gml) skip(_, value gmlToken) error {
	if value.kind == cellNone {
		return g.list(gmlClose, g.skip)
	}
	return nil
}

// top reads a key of the file.
func (g *gml) top(key, value gmlToken) error {
	if key.text != "graph" || value.kind != cellNone {
		return g.skip(key, value)
	}
	if g.graphs++; g.graphs > 1 {
		return g.fail(key.at, "", wrapf(ErrManyGraphs, "the second begins here; split the file"))
	}
	return g.list(gmlClose, g.graph)
}

// graph reads a key of the graph.
func (g *gml) graph(key, value gmlToken) error {
	list := value.kind == cellNone
	switch {
	case key.text == "node" && list:
		return g.item(key, g.nodes)
	case key.text == "edge" && list:
		return g.item(key, g.edges)
	case key.text == "directed":
		if value.kind != cellInt || value.word != 0 && value.word != 1 || g.said {
			return g.fail(value.at, value.text, wrapf(ErrStructure, "directed: want 0 or 1, once"))
		}
		g.byDefault, g.said = value.word == 1, true
		return nil
	case key.text == "multigraph":
		return nil
	}
	g.r.note("the graph's own %s is not read", key.text)
	return g.skip(key, value)
}

// gmlField is an attribute of a node or an edge that waits for the id.
type gmlField struct{ key, value gmlToken }

// item reads a node or an edge. Its ids may stand behind its attributes.
func (g *gml) item(at gmlToken, f *frame) error {
	needs := []string{"id"}
	if f == g.edges {
		needs = []string{"source", "target"}
	}
	var ids [2]string
	var fields []gmlField
	err := g.list(gmlClose, func(key, value gmlToken) error {
		for side, need := range needs {
			if key.text != need {
				continue
			}
			if value.kind != cellInt && value.kind != cellText || value.text == "" {
				return g.fail(value.at, value.text, wrapf(ErrNumber, "%s: want a number or a string", need))
			}
			if ids[side] != "" {
				return g.fail(key.at, "", wrapf(ErrStructure, "%s is given twice", need))
			}
			if ids[side] = value.text; value.kind == cellInt {
				ids[side] = strconv.FormatInt(value.word, 10)
			}
			return nil
		}
		if value.kind == cellNone {
			g.r.note("%s of %ss is a list, and is not read", key.text, at.text)
			return g.list(gmlClose, g.skip)
		}
		fields = append(fields, gmlField{key, value})
		return nil
	})
	if err != nil {
		return err
	}
	for side, need := range needs {
		if ids[side] == "" {
			return g.fail(at.at, "", wrapf(ErrStructure, "a %s without %s", at.text, need))
		}
	}
	var c *frameChunk
	if f == g.nodes {
		c, err = g.node(ids[0], at.at)
	} else {
		c, err = g.edge(ids[0], ids[1], false, at.at)
	}
	if err != nil {
		return err
	}
	for _, x := range fields {
		if err := g.set(f, c, x.key.text, x.value.kind, x.value.word, x.value.text, x.key.at); err != nil {
			return err
		}
	}
	return nil
}

var (
	gmlBegins = regex.Once(`^(?:\s|#[^\n]*\n)*(?i:creator\s*"|version\s+[\d."]|comment\s*"|graph\s*\[)`)
	gmlGraph  = regex.Once(`(?:^|\s)graph\s*\[\s*(?:#|\w+(?:[\s\["]|$)|\]|$)`)
)

// isGML reports whether a file begins as GML does.
func isGML(head []byte) bool {
	head = bytes.TrimPrefix(head[:min(len(head), 64<<10)], bom)
	return bytes.IndexByte(head, '[') >= 0 && gmlBegins().Match(head) && gmlGraph().Match(head)
}
