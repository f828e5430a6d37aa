package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft"
)

// techniques is the table of what bench/techniques.py measured: a line for each search and switch. It leaves out lines of
// switches that the program no longer has.
func techniques(text []byte) (string, error) {
	var b strings.Builder
	err := eachLine(text, func(line []byte) error {
		var l struct {
			Kind, About                          string
			Engine, Base, Switch, Graph, Pattern string
			With                                 *float64 `json:"with_ms"`
			Without                              *float64 `json:"without_ms"`
			Equal                                bool
			Note                                 string
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		if l.Kind != "" {
			fmt.Fprintf(&b, "%s.\n\n| engine | base | switch | graph, pattern | default, ms | with the switch, ms | ratio |\n|%s\n", l.About, strings.Repeat("---|", 7))
			return nil
		}
		if !has(l.Base) || !has(l.Switch) {
			return nil
		}
		said := func(ms *float64) string {
			if ms == nil {
				return "–"
			}
			return milliseconds(*ms)
		}
		times := l.Note
		switch {
		case l.With != nil && l.Without != nil && !l.Equal:
			times = "**counts differ**"
		case l.With != nil && l.Without != nil && *l.With > 0:
			times = fmt.Sprintf("%.2f", *l.Without / *l.With)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s, %s | %s | %s | %s |\n", l.Engine, quoted(l.Base), quoted(l.Switch), l.Graph, strings.TrimPrefix(l.Pattern, "gmatch:"), said(l.With), said(l.Without), times)
		return nil
	})
	b.WriteString("\n")
	return b.String(), err
}

// has reports whether the program has the option that a switch sets; "" sets none.
func has(text string) bool {
	option, _, _ := strings.Cut(text, "=")
	return text == "" || slices.ContainsFunc(weft.EngineOptions(), func(o weft.EngineOption) bool { return o.Name == option })
}

// quoted returns a switch as markdown has it.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
