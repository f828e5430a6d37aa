package format

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/vfs"
)

// sideFile is a table of vertices in a file next to that of the edges: --labels or --vertices.
type sideFile struct {
	src   *source
	head  []byte
	whole bool
	f     Format
	spec  *textSpec // of a text
}

// openSides looks at the side files before the edges are read, so that all
// agree about text ids.
func (r *reading) openSides() error {
	for _, path := range []string{r.o.Labels, r.o.Vertices} {
		if path == "" {
			continue
		}
		src, err := openSource(r.ctx, vfs.Or(r.o.Files), path, r.o.Stdin, nil)
		if errors.Is(err, fs.ErrNotExist) {
			// The error has the file's name, because the caller knows only that of the edges.
			return &Error{File: path, Offset: -1, Cause: fs.ErrNotExist}
		}
		if err != nil {
			return err
		}
		s := &sideFile{src: src}
		r.sides = append(r.sides, s)
		if s.head, s.whole, err = src.head(); err != nil {
			return err
		}
		if len(s.head) == 0 {
			return &Error{File: path, Offset: 0, Cause: ErrEmpty}
		}
		var reason string
		if s.f, _, reason = Detect(path, s.head); s.f == "" {
			return &Error{File: path, Offset: -1, Cause: wrapf(ErrUnknown, "%s", reason)}
		}
		switch s.f {
		case Parquet, Arrow:
		case EdgeList, EL, WEL:
			s.f = EdgeList
			o := r.o
			o.Skip, o.Header = 0, GuessHeader
			if s.spec, _, err = guessText(s.head, s.whole, &o, vertexRole, EdgeList, r.note); err != nil {
				if e := src.place(err, &block{data: s.head}); e != err {
					return e
				}
				return &Error{File: path, Offset: -1, Cause: err}
			}
			if path == r.o.Labels {
				s.spec.labelBesideID()
			}
		default:
			return &Error{File: path, Offset: -1, Cause: wrapf(ErrUnknown, "a vertex table is text, Parquet or Arrow, not %s", s.f)}
		}
	}
	return nil
}

// labelBesideID makes a single column next to the ids that of the labels, whatever its name is.
func (sp *textSpec) labelBesideID() {
	i := slices.IndexFunc(sp.cols, func(c column) bool { return c.kind == colProp })
	if i >= 0 && len(sp.cols) == 2 {
		sp.cols[i] = column{kind: colLabel, name: "label"}
	}
}

func (r *reading) closeSides() {
	for _, s := range r.sides {
		s.src.close()
	}
}

// sidesText reports whether a text side file has text ids.
func (r *reading) sidesText() bool {
	for _, s := range r.sides {
		if s.spec != nil && s.spec.stringIDs {
			return true
		}
	}
	return false
}

// readSides reads the vertex tables after the edges.
func (r *reading) readSides() error {
	for _, s := range r.sides {
		var err error
		switch s.f {
		case Parquet:
			err = r.parquetTable(s.src, vertexRole)
		case Arrow:
			err = r.arrowTable(s.src, vertexRole)
		default:
			err = r.vertexText(s)
		}
		if err != nil {
			return mixed(s.src.name, err)
		}
	}
	return r.readVertices()
}

// mixed adds to err the name of the input whose ids do not fit those of the edges.
func mixed(input string, err error) error {
	if !errors.Is(err, graph.ErrMixedIDs) {
		return err
	}
	return &Error{File: input, Offset: -1, Cause: wrapf(ErrIDs, "its vertex ids are text and the edges' are numbers, or the other way round")}
}

func (r *reading) vertexText(s *sideFile) error {
	sp := s.spec
	if r.stringIDs {
		sp.stringIDs = true
	}
	// Properties of all blocks must have one type: find it before anything is
	// handed to the builder.
	chunks, err := r.vertexChunks(s, sp)
	for err != nil {
		var w *widen
		if !errors.As(err, &w) {
			return err
		}
		if w.ids || !s.src.again() {
			return w.spot
		}
		sp.cols[w.col].typ, sp.cols[w.col].against = w.typ, w.against
		chunks, err = r.vertexChunks(s, sp)
	}
	for _, c := range chunks {
		if err := r.build.AddVertices(c); err != nil {
			return err
		}
	}
	r.note("vertices from %s: columns %s", s.src.name, sp.describe())
	return nil
}

func (r *reading) vertexChunks(s *sideFile, sp *textSpec) ([]*graph.VertexChunk, error) {
	threads := r.o.threads()
	state := make([]*rows, threads)
	out := make([][]*graph.VertexChunk, threads)
	err := s.src.eachBlock(r.ctx, sp.start, threads, func(worker int, b *block) error {
		w := state[worker]
		if w == nil {
			w = newRows(sp, vertexRole)
			state[worker] = w
		}
		if err := w.parse(b.data); err != nil {
			return err
		}
		if w.n == 0 {
			return nil
		}
		c := &graph.VertexChunk{Seq: b.seq, IDStr: w.srcS, Labels: w.labels, Props: w.batch()}
		if !sp.stringIDs {
			c.ID = slices.Clone(w.src)
		}
		out[worker] = append(out[worker], c)
		return nil
	})
	if err == nil {
		r.noteValues(sp, state)
	}
	var all []*graph.VertexChunk
	for _, o := range out {
		all = append(all, o...)
	}
	return all, err
}
