package weft

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
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/sink"
)

// Kinds of errors; test with errors.Is. An error of kind ErrInput has an *InputError in
// it, and one of kind ErrQuery a *QueryError: errors.As finds them.
var (
	ErrUsage  = errors.New("usage")             // an option that does not exist or fit
	ErrInput  = errors.New("input")             // a graph, or a file, that cannot be read
	ErrQuery  = errors.New("query")             // a pattern that is wrong, or cannot be asked
	ErrMemory = errors.New("not enough memory") // WithMemory's budget, or the machine's
	ErrDevice = errors.New("device")            // a device that is not there
)

// QueryError is a mistake in a query, a pattern file or a Matcha program. errors.As
// finds one in each error of kind ErrQuery.
type QueryError struct {
	// File is the name of the pattern file, or of the program. It is "" for a text.
	File string
	// Line and Column count from 1, Column in characters. Both are 0 where the mistake has
	// no place in a text.
	Line, Column int
	// Offset is the byte of the text or file where the mistake begins, from 0. It is -1
	// where that is not known.
	Offset int
	// Length is the number of bytes of the word or character at Offset. It is 0 at the end
	// of the text.
	Length int
	// Message says what is wrong, without the place.
	Message string
	// Expected is what could stand there. It is "" where nothing can be said.
	Expected string
	// Suggestion is what was probably meant, or what to do. It is "" where nothing can be
	// said.
	Suggestion string
	// Text is the line of the text.
	Text string

	err error
}

// Error returns the message with the place and, where there is one, the line with a
// caret under the column.
func (e *QueryError) Error() string {
	if e.err == nil {
		return e.Message
	}
	return e.err.Error()
}

// Unwrap returns the cause.
func (e *QueryError) Unwrap() error { return e.err }

// InputError is a mistake in a graph or in another input. errors.As finds one in each
// error of kind ErrInput. Errors of the operating system are among its causes:
// errors.Is finds fs.ErrNotExist and fs.ErrPermission.
type InputError struct {
	// Path is the name of the file as it was given; "-" is the standard input. It is ""
	// for an input without a name.
	Path string
	// Line counts from 1. It is 0 where the input is not a text, or the whole is wrong.
	Line int64
	// Column is the byte of the line, from 1. It is 0 for the whole line.
	Column int
	// Offset is the byte of the decompressed input, from 0. It is -1 where that is not
	// known.
	Offset int64
	// Field is the text that is wrong, quoted and shortened. It is "" where there is none.
	Field string
	// Message says what is wrong, without the place and the text.
	Message string

	err error
}

// Error returns the message with the place.
func (e *InputError) Error() string {
	if e.err == nil {
		return e.Message
	}
	if system, ok := e.err.(*fs.PathError); ok {
		return system.Path + ": " + e.Message
	}
	return e.err.Error()
}

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.err }

// queryError is err as a QueryError.
func queryError(err error) error {
	var (
		known  *QueryError
		query  *gql.Error
		notYet *gql.Unsupported
		matcha *syntax.Error
	)
	if errors.As(err, &known) {
		return err
	}
	e := &QueryError{Offset: -1, Message: err.Error(), err: err}
	if errors.As(err, &notYet) {
		query = notYet.At
	}
	switch {
	case query != nil || errors.As(err, &query):
		e.File, e.Line, e.Column, e.Offset, e.Length = query.File, query.Line, query.Col, query.Offset, query.Length
		e.Message, e.Expected, e.Suggestion, e.Text = query.Msg, query.Expected, query.Suggestion, query.Source
	case errors.As(err, &matcha):
		e.File, e.Line, e.Column, e.Offset, e.Length = matcha.File, matcha.Line, matcha.Col, matcha.Offset, matcha.Length
		e.Message, e.Expected, e.Suggestion, e.Text = matcha.Msg, matcha.Expected, matcha.Hint, matcha.Source
	}
	return e
}

// inputError is err as an InputError.
func inputError(err error) error {
	var (
		known  *InputError
		file   *format.Error
		system *fs.PathError
	)
	if errors.As(err, &known) {
		return err
	}
	e := &InputError{Offset: -1, Message: err.Error(), err: err}
	switch {
	case errors.As(err, &file):
		e.Path, e.Line, e.Column, e.Offset, e.Field, e.Message = file.File, file.Line, file.Column, file.Offset, file.Excerpt, file.Cause.Error()
	case errors.As(err, &system):
		e.Path, e.Message = system.Path, system.Err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			e.Message = "no such file"
		}
	}
	return e
}

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
	switch kind {
	case ErrQuery:
		err = queryError(err)
	case ErrInput:
		err = inputError(err)
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
		wrong   *native.CompileError
		room    *memory.Error
	)
	switch {
	case errors.As(err, &syntax), errors.As(err, &notYet), errors.As(err, &apart), errors.As(err, &refused),
		errors.As(err, &invalid), errors.As(err, &unknown), errors.As(err, &missing):
		return withKind(ErrQuery, err)
	case errors.As(err, &room):
		return withKind(ErrMemory, err)
	case errors.As(err, &file):
		return withKind(ErrInput, err)
	case errors.Is(err, cuda.ErrMemory):
		return withKind(ErrMemory, err)
	case errors.Is(err, route.ErrDevice), errors.As(err, &device), errors.As(err, &fault), errors.As(err, &wrong), errors.Is(err, native.ErrNoCompiler):
		return withKind(ErrDevice, err)
	case errors.Is(err, route.ErrName), errors.Is(err, engine.ErrOption), errors.Is(err, sink.ErrFormat), errors.Is(err, gen.ErrSpec), errors.Is(err, format.ErrUnknown):
		return withKind(ErrUsage, err)
	case errors.Is(err, route.ErrRefused):
		return withKind(ErrQuery, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return withKind(ErrInput, err)
	}
	return err
}

// The errors of calls on values that are nil or zero, which no function of the package
// has made.
var (
	errNoGraph       = withKind(ErrUsage, errors.New("the graph is nil or zero: Open, Generate and FromEdges make graphs"))
	errNoQuery       = withKind(ErrUsage, errors.New("the query is nil or zero: Parse, ParseFile and PatternByName make queries"))
	errNoProgram     = withKind(ErrUsage, errors.New("the program is nil or zero: ParseMatcha makes programs"))
	errNoExplanation = withKind(ErrUsage, errors.New("the explanation is nil or zero: Graph.Explain makes explanations"))
)

// endedError is the error of a call that its context has ended. It is both ctx.Err(),
// which is context.Canceled or context.DeadlineExceeded, and the cause.
type endedError struct{ err, cause error }

func (e *endedError) Error() string { return e.cause.Error() }

func (e *endedError) Unwrap() []error { return []error{e.err, e.cause} }

// endedBy makes *err, of a call with ctx, an endedError where the end of ctx is what it
// is about: every call reports that in the same way.
func endedBy(ctx context.Context, err *error) {
	if *err == nil || ctx.Err() == nil {
		return
	}
	cause := context.Cause(ctx)
	for _, end := range []error{context.Canceled, context.DeadlineExceeded, cause} {
		if errors.Is(*err, end) {
			*err = &endedError{ctx.Err(), cause}
			return
		}
	}
}

// watchMemory returns a context that ends, with an ErrMemory as its cause, when the process
// holds too much memory; see memory.Watch.
func watchMemory(ctx context.Context, budget int64) (context.Context, func()) {
	return memory.Watch(ctx, budget, func(err error) error { return withKind(ErrMemory, err) })
}

// memoryCause is the reason why watchMemory ended ctx, or nil.
func memoryCause(ctx context.Context) error {
	if err := context.Cause(ctx); errors.Is(err, ErrMemory) {
		return err
	}
	return nil
}
