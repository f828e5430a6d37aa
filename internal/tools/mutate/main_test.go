package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOperators lists the mutants of a file.
func TestOperators(t *testing.T) {
	s, err := parse("p/f.go", `package p

func (t *T[K]) f(a, b int) (int, error) {
	if a < b && !t.ok {
		return g(a, b)
	}
	for i := range a {
		if i == 3 {
			continue
		}
		t.list = append(t.list, i, b)
	}
	x := make([]int, 0, 7)
	if len(x) > 9 {
		panic("not here: " + name(1, 2))
	}
	if x == nil {
		return 0, fmt.Errorf("no x")
	}
	return max(a, -b), err
}

//go:noinline
func directive() int { return 1 }
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range s.mutants() {
		if m.file != "p/f.go" || m.function != "T.f" {
			t.Errorf("a mutant of %s %s", m.file, m.function)
		}
		if text := apply(s.text, []edit{m.edit}); text == s.text {
			t.Errorf("%s changes nothing", m.key())
		}
		got = append(got, m.op+": "+m.after)
	}
	want := []string{
		"branch never: if (a < b && !t.ok) && false {",
		"branch always: if (a < b && !t.ok) || true {",
		"logic: if a < b || !t.ok {",
		"dropped condition: if a < b {",
		"dropped condition: if !t.ok {",
		"boundary: if a <= b && !t.ok {",
		"comparison: if a >= b && !t.ok {",
		"negation: if a < b && t.ok {",
		"returned value: return nil",
		"returned value: return 0",
		"swapped arguments: return g(b, a)",
		"branch never: if (i == 3) && false {",
		"branch always: if (i == 3) || true {",
		"comparison: if i != 3 {",
		"constant: if i == 4 {",
		"constant: if i == 2 {",
		"removed statement: {}",
		"jump: break",
		"removed statement: {}",
		"dropped argument: t.list = append(t.list, b)",
		"dropped argument: t.list = append(t.list, i)",
		"constant: x := make([]int, 1, 7)",
		"branch always: if (len(x) > 9) || true {",
		"boundary: if len(x) >= 9 {",
		"comparison: if len(x) <= 9 {",
		"constant: if len(x) > 10 {",
		"constant: if len(x) > 8 {",
		"branch never: if (x == nil) && false {",
		"branch always: if (x == nil) || true {",
		"comparison: if x != nil {",
		`returned value: return 0, nil`,
		`returned value: return 0, 0`,
		"returned value: return nil, err",
		"returned value: return 0, err",
		"returned value: return max(a, -b), nil",
		"minimum: return min(a, -b), err",
		"arithmetic: return max(a, b), err",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// module is a small one whose tests notice some mistakes.
var small = map[string]string{
	"go.mod": "module " + module + "\n\ngo 1.26\n",
	"p/p.go": `package p

type T struct{ n int }

func (T) Half(_ bool, ns ...int) int { return ns[0] / 2 }

func Most[K ~int](a, b K) K {
	if a > b {
		return a
	}
	return b
}

func (t *T) Add(n int) {
	t.n += n
}

func Never() int { return 7 }

func Sum(n int) (s int) {
	for i := 0; i < n; i++ {
		s += i + 1
	}
	return s
}
`,
	"p/p_test.go": `package p

import "testing"

func Test(t *testing.T) {
	x := T{}
	x.Add(3)
	Sum(4)
	if x.n != 3 || x.Half(true, 4, 6) != 2 || Most(3, 5) != 5 || Most(5, 3) != 5 {
		t.Fatal("wrong")
	}
}
`,
	"q/q_test.go": `package q

import (
	"os"
	"testing"

	"` + module + `/p"
)

func TestSum(t *testing.T) {
	if p.Sum(4) != 10 {
		t.Fatal("wrong")
	}
}

// TestOther reaches no mutant, and so runs without one alone.
func TestOther(t *testing.T) {
	if m := os.Getenv("WEFT_MUTANT"); m != "0" {
		t.Fatal(m)
	}
}
`,
	"same.txt": `
p/p.go Most
	- if a > b {
	+ if a >= b {
	Equal numbers are equal.
`,
}

// TestModule runs all mutants of a module: what is killed where, what survives, what
// does not end, and what is not run.
func TestModule(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds a module")
	}
	root := t.TempDir()
	for name, text := range small {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	defer func(g []group) { groups = g }(groups)
	groups = []group{{name: "p", roots: []string{"p"}, tests: []suite{{"q", "^Test(Sum|Other)$"}}}}
	var out bytes.Buffer
	err := run(options{seed: 1, jobs: 2, patience: time.Second, root: root, out: &out, verbose: true}, "", "", "same.txt", nil)
	if err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		"p/p.go T.Half\n\t- func (T) Half(_ bool, ns ...int) int { return ns[0] / 2 }\n\t+ func (T) Half(_ bool, ns ...int) int { return ns[0] * 2 }\n",
		"killed by q TestSum,",
		"killed by p Test,",
		"killed by the time limit by p Test,", // i-- for i++
		" 1 equivalent",
		" 0 survived",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "p.go Never") {
		t.Errorf("a mutant that no test reaches has run:\n%s", &out)
	}

	// Without the entry, its mutant survives; an entry that fits no mutant is named.
	if err := os.WriteFile(filepath.Join(root, "same.txt"), []byte("p/p.go Gone\n\t- a\n\t+ b\n\tNo reason.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	err = run(options{seed: 1, jobs: 1, patience: time.Second, root: root, out: &out}, "Most", "", "same.txt", []string{"p"})
	if !errors.Is(err, errSurvived) || !strings.Contains(out.String(), "survived: line 8, boundary\n"+key("p/p.go", "Most", "if a > b {", "if a >= b {")) ||
		!strings.Contains(out.String(), "same.txt has a mutant that the code no longer has:\np/p.go Gone\n") {
		t.Errorf("%v\n%s", err, &out)
	}
}

// TestTicks: a process's time is its own and that of what it started.
func TestTicks(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc here")
	}
	c := exec.CommandContext(t.Context(), "sh", "-c", "(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo; sleep 60) & wait")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	inGroup(c)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Cancel(); _ = c.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if n := ticks(c.Process.Pid); n == 0 {
		t.Error("no time for 200000 turns of a loop")
	}
	if n := ticks(1 << 30); n != 0 {
		t.Errorf("%d ticks of no process", n)
	}
}

// TestPulse: a run that only a timer wakes waits for ever, and one that gets little of the processor does not.
func TestPulse(t *testing.T) {
	start := time.Now()
	// end returns the second after which a run that has ticks(s) in s seconds is stopped, or 0.
	end := func(ticks func(s int) int) int {
		p := pulse{since: start}
		for s := 2; s <= 60; s += 2 {
			if p.stopped(start.Add(time.Duration(s)*time.Second), ticks(s)) {
				return s
			}
		}
		return 0
	}
	for _, c := range []struct {
		name  string
		ticks func(s int) int
		want  int
	}{
		{"nothing", func(int) int { return 0 }, 22},
		{"a timer", func(s int) int { return s / 10 }, 22},
		{"nothing after some work", func(s int) int { return 100 * min(s, 10) }, 32},
		{"a process after another", func(s int) int { return 1000/s + 100*(s%4) }, 0},
		{"a busy machine", func(s int) int { return s / 2 }, 0},
	} {
		if got := end(c.ticks); got != c.want {
			t.Errorf("%s: stopped after %d s, not %d", c.name, got, c.want)
		}
	}
}

// TestBlock: the innermost block of each mutant, and no body of a switch.
func TestBlock(t *testing.T) {
	s, err := parse("f.go", `package p

func f(a int) int { // 1
	switch a { // body
	case 7:
		a = 8
	}
	g(func() {
		a += 9
	})
	if a > 10 {
		for a < 11 {
			a -= 12
		}
	}
	return a + 13
}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"case 8:": "func f(a int) int {", "a = 9": "case 7:", "a += 10": "g(func() {", "if a > 11 {": "func f(a int) int {",
		"for a < 12 {": "if a > 10 {", "a -= 13": "for a < 11 {", "return a + 14": "func f(a int) int {",
	}
	for _, m := range s.mutants() {
		if w, ok := want[m.after]; ok && !strings.HasSuffix(s.text[:s.block(m)], w) {
			t.Errorf("%s: begins after %q", m.after, s.text[:s.block(m)])
		}
		delete(want, m.after)
	}
	if len(want) > 0 {
		t.Error("no mutants", want)
	}
}

// TestSample: the sample is the same for the same seed, and for code that has moved.
func TestSample(t *testing.T) {
	dir := t.TempDir()
	order := func(seed int64, before string) (out []string) {
		name := filepath.Join(dir, "f.go")
		if err := os.WriteFile(name, []byte("package p\n"+before+"func f(a, b int) bool { return a < b && a+b > 3 }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		all, err := candidates(dir, []string{"f.go"}, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			out = append(out, m.after)
		}
		return out
	}
	if a, b := order(1, ""), order(1, "\n\n// moved\n"); !slices.Equal(a, b) || len(a) < 8 {
		t.Error(a, b)
	}
	if a, b := order(1, ""), order(2, ""); slices.Equal(a, b) {
		t.Error(a, b)
	}
}

// TestEquivalents reads the list in the tree, and refuses lists without reasons.
func TestEquivalents(t *testing.T) {
	text, err := os.ReadFile("equivalent.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseEquivalents(string(text)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		"a.go f\n\t- x\n\t+ y\n",
		"a.go f\n\n\t- x\n\t+ y\n\treason\n",
		"a.go\n\t- x\n\t+ y\n\treason\n",
		"a.go f\n\treason\n",
	} {
		if _, err := parseEquivalents(bad); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}

// TestRewrite puts rows into a table, in the order of the groups, and keeps the others.
func TestRewrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "d.md")
	plan := row{group: "plan", all: 9, reached: 8, run: 4, killed: 3, timeout: 1, survived: 1, equivalent: 5}
	gql := row{group: "gql", all: 90, run: 40}
	sink := row{group: "sink", all: 1}
	if err := os.WriteFile(name, []byte("head\n"+from+"old\n"+to+"tail\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ rows, want []row }{
		{[]row{sink, plan}, []row{plan, sink}},
		{[]row{gql}, []row{plan, gql, sink}},
		{[]row{{group: "plan", run: 7}}, []row{{group: "plan", run: 7}, gql, sink}},
	} {
		if err := rewrite(name, step.rows); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(name)
		if want := "head\n" + from + markdown(step.want) + to + "tail\n"; string(got) != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	sum := "| all | 44 | 3 | 1 | 1 | 5 | 99 | 8 |\n\nThe tests killed 6 % of the mutants that ran. These are chosen from lines that tests run.\n" +
		"A further 92 % of all mutants are in lines that none of these tests runs, and would survive them.\n"
	if got := markdown([]row{plan, gql}); !strings.HasSuffix(got, sum) {
		t.Errorf("%s\nwant\n%s", got, sum)
	}
	if err := os.WriteFile(name, []byte("no marks"), 0o644); err != nil {
		t.Fatal(err)
	}
	if rewrite(name, nil) == nil {
		t.Error("no error")
	}
}

// TestDocument: the document has the sum of its rows, as a run writes it.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/mutation.md")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "d.md")
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := rewrite(name, nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(name); string(got) != string(text) {
		t.Errorf("a run would write\n%s", got)
	}
}

// TestGroups: every folder and test package of the table is there.
func TestGroups(t *testing.T) {
	o := options{root: "../../.."}
	for _, g := range groups {
		for _, root := range g.roots {
			if _, err := os.Stat(filepath.Join(o.root, root)); err != nil {
				t.Error(err)
			}
		}
		for _, s := range g.tests {
			if names, _ := filepath.Glob(filepath.Join(o.root, s.pkg, "*_test.go")); len(names) == 0 {
				t.Errorf("%s: %s has no tests", g.name, s.pkg)
			}
		}
	}
}
