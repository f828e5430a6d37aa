// Package format reads and writes graph files. Each format has a file of its own here.
//
// It knows files: their formats, dialects, compression and errors. It turns them into the
// chunks that a graph.Builder takes. It must not know patterns, plans or engines.
// docs/formats.md is the manual page.
package format

import (
	"context"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/vfs"
)

// Format names a file format as --format does.
type Format string

// The formats. EL and WEL are the edge lists of GAPBS, SG and WSG its
// serialized graphs, TVE the text format of gSpan and of subgraph matchers.
const (
	Auto     Format = "auto"
	EdgeList Format = "edgelist"
	EL       Format = "el"
	WEL      Format = "wel"
	MTX      Format = "mtx"
	TVE      Format = "tve"
	GMatch   Format = "gmatch"
	SG       Format = "sg"
	WSG      Format = "wsg"
	Parquet  Format = "parquet"
	Arrow    Format = "arrow"
	GraphML  Format = "graphml"
	GML      Format = "gml"
	NetworkX Format = "networkx"
	Weft     Format = "weft"
)

var aliases = map[string]Format{
	"": Auto, "auto": Auto,
	"edgelist": EdgeList, "edges": EdgeList, "snap": EdgeList, "konect": EdgeList, "txt": EdgeList,
	"csv": EdgeList, "tsv": EdgeList, "text": EdgeList,
	"el": EL, "wel": WEL, "mtx": MTX, "matrixmarket": MTX, "mm": MTX,
	"tve": TVE, "gspan": TVE, "graph": TVE, "gmatch": GMatch, "bin": GMatch, "sg": SG, "wsg": WSG,
	"graphml": GraphML, "gml": GML, "networkx": NetworkX, "nx": NetworkX,
	"parquet": Parquet, "pq": Parquet, "arrow": Arrow, "ipc": Arrow, "feather": Arrow, "weft": Weft,
}

// Formats lists the names that Parse knows as main names, for help texts.
func Formats() []string {
	return []string{"auto", "edgelist", "csv", "tsv", "el", "wel", "mtx", "tve", "gmatch", "sg", "wsg", "parquet", "arrow", "graphml", "gml", "networkx", "weft"}
}

// Writable lists the formats that Write can write.
func Writable() []string {
	return slices.DeleteFunc(Formats()[1:], func(name string) bool {
		f := aliases[name]
		return f == GML || f == NetworkX
	})
}

// ParseFormat turns a name into a Format.
func ParseFormat(name string) (Format, error) {
	f, ok := aliases[strings.ToLower(name)]
	if !ok {
		return "", wrapf(ErrUnknown, "%q; known are %s", name, strings.Join(Formats(), ", "))
	}
	return f, nil
}

// Direction says whether edges have one.
type Direction int8

// FileDirection is the direction that the file states, or undirected if it states none.
const (
	FileDirection Direction = iota
	Undirected
	Directed
)

// ReadOptions say how to read. The zero value guesses everything.
type ReadOptions struct {
	Format    string // a name of Formats; "" is auto
	Direction Direction
	// Columns names the columns of text and of tables: src, dst, label, time,
	// weight, any other name (a property), _ (skipped); name:type fixes the
	// type (int, float, string, bool). src:string reads ids as text.
	Columns []string
	// Null are words that stand for a missing value in text, besides the usual ones. They do so
	// in columns of texts too.
	Null   []string
	Skip   int // header lines to drop before the data
	Header Header
	// KeepDuplicates keeps edges that are equal in all columns, each as one edge.
	KeepDuplicates bool
	Threads        int // 0: all cores
	// Labels is a file of `id label` lines, or a table, and Vertices a table
	// with ids, labels and properties. "" is none.
	Labels   string
	Vertices string
	// MaxVertices is the most vertices that a header may promise; 0: 2^32-2.
	MaxVertices uint64
	Cache       string    // the folder of caches; "": disk.CacheDir's
	Memory      int64     // bytes that reading may use; 0: the system's limit
	Stdin       io.Reader // the input for "-"; nil: the standard input
	Files       vfs.FS    // nil: the system's
	// VertexTable and VertexRows are vertices in memory: a table as in a file of
	// Vertices, and rows one by one. nil is none.
	VertexTable Table
	VertexRows  iter.Seq2[Vertex, error]
}

func (o *ReadOptions) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

func (o *ReadOptions) maxVertices() uint64 {
	if o.MaxVertices > 0 {
		return o.MaxVertices
	}
	return 1<<32 - 2
}

// reading is one Read: where the parts of a reader meet.
type reading struct {
	ctx   context.Context
	o     ReadOptions
	src   *source
	head  []byte
	whole bool // head is the whole file
	stat  graph.ReadStats
	// stringIDs says that a side file's ids are text, so that the edges' must
	// be read as text too, or the other way round.
	stringIDs bool
	sides     []*sideFile
	build     *graph.Builder
	directed  bool
	// mirror adds each edge in both directions: a file of undirected edges that
	// the user wants directed.
	mirror bool
	// degrees are the vertex degrees that a `t v e` file states, to be checked.
	degrees []*tveChunk
	made    *graph.Graph // by graph.FromCSR, without the builder
	// plainTimes: the user says that times are plain numbers.
	plainTimes bool
	// promised is the number of vertices that a text's first line says.
	promised uint64
	comments uint64 // of a text, from where its data may begin
}

func (r *reading) note(format string, a ...any) {
	n := fmt.Sprintf(format, a...)
	if !slices.Contains(r.stat.Notes, n) {
		r.stat.Notes = append(r.stat.Notes, n)
	}
}

// begin makes the builder, once it is known whether the file is directed. A format that does
// not state a direction passes FileDirection. A second call starts again, and drops the
// contents of the first builder.
func (r *reading) begin(file Direction) {
	d := r.o.Direction
	if d == FileDirection {
		d = file
	}
	r.directed = d == Directed
	r.stat.DirectionGuessed = d == FileDirection
	r.discard()
	r.build = graph.NewBuilder(graph.BuildOptions{Directed: r.directed, Threads: r.o.threads(), KeepDuplicates: r.o.KeepDuplicates})
}

// room returns an error if there is no memory for the sizes that a header promises. It is
// called before anything is allocated.
func (r *reading) room(vertices, edges uint64) error {
	if err := graph.Room("the header promises", vertices, edges, r.o.Memory); err != nil {
		return &Error{File: r.src.name, Offset: -1, Cause: err}
	}
	return nil
}

// discard frees the builder's edges, which are outside the Go heap, where no collection finds
// them. After Build it has nothing to free.
func (r *reading) discard() {
	if r.build != nil {
		r.build.Discard()
	}
}

// errorf is an error about the whole file.
func (r *reading) errorf(kind error, format string, a ...any) error {
	return &Error{File: r.src.name, Offset: -1, Cause: wrapf(kind, format, a...)}
}

// Read reads a graph from path; "-" is the standard input.
func Read(ctx context.Context, path string, o ReadOptions, progress Progress) (*graph.Graph, error) {
	f, err := ParseFormat(o.Format)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	src, err := openSource(ctx, vfs.Or(o.Files), path, o.Stdin, progress)
	if err != nil {
		return nil, err
	}
	return read(ctx, src, f, o)
}

// ReadFrom reads a graph from a stream. Messages use name for it. The extensions of name choose
// the format, as those of a file do.
func ReadFrom(ctx context.Context, in io.Reader, name string, o ReadOptions, progress Progress) (*graph.Graph, error) {
	f, err := ParseFormat(o.Format)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	src := &source{ctx: ctx, name: name, size: -1, progress: progress}
	if err := src.stream(in, nil); err != nil {
		return nil, err
	}
	return read(ctx, src, f, o)
}

// read reads the graph of a source.
func read(ctx context.Context, src *source, f Format, o ReadOptions) (*graph.Graph, error) {
	defer src.close()
	path := src.name
	var err error
	r := &reading{ctx: ctx, o: o, src: src}
	if r.head, r.whole, err = src.head(); err != nil {
		return nil, err
	}
	if len(r.head) == 0 {
		return nil, &Error{File: path, Offset: 0, Cause: ErrEmpty}
	}
	reason := "as told"
	if f == Auto {
		var variant string
		if f, variant, reason = Detect(path, r.head); f == "" {
			return nil, &Error{File: path, Offset: -1, Excerpt: excerpt(r.head[:min(len(r.head), 24)]), Cause: wrapf(ErrUnknown, "%s", reason)}
		}
		r.stat.Format = string(f)
		if variant != "" {
			r.stat.Format += " (" + variant + ")"
		}
		if f != Weft && f != EdgeList && !strings.HasPrefix(reason, "extension") {
			r.note("format %s guessed: %s", f, reason)
		}
	} else {
		r.stat.Format = string(f)
	}
	if f == Weft {
		return r.readOwn()
	}
	return r.complete(func() error {
		switch f {
		case MTX:
			return r.readMTX()
		case TVE:
			return r.readTVE()
		case GMatch:
			return r.readGMatch()
		case SG, WSG:
			return r.readSG(f)
		case Parquet:
			return r.readParquet()
		case Arrow:
			return r.readArrow()
		case GraphML:
			return r.readGraphML()
		case GML:
			return r.readGML()
		case NetworkX:
			return r.readNetworkX()
		}
		return r.readEdgeList(f)
	})
}

// complete builds the graph of the edges that edges reads, and of the side inputs.
func (r *reading) complete(edges func() error) (*graph.Graph, error) {
	if err := r.openSides(); err != nil {
		return nil, err
	}
	defer r.closeSides()
	defer r.discard()
	if err := edges(); err != nil {
		return nil, r.explain(err)
	}
	if err := r.readSides(); err != nil {
		return nil, r.explain(err)
	}
	g := r.made
	if g == nil {
		var err error
		if g, err = r.build.Build(r.ctx); err != nil {
			return nil, r.explain(err)
		}
	}
	if err := r.finish(g); err != nil {
		return nil, err
	}
	return g, nil
}

// explain gives an error of the builder, which knows no files, the file's name.
func (r *reading) explain(err error) error {
	if c := r.ctx.Err(); c != nil {
		return c
	}
	if strings.HasPrefix(err.Error(), "graph: ") {
		return &Error{File: r.src.name, Offset: -1, Cause: err}
	}
	return err
}

// finish adds the reader's counts to the graph's statistics.
func (r *reading) finish(g *graph.Graph) error {
	s := &g.Read
	s.Format, s.Columns = r.stat.Format, r.stat.Columns
	s.TimeUnit, s.TimeDigits, s.TimeEpoch = r.stat.TimeUnit, r.stat.TimeDigits, r.stat.TimeEpoch
	s.TimeName, s.DirectionGuessed = r.stat.TimeName, r.stat.DirectionGuessed
	r.recogniseTimes(g)
	s.Lines += r.stat.Lines
	s.SelfLoops += r.stat.SelfLoops
	if p, n := r.promised, uint64(g.NumVertices()); p > 0 && len(r.sides) == 0 {
		switch {
		case n > p:
			return r.errorf(ErrCount, "the first line promises %d vertices, the file has %d; --header no reads the line as an edge, --header yes drops it", p, n)
		case n < p:
			r.note("%d of the vertices that the first line promises have no edge, and no id that it says: they are not in the graph", p-n)
		}
	}
	for _, c := range r.degrees {
		for i, id := range c.id {
			v, ok := g.IDs.LookupInt(int64(id))
			if ok && uint64(g.Degree(v)) != c.degree[i] {
				r.note("vertex %d: the file says degree %d, it has %d", id, c.degree[i], g.Degree(v))
				break
			}
		}
	}
	if n := s.Duplicates; n > 0 && g.Edges != nil && g.Edges.Time != nil {
		r.note("%d of the events are equal to another in all columns and are one with it (--duplicates keep: each is an edge)", n)
	}
	s.Notes = append(s.Notes, r.stat.Notes...)
	return nil
}
