// Package request reads the bodies of requests: JSON in the form that openapi.json gives for each kind.
//
// It imports nothing of weft, so that its fuzz target is built in seconds.
package request

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Body is the body of a request. Fields that concern no request of its kind are errors, so that none is ignored.
type Body struct {
	Kind         string            `json:"kind"` // of a job
	Graph        string            `json:"graph"`
	Query        string            `json:"query"`
	Pattern      string            `json:"pattern"`
	Params       map[string]any    `json:"params"`
	Program      string            `json:"program"`
	Name         string            `json:"name"` // of a program of the library
	Inputs       map[string]any    `json:"inputs"`
	Target       string            `json:"target"`
	Schedule     string            `json:"schedule"`
	Passes       string            `json:"passes"`
	Vertex       string            `json:"vertex"`
	K            int               `json:"k"`
	Format       string            `json:"format"` // of a job's rows
	Tag          string            `json:"tag"`
	Limit        int64             `json:"limit"`
	Seconds      float64           `json:"seconds"`
	Semantics    string            `json:"semantics"`
	Induced      *bool             `json:"induced"`
	List         string            `json:"list"`
	AllowProduct bool              `json:"allow_product"`
	Directions   *bool             `json:"directions"`
	Profile      bool              `json:"profile"`
	Listing      *bool             `json:"listing"`
	Engine       string            `json:"engine"`
	Device       string            `json:"device"`
	Order        string            `json:"order"`
	Threads      int               `json:"threads"`
	Seed         uint64            `json:"seed"`
	Switches     map[string]string `json:"switches"`
}

// Error is a mistake in a body.
type Error struct{ Message string }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func bad(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Forms are the fields that requests of each kind may have.
type Forms map[string][]string

// ReadForms returns the fields of requests of some kinds, as the text of openapi.json has them.
func ReadForms(document []byte, kinds []string) (Forms, error) {
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, err
	}
	out := Forms{}
	for _, kind := range kinds {
		title := strings.ToUpper(kind[:1]) + kind[1:] + "Request"
		out[kind] = slices.Sorted(maps.Keys(doc.Components.Schemas[title].Properties))
	}
	return out, nil
}

// Parse reads the text of a body, and refuses fields that do not concern the kind. The kind "" is a job, whose body names its kind. Errors are
// *Error.
func (f Forms) Parse(text []byte, kind string) (b Body, err error) {
	if b, err = parse(text); err != nil {
		return b, err
	}
	job := kind == ""
	if kind = cmp.Or(kind, b.Kind); b.Kind != "" && b.Kind != kind {
		return b, bad("the path asks for %s, and the body for %s", kind, b.Kind)
	}
	known, ok := f[kind]
	if !ok {
		return b, bad("kind %q: want one of %s", kind, strings.Join(slices.Sorted(maps.Keys(f)), ", "))
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return b, bad("the body: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case slices.Contains(known, name), job && name == "format":
		case name == "format":
			return b, bad("format is of jobs: the header Accept says which format the rows have")
		default:
			return b, bad("%s does not concern %s, which takes %s", name, kind, strings.Join(known, ", "))
		}
	}
	return b, nil
}

// mostNesting is how deep lists of a parameter may be inside each other.
const mostNesting = 2

func parse(text []byte) (b Body, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(&b); err != nil {
		return b, bad("the body: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return b, bad("the body has text after its JSON value")
	}
	for name, x := range b.Params {
		if b.Params[name], err = value(x, mostNesting); err != nil {
			return b, bad("parameter %s: %v", name, err)
		}
	}
	for name, x := range b.Inputs {
		if b.Inputs[name], err = value(x, mostNesting); err != nil {
			return b, bad("input %s: %v", name, err)
		}
	}
	if !(b.Seconds == 0 || b.Seconds >= 1e-9 && b.Seconds < 1e9) {
		return b, bad("seconds: want 0, or a number from 1e-9 to 1e9")
	}
	return b, nil
}

// value is a value of JSON as the library takes it: whole numbers are int64.
func value(x any, depth int) (any, error) {
	switch x := x.(type) {
	case json.Number:
		if i, err := x.Int64(); err == nil {
			return i, nil
		}
		if !strings.ContainsAny(x.String(), ".eE") {
			return nil, fmt.Errorf("%s is a whole number beyond 64 bits: write it as a text, or with a decimal point", x)
		}
		f, err := x.Float64()
		if err != nil {
			return nil, fmt.Errorf("%s is not a number that can be held", x)
		}
		return f, nil
	case []any:
		if depth == 0 {
			return nil, errors.New("lists are too deep inside each other")
		}
		out := make([]any, len(x))
		for i := range x {
			var err error
			if out[i], err = value(x[i], depth-1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		return nil, errors.New("an object is not a value of a parameter")
	}
	return x, nil
}
