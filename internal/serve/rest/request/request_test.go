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
		{`{"inputs":{"x":[[[1]]]}}`, "matcha", "input x: lists are too deep"},
		{`{"params":{"x":18446744073709551616}}`, "count", "beyond 64 bits"},
		{`{"seconds":-1}`, "count", "seconds"},
		{`[`, "count", "the body:"},
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

// TestNumbers: numbers that would silently become others are refused.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]bool{
		`{"seconds":1e-10}`: false, `{"seconds":0}`: true, `{"seconds":0.5}`: true, `{"seconds":-1}`: false,
		`{"params":{"x":9223372036854775807}}`: true, `{"params":{"x":9223372036854775808}}`: false, `{"params":{"x":[-9223372036854775809]}}`: false,
		`{"params":{"x":9223372036854775808.0}}`: true, `{"params":{"x":1e300}}`: true,
	} {
		if _, err := parse([]byte(text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(`{"graph":"karate","query":"MATCH (a)--(b)","params":{"x":[1,2.5,"a",null,true]},"limit":3}`, "count")
	f.Add(`{"kind":"motifs","k":3,"seconds":1e9}`, "")
	f.Add(`{"params":{"x":1e999}}`, "match")
	f.Add(`{"program":"return 1","inputs":{"l":[[1,2],[3,4]],"G":"karate"}}`, "matcha")
	known := forms(f)
	f.Fuzz(func(t *testing.T, text, kind string) {
		b, err := known.Parse([]byte(text), kind)
		if err != nil {
			if !errors.As(err, new(*Error)) {
				t.Errorf("%T %v", err, err)
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
