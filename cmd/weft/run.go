package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/ctxio"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitTrouble     = 2 // a failure, where exitFailure is an answer
	exitInput       = 3
	exitQuery       = 4
	exitMemory      = 5
	exitDevice      = 6
	exitTimeout     = 124
	exitInterrupted = 130
	exitPipe        = 141
)

const (
	exitCodesHelp      = exitCodesFirst + exitCodeTimeout + exitCodesLast
	exitCodesNoTimeout = exitCodesFirst + exitCodesLast // of a command without --timeout
)

// The parts of exitCodesHelp.
const (
	exitCodesFirst = `Exit codes:
  0    success (exists: found)
  1    failure (exists: not found; verify, bench: counts differ)
  2    usage: an unknown command, flag or value (exists, verify, bench: also a
       failure, such as an output that cannot be written)
  3    input: a file is missing, cut short, or cannot be read
  4    query: a pattern or a program is wrong or cannot be run
  5    memory: the run needs more than --memory or --gpu-memory allows, or than the
       machine has
  6    device: a GPU, or its compiler, was asked for and is absent or failed
`
	exitCodeTimeout = `  124  --timeout passed; the result is partial and marked (verify: nothing was
       compared within --budget)
`
	exitCodesLast = `  130  interrupted by Ctrl-C; the result is partial and marked (other signals: 128
       plus the signal's number, so 129 for SIGHUP and 143 for SIGTERM)
  141  the reader of the output closed it`
)

// Causes of a context that ended.
var (
	errTimeout     = errors.New("timeout")
	errInterrupted = errors.New("interrupted")
)

// exitError carries an exit code for an outcome that has been reported already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// withSignals returns a context that the first SIGINT, SIGTERM or SIGHUP ends; the
// second kills the process as usual. codeFor makes exitInterrupted 128 and the number
// of the signal that came.
func withSignals(parent context.Context) (ctx context.Context, codeFor func(code int) int) {
	ctx, cancel := context.WithCancelCause(parent)
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		signal.Notify(c, syscall.SIGHUP)
	}
	var came atomic.Int32
	keys := &interrupts{signals: c}
	go func() {
		s := <-c
		for s == os.Interrupt && take(&keys.handle) || s == syscall.SIGHUP && take(&keys.hangup) {
			s = <-c
		}
		if n, ok := s.(syscall.Signal); ok {
			came.Store(int32(n))
		}
		cancel(errInterrupted)
		signal.Stop(c)
	}()
	return context.WithValue(ctx, interruptsKey{}, keys), func(code int) int {
		if n := came.Load(); code == exitInterrupted && n > 0 {
			return 128 + int(n)
		}
		return code
	}
}

// interrupts passes Ctrl-C to the function of an interactive command, and SIGHUP to that
// of a server. Both go on after it. Safe for concurrent use.
type interrupts struct {
	signals        chan<- os.Signal
	handle, hangup atomic.Pointer[func()]
}

type interruptsKey struct{}

// take calls the function, and reports whether there is one.
func take(of *atomic.Pointer[func()]) bool {
	f := of.Load()
	if f == nil {
		return false
	}
	(*f)()
	return true
}

// onHangup makes SIGHUP call f, and not end the process, under nohup too. The returned
// function makes it end the process. Without withSignals it does nothing. Windows has no
// such signal.
func onHangup(ctx context.Context, f func()) (stop func()) {
	i, ok := ctx.Value(interruptsKey{}).(*interrupts)
	if !ok {
		return func() {}
	}
	i.hangup.Store(&f)
	signal.Notify(i.signals, syscall.SIGHUP)
	return func() { i.hangup.Store(nil) }
}

// onInterrupt makes Ctrl-C call f, and not end the process. The returned function sets
// what Ctrl-C did before. Without withSignals it does nothing.
func onInterrupt(ctx context.Context, f func()) (stop func()) {
	i, ok := ctx.Value(interruptsKey{}).(*interrupts)
	if !ok {
		return func() {}
	}
	before := i.handle.Swap(&f)
	return func() { i.handle.Store(before) }
}

// app is one invocation.
type app struct {
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	text   *textWriter // to stdout
	stderr *messages
	last   bool // the process ends with it
	// runtime has the devices, the caches and the threads of the process.
	runtime *weft.Runtime
	arrows  bool // plan.ArrowsGuessed was written
	// answers says that exit code 1 is an answer of the command: a failure has another.
	answers bool
	// patient, for tests, says that --timeout is of queries alone, and not of reading.
	patient bool
	args    []string
	opened  *weft.Graph // by weft shell, for all statements; else nil
	limited bool        // --limit cut the last listing
}

// closes closes a graph, unless the statements that follow need it.
func (a *app) closes(g *weft.Graph) {
	if g != a.opened {
		_ = g.Close()
	}
}

// done closes a graph that is not needed any more. Before the end of the process it does
// nothing, because the end frees the graph's memory, and its memory on GPUs, sooner than Close.
func (a *app) done(g *weft.Graph) {
	if !a.last {
		a.closes(g)
	}
}

// run runs one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{ctx: ctx, stdin: stdin, stdout: stdout, stderr: newMessages(ctx, stderr)}
	return a.run(args)
}

func (a *app) run(args []string) (code int) {
	defer func() {
		if lost := a.stderr.close(); lost != nil && code == exitOK {
			code = codeOf(lost)
		}
	}()
	defer func() {
		if x := recover(); x != nil {
			fmt.Fprintf(a.stderr, "weft: internal error: %v\n%s\nPlease report this with the command line.\n", x, debug.Stack())
			code = a.failure(exitFailure)
		}
	}()
	a.args = args
	a.runtime = weft.NewRuntime(weft.RuntimeOptions{Alone: a.last})
	if !a.last {
		defer a.runtime.Close()
	}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	a.text = &textWriter{ctx: a.ctx, w: ctxio.NewWriter(a.stdout)}
	defer a.text.w.Close()
	root.SetOut(a.text)
	root.SetErr(a.stderr)
	cmd, err := root.ExecuteContextC(a.ctx)
	if err == nil {
		err = a.text.err
	}
	if refused := a.runtime.CacheError(); refused != nil {
		fmt.Fprintf(a.stderr, "weft: %v\n", refused)
	}
	return a.exit(withMeant(cmd, err))
}

// textWriter writes a text that is ready, as help, to standard output, within a context.
// It keeps the first error, which cobra drops.
type textWriter struct {
	ctx context.Context
	w   *ctxio.Writer
	err error
}

func (t *textWriter) Write(b []byte) (int, error) {
	n, err := t.w.WriteWithin(t.ctx, b)
	if t.err == nil {
		t.err = err
	}
	return n, err
}

// exit reports err and returns its exit code.
func (a *app) exit(err error) int {
	var done exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &done):
		return int(done)
	case isClosedPipe(err):
		return exitPipe
	}
	cause := err
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		if c := context.Cause(a.ctx); c != nil {
			cause = c
		}
	}
	msg := cause.Error()
	if strings.Contains(msg, "\n") {
		fmt.Fprintf(a.stderr, "weft: %s\n", msg)
	} else {
		fmt.Fprintf(a.stderr, "weft: %s\n", strings.TrimPrefix(msg, "weft: "))
	}
	return a.failure(codeOf(cause))
}

// failure is an exit code of an error: exitTrouble where 1 would be taken for an answer.
func (a *app) failure(code int) int {
	if code == exitFailure && a.answers {
		return exitTrouble
	}
	return code
}

// codeOf is the exit code of an error.
func codeOf(err error) int {
	var usage *usageError
	switch {
	case errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &usage), errors.Is(err, weft.ErrUsage):
		return exitUsage
	case errors.Is(err, weft.ErrMemory):
		return exitMemory
	case errors.Is(err, weft.ErrDevice):
		return exitDevice
	case errors.Is(err, weft.ErrQuery):
		return exitQuery
	case errors.Is(err, weft.ErrInput):
		return exitInput
	}
	return exitFailure
}

// isClosedPipe reports whether an output ended because its reader closed it. A connection that breaks, as one to a broker, is an error like others.
func isClosedPipe(err error) bool {
	var connection *net.OpError
	if errors.As(err, &connection) {
		return false
	}
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// usageError is a mistake in the command line.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

// kindf makes an error of one of weft's kinds.
func kindf(kind error, format string, args ...any) error {
	return &coded{kind, fmt.Errorf(format, args...)}
}

// coded is an error with its kind.
type coded struct{ kind, err error }

func (e *coded) Error() string   { return e.err.Error() }
func (e *coded) Unwrap() []error { return []error{e.kind, e.err} }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// subcommand is a sub-command by its name, to be made when it is needed.
type subcommand struct {
	name string
	make func() *cobra.Command
}

// commands are the sub-commands, in the order of the help.
func (a *app) commands() []subcommand {
	return []subcommand{
		{"count", a.countCmd}, {"match", a.matchCmd}, {"exists", a.existsCmd}, {"motifs", a.motifsCmd}, {"cliques", a.cliquesCmd}, {"explain", a.explainCmd},
		{"verify", a.verifyCmd}, {"watch", a.watchCmd}, {"matcha", a.matchaCmd}, {"convert", a.convertCmd}, {"shell", a.shellCmd}, {"info", a.infoCmd},
		{"partition", a.partitionCmd}, {"gen", a.genCmd}, {"serve", a.serveCmd}, {"user", a.userCmd}, {"replay", a.replayCmd}, {"bench", a.benchCmd},
		{"doctor", a.doctorCmd}, {"version", a.versionCmd},
	}
}

// named is the sub-command that the command line begins with. To make all others and their flags takes a millisecond.
func (a *app) named() (*cobra.Command, bool) {
	if len(a.args) == 0 {
		return nil, false
	}
	for _, c := range a.commands() {
		if c.name == a.args[0] {
			return c.make(), true
		}
	}
	return nil, false
}

// root is the command tree: the sub-command that the command line begins with, or else all.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "weft",
		Short: "find every place where a small pattern occurs in a large graph",
		Long: `weft counts and lists the places where a small pattern occurs in a large graph.
Counts are exact. It runs on all cores, or on GPUs (--device gpu:0).

The graph is a file in any of the usual formats: -g FILE, or the first argument.
The pattern is the last argument: a query in the pattern language, or a name from
the catalogue. Patterns can also come from a file (-f FILE) or be named with
--pattern NAME; weft info --catalogue lists the names.

Data goes to standard output and everything else to standard error, so that the
output can be piped.

` + exitCodesHelp + `

Environment:
  GOMAXPROCS   the largest number of cores to use, if --threads is not given
  GOMEMLIMIT   a soft limit on memory (--memory is a hard limit)
  WEFT_CACHE   the folder for compiled kernels and C, and for the list of verified
               .weft files; off keeps none
  WEFT_HISTORY the file of the shell's history; off keeps none
  CC           the C compiler with its arguments, if it is not cc, gcc or clang
  TMPDIR       the folder for temporary files; it must allow loading code from it`,
		Example: `  weft count -g graph.txt.gz 'MATCH (a)--(b)--(c)--(a)'
  weft match -g follows.csv --directed 'MATCH (a)-->(b), NOT (b)-->(a) RETURN a, b LIMIT 10'
  weft motifs -g graph.txt.gz -k 4
  weft convert graph.txt.gz graph.weft`,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if d, err := cmd.Flags().GetDuration("timeout"); err == nil && d > 0 {
				a.stderr.timeout = d
			}
			return a.oneDash(cmd)
		},
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.ArbitraryArgs,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.Version = weft.Version()
	root.SetVersionTemplate(versionText())
	root.Flags().Bool("version", false, "print the version")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if name := a.notCommand(cmd); name != "" {
			return unknownCommand(cmd, name)
		}
		return usagef("%s; see %s --help%s", flagError(err), cmd.CommandPath(), flagMeant(cmd, err))
	})
	if named, ok := a.named(); ok {
		root.AddCommand(named)
		return root
	}
	for _, c := range a.commands() {
		root.AddCommand(c.make())
	}
	for _, name := range laterCommands {
		root.AddCommand(&cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error { return usagef("not yet: weft %s", name) },
		})
	}
	root.AddCommand(optionsTopic())
	if len(a.args) > 0 && strings.HasPrefix(a.args[0], cobra.ShellCompRequestCmd) {
		offerAll(root)
	}
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Short = "write the completion script of a shell"
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(_ *cobra.Command, args []string) error {
			return usagef("completion: want bash, fish, powershell or zsh; see weft completion --help%s", didYouMean(strings.Join(args, " "), []string{"bash", "fish", "powershell", "zsh"}))
		}
	}
	root.InitDefaultHelpCmd()
	if c, _, err := root.Find([]string{"help"}); err == nil {
		c.Short = "describe a command"
		c.Run = nil
		c.RunE = func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || c == root && len(rest) > 0 {
				return unknownCommand(root, strings.Join(args, " "))
			}
			if c.Hidden {
				return c.RunE(c, nil) // c reports the error
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		}
	}
	return root
}

// flagWants describes the values of each type of flag.
var flagWants = map[string]string{
	"duration": "a time with its unit, as 30s, 5m or 1h30m",
	"int":      "a whole number, as 4",
	"int64":    "a whole number, as 1000",
	"uint64":   "a whole number that is not negative, as 42",
	"float64":  "a number, as 0.5",
	"bool":     "true or false, or the flag alone",
}

// flagError rewrites the error about a flag's value so that it names the allowed values.
func flagError(err error) string {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		if want := flagWants[f.Value.Type()]; want != "" {
			return fmt.Sprintf("--%s %q: want %s", f.Name, invalid.GetValue(), want)
		}
	}
	return err.Error()
}

// laterCommands will come; till then they say so.
var laterCommands = []string{"sample"}

// takes is for a command that needs these arguments, each named as in its usage, and
// takes no others.
func takes(what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= len(what) {
			return takesFrom(what...)(cmd, args)
		}
		return usagef("unexpected argument %q; see %s --help", args[len(what)], cmd.CommandPath())
	}
}

// takesFrom is takes, but that more may follow.
func takesFrom(what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(what) {
			return usagef("missing: %s; see %s --help", strings.Join(what[len(args):], ", and "), cmd.CommandPath())
		}
		return nil
	}
}
