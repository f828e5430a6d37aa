package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// readKnown reads the counts that are known: lines of graph, pattern and count, with
// tabs between them, under a line of heads.
func readKnown(text string) (map[string]string, error) {
	known := map[string]string{}
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n")[1:] {
		f := strings.Split(line, "\t")
		if len(f) != 3 {
			return nil, fmt.Errorf("line %d has %d columns, not 3", i+2, len(f))
		}
		known[f[0]+" "+f[1]] = f[2]
	}
	return known, nil
}

// bench is a table for each engine: graphs down, patterns across.
func (r results) bench(known map[string]string) string {
	var b strings.Builder
	runs := strconv.Itoa(r.Runs)
	if r.Most > r.Runs {
		runs += fmt.Sprintf(" to %d", r.Most)
	}
	fmt.Fprintf(&b, "%s.\n\nMedian of %s searches by device events, in ms.\n\n", r.where(), runs)
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

func (r results) engine(b *strings.Builder, engine string, known map[string]string) {
	var graphs, patterns []string
	cells := map[string]string{}
	var notes []string
	right, checked := 0, 0
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
		count, ok := known[key]
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
		case ok && count != string(c.Line.Count):
			notes = append(notes, fmt.Sprintf("%s: counted %s, not %s", key, c.Line.Count, count))
			text = "wrong"
		case ok:
			right++
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
