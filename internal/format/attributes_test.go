package format

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/weftgraph/weft/internal/graph"
)

// edgesOf are the lines of a dump that are edges.
func edgesOf(dump string) string {
	return strings.Join(regexp.MustCompile(`(?m)^e .*$`).FindAllString(dump, -1), "\n")
}

// attributedFile reads a file of testdata/attributed, which scripts/attributed.py writes.
func attributedFile(t *testing.T, name string, o ReadOptions) *graph.Graph {
	t.Helper()
	g, err := Read(context.Background(), filepath.Join("testdata", "attributed", name), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestAttributedFiles: what NetworkX and igraph write is one graph in each format.
func TestAttributedFiles(t *testing.T) {
	number := regexp.MustCompile(`"n(\d+)"`) // igraph's ids in GraphML
	for _, c := range []struct {
		files           []string
		vertices, edges int
		directed        bool
	}{
		{[]string{"karate.graphml", "karate.gml", "karate.edgelist"}, 34, 78, false},
		{[]string{"zachary.graphml", "zachary.gml"}, 34, 78, false},
		{[]string{"tree.graphml", "tree.gml"}, 7, 6, true},
		{[]string{"multi.graphml", "multi.gml"}, 3, 3, true},
	} {
		want := ""
		for i, name := range c.files {
			g := attributedFile(t, name, ReadOptions{})
			if g.NumVertices() != c.vertices || int(g.NumEdges()) != c.edges || g.Directed != c.directed {
				t.Errorf("%s: %d vertices, %d edges, directed %v; want %d, %d, %v", name, g.NumVertices(), g.NumEdges(), g.Directed, c.vertices, c.edges, c.directed)
			}
			if name == "multi.graphml" || name == "multi.gml" {
				continue // ids are names in one and numbers in the other
			}
			got := number.ReplaceAllString(edgesOf(dump(g)), `"$1"`)
			if i == 0 {
				want = got
			} else if sortLines(got) != sortLines(want) {
				t.Errorf("%s is not %s:\n%s\nwant\n%s", name, c.files[0], got, want)
			}
		}
	}
}

func sortLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines { // an undirected edge may be written either way
		f := strings.SplitN(l, " ", 4)
		if len(f) > 2 && f[1] > f[2] {
			f[1], f[2] = f[2], f[1]
		}
		lines[i] = strings.Join(f, " ")
	}
	return strings.Join(slices.Sorted(slices.Values(lines)), "\n")
}

// TestAttributed: ids, labels, times, types, defaults and directions.
func TestAttributed(t *testing.T) {
	const keys = `<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="l" for="node" attr.name="labels"/><key id="a" for="all" attr.name="age" attr.type="int"><default> 7 </default></key>` +
		`<key id="w" for="edge" attr.name="w" attr.type="double"/><key id="t" for="edge" attr.name="type"/>`
	for _, c := range []struct {
		name, in string
		o        ReadOptions
		want     string
	}{
		{"defaults.graphml", keys + `<graph edgedefault="directed"><desc>x</desc><node id="a"><data key="l">P;Q</data></node><node id="b"><data key="a">8</data></node>` +
			`<edge source="a" target="b"><data key="w">1e3</data><data key="t"><![CDATA[<&>]]></data></edge><edge source="b" target="a"><data key="a"/></edge></graph></graphml>`, ReadOptions{},
			"directed\ne \"a\" \"b\" age=\"7\" w=\"1000\" type=\"<&>\"\ne \"b\" \"a\" age=\"7\" w=\"\" type=\"\"\nv \"a\" [\"P\" \"Q\"] age=\"7\"\nv \"b\" [] age=\"8\"\n"},
		{"mixed.graphml", `<graphml><graph edgedefault="undirected"><edge source="1" target="2"/><node id="1"/><node id="2"/><node id="3"/><edge source="3" target="2" directed="true"/><edge source="3" target="3"/></graph></graphml>`, ReadOptions{},
			"directed\ne \"1\" \"2\"\ne \"2\" \"1\"\ne \"3\" \"2\"\nv \"1\" []\nv \"2\" []\nv \"3\" []\n"},
		{"mixed2.graphml", `<graphml><graph edgedefault="directed"><node id="1"/><node id="x"/><edge source="1" target="x" directed="false" id="e"/><edge source="x" target="1"/></graph></graphml>`, ReadOptions{Direction: Undirected},
			"undirected\ne \"1\" \"x\" id=\"\"\ne \"1\" \"x\" id=\"e\"\nv \"1\" []\nv \"x\" []\n"},
		{"undirected.graphml", `<graphml><graph edgedefault="undirected"><node id="01"/><node id="2"/><edge source="01" target="2"/></graph></graphml>`, ReadOptions{Direction: Directed},
			"directed\ne \"01\" \"2\"\ne \"2\" \"01\"\nv \"01\" []\nv \"2\" []\n"},
		{"silent.graphml", `<?xml version="1.0" encoding="us-ascii"?><graphml><graph><node id="1"/><node id="2"/><edge source="1" target="2"/></graph></graphml>`, ReadOptions{Direction: Directed},
			"directed\ne \"1\" \"2\"\nv \"1\" []\nv \"2\" []\n"},
		{"neo4j.graphml", `<graphml><graph edgedefault="directed"><node id="n0" labels=":P:Q"/><node id="n1"/><edge source="n0" target="n1" label="X"/></graph></graphml>`, ReadOptions{},
			"directed\ne \"n0\" \"n1\" :X\nv \"n0\" [\"P\" \"Q\"]\nv \"n1\" []\n"},
		{"apoc.graphml", `<graphml><key id="labels" for="node" attr.name="labels"/><key id="label" for="edge" attr.name="label"/><graph edgedefault="directed"><node id="n0" labels=":P:Q"><data key="labels">:P:Q</data></node>` +
			`<node id="n1"/><edge id="e0" source="n0" target="n1" label="X"><data key="label">X</data></edge></graph></graphml>`, ReadOptions{},
			"directed\ne \"n0\" \"n1\" :X id=\"e0\"\nv \"n0\" [\"P\" \"Q\"]\nv \"n1\" []\n"},
		{"json.txt", "1 2 {\"a\": true, \"b\": null, \"c\": 2}\n", ReadOptions{}, "undirected\ne \"1\" \"2\" a=\"true\" c=\"2\"\nv \"1\" []\nv \"2\" []\n"},
		{"foreign.graphml", `<graphml><key id="g" for="node" yfiles.type="nodegraphics"/><graph edgedefault="directed"><node id="1"><data key="g"><y:Shape xmlns:y="y"><y:L>hi</y:L></y:Shape></data></node></graph></graphml>`, ReadOptions{},
			"directed\nv \"1\" []\n"},
		{"wide.graphml", `<graphml><key id="i" for="edge" attr.name="x" attr.type="long"/><key id="f" for="edge" attr.name="x" attr.type="double"/><graph edgedefault="directed"><node id="1"/><node id="2"/>` +
			`<edge source="1" target="2"><data key="i">3</data></edge><edge source="2" target="1"><data key="f">0.5</data></edge></graph></graphml>`, ReadOptions{},
			"directed\ne \"1\" \"2\" x=\"3\"\ne \"2\" \"1\" x=\"0.5\"\nv \"1\" []\nv \"2\" []\n"},
		{"time.graphml", `<graphml><key id="t" for="edge" attr.name="time" attr.type="long"/><key id="l" for="edge" attr.name="label"/><graph edgedefault="directed"><node id="1"/><node id="2"/>` +
			`<edge source="1" target="2"><data key="t">5</data><data key="l">A</data></edge></graph></graphml>`, ReadOptions{},
			"directed\ne \"1\" \"2\" :A @5\nv \"1\" []\nv \"2\" []\n"},
		{"all.gml", "# c\nCreator \"me\"\nVersion 1\ngraph\n[ directed 1 label \"g\" node [ label \"x&quot;&#233;\" id 5 graphics [ x 1.5 y [ z 1 ] ] labels \"P;Q\" ]node[id 7 w +3 v -.5e1]\nedge[target 7 source 5 label \"likes\" value NAN]]", ReadOptions{},
			"directed\ne \"5\" \"7\" :likes value=\"NaN\"\nv \"5\" [\"P\" \"Q\"] label=\"x\\\"é\" w=\"\" v=\"\"\nv \"7\" [] label=\"\" w=\"3\" v=\"-5\"\n"},
		{"after.gml", "graph [ edge [ source \"b\" target 1 ] node [ id 1 ] node [ id \"b\" ] directed 0 ]", ReadOptions{},
			"undirected\ne \"1\" \"b\"\nv \"1\" []\nv \"b\" []\n"},
		{"silent.gml", "graph [ node [ id 1 ] node [ id 2 ] edge [ source 2 target 1 ] ]", ReadOptions{Direction: Directed},
			"directed\ne \"2\" \"1\"\nv \"1\" []\nv \"2\" []\n"},
		{"negative.gml", "graph [ node [ id -1 ] node [ id 1 ] ]", ReadOptions{}, "undirected\nv \"-1\" []\nv \"1\" []\n"},
		{"none.gml", "graph [ ]", ReadOptions{}, "undirected\n\n"},
		{"mix.gml", "graph [ node [ id 1 x 1 ] node [ id 2 x \"y\" ] node [ id 3 x 0.5 ] ]", ReadOptions{}, "undirected\nv \"1\" [] x=\"1\"\nv \"2\" [] x=\"y\"\nv \"3\" [] x=\"0.5\"\n"},
		{"dict.edgelist", "# c\n1 2 {}\n\n2 3 {'w': 2, \"k\": 'a\\'b\\x41\\n', 'f': -1e3, 'b': True, 'n': None, 'label': \"x, {y}\", 5: nan}\n", ReadOptions{},
			"undirected\ne \"1\" \"2\" w=\"\" k=\"\" f=\"\" b=\"\" 5=\"\"\ne \"2\" \"3\" :x, {y} w=\"2\" k=\"a'bA\\n\" f=\"-1000\" b=\"true\" 5=\"NaN\"\nv \"1\" []\nv \"2\" []\nv \"3\" []\n"},
		{"dict.csv", "a b,c,{'weight': 1}\r\nc,d,{}\r\n", ReadOptions{Direction: Directed},
			"directed\ne \"a b\" \"c\" weight=\"1\"\ne \"c\" \"d\" weight=\"\"\nv \"a b\" []\nv \"c\" []\nv \"d\" []\n"},
	} {
		for _, in := range [][]byte{[]byte(c.in), append([]byte("\xef\xbb\xbf"), c.in...), gz(c.in), zst(c.in)} {
			g, err := Read(context.Background(), put(t, c.name, in), c.o, nil)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if got := dump(g); got != c.want {
				t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
			}
			if g, err = ReadFrom(context.Background(), iotest.OneByteReader(bytes.NewReader(in)), "input", c.o, nil); err != nil {
				t.Errorf("%s from a stream: %v", c.name, err)
			} else if got := dump(g); got != c.want {
				t.Errorf("%s from a stream:\n%s\nwant\n%s", c.name, got, c.want)
			}
		}
	}
}

// TestAttributedChunks: rows of more than one chunk, whose columns change their kind.
func TestAttributedChunks(t *testing.T) {
	var b strings.Builder
	b.WriteString("graph [ directed 1\n")
	const n = frameRows + 100
	for i := range n {
		b.WriteString("node [ id " + strconv.Itoa(i) + " x " + strconv.Itoa(i) + " ]\n")
	}
	b.WriteString("node [ id \"last\" x 0.5 ]\nedge [ source 0 target \"last\" label \"l\" ]\n]\n")
	g, err := Read(context.Background(), put(t, "big.gml", []byte(b.String())), ReadOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if g.NumVertices() != n+1 || g.NumEdges() != 1 || g.IDs.Numeric() {
		t.Errorf("%d vertices, %d edges, numeric ids %v", g.NumVertices(), g.NumEdges(), g.IDs.Numeric())
	}
	d := dump(g)
	for _, want := range []string{"v \"65600\" [] x=\"65600\"\n", "v \"last\" [] x=\"0.5\"\n", "e \"0\" \"last\" :l\n"} {
		if !strings.Contains(d, want) {
			t.Errorf("%q is not in the graph", want)
		}
	}
}

// TestXMLBomb: entities are not expanded, and one token cannot fill the memory.
func TestXMLBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?><!DOCTYPE graphml [<!ENTITY a0 \"x\">")
	for i := range 40 {
		b.WriteString("<!ENTITY a" + strconv.Itoa(i+1) + " \"&a" + strconv.Itoa(i) + ";&a" + strconv.Itoa(i) + ";\">")
	}
	b.WriteString("]><graphml><graph edgedefault=\"directed\"><node id=\"&a40;\"/></graph></graphml>")
	_, err := Read(context.Background(), put(t, "bomb.graphml", []byte(b.String())), ReadOptions{}, nil)
	var e *Error
	if !errors.As(err, &e) || e.Line != 1 || !strings.Contains(err.Error(), "entity &a40;") {
		t.Errorf("entities: %v", err)
	}
	long := `<graphml><graph edgedefault="directed"><node id="1"/><desc>` + strings.Repeat("x", 2*mostXML) + "</desc></graph></graphml>"
	_, err = Read(context.Background(), put(t, "long.graphml.gz", gz(long)), ReadOptions{}, nil)
	if !errors.Is(err, errLongXML) || !errors.As(err, &e) || e.Line != 1 || e.Offset != 59 {
		t.Errorf("a long text: %v", err)
	}
	deep := `<graphml><graph edgedefault="directed">` + strings.Repeat("<desc>", 10_000)
	if _, err = Read(context.Background(), put(t, "deep.graphml", []byte(deep)), ReadOptions{}, nil); err == nil || !strings.Contains(err.Error(), "nested more than") {
		t.Errorf("deep elements: %v", err)
	}
}

// TestAttributedDetect: the first bytes decide, also against the name.
func TestAttributedDetect(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     Format
		reason   string
	}{
		{"x.txt", "\n <?xml version='1.0'?><!-- <gexf> --><graphml>", GraphML, ""},
		{"x", "<graphml/>", GraphML, ""},
		{"x.graphml", "<?xml version='1.0'?><!-- a very long", GraphML, ""},
		{"x.gexf", "<?xml version='1.0' encoding='latin1'?><gexf>", "", "GEXF"},
		{"x.html", "<!DOCTYPE html><html>", "", "not GraphML"},
		{"x.txt", "graph [\n node", GML, ""},
		{"x.txt", "graph\n[\n  directed 0\n", GML, ""},
		{"x.txt", "Creator \"igraph\"\nVersion 1\ngraph\n[\n  directed 0\n", GML, ""},
		{"x.txt", "version 1\ngraph 2\n", EdgeList, ""},
		{"x.txt", "graph node\nnode graph\n", EdgeList, ""},
		{"x.gml", "# nothing yet", GML, ""},
		{"x.txt", "1 2 {}\n", NetworkX, ""},
		{"x.txt", "# c\n\n1\t2\t{'a': 1}\n", NetworkX, ""},
		{"x.txt", "1 2 {a}\n", EdgeList, ""},
		{"x.txt", "1 2 3\n", EdgeList, ""},
		{"x.txt", "# Directed graph\n# GMT offsets\n1 2\n", "", "adjacency list"},
	} {
		f, _, reason := Detect(c.name, []byte(c.in))
		if f != c.want || !strings.Contains(reason, c.reason) {
			t.Errorf("%s %q: %q, %s; want %q", c.name, c.in, f, reason, c.want)
		}
	}
}

// TestAttributedNotWritten: formats that are only read are refused by name.
func TestAttributedNotWritten(t *testing.T) {
	g, err := Read(context.Background(), put(t, "g.txt", []byte("1 2\n")), ReadOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range [][2]string{{"x.gml.gz", ""}, {"x.txt", "networkx"}, {"-", "gml"}} {
		err := Write(context.Background(), filepath.Join(dir, c[0]), g, WriteOptions{Format: c[1]})
		if !errors.Is(err, ErrOutput) || !strings.Contains(err.Error(), "is read, and not written") {
			t.Errorf("%q: %v", c, err)
		}
	}
	if l, _ := os.ReadDir(dir); len(l) > 0 {
		t.Errorf("left: %v", l)
	}
}

// TestWriteGraphML: units of times, texts with marks of XML, and types come back; what the
// format cannot hold is refused.
func TestWriteGraphML(t *testing.T) {
	dir := t.TempDir()
	v := put(t, "v.csv", []byte("id:string,labels,n:string\n\"a<\"\"&>\",P;Q x,\"]]>&amp;\"\nb c,,\n"))
	for _, in := range []string{
		"src:string,dst:string,label,time:unix_ms,w:float,none:int,b:bool\n\"a<\"\"&>\",b c,likes é,1500,2,,true\nb c,\"a<\"\"&>\",,1501,0.1,,\n",
		"src:string,dst:string,time:d\nb c,\"a<\"\"&>\",5\n",
		"src:string,dst:string\nb c,\"a<\"\"&>\"\n",
	} {
		g, err := Read(context.Background(), put(t, "g.csv", []byte(in)), ReadOptions{Direction: Directed, Vertices: v}, nil)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "g.graphml")
		if err := Write(context.Background(), path, g, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		back, err := Read(context.Background(), path, ReadOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if dump(back) != dump(g) {
			t.Errorf("%s\nwant\n%s", dump(back), dump(g))
		}
		if timeTypeOf(back) != timeTypeOf(g) {
			t.Errorf("times are %v, want %v", timeTypeOf(back), timeTypeOf(g))
		}
	}
	for _, c := range []struct{ edges, lost string }{
		{"src:string,dst:string\n1,2\n", "that the vertex ids are text (all are numbers)"},
		{"src,dst,w,relation,label\n1,2,3,a,b\n", "the edge property label, whose name stands for something else"},
	} {
		g, err := Read(context.Background(), put(t, "g.csv", []byte(c.edges)), ReadOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = Write(context.Background(), filepath.Join(dir, "lost.graphml"), g, WriteOptions{})
		if !errors.Is(err, ErrLoss) || !strings.Contains(err.Error(), c.lost) {
			t.Errorf("%q: %v, want %s", c.edges, err, c.lost)
		}
		if _, err := os.Stat(filepath.Join(dir, "lost.graphml")); err == nil {
			t.Errorf("%q: a file is left", c.edges)
		}
	}
}

// TestGraphMLLabels: a property label besides the labels stays one, even where no vertex has
// labels, and so does labels of edges.
func TestGraphMLLabels(t *testing.T) {
	for _, in := range []string{
		"graph [ node [ id 1 label \"a\" ] node [ id 2 ] edge [ source 1 target 2 labels \"x\" ] ]",
		"graph [ node [ id 1 label \"a\" labels \"P\" ] node [ id 2 ] edge [ source 1 target 2 labels \"x\" label \"y\" ] ]",
	} {
		g, err := Read(context.Background(), put(t, "g.gml", []byte(in)), ReadOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "g.graphml")
		if err := Write(context.Background(), path, g, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		back, err := Read(context.Background(), path, ReadOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if dump(back) != dump(g) {
			t.Errorf("%s\nwant\n%s", dump(back), dump(g))
		}
	}
}

// TestWriteGraphMLText: a text that XML cannot hold is refused, and so are labels that would
// be read back as others.
func TestWriteGraphMLText(t *testing.T) {
	for lost, v := range map[string]Vertex{
		"XML cannot hold a text with control characters": {ID: "a", Properties: map[string]any{"x": "\x01"}},
		"vertex labels with semicolons":                  {ID: "a", Labels: []string{"P;Q"}},
		"the vertex property labels":                     {ID: "a", Properties: map[string]any{"labels": "P"}},
		"the type of the vertex property x":              {ID: "a", Properties: map[string]any{"x": time.Unix(5, 0)}},
	} {
		edges := func(yield func(Edge, error) bool) { yield(Edge{Src: "a", Dst: "b"}, nil) }
		vertices := func(yield func(Vertex, error) bool) { yield(v, nil) }
		g, err := FromEdges(context.Background(), edges, ReadOptions{VertexRows: vertices})
		if err != nil {
			t.Fatal(err)
		}
		err = Write(context.Background(), "-", g, WriteOptions{Format: "graphml", Stdout: io.Discard})
		if !errors.Is(err, ErrLoss) || !strings.Contains(err.Error(), lost) {
			t.Errorf("%v, want %s", err, lost)
		}
	}
}

// TestNameSet: ids that are written in different ways are different.
func TestNameSet(t *testing.T) {
	var n nameSet
	for _, name := range []string{"5", "05", "005", "+5", "0", "00", "-5", "", "999999999999999999", "1000000000000000000", "01", "1"} {
		if n.has(name) || !n.add(name) || !n.has(name) || n.add(name) {
			t.Errorf("%q is not a name of its own", name)
		}
	}
}
