// Command drawmatch draws one match of a pattern, with the vertices around it,
// as SVG: the picture of README.md. `make picture` runs it.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"html"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/weftgraph/weft"
)

func main() {
	graph := flag.String("g", "testdata/graphs/ego-facebook.txt.gz", "graph `file`")
	query := flag.String("q", "MATCH INDUCED house(a, b, c, d, e) WHERE deg(a) < 16 AND deg(b) < 16 AND deg(c) < 16 AND deg(d) < 16 AND deg(e) < 16", "`query`")
	out := flag.String("o", "match.svg", "`file` to write")
	most := flag.Int("most", 60, "the most `vertices` to draw")
	flag.Parse()
	svg, err := draw(context.Background(), *graph, *query, *most)
	if err == nil {
		err = os.WriteFile(*out, []byte(svg), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "drawmatch:", err)
		os.Exit(1)
	}
}

// picture is the part of the graph that is drawn. Vertices are numbered from 0,
// the matched ones first.
type picture struct {
	names   []string // of the pattern's vertices
	ids     []string
	edges   [][2]int
	pattern map[[2]int]bool // the edges of the pattern, by lesser end
}

func draw(ctx context.Context, path, text string, most int) (string, error) {
	g, err := weft.Open(ctx, path)
	if err != nil {
		return "", err
	}
	defer g.Close()
	q, err := weft.Parse(text)
	if err != nil {
		return "", err
	}
	// The matches come in no order: the first by its ids is drawn.
	var names, best []string
	for m, err := range g.Match(ctx, q) {
		if err != nil {
			return "", err
		}
		if ids := m.IDs(); best == nil || slices.Compare(ids, best) < 0 {
			names, best = m.Names(), ids
		}
	}
	if best == nil {
		return "", fmt.Errorf("%s has no match of %s", path, text)
	}
	near, err := neighbours(ctx, g)
	if err != nil {
		return "", err
	}
	p := picture{names: names, ids: best, pattern: map[[2]int]bool{}}
	p.surround(near, most)
	for _, e := range p.edges {
		// An induced match has no other edges between its vertices.
		if e[1] < len(names) {
			p.pattern[e] = true
		}
	}
	total, err := g.Count(ctx, q)
	if err != nil {
		return "", err
	}
	return p.svg(fmt.Sprintf("one of %v matches of %s", total.Subgraphs, q)), nil
}

// neighbours lists every edge of g.
func neighbours(ctx context.Context, g *weft.Graph) (map[string][]string, error) {
	q, err := weft.Parse("MATCH (x)--(y)")
	if err != nil {
		return nil, err
	}
	near := map[string][]string{}
	for m, err := range g.Match(ctx, q) {
		if err != nil {
			return nil, err
		}
		x, y := m.ID("x"), m.ID("y")
		near[x] = append(near[x], y)
		near[y] = append(near[y], x)
	}
	for _, list := range near {
		slices.Sort(list)
	}
	return near, nil
}

// surround adds the neighbours of the match, those of least degree first, and
// the edges between all that is drawn.
func (p *picture) surround(near map[string][]string, most int) {
	at := map[string]int{}
	for i, id := range p.ids {
		at[id] = i
	}
	var around []string
	for _, id := range p.ids {
		around = append(around, near[id]...)
	}
	slices.SortFunc(around, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(near[a]), len(near[b])), cmp.Compare(a, b))
	})
	for _, id := range slices.Compact(around) {
		if _, ok := at[id]; !ok && len(p.ids) < most {
			at[id] = len(p.ids)
			p.ids = append(p.ids, id)
		}
	}
	for i, id := range p.ids {
		for _, other := range near[id] {
			if j, ok := at[other]; ok && i < j {
				p.edges = append(p.edges, [2]int{i, j})
			}
		}
	}
}

// layout places the vertices by forces: all repel each other, edges attract
// (Fruchterman and Reingold, 1991). It begins on a circle, so it is the same
// each time.
func (p *picture) layout() [][2]float64 {
	n := len(p.ids)
	at := make([][2]float64, n)
	for i := range at {
		r, angle := 1.0, 2.399963*float64(i)
		if k := len(p.names); i < k {
			r, angle = 0.3, 2*math.Pi*float64(i)/float64(k)
		}
		at[i] = [2]float64{r * math.Cos(angle), r * math.Sin(angle)}
	}
	ideal := 1.6 / math.Sqrt(float64(n))
	for heat := 0.15; heat > 0.0005; heat *= 0.985 {
		move := make([][2]float64, n)
		push := func(i, j int, force func(d float64) float64) {
			dx, dy := at[i][0]-at[j][0], at[i][1]-at[j][1]
			d := math.Max(math.Hypot(dx, dy), 1e-3)
			f := force(d) / d
			move[i][0] += dx * f
			move[i][1] += dy * f
			move[j][0] -= dx * f
			move[j][1] -= dy * f
		}
		for i := range n {
			for j := range i {
				push(i, j, func(d float64) float64 { return ideal * ideal / d })
			}
		}
		for _, e := range p.edges {
			weight := 0.35
			if p.pattern[e] {
				weight = 0.3
			}
			push(e[0], e[1], func(d float64) float64 { return -weight * d * d / ideal })
		}
		for i := range at {
			d := math.Max(math.Hypot(move[i][0], move[i][1]), 1e-9)
			step := math.Min(d, heat) / d
			at[i][0] += move[i][0] * step
			at[i][1] += move[i][1] * step
		}
	}
	return at
}

const (
	width, height = 720.0, 520.0
	margin, foot  = 34.0, 52.0
)

func (p *picture) svg(caption string) string {
	at := p.layout()
	low, high := at[0], at[0]
	for _, a := range at {
		for k := range 2 {
			low[k], high[k] = math.Min(low[k], a[k]), math.Max(high[k], a[k])
		}
	}
	for i := range at {
		at[i][0] = margin + (at[i][0]-low[0])/(high[0]-low[0])*(width-2*margin)
		at[i][1] = margin + (at[i][1]-low[1])/(high[1]-low[1])*(height-2*margin-foot)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" role="img">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(caption))
	fmt.Fprintf(&b, `<rect width="%g" height="%g" fill="#ffffff"/>`+"\n", width, height)
	for _, matched := range []bool{false, true} {
		style := `stroke="#c9ced6" stroke-width="1"`
		if matched {
			style = `stroke="#c2410c" stroke-width="4"`
		}
		fmt.Fprintf(&b, "<g %s>\n", style)
		for _, e := range p.edges {
			if p.pattern[e] == matched {
				u, v := at[e[0]], at[e[1]]
				fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", u[0], u[1], v[0], v[1])
			}
		}
		b.WriteString("</g>\n")
	}
	b.WriteString(`<g fill="#8b95a5">` + "\n")
	for i := len(p.names); i < len(at); i++ {
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="4"><title>%s</title></circle>`+"\n", at[i][0], at[i][1], html.EscapeString(p.ids[i]))
	}
	b.WriteString("</g>\n" + `<g text-anchor="middle" font-size="12">` + "\n")
	for i, name := range p.names {
		x, y := at[i][0], at[i][1]
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="13" fill="#fff7ed" stroke="#c2410c" stroke-width="2"/>`, x, y)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-weight="bold" fill="#7c2d12">%s</text>`, x, y+4, html.EscapeString(name))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="#374151" stroke="#ffffff" stroke-width="3" paint-order="stroke">%s</text>`+"\n", x, y+27, html.EscapeString(p.ids[i]))
	}
	b.WriteString("</g>\n")
	for i, line := range wrap(caption, 92) {
		fmt.Fprintf(&b, `<text x="%g" y="%g" font-size="12" font-family="monospace" fill="#374151">%s</text>`+"\n", margin/2, height-foot+14+float64(i)*16, html.EscapeString(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// wrap breaks a text into lines of at most n bytes, at blanks.
func wrap(text string, n int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if k := len(lines) - 1; k >= 0 && len(lines[k])+1+len(word) <= n {
			lines[k] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
