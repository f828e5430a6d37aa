package rest

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/rest/request"
)

func bad(format string, args ...any) error {
	return &httpError{http.StatusBadRequest, string(serve.BadRequest), fmt.Sprintf(format, args...)}
}

// bodyTime is how long a client may take to send a body.
const bodyTime = 30 * time.Second

// readBody reads the body of a query.
//
// A field that does not concern the kind is an error, because it would be ignored: openapi.json says which do. The kind "" is a job, whose body
// names its kind.
func (h *Handler) readBody(r *http.Request, kind serve.Kind) (request.Body, error) {
	return read(r, h.forms, string(kind))
}

// read reads the body of a request that has one of the forms.
func read(r *http.Request, forms request.Forms, kind string) (b request.Body, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return b, &httpError{http.StatusUnsupportedMediaType, "media_type", "the body must be JSON: send Content-Type: application/json"}
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			return b, err
		}
		return b, bad("the body cannot be read: %v", err)
	}
	return forms.Parse(text, kind)
}

// request is a body as the server takes it.
func (h *Handler) request(b request.Body, who serve.Identity, kind serve.Kind) serve.Request {
	if b.Graph == "" && kind != serve.Matcha { // there is one that can be meant
		all := slices.DeleteFunc(h.Server.Catalog.Names(), func(name string) bool { return !who.May(name) })
		if len(all) == 1 {
			b.Graph = all[0]
		}
	}
	return serve.Request{
		Kind: kind, Graph: b.Graph, Query: b.Query, Pattern: b.Pattern, Params: b.Params, Vertex: b.Vertex, Program: serve.Program{Text: b.Program, Name: b.Name, Inputs: b.Inputs, Target: b.Target, Schedule: b.Schedule, Passes: b.Passes}, K: b.K, Protocol: "http", Tag: b.Tag,
		Choices: serve.Choices{
			Limit: b.Limit, Time: time.Duration(b.Seconds * 1e9), Semantics: b.Semantics, Induced: b.Induced, List: b.List, AllowProduct: b.AllowProduct,
			Directions: b.Directions, Profile: b.Profile, Listing: b.Listing, Engine: b.Engine, Device: b.Device, Order: b.Order, Threads: b.Threads,
			Seed: b.Seed, Switches: b.Switches,
		},
	}
}

// formats are those of rows, with their media types. The first is the default.
var formats = []struct{ name, media string }{
	{"json", "application/json"},
	{"ndjson", "application/x-ndjson"},
	{"csv", "text/csv"},
	{"arrow", "application/vnd.apache.arrow.stream"},
}

// mediaOf is the media type of a format; "" if there is none.
func mediaOf(format string) string {
	for _, f := range formats {
		if f.name == format {
			return f.media
		}
	}
	return ""
}

// accepted is the format of rows that a client asks for.
func accepted(r *http.Request) (format string, err error) {
	best := 0.0
	all := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(all) == "" {
		return "json", nil
	}
	for part := range strings.SplitSeq(all, ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		q := 1.0
		if s, ok := params["q"]; ok {
			if _, err := fmt.Sscanf(s, "%g", &q); err != nil {
				continue
			}
		}
		for _, f := range formats {
			kind, _, _ := strings.Cut(f.media, "/")
			if (media == f.media || media == "*/*" || media == kind+"/*" || media == "application/ndjson" && f.name == "ndjson") && q > best {
				best, format = q, f.name
				break
			}
		}
	}
	if format == "" {
		var names []string
		for _, f := range formats {
			names = append(names, f.media)
		}
		return "", &httpError{http.StatusNotAcceptable, "accept", "rows are written as " + strings.Join(names, ", ")}
	}
	return format, nil
}
