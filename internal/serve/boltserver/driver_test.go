package boltserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/bolt"
	"github.com/weftgraph/weft/internal/serve/servetest"
)

const socialEdges = `src,dst,type,time:unix_s,w:float,n,ok,note
ann,bob,likes,86400,1.5,1,true,a
bob,cyd,,86401,,2,false,
ann,bob,knows,-1,2.5,,,c
`

const socialVertices = "id,labels,age,name\nann,P,30,Ann\nbob,P;Q,,\ncyd,,41,Cyd\n"

// core returns a server with the graphs dense, karate and social.
func core(t testing.TB, l serve.Limits, users *serve.Users) *serve.Server {
	t.Helper()
	ctx := context.Background()
	rt := weft.NewRuntime(weft.RuntimeOptions{CacheDir: "off"})
	t.Cleanup(func() { rt.Close() })
	c := serve.NewCatalog(serve.CatalogOptions{Runtime: rt})
	t.Cleanup(c.Close)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"e.csv": socialEdges, "v.csv": socialVertices} {
		if err := os.WriteFile(file(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []serve.Source{
		{Name: "karate", Path: servetest.Karate()}, {Name: "dense", Path: servetest.Dense(t, rt)},
		{Name: "social", Path: file("e.csv"), Options: []weft.Option{weft.WithVertices(file("v.csv")), weft.WithDirected(true)}},
	} {
		if err := c.Open(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	return serve.New(serve.Options{Catalog: c, Users: users, Limits: l})
}

// listen serves Bolt at an address of this machine.
func listen(t testing.TB, s *serve.Server, o bolt.Options) (b *bolt.Server, address string) {
	t.Helper()
	b = bolt.New(New(s), o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- b.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		b.Shutdown(ctx)
		if err := <-ended; !errors.Is(err, bolt.ErrClosed) {
			t.Error(err)
		}
	})
	return b, l.Addr().String()
}

// driver connects to a server.
func driver(t testing.TB, url string, auth neo4j.AuthToken, configure ...func(*config.Config)) neo4j.DriverWithContext {
	t.Helper()
	d, err := neo4j.NewDriverWithContext(url, auth, configure...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close(context.Background()) })
	return d
}

// ask runs a query in a graph and returns its records and summary.
func ask(t testing.TB, d neo4j.DriverWithContext, graph, text string, params map[string]any) ([]*neo4j.Record, neo4j.ResultSummary, error) {
	t.Helper()
	ctx := context.Background()
	s := d.NewSession(ctx, neo4j.SessionConfig{DatabaseName: graph, AccessMode: neo4j.AccessModeRead})
	defer s.Close(ctx)
	r, err := s.Run(ctx, text, params)
	if err != nil {
		return nil, nil, err
	}
	records, err := r.Collect(ctx)
	if err != nil {
		return nil, nil, err
	}
	sum, err := r.Consume(ctx)
	return records, sum, err
}

// values are the values of records as text, sorted.
func values(records []*neo4j.Record) (out []string) {
	for _, r := range records {
		var row []string
		for _, x := range r.Values {
			switch x := x.(type) {
			case neo4j.Node:
				row = append(row, fmt.Sprintf("(%s %v %v)", x.ElementId, x.Labels, x.Props))
			case neo4j.Relationship:
				row = append(row, fmt.Sprintf("[%s->%s %q %v]", x.StartElementId, x.EndElementId, x.Type, x.Props))
			case neo4j.Duration:
				row = append(row, x.String())
			default:
				row = append(row, fmt.Sprintf("%#v", x))
			}
		}
		out = append(out, strings.Join(row, " "))
	}
	slices.Sort(out)
	return out
}

// TestDriver runs what the official driver of Go can do, over bolt:// and neo4j://.
func TestDriver(t *testing.T) {
	s := core(t, serve.Limits{}, nil)
	_, address := listen(t, s, bolt.Options{Version: "1.2.3"})
	for _, scheme := range []string{"bolt://", "neo4j://"} {
		t.Run(scheme, func(t *testing.T) {
			ctx := t.Context()
			d := driver(t, scheme+address, neo4j.NoAuth())
			if err := d.VerifyConnectivity(ctx); err != nil {
				t.Fatal(err)
			}
			info, err := d.GetServerInfo(ctx)
			if err != nil || info.Agent() != "Neo4j/5.26.0 compatible: weft/1.2.3" || info.ProtocolVersion().Minor != 8 {
				t.Errorf("%+v, %v", info, err)
			}
			for _, c := range []struct {
				graph, text string
				params      map[string]any
				columns     []string
				want        []string
			}{
				{"karate", "MATCH (a)--(b)--(c)--(a) RETURN count(DISTINCT SUBGRAPHS) AS n", nil, []string{"n"}, []string{"45"}},
				{"karate", "MATCH (a)--(b) RETURN count(*)", nil, []string{"count(*)"}, []string{"156"}},
				{"karate", "MATCH triangle(a, b, c) RETURN exists()", nil, []string{"exists()"}, []string{"true"}},
				{"karate", "MATCH (a)--(b) WHERE id(a) = $x AND id(b) IN $y RETURN id(b) AS b, deg(b)", map[string]any{"x": 1, "y": []int{2, 3, 4000}, "z": "dropped"}, []string{"b", "deg(b)"}, []string{"2 9", "3 10"}},
				{"karate", "MATCH (a)--(b) WHERE id(a) = 12", nil, []string{"a", "b"}, []string{"(12 [] map[]) (1 [] map[])"}},
				{"social", "MATCH (a)-[e:likes]->(b) RETURN a, e, b", nil, []string{"a", "e", "b"}, []string{
					"(ann [P] map[age:30 name:Ann]) [ann->bob \"likes\" map[n:1 note:a ok:true time:1970-01-02 00:00:00 +0000 Offset w:1.5]] (bob [P Q] map[])"}},
				{"social", "MATCH (a)-[e]->(b) WHERE e.time >= $t RETURN e.time - timestamp '1970-01-01' AS d, b.age", map[string]any{"t": time.Unix(86401, 0)}, []string{"d", "b.age"}, []string{"P0M0DT86401S 41"}},
				{"social", "MATCH (a)-[e]->(b) RETURN participation(a)", nil, []string{"a", "participation"}, []string{"(ann [P] map[age:30 name:Ann]) 2", "(bob [P Q] map[]) 1", "(cyd [] map[age:41 name:Cyd]) 0"}},
				{"social", "MATCH (a:Nobody) RETURN a", nil, nil, nil},
				{"social", "MATCH (a:Union)-->(b) RETURN a", nil, nil, nil},
			} {
				records, sum, err := ask(t, d, c.graph, c.text, c.params)
				if err != nil {
					t.Errorf("%s: %v", c.text, err)
					continue
				}
				if d := cmp.Diff(c.want, values(records)); d != "" {
					t.Errorf("%s: %s", c.text, d)
				}
				if len(records) > 0 {
					if d := cmp.Diff(c.columns, records[0].Keys); d != "" {
						t.Errorf("%s: %s", c.text, d)
					}
				}
				if sum.Database().Name() != c.graph || sum.StatementType() != neo4j.StatementTypeReadOnly || sum.Plan() != nil || sum.Profile() != nil || sum.Counters().ContainsUpdates() {
					t.Errorf("%s: summary of %s", c.text, sum.Database().Name())
				}
			}
		})
	}
}

// TestSessions: home database, transactions, several open results, small fetches, and what is dropped.
func TestSessions(t *testing.T) {
	s := core(t, serve.Limits{}, nil)
	_, address := listen(t, s, bolt.Options{})
	d := driver(t, "neo4j://"+address, neo4j.NoAuth())
	ctx := t.Context()
	home := d.NewSession(ctx, neo4j.SessionConfig{FetchSize: 7})
	defer home.Close(ctx)
	n, err := neo4j.ExecuteRead(ctx, home, func(tx neo4j.ManagedTransaction) (int64, error) {
		a, err := tx.Run(ctx, "MATCH (a)--(b) WHERE id(a) = 1 RETURN b", nil)
		if err != nil {
			return 0, err
		}
		b, err := tx.Run(ctx, "MATCH (a)--(b) WHERE id(a) = 2 RETURN count(*) AS n", nil)
		if err != nil {
			return 0, err
		}
		if !a.Next(ctx) { // both are open
			return 0, errors.New("no row")
		}
		r, err := b.Single(ctx)
		if err != nil {
			return 0, err
		}
		rest, err := a.Collect(ctx)
		if err != nil {
			return 0, err
		}
		return r.Values[0].(int64) + int64(len(rest)), nil
	})
	if err != nil || n < 100 { // about 300 neighbours of each
		t.Errorf("%d, %v", n, err)
	}
	karate := d.NewSession(ctx, neo4j.SessionConfig{DatabaseName: "karate", FetchSize: 10})
	defer karate.Close(ctx)
	r, err := karate.Run(ctx, "MATCH (a)-[e]-(b) WHERE id(a) < id(b) RETURN a, b", nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for r.Next(ctx) {
		rows++
	}
	if rows != 78 || r.Err() != nil {
		t.Errorf("%d rows, %v", rows, r.Err())
	}
	// A result that is not read to its end is dropped by the next query of the session.
	if r, err = karate.Run(ctx, "MATCH (a)--(b) RETURN a, b", nil); err != nil || !r.Next(ctx) {
		t.Fatal(err)
	}
	sum, err := r.Consume(ctx)
	if err != nil || sum.Database().Name() != "karate" {
		t.Error(err)
	}
	tx, err := karate.BeginTransaction(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = tx.Run(ctx, "MATCH (a)--(b) RETURN a, b", nil); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Error(err)
	}
	if n := len(s.Running(serve.Anyone())); n != 0 {
		t.Errorf("%d queries still run", n)
	}
}

// TestErrors shows status codes, positions, and that a connection works again after them.
func TestErrors(t *testing.T) {
	s := core(t, serve.Limits{}, nil)
	_, address := listen(t, s, bolt.Options{})
	d := driver(t, "bolt://"+address, neo4j.NoAuth())
	for _, c := range []struct {
		graph, text string
		params      map[string]any
		code, want  string
	}{
		{"karate", "MATCH (a)--(b) RETRN a", nil, bolt.CodeSyntax, "(line 1, column 16 (offset: 15))\n\"MATCH (a)--(b) RETRN a\"\n                ^"},
		{"karate", "MATCH (ä)--(b)\n  WHERE )", nil, bolt.CodeSyntax, "(line 2, column 9 (offset: 23))"},
		{"karate", "MATCH (a)--(b) WHERE id(a) = $x RETURN a", nil, bolt.CodeParameterMissing, "expected parameter(s): x"},
		{"karate", "MATCH (a)--(b) WHERE id(a) = $x RETURN a", map[string]any{"x": neo4j.Point2D{X: 1}}, bolt.CodeType, "the parameter $x has a Point"},
		{"karate", "MATCH (a)--(b) WHERE id(a) = $x RETURN a", map[string]any{"x": map[string]any{}}, bolt.CodeType, "the parameter $x is a map"},
		{"nowhere", "MATCH (a)--(b) RETURN a", nil, bolt.CodeNoDatabase, "there is no database \"nowhere\""},
		{"karate", "CREATE (a)", nil, bolt.CodeAccessMode, "CREATE would change the graph, and the server only answers queries (line 1, column 1 (offset: 0))"},
		{"karate", "MATCH (a)--(b) SET a.x = 1", nil, bolt.CodeAccessMode, "SET would change the graph"},
		{"karate", "MATCH (a)--(b) DETACH DELETE a", nil, bolt.CodeAccessMode, "DETACH would change the graph"},
		{"karate", "MERGE (a)", nil, bolt.CodeAccessMode, "MERGE would"},
		{"karate", "MATCH (a)--(b), (c)--(d) RETURN count(*)", nil, bolt.CodeSemantic, "connected"},
		{"karate", "CALL apoc.meta.data()", nil, bolt.CodeNoProcedure, "there is no procedure apoc.meta.data"},
		{"system", "MATCH (a) RETURN a", nil, bolt.CodeNoDatabase, "the database system has no graph"},
		{"karate", "", nil, bolt.CodeSyntax, "unexpected end of the text"},
		{"karate", "  // add\n CREATE WATCH x AS MATCH (a)-->(b)", nil, bolt.CodeAccessMode, ""},
	} {
		_, _, err := ask(t, d, c.graph, c.text, c.params)
		var e *neo4j.Neo4jError
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Msg, c.want) {
			t.Errorf("%s: %v\nwant %s: %s", c.text, err, c.code, c.want)
			continue
		}
		if c.code == bolt.CodeSyntax {
			p, ok := e.GqlDiagnosticRecord["_position"].(map[string]any)
			if !ok || p["line"] == nil || e.GqlStatus != "42001" || !strings.HasPrefix(e.GqlStatusDescription, "error: syntax error or access rule violation - invalid syntax. ") {
				t.Errorf("%s: %+v", c.text, e)
			}
		}
	}
	if _, _, err := ask(t, d, "karate", "MATCH (a)--(b) RETURN count(*)", nil); err != nil {
		t.Error(err)
	}
}

// TestPlans: EXPLAIN and PROFILE give operators, with the numbers of a profile.
func TestPlans(t *testing.T) {
	s := core(t, serve.Limits{}, nil)
	_, address := listen(t, s, bolt.Options{})
	d := driver(t, "bolt://"+address, neo4j.NoAuth())
	records, sum, err := ask(t, d, "karate", "EXPLAIN MATCH (a)--(b)--(c)--(a) RETURN a, b, c", nil)
	if err != nil || len(records) != 0 || sum.Plan() == nil {
		t.Fatal(len(records), err)
	}
	var types []string
	names := 0
	for p := sum.Plan(); ; p = p.Children()[0] {
		types = append(types, p.Operator())
		names = max(names, len(p.Identifiers()))
		if len(p.Children()) == 0 {
			break
		}
	}
	if d := cmp.Diff([]string{"ProduceResults", "Intersect", "Expand", "AllNodesScan"}, types); d != "" || names != 3 {
		t.Error(d, names)
	}
	if text, ok := sum.Plan().Arguments()["string-representation"].(string); !ok || !strings.Contains(text, "for ") {
		t.Errorf("%q", text)
	}
	records, sum, err = ask(t, d, "karate", "PROFILE MATCH (a)--(b)--(c)--(a) RETURN count(DISTINCT SUBGRAPHS) AS n", nil)
	if err != nil || len(records) != 1 || records[0].Values[0] != int64(45) || sum.Profile() == nil {
		t.Fatal(records, err)
	}
	if p := sum.Profile(); p.Records() != 1 || len(p.Children()) != 1 {
		t.Errorf("%+v", p)
	}
	_, sum, err = ask(t, d, "karate", "PROFILE MATCH (a)--(b)--(c)--(a) RETURN a, b, c", nil)
	if err != nil || sum.Profile() == nil || sum.Profile().Children()[0].Records() == 0 || len(sum.Notifications()) == 0 {
		t.Error(err)
	}
}

// TestCut: a result that a limit cuts short says so.
func TestCut(t *testing.T) {
	s := core(t, serve.Limits{Rows: 5}, nil)
	_, address := listen(t, s, bolt.Options{})
	d := driver(t, "bolt://"+address, neo4j.NoAuth())
	records, sum, err := ask(t, d, "karate", "MATCH (a)--(b) RETURN a", nil)
	if err != nil || len(records) != 5 {
		t.Fatal(len(records), err)
	}
	var found bool
	for _, n := range sum.Notifications() {
		found = found || n.Code() == "Neo.ClientNotification.Statement.IncompleteResult" && n.RawSeverityLevel() == "WARNING"
	}
	if !found {
		t.Errorf("%+v", sum.Notifications())
	}
}

// TestProcedures runs the statements that tools send when they connect.
func TestProcedures(t *testing.T) {
	s := core(t, serve.Limits{}, nil)
	_, address := listen(t, s, bolt.Options{Version: "1.2.3"})
	d := driver(t, "bolt://"+address, neo4j.NoAuth())
	for _, c := range []struct {
		text    string
		columns string
		want    []string
	}{
		{"RETURN 1", "1", []string{"1"}},
		{"RETURN 1 AS x;", "x", []string{"1"}},
		{"RETURN {a: [1, 2.5, null], b: $p} AS m, true", "m true", []string{`map[string]interface {}{"a":[]interface {}{1, 2.5, interface {}(nil)}, "b":7} true`}},
		{"CALL db.labels()", "label", []string{`"P"`, `"Q"`}},
		{"call db.labels", "label", []string{`"P"`, `"Q"`}},
		{"CALL db.labels() YIELD label AS l WHERE l <> 'Q' RETURN count(l) AS n, collect(l)[..1000] AS all", "n all", []string{`1 []interface {}{"P"}`}},
		{"CALL db.labels() YIELD label RETURN label ORDER BY label DESC LIMIT 1", "label", []string{`"Q"`}},
		{"CALL db.relationshipTypes()", "relationshipType", []string{`"knows"`, `"likes"`}},
		{"CALL db.propertyKeys() YIELD propertyKey RETURN count(*) AS n", "n", []string{"7"}},
		{"CALL dbms.components() YIELD name, versions, edition UNWIND versions AS version RETURN name, version, edition", "name version edition", []string{`"weft" "1.2.3" "community"`}},
		{"CALL dbms.security.showCurrentUser()", "username roles flags", []string{`"" []interface {}{"reader"} []interface {}{}`}},
		{"SHOW DATABASES YIELD name, access, home WHERE access = 'read-only' RETURN name, home ORDER BY name", "name home", []string{`"dense" true`, `"karate" false`, `"social" false`, `"system" false`}},
		{"SHOW DEFAULT DATABASE YIELD name", "name", []string{`"dense"`}},
		{"SHOW DATABASE karate YIELD name, currentStatus", "name currentStatus", []string{`"karate" "online"`}},
		{"SHOW INDEXES", "", nil},
		{"SHOW CONSTRAINTS", "", nil},
		{"SHOW PROCEDURES YIELD name WHERE name STARTS WITH 'db.' RETURN count(*) AS n", "n", []string{"5"}},
		{"SHOW FUNCTIONS YIELD name WHERE name IN ['id', 'deg', 'x'] RETURN collect(name) AS names", "names", []string{`[]interface {}{"deg", "id"}`}},
		{"CALL dbms.procedures() YIELD name, signature WHERE name = 'db.labels' RETURN signature", "signature", []string{`"db.labels() :: (label :: STRING)"`}},
		{`CALL db.labels() YIELD label
RETURN {name:'labels', data:COLLECT(label)[..1000]} AS result
UNION ALL
CALL db.relationshipTypes() YIELD relationshipType
RETURN {name:'relationshipTypes', data:COLLECT(relationshipType)[..1000]} AS result
UNION ALL
MATCH () RETURN { name:'nodes', data:count(*) } AS result
UNION ALL
MATCH ()-[]->() RETURN { name:'relationships', data: count(*)} AS result`, "result", []string{
			`map[string]interface {}{"data":3, "name":"nodes"}`, `map[string]interface {}{"data":3, "name":"relationships"}`,
			`map[string]interface {}{"data":[]interface {}{"P", "Q"}, "name":"labels"}`, `map[string]interface {}{"data":[]interface {}{"knows", "likes"}, "name":"relationshipTypes"}`}},
	} {
		records, _, err := ask(t, d, "social", c.text, map[string]any{"p": 7})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if d := cmp.Diff(c.want, values(records)); d != "" {
			t.Errorf("%s: %s", c.text, d)
		}
		if len(records) > 0 && strings.Join(records[0].Keys, " ") != c.columns {
			t.Errorf("%s: columns %q", c.text, records[0].Keys)
		}
	}
	if _, sum, err := ask(t, d, "system", "EXPLAIN CALL db.labels()", nil); err != nil || sum.Plan() == nil || sum.Plan().Operator() != "ProduceResults" {
		t.Error(err)
	}
}

// TestCancel: the end of a driver's context resets or closes the connection, and the search ends.
func TestCancel(t *testing.T) {
	s := core(t, serve.Limits{}, nil)
	_, address := listen(t, s, bolt.Options{})
	d := driver(t, "bolt://"+address, neo4j.NoAuth())
	ctx, cancel := context.WithCancel(t.Context())
	session := d.NewSession(ctx, neo4j.SessionConfig{DatabaseName: "dense"})
	done := make(chan error, 1)
	go func() {
		r, err := session.Run(ctx, servetest.Long+" RETURN count(*)", nil)
		if err == nil {
			_, err = r.Single(ctx)
		}
		done <- err
	}()
	for len(s.Running(serve.Anyone())) == 0 || s.Running(serve.Anyone())[0].State != "running" {
		time.Sleep(time.Millisecond)
	}
	start := time.Now()
	cancel()
	if err := <-done; err == nil {
		t.Error("no error")
	}
	for len(s.Running(serve.Anyone())) > 0 {
		time.Sleep(time.Millisecond)
	}
	t.Logf("the search ended %v after the driver's context", time.Since(start))
	// A time limit of the client.
	session = d.NewSession(t.Context(), neo4j.SessionConfig{DatabaseName: "dense"})
	defer session.Close(t.Context())
	r, err := session.Run(t.Context(), servetest.Long+" RETURN count(*) AS n", nil, neo4j.WithTxTimeout(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	records, err := r.Collect(t.Context())
	if err != nil {
		if e := new(neo4j.Neo4jError); !errors.As(err, &e) || e.Code != bolt.CodeTimedOutServer {
			t.Error(err)
		}
		return
	}
	sum, err := r.Consume(t.Context())
	if err != nil || len(records) != 1 || len(sum.Notifications()) == 0 {
		t.Error(records, err)
	}
}

// TestStatementListed: a statement without a pattern is in the list of what runs, for its user and administrators, and can be cancelled there.
func TestStatementListed(t *testing.T) {
	s := core(t, serve.Limits{}, nil)
	_, address := listen(t, s, bolt.Options{})
	d := driver(t, "bolt://"+address, neo4j.NoAuth())
	numbers := make([]int64, 60_000)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	const text = "UNWIND $l AS x RETURN count(x IN $l) AS n"
	failed := make(chan error, 1)
	go func() {
		_, _, err := ask(t, d, "karate", text, map[string]any{"l": numbers})
		failed <- err
	}()
	var all []serve.Status
	for ; len(all) == 0; all = s.Running(serve.Anyone()) {
		select {
		case err := <-failed:
			t.Fatalf("it has ended: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	if x := all[0]; x.Kind != serve.Statement || x.Query != text || x.Protocol != "bolt" || x.Graph != "karate" || x.State != "running" {
		t.Errorf("%+v", x)
	}
	if other := s.Running(serve.Identity{Name: "bob"}); len(other) != 0 {
		t.Errorf("another user sees %v", other)
	}
	run, err := s.Find(serve.Anyone(), all[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	run.Cancel()
	var known *neo4j.Neo4jError
	if err := <-failed; !errors.As(err, &known) || known.Code != bolt.CodeTerminated || known.Msg != "the query was cancelled" {
		t.Errorf("%v", err)
	}
	if all = s.Running(serve.Anyone()); len(all) != 0 {
		t.Errorf("still there: %v", all)
	}
	if records, _, err := ask(t, d, "karate", "RETURN 1 AS x", nil); err != nil || len(records) != 1 {
		t.Errorf("afterwards: %v, %v", records, err)
	}
}
