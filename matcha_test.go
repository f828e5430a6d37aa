package weft

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func matchaProgram(t *testing.T, text string) *Matcha {
	t.Helper()
	m, err := ParseMatcha("test", text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMatcha(t *testing.T) {
	g := clique(t, 6)
	m := matchaProgram(t, `input G: Graph
input some: List[int]
input scale: float
input on: bool
def f(e):
    let third = apply(lambda w: w, lambda w: w > get(e, 1), intersect(neighbor(G, get(e, 0)), neighbor(G, get(e, 1))))
    apply(lambda w: emit(mk_tuple(val=[get(e, 0), get(e, 1), w])), None, third)
    return size(third)
let n = sum(apply(f, lambda e: on and get(e, 0) < get(e, 1), edges(G)))
return mk_tuple(val=[n * scale, sum(some) * 1.0])
`)
	in := map[string]any{"G": g, "some": []int64{2, 3}, "scale": 0.5, "on": true}
	rows := 0
	r, err := m.Run(context.Background(), in, func(row []any) bool {
		rows++
		return len(row) == 3
	})
	if err != nil || rows != 20 || r.Emitted != 20 || !r.Complete || r.Values[0] != 10.0 || r.Values[1] != 5.0 {
		t.Errorf("%+v, %v, %d rows", r, err, rows)
	}
	r, err = m.Run(context.Background(), in, func([]any) bool { return false }, WithPasses("none"))
	if err != nil || r.Complete || r.Values != nil || r.Emitted != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if !m.Emits() || len(m.Inputs()) != 4 || m.Inputs()[1] != (MatchaInput{"some", "List[int]"}) {
		t.Errorf("%v, %v", m.Emits(), m.Inputs())
	}
	for _, p := range MatchaPasses() {
		if text, err := m.Graph(WithPasses("-" + p[0])); err != nil || !strings.Contains(text, "edges(G)") {
			t.Errorf("without %s: %s, %v", p[0], text, err)
		}
	}
}

func TestMatchaErrors(t *testing.T) {
	if _, err := ParseMatcha("p", "return x"); !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), "p: line 1, column 8") {
		t.Errorf("%v", err)
	}
	if _, err := ParseMatcha("p", "return (1"); !errors.Is(err, ErrQuery) {
		t.Errorf("%v", err)
	}
	g := clique(t, 4)
	for _, c := range []struct {
		text string
		in   map[string]any
		o    Option
		kind error
	}{
		{"input G: Graph\nreturn size(edges(G))", nil, WithPasses("all"), ErrUsage},
		{"input G: Graph\nreturn size(edges(G))", map[string]any{"G": 5}, WithPasses("all"), ErrUsage},
		{"input G: Graph\nreturn size(edges(G))", map[string]any{"G": g}, WithPasses("slow"), ErrUsage},
		{"input k: int\nreturn k", map[string]any{"k": 1.5}, WithPasses("all"), ErrUsage},
		{"input k: List[Tuple[int, 2]]\nreturn size(k)", map[string]any{"k": []int64{1}}, WithPasses("all"), ErrUsage},
		{"input k: int\nreturn 1 / k", map[string]any{"k": int64(0)}, WithPasses("all"), ErrQuery},
		{"input G: Graph\nreturn label(G, 'a')", map[string]any{"G": g}, WithPasses("all"), ErrQuery},
		{"return 1", nil, WithTarget("pascal"), ErrUsage},
		{"return 1", nil, WithSchedule("threads=2"), ErrUsage}, // the interpreter has none
		{"input k: int in 0..1000000000\nreturn sum(range(k))", map[string]any{"k": int64(3)}, WithMemory(1 << 30), ErrMemory},
		{"input k: int in 0..100000000000\nlet l = apply(lambda x: x * x, None, range(k))\nreturn size(intersect(l, l))", map[string]any{"k": int64(3)}, WithTarget("c"), ErrMemory},
	} {
		if _, err := matchaProgram(t, c.text).Run(context.Background(), c.in, nil, c.o); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want kind %v", c.text, err, c.kind)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := matchaProgram(t, "return sum(range(100000))").Run(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := matchaProgram(t, "return 1").Code(context.Background(), "pascal", nil); !errors.Is(err, ErrUsage) {
		t.Errorf("%v", err)
	}
}

// TestMatchaTarget lists the edges of a clique from C, by several threads.
func TestMatchaTarget(t *testing.T) {
	m := matchaProgram(t, "input G: Graph\napply(lambda e: emit(e), None, edges(G))\nreturn size(edges(G))")
	rows := 0
	r, err := m.Run(t.Context(), map[string]any{"G": clique(t, 20)}, func([]any) bool { rows++; return true }, WithTarget("c"), WithSchedule("threads=3"))
	if errors.Is(err, ErrDevice) {
		t.Skip(err) // no compiler here
	}
	if err != nil || rows != 380 || r.Emitted != 380 || !r.Complete || r.Values[0] != int64(380) {
		t.Errorf("%d rows, %+v: %v", rows, r, err)
	}
	rows = 0
	r, err = m.Run(t.Context(), map[string]any{"G": clique(t, 20)}, func([]any) bool { rows++; return rows < 5 }, WithTarget("c"))
	if err != nil || rows != 5 || r.Complete || r.Values != nil {
		t.Errorf("%d rows of 5, %+v: %v", rows, r, err)
	}
}

// TestMatchaThreads: if a schedule asks for too many threads, a note gives the number that run the program. A
// context ends the run at once.
func TestMatchaThreads(t *testing.T) {
	m := matchaProgram(t, "input G: Graph\nreturn sum(apply(lambda v: sum(apply(lambda w: v / (w + 1) % 7, None, range(10000000000))), None, vertices(G)))")
	in := map[string]any{"G": clique(t, 40)}
	why := errors.New("it is enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
	r, err := m.Run(ctx, in, nil, WithTarget("c"), WithSchedule("threads=100000"))
	if errors.Is(err, ErrDevice) {
		t.Skip(err) // no compiler here
	}
	const want = "threads=100000: the program runs on 4096, the most that are allowed"
	if !errors.Is(err, why) || len(r.Notes) != 1 || r.Notes[0] != want {
		t.Errorf("%v, %q, want %q", err, r.Notes, want)
	}
	text, err := m.Explain(in, WithTarget("c"), WithSchedule("threads=100000"))
	if err != nil || !strings.Contains(text, "threads=4096,") {
		t.Errorf("%v: %s", err, text)
	}
	small := matchaProgram(t, "return sum(range(10))")
	if r, err := small.Run(t.Context(), nil, nil, WithTarget("c"), WithSchedule("threads=4096")); err != nil || len(r.Notes) != 0 {
		t.Errorf("%v, %q", err, r.Notes)
	}
}

// TestMatchaParticipation: the program of RETURN participation(v) gives each vertex of the graph the same number as
// the query, and 0 to vertices that the query leaves out.
func TestMatchaParticipation(t *testing.T) {
	g, err := Open(t.Context(), "testdata/graphs/karate.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, text := range []string{
		"MATCH (a)--(b)--(c)--(a) RETURN participation(b)",
		"MATCH (a)--(b)--(c) RETURN participation(a)",
		"MATCH REPEATABLE ELEMENTS (a)--(b)--(c)--(a) RETURN participation(b)",
		"MATCH DIFFERENT EDGES (a)--(b)--(c)--(a) RETURN participation(b)",
		"MATCH INDUCED (a)--(b)--(c)--(d)--(a) WHERE deg(a) > 3 RETURN participation(a)",
		"MATCH (a)--(b)--(c)--(d) WHERE deg(b) > deg(c) RETURN participation(b)",
		"MATCH (a:Nobody)--(b)--(c) RETURN participation(b)",
	} {
		q, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		part, _ := q.AsksParticipation()
		want, err := g.Participation(t.Context(), q, part)
		if err != nil {
			t.Fatal(err)
		}
		m, err := g.Matcha(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[any]bool{}
		_, err = m.Run(t.Context(), map[string]any{"G": g}, func(row []any) bool {
			seen[row[0]] = true
			if n := want.Count(fmt.Sprint(row[0])); fmt.Sprint(row[1]) != n.String() {
				t.Errorf("%s: %v, want %v", text, row, n)
			}
			return true
		})
		if err != nil || len(seen) != g.NumVertices() {
			t.Errorf("%s: %d of %d vertices: %v", text, len(seen), g.NumVertices(), err)
		}
	}
}

// TestMatchaRefuses: the part of a query that no program can express is an error with its place.
func TestMatchaRefuses(t *testing.T) {
	g := clique(t, 4)
	for text, want := range map[string]string{
		"MATCH (a)--(b) RETURN a LIMIT 3":                          "column 25: a Matcha program does not stop at LIMIT",
		"MATCH (a)--(b) RETURN a, deg(b)":                          "column 26: a Matcha program does not return deg(b)",
		"MATCH (a)-[e]-(b) RETURN e":                               "column 26: a Matcha program does not return e",
		"MATCH (a)--(b) RETURN participation(a) GROUP BY deg(a)":   "column 49: a Matcha program does not GROUP BY",
		"MATCH (a)--(b) WHERE a.`x\ty` < b.`x\ty` RETURN count(*)": "no characters that cannot be printed",
	} {
		q, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := g.Matcha(t.Context(), q); !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", text, m, err, want)
		}
	}
}

// TestProgramMemory: what a program makes and selects is bounded apart from the process.
func TestProgramMemory(t *testing.T) {
	g, err := Generate(t.Context(), Spec{Model: "er", N: 2000, P: 0.01, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	texts := "let a0 = 0\n"
	for i := range 300 {
		texts += fmt.Sprintf("let a%d = a%d + size(vertices(G, '(a) WHERE id(a) > %d'))\n", i+1, i, i)
	}
	for _, test := range []struct {
		name, text string
		memory     int64
	}{
		{"list", "input G: Graph\nreturn size(edges(G))\n", 1 << 20},
		{"counter", "input G: Graph\nlet c = Counter(1000000)\nlet x = add(c, size(vertices(G)), 1)\nreturn get(c, 5)\n", 8 << 20},
		{"texts", "input G: Graph\n" + texts + "return a300\n", 1 << 20},
	} {
		m, err := ParseMatcha("", test.text)
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]any{"G": g}
		if _, err := m.Run(t.Context(), in, nil, WithProgramMemory(test.memory), WithPasses("none")); !errors.Is(err, ErrMemory) {
			t.Errorf("%s within %d bytes: %v", test.name, test.memory, err)
		}
		if _, err := m.Run(t.Context(), in, nil, WithProgramMemory(16*test.memory), WithPasses("none")); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	m, err := ParseMatcha("", "input G: Graph\n"+texts+"return a300\n")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Run(ctx, map[string]any{"G": g}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a run whose context has ended: %v", err)
	}
}
