package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/sink"
)

// Program is the Matcha program of a request.
type Program struct {
	Text string
	Name string // of a program of weft's library, in place of a text
	// Inputs by name: of a Graph the name of a graph, of others a bool, int64, float64, or a list of these. A Tuple is a list in the list.
	Inputs   map[string]any
	Target   string // "" is the interpreter
	Schedule string
	Passes   string
}

// beginProgram makes a run of a request for a program, which has been read and has its inputs.
func (s *Server) beginProgram(ctx context.Context, who Identity, q Request) (_ *Run, err error) {
	text, err := s.takesProgram(who, &q.Program)
	if err != nil {
		return nil, err
	}
	select {
	case s.parsing <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	m, err := s.Catalog.rt.ParseMatcha(q.Program.Name, text)
	<-s.parsing
	if err != nil {
		return nil, err
	}
	r := s.newRun(who, q)
	r.program, r.inputs = m, map[string]any{}
	if err := r.readProgram(); err != nil {
		r.release()
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r, nil
}

// takesProgram returns the text of a program, or an error unless a user may run it on its target.
func (s *Server) takesProgram(who Identity, p *Program) (text string, err error) {
	switch {
	case len(s.Programs) == 0:
		return "", errorf(ProgramsOff, "this server takes no Matcha programs: weft serve --allow-programs makes it take them")
	case len(who.Graphs) == 0:
		return "", errorf(NotAllowed, "this user may read no graph, and runs no programs")
	case p.Name != "" && p.Text != "":
		return "", errorf(BadRequest, "give the text of a program or the name of one, and not both").at("name")
	case p.Name == "" && strings.TrimSpace(p.Text) == "":
		return "", errorf(BadRequest, "there is no program").at("program")
	case len(p.Text) > s.Limits.Text:
		return "", errorf(TooLarge, "the program has %d bytes, and at most %d are taken", len(p.Text), s.Limits.Text).at("program")
	}
	known := false
	for i, t := range weft.MatchaTargets() {
		if i == 0 && p.Target == "" {
			p.Target = t[0]
		}
		known = known || t[0] == p.Target
	}
	switch {
	case !known:
		return "", errorf(BadRequest, "target %q: want interp, c or cuda", p.Target).at("target")
	case !slices.Contains(s.Programs, p.Target):
		return "", errorf(ProgramsOff, "this server runs programs on %s alone: weft serve --allow-programs=%s allows the target %s",
			strings.Join(s.Programs, " and "), strings.Join(append(slices.Clone(s.Programs), p.Target), ","), p.Target).at("target")
	}
	if p.Name != "" {
		return ofLibrary(p.Name)
	}
	return p.Text, nil
}

// ofLibrary is the text of a program of the library.
func ofLibrary(name string) (string, error) {
	var known []string
	for _, e := range library.Entries() {
		if e.Name == name {
			return e.Text, nil
		}
		known = append(known, e.Name)
	}
	return "", errorf(BadRequest, "the library has no program %.40q: it has %s", name, strings.Join(known, ", ")).at("name")
}

// readProgram takes the inputs and makes the options.
func (r *Run) readProgram() error {
	q := &r.Request
	p := &q.Program
	if err := q.negative(); err != nil {
		return err
	}
	graphs := 0
	for _, in := range r.program.Inputs() {
		if isGraph(in.Type) {
			graphs++
		}
	}
	if q.Graph != "" && graphs != 1 {
		return errorf(BadRequest, "graph is for a program with one Graph, and this one has %d: name them in inputs", graphs).at("graph")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		if !slices.ContainsFunc(r.program.Inputs(), func(in weft.MatchaInput) bool { return in.Name == name }) {
			return errorf(BadRequest, "the program has no input %s", name).at("inputs", name)
		}
	}
	for _, in := range r.program.Inputs() {
		x, given := p.Inputs[in.Name]
		if !isGraph(in.Type) {
			if !given {
				return errorf(BadRequest, "the program's input %s (%s) is not given", in.Name, in.Type).at("inputs", in.Name)
			}
			v, err := inputOf(in.Type, x)
			if err != nil {
				return errorf(BadRequest, "input %s: %v", in.Name, err).at("inputs", in.Name)
			}
			r.inputs[in.Name] = v
			continue
		}
		name, text := x.(string)
		field := []string{"inputs", in.Name}
		switch {
		case given && !text:
			return errorf(BadRequest, "input %s: want the name of a graph", in.Name).at("inputs", in.Name)
		case given && graphs == 1 && q.Graph != "":
			return errorf(BadRequest, "the input %s is given twice: as graph and in inputs", in.Name).at("inputs", in.Name)
		case !given && graphs == 1:
			name, field = q.Graph, []string{"graph"}
			if name == "" {
				name = r.s.only(r.Who)
			}
		}
		if name == "" {
			return errorf(BadRequest, "the program's input %s (%s) is not given: want the name of a graph", in.Name, in.Type).at("inputs", in.Name)
		}
		if err := r.lend(name, field...); err != nil {
			return err
		}
		r.inputs[in.Name] = r.leases[len(r.leases)-1].Graph
	}
	if len(r.leases) > 0 {
		q.Graph = r.leases[0].Name
	}
	if p.Target == "c" {
		for knob := range strings.SplitSeq(p.Schedule, ",") {
			name, value, _ := strings.Cut(knob, "=")
			if n, err := strconv.Atoi(strings.TrimSpace(value)); strings.TrimSpace(name) == "threads" && err == nil && n > r.s.Limits.Threads {
				return errorf(BadRequest, "schedule: threads=%d, and a query has at most %d", n, r.s.Limits.Threads).at("schedule")
			}
		}
	}
	r.options = []weft.Option{
		weft.WithTarget(p.Target), weft.WithSchedule(p.Schedule), weft.WithProgramMemory(least(r.s.Limits.ProgramMemory, r.Who.Memory)),
		weft.WithCompilerMemory(least(r.s.Limits.CompilerMemory, r.Who.Memory)),
		weft.WithThreads(least(q.Threads, r.s.Limits.Threads)),
	}
	if p.Passes != "" {
		r.options = append(r.options, weft.WithPasses(p.Passes))
	}
	if q.Device != "" && q.Device != "auto" {
		r.options = append(r.options, weft.WithDevice(q.Device))
	}
	return nil
}

// only is the one graph that a user may read; "": there are none, or several.
func (s *Server) only(who Identity) string {
	all := slices.DeleteFunc(s.Catalog.Names(), func(name string) bool { return !who.May(name) })
	if len(all) != 1 {
		return ""
	}
	return all[0]
}

func isGraph(t string) bool { return strings.HasPrefix(t, "Graph") }

// inputOf is a value as a program takes it. t is a type of MatchaInput.
func inputOf(t string, x any) (any, error) {
	item, list := strings.CutPrefix(t, "List[")
	switch {
	case strings.Contains(t, "float"):
		return asInput(t, item, list, x, func(x any) (float64, bool) {
			if n, ok := x.(int64); ok {
				return float64(n), true
			}
			f, ok := x.(float64)
			return f, ok
		})
	case strings.Contains(t, "bool"):
		return asInput(t, item, list, x, func(x any) (bool, bool) { b, ok := x.(bool); return b, ok })
	}
	return asInput(t, item, list, x, func(x any) (int64, bool) { n, ok := x.(int64); return n, ok })
}

// asInput is inputOf for items of a type. item is the text of the type of a list's items.
func asInput[T any](t, item string, list bool, x any, as func(any) (T, bool)) (any, error) {
	if !list {
		v, ok := as(x)
		if !ok {
			return nil, fmt.Errorf("%s is not a value of the type %s", shown(x), t)
		}
		return v, nil
	}
	all, ok := x.([]any)
	if !ok {
		return nil, fmt.Errorf("%s is not a value of the type %s", shown(x), t)
	}
	width := 0 // of a Tuple
	if _, size, ok := strings.Cut(item, ", "); ok {
		width, _ = strconv.Atoi(strings.TrimRight(size, "]"))
	}
	out := make([]T, 0, len(all)*max(width, 1))
	for i, x := range all {
		parts := []any{x}
		if width > 0 {
			if parts, ok = x.([]any); !ok || len(parts) != width {
				return nil, fmt.Errorf("item %d is not a list of %d values", i, width)
			}
		}
		for _, x := range parts {
			v, ok := as(x)
			if !ok {
				return nil, fmt.Errorf("item %d: %s is not a value of the type %s", i, shown(x), t)
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// shown is a value in an error, shortened.
func shown(x any) string {
	text := fmt.Sprintf("%#v", x)
	if _, ok := x.([]any); ok {
		text = "a list"
	}
	if x == nil {
		text = "null"
	}
	if len(text) > 40 {
		text = strings.ToValidUTF8(text[:40], "") + "…"
	}
	return text
}

// Emits reports whether the program of a run emits rows.
func (r *Run) Emits() bool { return r.program.Emits() }

// WriteProgram runs a program, and writes the rows that it emits, or its result as one row if it emits none. The formats are those of Write. A
// result that was cut short after the program began to emit has no error: the summary says so. A program without rows that was cut short has no
// result, which is an error.
func (r *Run) WriteProgram(w io.Writer, format string) error {
	stop, err := r.begins()
	if err != nil {
		return err
	}
	defer stop()
	out := r.counts(w)
	var names []string
	if !r.program.Emits() {
		names = []string{"result"}
	}
	rows := sink.NewValues(out, format, names...)
	limit := r.MostRows()
	rows.Limit = limit
	x, err := r.program.RunRows(r.ctx, r.inputs, func(b weft.MatchaRows) (int, bool) { return rows.AddBatch(b.Worker(), b) }, r.of("Matcha.RunRows")...)
	s := Summary{Values: x.Values, Notes: x.Notes}
	if r.program.Emits() {
		s.Columns, s.Rows = x.Row, rows.Count()
	}
	if err == nil && limit > 0 && rows.Count() >= limit && !x.Complete {
		s.Cut = r.limited(rows.Count())
	}
	s, err = r.judged(s, r.ofTarget(err))
	// Nothing was written of a program that failed before its first row, or that has no rows.
	if err != nil && (rows.Count() == 0 || !r.program.Emits()) {
		r.finish(s)
		return err
	}
	if !r.program.Emits() {
		rows.Add(x.Values)
	}
	if s.Cut != NotCut {
		rows.Incomplete()
	}
	closed := rows.Close(x.Row)
	s.Rows = r.written.Load()
	if out.err != nil {
		s.Complete, s.Cut, s.Err = false, CutClient, out.err
		if cause := context.Cause(r.ctx); cause != nil {
			s.Cut = cutOf(cause)
		}
		r.finish(s)
		return out.err
	}
	if err == nil && closed != nil {
		s.Complete, s.Cut, s.Err, err = false, CutError, closed, closed
	}
	r.finish(s)
	return err
}

// ofTarget is an error of a program's run as clients get it. Errors of a compiler name files of the server.
func (r *Run) ofTarget(err error) error {
	switch {
	case err == nil, context.Cause(r.ctx) != nil:
		return err
	case errors.Is(err, weft.ErrMemory) && r.Request.Program.Target != "cuda":
		text := err.Error()
		if errors.As(err, new(*memory.Error)) {
			text, _ = Message(err)
		}
		return &Error{Code: TooLarge, Message: text, err: err}
	case errors.Is(err, weft.ErrDevice):
		r.s.Log.Error("a program failed", "run", r.ID, "target", r.Request.Program.Target, "error", err)
		return &Error{Code: TargetFailed, Message: fmt.Sprintf("the target %s cannot run the program here: the log of the server has the reason", r.Request.Program.Target), err: err}
	}
	return err
}
