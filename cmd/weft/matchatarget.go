package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
)

// matchaTarget is what runs a Matcha program, and how.
type matchaTarget struct {
	target   string
	schedule string
}

// addTarget adds the flags.
func (f *matchaTarget) addTarget(cmd *cobra.Command) {
	var names []string
	for _, t := range weft.MatchaTargets() {
		names = append(names, t[0]+", "+t[1])
	}
	cmd.Flags().StringVar(&f.target, "target", "", "what runs the program: "+strings.Join(names, "; or ")+" (default interp)")
	cmd.Flags().StringVar(&f.schedule, "schedule", "", "`KNOBS` of how a target spreads its work: threads=4,steal=off,loop=static")
}

func (f *matchaTarget) targetOptions() []weft.Option {
	return []weft.Option{weft.WithTarget(f.target), weft.WithSchedule(f.schedule)}
}
