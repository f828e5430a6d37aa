package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// set is a set of queries of a graph, by the lines of bench/joins.py.
type set struct {
	graph, name     string
	queries, common int
	who             []string
	ms              map[string]float64 // by engine, over the common queries
	finished        map[string]int
	differ          bool
	nobody          []string // queries that no engine ended
}

// sets is the table of what bench/joins.py measured: a row for each set, with the sums over the queries that all engines
// ended, and the ratio of auto's sum to the least of those that it chooses from.
func sets(text []byte) (string, error) {
	var b strings.Builder
	var all []*set
	flush := func() {
		writeSets(&b, all)
		all = nil
	}
	err := eachLine(text, func(line []byte) error {
		var r struct {
			Kind, About, Graph, Set, Who, Note string
			Queries, Finished, Common          int
			CommonMS                           float64 `json:"common_ms"`
			Nobody                             []string
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if r.Kind != "" {
			flush()
			fmt.Fprintf(&b, "%s.\n\n", r.About)
			return nil
		}
		i := slices.IndexFunc(all, func(s *set) bool { return s.graph == r.Graph && s.name == r.Set })
		if i < 0 {
			i = len(all)
			all = append(all, &set{graph: r.Graph, name: r.Set, ms: map[string]float64{}, finished: map[string]int{}})
		}
		s := all[i]
		s.nobody = append(s.nobody, r.Nobody...)
		if r.Who != "" {
			s.queries, s.common, s.who = r.Queries, r.Common, append(s.who, r.Who)
			s.ms[r.Who], s.finished[r.Who] = r.CommonMS, r.Finished
			s.differ = s.differ || strings.Contains(r.Note, "DIFFER")
		}
		return nil
	})
	flush()
	return b.String(), err
}

// writeSets writes the table of some sets, whose engines are those of the first.
func writeSets(b *strings.Builder, all []*set) {
	if len(all) == 0 {
		return
	}
	who := all[0].who
	var autos []string
	fmt.Fprint(b, "| graph | set | queries | ended by all |")
	for _, w := range who {
		fmt.Fprintf(b, " %s, ms |", w)
		if chooses(w) {
			autos = append(autos, w)
		}
	}
	for _, w := range autos {
		fmt.Fprintf(b, " %s / best |", w)
	}
	fmt.Fprintf(b, " ended by none |\n|%s\n", strings.Repeat("---|", 5+len(who)+len(autos)))
	var names []string
	for _, s := range all {
		common := fmt.Sprint(s.common)
		if s.differ {
			common += ", **counts differ**"
		}
		fmt.Fprintf(b, "| %s | %s | %d | %s |", s.graph, s.name, s.queries, common)
		for _, w := range who {
			cell := milliseconds(s.ms[w])
			if n := s.finished[w]; n > s.common {
				cell += fmt.Sprintf("; ended %d", n)
			}
			fmt.Fprintf(b, " %s |", cell)
		}
		for _, w := range autos {
			fmt.Fprintf(b, " %s |", s.ratio(w))
		}
		none := fmt.Sprint(len(s.nobody))
		if s.name == "all" {
			none = ""
			for _, o := range all {
				if o.graph == s.graph {
					names = append(names, o.nobody...)
				}
			}
			if len(names) > 0 {
				names[len(names)-1] += " of " + s.graph
			}
		}
		fmt.Fprintf(b, " %s |\n", none)
	}
	b.WriteString("\n")
	if len(names) > 0 {
		fmt.Fprintf(b, "No engine ended %s.\n\n", strings.Join(names, ", "))
	}
}

// chooses reports whether a contestant is one that chooses among the others.
func chooses(who string) bool { return strings.HasPrefix(who, "auto") || who == "chosen" }

// ratio is the time of auto divided by the least of those that it chooses from: the engines of the processor, or all.
func (s *set) ratio(auto string) string {
	best := 0.0
	for _, w := range s.who {
		if chooses(w) || auto == "auto" && strings.Contains(w, "GPU") {
			continue
		}
		if best == 0 || s.ms[w] < best {
			best = s.ms[w]
		}
	}
	if best == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", s.ms[auto]/best)
}
