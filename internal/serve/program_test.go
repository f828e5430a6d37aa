package serve

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/memory"
)

// programs returns a server that takes programs.
func programs(t *testing.T, l Limits, targets ...string) *Server {
	t.Helper()
	s := server(t, l)
	s.Programs = targets
	return s
}

const triangles = `input G: Graph
def third(e):
    let common = intersect(neighbor(G, get(e, 0)), neighbor(G, get(e, 1)))
    return size(apply(lambda w: w, lambda w: w > get(e, 1), common))
return sum(apply(third, lambda e: get(e, 0) < get(e, 1), edges(G)))
`

// endless runs for years, in little memory.
const endless = "return sum(apply(lambda i: sum(apply(lambda j: i * 0 + j * 0, None, range(1000000))), None, range(1000000)))\n"

// spout emits rows for years.
const spout = "def row(i):\n    emit(mk_tuple(val=[i, i * 2]))\n    return 1\nreturn sum(apply(lambda i: sum(apply(row, None, range(1000000))), None, range(1000000)))\n"

func matcha(text string, inputs map[string]any) Request {
	return Request{Kind: Matcha, Program: Program{Text: text, Inputs: inputs}}
}

func TestProgram(t *testing.T) {
	s := programs(t, Limits{}, "interp", "c")
	for _, test := range []struct {
		name    string
		q       Request
		rows    string
		columns int
		values  []any
	}{
		{"by graph", Request{Kind: Matcha, Graph: "karate", Program: Program{Text: triangles}}, "result\n45\n", 0, []any{int64(45)}},
		{"by input", matcha(triangles, map[string]any{"G": "karate"}), "result\n45\n", 0, []any{int64(45)}},
		{"two graphs", matcha("input G: Graph\ninput H: Graph\nreturn mk_tuple(val=[size(vertices(G)), size(vertices(H))])\n", map[string]any{"G": "karate", "H": "dense"}), "result0,result1\n34,3000\n", 0, []any{int64(34), int64(3000)}},
		{"values", matcha("input k: int\ninput x: float\ninput b: bool\ninput l: List[Tuple[int, 2]]\nlet n = sum(apply(lambda p: get(p, 0) * get(p, 1), None, l))\nreturn mk_tuple(val=[k + n, size(l)])\n",
			map[string]any{"k": int64(3), "x": int64(2), "b": true, "l": []any{[]any{int64(2), int64(5)}, []any{int64(1), int64(7)}}}), "result0,result1\n20,2\n", 0, []any{int64(20), int64(2)}},
		{"rows", matcha("def row(i):\n    emit(mk_tuple(val=[i, i * 2]))\n    return 1\nreturn sum(apply(row, None, range(3)))\n", nil), "v0,v1\n0,0\n1,2\n2,4\n", 2, []any{int64(3)}},
		{"no rows", matcha("def row(i):\n    emit(mk_tuple(val=[i, i * 2]))\n    return 1\nreturn sum(apply(row, lambda i: i > 5, range(3)))\n", nil), "v0,v1\n", 2, []any{int64(0)}},
	} {
		r := begin(t, s, Anyone(), test.q)
		var out strings.Builder
		if err := r.WriteProgram(&out, "csv"); err != nil || out.String() != test.rows {
			t.Errorf("%s: %v, %q, want %q", test.name, err, out.String(), test.rows)
		}
		if sum := r.Summary(); !sum.Complete || len(sum.Columns) != test.columns || !slices.Equal(sum.Values, test.values) {
			t.Errorf("%s: %+v", test.name, sum)
		}
		r.Close()
	}
	for _, g := range s.Catalog.List() {
		if g.Queries != 0 {
			t.Errorf("%s is still used", g.Name)
		}
	}
}

// TestProgramRefused: a program runs on what the server allows, with graphs that the user may read, and mistakes have their place.
func TestProgramRefused(t *testing.T) {
	ana := Identity{Name: "ana", Rights: Rights{Graphs: []string{"karate"}}}
	s := programs(t, Limits{Text: 500})
	if _, err := s.Begin(t.Context(), Anyone(), matcha(triangles, nil)); code(err) != ProgramsOff || !strings.Contains(err.Error(), "--allow-programs") {
		t.Error(err)
	}
	s.Programs = []string{"interp"}
	for _, test := range []struct {
		name string
		who  Identity
		q    Request
		code Code
		text string
	}{
		{"target", ana, Request{Kind: Matcha, Program: Program{Text: triangles, Target: "c"}}, ProgramsOff, "--allow-programs=interp,c"},
		{"no target", ana, Request{Kind: Matcha, Program: Program{Text: triangles, Target: "lisp"}}, BadRequest, "lisp"},
		{"graph", ana, matcha(triangles, map[string]any{"G": "dense"}), UnknownGraph, "dense"},
		{"path", ana, matcha(triangles, map[string]any{"G": "../../testdata/graphs/karate.txt"}), UnknownGraph, ""},
		{"path of all", Anyone(), matcha(triangles, map[string]any{"G": "../../testdata/graphs/karate.txt"}), UnknownGraph, ""},
		{"list by path", ana, matcha("input l: List[int]\nreturn size(l)\n", map[string]any{"l": "/etc/passwd"}), BadRequest, "not a value of the type List[int]"},
		{"nobody", Identity{Name: "nobody"}, matcha("return 1\n", nil), NotAllowed, ""},
		{"ambiguous", Anyone(), matcha(triangles, nil), BadRequest, "want the name of a graph"},
		{"twice", ana, Request{Kind: Matcha, Graph: "karate", Program: Program{Text: triangles, Inputs: map[string]any{"G": "karate"}}}, BadRequest, "twice"},
		{"needless graph", ana, Request{Kind: Matcha, Graph: "karate", Program: Program{Text: "return 1\n"}}, BadRequest, "this one has 0"},
		{"unknown input", ana, matcha("return 1\n", map[string]any{"x": int64(1)}), BadRequest, "no input x"},
		{"no input", ana, matcha("input x: int\nreturn x\n", nil), BadRequest, "x (int) is not given"},
		{"fraction", ana, matcha("input x: int\nreturn x\n", map[string]any{"x": 1.5}), BadRequest, "1.5 is not a value of the type int"},
		{"null", ana, matcha("input x: int\nreturn x\n", map[string]any{"x": nil}), BadRequest, "null is not"},
		{"width", ana, matcha("input l: List[Tuple[int, 2]]\nreturn size(l)\n", map[string]any{"l": []any{[]any{int64(1)}}}), BadRequest, "item 0"},
		{"long", ana, matcha("return 1"+strings.Repeat(" + 1", 200), nil), TooLarge, "500"},
		{"empty", ana, matcha(" \n", nil), BadRequest, "no program"},
		{"limit", ana, Request{Kind: Matcha, Program: Program{Text: "return 1\n"}, Choices: Choices{Limit: -1}}, BadRequest, "negative"},
	} {
		r, err := s.Begin(t.Context(), test.who, test.q)
		if err == nil {
			r.Close()
		}
		if code(err) != test.code || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if r := begin(t, s, ana, matcha(triangles, nil)); r.Request.Graph != "karate" { // the only one that she may read
		t.Errorf("the graph is %q", r.Request.Graph)
	}
	var place *weft.QueryError
	if _, err := s.Begin(t.Context(), ana, matcha("let x = 1\nreturn y\n", nil)); !errors.As(err, &place) || place.Line != 2 || place.Column != 8 {
		t.Errorf("%#v", err)
	}
	r := begin(t, s, ana, matcha("let x = size(range(3))\nreturn 1 / (x - 3)\n", nil))
	if err := r.WriteProgram(io.Discard, "csv"); !errors.As(err, &place) || place.Line != 2 {
		t.Errorf("%#v", err)
	}
	s.Programs = []string{"interp", "c"}
	threads := matcha("return 1\n", nil)
	threads.Program.Target, threads.Program.Schedule = "c", "threads=4096"
	if _, err := s.Begin(t.Context(), ana, threads); code(err) != BadRequest || !strings.Contains(err.Error(), "threads=4096") {
		t.Error(err)
	}
}

// TestProgramEnds: a program that does not end by itself is ended by limits, by its client and by others, in each phase.
func TestProgramEnds(t *testing.T) {
	s := programs(t, Limits{Time: 300 * time.Millisecond}, "interp")
	start := time.Now()
	r := begin(t, s, Anyone(), matcha(endless, nil))
	if err := r.WriteProgram(io.Discard, "json"); code(err) != TimeLimit || r.Summary().Cut != CutTime || time.Since(start) > 30*time.Second {
		t.Errorf("%v after %v, %+v", err, time.Since(start), r.Summary())
	}
	s = programs(t, Limits{Rows: 1000}, "interp")
	r = begin(t, s, Anyone(), matcha(spout, nil))
	if err := r.WriteProgram(io.Discard, "csv"); err != nil || r.Summary().Cut != CutRows || r.Summary().Rows != 1000 {
		t.Errorf("%v, %+v", err, r.Summary())
	}
	q := matcha(spout, nil)
	q.Limit = 7
	r = begin(t, s, Anyone(), q)
	if err := r.WriteProgram(io.Discard, "csv"); err != nil || r.Summary().Cut != CutLimit || r.Summary().Rows != 7 || r.Summary().Values != nil {
		t.Errorf("%v, %+v", err, r.Summary())
	}
	s = programs(t, Limits{}, "interp")
	q.Limit = 0
	for q.Time = time.Second; ; q.Time *= 4 { // until there is time for rows
		r = begin(t, s, Anyone(), q)
		err := r.WriteProgram(io.Discard, "csv")
		if (err == nil || code(err) == TimeLimit) && r.Summary().Rows == 0 && q.Time < time.Minute {
			continue
		}
		if err != nil || r.Summary().Cut != CutTime || r.Summary().Rows == 0 {
			t.Errorf("%v, %+v", err, r.Summary())
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context()) // of a client that goes
	r, err := s.Begin(ctx, Anyone(), matcha(endless, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	time.AfterFunc(100*time.Millisecond, cancel)
	start = time.Now()
	if err := r.WriteProgram(io.Discard, "json"); err == nil || r.Summary().Cut != CutClient || time.Since(start) > 30*time.Second {
		t.Errorf("%v after %v, %+v", err, time.Since(start), r.Summary())
	}
	r = begin(t, s, Anyone(), matcha(endless, nil))
	time.AfterFunc(100*time.Millisecond, r.Cancel)
	if err := r.WriteProgram(io.Discard, "json"); code(err) != Cancelled {
		t.Error(err)
	}
	gone := errors.New("gone")
	r = begin(t, s, Anyone(), matcha(spout, nil))
	if err := r.WriteProgram(writer(func([]byte) (int, error) { return 0, gone }), "csv"); !errors.Is(err, gone) || r.Summary().Cut != CutClient {
		t.Errorf("%v, %+v", err, r.Summary())
	}
}

// TestProgramMemory: programs that want much memory are refused before they take it, or take no more than some times what they may.
func TestProgramMemory(t *testing.T) {
	s := programs(t, Limits{ProgramMemory: 16 << 20, Time: 2 * time.Second}, "interp")
	for _, test := range []struct{ name, text string }{
		{"range", "return size(range(1000000000))\n"},
		{"counter", "let c = Counter(1000000000)\nlet x = add(c, 1, 1)\nreturn get(c, 1)\n"},
		{"tables", "let a = apply(lambda i: 1000000 - i, None, range(200000))\nreturn size(intersect(a, a))\n"},
		{"graph", "let e = apply(lambda i: mk_tuple(val=[i, i]), None, range(300000))\nlet H = mk_graph(e)\nreturn size(vertices(H))\n"},
	} {
		r := begin(t, s, Anyone(), matcha(test.text, nil))
		if err := r.WriteProgram(io.Discard, "csv"); code(err) != TooLarge || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	before := memory.InUse()
	for _, test := range []struct{ name, text string }{
		{"adds", "let c = Counter(1000)\nreturn sum(apply(lambda i: sum(apply(lambda j: add(c, j, 1), None, range(1000))), None, range(500000)))\n"},
		{"lists", "return sum(apply(lambda i: size(apply(lambda j: i + j, None, range(100000))), None, range(100000)))\n"},
	} {
		r := begin(t, s, Anyone(), matcha(test.text, nil))
		if err := r.WriteProgram(io.Discard, "csv"); code(err) != TimeLimit {
			t.Errorf("%s: %v, %+v", test.name, err, r.Summary())
		}
		if now := memory.InUse(); now > before && now-before > 6*16<<20 {
			t.Errorf("%s: %d MiB more than before", test.name, (now-before)>>20)
		}
	}
	if r := begin(t, s, Anyone(), matcha("return "+"9223372036854775807\n", nil)); r.WriteProgram(io.Discard, "json") != nil || r.Summary().Values[0] != int64(math.MaxInt64) {
		t.Errorf("%+v", r.Summary())
	}
}

// TestCompilerMemory: a compiler that needs more memory than it may have ends a program or a query as too large, and clients see no file of the
// server.
func TestCompilerMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux bounds the memory of compilers")
	}
	for memory, enough := range map[int64]bool{32 << 20: false, 0: true} {
		s := programs(t, Limits{CompilerMemory: memory}, "c")
		q := matcha("return 4711 + 1\n", nil) // no other test has compiled it
		q.Program.Target = "c"
		r := begin(t, s, Anyone(), q)
		err := r.WriteProgram(io.Discard, "csv")
		if code(err) == TargetFailed && enough {
			t.Skip(err)
		}
		query := begin(t, s, Anyone(), Request{Kind: Count, Graph: "karate", Query: "MATCH (a)--(b)--(c)--(d)--(a)", Choices: Choices{Engine: "codegen", Device: "cpu"}})
		if _, err := query.Count(); enough && err != nil || !enough && (code(err) != TooLarge || !strings.Contains(err.Error(), "the compiler needs more memory than the 32.0 MiB") || strings.Contains(err.Error(), "/")) {
			t.Errorf("a query with %d: %v", memory, err)
		}
		if enough && err != nil || !enough && (code(err) != TooLarge || !strings.Contains(err.Error(), "the compiler needs more memory than the 32.0 MiB") || strings.Contains(err.Error(), "/")) {
			t.Errorf("%d: %v", memory, err)
		}
	}
}
