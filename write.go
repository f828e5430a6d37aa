package weft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/vfs"
)

// WriteOptions say how Write writes. The zero value goes by the file's name.
type WriteOptions struct {
	Format    string            // "" is by the file's extension
	AllowLoss bool              // write even what the format cannot hold
	Lost      func(what string) // is told, with AllowLoss, what is left out
	Vertices  string            // a second file for the vertex table
	Stdout    io.Writer         // what "-" writes to; nil is the standard output
	Memory    int64             // bytes that the process may use, else ErrMemory; 0 is what the system allows
}

// Write writes the graph to a file, which appears under its name when it is
// complete. "x.weft" is weft's own form: it is verified when it is
// first opened, and then opens in milliseconds. With o.Vertices both files appear,
// or none; an error names a file that appeared nevertheless.
func (g *Graph) Write(ctx context.Context, path string, o WriteOptions) (err error) {
	defer endedBy(ctx, &err)
	l, err := g.enter(&ctx)
	if err != nil {
		return err
	}
	l.result = new(bool)
	defer l.leave(&err)
	ctx, stop := watchMemory(ctx, o.Memory)
	defer stop()
	err = format.Write(ctx, path, g.g, format.WriteOptions{Format: o.Format, AllowLoss: o.AllowLoss, Lost: o.Lost, Vertices: o.Vertices, Stdout: o.Stdout, Files: vfs.From(ctx)})
	*l.result = err == nil
	if cause := memoryCause(ctx); err != nil && cause != nil {
		return fmt.Errorf("writing %s: %w", path, cause)
	}
	if errors.Is(err, format.ErrUnknown) || errors.Is(err, format.ErrOutput) || errors.Is(err, format.ErrLoss) {
		return withKind(ErrUsage, err)
	}
	return err
}

// Convert is the function Convert with the folders and the limits of this runtime.
func (rt *Runtime) Convert(ctx context.Context, from, to string, o WriteOptions, options ...Option) (r ReadReport, err error) {
	defer endedBy(ctx, &err)
	s, err := rt.collect(callConvert, options)
	if err != nil {
		return ReadReport{}, err
	}
	g, err := rt.open(ctx, from, s)
	if err != nil {
		return ReadReport{}, err
	}
	defer g.Close()
	o.Memory = cmp.Or(o.Memory, s.memory)
	return g.Read(), g.Write(ctx, to, o)
}

// CheckFile checks every section of a file in weft's own form, or the structure
// of the graph that another file holds.
func (g *Graph) CheckFile(ctx context.Context, options ...Option) (err error) {
	defer endedBy(ctx, &err)
	l, err := g.enter(&ctx)
	if err != nil {
		return err
	}
	defer l.leave(&err)
	s, err := g.collect(callCheckFile, options)
	if err != nil {
		return err
	}
	return withKind(ErrInput, g.g.Verify(ctx, s.threads))
}
