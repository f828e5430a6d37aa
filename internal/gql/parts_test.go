package gql

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/pattern"
)

// showParts writes parts with the texts at their places.
func showParts(text string, p *Parts) string {
	var b strings.Builder
	at := func(s Span) string { return fmt.Sprintf("%d‹%s›", s[0], text[s[0]:s[1]]) }
	all := func(spans []Span) string {
		var out []string
		for _, s := range spans {
			out = append(out, at(s))
		}
		return strings.Join(out, " ")
	}
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, ", %s %s", name, value)
		}
	}
	fmt.Fprintf(&b, "%s induced %v mode %s", p.Semantics, p.Induced, at(p.Mode))
	field("where", p.Where)
	field("fixed:", p.Fixed)
	b.WriteByte('\n')
	for i, g := range p.Groups {
		fmt.Fprintf(&b, "group %d in %d: %s at %s inside %s", i, g.Parent, g.Kind, at(g.At), at(g.Inside))
		field("where", g.Where)
		b.WriteByte('\n')
	}
	for i, v := range p.Vertices {
		fmt.Fprintf(&b, "vertex %d of %d: %q", i, v.Group, v.Name)
		field("labels", v.Labels)
		field("properties", v.Properties)
		field("where", v.Where)
		field("at", all(v.At))
		field("uses", all(v.Uses))
		b.WriteByte('\n')
	}
	for i, e := range p.Edges {
		fmt.Fprintf(&b, "edge %d of %d: %q %d %s %d", i, e.Group, e.Name, e.From, e.Direction, e.To)
		field("labels", e.Labels)
		field("properties", e.Properties)
		field("where", e.Where)
		field("length", e.Length)
		field("at", at(e.At))
		field("uses", all(e.Uses))
		b.WriteByte('\n')
	}
	for _, path := range p.Paths {
		fmt.Fprintf(&b, "path of %d at %s:", path.Group, at(path.At))
		for i, n := range path.Nodes {
			if i > 0 {
				fmt.Fprintf(&b, " -%d-", path.Edges[i-1])
			}
			fmt.Fprintf(&b, " %d:%s", n.Vertex, at(n.At))
		}
		b.WriteByte('\n')
	}
	if len(p.Rest) > 0 {
		fmt.Fprintf(&b, "rest %s\n", all(p.Rest))
	}
	return b.String()
}

// checkParts holds for any text: ReadParts agrees with ParseText; the places are in the text; a query whose paths are written anew from
// the parts, and one with another name in each place of a vertex or an edge, are the same pattern.
func checkParts(t testing.TB, text string) {
	t.Helper()
	q, want := ParseText(text)
	p, err := ReadParts(text)
	if fmt.Sprint(err) != fmt.Sprint(want) {
		t.Fatalf("%q: the parts are refused: %v, and the query: %v", text, err, want)
	}
	if err != nil {
		if !errors.As(err, new(*Error)) {
			t.Fatalf("%q: the error is a %T", text, err)
		}
		return
	}
	if data, err := json.Marshal(p); err != nil || strings.Contains(string(data), "null") && !strings.Contains(strings.ToLower(text), "null") {
		t.Fatalf("%q: %v %s", text, err, data)
	}
	if p.Fixed != "" {
		if len(p.Paths) > 0 || len(p.Rest) > 0 {
			t.Fatalf("%q is fixed and has places", text)
		}
		return
	}
	for _, v := range p.Vertices {
		for _, s := range v.At {
			if !strings.HasPrefix(text[s[0]:], "(") || text[s[1]-1] != ')' {
				t.Fatalf("%q: a vertex at %v", text, s)
			}
		}
	}
	for _, e := range p.Edges {
		if edge := text[e.At[0]:e.At[1]]; strings.Trim(edge[:1]+edge[len(edge)-1:], "<->") != "" {
			t.Fatalf("%q: an edge at %v: %s", text, e.At, edge)
		}
	}
	if len(q.Pattern.Vertices) > 6 {
		return // the canonical form takes long
	}
	same := func(how, changed string) {
		t.Helper()
		again, err := Parse(changed)
		if err != nil {
			t.Fatalf("%s\nwith %s is\n%s\nwhich is refused: %v", text, how, changed, err)
		}
		if a, b := q.Pattern.Canonical(), again.Pattern.Canonical(); a != b {
			t.Fatalf("%s\nwith %s is\n%s\nwhich is another pattern:\n%s\n%s", text, how, changed, a, b)
		}
	}
	same("its paths written anew", rewritten(text, p))
	same("other names", renamed(text, p))
}

// change is a text in place of another.
type change struct {
	at Span
	by string
}

// changed makes changes that do not overlap.
func changed(text string, changes []change) string {
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(b.at[0], a.at[0]) })
	for _, c := range changes {
		text = text[:c.at[0]] + c.by + text[c.at[1]:]
	}
	return text
}

// renamed gives each vertex and edge that has a name another one.
func renamed(text string, p *Parts) string {
	var changes []change
	add := func(uses []Span, kind string, i int) {
		for _, at := range uses {
			changes = append(changes, change{at, fmt.Sprintf("`a new %s %d`", kind, i)})
		}
	}
	for i, v := range p.Vertices {
		add(v.Uses, "vertex", i)
	}
	for i, e := range p.Edges {
		add(e.Uses, "edge", i)
	}
	return changed(text, changes)
}

// rewritten writes the paths of a query anew. All that a vertex has is written at its first place in its group.
func rewritten(text string, p *Parts) string {
	written := map[int]bool{}
	body := func(name, labels, length, properties, where string) string {
		if name != "" {
			name = pattern.QuoteName(name)
		}
		if labels != "" {
			labels = ":" + labels
		}
		if where != "" {
			where = " WHERE " + where
		}
		return strings.TrimSpace(name + labels + length + " " + properties + where)
	}
	var changes []change
	for _, path := range p.Paths {
		var b strings.Builder
		for i, n := range path.Nodes {
			if i > 0 {
				e := &p.Edges[path.Edges[i-1]]
				left, right := "-", "-"
				if e.Direction == "out" && e.From == n.Vertex && e.To == path.Nodes[i-1].Vertex && e.From != e.To {
					left = "<-"
				} else if e.Direction == "out" {
					right = "->"
				}
				b.WriteString(left + "[" + body(e.Name, e.Labels, e.Length, e.Properties, e.Where) + "]" + right)
			}
			v := &p.Vertices[n.Vertex]
			switch {
			case v.Group != path.Group:
				b.WriteString("(" + body(v.Name, n.Labels, "", n.Properties, n.Where) + ")")
			case written[n.Vertex]:
				b.WriteString("(" + body(v.Name, "", "", "", "") + ")")
			default:
				b.WriteString("(" + body(v.Name, v.Labels, "", v.Properties, v.Where) + ")")
			}
			written[n.Vertex] = true
		}
		changes = append(changes, change{path.At, b.String()})
	}
	for i, c := range changes[1:] {
		if c.at[0] < changes[i].at[1] {
			return text // a path inside a condition of a node, which the outer path has copied
		}
	}
	return changed(text, changes)
}

func TestParts(t *testing.T) {
	for _, text := range append(slices.Clone(examples),
		"MATCH (a:A)--(b), (a:B {x: 1})--(c), (a {y: 2} WHERE a.z > 1)--(d WHERE _.k IN [1, 2] OR _.k = 3), (d WHERE d.k > 0)--(a)",
		"EXPLAIN DEFINE m(x) AS { (x)--(y) } MATCH DIFFERENT EDGES INDUCED (a)-[e]->(b)<-[f]-(c) ORDERED e < f ON t WITHIN 7d WHERE e.x = f.x RETURN a AS b, e",
		"MATCH (a)--(b), NOT (a)-[e:X {k: 1} WHERE e.w > 2]->(b), NOT (a)-->()-->(b) WHERE NOT EXISTS { (a)--(c)--(d WHERE EXISTS { (d)--(b) }) WHERE c.x = b.x }",
		"MATCH (a)--(b) WHERE (EXISTS { MATCH REPEATABLE ELEMENTS (a)--(c) }) AND (a.x = 1 OR NOT (EXISTS { (b)--(c) }))",
		"MATCH (a {x: 1 // one\n})--(b), (a { /* none */ }), (a {}), (a { y: 2 /* two */ }), (a:A), (a:A /* A */ | B), (a WHERE a.x = 1 // one\n), (a WHERE a.y = 2)",
		"MATCH (`a b`:名{`k``k`: 'x'})-[:A|!B&%]-(ä) WHERE `a b`.k < ä.k RETURN `a b`, ä LIMIT 3",
	) {
		checkParts(t, text)
	}
	// The manual's error has the same place as that of a query.
	checkParts(t, "MATCH (a)--(b) RETRUN a")
	checkParts(t, "MATCH (a)--(b); MATCH (c)--(d)")
}

// TestManyPlaces: a vertex that stands at thousands of places, with labels, takes no longer to read than others. It took a minute when each
// place wrote the labels of all before it.
func TestManyPlaces(t *testing.T) {
	text := "MATCH (a)--(b)" + strings.Repeat(",(a:A),(a:B)", 5000)
	start := time.Now()
	p, err := ReadParts(text)
	if err != nil || p.Vertices[0].Labels != "(A)&(B)" || len(p.Vertices[0].At) != 10001 {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("reading took %v", took)
	}
}
