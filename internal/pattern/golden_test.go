package pattern

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestGolden shows catalogue patterns: "list" all entries, "show" those named.
func TestGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/catalogue", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		switch d.Cmd {
		case "list":
			for _, e := range Catalogue() {
				fmt.Fprintf(&b, "%-20s %s\n", e.Usage(), e.Meaning)
			}
		case "show":
			for _, name := range strings.Fields(d.Input) {
				ps, err := ByName(name)
				if err != nil {
					fmt.Fprintln(&b, err)
				}
				for _, p := range ps {
					g := p.Automorphisms()
					fmt.Fprintf(&b, "%s: %s; |Aut| %v, orbits %v\n", p.Name, Format(p), g.Order(), g.Orbits())
				}
			}
		default:
			d.Fatalf(t, "unknown command %s", d.Cmd)
		}
		return b.String()
	})
}
