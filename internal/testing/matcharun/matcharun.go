// Package matcharun prepares Matcha programs for tests of the packages that run them. It
// imports the packages between text and code. The tests of those packages use matchatest.
package matcharun

import (
	"context"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/irgen"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// Lowered is a program after all passes of the graph, its inputs, and its kernel IR.
func Lowered(t matchatest.Failer, text string, in map[string]data.Input) (*asg.Program, *data.Set, *irgen.Code) {
	t.Helper()
	p := matchatest.Build(t, text)
	passes.Optimize(p)
	set, err := data.Bind(p, in)
	if err != nil {
		t.Fatal(err)
	}
	code, err := irgen.Lower(context.Background(), p, set)
	if err != nil {
		t.Fatal(err)
	}
	return p, set, code
}

// Interpreted is what a program emits, sorted, and gives, by the interpreter and
// without passes.
func Interpreted(t matchatest.Failer, text string, in map[string]data.Input) (string, error) {
	t.Helper()
	p := matchatest.Build(t, text)
	set, err := data.Bind(p, in)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	r, err := interp.Run(context.Background(), p, set, interp.Options{Emit: func(row []types.Word) bool {
		rows = append(rows, fmt.Sprint(row))
		return true
	}})
	slices.Sort(rows)
	return fmt.Sprint(rows, r.Words), err
}
