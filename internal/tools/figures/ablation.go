package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// ablationLine is a line of bench/ablation.py: a switch on one graph, or a comparison of memory.
type ablationLine struct {
	Kind, About              string
	Graph, Technique, Switch string
	Queries, Finished        int
	MS                       float64
	Ratio                    *float64
	MeanRatio                *float64 `json:"mean_ratio"`
	Memory                   string
	Single, Multi            float64 // bytes
	Fifth, Less, More        int     // queries
}

// ablation is the tables of what bench/ablation.py measured: switches down, graphs across, and the
// memory of tables.
func ablation(text []byte) (string, error) {
	var about string
	var graphs []string
	var switches [][2]string
	cells := map[string]string{}
	var memory strings.Builder
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
		finished := ""
		if l.Finished < l.Queries {
			finished = fmt.Sprintf(", %d of %d", l.Finished, l.Queries)
		}
		if l.Memory != "" {
			ratio := "–"
			if l.Single > 0 {
				ratio = fmt.Sprintf("%.2f", l.Multi/l.Single)
			}
			fmt.Fprintf(&memory, "| %s | %s%s | %.2f | %.2f | %s | %d | %d | %d |\n", l.Memory, l.Graph, finished, l.Single/(1<<20), l.Multi/(1<<20), ratio, l.Less, l.More, l.Fifth)
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
	fmt.Fprintf(&b, "%s.\n\n| technique | switch | %s |\n|%s\n", about, strings.Join(graphs, " | "), strings.Repeat("---|", len(graphs)+2))
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
	if memory.Len() > 0 {
		b.WriteString("\n| memory of tables | graph | one vertex, MiB | several, MiB | ratio | queries with less | with more | with at most a fifth |\n|")
		b.WriteString(strings.Repeat("---|", 8) + "\n" + memory.String())
	}
	b.WriteString("\n")
	return b.String(), err
}
