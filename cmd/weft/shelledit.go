package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/reeflective/readline"
	"golang.org/x/term"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/vfs"
)

// edit answers the statements that a person types into a terminal, until Ctrl-D, :quit, or a signal.
func (s *shell) edit(g *weft.Graph) error {
	e := readline.NewShell()
	e.Prompt.Primary(func() string { return "weft> " })
	e.AcceptMultiline = func(text []rune) bool { return whole(string(text)) }
	_ = e.Config.Set("comment-begin", commentBegin) // fails for names of variables that readline does not have
	e.SyntaxHighlighter = func(text []rune) string { return plain(string(text)) }
	if coloured() {
		e.SyntaxHighlighter = func(text []rune) string { return colour(string(text)) }
	}
	var c *completer
	s.opens = func(g *weft.Graph) { c = newCompleter(vfs.From(s.ctx), g, s.params) }
	s.opens(g)
	e.Completer = func(text []rune, cursor int) readline.Completions {
		return c.complete(string(text[:cursor]), string(text[cursor:]))
	}
	h, err := openHistory(s.ctx)
	if err != nil {
		fmt.Fprintf(s.a.stderr, "weft: %v: the history is of this shell alone\n", err)
	}
	e.History.Delete() // the one in memory
	e.History.Add("history", h)

	defer onInterrupt(s.ctx, func() {})() // between the end of a query and the prompt; in the text it is a key
	fd := int(os.Stdin.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return kindf(weft.ErrInput, "standard input: %w", err)
	}
	type read struct {
		text string
		err  error
	}
	for {
		// A signal ends the shell also while it reads, and the goroutine with the process.
		typed := make(chan read, 1)
		go func() {
			text, err := e.Readline()
			typed <- read{text, err}
		}()
		var r read
		select {
		case <-s.ctx.Done():
			_ = term.Restore(fd, before)
			fmt.Fprintln(s.a.stdout)
			return context.Cause(s.ctx)
		case r = <-typed:
		}
		switch {
		case errors.Is(r.err, readline.ErrInterrupt): // drops the text
			continue
		case errors.Is(r.err, io.EOF):
			fmt.Fprintln(s.a.stdout)
			return nil
		case r.err != nil:
			return kindf(weft.ErrInput, "standard input: %w", r.err)
		}
		if h.failed != nil {
			fmt.Fprintf(s.a.stderr, "weft: %v: the history is of this shell alone\n", h.failed)
			h.failed, h.path = nil, ""
		}
		for _, x := range statementsOf(r.text) {
			s.answer(x)
			if s.ctx.Err() != nil {
				return exitError(exitInterrupted)
			}
			if s.quit {
				return nil
			}
		}
	}
}

// whole reports whether Enter ends what was typed: a command, statements that end with semicolons, or a text whose last line is empty.
func whole(text string) bool {
	t := strings.TrimSpace(text)
	if t == "" || strings.HasPrefix(t, ":") && !strings.Contains(t, "\n") {
		return true
	}
	_, rest := split(text)
	return strings.TrimSpace(rest) == "" || strings.HasSuffix(text, "\n")
}

// statementsOf are the statements of a text that is whole.
func statementsOf(text string) (out []string) {
	if t := strings.TrimSpace(text); strings.HasPrefix(t, ":") {
		return []string{strings.TrimSpace(strings.TrimSuffix(t, ";"))}
	}
	out, rest := split(text)
	if strings.TrimSpace(rest) != "" {
		out = append(out, rest)
	}
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}
