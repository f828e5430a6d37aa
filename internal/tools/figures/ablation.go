package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// ablationLine is a line of bench/ablation.py: a switch on one graph, or a comparison of phases of several vertices with
// phases of one.
type ablationLine struct {
	Kind, About              string
	Graph, Technique, Switch string
	Queries, Finished        int
	MS                       float64
	Ratio                    *float64
	MeanRatio                *float64 `json:"mean_ratio"`
	Several                  string
	SingleOnly               int     `json:"single_only"` // queries
	MultiOnly                int     `json:"multi_only"`
	SingleMS                 float64 `json:"single_ms"`
	MultiMS                  float64 `json:"multi_ms"`
	Single, Multi            float64 // bytes of all rows
	SinglePeak               float64 `json:"single_peak"`
	MultiPeak                float64 `json:"multi_peak"`
	Fifth                    int     // queries
	Layouts                  *layoutSums
}

// layoutSums are what weft info --layouts says of all edge labels of a graph together.
type layoutSums struct {
	Vertices, CSR, Runs uint64
	Hashed              uint64 `json:"hashed_pcsr"`
	Interval            uint64 `json:"interval_pcsr"`
	Own                 uint64 `json:"own_pcsr"`
	OwnRuns             uint64 `json:"own_runs"`
}

// row is the row of a graph: bytes, and the runs of ids.
func (s *layoutSums) row(graph string) string {
	mib := func(n uint64) string { return fmt.Sprintf("%.2f", float64(n)/(1<<20)) }
	return fmt.Sprintf("| %s | %d | %s | %s | %s | %d | %s | %d |\n", graph, s.Vertices, mib(s.CSR), mib(s.Hashed), mib(s.Interval), s.Runs, mib(s.Own), s.OwnRuns)
}

// ablation is the tables of what bench/ablation.py measured: switches down, graphs across, and phases of several
// vertices next to phases of one.
func ablation(text []byte) (string, error) {
	var about string
	var graphs []string
	var switches [][2]string
	cells := map[string]string{}
	var several, layouts strings.Builder
	err := eachLine(text, func(line []byte) error {
		var l ablationLine
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		if l.Kind != "" {
			about = l.About
			return nil
		}
		if !slices.Contains(graphs, l.Graph) {
			graphs = append(graphs, l.Graph)
		}
		if l.Layouts != nil {
			layouts.WriteString(l.Layouts.row(l.Graph))
			return nil
		}
		finished := ""
		if l.Finished < l.Queries {
			finished = fmt.Sprintf(", %d of %d", l.Finished, l.Queries)
		}
		if l.Several != "" {
			several.WriteString(l.severalRow())
			return nil
		}
		key := [2]string{l.Technique, l.Switch}
		if !slices.Contains(switches, key) {
			switches = append(switches, key)
		}
		cell := fmt.Sprintf("%s ms%s", milliseconds(l.MS), finished)
		if l.Technique != "" {
			cell = "–" + finished
		}
		if l.Ratio != nil && l.MeanRatio != nil {
			cell = fmt.Sprintf("%.2f (%.2f)%s", *l.MeanRatio, *l.Ratio, finished)
		}
		cells[l.Graph+" "+key[0]+key[1]] = cell
		return nil
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n", about)
	if len(switches) > 1 {
		fmt.Fprintf(&b, "| technique | switch | %s |\n|%s\n", strings.Join(graphs, " | "), strings.Repeat("---|", len(graphs)+2))
	} else {
		switches = nil // the defaults alone say nothing
	}
	for _, s := range switches {
		technique, switched := s[0], quoted(s[1])
		if technique == "" {
			technique = "all, as by default"
		}
		fmt.Fprintf(&b, "| %s | %s |", technique, switched)
		for _, g := range graphs {
			cell := cells[g+" "+s[0]+s[1]]
			if cell == "" {
				cell = "–"
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		b.WriteString("\n")
	}
	if several.Len() > 0 {
		if switches != nil {
			b.WriteString("\n")
		}
		b.WriteString("| several vertices in a phase | graph | queries | time, mean (sum) | bytes of rows: one, MiB | several, MiB | ratio | queries with at most a fifth | ratio at a time | ended only: one, several |\n|")
		b.WriteString(strings.Repeat("---|", 10) + "\n" + several.String())
	}
	if layouts.Len() > 0 {
		if switches != nil || several.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString("| graph | vertices of labels | CSR, MiB | hashed PCSR, MiB | interval-PCSR, MiB | runs | without renumbering, MiB | runs |\n|")
		b.WriteString(strings.Repeat("---|", 8) + "\n" + layouts.String())
	}
	b.WriteString("\n")
	return b.String(), err
}

// severalRow is the row of a comparison.
func (l *ablationLine) severalRow() string {
	ratio := func(x, y float64) string {
		if y == 0 {
			return "–"
		}
		return fmt.Sprintf("%.2f", x/y)
	}
	mean := "–"
	if l.MeanRatio != nil {
		mean = fmt.Sprintf("%.2f", *l.MeanRatio)
	}
	return fmt.Sprintf("| %s | %s | %d | %s (%s) | %.2f | %.2f | %s | %d | %s | %d, %d |\n", l.Several, l.Graph, l.Queries, mean, ratio(l.MultiMS, l.SingleMS),
		l.Single/(1<<20), l.Multi/(1<<20), ratio(l.Multi, l.Single), l.Fifth, ratio(l.MultiPeak, l.SinglePeak), l.SingleOnly, l.MultiOnly)
}
