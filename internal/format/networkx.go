package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/regex"
)

// networkX reads the edge list that NetworkX writes: two names and a dict of Python, as in
//
//	1 2 {'weight': 3}
type networkX struct {
	*attributed
	line  []byte
	at    place // of the line
	pos   int   // in the line
	delim byte  // between the fields; 0: not known yet
}

func (r *reading) readNetworkX() error {
	a, err := r.attributed("the edge list of NetworkX")
	if err != nil {
		return err
	}
	raw, err := r.src.open()
	if err != nil {
		return err
	}
	defer raw.Close()
	in := bufio.NewReaderSize(raw, 256<<10)
	n := &networkX{attributed: a, at: place{1, 1, 0}}
	n.silent = true
	if mark, err := in.Peek(len(bom)); err == nil && bytes.Equal(mark, bom) {
		_, _ = in.Discard(len(bom))
		n.at.off = int64(len(bom))
	}
	for {
		if n.at.line%1024 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		n.line = n.line[:0]
		var err error
		for more := true; more && err == nil; {
			var part []byte
			part, err = in.ReadSlice('\n')
			n.line = append(n.line, part...)
			if more = errors.Is(err, bufio.ErrBufferFull); more {
				err = nil
			}
			if len(n.line) > maxLine {
				return n.fail(n.at, string(n.line), ErrLongLine)
			}
		}
		if err != nil && err != io.EOF {
			return r.src.readError(err, n.at.off)
		}
		size := len(n.line)
		n.line = bytes.TrimRight(n.line, "\r\n")
		if t := bytes.TrimSpace(n.line); len(t) > 0 && t[0] != '#' {
			if err := n.edgeLine(); err != nil {
				return err
			}
		}
		n.at.line++
		n.at.off += int64(size)
		if err == io.EOF {
			return n.finish(nil, []string{"label"})
		}
	}
}

// wrong is an error at byte pos of the line.
func (n *networkX) wrong(pos int, field string, err error) error {
	return n.fail(place{n.at.line, pos + 1, n.at.off + int64(pos)}, field, err)
}

// edgeLine reads a line.
func (n *networkX) edgeLine() error {
	open := n.dictAt()
	if open < 1 {
		return n.wrong(0, string(n.line), wrapf(ErrRagged, "a line is u v {…}"))
	}
	if n.delim == 0 {
		n.delim = n.line[open-1]
	}
	head := n.line[:open-1]
	if n.line[open-1] != n.delim {
		return n.wrong(open-1, string(n.line[open-1:open]), wrapf(ErrRagged, "the fields before it are separated by %q", n.delim))
	}
	cut := bytes.IndexByte(head, n.delim)
	if cut < 0 || bytes.IndexByte(head[cut+1:], n.delim) >= 0 {
		return n.wrong(0, string(n.line), wrapf(ErrRagged, "a line is u v {…}, with %q between", n.delim))
	}
	src, dst := string(head[:cut]), string(head[cut+1:])
	for _, id := range []string{src, dst} {
		n.pos = 0
		if id == dst {
			n.pos = cut + 1
		}
		switch {
		case id == "":
			return n.wrong(n.pos, "", errNull)
		case !utf8.ValidString(id):
			return n.wrong(n.pos, id, ErrUTF8)
		}
		n.known.add(id) // every end is a vertex
	}
	c, err := n.edge(src, dst, false, n.at)
	if err != nil {
		return err
	}
	n.pos = open
	return n.dict(c)
}

// dictAt is where the dict of the line begins, -1 if there is none.
func (n *networkX) dictAt() int {
	for from := 0; ; {
		i := bytes.IndexByte(n.line[from:], '{')
		if i < 0 {
			return -1
		}
		if i += from; i > 0 && bytes.IndexByte([]byte(" \t,;|"), n.line[i-1]) >= 0 {
			return i
		}
		from = i + 1
	}
}

// blank skips blanks, and returns the next byte, 0 at the end of the line.
func (n *networkX) blank() byte {
	for n.pos < len(n.line) && (n.line[n.pos] == ' ' || n.line[n.pos] == '\t') {
		n.pos++
	}
	if n.pos == len(n.line) {
		return 0
	}
	return n.line[n.pos]
}

// want reads one byte.
func (n *networkX) want(b byte) error {
	if n.blank() != b {
		return n.wrong(n.pos, string(n.line[n.pos:]), wrapf(ErrStructure, "a dict of Python needs %q here", b))
	}
	n.pos++
	return nil
}

// dict reads {'name': value, …}.
func (n *networkX) dict(c *frameChunk) error {
	if err := n.want('{'); err != nil {
		return err
	}
	for n.blank() != '}' {
		at := n.pos
		k, _, name, err := n.value()
		if err != nil {
			return err
		}
		if k != cellText && k != cellInt {
			return n.wrong(at, string(n.line[at:n.pos]), wrapf(ErrStructure, "the name of a property: want a text"))
		}
		if k == cellInt {
			name = string(n.line[at:n.pos])
		}
		if err := n.want(':'); err != nil {
			return err
		}
		n.blank()
		at = n.pos
		k, word, text, err := n.value()
		if err != nil {
			return err
		}
		if err := n.set(n.edges, c, name, k, word, text, place{n.at.line, at + 1, n.at.off + int64(at)}); err != nil {
			return err
		}
		if n.blank() == '}' {
			break
		}
		if err := n.want(','); err != nil {
			return err
		}
	}
	n.pos++
	if n.blank() != 0 {
		return n.wrong(n.pos, string(n.line[n.pos:]), wrapf(ErrStructure, "text after the dict"))
	}
	return nil
}

// value reads a value of Python.
func (n *networkX) value() (k cellKind, word int64, text string, err error) {
	at := n.pos
	switch b := n.blank(); {
	case b == '\'' || b == '"':
		text, err = n.text(b)
		return cellText, 0, text, err
	case b == '[' || b == '(' || b == '{':
		return 0, 0, "", n.wrong(n.pos, string(n.line[n.pos:]), wrapf(ErrColumns, "lists, tuples and dicts are not read as properties"))
	}
	for n.pos < len(n.line) && bytes.IndexByte([]byte(",:} \t"), n.line[n.pos]) < 0 {
		n.pos++
	}
	s := string(bytes.TrimLeft(n.line[at:n.pos], " \t"))
	switch s {
	case "None", "null": // as JSON has it
		return cellNone, 0, "", nil
	case "True", "true":
		return cellBool, 1, "", nil
	case "False", "false":
		return cellBool, 0, "", nil
	}
	k = cellInt
	if strings.ContainsAny(s, ".eEnN") {
		k = cellFloat
	}
	word, _, err = parseCell(k, s)
	if err != nil || strings.ContainsAny(s, "xXpP_") {
		if err == nil {
			err = ErrNumber
		}
		return 0, 0, "", n.wrong(at, s, fmt.Errorf("%w; a value is a number, a text, True, False or None", err))
	}
	return k, word, "", nil
}

// text reads a string of Python.
func (n *networkX) text(quote byte) (string, error) {
	start := n.pos
	n.pos++
	var out []byte
	for n.pos < len(n.line) {
		b := n.line[n.pos]
		n.pos++
		switch b {
		case quote:
			if !utf8.Valid(out) {
				return "", n.wrong(start, string(out), ErrUTF8)
			}
			return string(out), nil
		case '\\':
			r, size, ok := pythonEscape(n.line[n.pos:])
			if !ok {
				return "", n.wrong(n.pos-1, string(n.line[n.pos-1:]), wrapf(ErrStructure, "an escape that strings of Python do not have"))
			}
			out = utf8.AppendRune(out, r)
			n.pos += size
		default:
			out = append(out, b)
		}
	}
	return "", n.wrong(start, string(n.line[start:]), wrapf(ErrStructure, "a text that does not end"))
}

// pythonEscape is the character that stands behind a backslash.
func pythonEscape(b []byte) (r rune, size int, ok bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	digits := 0
	switch b[0] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		i := strings.IndexByte(`\'"ntrabfv0`, b[0])
		if i < 0 {
			return 0, 0, false
		}
		return rune("\\'\"\n\t\r\a\b\f\v\x00"[i]), 1, true
	}
	if len(b) <= digits {
		return 0, 0, false
	}
	x, err := strconv.ParseUint(string(b[1:1+digits]), 16, 32)
	if err != nil || !utf8.ValidRune(rune(x)) {
		return 0, 0, false
	}
	return rune(x), 1 + digits, true
}

var (
	networkXLine = regex.Once(`^[^{}]*[^{}\s,;|][ \t,;|][^{}]*[^{}\s,;|][ \t,;|]\{(?:\s*(?:['"]|\d+\s*:).*)?\}\s*$`)
	networkXHead = regex.Once(`^#[^\n]*\n# GMT [^\n]*\n`)
)

// isNetworkX reports whether the first line of a text that is not a comment is one of
// NetworkX's edge list.
func isNetworkX(head []byte) bool {
	for line := range bytes.SplitSeq(bytes.TrimPrefix(head, bom), newline) {
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' {
			return len(t) <= maxLine && bytes.IndexByte(t, '{') >= 0 && networkXLine().Match(line)
		}
	}
	return false
}

// isAdjacencyList reports whether a text begins as NetworkX's lists of neighbours do.
func isAdjacencyList(head []byte) bool {
	head = bytes.TrimPrefix(head, bom)
	return bytes.HasPrefix(head, []byte("#")) && networkXHead().Match(head)
}
