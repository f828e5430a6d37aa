package weft

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// described is an element as a text.
func described(e Element) string {
	var b strings.Builder
	if e.IsEdge() {
		u, v := e.Ends()
		fmt.Fprintf(&b, "%v->%v", u.ID(), v.ID())
	} else {
		fmt.Fprint(&b, e.ID())
	}
	fmt.Fprintf(&b, " %q", e.Labels())
	for name, x := range e.Properties() {
		if t, ok := x.(time.Time); ok {
			x = t.Format(time.RFC3339)
		}
		fmt.Fprintf(&b, " %s=%v", name, x)
	}
	return b.String()
}

// TestElements: the columns that are vertices and edges come with labels and properties, others do not.
func TestElements(t *testing.T) {
	g := opened(t, socialEdges, socialVertices, WithDirected(true))
	for text, want := range map[string][]string{
		"MATCH (a)-[e]->(b) RETURN a, e, b.name, id(a)": {
			`ann ["P"] age=30 name=Ann | ann->bob ["knows"] time=1969-12-31T23:59:59Z w=2.5 note=c`,
			`ann ["P"] age=30 name=Ann | ann->bob ["likes"] time=1970-01-02T00:00:00Z w=1.5 n=1 ok=true note=a`,
			`bob ["P" "Q"] | bob->cyd [] time=1970-01-02T00:00:01Z n=2 ok=false`,
		},
		"MATCH (b)<-[f:knows]-(a)-[e:likes]->(b)": {`bob ["P" "Q"] | ann ["P"] age=30 name=Ann | ann->bob ["knows"] time=1969-12-31T23:59:59Z w=2.5 note=c | ann->bob ["likes"] time=1970-01-02T00:00:00Z w=1.5 n=1 ok=true note=a`},
		"MATCH (a)-[e:knows]->(b)":                {`ann ["P"] age=30 name=Ann | bob ["P" "Q"] | ann->bob ["knows"] time=1969-12-31T23:59:59Z w=2.5 note=c`},
	} {
		var got []string
		q, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		numbers := map[uint64]bool{}
		for m, err := range g.Match(t.Context(), q) {
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(m.Columns(), q.Columns()); d != "" {
				t.Error(d)
			}
			var row []string
			for i := range m.Columns() {
				if e, ok := m.Element(i); ok {
					row = append(row, described(e))
					if e.IsEdge() {
						numbers[e.Number()] = true
					}
				}
			}
			if _, ok := m.Element(len(m.Columns())); ok {
				t.Error("a column too many has an element")
			}
			got = append(got, strings.Join(row, " | "))
		}
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", text, d)
		}
		if !strings.Contains(text, "f:") && len(numbers) != len(want) {
			t.Errorf("%s: edges share numbers: %v", text, numbers)
		}
	}
}

// TestElementsPlain: a graph of nothing but edges has elements, too; a zero element has nothing.
func TestElementsPlain(t *testing.T) {
	g := opened(t, "src,dst\n1,2\n2,3\n", "", WithDirected(false))
	q, err := Parse("MATCH (a)-[e]-(b) RETURN e, a")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	numbers := map[uint64]int{}
	for m, err := range g.Match(t.Context(), q, WithList(Embeddings)) {
		if err != nil {
			t.Fatal(err)
		}
		e, ok := m.Element(0)
		numbers[e.Number()]++
		a, is := m.Element(1)
		if !ok || !is {
			t.Fatal("no element")
		}
		got = append(got, described(e)+" | "+described(a))
		if u, v := a.Ends(); u != (Element{}) || v.ID() != nil || v.Labels() != nil || described(v) != "<nil> []" {
			t.Error("a vertex has ends")
		}
	}
	slices.Sort(got)
	if d := cmp.Diff([]string{"2->1 [] | 1 []", "2->1 [] | 2 []", "2->3 [] | 2 []", "2->3 [] | 3 []"}, got); d != "" {
		t.Error(d)
	}
	if len(numbers) != 2 {
		t.Errorf("two edges have the numbers %v", numbers)
	}
}

// TestElementClosed: an element that outlives its graph panics, and does not read memory that is gone.
func TestElementClosed(t *testing.T) {
	g := opened(t, socialEdges, socialVertices, WithDirected(true))
	q, err := Parse("MATCH (a)-[e]->(b) RETURN e")
	if err != nil {
		t.Fatal(err)
	}
	var kept Element
	for m, err := range g.Match(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		kept, _ = m.Element(0)
	}
	g.Close()
	for name, read := range map[string]func(){
		"Labels": func() { kept.Labels() }, "Ends": func() { kept.Ends() },
		"Properties": func() {
			for range kept.Properties() {
			}
		},
	} {
		func() {
			defer func() {
				if x := recover(); x != ErrClosed {
					t.Errorf("%s: %v", name, x)
				}
			}()
			read()
		}()
	}
}
