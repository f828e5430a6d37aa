package weft

import (
	"context"
	"errors"
	"io/fs"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/runtime"
)

// Kinds of errors; test with errors.Is. An error of kind ErrInput has an *InputError in
// it, and one of kind ErrQuery a *QueryError: errors.As finds them.
var (
	ErrUsage  = errors.New("usage")             // an option that does not exist, or does not fit
	ErrInput  = errors.New("input")             // a graph, or a file, that cannot be read
	ErrQuery  = errors.New("query")             // a pattern that is wrong, or that weft cannot run
	ErrMemory = errors.New("not enough memory") // WithMemory's budget, or the machine's
	ErrDevice = errors.New("device")            // a device that is absent, or that failed
)

// QueryError is a mistake in a query, a pattern file or a Matcha program. errors.As
// finds one in each error of kind ErrQuery.
type QueryError struct {
	// File is the name of the pattern file, or of the program. It is "" for a text.
	File string
	// Line and Column count from 1, Column in characters. Both are 0 if the mistake has no
	// place in a text.
	Line, Column int
	// Offset is the byte of the text or file where the mistake begins, from 0. It is -1 if not
	// known.
	Offset int
	// Length is the number of bytes of the word or character at Offset. It is 0 at the end
	// of the text.
	Length int
	// Message says what is wrong, without the place.
	Message string
	// Expected is a text that could stand there. It is "" if not known.
	Expected string
	// Suggestion is the word that was probably meant, or advice. It is "" if there is none.
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
	// Offset is the byte of the decompressed input, from 0. It is -1 if not known.
	Offset int64
	// Field is the wrong text, quoted and shortened. It is "" if there is none.
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

// public is err for callers of the package: the API's errors replace the marks of package kind.
func public(err error) error {
	if err == nil || errors.As(err, new(*kindError)) {
		return err
	}
	of := kind.Of(err)
	if marked, ok := err.(*kind.Error); ok {
		err = marked.Err
	}
	switch of {
	case kind.Usage:
		return &kindError{ErrUsage, err}
	case kind.Input:
		return &kindError{ErrInput, inputError(err)}
	case kind.Query:
		return &kindError{ErrQuery, queryError(err)}
	case kind.Memory:
		return &kindError{ErrMemory, err}
	case kind.Device:
		return &kindError{ErrDevice, err}
	}
	switch {
	case errors.Is(err, runtime.ErrGraphClosed):
		return ErrClosed
	case errors.Is(err, runtime.ErrClosed):
		return errRuntimeClosed
	}
	return err
}

// ends is deferred in every call with a context. It makes *err public and, if the end of ctx
// caused it, an endedError.
func ends(ctx context.Context, err *error) {
	if *err = public(*err); *err == nil || ctx.Err() == nil {
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

// endedError is the error of a call whose context has ended. It is both ctx.Err(), which is
// context.Canceled or context.DeadlineExceeded, and the cause.
type endedError struct{ err, cause error }

func (e *endedError) Error() string { return e.cause.Error() }

func (e *endedError) Unwrap() []error { return []error{e.err, e.cause} }

// ErrClosed is the error of a call on a graph after Close of the graph or of its Runtime. It
// wraps fs.ErrClosed.
var ErrClosed error = closedError{"the graph is closed"}

// errRuntimeClosed is an ErrClosed.
var errRuntimeClosed error = closedError{"the runtime is closed"}

type closedError struct{ text string }

func (e closedError) Error() string { return e.text }

func (closedError) Is(target error) bool { return target == ErrClosed }

func (closedError) Unwrap() error { return fs.ErrClosed }

// The errors of calls on nil or zero values, which no function of the package returns.
var (
	errNoGraph       = kind.With(kind.Usage, errors.New("the graph is nil or zero: Open, Generate and FromEdges make graphs"))
	errNoProgram     = kind.With(kind.Usage, errors.New("the program is nil or zero: ParseMatcha makes programs"))
	errNoExplanation = kind.With(kind.Usage, errors.New("the explanation is nil or zero: Graph.Explain makes explanations"))
)
