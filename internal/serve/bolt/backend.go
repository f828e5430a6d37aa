package bolt

import (
	"context"
	"net"
	"time"

	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// Backend checks credentials.
type Backend interface {
	// Login returns the user who has the credentials. It blocks while a hash is computed. An *Error tells the client what is wrong.
	Login(ctx context.Context, c Credentials) (User, error)
}

// Credentials are what a client says of itself.
type Credentials struct {
	Scheme string // none, basic, bearer or kerberos; others are possible
	User   string
	Secret string
	Remote net.Addr
}

// User is a client that has logged in. Safe for concurrent use.
type User interface {
	// Name is the user's name, "" without users.
	Name() string
	// Current is the user with the rights that it has now, or an error if it may ask no more. It is called before each message of the client.
	Current() (User, error)
	// Graphs are the graphs that the user may read, in order. The first one is the home database.
	Graphs() []string
	// StatementTime is the longest time of a statement without a pattern; 0: any.
	StatementTime() time.Duration
	// Statement lists a statement without a pattern among what runs, until end is called with the number of its rows, or its error. The context
	// ends with ctx, or when somebody cancels the statement.
	Statement(ctx context.Context, graph, text string) (within context.Context, end func(rows int64, err error), err error)
	// Schema describes a graph.
	Schema(ctx context.Context, graph string) (*Schema, error)
	// Run begins a query. The search starts when the first row is asked for. When ctx ends, the search does.
	Run(ctx context.Context, q Query) (Result, error)
}

// Query is a text with its parameters.
type Query struct {
	Graph  string
	Text   string
	Params map[string]any // nil, bool, int64, float64, string, time.Time, time.Duration, and lists and maps of these
	Time   time.Duration  // the longest time that the client allows; 0: any
}

// Result is the rows of a query. It is used by one goroutine at a time.
type Result interface {
	// Columns are the names of the fields.
	Columns() []string
	// Next makes the next row the current one. It blocks until the row is made, and returns false after the last.
	Next() (bool, error)
	// Encode appends the fields of the current row. It does not block.
	Encode(e *packstream.Encoder)
	// Done is closed when the search ends before its last row: by the context, or by the server.
	Done() <-chan struct{}
	// Summary describes the result after the last row.
	Summary() Summary
	// Close ends the search. Closing twice does nothing.
	Close()
}

// Summary is what is known of a result at its end.
type Summary struct {
	Plan     *Operator // of EXPLAIN and PROFILE
	Profiled bool      // the plan has actual numbers
	Notes    []Note
}

// Operator is a step of a plan, as drivers have it.
type Operator struct {
	Type        string
	Args        map[string]any
	Identifiers []string
	Rows        int64 // with Summary.Profiled; -1: not known
	Children    []*Operator
}

// Note is something that the client should know of a result.
type Note struct {
	Code        string // Neo.ClientNotification.…
	Title       string
	Description string
	Warning     bool // or information
	Always      bool // also for clients that want no notifications: without it the result would be taken for another
}

// Schema describes a graph.
type Schema struct {
	Directed        bool
	Vertices, Edges int64
	Labels          []string
	Types           []string // labels of edges
	VertexKeys      []Key
	EdgeKeys        []Key
}

// Key is the name of a property and the type of its values.
type Key struct{ Name, Type string }

// Error is an error with a status code, as clients show it.
type Error struct {
	Code    string // Neo.ClientError.…
	Status  string // GQLSTATUS; "" means that of the code
	Message string
	// Line and Column of the mistake count from 1, and Offset, in characters, from 0. Line is 0 if the mistake has no place.
	Line, Column, Offset int
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Status codes.
const (
	CodeSyntax           = "Neo.ClientError.Statement.SyntaxError"
	CodeSemantic         = "Neo.ClientError.Statement.SemanticError"
	CodeType             = "Neo.ClientError.Statement.TypeError"
	CodeArgument         = "Neo.ClientError.Statement.ArgumentError"
	CodeParameterMissing = "Neo.ClientError.Statement.ParameterMissing"
	CodeAccessMode       = "Neo.ClientError.Statement.AccessMode"
	CodeNoProcedure      = "Neo.ClientError.Procedure.ProcedureNotFound"
	CodeProcedureCall    = "Neo.ClientError.Procedure.ProcedureCallFailed"
	CodeNoDatabase       = "Neo.ClientError.Database.DatabaseNotFound"
	CodeUnauthorized     = "Neo.ClientError.Security.Unauthorized"
	CodeForbidden        = "Neo.ClientError.Security.Forbidden"
	CodeRateLimit        = "Neo.ClientError.Security.AuthenticationRateLimit"
	CodeInvalid          = "Neo.ClientError.Request.Invalid"
	CodeTerminated       = "Neo.ClientError.Transaction.Terminated"
	CodeTimedOut         = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"
	CodeTimedOutServer   = "Neo.ClientError.Transaction.TransactionTimedOut"
	CodeMemory           = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
	CodeBusy             = "Neo.TransientError.Request.NoThreadsAvailable"
	CodeUnavailable      = "Neo.TransientError.General.DatabaseUnavailable"
	CodeExecution        = "Neo.DatabaseError.Statement.ExecutionFailed"
	CodeUnknown          = "Neo.DatabaseError.General.UnknownError"
)

// statuses are the GQLSTATUS of codes, with their standard descriptions. Codes without one have the general status.
func statusOf(code string) (status, description string) {
	switch code {
	case CodeSyntax:
		return "42001", "syntax error or access rule violation - invalid syntax"
	case CodeSemantic, CodeParameterMissing, CodeNoProcedure, CodeArgument:
		return "42000", "syntax error or access rule violation"
	case CodeType:
		return "22000", "data exception"
	case CodeAccessMode:
		return "25G03", "invalid transaction state - read-only transaction"
	case CodeNoDatabase:
		return "22N51", "data exception - database does not exist"
	case CodeUnauthorized, CodeForbidden, CodeRateLimit:
		return "42NFF", "syntax error or access rule violation - permission/access denied"
	}
	return "50N42", "general processing exception - unexpected error"
}
