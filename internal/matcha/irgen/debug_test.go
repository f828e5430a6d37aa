package irgen

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/matchatest"
	"github.com/weftgraph/weft/internal/testing/onelane"
)

// brokenCode is code whose memory for c, in line 3 of the program, is one id too
// small.
func brokenCode(t *testing.T) (*Code, map[string]data.Input) {
	t.Helper()
	p := matchatest.Build(t, `input G: Graph
def f(e):
    let c = intersect(neighbor(G, get(e, 0)), neighbor(G, get(e, 1)))
    return sum(c)
return sum(apply(f, None, edges(G)))
`)
	in := map[string]data.Input{"G": {Graph: labelled(t)}}
	set, err := data.Bind(p, in)
	if err != nil {
		t.Fatal(err)
	}
	c, err := LowerDebug(context.Background(), p, set)
	if err != nil {
		t.Fatal(err)
	}
	broken := 0
	for _, f := range c.Program.Funcs {
		kir.WalkStmts(f.Body, func(s kir.Stmt) {
			if op, ok := s.(*kir.SetOp); ok {
				view := op.Out.(kir.Call)
				op.Out = kir.Fn(view.Fn, view.Args[0], view.Args[1], kir.C(2))
				broken++
			}
		})
	}
	if broken != 1 {
		t.Fatalf("%d set operations\n%s", broken, c.Format())
	}
	kir.Optimize(c.Program)
	c.Assert()
	return c, in
}

// TestAssert: generated code that accesses what is not there fails with the place
// in the program.
func TestAssert(t *testing.T) {
	c, _ := brokenCode(t)
	_, err := try(t, c)
	if err == nil || !strings.HasPrefix(err.Error(), "line 3, column 13: an access outside memory") {
		t.Fatalf("%v\n%s", err, c.Format())
	}
}

// TestAssertText is TestAssert for the text.
func TestAssertText(t *testing.T) {
	onelane.Skip(t)
	long.Only(t, "the compiler takes seconds")
	c, in := brokenCode(t)
	var src bytes.Buffer
	src.WriteString("#include <cstdio>\n#include <cstdlib>\n#include \"base/graph.cuh\"\n#include \"base/arithmetic.cuh\"\n")
	src.WriteString("template<class G> void fail(G, unsigned code) { printf(\"%u\\n\", code); exit(0); }\n")
	writeCase(&src, "broken", c, in["G"].Graph)
	src.WriteString("int main() {\n  broken::run();\n}\n")
	var code uint32
	if _, err := fmt.Sscan(onelane.Run(t, src.String()), &code); err != nil {
		t.Fatal(err)
	}
	if err := c.Failure(code); !strings.HasPrefix(err.Error(), "line 3, column 13: an access outside memory") {
		t.Fatal(err)
	}
}
