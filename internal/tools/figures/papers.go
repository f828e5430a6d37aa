package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	experiments "github.com/weftgraph/weft/internal/bench/papers"
)

// papersLine is a line of bench/papers.py: a version of one query of an experiment, as `weft bench ablation` writes it, or with a
// kind what was measured where.
type papersLine struct {
	Kind, About                               string
	System, Experiment, Graph, Query, Version string
	MS                                        *float64 `json:"median_ms"`
	Gain                                      *float64
	Paper                                     *string
	Idle, Occupancy                           *float64
	StealsBlock                               *int64 `json:"steals_block"`
	StealsGrid                                *int64 `json:"steals_grid"`
	DeviceBytes                               *int64 `json:"device_bytes"`
	Count                                     json.RawMessage
	Note                                      string
}

// papers is the tables of what bench/papers.py measured: for each experiment a row for each graph and version, over its queries.
func papers(text []byte) (string, error) {
	var about string
	var all []papersLine
	err := eachLine(text, func(line []byte) error {
		var l papersLine
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		if l.Kind != "" {
			about = l.About
		} else {
			all = append(all, l)
		}
		return nil
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n", about)
	for _, e := range distinct(all, func(l papersLine) [2]string { return [2]string{l.System, l.Experiment} }) {
		found, err := experiments.Of(e[0], e[1:])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s, %s: %s.\n\n| graph | version | queries | ms | gain | least, most | paper | idle | steals: block, grid | occupancy | device, MiB |\n|%s\n",
			e[0], e[1], found[0].What, strings.Repeat("---|", 11))
		of := slices.DeleteFunc(slices.Clone(all), func(l papersLine) bool { return l.System != e[0] || l.Experiment != e[1] })
		for _, g := range distinct(of, func(l papersLine) string { return l.Graph }) {
			b.WriteString(experimentRows(slices.DeleteFunc(slices.Clone(of), func(l papersLine) bool { return l.Graph != g })))
		}
		b.WriteString("\n")
	}
	return b.String(), err
}

// distinct are the different values of what get says, in the order of the lines.
func distinct[T comparable](all []papersLine, get func(papersLine) T) (out []T) {
	for _, l := range all {
		if x := get(l); !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// experimentRows are the rows of one experiment on one graph. Only queries count that all versions ended.
func experimentRows(lines []papersLine) string {
	versions := distinct(lines, func(l papersLine) string { return l.Version })
	queries := distinct(lines, func(l papersLine) string { return l.Query })
	of := map[[2]string]papersLine{}
	for _, l := range lines {
		of[[2]string{l.Version, l.Query}] = l
	}
	asked := len(queries)
	queries = slices.DeleteFunc(queries, func(q string) bool {
		return slices.ContainsFunc(versions, func(v string) bool { return of[[2]string{v, q}].MS == nil })
	})
	var b strings.Builder
	for _, v := range versions {
		var s experimentSums
		ended := 0
		for _, q := range queries {
			s.add(of[[2]string{v, q}])
		}
		differ := ""
		for _, l := range lines {
			if l.Version == v && l.MS != nil {
				ended++
			}
			if l.Version == v && l.Note == "COUNT DIFFERS" {
				differ = ", **counts differ**"
			}
		}
		number := fmt.Sprint(len(queries), differ)
		if ended < asked {
			number += fmt.Sprintf("; %d of %d ended", ended, asked)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", lines[0].Graph, v, number, s.cells())
	}
	return b.String()
}

// experimentSums are what the queries of a version say together: sums of times and steals, means of shares, the most memory.
type experimentSums struct {
	ms             float64
	gains          []float64
	paper          []string
	idle, occupied []float64
	block, grid    *int64
	bytes          *int64
}

func (s *experimentSums) add(l papersLine) {
	s.ms += *l.MS
	if l.Gain != nil {
		s.gains = append(s.gains, *l.Gain)
	}
	if l.Paper != nil && !slices.Contains(s.paper, *l.Paper) {
		s.paper = append(s.paper, *l.Paper)
	}
	if l.Idle != nil {
		s.idle = append(s.idle, *l.Idle)
	}
	if l.Occupancy != nil {
		s.occupied = append(s.occupied, *l.Occupancy)
	}
	sum := func(to **int64, x *int64) {
		if x == nil {
			return
		}
		if *to == nil {
			*to = new(int64)
		}
		**to += *x
	}
	sum(&s.block, l.StealsBlock)
	sum(&s.grid, l.StealsGrid)
	if l.DeviceBytes != nil && (s.bytes == nil || *l.DeviceBytes > *s.bytes) {
		s.bytes = l.DeviceBytes
	}
}

// cells are the columns from the times on.
func (s *experimentSums) cells() string {
	ms, gain, span := "–", "–", "–"
	if s.ms > 0 {
		ms = milliseconds(s.ms)
	}
	if len(s.gains) > 0 {
		logs := 0.0
		for _, g := range s.gains {
			logs += math.Log(g)
		}
		gain = fmt.Sprintf("%.2f", math.Exp(logs/float64(len(s.gains))))
		span = fmt.Sprintf("%.2f, %.2f", slices.Min(s.gains), slices.Max(s.gains))
	}
	mean := func(all []float64) string {
		if len(all) == 0 {
			return "–"
		}
		sum := 0.0
		for _, x := range all {
			sum += x
		}
		return fmt.Sprintf("%.1f %%", 100*sum/float64(len(all)))
	}
	steals := "–"
	if s.block != nil && s.grid != nil {
		steals = fmt.Sprintf("%d, %d", *s.block, *s.grid)
	} else if s.grid != nil {
		steals = fmt.Sprint(*s.grid)
	}
	memory := "–"
	if s.bytes != nil {
		memory = fmt.Sprintf("%.1f", float64(*s.bytes)/(1<<20))
	}
	return strings.Join([]string{ms, gain, span, paperSays(s.paper), mean(s.idle), steals, mean(s.occupied), memory}, " | ")
}

// paperSays is the paper's figure: one for all queries, or the span of those that it has by query.
func paperSays(all []string) string {
	switch len(all) {
	case 0:
		return "–"
	case 1:
		return all[0]
	}
	slices.Sort(all)
	return all[0] + "–" + all[len(all)-1]
}
