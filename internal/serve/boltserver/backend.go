package boltserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/bolt"
	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// New returns a backend of Bolt that asks s.
func New(s *serve.Server) bolt.Backend {
	return backend{s, make(chan struct{}, runtime.GOMAXPROCS(0))}
}

type backend struct {
	s       *serve.Server
	parsing chan struct{} // has an element for each text that is being parsed
}

// Login returns the user of a password or a token. Without users everybody is welcome.
func (b backend) Login(ctx context.Context, c bolt.Credentials) (bolt.User, error) {
	users := b.s.Users()
	if users == nil {
		return user{b, serve.Anyone()}, nil
	}
	address := ""
	if c.Remote != nil {
		if address, _, _ = net.SplitHostPort(c.Remote.String()); address == "" {
			address = c.Remote.String()
		}
	}
	var who serve.Identity
	var err error
	switch c.Scheme {
	case "basic":
		who, err = users.Password(ctx, address, c.User, c.Secret)
	case "bearer":
		who, err = users.Token(ctx, address, c.Secret)
	case "none":
		return nil, &bolt.Error{Code: bolt.CodeUnauthorized, Message: "the server has users: log in with a user and a password, or with a token"}
	default:
		return nil, &bolt.Error{Code: bolt.CodeUnauthorized, Message: fmt.Sprintf("the server does not take credentials of the scheme %.40q: use basic or bearer", c.Scheme)}
	}
	if err != nil {
		return nil, translated(err, "", b.s.Log)
	}
	return user{b, who}, nil
}

// user is a client of the server.
type user struct {
	backend
	who serve.Identity
}

func (u user) Name() string { return u.who.Name }

// StatementTime is the least of the time that a query may take, the time of planning, and the user's own.
func (u user) StatementTime() time.Duration { return u.s.StatementTime(u.who) }

// Current is the user with the rights that the file of users gives it now.
func (u user) Current() (bolt.User, error) {
	who, err := u.s.Current(u.who)
	if err != nil {
		return nil, translated(err, "", u.s.Log)
	}
	return user{u.backend, who}, nil
}

// Statement lists a statement without a pattern.
func (u user) Statement(ctx context.Context, graph, text string) (within context.Context, end func(rows int64, err error), err error) {
	r, err := u.s.Statement(ctx, u.who, serve.Request{Graph: graph, Query: text, Protocol: "bolt"})
	if err != nil {
		return nil, nil, translated(err, text, u.s.Log)
	}
	return r.Context(), func(rows int64, err error) {
		r.Answered(rows, ofStatement(err))
		r.Close()
	}, nil
}

// ofStatement is an error of Bolt as lists of other protocols show it.
func ofStatement(err error) error {
	var known *bolt.Error
	if !errors.As(err, &known) {
		return err
	}
	code := serve.BadRequest
	switch known.Code {
	case bolt.CodeTimedOut, bolt.CodeTimedOutServer:
		code = serve.TimeLimit
	case bolt.CodeMemory:
		code = serve.OutOfMemory
	case bolt.CodeTerminated:
		code = serve.Cancelled
	}
	return &serve.Error{Code: code, Message: known.Message}
}

func (u user) Graphs() []string {
	return slices.DeleteFunc(u.s.Catalog.Names(), func(name string) bool { return !u.who.May(name) })
}

func (u user) Schema(_ context.Context, graph string) (*bolt.Schema, error) {
	if !u.who.May(graph) {
		return nil, noGraph(graph)
	}
	lease, err := u.s.Catalog.Acquire(graph)
	if err != nil {
		return nil, translated(err, "", u.s.Log)
	}
	defer lease.Release()
	g := lease.Graph
	names := g.Schema()
	out := &bolt.Schema{Directed: g.Directed(), Vertices: int64(g.NumVertices()), Edges: int64(g.NumEdges()), Labels: names.VertexLabels, Types: names.EdgeLabels}
	for _, p := range names.VertexProps {
		out.VertexKeys = append(out.VertexKeys, bolt.Key(p))
	}
	if names.Times {
		out.EdgeKeys = append(out.EdgeKeys, bolt.Key{Name: "time", Type: "int64"})
	}
	for _, p := range names.EdgeProps {
		out.EdgeKeys = append(out.EdgeKeys, bolt.Key(p))
	}
	return out, nil
}

func noGraph(name string) error {
	return &bolt.Error{Code: bolt.CodeNoDatabase, Message: fmt.Sprintf("there is no database %q, or the user may not read it", name)}
}

// Run begins a query.
func (u user) Run(ctx context.Context, q bolt.Query) (bolt.Result, error) {
	if most := u.s.Limits.Text; len(q.Text) > most {
		return nil, &bolt.Error{Code: bolt.CodeArgument, Message: fmt.Sprintf("the query has %d bytes, and at most %d are taken", len(q.Text), most)}
	}
	select { // Begin parses, too
	case u.parsing <- struct{}{}:
		defer func() { <-u.parsing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	parsed, err := weft.Parse(q.Text)
	if err != nil {
		return nil, translated(err, q.Text, u.s.Log)
	}
	if parsed.Standing() {
		return nil, &bolt.Error{Code: bolt.CodeAccessMode, Message: "the server answers queries and makes no watches: weft watch runs CREATE WATCH"}
	}
	params, err := parameters(parsed, q.Params)
	if err != nil {
		return nil, err
	}
	r := &result{ctx: ctx, query: parsed, text: q.Text, columns: parsed.Columns(), log: u.s.Log}
	request := serve.Request{Graph: q.Graph, Query: q.Text, Params: params, Protocol: "bolt", Choices: serve.Choices{Time: q.Time}}
	explain, profile := parsed.AsksExplain()
	if explain || profile {
		list := true // what Bolt answers without a RETURN
		request.Kind, request.Profile, request.Listing = serve.Explain, profile, &list
		r.start = r.explain
	} else {
		request.Kind, r.start = r.kind()
	}
	if r.run, err = u.s.Begin(ctx, u.who, request); err != nil {
		return nil, translated(err, q.Text, u.s.Log)
	}
	return r, nil
}

// parameters are those that the query has, with moments and durations as Go has them. Others are dropped, as every server of Bolt does.
func parameters(q *weft.Query, given map[string]any) (map[string]any, error) {
	out := map[string]any{}
	var missing []string
	for _, name := range q.Params() {
		x, ok := given[name]
		if !ok {
			missing = append(missing, name)
			continue
		}
		if _, is := x.(map[string]any); is {
			return nil, &bolt.Error{Code: bolt.CodeType, Message: fmt.Sprintf("the parameter $%s is a map: a parameter is a number, a text, a truth value, a time, a duration, NULL, or a list of these", name)}
		}
		out[name] = x
	}
	if missing != nil {
		slices.Sort(missing)
		return nil, &bolt.Error{Code: bolt.CodeParameterMissing, Message: "expected parameter(s): " + strings.Join(slices.Compact(missing), ", ")}
	}
	return out, nil
}

// translated is an error with its status code. text is that of the query. Clients get the text of serve.Message; the log has what it leaves out.
func translated(err error, text string, log *slog.Logger) error {
	var known *bolt.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	message, whole := serve.Message(err)
	out := &bolt.Error{Code: bolt.CodeExecution, Message: message}
	if !whole {
		log.Error("a query failed", "error", err)
		return out
	}
	var of *serve.Error
	var wrong *weft.QueryError
	switch {
	case errors.As(err, &of):
		out.Code = codeOf(of.Code)
	case errors.As(err, &wrong):
		return mistake(wrong, text)
	case errors.Is(err, weft.ErrQuery):
		out.Code = bolt.CodeSemantic
	case errors.Is(err, weft.ErrUsage):
		out.Code = bolt.CodeArgument
	case errors.Is(err, weft.ErrMemory):
		out.Code = bolt.CodeMemory
	case errors.Is(err, context.DeadlineExceeded):
		out.Code = bolt.CodeTimedOutServer
	case errors.Is(err, context.Canceled):
		return err // the connection knows why
	}
	return out
}

func codeOf(c serve.Code) string {
	switch c {
	case serve.BadRequest:
		return bolt.CodeArgument
	case serve.NotAllowed:
		return bolt.CodeForbidden
	case serve.UnknownGraph:
		return bolt.CodeNoDatabase
	case serve.Credentials:
		return bolt.CodeUnauthorized
	case serve.RateLimited:
		return bolt.CodeRateLimit
	case serve.TooLarge:
		return bolt.CodeArgument
	case serve.TooSlow, serve.TimeLimit:
		return bolt.CodeTimedOutServer
	case serve.QueueFull:
		return bolt.CodeBusy
	case serve.OutOfMemory:
		return bolt.CodeMemory
	case serve.Draining:
		return bolt.CodeUnavailable
	case serve.Cancelled:
		return bolt.CodeTerminated
	}
	return bolt.CodeExecution
}

// writes are the words that begin what changes a graph.
var writes = [...]string{"CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "DROP", "FOREACH", "LOAD", "ALTER", "GRANT", "DENY", "REVOKE", "INSERT"}

// mistake is an error of a query with its place. A text that would change the graph is told so.
func mistake(e *weft.QueryError, text string) error {
	out := &bolt.Error{Code: bolt.CodeSyntax, Message: e.Message}
	if e.Offset < 0 || e.Offset > len(text) {
		out.Code = bolt.CodeSemantic
		return out
	}
	at, first := bolt.FirstWord(text)
	if !slices.Contains(writes[:], strings.ToUpper(first)) {
		at, first = e.Offset, text[e.Offset:min(e.Offset+e.Length, len(text))]
	}
	if word := strings.ToUpper(first); slices.Contains(writes[:], word) {
		return bolt.At(&bolt.Error{Code: bolt.CodeAccessMode, Message: fmt.Sprintf("%s would change the graph, and the server only answers queries", word)}, text, at)
	}
	if e.Expected != "" {
		out.Message += ", expected " + e.Expected
	}
	if e.Suggestion != "" {
		out.Message += ": " + e.Suggestion
	}
	return bolt.At(out, text, e.Offset)
}

// encode appends a value of a match.
func encode(e *packstream.Encoder, x any) {
	switch x := x.(type) {
	case weft.Element:
		if x.IsEdge() {
			relationship(e, x)
		} else {
			node(e, x)
		}
	case nil, bool, int64, float64, string, time.Time, time.Duration:
		e.Value(x)
	default:
		e.String(fmt.Sprint(x))
	}
}
