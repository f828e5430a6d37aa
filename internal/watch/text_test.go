package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/pattern"
)

// TestText: a query that is made again from its text has the same pattern, fields and meaning. The queries are all that package gql is tested with,
// and each of them under every mode.
func TestText(t *testing.T) {
	n := 0
	try := func(t *testing.T, parsed *gql.Query) {
		if len(parsed.Pattern.Params()) > 0 || len(parsed.Pattern.Vertices) == 0 || gql.NotYet(parsed) != nil {
			return
		}
		for _, mode := range []pattern.Mode{pattern.Iso, pattern.Trail, pattern.Hom} {
			p := parsed.Pattern.Clone()
			p.SetMode(mode)
			q, err := NewQuery(parsed, p, false)
			if err != nil {
				return
			}
			q.Embeddings = q.Embeddings || n%2 == 0
			x := q.text()
			got, err := x.query()
			if err != nil {
				t.Errorf("%s: %v", x.Match+x.Return, err)
				continue
			}
			p.Name = ""
			names := cmp.FilterPath(func(p cmp.Path) bool { // inside EXISTS they mean nothing, and the mode is what counts
				last := p.Last().String()
				return last == ".OwnMode" || last == ".Name" && strings.Contains(p.GoString(), "Sub")
			}, cmp.Ignore())
			if d := cmp.Diff(p, got.Pattern, names); d != "" && mode == pattern.Iso { // under the others, vertices that are not in a path of EXISTS mean nothing

				t.Errorf("%s\n%s", x.Match+x.Return, d)
			}
			if d := cmp.Diff(q.Fields, got.Fields); d != "" || got.Name != q.Name || got.Emit != q.Emit || got.Embeddings != q.Embeddings || got.identity() != q.identity() {
				t.Errorf("%s\n%s", x.Match+x.Return, d)
			}
			n++
		}
	}
	files, err := filepath.Glob("../gql/testdata/golden/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range strings.Split(string(b), "\n\n") {
			head, rest, _ := strings.Cut(test, "\n")
			text, _, _ := strings.Cut(rest, "\n----")
			name := "q.weft"
			_, _ = fmt.Sscanf(head, "file name=%s", &name)
			if qs, err := gql.ParseFile(name, []byte(text)); err == nil {
				for _, q := range qs {
					try(t, q)
				}
			}
		}
	}
	for _, text := range []string{
		"CREATE WATCH w AS MATCH (a)-[e:X]->(b)<-[f:X]-(c) ORDERED e < f WITHIN 24h RETURN a, e.amount * 2 AS `twice``d`, id(c) EMIT REMOVED",
		"MATCH (:A)--()--(:B|C) WHERE EXISTS { (x)--(:D) } RETURN 1 AS one",
		"MATCH (a)-[e WHERE e.w > 3 AND e.name = 'it''s']-(b)-[f]-(a) WHERE e.w < f.w RETURN deg(a), e, f.w",
	} {
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		try(t, q)
	}
	if n < 100 {
		t.Errorf("%d queries", n)
	}
	t.Logf("%d queries", n)
}
