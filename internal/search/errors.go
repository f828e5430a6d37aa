package search

import (
	"context"
	"errors"
	"io/fs"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/sink"
)

// Classify marks an error of a reader, of planning, of an engine or of a sink with its kind.
func Classify(err error) error {
	if err == nil {
		return nil
	}
	var (
		syntax  *gql.Error
		notYet  *gql.Unsupported
		apart   *gql.Disconnected
		refused *plan.QueryError
		invalid *pattern.Invalid
		unknown *pattern.UnknownName
		missing *pattern.MissingParam
		file    *format.Error
		device  *cuda.Error
		fault   *session.Fault
		wrong   *native.CompileError
		room    *memory.Error
		large   *native.MemoryError
	)
	switch {
	case errors.As(err, &syntax), errors.As(err, &notYet), errors.As(err, &apart), errors.As(err, &refused),
		errors.As(err, &invalid), errors.As(err, &unknown), errors.As(err, &missing):
		return kind.With(kind.Query, err)
	case errors.As(err, &room), errors.As(err, &large):
		return kind.With(kind.Memory, err)
	case errors.As(err, &file):
		return kind.With(kind.Input, err)
	case errors.Is(err, cuda.ErrMemory):
		return kind.With(kind.Memory, err)
	case errors.Is(err, route.ErrDevice), errors.As(err, &device), errors.As(err, &fault), errors.As(err, &wrong), errors.Is(err, native.ErrNoCompiler):
		return kind.With(kind.Device, err)
	case errors.Is(err, route.ErrName), errors.Is(err, engine.ErrOption), errors.Is(err, sink.ErrFormat), errors.Is(err, gen.ErrSpec), errors.Is(err, format.ErrUnknown):
		return kind.With(kind.Usage, err)
	case errors.Is(err, route.ErrRefused):
		return kind.With(kind.Query, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return kind.With(kind.Input, err)
	}
	return err
}

// planError is an error of planning with its kind: where planning was cut short by its context,
// the cause of that as it is.
func planError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return kind.With(kind.Query, Classify(err))
}
