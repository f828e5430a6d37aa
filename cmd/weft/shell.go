package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
)

// firstRows is how many matches a listing on a terminal has where no limit is set.
const firstRows = 25

const shellCommands = `A query ends with ; or with an empty line. Commands are a line each:
  :count QUERY       count, whatever the query returns
  :exists QUERY      say whether the pattern occurs
  :explain QUERY     show the plan
  :profile QUERY     show the plan, and match
  :verify QUERY      count in other ways, and compare
  :motifs K          count all connected patterns of K vertices
  :info              describe the graph, as weft info does
  :labels            list labels with their counts, and properties with their types
  :patterns          list the named patterns
  :graph             say which graph is open
  :graph FILE        open another graph instead
  :read FILE         answer the queries and commands of a file
  :to FORMAT FILE    write the next whole result to a file
  :set NAME VALUE    set a flag of weft shell for the queries that follow, as
                     :set limit 100
  :set               list these flags
  :param NAME VALUE  give $NAME a value
  :params            list the values
  :help              this list
  :quit              end the shell`

var shellNames = []string{
	":count", ":exists", ":explain", ":profile", ":verify", ":motifs", ":info", ":labels", ":patterns", ":graph", ":read", ":to", ":set", ":param", ":params", ":help", ":quit",
}

// shellQueries are the commands that a query follows.
var shellQueries = []string{":count", ":exists", ":explain", ":profile", ":verify"}

// verifyBudget is the time limit of each recount of :verify, which is that of weft verify.
const verifyBudget = 10 * time.Second

// shellSettings are the flags that :set changes.
var shellSettings = []string{"count", "device", "engine", "gpu-memory", "induced", "limit", "memory", "order", "seed", "semantics", "stats", "threads", "timeout"}

// shell is one run of weft shell.
type shell struct {
	a      *app
	cmd    *cobra.Command
	f      *searchFlags
	ctx    context.Context // of the shell; that of a statement ends sooner
	prompt bool            // a person types
	params map[string]string
	to     string // of the next query
	out    string
	opens  func(*weft.Graph) // is told of another graph; may be nil

	keepGoing, quit bool
	nested          int // files that are being read
}

func (a *app) shellCmd() *cobra.Command {
	var f searchFlags
	var keepGoing bool
	cmd := &cobra.Command{
		Use:   "shell [-g] FILE [flags]",
		Short: "answer one query after another",
		Long: `Read the graph once, and answer the queries of standard input one after another.
A query that returns items, or has no RETURN, lists matches. On a terminal it lists
the first 25, unless --limit says otherwise.

` + shellCommands + `

On a terminal the text is coloured while it is typed, unless NO_COLOR is set. Tab
completes commands, words, labels, properties and the query's own names. The arrow up
brings back what was asked before, in earlier shells too. WEFT_HISTORY names the file
of the history, and WEFT_HISTORY=off keeps none. Ctrl-C stops the query, or drops the
text that was typed. The shell goes on. Ctrl-D ends it.

If standard input is not a terminal, the shell shows no prompt, and the first error ends
it with that error's exit code.

` + exitCodesHelp,
		Example: `  weft shell -g graph.weft
  weft shell -g graph.weft --to csv < queries.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.onlyGraph(a.ctx, args); err != nil {
				return err
			}
			s := &shell{a: a, cmd: cmd, f: &f, ctx: a.ctx, params: map[string]string{}, keepGoing: keepGoing}
			return s.run()
		},
	}
	f.graphFlags.add(cmd)
	f.commonFlags.add(cmd)
	f.addWhat(cmd)
	_ = cmd.Flags().MarkHidden("output") // :to names files
	cmd.Flags().BoolVar(&keepGoing, "keep-going", false, "go on after an error where standard input is not a terminal; the exit code is that of the first error")
	return cmd
}

func (s *shell) run() error {
	a, f := s.a, s.f
	switch {
	case f.out != "":
		return usagef("-o %s: a shell has many results; :to FORMAT FILE writes one of them", f.out)
	case slices.Contains(f.inputs(), "-"):
		return usagef("standard input has the queries: give the graph as a file")
	}
	for _, p := range f.commonFlags.params {
		name, value, _ := strings.Cut(p, "=")
		s.params[name] = value
	}
	f.params = nil
	if err := f.check(a.ctx, a.runtime); err != nil {
		return err
	}
	bar := a.progress(f.progress)
	g, err := a.load(&f.graphFlags, &f.commonFlags, bar)
	if err != nil {
		return err
	}
	a.opened = g
	defer func() {
		g := a.opened
		a.opened = nil
		a.done(g)
	}()
	if in, ok := a.stdin.(*os.File); ok && in == os.Stdin && isTerminal(in) && isTerminal(a.stdout) {
		s.prompt = true
		if os.Getenv("TERM") == "dumb" { // it does not know the line editor's control sequences
			return s.read()
		}
		return s.edit(g)
	}
	return s.read()
}

// read answers the statements of standard input until it ends, :quit, or a signal. It prompts a person, whose mistakes do not end it.
func (s *shell) read() error {
	type read struct {
		line string
		err  error
	}
	// A signal ends the shell also while it reads: a statement is read when the one before was answered.
	ask, lines := make(chan struct{}), make(chan read, 1)
	defer close(ask)
	go func() {
		r := bufio.NewReader(s.a.stdin)
		for range ask {
			line, err := r.ReadString('\n')
			lines <- read{line, err}
		}
	}()
	first := exitOK
	var whole statements
	dropped := make(chan struct{}, 1) // by Ctrl-C
	if s.prompt {
		defer onInterrupt(s.ctx, func() {
			select {
			case dropped <- struct{}{}:
			default:
			}
		})()
	}
	for ended := false; !ended; {
		s.ask(whole.text)
		ask <- struct{}{}
		var r read
		for waits := true; waits; {
			select {
			case <-s.ctx.Done():
				return context.Cause(s.ctx)
			case <-dropped:
				whole.text = ""
				fmt.Fprintln(s.a.stdout)
				s.ask("")
			case r = <-lines:
				waits = false
			}
		}
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			return kindf(weft.ErrInput, "standard input: %w", r.err)
		}
		ended = r.err != nil
		for _, x := range whole.line(r.line, ended) {
			code := s.answer(x)
			if s.ctx.Err() != nil {
				return exitError(exitInterrupted)
			}
			if first == exitOK {
				first = code
			}
			if first != exitOK && !s.keepGoing && !s.prompt {
				return exitError(first)
			}
			if s.quit {
				ended = true
				break
			}
		}
	}
	if s.prompt {
		if !s.quit {
			fmt.Fprintln(s.a.stdout)
		}
		return nil
	}
	if first != exitOK {
		return exitError(first)
	}
	return nil
}

// ask prompts a person for a line, which goes on with a text if there is one.
func (s *shell) ask(text string) {
	switch {
	case !s.prompt:
	case strings.TrimSpace(text) == "":
		fmt.Fprint(s.a.stdout, "weft> ")
	default:
		fmt.Fprint(s.a.stdout, "    > ")
	}
}

// answer runs one statement, reports its error, and returns its exit code.
func (s *shell) answer(text string) int {
	a := s.a
	name, rest, _ := strings.Cut(text, " ")
	switch name {
	case ":quit":
		s.quit = true
		return exitOK
	case ":read": // each statement has a context of its own
		return s.readFile(strings.TrimSpace(rest))
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	if s.prompt {
		defer onInterrupt(s.ctx, func() { cancel(errInterrupted) })()
	}
	a.ctx, a.answers, a.limited = ctx, false, false
	a.stderr.renew(ctx)
	defer func() {
		a.ctx = s.ctx
		a.stderr.renew(s.ctx)
	}()
	return a.exit(s.do(text))
}

// do runs a statement.
func (s *shell) do(text string) error {
	if !strings.HasPrefix(text, ":") {
		return s.query(text, s.a.match, true)
	}
	name, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	word, value, _ := strings.Cut(rest, " ")
	value = strings.TrimSpace(value)
	switch name {
	case ":help":
		_, err := fmt.Fprintln(s.a.text, shellCommands)
		return err
	case ":info", ":labels", ":motifs", ":patterns":
		return s.about(name, rest)
	case ":graph":
		return s.graph(rest)
	case ":count":
		return s.query(rest, s.a.count, false)
	case ":exists":
		err := s.query(rest, s.a.exists, false)
		if err == exitError(exitFailure) {
			return nil // an answer
		}
		return err
	case ":explain", ":profile":
		return s.query(rest, func(f *searchFlags, args []string) error {
			return s.a.explain(f, args, name == ":profile")
		}, false)
	case ":verify":
		return s.query(rest, func(f *searchFlags, args []string) error { return s.a.verify(f, args, verifyBudget) }, false)
	case ":to":
		if value == "" {
			return usagef(":to: want a format and a file, as :to csv rows.csv")
		}
		f := *s.f
		f.to, f.out = word, value
		if err := f.checkWithoutDevices(s.a.ctx); err != nil {
			return err
		}
		s.to, s.out = word, value
		return nil
	case ":set":
		if rest == "" {
			return s.list(slices.Clone(shellSettings), func(n string) string { return s.cmd.Flags().Lookup(n).Value.String() })
		}
		return s.set(word, value)
	case ":param":
		if value == "" {
			return usagef(":param: want a name and a value, as :param day 7")
		}
		s.params[strings.TrimPrefix(word, "$")] = value
		return nil
	case ":params":
		return s.list(slices.Collect(maps.Keys(s.params)), func(n string) string { return s.params[n] })
	}
	return usagef("unknown command %s; see :help%s", name, didYouMean(name, shellNames))
}

// list writes a line for each name with its value.
func (s *shell) list(names []string, value func(string) string) error {
	sortNatural(names)
	for _, n := range names {
		if _, err := fmt.Fprintln(s.a.text, strings.TrimSpace(n+" "+value(n))); err != nil {
			return err
		}
	}
	return nil
}

// flags are those of the next result, which :to may have named a file for.
func (s *shell) flags() searchFlags {
	f := *s.f
	if s.out != "" {
		f.to, f.out, s.to, s.out = s.to, s.out, "", ""
	}
	return f
}

// set sets a flag. After an error the flag has its value from before.
func (s *shell) set(name, value string) error {
	if !slices.Contains(shellSettings, name) {
		return usagef(":set %s: want one of %s%s", name, strings.Join(shellSettings, ", "), didYouMean(name, shellSettings))
	}
	flag := s.cmd.Flags().Lookup(name)
	before := flag.Value.String()
	if err := s.cmd.Flags().Set(name, value); err != nil {
		return usagef("%s", flagError(err))
	}
	if err := s.f.check(s.a.ctx, s.a.runtime); err != nil {
		_ = s.cmd.Flags().Set(name, before)
		return err
	}
	return nil
}

// query runs a command with the shell's flags, and the parameters that the query has.
func (s *shell) query(text string, run func(*searchFlags, []string) error, lists bool) error {
	if text == "" {
		return usagef("no query; see :help")
	}
	f := s.flags()
	first := false
	if queries, err := f.queries(s.a.ctx, []string{text}); err == nil {
		for name, value := range s.params {
			if slices.ContainsFunc(queries, func(q *weft.Query) bool { return slices.Contains(q.Params(), name) }) {
				f.params = append(f.params, name+"="+value)
			}
		}
		explain, profile := queries[0].AsksExplain()
		first = lists && s.prompt && f.out == "" && !explain && !profile && !s.cmd.Flags().Changed("limit") && listingOf(queries[0]) == matches
	}
	if first {
		f.limit = firstRows
	}
	err := run(&f, []string{text})
	if err == nil && first && s.a.limited {
		fmt.Fprintf(s.a.stderr, "weft: the first %d matches; :set limit 0 lists all\n", firstRows)
	}
	return err
}

// split cuts the statements that end with a semicolon from text. A semicolon in quotes
// or in a comment ends none. A text of blanks and comments is not a statement.
func split(text string) (statements []string, rest string) {
	start, end, says := 0, "", false
	for i := 0; i < len(text); i++ {
		at := text[i:]
		switch {
		case end != "":
			if at[0] == '\\' && end != "\n" && end != "*/" && end != "`" {
				i++
			} else if strings.HasPrefix(at, end) {
				i += len(end) - 1
				end = ""
			}
		case at[0] == '\'' || at[0] == '"' || at[0] == '`':
			end, says = at[:1], true
		case strings.HasPrefix(at, "//"):
			end = "\n"
		case strings.HasPrefix(at, "/*"):
			end = "*/"
			i++
		case at[0] == ';':
			if says {
				statements = append(statements, text[start:i])
			}
			start, says = i+1, false
		case at[0] > ' ':
			says = true
		}
	}
	if !says && end != "*/" {
		return statements, ""
	}
	return statements, text[start:]
}
