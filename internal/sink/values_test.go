package sink

import (
	"bytes"
	"testing"
)

// TestValues: whole numbers that JSON cannot hold are texts.
func TestValues(t *testing.T) {
	var b bytes.Buffer
	w := NewValues(&b, "ndjson")
	w.Add([]any{int64(1) << 53, 1.5})
	w.Add([]any{int64(1)<<53 + 1, 2.5})
	w.Add([]any{-int64(1)<<53 - 1, 3.5})
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	want := `{"v0":9007199254740992,"v1":1.5}` + "\n" + `{"v0":"9007199254740993","v1":2.5}` + "\n" + `{"v0":"-9007199254740993","v1":3.5}` + "\n"
	if b.String() != want || w.Count() != 3 || w.Err() != nil {
		t.Errorf("%s, want\n%s", b.String(), want)
	}
}

// TestValuesNames: columns have the given name, or a number; a table without rows has its columns.
func TestValuesNames(t *testing.T) {
	for _, test := range []struct {
		names []string
		row   []any
		types []string
		want  string
	}{
		{nil, []any{int64(1), true}, nil, "v0,v1\n1,true\n"},
		{[]string{"result"}, []any{"x"}, nil, "result\nx\n"},
		{[]string{"result"}, []any{1.5, int64(2)}, nil, "result0,result1\n1.5,2\n"},
		{nil, nil, []string{"int", "string"}, "v0,v1\n"},
	} {
		var b bytes.Buffer
		w := NewValues(&b, "csv", test.names...)
		if test.row != nil {
			w.Add(test.row)
		}
		if err := w.Close(test.types); err != nil || b.String() != test.want {
			t.Errorf("%v: %v, %q, want %q", test.names, err, b.String(), test.want)
		}
	}
}
