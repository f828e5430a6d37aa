package weft

import (
	"errors"
	"os"

	"github.com/weftgraph/weft/internal/choose"
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/sink"
)

// Kinds of errors; test with errors.Is.
var (
	ErrUsage  = errors.New("usage")             // an option that does not exist or fit
	ErrInput  = errors.New("input")             // a graph file that cannot be read
	ErrQuery  = errors.New("query")             // a pattern that is wrong, or cannot be asked
	ErrMemory = errors.New("not enough memory") // WithMemory's budget, or the machine's
	ErrDevice = errors.New("device")            // a device that is not there
)

// kindError is an error with its kind.
type kindError struct {
	kind error
	err  error
}

func (e *kindError) Error() string { return e.err.Error() }

func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }

// withKind marks err as one of kind, unless it has a kind already.
func withKind(kind, err error) error {
	var known *kindError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &kindError{kind, err}
}

// classify finds the kind of an error of the inner packages.
func classify(err error) error {
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
	)
	switch {
	case errors.As(err, &syntax), errors.As(err, &notYet), errors.As(err, &apart), errors.As(err, &refused),
		errors.As(err, &invalid), errors.As(err, &unknown), errors.As(err, &missing):
		return withKind(ErrQuery, err)
	case errors.As(err, &file):
		return withKind(ErrInput, err)
	case errors.Is(err, cuda.ErrMemory):
		return withKind(ErrMemory, err)
	case errors.Is(err, choose.ErrDevice), errors.As(err, &device), errors.As(err, &fault), errors.Is(err, native.ErrNoCompiler):
		return withKind(ErrDevice, err)
	case errors.Is(err, choose.ErrName), errors.Is(err, engine.ErrOption), errors.Is(err, sink.ErrFormat), errors.Is(err, gen.ErrSpec), errors.Is(err, format.ErrUnknown):
		return withKind(ErrUsage, err)
	case errors.Is(err, choose.ErrRefused):
		return withKind(ErrQuery, err)
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return withKind(ErrInput, err)
	}
	return err
}
