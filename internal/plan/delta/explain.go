package delta

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// Explain writes the plan as text, one line for each nest and for each of its vertices. N+(a) are the vertices that edges lead to from a,
// N-(a) those that they come from, and N(a) both; on an undirected graph all are N(a).
func (p *Plan) Explain() string {
	var b strings.Builder
	edges := 0
	for i := range p.Nests {
		if p.Nests[i].Kind == Edge {
			edges++
		}
	}
	fmt.Fprintf(&b, "%s for a changed edge, at %s of the pattern's vertices\n", count(edges, "nest"), count(len(p.Pairs), "pair"))
	of := count(int(p.Aut.Int64()), "embedding")
	if !p.Aut.IsInt64() {
		of = p.Aut.String() + " embeddings"
	}
	switch {
	case p.Shared:
		fmt.Fprintf(&b, "each subgraph, which is %s, is found once\n", of)
	case p.Restricted:
		fmt.Fprintf(&b, "a subgraph, which is %s, may be found from several nests, of which the first counts\n", of)
	default:
		b.WriteString("an embedding may be found from several nests, of which the first counts\n")
	}
	if p.Parts > 1 {
		fmt.Fprintf(&b, "no edge connects the %d parts of the pattern: a change in one makes matches with all matches of the others\n", p.Parts)
	}
	if len(p.Choices) > 0 {
		var names []string
		for _, e := range p.Choices {
			names = append(names, p.Pattern.EdgeName(e))
		}
		fmt.Fprintf(&b, "each choice of data edges for %s is a match of its own", strings.Join(names, ", "))
		if p.Pattern.Order != nil {
			b.WriteString(", if it is in order of time")
		}
		b.WriteByte('\n')
	}
	for i := range p.Nests {
		p.explainNest(&b, &p.Nests[i])
	}
	return b.String()
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprint(n, " ", of, "s")
}

// name is how a vertex is called, also one of EXISTS.
func (p *Plan) name(v int) string {
	if v < len(p.Pattern.Vertices) {
		return p.Pattern.VertexName(v)
	}
	return fmt.Sprintf("EXISTS.%d", v-len(p.Pattern.Vertices))
}

func (p *Plan) names(vs []int) string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = p.name(v)
	}
	return strings.Join(out, ", ")
}

func (p *Plan) explainNest(b *strings.Builder, n *Nest) {
	switch n.Kind {
	case Edge:
		fmt.Fprintf(b, "\na changed edge at (%s): %s", p.names(n.Order[:2]), p.relations(&p.Pairs[n.Pair], n.Order[0]))
	case Inner:
		fmt.Fprintf(b, "\na changed edge at (%s), in EXISTS: %s", p.names(n.Order[:2]), p.relations(&p.Inner[n.Pair], n.Order[0]))
	case Vertex:
		fmt.Fprintf(b, "\na vertex that goes, comes or changes, at %s", p.name(n.Order[0]))
	case Degree:
		fmt.Fprintf(b, "\na vertex whose degree changes, at %s", p.name(n.Order[0]))
	case Near:
		fmt.Fprintf(b, "\na vertex whose degree or value changes, in EXISTS, at %s", p.name(n.Order[0]))
	case Lone:
		fmt.Fprintf(b, "\na vertex that goes, comes or changes, in EXISTS, at %s", p.name(n.Order[0]))
	}
	if n.Alike > 1 {
		fmt.Fprintf(b, "; for %d that are alike", n.Alike)
	}
	b.WriteByte('\n')
	for l := range n.Levels {
		lv := &n.Levels[l]
		var parts []string
		if l >= n.First && !slices.ContainsFunc(lv.Backs, func(x Back) bool { return !x.Rel.Neg }) {
			parts = append(parts, "any vertex")
		}
		for _, x := range lv.Backs {
			parts = append(parts, p.relation(&x.Rel, p.name(x.Of)))
		}
		if label := p.Labels[lv.Vertex]; label != nil {
			parts = append(parts, "label "+label.String())
		}
		for _, u := range lv.Above {
			parts = append(parts, "id above "+p.name(u))
		}
		for _, u := range lv.Below {
			parts = append(parts, "id below "+p.name(u))
		}
		if len(lv.Apart) > 0 {
			parts = append(parts, "not "+p.names(lv.Apart))
		}
		for _, i := range lv.Checks {
			parts = append(parts, pattern.FormatExpr(p.Pattern, p.Where[i].Expr))
		}
		if len(parts) == 0 {
			continue
		}
		fmt.Fprintf(b, "  %s: %s\n", p.name(lv.Vertex), strings.Join(parts, "; "))
	}
	switch {
	case n.Sub != nil:
		b.WriteString("  then all matches before and after it are compared, unless EXISTS stays true, or false, for all of them\n")
	case n.Every:
		b.WriteString("  then all matches before and after it are compared\n")
	}
}

// relations says what a pair asks for, seen from one of its vertices.
func (p *Plan) relations(x *Pair, from int) string {
	var parts []string
	for _, r := range x.Rels {
		if from != x.U && p.Directed && r.Dir != Either {
			r.Dir = In - r.Dir
		}
		parts = append(parts, p.relation(&r, p.name(from)))
	}
	return p.name(x.U+x.V-from) + " " + strings.Join(parts, "; ")
}

func (p *Plan) relation(r *Rel, of string) string {
	side := ""
	if p.Directed {
		side = [...]string{"+", "-", ""}[r.Dir]
	}
	inside := ""
	if r.Label != nil {
		inside = ":" + r.Label.String()
	}
	if r.Edge < 0 && len(r.Unless) > 0 {
		inside = "others"
	}
	if len(r.Where) > 0 {
		inside = strings.TrimSpace(inside + " WHERE …")
	}
	if inside != "" {
		inside = "[" + inside + "]"
	}
	in := "in "
	if r.Neg {
		in = "not in "
	}
	return in + "N" + inside + side + "(" + of + ")"
}
