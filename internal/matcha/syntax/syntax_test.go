package syntax

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
)

// TestGolden reads programs and shows them in canonical form, or their mistake.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			f, err := Parse(strings.NewReplacer("→", "\t", "·", " ").Replace(d.Input))
			checkAnswer(t, d.Input, f, err)
			if err != nil {
				return err.Error()
			}
			return Format(f)
		})
	})
}

// checkAnswer holds for any text: a mistake is inside of it and can be shown,
// and a program can be written, read again, and written to the same text.
func checkAnswer(t *testing.T, text string, f *File, err error) {
	t.Helper()
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%q: the error is a %T: %v", text, err, err)
		}
		lines := strings.Split(text, "\n")
		if e.Line < 1 || e.Line > len(lines) || e.Col < 1 || e.Col > utf8.RuneCountInString(lines[e.Line-1])+1 {
			t.Fatalf("%q: the error is outside the text, at line %d, column %d", text, e.Line, e.Col)
		}
		if !utf8.ValidString(e.Source) || e.Error() == "" {
			t.Fatalf("%q: the error cannot be shown: %q", text, e.Error())
		}
		return
	}
	once := Format(f)
	again, err := Parse(once)
	if err != nil {
		t.Fatalf("%q is written as %q, which cannot be read: %v", text, once, err)
	}
	if twice := Format(again); twice != once {
		t.Fatalf("%q is written as\n%s\nand then as\n%s", text, once, twice)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"input G: Graph\ninput k: int in -3..4\ninput L: List[Tuple[int, 2], 100]\ndef f(a, b):\n    # c\n    let x = a + -b * (2 - 1) # d\n    return x\nreturn f(1, 2.5e3)\n",
		"input G: Graph[int, 'time']\nreturn sum(edge_info(G, 0))",
		"return sum(apply(func=lambda v: 1, cond=None, vertices(G)))",
		"def f():\n  def g(\n):\n   return not (a < b) == True and [1,\n2] or label(G, \"x'\")\n  return g()",
		"let x = mk_list(10, Tuple[int, 2], val=[mk_tuple(val=[1, 2])]) # é\n\n\n# end",
		"\treturn 1", "return (1", "return 1)", "a = 1", "def f(x):\n    return x\n  return 2", "return 1 < 2 < 3", "x..1", "9223372036854775809",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse(text)
		checkAnswer(t, text, file, err)
	})
}

func TestPlaces(t *testing.T) {
	f, err := Parse("def f(é, b):\n    return é - b\nreturn f(1,\n  2)\n")
	if err != nil {
		t.Fatal(err)
	}
	def := f.Body[0].(*Def)
	sub := def.Body[0].(*Return).X.(*Binary)
	call := f.Body[1].(*Return).X.(*Call)
	for _, c := range []struct {
		got  Pos
		want Pos
	}{{def.Params[1].At, Pos{1, 10}}, {sub.At, Pos{2, 14}}, {sub.Y.Pos(), Pos{2, 16}}, {call.Args[1].At, Pos{4, 3}}} {
		if c.got != c.want {
			t.Errorf("a place is %v, want %v", c.got, c.want)
		}
	}
	e := f.ErrorAt(sub.At, "wrong")
	if got, want := e.Error(), "line 2, column 14: wrong\n      return é - b\n               ^"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDeep: no text exhausts the stack.
func TestDeep(t *testing.T) {
	for _, s := range []string{
		"return " + strings.Repeat("(", 5000),
		"return " + strings.Repeat("-", 5000) + "1",
		"return " + strings.Repeat("not ", 5000) + "a",
		"return " + strings.Repeat("f(", 5000),
		"return " + strings.Repeat("lambda:", 5000),
		"input x: " + strings.Repeat("List[", 5000),
	} {
		_, err := Parse(s)
		if err == nil {
			t.Errorf("%.30q… is accepted", s)
		}
	}
}
