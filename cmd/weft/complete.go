package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/bench/queryset"
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph/partition"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/watch"
)

// completions are the values of flags that a shell is offered, with their
// meaning after a tab, where the flag's name says enough.
var completions = map[string]func() []string{
	"count":      func() []string { return []string{"subgraphs", "embeddings"} },
	"device":     devices,
	"emit":       func() []string { return []string{"asg", "ir", "c", "cuda"} },
	"engine":     engines,
	"extend":     func() []string { return []string{"single", "multi"} },
	"duplicates": func() []string { return []string{"merge", "keep"} },
	"engine-opt": engineOptions,
	"format":     format.Formats,
	"header":     func() []string { return []string{"yes", "no", "auto"} },
	"method":     func() []string { return append([]string{"auto"}, partition.Methods[:]...) },
	"order":      func() []string { return plan.OrderRules },
	"passes":     func() []string { return append([]string{"all", "none"}, described(weft.MatchaPasses())...) },
	"pattern":    patterns,
	"program":    programs,
	"progress":   func() []string { return []string{"auto", "plain", "json", "none"} },
	"semantics":  func() []string { return []string{"iso", "trail", "hom"} },
	"set":        queryset.Names,
	"target":     func() []string { return described(weft.MatchaTargets()) },
	"initial-to": format.Writable,
	"arrivals":   func() []string { return []string{"uniform", "poisson"} },
	"on-error":   func() []string { return []string{"fatal", "skip"} },
	"unit":       func() []string { return []string{"auto", "s", "ms", "us", "ns"} },
	"updates":    stream.Formats,
}

// offer registers the completions of cmd's flags. The formats of --to are given,
// as a graph's differ from a table's.
func offer(cmd *cobra.Command, to []string) {
	for name, values := range completions {
		if f := cmd.Flags().Lookup(name); f != nil && f.Value.Type() != "bool" {
			_ = cmd.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
				return values(), directive(name, begun)
			})
		}
	}
	if cmd.Flags().Lookup("to") != nil {
		_ = cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(to, cobra.ShellCompDirectiveNoFileComp))
	}
}

// directive keeps the line open where more of the value follows.
func directive(flag, begun string) cobra.ShellCompDirective {
	if flag == "engine-opt" && !strings.Contains(begun, "=") || flag == "pattern" {
		return cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return cobra.ShellCompDirectiveNoFileComp
}

func engines() []string {
	out := []string{"auto"}
	for _, e := range route.Engines() {
		out = append(out, e.Name+"\t"+e.Meaning)
	}
	return out
}

// devices are the processor and the GPUs of this machine.
func devices() []string {
	out := []string{"auto", "cpu"}
	n, err := cuda.Count()
	if err != nil {
		return out
	}
	all := "gpu:"
	for i := range n {
		out = append(out, fmt.Sprintf("gpu:%d", i))
		all += fmt.Sprintf("%d,", i)
	}
	if n > 1 {
		out = append(out, strings.TrimSuffix(all, ","))
	}
	return out
}

// engineOptions are the names with each of their values, or = where they take a
// number.
func engineOptions() []string {
	var out []string
	for _, o := range weft.EngineOptions() {
		for _, v := range o.Values {
			out = append(out, o.Name+"="+strings.TrimSuffix(v, "N")+"\t"+o.Meaning)
		}
	}
	return out
}

// patterns are the names of the catalogue, up to the bracket of a family's.
func patterns() []string {
	var out []string
	for _, e := range weft.Catalogue() {
		name, _, family := strings.Cut(e.Usage, "(")
		if family {
			name += "("
		}
		out = append(out, name+"\t"+e.Meaning)
	}
	return out
}

// programs are the programs of the Matcha library.
func programs() []string {
	var out []string
	for _, e := range library.Entries() {
		out = append(out, e.Name+"\t"+e.Doc)
	}
	return out
}

// offerPrograms offers the library's programs, or a file, as the argument.
func offerPrograms(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return programs(), cobra.ShellCompDirectiveDefault
}

// described are names with their meanings.
func described(all [][2]string) []string {
	var out []string
	for _, e := range all {
		out = append(out, e[0]+"\t"+e[1])
	}
	return out
}

// optionsTopic is `weft help engine-options`.
func optionsTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString(`Switches of planning and of the engines, for experiments: --engine-opt NAME=VALUE,
repeatable. Answers do not depend on them. An option of an engine on GPUs needs
--device gpu:0 or that engine's name.

`)
	writeOptions(&b)
	return &cobra.Command{Use: "engine-options", Short: "the switches of --engine-opt", Long: strings.TrimSuffix(b.String(), "\n")}
}

func writeOptions(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, o := range weft.EngineOptions() {
		standard := ""
		if o.Default != "" && o.Default != o.Values[0] {
			standard = "; default " + o.Default
		}
		fmt.Fprintf(t, "  %s=%s\t%s%s\n", o.Name, strings.Join(o.Values, "|"), o.Meaning, standard)
	}
	_ = t.Flush()
}

// offerAll registers the completions of all commands below root. Cobra keeps them, and with them the commands, until the process
// ends: so they are registered only when a shell asks for completions.
func offerAll(root *cobra.Command) {
	for _, c := range root.Commands() {
		to := sink.Formats
		switch c.Name() {
		case "convert", "gen":
			to = format.Writable()
		case "stream":
			to = stream.Writable()
			_ = c.RegisterFlagCompletionFunc("order", cobra.FixedCompletions([]string{"random", "time"}, cobra.ShellCompDirectiveNoFileComp)) // not the rules of planning
		case "watch":
			to = watch.Formats
		case "explain", "info":
			to = []string{"table", "json", "ndjson"}
		}
		offer(c, to)
		offerAll(c)
	}
}
