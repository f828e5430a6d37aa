package request

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// forms are those of openapi.json.
func forms(t testing.TB) Forms {
	t.Helper()
	document, err := os.ReadFile("../openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := ReadForms(document, []string{"count", "match", "motifs", "matcha"})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParse(t *testing.T) {
	f := forms(t)
	b, err := f.Parse([]byte(`{"graph":"club","query":"MATCH (a)--(b)","params":{"x":[1,2.5,[true]]},"limit":3}`), "match")
	if err != nil || b.Graph != "club" || b.Limit != 3 || len(b.Params["x"].([]any)) != 3 || b.Params["x"].([]any)[0] != int64(1) {
		t.Errorf("%+v, %v", b, err)
	}
	for _, test := range []struct{ text, kind, want string }{
		{`{"query":"x","k":3}`, "match", "k does not concern match"},
		{`{"query":"x","format":"csv"}`, "match", "format is of jobs"},
		{`{"kind":"motifs","k":3,"format":"csv"}`, "", ""},
		{`{"kind":"motifs"}`, "count", "the path asks for count"},
		{`{"kind":"nothing"}`, "", "want one of count, match, matcha, motifs"},
		{`{"query":"x"} 1`, "count", "text after"},
		{`{"inputs":{"x":[[[1]]]}}`, "matcha", "inputs.x[0][0]: lists are too deep"},
		{`{"params":{"x":18446744073709551616}}`, "count", "beyond 64 bits"},
		{`{"seconds":-1}`, "count", "seconds"},
		{`[`, "count", "the body ends inside"},
	} {
		_, err := f.Parse([]byte(test.text), test.kind)
		if test.want == "" && err == nil {
			continue
		}
		var wrong *Error
		if !errors.As(err, &wrong) || test.want == "" || !strings.Contains(wrong.Message, test.want) {
			t.Errorf("%s: %v, want %q", test.text, err, test.want)
		}
	}
	if _, err := ReadForms([]byte("{"), nil); err == nil {
		t.Error("a document that is not JSON")
	}
}

// TestPlaces: each mistake has its field and its place in the body, and the words of JSON.
func TestPlaces(t *testing.T) {
	f := forms(t)
	for _, test := range []struct{ text, kind, path, at, want string }{
		// at is the text that begins at the place
		{`{"graph":"a","graph":"b"}`, "count", "graph", `"graph":"b"`, "graph stands twice"},
		{`{"gr\u0061ph":"a", "graph":"b"}`, "count", "graph", `"graph":"b"`, "graph stands twice"},
		{`{"params":{"x":1,"y":[1,2],"x":2}}`, "count", "params.x", `"x":2`, "params.x stands twice"},
		{`{"params":{},"limit":1,"params":{"x":2}}`, "count", "params", `"params":{"x"`, "params stands twice"},
		{`{"inputs":{"x":[1,{"a":[],"a":{}}]}}`, "matcha", "inputs.x[1].a", `"a":{}`, "inputs.x[1].a stands twice"},
		{"{\"switches\":{\"a\":\"1\",\n\"a\":\"2\"}}", "count", "switches.a", `"a":"2"`, "switches.a stands twice"},
		{`{"limit": "ten"}`, "count", "limit", `"ten"`, "limit: want a whole number, and not a text"},
		{`{"limit": 1e30, "query":"x"}`, "count", "limit", `1e30`, "limit: want a whole number, and not 1e30"},
		{`{"limit": 1.5}`, "count", "limit", `1.5`, "limit: want a whole number, and not 1.5"},
		{`{"seed": -1}`, "count", "seed", `-1`, "seed: want a whole number from 0, and not -1"},
		{`{"induced": "yes"}`, "count", "induced", `"yes"`, "induced: want true or false, and not a text"},
		{`{"query": ["x"]}`, "count", "query", `["x"]`, "query: want a text, and not a list"},
		{`{"params": [1]}`, "count", "params", `[1]`, "params: want an object, and not a list"},
		{`{"switches": {"b":"1","a": 1}}`, "count", "switches.a", `1}}`, "switches.a: want a text, and not a number"},
		{`{"seconds": true}`, "count", "seconds", `true`, "seconds: want a number, and not true or false"},
		{`{"query":"x", "seconds": -1}`, "count", "seconds", `-1`, "seconds: want 0"},
		{`["x"]`, "count", "", `["x"]`, "the body: want an object, and not a list"},
		{`{"params":{"a":[1],"b":[1, [2, 18446744073709551616]]}}`, "count", "params.b[1][1]", `18446744073709551616`, "params.b[1][1]: 18446744073709551616 is a whole number beyond 64 bits"},
		{`{"params":{"x":{"y":1}}}`, "count", "params.x", `{"y":1}`, "params.x: an object is not a value"},
		{`{"query":"x","nothing":3}`, "count", "nothing", `"nothing":3`, "nothing does not concern count"},
		{`{"query":"x","Graph":"a"}`, "count", "Graph", `"Graph":"a"`, "Graph does not concern count"},
		{`{"kind":"match"}`, "count", "kind", `"match"`, "kind: the path asks for count, and the body for match"},
		{`{"k":3,"kind":"all"}`, "", "kind", `"all"`, `kind: "all": want one of`},
		{`{"query":"x",}`, "count", "", `}`, "the body is not JSON: invalid character '}' looking for beginning of object key string (line 1, column 14)"},
		{"{\"query\":\n \"ä\" x}", "count", "", `x}`, "(line 2, column 6)"},
		{`{"query":"x"} {}`, "count", "", `{}`, "the body has text after its JSON value"},
		{`{"query":"x`, "count", "", ``, "the body ends inside its JSON value"},
		{" ", "count", "", ` `, "the body is empty"},
		{strings.Repeat("[", 20000), "count", "", ``, "max depth"},
	} {
		_, err := f.Parse([]byte(test.text), test.kind)
		var wrong *Error
		if !errors.As(err, &wrong) {
			t.Errorf("%.80s: %v", test.text, err)
			continue
		}
		line := strings.Split(test.text, "\n")[wrong.Place.Line-1]
		if wrong.Path != test.path || !strings.Contains(wrong.Message, test.want) || !strings.HasPrefix(test.text[wrong.Place.Offset:], test.at) ||
			!strings.HasPrefix(string([]rune(line)[wrong.Place.Column-1:]), strings.SplitN(test.at, "\n", 2)[0]) {
			t.Errorf("%.80s: %q at %q, %+v; want %q at %q and %q", test.text, wrong.Message, wrong.Path, wrong.Place, test.want, test.path, test.at)
		}
		for _, word := range []string{"Body", "Go ", "struct", "int64", "json:", "map["} {
			if strings.Contains(wrong.Message, word) {
				t.Errorf("%.80s: %s", test.text, wrong.Message)
			}
		}
	}
	if _, err := f.Parse([]byte(`{"query":"x","params":{"x":{},"y":[[],[]]},"switches":{}}`), "count"); err == nil || !strings.Contains(err.Error(), "params.x") {
		t.Errorf("%v", err)
	}
	if _, err := f.Parse([]byte(` { "query" : "x" , "params" : { "x" : [ ] , "y" : [ [ ] , [ 1 , null ] ] , "" : "{\"[" } , "switches" : { } } `), "count"); err != nil {
		t.Error(err)
	}
}

// TestNumbers: numbers that would silently become others are refused.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]bool{
		`{"seconds":1e-10}`: false, `{"seconds":0}`: true, `{"seconds":0.5}`: true, `{"seconds":-1}`: false,
		`{"params":{"x":9223372036854775807}}`: true, `{"params":{"x":9223372036854775808}}`: false, `{"params":{"x":[-9223372036854775809]}}`: false,
		`{"params":{"x":9223372036854775808.0}}`: true, `{"params":{"x":1e300}}`: true,
	} {
		if _, err := parse([]byte(text), new(Body)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(`{"graph":"karate","query":"MATCH (a)--(b)","params":{"x":[1,2.5,"a",null,true]},"limit":3}`, "count")
	f.Add(`{"kind":"motifs","k":3,"seconds":1e9}`, "")
	f.Add(`{"params":{"x":1e999}}`, "match")
	f.Add(`{"params":{"x":[{"a":"\"{"},{}],"x":1}}`, "match")
	f.Add(`{"program":"return 1","inputs":{"l":[[1,2],[3,4]],"G":"karate"}}`, "matcha")
	known := forms(f)
	f.Fuzz(func(t *testing.T, text, kind string) {
		b, err := known.Parse([]byte(text), kind)
		if err != nil {
			wrong := new(Error)
			if !errors.As(err, &wrong) || wrong.Place.Offset > len(text) || wrong.Place.Line < 1 || wrong.Place.Column < 1 {
				t.Errorf("%T %+v", err, err)
			}
			return
		}
		for _, values := range []map[string]any{b.Params, b.Inputs} {
			for name, x := range values {
				switch x.(type) {
				case nil, bool, int64, float64, string, []any:
				default:
					t.Errorf("the value %s is a %T", name, x)
				}
			}
		}
	})
}
