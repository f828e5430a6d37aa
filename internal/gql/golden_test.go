package gql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/pattern"
)

// TestGolden runs testdata/*: "parse" shows what a query becomes or its error;
// "file name=F" does so for a pattern file, and "parts" shows the parts of a query.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var qs []*Query
			var err error
			switch d.Cmd {
			case "parse":
				var q *Query
				checkParts(t, d.Input)
				q, err = ParseText(d.Input)
				qs = one(q)
			case "file":
				var name string
				d.ScanArgs(t, "name", &name)
				qs, err = ParseFile(name, []byte(d.Input))
			case "parts":
				checkParts(t, d.Input)
				p, err := ReadParts(d.Input)
				if err != nil {
					return err.Error() + "\n"
				}
				return showParts(d.Input, p)
			default:
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			if err != nil {
				return err.Error() + "\n"
			}
			var b strings.Builder
			for _, q := range qs {
				checkRoundTrip(t, q)
				show(&b, q)
			}
			return b.String()
		})
	})
}

func show(b *strings.Builder, q *Query) {
	if q.Name != "" {
		fmt.Fprintf(b, "%s: ", q.Name)
	}
	fmt.Fprintln(b, pattern.Format(q.Pattern))
	if q.Pattern.Name != "" {
		fmt.Fprintf(b, "called %s\n", q.Pattern.Name)
	}
	if q.Watch != nil {
		fmt.Fprintf(b, "watch %s emit %d\n", q.Watch.Name, q.Watch.Emit)
	}
	if q.Explain || q.Profile {
		fmt.Fprintf(b, "explain %v profile %v\n", q.Explain, q.Profile)
	}
	r := &q.Return
	if q.HasReturn {
		kinds := []string{"none", "count", "subgraphs", "exists", "items", "participation"}
		fmt.Fprintf(b, "return %s", kinds[r.Kind])
		showItems(b, q, r.Items)
		if r.Kind == ReturnParticipation {
			fmt.Fprintf(b, " of %s as %s", q.Pattern.VertexName(r.Vertex), r.Column)
		}
		if r.GroupBy != nil {
			b.WriteString(" group by")
			showItems(b, q, r.GroupBy)
		}
		if r.Limit >= 0 {
			fmt.Fprintf(b, " limit %d", r.Limit)
		}
		if r.Sample > 0 {
			fmt.Fprintf(b, " sample %d seed %d", r.Sample, r.Seed)
		}
		if r.EstimateWithin > 0 {
			fmt.Fprintf(b, " estimate within %g", r.EstimateWithin)
		}
		b.WriteByte('\n')
	}
	if err := q.CheckConnected(); err != nil {
		fmt.Fprintln(b, err)
	}
	if err := NotYet(q); err != nil {
		fmt.Fprintln(b, err)
	}
}

func showItems(b *strings.Builder, q *Query, items []Item) {
	for _, i := range items {
		x := "count(*)"
		if !i.Count {
			x = pattern.FormatExpr(q.Pattern, i.Expr)
		}
		fmt.Fprintf(b, " [%s = %s]", i.Name, x)
	}
}
