package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/sink"
)

// didYouMean is the end of a message about an unknown word, with the known one that is like it,
// or "" if there is none. Two words are alike if a third of the letters differ, or if one
// begins or abbreviates the other.
func didYouMean(word string, known []string) string {
	letters := strings.TrimLeft(word, "-")
	meant := ""
	if len(letters) > 2 {
		meant = pattern.Nearest(word, known, max(len(letters)/3, 1))
	}
	for _, like := range []func(word, known string) bool{begins, abbreviates} {
		if meant != "" {
			break
		}
		for _, k := range known {
			if like(word, k) && (meant == "" || len(k) < len(meant)) {
				meant = k
			}
		}
	}
	if meant == "" {
		return ""
	}
	return "; did you mean " + meant + "?"
}

// begins reports whether the known word goes on after word.
func begins(word, known string) bool { return word != "" && strings.HasPrefix(known, word) }

// abbreviates reports whether word has letters of the known one, the first among them,
// in their order.
func abbreviates(word, known string) bool {
	if len(word) < 2 || known == "" || word[0] != known[0] || strings.HasPrefix(word, "-") {
		return false
	}
	for i := range len(known) {
		if word != "" && word[0] == known[i] {
			word = word[1:]
		}
	}
	return word == ""
}

// unknownCommand returns the error of a name that is not a command below cmd.
func unknownCommand(cmd *cobra.Command, name string) error {
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			known = append(known, c.Name())
		}
	}
	return usagef("unknown command %q; see %s --help%s", name, cmd.CommandPath(), didYouMean(name, known))
}

// hasArguments annotates a command with commands below it that takes arguments too.
const hasArguments = "weft_arguments"

// notCommand is the word that stands in the place of a command below cmd and is none; ""
// where cmd has no commands, or takes arguments, or no word is there.
func (a *app) notCommand(cmd *cobra.Command) string {
	at := strings.Count(cmd.CommandPath(), " ")
	if _, ok := cmd.Annotations[hasArguments]; ok {
		return ""
	}
	if !cmd.HasAvailableSubCommands() || at >= len(a.args) || strings.HasPrefix(a.args[at], "-") {
		return ""
	}
	return a.args[at]
}

// flagMeant is didYouMean for a flag that there is not.
func flagMeant(cmd *cobra.Command, err error) string {
	var none *pflag.NotExistError
	if !errors.As(err, &none) {
		return ""
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	name := none.GetSpecifiedName()
	if group := none.GetSpecifiedShortnames(); len(group) > len(name) {
		name = group // -graph is --graph with one dash
	}
	return didYouMean("--"+name, known)
}

// withMeant adds to a mistake in a flag's value which of the known values was meant.
func withMeant(cmd *cobra.Command, err error) error {
	var usage *usageError
	if err == nil || !errors.As(err, &usage) && !errors.Is(err, weft.ErrUsage) || strings.Contains(err.Error(), "did you mean") {
		return err
	}
	meant := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		known := valuesOf(cmd, f.Name)
		if meant == "" && strings.Contains(err.Error(), strconv.Quote(value)) && !slices.Contains(known, value) {
			meant = didYouMean(value, known)
		}
	})
	if meant == "" {
		return err
	}
	return kindf(weft.ErrUsage, "%w%s", err, meant)
}

// valuesOf are the values that a shell is offered for a flag.
func valuesOf(cmd *cobra.Command, flag string) []string {
	if flag == "to" {
		if cmd.Name() == "convert" || cmd.Name() == "gen" {
			return format.Formats()
		}
		return sink.Formats
	}
	var out []string
	if flag == "device" {
		out = append(out, "gpu:0")
	}
	if values := completions[flag]; values != nil {
		for _, v := range values() {
			v, _, _ = strings.Cut(v, "\t")
			out = append(out, v)
		}
	}
	return out
}

// oneDash refuses the long name of a flag behind one dash, which would be read as short
// flags with a value.
func (a *app) oneDash(cmd *cobra.Command) error {
	for _, arg := range a.args {
		name := strings.TrimPrefix(arg, "-")
		if name, _, _ = strings.Cut(name, "="); len(name) > 1 && strings.HasPrefix(arg, "-") && cmd.Flags().Lookup(name) != nil {
			return usagef("unknown flag: -%s; did you mean --%s?", name, name)
		}
	}
	return nil
}
