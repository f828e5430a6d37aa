package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// joins is the table of what `weft bench join --to ndjson` measured, after a line that says where.
// Sets of a graph are left out if there is a row of all of them.
func joins(text []byte) (string, error) {
	type row struct {
		Kind, About, Graph, Set, Who, Note string
		Queries, Finished, Wins            int
		Whole                              float64  `json:"whole_ms"`
		Mean                               float64  `json:"mean_ms"`
		Ratio                              *float64 `json:"ratio"`
		MeanRatio                          *float64 `json:"mean_ratio"`
	}
	var rows []row
	all := map[string]bool{}
	err := eachLine(text, func(line []byte) error {
		var r row
		err := json.Unmarshal(line, &r)
		rows = append(rows, r)
		all[r.Graph] = all[r.Graph] || r.Set == "all"
		return err
	})
	var b strings.Builder
	for _, r := range rows {
		switch {
		case r.Kind != "":
			fmt.Fprintf(&b, "%s.\n\n| graph | sets | program | finished | whole time, ms | geometric mean, ms | first in | ratio | mean ratio |\n|%s\n", r.About, strings.Repeat("---|", 9))
		case r.Set == "all" || !all[r.Graph]:
			ratio := func(x *float64) string {
				if x == nil {
					return "–"
				}
				return fmt.Sprintf("%.2f", *x)
			}
			finished := fmt.Sprintf("%d of %d", r.Finished, r.Queries)
			if strings.Contains(r.Note, "DIFFER") {
				finished += ", **counts differ**"
			}
			graph, _, _ := strings.Cut(r.Graph[strings.LastIndex(r.Graph, "/")+1:], ".")
			whole, mean := "–", "–"
			if r.Finished > 0 {
				whole, mean = milliseconds(r.Whole), milliseconds(r.Mean)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %d | %s | %s |\n", graph, r.Set, r.Who, finished, whole, mean, r.Wins, ratio(r.Ratio), ratio(r.MeanRatio))
		}
	}
	b.WriteString("\n")
	return b.String(), err
}
