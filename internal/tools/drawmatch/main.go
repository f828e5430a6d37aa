// Command drawmatch draws one match of a pattern, with the vertices around it, as SVG. `make
// picture` runs it for the picture of README.md.
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
	shape := flag.String("shape", "a 0 0, b 1 0, c 1 1, d 0 1, e 0.5 -0.75", "where the matched vertices go: `name x y, ...`, y downwards")
	flag.Parse()
	svg, err := draw(context.Background(), *graph, *query, *shape, *most)
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
	shape   [][2]float64    // the places of the matched vertices, around the origin
}

// readShape returns the places that a text gives to names, moved so that their mean is the origin and made so large
// that the vertices around have room.
func readShape(text string, names []string) ([][2]float64, error) {
	at := make([][2]float64, len(names))
	seen := 0
	for _, part := range strings.Split(text, ",") {
		var name string
		var x, y float64
		if _, err := fmt.Sscan(part, &name, &x, &y); err != nil {
			return nil, fmt.Errorf("shape: %q is not a name and two numbers: %w", part, err)
		}
		i := slices.Index(names, name)
		if i < 0 {
			return nil, fmt.Errorf("shape: the match has no %s", name)
		}
		at[i] = [2]float64{x, y}
		seen++
	}
	if seen != len(names) {
		return nil, fmt.Errorf("shape: %d places for %d vertices", seen, len(names))
	}
	var mean [2]float64
	for _, a := range at {
		mean[0] += a[0] / float64(len(at))
		mean[1] += a[1] / float64(len(at))
	}
	for i := range at {
		at[i] = [2]float64{(at[i][0] - mean[0]) * shapeSize, (at[i][1] - mean[1]) * shapeSize}
	}
	return at, nil
}

// shapeSize is the length of a shape's unit where the whole picture is about three wide.
const shapeSize = 0.55

func draw(ctx context.Context, path, text, shape string, most int) (string, error) {
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
	places, err := readShape(shape, names)
	if err != nil {
		return "", err
	}
	near, err := neighbours(ctx, g)
	if err != nil {
		return "", err
	}
	p := picture{names: names, ids: best, pattern: map[[2]int]bool{}, shape: places}
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

// layout places the matched vertices as the shape has them and the others by forces: all repel each other, edges attract
// (Fruchterman and Reingold, 1991). It begins on a circle around the shape, so it is the same each time.
func (p *picture) layout() [][2]float64 {
	n := len(p.ids)
	at := make([][2]float64, n)
	for i := range at {
		if i < len(p.shape) {
			at[i] = p.shape[i]
			continue
		}
		angle := 2.399963 * float64(i)
		at[i] = [2]float64{1.3 * math.Cos(angle), 1.3 * math.Sin(angle)}
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
			push(e[0], e[1], func(d float64) float64 { return -0.35 * d * d / ideal })
		}
		for i := len(p.shape); i < n; i++ {
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
	scale := math.Min((width-2*margin)/(high[0]-low[0]), (height-2*margin-foot)/(high[1]-low[1]))
	for i := range at {
		at[i][0] = width/2 + (at[i][0]-(low[0]+high[0])/2)*scale
		at[i][1] = (height-foot)/2 + (at[i][1]-(low[1]+high[1])/2)*scale
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
		// The id stands on the side that looks away from the shape.
		anchor, dx, dy := "middle", 0.0, -20.0
		switch place := p.shape[i][0]; {
		case place < 0:
			anchor, dx, dy = "end", -19, 4
		case place > 0:
			anchor, dx, dy = "start", 19, 4
		}
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="#374151" stroke="#ffffff" stroke-width="3" paint-order="stroke">%s</text>`+"\n",
			x+dx, y+dy, anchor, html.EscapeString(p.ids[i]))
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
