package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// measured is one line of bench/gpu.py or bench/cpu.py: a program's times for a pattern of a graph.
type measured struct {
	graph, pattern, who, order string
	visits                     bool // every match, where others count by arithmetic
	right                      bool
	search                     []float64 // ms: one median, or each run
	before                     float64   // ms: planning and preparation
	command                    float64   // s: the whole command
	note                       string
}

// comparison is all that one run of a script measured.
type comparison struct {
	about string
	rows  []measured
}

// readGPUPeers reads what bench/gpu.py wrote.
func readGPUPeers(text []byte) (*comparison, error) {
	c := new(comparison)
	err := eachLine(text, func(line []byte) error {
		var l struct {
			Kind, About                     string
			Graph, Pattern, Who, How, Order string
			MS, Plan, Prepare               float64
			Command                         float64 `json:"command_s"`
			OK                              bool
			Note                            string
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		if l.Kind != "" {
			c.about = l.About
			return nil
		}
		m := measured{graph: l.Graph, pattern: l.Pattern, who: l.Who, order: l.Order, visits: l.How == "visits", right: l.OK, before: l.Plan + l.Prepare, command: l.Command, note: l.Note}
		if l.MS > 0 {
			m.search = []float64{l.MS}
		}
		c.rows = append(c.rows, m)
		return nil
	})
	return c, err
}

// readCPUPeers reads what the step heldout of bench/cpu.py wrote.
func readCPUPeers(text []byte) (*comparison, error) {
	c := new(comparison)
	err := eachLine(text, func(line []byte) error {
		var l struct {
			Step, Graph, What, Who, Note, Commit string
			Cores                                int
			AVX512                               bool
			MS                                   []float64
			Plan                                 []float64 `json:"plan_ms"`
			OK                                   *bool
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		if l.Step == "machine" {
			c.about = fmt.Sprintf("%d cores, %s; commit %s", l.Cores, strings.TrimSuffix(strings.ReplaceAll(l.What, "(R)", ""), " Processor"), l.Commit)
			if l.AVX512 {
				c.about = strings.Replace(c.about, ";", " with AVX-512;", 1)
			}
			return nil
		}
		who, order, _ := strings.Cut(l.Who, "/")
		m := measured{graph: l.Graph, pattern: l.What, who: cmp.Or(peerNames[who], who), order: order, right: l.OK == nil || *l.OK, search: l.MS, note: l.Note}
		if len(l.Plan) > 0 && who == "weft" {
			m.before = median(l.Plan)
		}
		c.rows = append(c.rows, m)
		return nil
	})
	return c, err
}

// peerNames are what bench/cpu.py calls the programs, and their names.
var peerNames = map[string]string{
	"gm_tc_simd": "GraphMiner tc", "gapbs_tc": "GAPBS", "gm_clique_rec": "GraphMiner clique", "gm_count_base": "GraphMiner count",
	"gm_sgl_cmap": "GraphMiner sgl cmap", "gm_sgl_cmapcount": "GraphMiner cmap count", "graphpi": "GraphPi",
}

func eachLine(text []byte, read func([]byte) error) error {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if err := read(lines.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

// duel is a pattern of a graph: weft's line and the fastest right line of the others, nil where there is none.
type duel struct {
	graph, pattern string
	weft, peer     *measured
	late           []string // who ended with a note, and the note
}

// search is how many times as long weft's search takes as the peer's; whole adds weft's planning and preparation.
func (d *duel) search() float64 { return median(d.weft.search) / median(d.peer.search) }
func (d *duel) whole() float64 {
	return (median(d.weft.search) + d.weft.before) / median(d.peer.search)
}

// duels has a cell for each pattern that weft, under the name that who is, ran.
func (c *comparison) duels(who string, onlyVisits bool) []duel {
	var out []duel
	for i := range c.rows {
		w := &c.rows[i]
		if w.who != who {
			continue
		}
		d := duel{graph: w.graph, pattern: w.pattern, weft: w}
		if len(w.search) == 0 || !w.right {
			d.weft = nil
		}
		for j := range c.rows {
			r := &c.rows[j]
			switch {
			case r.graph != w.graph || r.pattern != w.pattern || strings.HasPrefix(r.who, "weft"), onlyVisits && !r.visits:
			case len(r.search) == 0 || !r.right:
				d.late = append(d.late, r.named()+": "+cmp.Or(r.note, "wrong"))
			case d.peer == nil || median(r.search) < median(d.peer.search):
				d.peer = r
			}
		}
		out = append(out, d)
	}
	return out
}

func (m *measured) named() string {
	if m.order == "" {
		return m.who
	}
	return m.who + ", " + m.order
}

// wrong names the programs that counted something else than weft.
func (c *comparison) wrong() string {
	var names []string
	for _, r := range c.rows {
		if len(r.search) > 0 && !r.right {
			names = append(names, fmt.Sprintf("%s on %s %s", r.named(), r.graph, r.pattern))
		}
	}
	if names == nil {
		return "All counts agree."
	}
	return "Counts that differ: " + strings.Join(names, "; ") + "."
}

// table has a line for each cell, and under it how many cells weft wins.
func table(duels []duel) string {
	var b strings.Builder
	b.WriteString("| graph | pattern | weft's search, ms | planning and preparation, ms | fastest peer's search, ms | peer | search ratio | whole-query ratio |\n|" + strings.Repeat("---|", 8) + "\n")
	for _, d := range duels {
		fmt.Fprintf(&b, "| %s | %s |", d.graph, d.pattern)
		if d.weft == nil {
			b.WriteString(" – | – |")
		} else {
			fmt.Fprintf(&b, " %s | %s |", spread(d.weft.search), milliseconds(d.weft.before))
		}
		switch {
		case d.peer == nil:
			fmt.Fprintf(&b, " – | %s | – | – |\n", strings.Join(d.late, "; "))
		case d.weft == nil:
			fmt.Fprintf(&b, " %s | %s | – | – |\n", spread(d.peer.search), d.peer.named())
		default:
			fmt.Fprintf(&b, " %s | %s | %s | %s |\n", spread(d.peer.search), d.peer.named(), ratio(d.search()), ratio(d.whole()))
		}
	}
	search, whole, n := summary(duels)
	fmt.Fprintf(&b, "\nweft is faster in %d of %d cells by search (geometric mean of the ratios %.2f) and in %d by the whole query (%.2f).\n", search.won, n, search.mean, whole.won, whole.mean)
	return b.String()
}

// score is how many cells weft wins, and the geometric mean of its ratios.
type score struct {
	won  int
	mean float64
}

func summary(duels []duel) (search, whole score, n int) {
	for i := range duels {
		d := &duels[i]
		if d.weft == nil || d.peer == nil {
			continue
		}
		n++
		for _, x := range []struct {
			r float64
			s *score
		}{{d.search(), &search}, {d.whole(), &whole}} {
			x.s.mean += math.Log(x.r)
			if x.r < 1 {
				x.s.won++
			}
		}
	}
	search.mean, whole.mean = math.Exp(search.mean/float64(n)), math.Exp(whole.mean/float64(n))
	return search, whole, n
}

// short has patterns across: for each graph and each kind of ratio a line.
func short(lines []shortLine) string {
	var graphs, patterns []string
	for _, l := range lines {
		for _, d := range l.duels {
			if !slices.Contains(graphs, d.graph) {
				graphs = append(graphs, d.graph)
			}
			if !slices.Contains(patterns, d.pattern) {
				patterns = append(patterns, d.pattern)
			}
		}
	}
	slices.Sort(patterns)
	var b strings.Builder
	b.WriteString("| | " + strings.Join(patterns, " | ") + " |\n|" + strings.Repeat("---|", len(patterns)+1) + "\n")
	for _, g := range graphs {
		for i, l := range lines {
			name := l.name
			if i == 0 {
				name = g + ": " + name
			}
			fmt.Fprintf(&b, "| %s |", name)
			for _, p := range patterns {
				text := "–"
				if i := slices.IndexFunc(l.duels, func(d duel) bool { return d.graph == g && d.pattern == p }); i >= 0 {
					if d := &l.duels[i]; d.weft != nil && d.peer != nil {
						text = ratio(l.of(d))
					}
				}
				b.WriteString(" " + text + " |")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// shortLine is a kind of ratio.
type shortLine struct {
	name  string
	duels []duel
	of    func(*duel) float64
}

const visiting = "weft, every match visited"

// sections are the tables that a comparison gives, by the names of their marks.
func (c *comparison) sections(name string) map[string]string {
	counted := c.duels("weft", false)
	lines := []shortLine{{"search", counted, (*duel).search}, {"whole query", counted, (*duel).whole}}
	long := c.about + ".\n\n" + table(counted)
	if visited := c.duels(visiting, true); visited != nil {
		lines = append(lines, shortLine{"every match visited, search", visited, (*duel).search})
		long += "\nEvery match visited, by weft (`--engine fine --engine-opt plan.tail=off`) and by the peers that do so:\n\n" + table(visited)
	}
	return map[string]string{name: long + "\n" + c.wrong() + "\n\n", name + "-short": short(lines) + "\n"}
}

// ratio marks what weft loses.
func ratio(x float64) string {
	if x >= 1 {
		return fmt.Sprintf("**%.2f**", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// spread is the median of runs, with the least and the most where there are several.
func spread(ms []float64) string {
	if len(ms) < 2 {
		return milliseconds(median(ms))
	}
	return fmt.Sprintf("%s (%s–%s)", milliseconds(median(ms)), milliseconds(slices.Min(ms)), milliseconds(slices.Max(ms)))
}
