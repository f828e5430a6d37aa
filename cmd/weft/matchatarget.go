package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
)

// matchaTarget says on which target a Matcha program runs, and how.
type matchaTarget struct {
	target   string
	schedule string
	debug    bool
	measure  string
}

// addTarget adds the flags that choose a target.
func (f *matchaTarget) addTarget(cmd *cobra.Command) {
	var names []string
	for _, t := range weft.MatchaTargets() {
		names = append(names, t[0]+", "+t[1])
	}
	cmd.Flags().StringVar(&f.target, "target", "", "target of the program: "+strings.Join(names, "; or ")+" (default interp)")
	f.addSchedule(cmd)
}

// addMeasure adds the flag of commands that run programs.
func (f *matchaTarget) addMeasure(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.measure, "stats", "", "write the work done and its times to standard error; lanes: also the share of a GPU's lanes with work, which is slower")
	cmd.Flags().Lookup("stats").NoOptDefVal = "time"
}

// addDebug adds the flag of commands that generate code.
func (f *matchaTarget) addDebug(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.debug, "debug", false, "generate code that asserts every access to memory, and that all sums fit 64 bits")
}

func (f *matchaTarget) addSchedule(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.schedule, "schedule", "", "`KNOBS` that say how a target spreads its work: threads=4,loop=static; for cuda also group=8,steal=off,block=256,shared=LIST")
}

func (f *matchaTarget) targetOptions() ([]weft.Option, error) {
	out := []weft.Option{weft.WithTarget(f.target), weft.WithSchedule(f.schedule)}
	if f.debug {
		out = append(out, weft.WithDebug())
	}
	switch f.measure {
	case "":
	case "time", "lanes":
		out = append(out, weft.WithStats(f.measure == "lanes"))
	default:
		return nil, usagef("--stats=%s: want time or lanes", f.measure)
	}
	return out, nil
}
