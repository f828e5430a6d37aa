package format

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// mostXML is the most bytes of one tag or one text of an XML file, and mostDepth how deep
// its elements may be nested.
const (
	mostXML   = 16 << 20
	mostDepth = 200
)

// graphMLKey is a declared attribute.
type graphMLKey struct {
	of      string // node, edge, all, or a word that is not read
	name    string
	kind    cellKind
	preset  bool // it has a default
	word    int64
	text    string
	foreign bool // its data holds elements
	typed   bool // it has a type
	time    timeType
}

// graphML reads a GraphML file (Brandes, Eiglsperger, Herman, Himsolt, Marshall: GraphML
// Progress Report, GD 2001) as a stream of tags.
type graphML struct {
	*attributed
	d       *xml.Decoder
	in      *tokenLimit
	at      place // of the last token
	depth   int
	keys    map[string]*graphMLKey
	order   []*graphMLKey // as they are declared
	presets []*graphMLKey
	given   map[string]bool // keys of the element that is read
	graphs  int
	charset error // the file is not UTF-8
}

// tokenLimit ends a stream in which one token is too long.
type tokenLimit struct {
	r     io.Reader
	since int
}

var errLongXML = errors.New("a tag or a text is longer than 16 MiB")

func (t *tokenLimit) Read(p []byte) (int, error) {
	if t.since > mostXML {
		return 0, errLongXML
	}
	n, err := t.r.Read(p)
	t.since += n
	return n, err
}

func (r *reading) readGraphML() error {
	a, err := r.attributed("GraphML")
	if err != nil {
		return err
	}
	raw, err := r.src.open()
	if err != nil {
		return err
	}
	defer raw.Close()
	m := &graphML{attributed: a, in: &tokenLimit{r: raw}, keys: map[string]*graphMLKey{}, given: map[string]bool{}}
	m.d = xml.NewDecoder(m.in)
	m.d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		if c := strings.ToLower(charset); c == "us-ascii" || c == "ascii" {
			return in, nil
		}
		m.charset = wrapf(ErrUTF8, "the file says that it is %s; convert it to UTF-8", charset)
		return nil, m.charset
	}
	if err := m.file(); err != nil {
		return err
	}
	m.declare(m.nodes, "node")
	m.declare(m.edges, "edge")
	return m.finish([]string{"labels", "label"}, []string{"label", "labels"})
}

// declare puts the properties of f into the order in which they are declared, and adds
// those without any value.
func (m *graphML) declare(f *frame, of string) {
	rest := f.names
	f.names = nil
	take := func(name string) {
		if i := slices.Index(rest, name); i >= 0 {
			f.names, rest = append(f.names, name), slices.Delete(rest, i, i+1)
		}
	}
	for _, k := range m.order {
		_, used := f.kinds[k.name]
		label := k.name == "label" || k.name == "labels"
		if label { // without a value it only says that the other one is a property
			_, other := f.kinds[map[string]string{"label": "labels", "labels": "label"}[k.name]]
			label = !other
		}
		if !used && k.of == of && k.typed && !k.foreign && !label && f.rows > 0 {
			f.kinds[k.name] = k.kind
			rest = append(rest, k.name)
		}
		if k.of == of || k.of == "all" {
			take(k.name)
		}
		if of == "edge" && k.of == of && k.time != (timeType{}) {
			m.times[k.name] = k.time
		}
	}
	f.names = append(f.names, rest...)
}

// next is the next token; io.EOF at the file's end.
func (m *graphML) next() (xml.Token, error) {
	if err := m.r.ctx.Err(); err != nil {
		return nil, err
	}
	line, col := m.d.InputPos()
	m.at = place{int64(line), col, m.d.InputOffset()}
	m.in.since = 0
	t, err := m.d.Token()
	var syntax *xml.SyntaxError
	switch {
	case err == nil || err == io.EOF:
		return t, err
	case errors.As(err, &syntax):
		line, col := m.d.InputPos()
		at := place{int64(line), col, m.d.InputOffset()}
		if strings.Contains(syntax.Msg, "unexpected EOF") {
			return nil, m.fail(at, "", wrapf(ErrTruncated, "XML"))
		}
		return nil, m.fail(at, "", fmt.Errorf("damaged XML: %s", syntax.Msg))
	case errors.Is(err, errLongXML):
		return nil, m.fail(m.at, "", err)
	case m.charset != nil:
		return nil, m.fail(m.at, "", m.charset)
	case strings.HasPrefix(err.Error(), "xml: "):
		return nil, m.fail(m.at, "", errors.New(strings.TrimPrefix(err.Error(), "xml: ")))
	}
	return nil, m.r.src.readError(err, m.d.InputOffset())
}

// children calls do with each element up to the end of the one that is open; text is the
// text between them.
func (m *graphML) children(do func(xml.StartElement) error) (text string, err error) {
	if m.depth++; m.depth > mostDepth {
		return "", m.fail(m.at, "", fmt.Errorf("elements are nested more than %d deep", mostDepth))
	}
	defer func() { m.depth-- }()
	var b []byte
	for {
		t, err := m.next()
		if err != nil {
			if err == io.EOF {
				err = m.fail(m.at, "", wrapf(ErrTruncated, "XML"))
			}
			return "", err
		}
		switch t := t.(type) {
		case xml.CharData:
			if b = append(b, t...); len(b) > mostXML {
				return "", m.fail(m.at, "", errLongXML)
			}
		case xml.StartElement:
			if err := do(t); err != nil {
				return "", err
			}
		case xml.EndElement:
			return string(b), nil
		}
	}
}

// skip reads an element that is not needed.
func (m *graphML) skip(xml.StartElement) error {
	_, err := m.children(m.skip)
	return err
}

// file reads the whole file.
func (m *graphML) file() error {
	seen := false
	for {
		t, err := m.next()
		if err == io.EOF {
			if !seen {
				return m.fail(m.at, "", wrapf(ErrStructure, "there is no element <graphml>"))
			}
			return nil
		}
		if err != nil {
			return err
		}
		e, ok := t.(xml.StartElement)
		switch {
		case !ok:
			if c, ok := t.(xml.CharData); ok && seen && strings.TrimSpace(string(c)) != "" {
				return m.fail(m.at, strings.TrimSpace(string(c)), wrapf(ErrStructure, "text after </graphml>"))
			}
			continue
		case seen:
			return m.fail(m.at, e.Name.Local, wrapf(ErrStructure, "an element after </graphml>"))
		case e.Name.Local != "graphml":
			return m.fail(m.at, e.Name.Local, wrapf(ErrStructure, "the file's element is not <graphml>"))
		}
		seen = true
		if _, err := m.children(m.top); err != nil {
			return err
		}
	}
}

// top reads an element in <graphml>.
func (m *graphML) top(e xml.StartElement) error {
	switch e.Name.Local {
	case "key":
		return m.key(e)
	case "graph":
		if m.graphs++; m.graphs > 1 {
			return m.fail(m.at, "", wrapf(ErrManyGraphs, "the second begins here; split the file"))
		}
		return m.graph(e)
	case "data", "desc":
		return m.skip(e)
	}
	return m.unknown(e)
}

// unknown refuses an element.
func (m *graphML) unknown(e xml.StartElement) error {
	switch name := e.Name.Local; name {
	case "hyperedge":
		return m.fail(m.at, "", wrapf(ErrStructure, "hyperedges are not read: an edge has two ends"))
	case "port":
		return m.fail(m.at, "", wrapf(ErrStructure, "ports are not read"))
	case "locator":
		return m.fail(m.at, "", wrapf(ErrStructure, "parts in other files (<locator>) are not read"))
	default:
		return m.fail(m.at, name, wrapf(ErrStructure, "an element that GraphML does not have here"))
	}
}

// attr is an attribute of a tag.
func attr(e xml.StartElement, name string) (string, bool) {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

// need is an attribute of a tag that must be there.
func (m *graphML) need(e xml.StartElement, name string, at place) (string, error) {
	s, ok := attr(e, name)
	if !ok || s == "" {
		return "", m.fail(at, "", wrapf(ErrStructure, "<%s> without %s", e.Name.Local, name))
	}
	return s, nil
}

// key reads the declaration of an attribute.
func (m *graphML) key(e xml.StartElement) error {
	at := m.at
	id, err := m.need(e, "id", at)
	if err != nil {
		return err
	}
	if m.keys[id] != nil {
		return m.fail(at, id, wrapf(ErrStructure, "a key that is declared twice"))
	}
	if len(m.keys) >= mostProperties {
		return m.fail(at, "", wrapf(ErrColumns, "more than %d properties", mostProperties))
	}
	k := &graphMLKey{of: "all", name: id, kind: cellText}
	if of, ok := attr(e, "for"); ok {
		k.of = of
	}
	if name, ok := attr(e, "attr.name"); ok && name != "" {
		k.name = name
	}
	if typ, ok := attr(e, "attr.type"); ok {
		kind, ok := map[string]cellKind{
			"boolean": cellBool, "int": cellInt, "integer": cellInt, "long": cellInt, "float": cellFloat, "double": cellFloat, "string": cellText,
		}[typ]
		if !ok {
			return m.fail(at, typ, wrapf(ErrStructure, "the type of the key %s: want boolean, int, long, float, double or string", id))
		}
		k.kind, k.typed = kind, true
	}
	if unit, ok := attr(e, unitAttr); ok {
		if k.time, ok = parseTimeType(unit); !ok {
			return m.fail(at, unit, wrapf(ErrStructure, "the unit of the key %s", id))
		}
	}
	m.keys[id] = k
	m.order = append(m.order, k)
	_, err = m.children(func(e xml.StartElement) error {
		if e.Name.Local != "default" {
			return m.skip(e)
		}
		at := m.at
		text, err := m.children(m.skip)
		if err != nil {
			return err
		}
		if k.word, k.text, err = m.value(k, text); err != nil {
			return m.fail(at, text, fmt.Errorf("the default of the key %s: %w", id, err))
		}
		if !k.preset {
			k.preset = true
			m.presets = append(m.presets, k)
		}
		return nil
	})
	return err
}

// value reads a value of a key.
func (m *graphML) value(k *graphMLKey, text string) (int64, string, error) {
	if k.kind != cellText {
		text = strings.TrimSpace(text)
	}
	return parseCell(k.kind, text)
}

func (m *graphML) graph(e xml.StartElement) error {
	directed := false
	switch s, ok := attr(e, "edgedefault"); {
	case s == "directed":
		directed, m.byDefault = true, true
	case !ok:
		m.silent = true
	case s != "undirected":
		return m.fail(m.at, s, wrapf(ErrStructure, "edgedefault: want directed or undirected"))
	}
	_, err := m.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "node":
			return m.nodeTag(e)
		case "edge":
			return m.edgeTag(e, directed)
		case "data":
			id, _ := attr(e, "key")
			if k := m.keys[id]; k != nil {
				id = k.name
			}
			m.r.note("the graph's own %s is not read", id)
			return m.skip(e)
		case "desc":
			return m.skip(e)
		case "key":
			return m.key(e)
		}
		return m.unknown(e)
	})
	return err
}

func (m *graphML) nodeTag(e xml.StartElement) error {
	at := m.at
	id, err := m.need(e, "id", at)
	if err != nil {
		return err
	}
	c, err := m.node(id, at)
	if err != nil {
		return err
	}
	labels := ""
	for _, x := range e.Attr {
		switch name := x.Name.Local; {
		case name == "id" || x.Name.Space != "" || strings.HasPrefix(name, "parse."):
		case name == "labels":
			labels = x.Value
		default:
			m.r.note("the attribute %s of <node> is not read", name)
		}
	}
	if err := m.data(m.nodes, c, "node"); err != nil || labels == "" || m.given["labels"] {
		return err
	}
	return m.set(m.nodes, c, "labels", cellText, 0, colonLabels(labels), at)
}

// colonLabels is labels as Neo4j writes them, :A:B, with semicolons.
func colonLabels(s string) string {
	if strings.HasPrefix(s, ":") {
		return strings.ReplaceAll(s[1:], ":", ";")
	}
	return s
}

func (m *graphML) edgeTag(e xml.StartElement, directed bool) error {
	at := m.at
	src, err := m.need(e, "source", at)
	if err != nil {
		return err
	}
	dst, err := m.need(e, "target", at)
	if err != nil {
		return err
	}
	switch s, ok := attr(e, "directed"); {
	case !ok:
	case s == "true" || s == "false":
		directed = s == "true"
	default:
		return m.fail(at, s, wrapf(ErrStructure, "directed: want true or false"))
	}
	c, err := m.edge(src, dst, directed, at)
	if err != nil {
		return err
	}
	label := ""
	for _, x := range e.Attr {
		switch name := x.Name.Local; {
		case name == "label":
			label = x.Value
		case name == "source" || name == "target" || name == "directed" || x.Name.Space != "":
		case name == "id":
			if err := m.set(m.edges, c, name, cellText, 0, x.Value, at); err != nil {
				return err
			}
		case name == "sourceport" || name == "targetport":
			return m.fail(at, "", wrapf(ErrStructure, "ports are not read"))
		default:
			m.r.note("the attribute %s of <edge> is not read", name)
		}
	}
	if err := m.data(m.edges, c, "edge"); err != nil || label == "" || m.given["label"] {
		return err
	}
	return m.set(m.edges, c, "label", cellText, 0, label, at)
}

// data reads the data of a node or an edge, and adds the defaults.
func (m *graphML) data(f *frame, c *frameChunk, of string) error {
	clear(m.given)
	_, err := m.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "data":
			return m.datum(e, f, c, of)
		case "desc":
			return m.skip(e)
		case "graph":
			return m.fail(m.at, "", wrapf(ErrStructure, "graphs inside nodes and edges are not read"))
		}
		return m.unknown(e)
	})
	if err != nil {
		return err
	}
	for _, k := range m.presets {
		if (k.of == of || k.of == "all") && !m.given[k.name] {
			if err := m.set(f, c, k.name, k.kind, k.word, k.text, m.at); err != nil {
				return err
			}
		}
	}
	return nil
}

// datum reads one attribute.
func (m *graphML) datum(e xml.StartElement, f *frame, c *frameChunk, of string) error {
	at := m.at
	id, err := m.need(e, "key", at)
	if err != nil {
		return err
	}
	k := m.keys[id]
	if k == nil {
		return m.fail(at, id, wrapf(ErrStructure, "a key that is not declared"))
	}
	if k.of != of && k.of != "all" {
		return m.fail(at, id, wrapf(ErrStructure, "a key for %s in <%s>", k.of, of))
	}
	holds := false
	text, err := m.children(func(e xml.StartElement) error {
		holds = true
		return m.skip(e)
	})
	if err != nil {
		return err
	}
	if holds {
		if !k.foreign {
			k.foreign = true
			m.r.note("the data of the key %s has elements in it, and is not read", id)
		}
		return nil
	}
	if k.kind != cellText && strings.TrimSpace(text) == "" {
		return nil
	}
	word, s, err := m.value(k, text)
	if err != nil {
		return m.fail(at, text, fmt.Errorf("the property %s: %w", k.name, err))
	}
	if of == "node" && k.name == "labels" {
		s = colonLabels(s)
	}
	m.given[k.name] = true
	return m.set(f, c, k.name, k.kind, word, s, at)
}

func floatWord(f float64) int64 { return int64(math.Float64bits(f)) }

// isGraphML reports whether a file begins as XML, and whether that is GraphML or which
// other element it is.
func isGraphML(head []byte) (isXML bool, element string) {
	s := strings.TrimLeft(strings.TrimPrefix(string(head[:min(len(head), 64<<10)]), string(bom)), " \t\r\n")
	begins := []string{"<?xml", "<!DOCTYPE", "<!doctype", "<!--", "<graphml", "<gexf"}
	if !slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(s, b) }) {
		return false, ""
	}
	d := xml.NewDecoder(strings.NewReader(s))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		t, err := d.Token()
		if err != nil {
			return true, ""
		}
		if e, ok := t.(xml.StartElement); ok {
			return true, e.Name.Local
		}
	}
}
