package format

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/weftgraph/weft/internal/ctxio"
	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/vfs"
)

// WriteOptions say how to write. The zero value chooses the format by the file's name.
type WriteOptions struct {
	Format string // a name of Formats; "" or auto: by the name's extension
	// AllowLoss writes the file without the parts of the graph that the format cannot hold.
	// Lost, if set, is called with each such part.
	AllowLoss bool
	Lost      func(what string)
	// Vertices names a second file for the vertex table (ids, labels,
	// properties), for the formats that are a table of edges.
	Vertices string
	Stdout   io.Writer // the output for "-"; nil: the standard output
	Files    vfs.FS    // nil: the system's
}

// Write writes the graph. The file appears under its name when it is complete. With a second file both appear or none
// (disk.CommitAll). After an error no file is left. "-" is the standard output. An error that wraps ErrLoss lists the
// parts that the format cannot hold.
func Write(ctx context.Context, path string, g *graph.Graph, o WriteOptions) error {
	if err := CheckOutput(path, o.Format, o.Vertices); err != nil {
		return err
	}
	f, variant, err := outFormat(path, o.Format)
	if err != nil {
		return err
	}
	lost := losses(g, f, variant, o.Vertices != "")
	if vf, _, err := outFormat(o.Vertices, ""); o.Vertices != "" && err == nil && vf == EdgeList && losesTypes(g.VertexProps) {
		lost = append(lost, "the types of vertex properties")
	}
	switch {
	case len(lost) == 0:
	case !o.AllowLoss:
		file := path
		if path == "-" {
			file = "standard output"
		}
		return &Error{File: file, Offset: -1, Cause: wrapf(ErrLoss, "%s would lose %s", f, strings.Join(lost, "; "))}
	case o.Lost != nil:
		o.Lost(fmt.Sprintf("%s loses %s", f, strings.Join(lost, "; ")))
	}
	w := &writing{ctx: ctx, fsys: vfs.Or(o.Files), g: g, variant: variant}
	edges, err := w.toFile(path, o.Stdout, func(out io.Writer) error {
		switch f {
		case Weft:
			return g.Write(out)
		case EdgeList:
			return w.edgeList(out)
		case EL, WEL:
			return w.gapbsText(out, f == WEL)
		case MTX:
			return w.mtx(out)
		case TVE:
			return w.tve(out)
		case GMatch:
			return w.gmatch(out)
		case SG, WSG:
			return w.sg(out, f == WSG)
		case Arrow:
			return w.arrow(out, edgeRole)
		case Parquet:
			return w.parquet(out, edgeRole)
		case GraphML:
			return w.graphML(out)
		}
		return wrapf(ErrUnknown, "%s cannot be written", f)
	})
	if err != nil || o.Vertices == "" {
		return w.end(err, edges)
	}
	vf, vv, err := outFormat(o.Vertices, "")
	if err != nil {
		return w.end(err, edges)
	}
	vertices, err := w.toFile(o.Vertices, o.Stdout, func(out io.Writer) error {
		switch vf {
		case Arrow:
			return w.arrow(out, vertexRole)
		case Parquet:
			return w.parquet(out, vertexRole)
		}
		return w.vertexText(out, vv)
	})
	return w.end(err, edges, vertices)
}

// writing is one Write.
type writing struct {
	ctx     context.Context
	fsys    vfs.FS
	g       *graph.Graph
	variant string // of a text: "csv", "tsv"
	n       int    // for check
}

// check is called often and looks at the context now and then.
func (w *writing) check() error {
	if w.n++; w.n&0x3fff == 0 {
		return w.ctx.Err()
	}
	return nil
}

// CheckOutput returns an error if a graph cannot be written to path. The format is name, or the
// one that path says. vertices, if not "", is the file of the vertex table. A caller thus
// learns of a mistake before a graph is read or made.
func CheckOutput(path, name, vertices string) error {
	f, _, err := outFormat(path, name)
	if err != nil || vertices == "" {
		return err
	}
	if f == Weft || f == GraphML {
		return wrapf(ErrOutput, "%s: a .%s file holds the vertices: no second file is needed", path, f)
	}
	if filepath.Clean(path) == filepath.Clean(vertices) {
		return wrapf(ErrOutput, "%s: edges and vertices need a file each", path)
	}
	switch vf, _, err := outFormat(vertices, ""); {
	case err != nil:
		return err
	case vf != Arrow && vf != Parquet && vf != EdgeList:
		return wrapf(ErrOutput, "%s: a vertex table cannot be written as %s", vertices, vf)
	}
	return nil
}

// saysFormat maps a file's extension to the only format that is written under it. A .txt,
// .graph or .bin may be anything.
var saysFormat = map[string]string{
	"csv": "csv", "tsv": "tsv", "el": "el", "wel": "wel", "mtx": "mtx", "tve": "tve", "gmatch": "gmatch", "sg": "sg", "wsg": "wsg", "weft": "weft", "graphml": "graphml",
	"parquet": "parquet", "arrow": "arrow", "arrows": "arrow", "feather": "arrow",
}

func outFormat(path, name string) (Format, string, error) {
	ext := extension(path)
	f, err := ParseFormat(name)
	if err != nil {
		return "", "", err
	}
	variant := "tsv"
	if ext == "csv" || strings.EqualFold(name, "csv") {
		variant = "csv"
	}
	switch f {
	case GML, NetworkX:
		return "", "", wrapf(ErrOutput, "%s: %s is read, and not written", path, f)
	}
	if f != Auto {
		says, definite := saysFormat[ext]
		text := f == EdgeList && (strings.EqualFold(name, "csv") || strings.EqualFold(name, "tsv"))
		if definite && (aliases[says] != f || text && !strings.EqualFold(name, says)) {
			return "", "", wrapf(ErrOutput, "%s is asked for and the name %s says %s", strings.ToLower(name), path, says)
		}
		return f, variant, nil
	}
	switch ext {
	case "gml":
		return "", "", wrapf(ErrOutput, "%s: %s is read, and not written", path, ext)
	case "csv", "tsv", "txt", "edges", "edgelist":
		return EdgeList, variant, nil
	case "el", "wel", "mtx", "sg", "wsg", "parquet", "weft", "arrow", "feather", "graph", "tve", "bin", "gmatch", "graphml":
		return aliases[ext], variant, nil
	case "arrows":
		return Arrow, "", nil
	}
	if path == "-" {
		return EdgeList, variant, nil
	}
	return "", "", wrapf(ErrUnknown, "%s: the name's extension says no format; give one with --to (%s)", path, strings.Join(Writable(), ", "))
}

// toFile is the function toFile for a fill that reads the graph: damage of the graph's own
// file is an error like others, after which no file is left.
func (w *writing) toFile(path string, stdout io.Writer, fill func(io.Writer) error) (*disk.File, error) {
	return toFile(w.ctx, w.fsys, path, stdout, func(out io.Writer) error {
		return w.g.Guard(func() error { return fill(out) })
	})
}

// toFile gives fill a buffered, perhaps compressing writer on a file that does not
// have its name yet. The file is nil for the standard output.
func toFile(ctx context.Context, fsys vfs.FS, path string, stdout io.Writer, fill func(io.Writer) error) (*disk.File, error) {
	if path == "-" {
		if stdout == nil {
			stdout = os.Stdout
		}
		return nil, explainWrite("standard output", filter(ctx, stdout, "", fill))
	}
	f, err := disk.Create(ctx, fsys, path)
	if err != nil {
		return nil, err
	}
	if err := filter(ctx, f, path, fill); err != nil {
		f.Abort()
		return nil, explainWrite(path, err)
	}
	return f, nil
}

// end gives the files their names, all or none, unless there is an error, after which nothing is left
// of them. It is an error, too, that the graph's own file was changed before all of them
// are on the disk.
func (w *writing) end(err error, files ...*disk.File) error {
	files = slices.DeleteFunc(files, func(f *disk.File) bool { return f == nil })
	for _, f := range files {
		if err == nil {
			err = f.Settle()
		}
	}
	if err == nil {
		err = w.g.Damage(nil)
	}
	if err == nil {
		return disk.CommitAll(files...)
	}
	for _, f := range files {
		f.Abort()
	}
	return err
}

// ctxWriter fails when the context has ended, also while a pipe's reader does not read.
type ctxWriter struct {
	ctx context.Context
	w   *ctxio.Writer
}

func (c ctxWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.WriteWithin(c.ctx, p)
}

func filter(ctx context.Context, out io.Writer, path string, fill func(io.Writer) error) error {
	w := ctxio.NewWriter(out)
	defer w.Close()
	var dst io.Writer = ctxWriter{ctx, w}
	var z io.WriteCloser
	switch p := strings.ToLower(path); {
	case strings.HasSuffix(p, ".gz"):
		z = gzip.NewWriter(dst)
	case strings.HasSuffix(p, ".zst"), strings.HasSuffix(p, ".zstd"):
		e, err := zstd.NewWriter(dst)
		if err != nil {
			return err
		}
		z = e
	}
	if z != nil {
		dst = z
	}
	b := bufio.NewWriterSize(dst, 256<<10)
	if err := fill(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if z != nil {
		if err := z.Close(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// explainWrite adds the file's name to an error that does not have it.
func explainWrite(path string, err error) error {
	var pe *os.PathError
	var fe *Error
	var de *disk.Error
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, &fe),
		errors.Is(err, graph.ErrCorrupt):
		return err
	case errors.As(err, &de): // perhaps inside one of Arrow's
		return de
	case errors.As(err, &pe):
		err = pe.Err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%s: the disk is full: %w", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
