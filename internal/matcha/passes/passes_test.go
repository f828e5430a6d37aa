package passes

import (
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// TestGolden shows graphs before and after each pass alone, or after those that
// the example names.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p := matchatest.Build(t, d.Input)
			out := ""
			if !d.HasArg("after") {
				out = "before\n" + p.String() + "after\n"
			}
			for _, arg := range d.CmdArgs {
				i := slices.IndexFunc(All, func(p Pass) bool { return p.Name == arg.Key })
				if arg.Key == "after" {
					continue
				}
				if i < 0 {
					t.Fatalf("no pass %s", arg.Key)
				}
				All[i].Run(p)
				check(t, p)
			}
			return out + p.String()
		})
	})
}

// check holds for every graph: what a node is computed from is at home in the
// node's function or around it, and functions are inside of their apply's home.
func check(t failer, p *asg.Program) {
	t.Helper()
	for _, n := range nodes(p) {
		for _, a := range n.Args {
			if !n.Home.Within(a.Home) {
				t.Fatalf("%s (%d) is computed from %s (%d), which is further in:\n%s", n.Op, n.ID, a.Op, a.ID, p)
			}
		}
		for _, f := range inner(n) {
			if f.Parent != n.Home {
				t.Fatalf("the function of %s (%d) is elsewhere:\n%s", n.Op, n.ID, p)
			}
			if f.Result != nil && !f.Within(f.Result.Home) {
				t.Fatalf("the result of a function of %s (%d) is elsewhere:\n%s", n.Op, n.ID, p)
			}
		}
	}
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func TestChoose(t *testing.T) {
	for _, c := range []struct{ text, off string }{
		{"all", ""},
		{"none", "motion share slice-neighbor slice-set slice-window fuse-sum fuse-size dead parallel ir-fold ir-hoist ir-share ir-dead"},
		{"-motion,-dead", "motion dead"},
		{"all,-share", "share"},
		{"fuse-sum,dead,ir-fold", "motion share slice-neighbor slice-set slice-window fuse-size parallel ir-hoist ir-share ir-dead"},
	} {
		if off, err := Choose(c.text); err != nil || strings.Join(off, " ") != c.off {
			t.Errorf("%s: %v, %v", c.text, off, err)
		}
	}
	for _, bad := range []string{"", "motions", "all,", "-"} {
		if _, err := Choose(bad); err == nil || !strings.Contains(err.Error(), "fuse-sum") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
