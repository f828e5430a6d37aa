package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/vfs"
)

// show writes an update in one way, whatever its format.
func show(u *Update) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", [...]string{"add", "remove", "add vertex", "remove vertex", "label", "set", "set edge"}[u.Op], u.U)
	if u.Op.OfEdge() {
		fmt.Fprintf(&b, "-%s :%s", u.V, u.Label)
	}
	for _, l := range u.Labels {
		fmt.Fprintf(&b, " :%s", l)
	}
	for _, p := range u.Properties {
		v, err := appendValue(nil, p.Value)
		fmt.Fprintf(&b, " %s=%s", p.Name, v)
		if err != nil {
			fmt.Fprintf(&b, "%v", err)
		}
	}
	if u.HasTime {
		fmt.Fprintf(&b, " @%d", u.Time)
	}
	return b.String()
}

// readAll reads updates and shows them, mistakes as !kind message.
func readAll(t testing.TB, text string, o Options) (got []string) {
	t.Helper()
	f, err := Open(context.Background(), vfs.OS{}, "-", strings.NewReader(text), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for {
		var u Update
		err := f.Next(&u)
		var bad *InputError
		switch {
		case err == io.EOF:
			return got
		case errors.As(err, &bad):
			if !errors.As(err, new(*format.Error)) {
				t.Errorf("%v is not a format.Error", err)
			}
			got = append(got, fmt.Sprintf("!%s %s", bad.Kind, err))
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, show(&u))
		}
	}
}

func TestRead(t *testing.T) {
	texts := Options{TextIDs: true, Lateness: -1}
	for _, c := range []struct {
		name, in string
		o        Options
		want     string
	}{
		{"lines", "# c\n+ 1 2\n- 1 2 A\n\n+ 1 2 A 17\n+  1\t2 _ 18 \n+v 3 A;B\n+v 4\n-v 3\n=v 4 C 18\n", Options{},
			"add 1-2 :\nremove 1-2 :A\nadd 1-2 :A @17\nadd 1-2 : @18\nadd vertex 3 :A :B\nadd vertex 4\nremove vertex 3\nlabel 4 :C @18"},
		{"rapidflow", "v 7 3\ne 1 2 0\n-e 1 2 0\n-v 7 3\n", Options{}, "add vertex 7 :3\nadd 1-2 :0\nremove 1-2 :0\nremove vertex 7"},
		{"commas", "+,1,2,\"a, \"\"b\"\"\",5\n-,1,2,,6\n+,1,2,_\n", Options{}, "add 1-2 :a, \"b\" @5\nremove 1-2 : @6\nadd 1-2 :_"},
		{"tabs", "+\tAnn Smith\tBob\t\t6\n-\tAnn Smith\tBob\tknows\t\n", texts, "add Ann Smith-Bob : @6\nremove Ann Smith-Bob :knows"},
		{"objects", `{"op":"+","u":1,"v":2}
{ "op" : "+" , "u" : "1" , "v":2, "label":"A", "time":17, "properties": {"w":1.5,"n":3,"t":"x\u00e9\ud83d\ude00\n","b":true,"z":null} }
{"op":"-","u":1,"v":2,"label":10}
{"op":"+v","id":3,"labels":["A","B"]}
{"op":"=v","id":3,"labels":[]}
{"op":"=v","id":3,"properties":{"age":-4}}
{"op":"=","u":1,"v":2,"label":null,"time":null,"properties":{"w":null}}
{"op":"-v","id":3,"time":"19"}
`, Options{}, "add 1-2 :\nadd 1-2 :A w=1.5 n=3 t=\"xé😀\\u000a\" b=true z=null @17\nremove 1-2 :10\nadd vertex 3 :A :B\nlabel 3\nset 3 age=-4\nset edge 1-2 : w=null\nremove vertex 3 @19"},
		{"text ids", "{\"op\":\"+\",\"u\":\"a\",\"v\":007}\n{\"op\":\"+\",\"u\":\"a\",\"v\":7}\n", texts,
			`!malformed standard input:1:23: not a JSON object of an update: a number begins with a zero; a text id is in double quotes: "0"` + "\nadd a-7 :"},
		{"dates", "+ 1 2 _ 1970-01-01T00:00:01.5Z\n+ 1 2 _ 3\n", Options{},
			"add 1-2 : @1500000\n!bad_time standard input:2:9: not a number: a number where the times before are dates: \"3\""},
		{"dates in seconds", "+ 1 2 _ 1970-01-02\n+ 1 2 _ 1970-01-02T00:00:00.5Z\n+ 1 2 _ 86401\n", Options{Times: Times{Unit: 1e9}},
			"add 1-2 : @86400\n!bad_time standard input:2:9: not a number: a date finer than the graph's unit of times: \"1970-01-02T00:00:00.5Z\"\nadd 1-2 : @86401"},
		{"digits", "+ 1 2 _ 1.25\n+ 1 2 _ 1.250\n+ 1 2 _ 1.255\n", Options{Times: Times{Digits: 2}},
			"add 1-2 : @125\nadd 1-2 : @125\n!bad_time standard input:3:9: not a number: a time with 3 digits after the point, where the graph's have at most 2: \"1.255\""},
		{"times of removals", "+ 1 2 _ 10\n- 1 2 _ 3\n+ 1 2 _ 10\n", Options{}, "add 1-2 : @10\nremove 1-2 : @3\nadd 1-2 : @10"},
		{"late", "+ 1 2 _ 10\n+ 1 2 _ 7\n+ 1 2 _ 6\n+ 1 2\n+ 1 2 _ 11\n", Options{Lateness: 3},
			"add 1-2 : @10\nadd 1-2 : @7\n!late standard input:3:1: the time 6 is 4 before the latest time, and at most 3 are allowed\nadd 1-2 :\nadd 1-2 : @11"},
		{"late dates", "+ 1 2 _ 1970-01-02\n+ 1 2 _ 1970-01-01T12:00:00Z\n", Options{Lateness: 6 * 3600 * 1e6},
			"add 1-2 : @86400000000\n!late standard input:2:1: the time 1970-01-01T12:00:00Z is 12h0m0s before the latest time, and at most 6h0m0s are allowed"},
		{"late in tenths of seconds", "+ 1 2 _ 1.5\n+ 1 2 _ 0.5\n", Options{Lateness: 3, Times: Times{Unit: 1e9, Digits: 1}},
			"add 1-2 : @15\n!late standard input:2:1: the time 1970-01-01T00:00:00.5Z is 1s before the latest time, and at most 300ms are allowed"},
		{"late beyond dates", "+ 1 2 _ 9223372036854775807\n+ 1 2 _ -9223372036854775807\n", Options{Lateness: 3, Times: Times{Unit: 1e9}},
			"add 1-2 : @9223372036854775807\n!late standard input:2:1: the time -9223372036854775807 is 18446744073709551614 before the latest time, and at most 3 are allowed"},
		{"carriage returns and a mark of byte order", "\ufeff+ 1 2 A\r\n\r\n- 1 2 A\r\n", Options{}, "add 1-2 :A\nremove 1-2 :A"},
		{"no end of line", "+ 1 2\n- 1 2", Options{}, "add 1-2 :\nremove 1-2 :"},
		{"empty", "", Options{}, ""},
		{"comments alone", "# a\n%b\n\n", Options{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(readAll(t, c.in, c.o), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestBad has a line for each mistake, and the error that it gives.
func TestBad(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"1 2", `!malformed :1: an update begins with +, -, +v, -v or =v, or in RapidFlow's format with e, -e, v or -v, or is a JSON object: "1"`},
		{"+1 2", `!malformed :1: the sign is a field of its own, as in: + 1 2: "+1"`},
		{"+ 1", `!malformed :1: wrong number of fields: 1 after the sign, where there are 2 to 4: "+ 1"`},
		{"+", `!malformed :1: wrong number of fields: 0 after the sign, where there are 2 to 4: "+"`},
		{"  + 1 2 A 3 4", `!malformed :3: wrong number of fields: 5 after the sign, where there are 2 to 4: "+ 1 2 A 3 4"`},
		{"+ 1 x", `!bad_id :5: not a number: the graph's vertex ids are numbers: "x"`},
		{"+ 1 -2", `!bad_id :5: negative vertex id: ids are 0 … 2^63-1: "-2"`},
		{"+ 1 -", `!bad_id :5: not a number: the graph's vertex ids are numbers: "-"`},
		{"+ 9223372036854775808 1", `!bad_id :3: number too large: ids are below 2^63: "9223372036854775808"`},
		{"+ 99999999999999999999999999 1", `!bad_id :3: number too large: ids are below 2^63: "99999999999999999999999999"`},
		{"+ 9223372036854775807 1", "add 9223372036854775807-1 :"},
		{"+ 01 1", `!bad_id :3: vertex ids do not fit together: an id that begins with a zero is a text, and the graph's vertex ids are numbers: "01"`},
		{"+,1,,A", "!bad_id :5: an empty vertex id"},
		{"+ 1 2 A x", `!bad_time :9: a time: not a number, and not a date such as 2024-01-31T12:00:00Z: "x"`},
		{"+ 1 2 A 99999999999999999999", `!bad_time :9: a time: number too large: "99999999999999999999"`},
		{"+ 1 2\x00 A", `!bad_text :6: this is not text: byte 0x00: "\x00"`},
		{"+ 1 2 A\xff", `!bad_text :8: not UTF-8: "A\xff"`},
		{"\x00\x01\x02", `!bad_text :1: this is not text: byte 0x00: "\x00\x01\x02"`},
		{"\xff\xfe+", `!bad_text :1: not UTF-8: "\xff\xfe+"`},
		{`+,1,"2`, `!malformed :5: wrong columns: a quoted field does not end on its line: "\"2"`},
		{`{`, `!malformed :2: not a JSON object of an update: want a key in double quotes, and the line ends here: ""`},
		{`{}`, `!malformed :1: not a JSON object of an update: "op" is missing: "{}"`},
		{`{"op":"x"}`, `!malformed :7: not a JSON object of an update: operations are "+", "-", "=", "+v", "-v", "=v": "\"x\""`},
		{`{"op":"+","u":1}`, `!malformed :1: not a JSON object of an update: the operation "+" needs v: "{\"op\":\"+\",\"u\":1}"`},
		{`{"op":"+","u":1,"v":2,"id":3}`, `!malformed :28: not a JSON object of an update: the operation "+" has no id: "3"`},
		{`{"op":"+","u":1,"u":2}`, `!malformed :17: not a JSON object of an update: a key that is there twice: "\"u\""`},
		{`{"op":"+","u":1,"v":2,"weight":2}`, `!malformed :23: not a JSON object of an update: keys are op, u, v, id, label, labels, time, properties: "\"weight\""`},
		{`{"op":"+","u":1.5,"v":2}`, `!bad_id :15: not a number: the graph's vertex ids are numbers: "1.5"`},
		{`{"op":"+","u":[1],"v":2}`, `!bad_id :15: a vertex id is a whole number, or a text in double quotes: "[1]"`},
		{`{"op":"+","u":1,"v":2,"label":1.5}`, `!malformed :31: not a JSON object of an update: a label is a text or a whole number: "1.5"`},
		{`{"op":"+","u":1,"v":2,"time":true}`, `!bad_time :30: a time: not a number, and not a date in double quotes: "true"`},
		{`{"op":"+","u":1,"v":2,"properties":{"a":[1]}}`, `!malformed :41: not a JSON object of an update: a property is a number, a text, true, false or null: "[1]"`},
		{`{"op":"+","u":1,"v":2,"properties":{"a":1,"a":1}}`, `!malformed :43: not a JSON object of an update: a key that is there twice: "\"a\""`},
		{`{"op":"+","u":1,"v":2,"properties":{"a":9223372036854775808}}`, `!malformed :41: number too large: whole numbers are below 2^63: "9223372036854775808"`},
		{`{"op":"+","u":1,"v":2,"properties":{"a":1e999}}`, `!malformed :41: number too large: "1e999"`},
		{`{"op":"=v","id":1}`, `!malformed :7: not a JSON object of an update: =v needs either labels or properties: "\"=v\""`},
		{`{"op":"=v","id":1,"properties":{}}`, `!malformed :32: not a JSON object of an update: an update changes one property: "{}"`},
		{`{"op":"=","u":1,"v":2,"properties":{"a":1,"b":2}}`, `!malformed :36: not a JSON object of an update: an update changes one property: "{\"a\":1,\"b\":2}"`},
		{`{"op":"=","u":1,"v":2,"properties":null}`, `!malformed :36: not a JSON object of an update: an update changes one property: "null"`},
		{`{"op":"+","u":1,"v":2} x`, `!malformed :24: not a JSON object of an update: text after the object: "x"`},
		{`{"op":"+","u":1,"v":2`, `!malformed :22: not a JSON object of an update: want a comma or }, and the line ends here: ""`},
		{`{"op":"+","u":1,"v":2,"label":"a`, `!malformed :33: not a JSON object of an update: a text does not end, and the line ends here: ""`},
		{`{"op":"+","u":1,"v":2,"label":"\ud800"}`, `!malformed :31: not a JSON object of an update: a text with a wrong \u: "\""`},
		{`{"op":"+","u":1,"v":2,"label":"\x"}`, `!malformed :31: not a JSON object of an update: a text with a wrong escape: "\""`},
		{"{\"op\":\"+\",\"u\":1,\"v\":2,\"label\":\"\xff\"}", `!bad_text :32: not UTF-8: "\"\xff\""`},
		{`{"op":"+","u":1,"v":2,"label":` + strings.Repeat("[", 70), `!malformed :95: not a JSON object of an update: more than 64 values in each other: "["`},
	} {
		got := readAll(t, c.line+"\n", Options{})
		if len(got) == 1 {
			got[0] = strings.Replace(got[0], "standard input:1:", ":", 1)
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.line, strings.Join(got, "\n"), c.want)
		}
	}
}

// TestUTF16: a text in UTF-16 ends with its first line, in whatever format and order of bytes, and nothing of it is passed over.
func TestUTF16(t *testing.T) {
	for _, text := range []string{"\xff\xfe+\x00 \x001\x00 \x002\x00\n\x00", "\xfe\xff\x00+\x00 \x001\x00 \x002\x00\n", "\xff\xfe{\x00"} {
		for _, form := range []Format{Auto, Lines, NDJSON} {
			r, err := Open(t.Context(), nil, "-", strings.NewReader(text), Options{Format: form}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var u Update
			for range 2 { // the error stays
				var bad *InputError
				if err := r.Next(&u); !errors.Is(err, format.ErrUnknown) || errors.As(err, &bad) || !strings.Contains(err.Error(), "standard input:1:1: unknown format: this is UTF-16 text; convert it to UTF-8") {
					t.Errorf("%q as %s: %v", text, form, err)
				}
			}
			_ = r.Close()
		}
	}
}

// TestApply applies updates of each kind. Each makes one version, or is an error and makes none.
func TestApply(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		edges          uint64
		timed          bool
	}{
		{"plain", "+v 1 A\n+v 1 A\n+ 1 2 x\n+ 1 2 x 5\n+ 2 2\n- 1 2 y\n=v 2 A;B\n- 1 2 x 9\n+ 1 3\n-v 1\n-v 1\n",
			"applied duplicate applied duplicate self-loop absent applied applied applied applied absent", 0, false},
		{"times", "+ 1 2 x 5\n+ 1 2 x 6\n+ 1 2 x 5\n- 1 2 x 7\n- 1 2 x 5\n+ 1 2 x\n+ 1 2 x 8\n- 1 2 x\n+ 1 2 x 9\n",
			"applied applied duplicate absent applied bad-time applied applied applied", 1, true},
		{"properties", `{"op":"+","u":1,"v":2,"properties":{"w":1.5,"t":"a","none":null}}
{"op":"=","u":1,"v":2,"properties":{"w":2}}
{"op":"=","u":1,"v":2,"properties":{"w":2.0}}
{"op":"=","u":1,"v":2,"properties":{"w":"a"}}
{"op":"=","u":1,"v":3,"properties":{"w":1}}
{"op":"+v","id":7,"properties":{"age":3,"is":true}}
{"op":"=v","id":7,"properties":{"age":4}}
{"op":"=v","id":7,"properties":{"age":null}}
{"op":"=v","id":7,"properties":{"other":null}}
{"op":"=v","id":8,"properties":{"age":4}}
`, "applied applied duplicate bad-property absent applied applied applied bad-property absent", 1, false},
		{"times and properties", `{"op":"+","u":1,"v":2,"time":5,"properties":{"w":1.5}}
{"op":"+","u":1,"v":2,"time":6}
{"op":"=","u":1,"v":2,"time":6,"properties":{"w":1}}
{"op":"=","u":1,"v":2,"time":7,"properties":{"w":1}}
{"op":"+","u":1,"v":3,"properties":{"w":1}}
`, "applied applied applied absent bad-time", 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := dynamic.New(false, false)
			var o, want Outcomes
			d := NewDecoder(Options{Lateness: -1})
			var got []string
			for line := range strings.Lines(c.in) {
				var u Update
				if ok, err := d.Decode("test", []byte(strings.TrimSuffix(line, "\n")), &u); !ok || err != nil {
					t.Fatal(line, ok, err)
				}
				before := g.Version()
				r, err := Apply(g, &u)
				if made := g.Version() - before; err == nil && made != 1 || err != nil && made != 0 {
					t.Errorf("%s: %d versions, %v", line, made, err)
				}
				switch {
				case errors.Is(err, dynamic.ErrTime):
					got = append(got, "bad-time")
				case errors.Is(err, dynamic.ErrValue):
					got = append(got, "bad-property")
				case err != nil:
					t.Fatal(line, err)
				default:
					o.Add(r)
					got = append(got, r.String())
				}
			}
			for _, x := range strings.Fields(c.want) {
				switch x {
				case "applied":
					want.Applied++
				case "duplicate":
					want.Duplicates++
				case "absent":
					want.Absent++
				case "self-loop":
					want.SelfLoops++
				}
			}
			if s := strings.Join(got, " "); s != c.want || o != want || g.NumEdges() != c.edges || g.Timed() != c.timed {
				t.Errorf("%s\nwant %s\n%+v, %d edges, times: %v", s, c.want, o, g.NumEdges(), g.Timed())
			}
		})
	}
	g := dynamic.New(false, false)
	for _, op := range []Op{AddEdge, RemoveEdge, SetEdgeProperty} {
		bad := Update{Op: op, U: dynamic.Text("a"), V: dynamic.Text("b"), Label: "x", Properties: []Property{{"w", dynamic.OfInt(1)}}}
		if _, err := Apply(g, &bad); !errors.Is(err, dynamic.ErrID) || g.Version() != 0 {
			t.Error(op, err)
		}
	}
	// A label of edges that are not there is not kept.
	for i, op := range []Op{RemoveEdge, SetEdgeProperty} {
		for j, v := range []uint64{2, 1} {
			u := Update{Op: op, U: dynamic.Num(1), V: dynamic.Num(v), Label: fmt.Sprint("label", i), Properties: []Property{{"w", dynamic.OfInt(1)}}}
			want := []dynamic.Result{dynamic.Absent, dynamic.SelfLoop}[j]
			if r, err := Apply(g, &u); r != want || err != nil || g.Version() != uint64(2*i+j+1) {
				t.Errorf("%s: %v, %v, version %d", op, r, err, g.Version())
			}
		}
		if _, ok := g.LookupEdgeLabel(fmt.Sprint("label", i)); ok {
			t.Errorf("%s keeps a label", op)
		}
	}
	if _, err := Apply(g, &Update{Op: SetProperty, U: dynamic.Num(1)}); err == nil {
		t.Error("an update without a property is applied")
	}
}

// TestEncode checks what each format writes of an update, and what it cannot hold.
func TestEncode(t *testing.T) {
	num, text := dynamic.Num, dynamic.Text
	for _, c := range []struct {
		u                        Update
		lines, rapidFlow, ndjson string
	}{
		{Update{Op: AddEdge, U: num(1), V: num(2)}, "+ 1 2", "e 1 2", `{"op":"+","u":1,"v":2}`},
		{Update{Op: RemoveEdge, U: num(1), V: num(2), Label: "7"}, "- 1 2 7", "-e 1 2 7", `{"op":"-","u":1,"v":2,"label":"7"}`},
		{Update{Op: AddEdge, U: num(1), V: num(2), Time: -5, HasTime: true}, "+ 1 2 _ -5", "!times", `{"op":"+","u":1,"v":2,"time":-5}`},
		{Update{Op: AddEdge, U: text("a b"), V: text("#"), Label: `"`}, `+,"a b",#,""""`, `!"a b"`, `{"op":"+","u":"a b","v":"#","label":"\""}`},
		{Update{Op: AddEdge, U: text("#"), V: text("_")}, `+,"#","_"`, `!"#"`, `{"op":"+","u":"#","v":"_"}`},
		{Update{Op: AddEdge, U: text("a\nb"), V: text("c")}, `!the text "a\nb"`, `!"a\nb"`, `{"op":"+","u":"a\u000ab","v":"c"}`},
		{Update{Op: AddVertex, U: num(1), Labels: []string{"A", "B"}}, "+v 1 A;B", "!several labels", `{"op":"+v","id":1,"labels":["A","B"]}`},
		{Update{Op: AddVertex, U: num(1), Labels: []string{"3"}}, "+v 1 3", "v 1 3", `{"op":"+v","id":1,"labels":["3"]}`},
		{Update{Op: AddVertex, U: num(1), Labels: []string{"A;B"}}, `!the vertex label "A;B"`, `!"A;B"`, `{"op":"+v","id":1,"labels":["A;B"]}`},
		{Update{Op: RemoveVertex, U: num(1)}, "-v 1", "-v 1", `{"op":"-v","id":1}`},
		{Update{Op: SetLabels, U: num(1)}, "=v 1", "!changes", `{"op":"=v","id":1,"labels":[]}`},
		{Update{Op: SetProperty, U: num(1), Properties: []Property{{"a", dynamic.OfFloat(2)}, {"b", dynamic.Value{}}}}, "!properties", "!properties", `{"op":"=v","id":1,"properties":{"a":2.0,"b":null}}`},
		{Update{Op: SetEdgeProperty, U: num(1), V: num(2)}, "!properties", "!changes", `{"op":"=","u":1,"v":2,"properties":{}}`},
	} {
		for i, want := range []string{c.lines, c.rapidFlow, c.ndjson} {
			f := Format(Writable()[i])
			b, err := Append([]byte("before"), &c.u, f)
			if part, fails := strings.CutPrefix(want, "!"); fails {
				if !errors.Is(err, ErrLoss) || !strings.Contains(err.Error(), string(f)+" cannot hold "+part) || string(b) != "before" {
					t.Errorf("%s: %q, %v, want %s", f, b, err, part)
				}
				continue
			}
			if err != nil || string(b) != "before"+want+"\n" {
				t.Errorf("%s: %q, %v, want %q", f, b, err, want)
			}
		}
	}
}

// TestLongLine checks that a line without an end does not fill the memory, and that the next line is read.
func TestLongLine(t *testing.T) {
	for _, n := range []int{1 << 20, 1<<20 + 1, 5 << 20} {
		got := readAll(t, "+ 1 2 "+strings.Repeat("v", n-6)+"\n+ 3 4\n", Options{})
		if len(got) != 2 || got[1] != "add 3-4 :" || (got[0][0] == '!') != (n > 1<<20) {
			t.Errorf("%d bytes: %d updates, %.200s", n, len(got), got)
		}
		if n > 1<<20 && !strings.HasPrefix(got[0], "!bad_text standard input:1:1: a line is longer than 1 MiB: \"+ 1 2 vvv") {
			t.Errorf("%d bytes: %.200s", n, got[0])
		}
	}
	if got := readAll(t, strings.Repeat("x", 3<<20), Options{}); len(got) != 1 || !strings.Contains(got[0], "longer than 1 MiB") {
		t.Errorf("%.200s", got)
	}
}

// TestAsItComes checks that an update is there as soon as its line is.
func TestAsItComes(t *testing.T) {
	r, w := io.Pipe()
	go func() { _, _ = io.WriteString(w, "+ 1 2\n- 1 2\n") }()
	f, err := Open(t.Context(), vfs.OS{}, "-", r, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var u Update
	for i := range 20 {
		if err := f.Next(&u); err != nil {
			t.Fatal(err)
		}
		if lines, offset := f.Position(); lines != int64(i+1) || offset != int64(6*(i+1)) {
			t.Fatalf("position %d, %d after %d updates", lines, offset, i+1)
		}
		if i%2 == 1 {
			if f.Waiting() {
				t.Fatal("an update waits that was not written")
			}
			go func() { _, _ = io.WriteString(w, "+ 1 2\n- 1 2\n") }()
		}
	}
}

// TestTolerant checks that mistakes are counted by kind, and that a function ends the stream.
func TestTolerant(t *testing.T) {
	const in = "+ 1 2\n+ 1 x\nx\n+ 1 2 A x\n+ 1 2\x00\n+ 1 2 A 9\n+ 1 2 A 8\n- 1 2 A 8\n"
	open := func() *File {
		f, err := Open(t.Context(), vfs.OS{}, "-", strings.NewReader(in), Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	r := &Tolerant{Reader: open()}
	var u Update
	n := 0
	err := r.Next(&u)
	for ; err == nil; err = r.Next(&u) {
		n++
	}
	if err != io.EOF || n != 3 {
		t.Errorf("%d updates, %v", n, err)
	}
	for k := range Kind(Kinds) {
		if got := r.Mistakes[k].Load(); got != 1 {
			t.Errorf("%d mistakes are %s", got, k)
		}
	}
	r = &Tolerant{Reader: open(), Each: func(e *InputError) error { return e }}
	if err := r.Next(&u); err != nil {
		t.Fatal(err)
	}
	if err := r.Next(&u); err == nil || !strings.HasPrefix(err.Error(), "standard input:2:5: not a number") {
		t.Error(err)
	}
}

// TestAhead checks that reading ahead accepts updates of all kinds, and vertices that the graph does not have, and makes no version.
func TestAhead(t *testing.T) {
	for _, directed := range []bool{false, true} {
		g := dynamic.New(directed, false)
		var us []Update
		for i := range uint64(50) {
			us = append(us, Update{U: dynamic.Num(i % 7), V: dynamic.Num(i * i % 11)})
		}
		us = append(us, Update{Op: RemoveEdge, U: dynamic.Num(1), V: dynamic.Num(1 << 50)}, Update{Op: RemoveVertex, U: dynamic.Num(3)}, Update{Op: AddVertex, U: dynamic.Num(3)})
		var a Ahead
		for i := range us {
			version, n := g.Version(), g.NumVertices()
			if a.See(g, us, i); g.Version() != version || g.NumVertices() != n || a.read <= i {
				t.Fatalf("after %d of %d: version %d, %d vertices; want %d, %d", a.read, len(us), g.Version(), g.NumVertices(), version, n)
			}
			if _, err := Apply(g, &us[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
}
