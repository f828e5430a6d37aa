package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// answer is what is known of a graph and pattern: the count, and the search time
// in ms of the fastest other program whose count was right; 0: there is none.
type answer struct {
	count  string
	peerMS float64
}

// readKnown reads lines of graph, pattern, count and the peer's time, with tabs
// between them, under a line of heads.
func readKnown(text string) (map[string]answer, error) {
	known := map[string]answer{}
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n")[1:] {
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			return nil, fmt.Errorf("line %d has %d columns, not 4", i+2, len(f))
		}
		a := answer{count: f[2]}
		if f[3] != "" {
			ms, err := strconv.ParseFloat(f[3], 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+2, err)
			}
			a.peerMS = ms
		}
		known[f[0]+" "+f[1]] = a
	}
	return known, nil
}

// bench is a table for each engine: graphs down, patterns across.
func (r results) bench(known map[string]answer) string {
	var b strings.Builder
	runs := strconv.Itoa(r.Runs)
	if r.Most > r.Runs {
		runs += fmt.Sprintf(" to %d", r.Most)
	}
	fmt.Fprintf(&b, "%s.\n\nMedian of %s searches by device events, in ms, and in brackets the ratio to the fastest other program (below 1: faster).\n\n", r.where(), runs)
	var engines []string
	for _, c := range r.Cells {
		if !slices.Contains(engines, c.Engine) {
			engines = append(engines, c.Engine)
		}
	}
	for _, e := range engines {
		r.engine(&b, e, known)
	}
	return b.String()
}

func (r results) engine(b *strings.Builder, engine string, known map[string]answer) {
	var graphs, patterns []string
	cells := map[string]string{}
	var notes []string
	right, checked, faster, compared, logs := 0, 0, 0, 0, 0.0
	plan, prepare := map[string][]float64{}, map[string][]float64{}
	for _, c := range r.Cells {
		if c.Engine != engine {
			continue
		}
		if !slices.Contains(graphs, c.Name) {
			graphs = append(graphs, c.Name)
		}
		if !slices.Contains(patterns, c.Pattern) {
			patterns = append(patterns, c.Pattern)
		}
		key := c.Name + " " + c.Pattern
		a, ok := known[key]
		if ok {
			checked++
		}
		if c.Exit != 0 || c.Line == nil {
			notes = append(notes, fmt.Sprintf("%s: exit code %d: %s", key, c.Exit, c.Said))
			continue
		}
		plan[c.Name] = append(plan[c.Name], c.Line.Plan)
		prepare[c.Name] = append(prepare[c.Name], c.Line.Prepare)
		text := milliseconds(c.Line.Median)
		switch {
		case ok && a.count != string(c.Line.Count):
			notes = append(notes, fmt.Sprintf("%s: counted %s, not %s", key, c.Line.Count, a.count))
			text = "wrong"
		case ok:
			right++
			if ratio := c.Line.Median / a.peerMS; a.peerMS > 0 && ratio > 0 {
				compared++
				logs += math.Log(ratio)
				if ratio < 1 {
					faster++
				}
				text += fmt.Sprintf(" (%.2g)", ratio)
			}
		}
		cells[key] = text
	}
	slices.Sort(patterns)
	fmt.Fprintf(b, "Engine `%s`:\n\n| graph |", engine)
	for _, p := range patterns {
		fmt.Fprintf(b, " %s |", strings.TrimPrefix(p, "gmatch:"))
	}
	fmt.Fprintf(b, "\n|%s\n", strings.Repeat("---|", len(patterns)+1))
	for _, g := range graphs {
		fmt.Fprintf(b, "| %s |", g)
		for _, p := range patterns {
			text := cells[g+" "+p]
			if text == "" {
				text = "–"
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "\n%d of %d known counts are right.", right, checked)
	if compared > 0 {
		fmt.Fprintf(b, " Faster in %d of %d cells; geometric mean of the ratios %.2g.", faster, compared, math.Exp(logs/float64(compared)))
	}
	b.WriteString("\n\n")
	var beside []string
	for _, g := range graphs {
		if plan[g] != nil {
			beside = append(beside, fmt.Sprintf("%s %s + %s", g, milliseconds(median(plan[g])), milliseconds(median(prepare[g]))))
		}
	}
	if beside != nil {
		fmt.Fprintf(b, "Beside the search, in ms, planning + preparation on the device (median of a graph's patterns): %s.\n\n", strings.Join(beside, "; "))
	}
	for _, n := range notes {
		fmt.Fprintf(b, "- %s\n", n)
	}
	if notes != nil {
		b.WriteString("\n")
	}
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2
}

// milliseconds has three digits that count.
func milliseconds(ms float64) string {
	if ms >= 1000 {
		return strconv.FormatFloat(math.Round(ms), 'f', 0, 64)
	}
	return strconv.FormatFloat(ms, 'g', 3, 64)
}

// tests is a line for each test program under each tool; what failed is named.
func (r results) tests() string {
	var b strings.Builder
	slices.SortStableFunc(r.Packages, func(a, b tested) int { return cmp.Compare(a.Package, b.Package) })
	fmt.Fprintf(&b, "%s.\n\n| package | under | passed | failed | skipped | against the oracle | s |\n|---|---|---|---|---|---|---|\n", r.where())
	var notes []string
	for _, p := range r.Packages {
		n := map[string]int{}
		var failed []string
		for _, t := range p.Tests {
			n[t.Result]++
			if t.Result == "fail" {
				failed = append(failed, t.Name)
			}
		}
		for _, name := range failed {
			above := func(other string) bool { return strings.HasPrefix(other, name+"/") }
			if !slices.ContainsFunc(failed, above) {
				notes = append(notes, p.Package+": "+name)
			}
		}
		if p.Exit != 0 && n["fail"] == 0 {
			notes = append(notes, fmt.Sprintf("%s: exit code %d", p.Package, p.Exit))
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %s | %d |\n", p.Package, p.Tool, n["pass"], n["fail"], n["skip"], p.Compared, p.Seconds)
	}
	b.WriteString("\n")
	for _, note := range notes {
		fmt.Fprintf(&b, "- failed: %s\n", note)
	}
	if notes != nil {
		b.WriteString("\n")
	}
	return b.String()
}
