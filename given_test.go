package weft_test

import (
	"context"
	"io"
	"iter"
	"math/big"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/weftgraph/weft"
)

// TestZeroValues: no method of a zero value panics, and each method with an error returns one. So does each call
// with a zero value.
func TestZeroValues(t *testing.T) {
	q, err := weft.Parse("MATCH (a)--(b)")
	if err != nil {
		t.Fatal(err)
	}
	g, err := weft.Generate(t.Context(), weft.Spec{Model: "star", N: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	m, err := weft.ParseMatcha("", "input G: Graph\nreturn size(vertices(G))")
	if err != nil {
		t.Fatal(err)
	}
	given := map[reflect.Type]any{
		reflect.TypeFor[context.Context](): t.Context(),
		reflect.TypeFor[*weft.Query]():     q,
		reflect.TypeFor[[]*weft.Query]():   []*weft.Query{q},
		reflect.TypeFor[io.Writer]():       io.Discard,
		reflect.TypeFor[string]():          "csv",
		reflect.TypeFor[int]():             3,
		reflect.TypeFor[time.Duration]():   time.Second,
	}
	inputs := reflect.TypeFor[map[string]any]()
	for _, x := range []any{
		&weft.Graph{}, (*weft.Graph)(nil), &weft.Query{}, (*weft.Query)(nil), &weft.Matcha{}, (*weft.Matcha)(nil),
		weft.Match{}, &weft.Participation{}, &weft.Orbits{}, &weft.Partition{}, &weft.Explanation{}, weft.Result{}, &weft.QueryError{}, &weft.InputError{}, &weft.Watch{}, (*weft.Watch)(nil), weft.Change{},
	} {
		given[inputs] = map[string]any{}
		callAll(t, x, given)
	}
	// What is given is zero, and the rest is not.
	for _, none := range []*weft.Query{nil, {}} {
		given[reflect.TypeFor[*weft.Query]()], given[reflect.TypeFor[[]*weft.Query]()] = none, []*weft.Query{none}
		callAll(t, g, given, "Close", "Cliques", "CheckFile", "Info", "Layouts", "Partition", "Motifs", "Orbits", "MotifsMatcha", "Write", "WriteStream",
			"NumVertices", "NumEdges", "Directed", "Summary", "Read", "LoadTime", "Schema")
	}
	for _, none := range []*weft.Graph{nil, {}} {
		given[inputs] = map[string]any{"G": none}
		callAll(t, m, given, "Graph")
	}
}

// neverFail are methods that return no error of a zero value.
var neverFail = map[string]bool{"Close": true, "Unwrap": true, "MarshalJSON of weft.Result": true, "MarshalJSON of *weft.Participation": true}

// callAll calls all methods of x except some.
func callAll(t *testing.T, x any, given map[reflect.Type]any, except ...string) {
	v := reflect.ValueOf(x)
	for i := range v.NumMethod() {
		name, method := v.Type().Method(i).Name, v.Method(i)
		skip := false
		for _, e := range except {
			skip = skip || e == name
		}
		if skip {
			continue
		}
		t.Run(v.Type().String()+" "+name, func(t *testing.T) {
			var args []reflect.Value
			for k := range method.Type().NumIn() {
				of := method.Type().In(k)
				switch arg, ok := given[of]; {
				case method.Type().IsVariadic() && k == method.Type().NumIn()-1:
				case ok:
					args = append(args, reflect.ValueOf(arg).Convert(of))
				case of == reflect.TypeFor[weft.WriteOptions]():
					args = append(args, reflect.ValueOf(weft.WriteOptions{Stdout: io.Discard, Format: "csv"}))
				default:
					args = append(args, reflect.Zero(of))
				}
			}
			if (name == "Write" || name == "WriteStream") && len(args) > 1 {
				args[1] = reflect.ValueOf(filepath.Join(t.TempDir(), "x.csv"))
			}
			out := method.Call(args)
			err, ok := error(nil), false
			for _, o := range out {
				switch r := o.Interface().(type) {
				case iter.Seq2[weft.Result, error]:
					for _, err = range r {
						ok = true
					}
				case iter.Seq2[weft.Match, error]:
					for _, err = range r {
						ok = true
					}
				case iter.Seq2[weft.Change, error]:
					for _, err = range r {
						ok = true
					}
				case iter.Seq2[string, *big.Int]:
					for id := range r {
						t.Errorf("a count of %s", id)
					}
				}
				if v.Type() == reflect.TypeFor[*weft.Graph]() && o.Kind() != reflect.Func && o.Type() != reflect.TypeFor[error]() && !o.IsZero() {
					t.Errorf("it returns %v, which is not zero", o)
				}
				if o.Type() == reflect.TypeFor[error]() {
					err, _ = o.Interface().(error)
					ok = true
				}
			}
			if never := neverFail[name] || neverFail[name+" of "+v.Type().String()]; ok && err == nil && !never {
				t.Error("no error")
			}
		})
	}
}
