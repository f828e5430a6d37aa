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
	"maps"
	"reflect"
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

	text []byte // of the whole body
}

// At returns an error about a field of a body that Parse has taken. Its place is that of the field's value, or of the object that lacks the field.
// The field is a path of names: that of the body's field first.
func (b *Body) At(message string, field ...string) *Error {
	var at path
	for _, name := range field {
		at = append(at, name)
	}
	value, _ := find(b.text, at)
	return &Error{message, at.String(), placeAt(b.text, value)}
}

// Error is a mistake in a body.
type Error struct {
	Message string // with the path
	Path    string // of the field, as params.ids[2]; "" for the whole body
	Place   Place
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// mistakeAt is an error about the value at a path.
func mistakeAt(text []byte, at path, format string, args ...any) error {
	value, _ := find(text, at)
	return &Error{fmt.Sprintf("%s: %s", cmp.Or(at.String(), "the body"), fmt.Sprintf(format, args...)), at.String(), placeAt(text, value)}
}

// fieldAt is an error about a field of the body that should not stand there. Its message names the field.
func fieldAt(text []byte, name, format string, args ...any) error {
	_, at := find(text, path{name})
	return &Error{fmt.Sprintf(format, args...), path{name}.String(), placeAt(text, at)}
}

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

// Parse reads the text of a body, and refuses fields that do not concern the kind, and fields that stand twice in an object. The kind "" is a job, whose
// body names its kind. Errors are *Error.
func (f Forms) Parse(text []byte, kind string) (b Body, err error) {
	b.text = text
	given, err := parse(text, &b)
	if err != nil {
		return b, err
	}
	job := kind == ""
	if kind = cmp.Or(kind, b.Kind); b.Kind != "" && b.Kind != kind {
		return b, mistakeAt(text, path{"kind"}, "the path asks for %s, and the body for %s", kind, shown(b.Kind))
	}
	known, ok := f[kind]
	if !ok {
		return b, mistakeAt(text, path{"kind"}, "%q: want one of %s", shown(kind), strings.Join(slices.Sorted(maps.Keys(f)), ", "))
	}
	for _, name := range given {
		switch {
		case slices.Contains(known, name), job && name == "format":
		case name == "format":
			return b, fieldAt(text, name, "format is of jobs: the header Accept says which format the rows have")
		default:
			return b, fieldAt(text, name, "%s does not concern %s, which takes %s", path{name}, kind, strings.Join(known, ", "))
		}
	}
	return b, nil
}

// shown is a text in an error, shortened.
func shown(text string) string {
	if len(text) > mostName {
		return strings.ToValidUTF8(text[:mostName], "") + "…"
	}
	return text
}

// mostNesting is how deep lists of a parameter may be inside each other.
const mostNesting = 2

// parse reads a body, and returns the names of its fields in their order.
func parse(text []byte, b *Body) (names []string, err error) {
	var whole json.RawMessage
	var wrong *json.SyntaxError
	if err := json.Unmarshal(text, &whole); errors.As(err, &wrong) {
		return nil, broken(text, wrong)
	} else if err != nil {
		return nil, &Error{Message: "the body: " + err.Error()}
	}
	if p, at := twice(text); p != nil {
		return nil, &Error{fmt.Sprintf("%s stands twice", p), p.String(), placeAt(text, at)}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var mistyped *json.UnmarshalTypeError
	if err := d.Decode(b); errors.As(err, &mistyped) {
		return nil, mistype(text, mistyped)
	} else if err != nil {
		return nil, &Error{Message: "the body: " + err.Error()}
	}
	for _, fields := range []struct {
		name   string
		values map[string]any
	}{{"params", b.Params}, {"inputs", b.Inputs}} {
		for _, name := range slices.Sorted(maps.Keys(fields.values)) {
			x, err := value(fields.values[name], mostNesting)
			if bad := new(wrongValue); errors.As(err, &bad) {
				slices.Reverse(bad.at)
				return nil, mistakeAt(text, append(path{fields.name, name}, bad.at...), "%s", bad.text)
			}
			fields.values[name] = x
		}
	}
	if !(b.Seconds == 0 || b.Seconds >= 1e-9 && b.Seconds < 1e9) {
		return nil, mistakeAt(text, path{"seconds"}, "want 0, or a number from 1e-9 to 1e9")
	}
	return fieldsOf(text), nil
}

// broken is an error of a text that is not JSON.
func broken(text []byte, wrong *json.SyntaxError) error {
	at, what := int(wrong.Offset)-1, "is not JSON: "+wrong.Error() // of the byte that was read last
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		at, what = 0, "is empty"
	case strings.Contains(wrong.Error(), "unexpected end"):
		at, what = len(text), "ends inside its JSON value"
	case strings.Contains(wrong.Error(), "after top-level value"):
		what = "has text after its JSON value"
	}
	place := placeAt(text, at)
	return &Error{fmt.Sprintf("the body %s (line %d, column %d)", what, place.Line, place.Column), "", place}
}

// mistype is an error of a value whose type is not that of its field.
func mistype(text []byte, wrong *json.UnmarshalTypeError) error {
	want := "an object"
	switch wrong.Type.Kind() {
	case reflect.String:
		want = "a text"
	case reflect.Bool:
		want = "true or false"
	case reflect.Float64:
		want = "a number"
	case reflect.Int, reflect.Int64:
		want = "a whole number"
	case reflect.Uint64:
		want = "a whole number from 0"
	}
	has := map[string]string{"string": "a text", "bool": "true or false", "array": "a list", "object": "an object", "number": "a number"}[wrong.Value]
	if has == "" { // a number with its text
		has = shown(strings.TrimPrefix(wrong.Value, "number "))
	}
	return mistakeAt(text, holding(text, int(wrong.Offset)-1), "want %s, and not %s", want, has)
}

// fieldsOf are the names of the fields of a body, which must be JSON without mistakes.
func fieldsOf(text []byte) (names []string) {
	s := scan{text: text}
	if s.blank() != '{' {
		return nil
	}
	for s.each('}') {
		names = append(names, s.name())
		s.skip()
	}
	return names
}

// wrongValue is the error of a value that the library does not take.
type wrongValue struct {
	text string
	at   path // in the value, the last step first
}

func (e *wrongValue) Error() string { return e.text }

// value is a value of JSON as the library takes it: whole numbers are int64. Errors are *wrongValue.
func value(x any, depth int) (any, error) {
	switch x := x.(type) {
	case json.Number:
		if i, err := x.Int64(); err == nil {
			return i, nil
		}
		if !strings.ContainsAny(x.String(), ".eE") {
			return nil, &wrongValue{text: shown(x.String()) + " is a whole number beyond 64 bits: write it as a text, or with a decimal point"}
		}
		f, err := x.Float64()
		if err != nil {
			return nil, &wrongValue{text: shown(x.String()) + " is not a number that can be held"}
		}
		return f, nil
	case []any:
		if depth == 0 {
			return nil, &wrongValue{text: "lists are too deep inside each other"}
		}
		out := make([]any, len(x))
		for i := range x {
			var err error
			if out[i], err = value(x[i], depth-1); err != nil {
				if bad := new(wrongValue); errors.As(err, &bad) {
					bad.at = append(bad.at, i)
				}
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		return nil, &wrongValue{text: "an object is not a value that a query takes"}
	}
	return x, nil
}
