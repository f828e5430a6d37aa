package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/rest/request"
)

// problem is an error in the form of RFC 9457.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Kind is a word for programs.
	Kind string `json:"kind"`
	// The place in the query's text, and help. Lines and columns count from 1, offsets from 0.
	Line       int    `json:"line,omitempty"`
	Column     int    `json:"column,omitempty"`
	Offset     *int   `json:"offset,omitempty"`
	Length     int    `json:"length,omitempty"`
	Caret      string `json:"caret,omitempty"` // the line with a caret under the column
	Expected   string `json:"expected,omitempty"`
	Suggestion string `json:"suggestion,omitempty"`
	// The field of the request's body, as params.ids[2], and the place there.
	Field string         `json:"field,omitempty"`
	Body  *request.Place `json:"body,omitempty"`
}

// httpError is an error of a request's form.
type httpError struct {
	status int
	kind   string
	msg    string
}

func (e *httpError) Error() string { return e.msg }

// statusOf are the codes of HTTP for those of the server.
var statusOf = map[serve.Code]int{
	serve.BadRequest: http.StatusBadRequest, serve.NotAllowed: http.StatusForbidden, serve.UnknownGraph: http.StatusNotFound, serve.UnknownRun: http.StatusNotFound,
	serve.Credentials: http.StatusUnauthorized, serve.RateLimited: http.StatusTooManyRequests, serve.TooLarge: http.StatusRequestEntityTooLarge,
	serve.TooSlow: http.StatusUnprocessableEntity, serve.QueueFull: http.StatusServiceUnavailable, serve.OutOfMemory: http.StatusServiceUnavailable,
	serve.Draining: http.StatusServiceUnavailable, serve.Cancelled: http.StatusConflict, serve.ProgramsOff: http.StatusForbidden,
	serve.TargetFailed: http.StatusServiceUnavailable, serve.TimeLimit: http.StatusUnprocessableEntity, serve.Conflict: http.StatusConflict,
}

// placed is an error of the server about a field of a body.
type placed struct {
	error
	field *request.Error
}

// Unwrap returns the error of the server.
func (e *placed) Unwrap() error { return e.error }

// inBody is an error of the server with its place in the body of the request.
func inBody(b *request.Body, err error) error {
	if own := (*serve.Error)(nil); errors.As(err, &own) && len(own.Field) > 0 {
		return &placed{err, b.At(own.Message, own.Field...)}
	}
	return err
}

// problemOf is an error as clients get it.
func problemOf(err error) problem {
	p := problem{Type: "about:blank", Status: http.StatusInternalServerError, Kind: "internal"}
	p.Detail, _ = serve.Message(err)
	var own *serve.Error
	var form *httpError
	var query *weft.QueryError
	var large *http.MaxBytesError
	var body *request.Error
	switch {
	case errors.As(err, &own):
		p.Status, p.Kind = statusOf[own.Code], string(own.Code)
	case errors.As(err, &form):
		p.Status, p.Kind, p.Detail = form.status, form.kind, form.msg
	case errors.As(err, &body):
		p.Status, p.Kind, p.Detail, p.Field, p.Body = http.StatusBadRequest, string(serve.BadRequest), body.Message, body.Path, &body.Place
	case errors.As(err, &large):
		p.Status, p.Kind, p.Detail = http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body has more than %d bytes", large.Limit)
	case errors.Is(err, weft.ErrInput):
		p.Kind = "input"
	case errors.As(err, &query):
		p.Status, p.Kind, p.Detail = http.StatusUnprocessableEntity, "query", query.Message
		p.Line, p.Column, p.Length, p.Expected, p.Suggestion = query.Line, query.Column, query.Length, query.Expected, query.Suggestion
		if query.Line > 0 {
			p.Caret = query.Error()
		}
		if query.Offset >= 0 && query.Line > 0 {
			p.Offset = &query.Offset
		}
	case errors.Is(err, weft.ErrQuery):
		p.Status, p.Kind = http.StatusUnprocessableEntity, "query"
	case errors.Is(err, weft.ErrUsage):
		p.Status, p.Kind = http.StatusBadRequest, "usage"
	case errors.Is(err, weft.ErrMemory):
		p.Status, p.Kind = http.StatusServiceUnavailable, string(serve.OutOfMemory)
	case errors.Is(err, weft.ErrDevice):
		p.Status, p.Kind = http.StatusServiceUnavailable, "device"
	}
	if at := (*placed)(nil); errors.As(err, &at) {
		p.Field, p.Body = at.field.Path, &at.field.Place
	}
	p.Title = http.StatusText(p.Status)
	return p
}

// fail answers with an error.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		if l, ok := w.(*logged); ok && l.status == 0 {
			l.status = 499 // nobody reads an answer
		}
		return
	}
	p := problemOf(err)
	if p.Status >= 500 && h.Log != nil {
		h.Log.Error("a request failed", "path", r.URL.Path, "error", err)
	}
	writeProblem(w, p, err)
}

func writeProblem(w http.ResponseWriter, p problem, err error) {
	header := w.Header()
	var own *serve.Error
	if errors.As(err, &own) && own.Retry > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(own.Retry.Seconds()))))
	}
	header.Del("Trailer")
	header.Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(encode(p))
}

// encode writes JSON in which the arrows of queries stay arrows.
func encode(x any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(x); err != nil {
		return []byte(fmt.Sprintf("{\"error\":%q}\n", err))
	}
	return b.Bytes()
}

func writeJSON(w http.ResponseWriter, status int, x any) error {
	b := encode(x)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, err := w.Write(b)
	return ignore(err)
}
