package bolt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// systemDB is the database that tools ask about others.
const systemDB = "system"

// procedure is a table that CALL or SHOW gives.
type procedure struct {
	name    string // as CALL or SHOW has it
	about   string
	args    string // of the signature
	returns []column
	few     int // SHOW without YIELD has so many columns; 0: all
	rows    func(p *asked) ([][]any, error)
}

// column is a column of a procedure with its type in signatures.
type column struct{ name, kind string }

// asked is a call.
type asked struct {
	ctx   context.Context
	s     *Server
	user  User
	graph string
	args  []any
}

// schema is that of the graph; the database system has none.
func (a *asked) schema() (*Schema, error) {
	if a.graph == systemDB {
		return &Schema{}, nil
	}
	return a.user.Schema(a.ctx, a.graph)
}

// procedures are all that clients may CALL or SHOW.
func procedures() []procedure {
	names := func(of func(s *Schema) []string) func(a *asked) ([][]any, error) {
		return func(a *asked) ([][]any, error) {
			s, err := a.schema()
			if err != nil {
				return nil, err
			}
			var rows [][]any
			for _, name := range of(s) {
				rows = append(rows, []any{name})
			}
			return rows, nil
		}
	}
	none := func(*asked) ([][]any, error) { return nil, nil }
	info := func(of func(a *asked) string) func(a *asked) ([][]any, error) {
		return func(a *asked) ([][]any, error) { return [][]any{{of(a), of(a), nil}}, nil }
	}
	infoColumns := []column{{"id", "STRING"}, {"name", "STRING"}, {"creationDate", "STRING"}}
	user := procedure{
		about: "The user of this connection.", returns: []column{{"username", "STRING"}, {"roles", "LIST<STRING>"}, {"flags", "LIST<STRING>"}},
		rows: func(a *asked) ([][]any, error) { return [][]any{{a.user.Name(), []any{"reader"}, []any{}}}, nil },
	}
	named := func(name string, p procedure) procedure {
		p.name = name
		return p
	}
	databases := procedure{
		about: "The graphs that the user may read, and the database system.", few: 13, rows: showDatabases,
		returns: []column{{"name", "STRING"}, {"type", "STRING"}, {"aliases", "LIST<STRING>"}, {"access", "STRING"}, {"address", "STRING"}, {"role", "STRING"}, {"writer", "BOOLEAN"},
			{"requestedStatus", "STRING"}, {"currentStatus", "STRING"}, {"statusMessage", "STRING"}, {"default", "BOOLEAN"}, {"home", "BOOLEAN"}, {"constituents", "LIST<STRING>"}},
	}
	listed := procedure{
		about: "These procedures.", rows: listProcedures,
		returns: []column{{"name", "STRING"}, {"description", "STRING"}, {"mode", "STRING"}, {"worksOnSystem", "BOOLEAN"}, {"signature", "STRING"}},
	}
	functions := procedure{
		about: "The functions of the pattern language.", rows: listFunctions,
		returns: []column{{"name", "STRING"}, {"category", "STRING"}, {"description", "STRING"}, {"signature", "STRING"}, {"aggregating", "BOOLEAN"}},
	}
	short := func(p procedure, few int) procedure {
		p.few = few
		return p
	}
	return []procedure{
		{name: "db.info", about: "The graph.", returns: infoColumns, rows: info(func(a *asked) string { return a.graph })},
		{name: "db.labels", about: "The labels of vertices.", returns: []column{{"label", "STRING"}}, rows: names(func(s *Schema) []string { return s.Labels })},
		{name: "db.ping", about: "Whether the server answers.", returns: []column{{"success", "BOOLEAN"}}, rows: func(*asked) ([][]any, error) { return [][]any{{true}}, nil }},
		{name: "db.propertyKeys", about: "The names of properties of vertices and edges.", returns: []column{{"propertyKey", "STRING"}}, rows: names(keysOf)},
		{name: "db.relationshipTypes", about: "The labels of edges.", returns: []column{{"relationshipType", "STRING"}}, rows: names(func(s *Schema) []string { return s.Types })},
		{name: "dbms.clientConfig", about: "Settings of the server for clients: there are none.", returns: []column{{"name", "STRING"}, {"description", "STRING"}, {"value", "STRING"}, {"dynamic", "BOOLEAN"}}, rows: none},
		{name: "dbms.components", about: "The program and its version.", returns: []column{{"name", "STRING"}, {"versions", "LIST<STRING>"}, {"edition", "STRING"}},
			rows: func(a *asked) ([][]any, error) { return [][]any{{"weft", []any{a.s.o.Version}, "community"}}, nil }},
		named("dbms.functions", functions),
		{name: "dbms.info", about: "The program.", returns: infoColumns, rows: info(func(*asked) string { return "weft" })},
		{name: "dbms.listConfig", about: "Settings of the server: there are none.", args: "searchString = :: STRING", returns: []column{{"name", "STRING"}, {"description", "STRING"}, {"value", "STRING"}, {"dynamic", "BOOLEAN"}}, rows: none},
		named("dbms.procedures", listed),
		named("dbms.security.showCurrentUser", user),
		named("dbms.showCurrentUser", user),
		{name: "SHOW CONSTRAINTS", about: "Constraints: there are none.", returns: []column{{"id", "INTEGER"}, {"name", "STRING"}, {"type", "STRING"}, {"entityType", "STRING"},
			{"labelsOrTypes", "LIST<STRING>"}, {"properties", "LIST<STRING>"}, {"ownedIndex", "STRING"}, {"propertyType", "STRING"}}, rows: none},
		{name: "SHOW CURRENT USER", about: "The user of this connection.", returns: []column{{"user", "STRING"}, {"roles", "LIST<STRING>"}, {"passwordChangeRequired", "BOOLEAN"}, {"suspended", "BOOLEAN"}, {"home", "STRING"}},
			rows: func(a *asked) ([][]any, error) {
				return [][]any{{a.user.Name(), []any{"reader"}, false, false, nil}}, nil
			}},
		named("SHOW DATABASES", databases),
		named("SHOW FUNCTIONS", short(functions, 3)),
		{name: "SHOW INDEXES", about: "Indexes: there are none that users make.", returns: []column{{"id", "INTEGER"}, {"name", "STRING"}, {"state", "STRING"}, {"populationPercent", "FLOAT"}, {"type", "STRING"},
			{"entityType", "STRING"}, {"labelsOrTypes", "LIST<STRING>"}, {"properties", "LIST<STRING>"}, {"indexProvider", "STRING"}, {"owningConstraint", "STRING"}, {"lastRead", "DATETIME"}, {"readCount", "INTEGER"}}, rows: none},
		named("SHOW PROCEDURES", short(listed, 4)),
		{name: "SHOW SETTINGS", about: "Settings of the server: there are none.", returns: []column{{"name", "STRING"}, {"value", "STRING"}, {"isDynamic", "BOOLEAN"}, {"defaultValue", "STRING"}, {"description", "STRING"}}, rows: none},
	}
}

// keysOf are the names of properties, each once.
func keysOf(s *Schema) (out []string) {
	for _, k := range slices.Concat(s.VertexKeys, s.EdgeKeys) {
		if !slices.Contains(out, k.Name) {
			out = append(out, k.Name)
		}
	}
	return out
}

func showDatabases(a *asked) ([][]any, error) {
	var rows [][]any
	address := a.s.o.Advertise
	row := func(name, kind, access string, home bool) {
		rows = append(rows, []any{name, kind, []any{}, access, address, "primary", true, "online", "online", "", home, home, []any{}})
	}
	for i, g := range a.user.Graphs() {
		row(g, "standard", "read-only", i == 0)
	}
	row(systemDB, "system", "read-only", false)
	return rows, nil
}

func listProcedures(*asked) ([][]any, error) {
	var rows [][]any
	for _, p := range procedures() {
		if strings.HasPrefix(p.name, "SHOW ") {
			continue
		}
		mode := "READ"
		if strings.HasPrefix(p.name, "dbms.") {
			mode = "DBMS"
		}
		rows = append(rows, []any{p.name, p.about, mode, true, p.signature()})
	}
	return rows, nil
}

func (p *procedure) signature() string {
	var of []string
	for _, c := range p.returns {
		of = append(of, c.name+" :: "+c.kind)
	}
	return fmt.Sprintf("%s(%s) :: (%s)", p.name, p.args, strings.Join(of, ", "))
}

func listFunctions(*asked) ([][]any, error) {
	return [][]any{
		{"count", "Aggregating", "count(*) is the number of embeddings, count(DISTINCT SUBGRAPHS) that of subgraphs.", "count(*) :: INTEGER", true},
		{"deg", "Scalar", "The number of distinct neighbours of a vertex.", "deg(v :: NODE) :: INTEGER", false},
		{"exists", "Predicate", "Whether there is a match.", "exists() :: BOOLEAN", true},
		{"id", "Scalar", "The user's id of a vertex.", "id(v :: NODE) :: INTEGER | STRING", false},
		{"participation", "Aggregating", "For each vertex, the number of matches in which it plays the part of v.", "participation(v :: NODE) :: INTEGER", true},
	}, nil
}

// table is a result whose rows are known.
type table struct {
	columns []string
	rows    [][]any
	next    int
	summary Summary
	held    *atomic.Int64 // the bytes of all tables; nil once it is closed
	bytes   int64
}

func (t *table) Columns() []string { return t.columns }

func (t *table) Next() (bool, error) {
	if t.next == len(t.rows) {
		return false, nil
	}
	t.next++
	return true, nil
}

func (t *table) Encode(e *packstream.Encoder) {
	for _, x := range t.rows[t.next-1] {
		e.Value(x)
	}
}

func (t *table) Done() <-chan struct{} { return nil }

func (t *table) Summary() Summary { return t.summary }

func (t *table) Close() {
	if t.held != nil {
		t.held.Add(-t.bytes)
		t.held = nil
	}
}

// procedure answers a statement that is not a pattern: CALL, SHOW, RETURN of values, and unions of these. ok is false for other texts.
func (s *Server) procedure(ctx context.Context, u User, q Query) (r Result, ok bool, err error) {
	st, ok, err := parseStatement(q.Text)
	if !ok || err != nil {
		return nil, ok, err
	}
	within, end, err := u.Statement(ctx, q.Graph, q.Text)
	if err != nil {
		return nil, true, err
	}
	rows, failed := int64(0), errFault // unless it returns
	defer func() { end(rows, failed) }()
	t, err := s.rowsOf(within, u, q, st)
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		err = &Error{Code: CodeTerminated, Message: context.Cause(within).Error()}
	}
	if failed = err; err != nil {
		return nil, true, err
	}
	rows = int64(len(t.rows))
	return t, true, nil
}

// errFault is the error of a statement that panics.
var errFault = errors.New("the statement has failed in the server")

// rowsOf makes the rows of a statement.
func (s *Server) rowsOf(ctx context.Context, u User, q Query, st *statement) (*table, error) {
	limit := u.StatementTime()
	if q.Time > 0 && (limit <= 0 || q.Time < limit) {
		limit = q.Time
	}
	if limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	select { // these statements do not wait with queries, and take no more cores than there are
	case s.statements <- struct{}{}:
		defer func() { <-s.statements }()
	case <-ctx.Done():
		return nil, overdue(ctx)
	}
	sc := &scope{asked: asked{ctx: ctx, s: s, user: u, graph: q.Graph}, params: q.Params}
	t, err := st.run(sc)
	if err != nil {
		return nil, err
	}
	t.bytes = sc.bytes
	if s.held.Add(t.bytes) > mostHeld {
		s.held.Add(-t.bytes)
		return nil, &Error{Code: CodeMemory, Message: "memory is short, and other results are open: try again later"}
	}
	t.held = &s.held
	if st.explain || st.profile {
		root := &Operator{Type: "ProduceResults", Identifiers: t.columns, Rows: int64(len(t.rows)), Args: map[string]any{}}
		for _, a := range st.arms {
			if a.proc != nil {
				root.Children = append(root.Children, &Operator{Type: "ProcedureCall", Args: map[string]any{"Details": a.proc.name}, Identifiers: t.columns, Rows: -1})
			}
		}
		if t.summary = (Summary{Plan: root, Profiled: st.profile}); st.explain {
			t.rows = nil
		}
	}
	return t, nil
}
