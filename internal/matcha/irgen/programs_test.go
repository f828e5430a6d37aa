package irgen

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/kir"
	kirinterp "github.com/weftgraph/weft/internal/kir/emit/interp"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// TestPrograms: generated code gives what the interpreter of the language gives,
// or fails where that fails.
func TestPrograms(t *testing.T) {
	for name, text := range matchatest.Programs {
		t.Run(name, func(t *testing.T) {
			failed, right := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				in := matchatest.Inputs(t, text)
				var off []string
				for _, pass := range passes.All {
					if rapid.IntRange(0, 3).Draw(t, pass.Name) == 0 {
						off = append(off, pass.Name)
					}
				}
				debug := rapid.Bool().Draw(t, "debug")
				if compare(t, text, in, off, debug) {
					right++
				} else {
					failed++
				}
			})
			t.Logf("%d right, %d failed", right, failed)
			// The few draws of a short test may have no mistake among them, or nothing else.
			if wrong := matchatest.Mistakes[name]; failed > 0 && !wrong || wrong && long.Asked() && (right == 0 || failed == 0) {
				t.Errorf("%d runs were right and %d failed", right, failed)
			}
		})
	}
}

// compare runs a program in both ways and reports whether it did not fail. A sum
// fails as a whole, where the interpreter adds one item after the other.
func compare(t failer, text string, in map[string]data.Input, off []string, debug bool) bool {
	t.Helper()
	p := matchatest.Build(t, text)
	set, err := data.Bind(p, in)
	if err != nil {
		t.Fatal(err)
	}
	want, wantErr := tryOracle(p, set)
	passes.Optimize(p, off...)
	if set, err = data.Bind(p, in); err != nil {
		t.Fatal(err)
	}
	lower := Lower
	if debug {
		lower = LowerDebug
	}
	c, err := lower(context.Background(), p, set)
	if err != nil {
		if wantErr == nil {
			t.Fatal(err, p)
		}
		return false
	}
	for _, step := range []string{"lowered", "optimized", "asserted"} {
		switch {
		case step == "optimized":
			kir.Optimize(c.Program)
		case step == "asserted" && debug:
			c.Assert()
		case step == "asserted":
			continue
		}
		got, err := try(t, c)
		switch {
		case wantErr != nil && err == nil && strings.Contains(wantErr.Error(), types.ErrOverflow.Error()) && strings.Contains(wantErr.Error(), " + "):
		case (err != nil) != (wantErr != nil):
			t.Fatal(fmt.Sprintf("without %v, debug %t: %v, want %v\n%s\n%s", off, debug, err, wantErr, p, c.Format()))
		case err == nil && got != sortRows(want):
			t.Fatal(fmt.Sprintf("without %v, debug %t, it is\n%s, want\n%s\n%s\n%s", off, debug, got, want, p, c.Format()))
		}
	}
	return wantErr == nil
}

// tryOracle is oracle for programs that may fail.
func tryOracle(p *asg.Program, set *data.Set) (string, error) {
	var b strings.Builder
	r, err := interp.Run(context.Background(), p, set, interp.Options{Emit: func(row []types.Word) bool {
		fmt.Fprintln(&b, row)
		return true
	}})
	return b.String() + fmt.Sprint(r.Words), err
}

// try is run for code that may fail.
func try(t failer, c *Code) (out string, err error) {
	t.Helper()
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *kirinterp.Failure:
			err = c.Failure(e.Code)
		default:
			panic(e)
		}
	}()
	return run(t, nil, c), nil
}
