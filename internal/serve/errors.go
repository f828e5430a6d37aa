package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/memory"
)

// Code is a kind of error that the server has besides those of the library.
type Code string

// Codes of errors.
const (
	BadRequest   Code = "bad_request"   // a request with a mistake that is not in its query
	NotAllowed   Code = "forbidden"     // the user has no right to do this
	UnknownGraph Code = "unknown_graph" // no graph of this name is open, or the user may not read it
	UnknownRun   Code = "unknown_run"   // no run has this number, or it belongs to another user
	Credentials  Code = "credentials"   // there are none, or they are wrong
	RateLimited  Code = "rate_limited"  // too many wrong credentials
	TooLarge     Code = "too_large"     // a text, a pattern or a result that is longer than a limit
	ProgramsOff  Code = "programs_off"  // the server takes no Matcha programs, or none for the target
	TargetFailed Code = "device"        // the target of a program has failed, or is absent
	TimeLimit    Code = "time"          // the time limit passed before there was a result
	TooSlow      Code = "planning_time" // the query was not planned within Limits.Planning
	QueueFull    Code = "queue_full"    // too many queries wait
	OutOfMemory  Code = "memory"        // memory is short, and older queries go on
	Draining     Code = "draining"      // the server stops
	Cancelled    Code = "cancelled"     // the run was cancelled before it had a result
	Conflict     Code = "conflict"      // the graph is being loaded by another request
)

// Error is an error of the server. Others are of the library: a *weft.QueryError, or an error of one of weft's kinds.
type Error struct {
	Code    Code
	Message string
	// Field is the path of the field that has the mistake, in JSON's names, as "params" and "x". nil: the mistake is not in one field.
	Field []string
	// Retry is the time after which the same request may succeed. 0 means that it is not known.
	Retry time.Duration
	err   error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

func errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// at sets the path of the field that has the mistake, and returns e.
func (e *Error) at(field ...string) *Error {
	e.Field = field
	return e
}

// Message returns the text of an error that clients of any protocol may see. If the error's own text may have the path of a file, or tells of
// the insides of the server, whole is false and the text is a fixed one: the error itself belongs in the log.
func Message(err error) (text string, whole bool) {
	var own *Error
	var cut *cutError
	var query *weft.QueryError
	var room *memory.Error
	switch {
	case err == nil:
		return "", true
	case errors.As(err, &own):
		return own.Message, true
	case errors.As(err, &cut):
		return cut.Error(), true
	case errors.Is(err, weft.ErrInput):
		return "the file of the graph cannot be read: the log of the server has the reason", false
	case errors.Is(err, weft.ErrClosed):
		return "the graph is closed", true
	case errors.As(err, new(*fs.PathError)), errors.As(err, new(*os.LinkError)), errors.As(err, new(*os.SyscallError)):
		return internalError, false
	case errors.As(err, &query) && query.File == "":
		return query.Error(), true
	case errors.As(err, &room):
		without := *room
		without.Limit.Where = "" // a file of the system
		return without.Error(), true
	case errors.Is(err, weft.ErrMemory):
		return "the query needs more memory than there is: the log of the server has the reason", false
	case errors.Is(err, weft.ErrDevice):
		return "the device, or a compiler for it, is absent or has failed: the log of the server has the reason", false
	case errors.Is(err, weft.ErrUsage):
		return err.Error(), true
	case errors.Is(err, context.DeadlineExceeded):
		return "the time limit passed", true
	case errors.Is(err, context.Canceled):
		return "the query was cancelled", true
	}
	return internalError, false
}

const internalError = "internal error: the log of the server has the reason"

// Cut is the reason why a result is not complete.
type Cut string

// Reasons. NotCut is that of a complete result.
const (
	NotCut    Cut = ""
	CutRows   Cut = "rows"   // the limit on rows of the server or of the user
	CutLimit  Cut = "limit"  // the limit of the request
	CutTime   Cut = "time"   // the limit on time
	CutDrain  Cut = "drain"  // the server stops
	CutCancel Cut = "cancel" // somebody cancelled the run
	CutMemory Cut = "memory" // memory was short
	CutSize   Cut = "size"   // the limit on the bytes of a result that is kept
	CutClient Cut = "client" // the client has gone, or reads no more
	CutError  Cut = "error"  // an error after the first rows
)

// cutError is the cause of the context of a run that is cut short.
type cutError struct{ why Cut }

func (e *cutError) Error() string {
	switch e.why {
	case CutTime:
		return "the time limit passed"
	case CutDrain:
		return "the server stops"
	case CutCancel:
		return "the query was cancelled"
	case CutMemory:
		return "memory was short, and older queries go on"
	case CutClient:
		return "the client has gone"
	}
	return string(e.why)
}

// cutOf is the reason in the cause of a context, or CutClient of another cause.
func cutOf(cause error) Cut {
	var c *cutError
	if errors.As(cause, &c) {
		return c.why
	}
	return CutClient
}
