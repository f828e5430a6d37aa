package rest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/page"
	"github.com/weftgraph/weft/internal/serve/rest/request"
	"github.com/weftgraph/weft/internal/serve/servetest"
)

// site is a server with the graphs karate and dense.
type site struct {
	t      *testing.T
	url    string
	server *serve.Server
	h      *Handler
	schema func(name string) *jsonschema.Schema
}

func newSite(t *testing.T, l serve.Limits, o Options, accounts ...serve.Account) *site {
	t.Helper()
	rt := weft.NewRuntime(weft.RuntimeOptions{CacheDir: "off"})
	t.Cleanup(func() { rt.Close() })
	c := serve.NewCatalog(serve.CatalogOptions{Runtime: rt, Folder: filepath.Dir(servetest.Karate())})
	t.Cleanup(c.Close)
	for _, s := range []serve.Source{{Name: "karate", Path: servetest.Karate()}, {Name: "dense", Path: servetest.Dense(t, rt)}} {
		if err := c.Open(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	var users *serve.Users
	if len(accounts) > 0 {
		var err error
		if users, err = serve.NewUsers(accounts); err != nil {
			t.Fatal(err)
		}
	}
	o.Server = serve.New(serve.Options{Catalog: c, Users: users, Limits: l})
	h := New(o)
	web := httptest.NewServer(h)
	t.Cleanup(func() { web.CloseClientConnections(); web.Close(); h.Close() })
	return &site{t, web.URL, o.Server, h, schemas(t)}
}

// schemas compiles the schemas of the document.
func schemas(t *testing.T) func(name string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("file:///openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // of the compiler
	return func(pointer string) *jsonschema.Schema {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		s, err := c.Compile("file:///openapi.json#" + pointer)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// answer is an answer of the server.
type answer struct {
	status  int
	header  http.Header
	trailer http.Header
	body    string
	json    map[string]any
}

// do sends a request, and compares the answer with the document.
func (s *site) do(method, path, body string, headers ...string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := answer{resp.StatusCode, resp.Header, resp.Trailer, string(text), nil}
	s.check(method, path, &a)
	return a
}

// check validates an answer against the schema that the document gives for the path, the method and the status.
func (s *site) check(method, path string, a *answer) {
	s.t.Helper()
	media, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	for _, name := range []string{"X-Content-Type-Options", "Content-Security-Policy", "Cache-Control"} {
		if a.header.Get(name) == "" {
			s.t.Errorf("%s %s: no header %s", method, path, name)
		}
	}
	if media == "application/json" && s.template(path) != "/{file}" || media == "application/problem+json" {
		if err := json.Unmarshal([]byte(a.body), &a.json); err != nil {
			s.t.Fatalf("%s %s: %v in %s", method, path, err, a.body)
		}
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct{ Content map[string]map[string]any }
		}
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		s.t.Fatal(err)
	}
	template := s.template(path)
	operation, ok := doc.Paths[template][strings.ToLower(method)]
	if !ok {
		if a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed && a.status < 400 {
			s.t.Errorf("%s %s is not in the document", method, path)
		}
		return
	}
	status := fmt.Sprint(a.status)
	if _, ok := operation.Responses[status]; !ok {
		status = "default"
	}
	content, ok := operation.Responses[status].Content[media]
	if !ok && media != "" {
		s.t.Fatalf("%s %s: the document has no %s of status %s: %s", method, path, media, status, a.body)
	}
	if content["schema"] == nil || a.json == nil {
		return
	}
	pointer := strings.NewReplacer("~", "~0", "/", "~1").Replace
	at := fmt.Sprintf("/paths/%s/%s/responses/%s/content/%s/schema", pointer(template), strings.ToLower(method), status, pointer(media))
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(a.body))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.schema(at).Validate(value); err != nil {
		s.t.Errorf("%s %s: %v\n%s", method, path, err, a.body)
	}
}

// template is the path of the document that a path belongs to.
func (s *site) template(path string) string {
	parts := strings.Split(path, "/")
	for _, r := range routes() {
		want := strings.Split(r.path, "/")
		if len(want) == len(parts) {
			same := true
			for i := range want {
				same = same && (want[i] == parts[i] || strings.HasPrefix(want[i], "{"))
			}
			if same {
				return r.path
			}
		}
	}
	return path
}

// at is a value inside an answer.
func (a answer) at(path ...any) any {
	var x any = a.json
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := x.(map[string]any)
			x = m[p]
		case int:
			l, _ := x.([]any)
			if p >= len(l) {
				return nil
			}
			x = l[p]
		}
	}
	return x
}

// TestDocument: the document has the routes of the handler, and no others.
func TestDocument(t *testing.T) {
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			Security    *[]any
			RequestBody *struct {
				Content map[string]struct {
					Schema map[string]string
				}
			}
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("version %s", doc.OpenAPI)
	}
	known := map[string]bool{}
	for _, r := range routes() {
		known[strings.ToLower(r.method)+" "+r.path] = true
		o, ok := doc.Paths[r.path][strings.ToLower(r.method)]
		if !ok {
			t.Errorf("%s %s is not in the document", r.method, r.path)
		}
		if open := o.Security != nil && len(*o.Security) == 0; open != r.open {
			t.Errorf("%s %s: open without credentials: %v, in the document %v", r.method, r.path, r.open, open)
		}
	}
	for path, operations := range doc.Paths {
		for method := range operations {
			if !known[method+" "+path] {
				t.Errorf("the document has %s %s, and the server does not", method, path)
			}
		}
	}
	compile := schemas(t)
	for name := range doc.Components.Schemas {
		compile("/components/schemas/" + name)
	}
	// Each field of a body is in the document, and the other way round.
	var b map[string]any
	if err := json.Unmarshal(encode(request.Body{}), &b); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{"format": true}
	queries, parts := forms()
	for _, names := range append(slices.Collect(maps.Values(queries)), slices.Collect(maps.Values(parts))...) {
		if len(names) == 0 {
			t.Error("a kind without fields")
		}
		for _, name := range names {
			all[name] = true
			if _, ok := b[name]; !ok {
				t.Errorf("the document has the field %s, and the server does not", name)
			}
		}
	}
	for name := range b {
		if !all[name] {
			t.Errorf("the field %s is not in the document", name)
		}
	}
}

func TestQueries(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	a := s.do("POST", "/v1/count", `{"graph":"karate","pattern":"triangle"}`)
	if a.status != 200 || a.at("result", "subgraphs") != 45.0 || a.at("run", "complete") != true || a.header.Get("Weft-Run") == "" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a.at("result", "graph", "path") != "karate" || strings.Contains(a.body, "testdata") {
		t.Errorf("the answer has a path: %s", a.body)
	}
	a = s.do("POST", "/v1/count", `{"graph":"karate","query":"MATCH (a)--(b) WHERE id(a) IN $ids RETURN count(*)","params":{"ids":[1,2]}}`)
	if a.at("result", "embeddings") != 25.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = s.do("POST", "/v1/exists", `{"graph":"karate","pattern":"clique(5)"}`)
	if a.at("exists") != true {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = s.do("POST", "/v1/exists", `{"graph":"karate","pattern":"clique(6)"}`)
	if a.at("exists") != false {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = s.do("POST", "/v1/motifs", `{"graph":"karate","k":3}`)
	if l, _ := a.at("results").([]any); len(l) != 2 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a.at("motifs", 1, "name") != "triangle" || a.at("motifs", 1, "directed") != false || fmt.Sprint(a.at("motifs", 1, "edges")) != "[[0 1] [0 2] [1 2]]" {
		t.Errorf("%s", a.body)
	}
	a = s.do("POST", "/v1/info", `{"graph":"karate"}`)
	if a.at("info", "vertices") != 34.0 || strings.Contains(a.body, "testdata") {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = s.do("POST", "/v1/explain", `{"graph":"karate","pattern":"triangle","profile":true}`)
	if text, _ := a.at("text").(string); !strings.Contains(text, "for ") || a.at("result", "subgraphs") != 45.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = s.do("POST", "/v1/participation", `{"graph":"karate","pattern":"triangle","vertex":"v0"}`)
	if l, _ := a.at("rows").([]any); len(l) != 34 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("GET", "/v1/graphs", ""); a.at("graphs", 1, "name") != "karate" {
		t.Errorf("%d %s", a.status, a.body)
	}
	s.do("GET", "/v1/graphs/karate", "")
	s.do("GET", "/v1/running", "")
	s.do("GET", "/healthz", "")
	if a = s.do("GET", "/openapi.json", ""); a.body != string(document) {
		t.Error("another document")
	}
	if a = s.do("GET", "/metrics", ""); !strings.Contains(a.body, `weft_queries_total{cut="",kind="count",protocol="http"} 2`) {
		t.Error(a.body)
	}
}

func TestRows(t *testing.T) {
	s := newSite(t, serve.Limits{Rows: 20}, Options{})
	const all, some = `{"graph":"karate","query":"MATCH (a)--(b)--(c)--(a) WHERE id(a) = 2 RETURN a, b, c LIMIT 15"}`, `{"graph":"karate","pattern":"triangle"}`
	for _, f := range formats {
		for _, test := range []struct{ body, complete, cut, rows string }{{`{"graph":"karate","query":"MATCH (a)--(b) WHERE id(a) = 34 AND id(b) = 9"}`, "true", "", "1"}, {some, "false", "rows", "20"}} {
			a := s.do("POST", "/v1/match", test.body, "Accept", f.media)
			if a.status != 200 || a.trailer.Get(trailerComplete) != test.complete || a.trailer.Get(trailerCut) != test.cut || a.trailer.Get(trailerRows) != test.rows {
				t.Errorf("%s: %d, trailers %v\n%s", f.name, a.status, a.trailer, a.body)
			}
			n := 0
			switch f.name {
			case "json":
				l, _ := a.at("rows").([]any)
				n = len(l)
				if cut, _ := a.at("run", "cut").(string); cut != test.cut {
					t.Error(a.body)
				}
			case "ndjson":
				lines := strings.Split(strings.TrimSpace(a.body), "\n")
				n = len(lines)
				if test.cut != "" {
					n--
					if last := lines[n]; !strings.HasPrefix(last, `{"weft":`) || !strings.Contains(last, `"cut":"rows"`) {
						t.Errorf("the last line is %s", last)
					}
				}
			case "csv":
				n = strings.Count(a.body, "\n") - 1
			case "arrow":
				r, err := ipc.NewReader(strings.NewReader(a.body))
				if err != nil {
					t.Fatal(err)
				}
				for r.Next() {
					n += int(r.RecordBatch().NumRows())
				}
				if r.Err() != nil {
					t.Error(r.Err())
				}
			}
			if fmt.Sprint(n) != test.rows {
				t.Errorf("%s: %d rows, want %s: %s", f.name, n, test.rows, a.body)
			}
		}
	}
	if a := s.do("POST", "/v1/match", all); a.trailer.Get(trailerRows) != "15" {
		t.Errorf("%v %s", a.trailer, a.body)
	}
	if a := s.do("POST", "/v1/match", all, "Accept", "text/html, text/csv;q=0.5, */*;q=0.1"); !strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") {
		t.Errorf("%v", a.header)
	}
	if a := s.do("POST", "/v1/match", all, "Accept", "image/png"); a.status != http.StatusNotAcceptable {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestPage: browsers get the page without credentials, and others a word of where to go on. There is nothing beside its files.
func TestPage(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{}, serve.Account{User: "ana", Hash: serve.HashSecret("secret")})
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, f := range page.Files() {
		a := s.do("GET", f.Path, "", "Accept", browser)
		if a.status != 200 || a.body == "" || a.header.Get("Content-Security-Policy") != contentPolicy || a.header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %d %v", f.Path, a.status, a.header)
		}
		if cache := a.header.Get("Cache-Control"); (cache == "no-cache") == strings.HasPrefix(f.Path, "/assets/") {
			t.Errorf("%s: %s", f.Path, cache)
		}
		if again := s.do("GET", f.Path, "", "Accept", browser, "If-None-Match", a.header.Get("ETag"), "Accept-Encoding", "gzip"); again.status != 200 && again.status != 304 {
			t.Errorf("%s: %d", f.Path, again.status)
		}
		resp, err := http.Head(s.url + f.Path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("HEAD %s: %d", f.Path, resp.StatusCode)
		}
		if a := s.do("POST", f.Path, "{}"); a.status != 405 || a.header.Get("Allow") != "GET" {
			t.Errorf("POST %s: %d %s", f.Path, a.status, a.body)
		}
	}
	if a := s.do("GET", "/", "", "Accept", browser); !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || !strings.Contains(strings.Join(a.header.Values("Vary"), ","), "Accept,") {
		t.Errorf("%v", a.header)
	}
	for _, accept := range []string{"", "*/*", "application/json"} {
		if a := s.do("GET", "/", "", "Accept", accept); a.status != 200 || a.at("requests") != "/openapi.json" {
			t.Errorf("Accept %q: %d %s", accept, a.status, a.body)
		}
	}
	for _, path := range []string{
		"/index.html", "/assets", "/assets/", "/assets/none.js", "/dist/index.html", "/page.go", "/assets/..%2findex.html", "/..%2fpage.go", "/%2e%2e/page.go", "/assets/%2e%2e/%2e%2e/page.go",
		"/assets/%5c..%5c..%5cpage.go", "//icon.svg%00", "/assets//etc/passwd",
	} {
		if a := s.do("GET", path, "", "Accept", browser); a.status != 404 || a.at("kind") != "unknown_path" {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := s.do("POST", "/nowhere", "{}"); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do("GET", "/", "", "Accept", browser, "Host", "evil.example"); a.status != 421 {
		t.Errorf("under another name: %d", a.status)
	}
	// A page of another site may have a link to the page, and to nothing else.
	for _, test := range []struct {
		method, path, mode string
		status             int
	}{{"GET", "/", "navigate", 200}, {"GET", "/", "no-cors", 403}, {"POST", "/", "navigate", 403}, {"GET", "/v1/graphs", "navigate", 403}, {"GET", "/icon.svg", "navigate", 403}} {
		if a := s.do(test.method, test.path, "", "Accept", browser, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", test.mode); a.status != test.status {
			t.Errorf("%s %s from another site, mode %s: %d", test.method, test.path, test.mode, a.status)
		}
	}
}

// TestSchema: the names in a graph, as the library has them, and lists where there are none.
func TestSchema(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{}, serve.Account{User: "ana", Hash: serve.HashSecret("secret"), Rights: serve.Rights{Graphs: []string{"karate", "labelled"}}})
	ana := []string{"Authorization", "Basic YW5hOnNlY3JldA=="}
	rt := weft.NewRuntime(weft.RuntimeOptions{CacheDir: "off"})
	t.Cleanup(func() { rt.Close() })
	path := filepath.Join(t.TempDir(), "labelled.csv")
	if err := os.WriteFile(path, []byte("src,dst,label,time,amount\na,b,PAID,5,1.5\nb,c,OWNS,6,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.server.Catalog.Open(t.Context(), serve.Source{Name: "labelled", Path: path}); err != nil {
		t.Fatal(err)
	}
	a := s.do("GET", "/v1/graphs/labelled/schema", "", ana...)
	if want := `{"vertex_labels":[],"edge_labels":["OWNS","PAID"],"vertex_properties":[],"edge_properties":[{"name":"amount","type":"float64"}],"edge_times":true}` + "\n"; a.status != 200 || a.body != want {
		t.Errorf("%d %s, want %s", a.status, a.body, want)
	}
	a = s.do("GET", "/v1/graphs/karate/schema", "", ana...)
	if want := `{"vertex_labels":[],"edge_labels":[],"vertex_properties":[],"edge_properties":[],"edge_times":false}` + "\n"; a.status != 200 || a.body != want {
		t.Errorf("%d %s, want %s", a.status, a.body, want)
	}
	for _, name := range []string{"dense", "nobody"} { // one that this user may not read, and one that does not exist
		if a := s.do("GET", "/v1/graphs/"+name+"/schema", "", ana...); a.status != 404 || a.at("kind") != "unknown_graph" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := s.do("GET", "/v1/graphs/karate/schema", ""); a.status != 401 {
		t.Errorf("without a user: %d", a.status)
	}
}

// TestParts: the parts of a query with their places, and its mistakes with theirs.
func TestParts(t *testing.T) {
	s := newSite(t, serve.Limits{Text: 200, Vertices: 5}, Options{})
	for _, query := range []string{
		"MATCH (a:A {x: 1})-[e:E*1..2]->(b), NOT (b)--(a) WHERE EXISTS { (a)--(c) } OR a.x = 2 RETURN a, b",
		"MATCH INDUCED (ä)--(b)", "MATCH clique(4)", "(a)-[]->(b); !(b)-[]->(a)",
	} {
		a := s.do("POST", "/v1/parse", string(encode(map[string]string{"query": query})))
		want, err := gql.ReadParts(query)
		if a.status != 200 || err != nil || a.body != string(encode(want)) {
			t.Errorf("%s: %d %s, want %s, %v", query, a.status, a.body, encode(want), err)
		}
	}
	a := s.do("POST", "/v1/parse", `{"query":"MATCH (ä)--(b)\n WHERE (x.y = 1)"}`)
	if a.status != 200 || a.at("mistake", "kind") != "query" || a.at("mistake", "line") != 2.0 || a.at("mistake", "column") != 9.0 || a.at("mistake", "offset") != 24.0 || a.at("mistake", "length") != 1.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for body, want := range map[string]int{
		`{"query":"MATCH (a)--(b)--(c)--(d)--(e)--(f)"}`: 413, `{"query":"` + strings.Repeat("x", 201) + `"}`: 413, `{"query":"MATCH clique(6)"}`: 413,
		`{"query":" "}`: 400, `{}`: 400, `{"query":"MATCH (a)--(b)","graph":"karate"}`: 400, `{"query":"MATCH (a)--(b)","kind":"parse"}`: 400, `{"query":1}`: 400,
	} {
		if a := s.do("POST", "/v1/parse", body); a.status != want {
			t.Errorf("%s: %d %s, want %d", body, a.status, a.body, want)
		}
	}
	if a := s.do("POST", "/v1/jobs", `{"kind":"parse","query":"MATCH (a)--(b)"}`); a.status != 400 {
		t.Errorf("a job that parses: %d %s", a.status, a.body)
	}
}

// TestTags: a query is found by its tag while it runs, and so is a job.
func TestTags(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	const tag = "page ä " + "\u2192" + ` 7 "x"`
	body := string(encode(map[string]any{"graph": "dense", "query": servetest.Long, "engine": "host", "tag": tag}))
	answered := make(chan answer, 1)
	go func() { answered <- s.do("POST", "/v1/count", body) }()
	id := any(nil)
	for start := time.Now(); id == nil; time.Sleep(5 * time.Millisecond) {
		if a := s.do("GET", "/v1/running", ""); a.at("running", 0, "tag") == tag && a.at("running", 0, "state") == "running" {
			id = a.at("running", 0, "id")
		}
		if time.Since(start) > 20*time.Second {
			t.Fatal("the query is not listed with its tag")
		}
	}
	path := fmt.Sprintf("/v1/jobs/%v", id)
	if a := s.do("GET", path, ""); a.at("tag") != tag {
		t.Errorf("%d %s", a.status, a.body)
	}
	s.do("DELETE", path, "")
	if a := <-answered; a.status != 200 || a.at("run", "cut") != "cancel" {
		t.Errorf("%d %s", a.status, a.body)
	}
	a := s.do("POST", "/v1/jobs", `{"kind":"count","graph":"karate","pattern":"triangle","tag":"of a job"}`)
	if a.status != 202 || a.at("tag") != "of a job" {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, e := range s.events(a.header.Get("Location") + "/events") {
		if !strings.Contains(e, `"tag":"of a job"`) {
			t.Errorf("an event has no tag: %s", e)
		}
	}
	for text, want := range map[string]int{
		strings.Repeat("ä", 64): 200, strings.Repeat("a", 65): 400, "": 200, "a\nb": 400, "\x1b[2J": 400, "\x7f": 400, "\u0085": 400, "a\u202eb": 400, "\u2028": 400,
	} {
		a := s.do("POST", "/v1/count", string(encode(map[string]any{"graph": "karate", "pattern": "triangle", "tag": text})))
		if a.status != want {
			t.Errorf("tag %q: %d %s, want %d", text, a.status, a.body, want)
		}
	}
	if a := s.do("POST", "/v1/motifs", `{"graph":"karate","k":3,"tag":"\u0000"}`); a.status != 400 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestProblems(t *testing.T) {
	s := newSite(t, serve.Limits{Text: 200, Vertices: 5}, Options{Body: 1000})
	for _, test := range []struct {
		method, path, body string
		headers            []string
		status             int
		kind               string
	}{
		{"POST", "/v1/count", `{"graph":"nobody","pattern":"triangle"}`, nil, 404, "unknown_graph"},
		{"POST", "/v1/count", `{"graph":"../karate","pattern":"triangle"}`, nil, 404, "unknown_graph"},
		{"POST", "/v1/count", `{"pattern":"triangle"}`, nil, 404, "unknown_graph"},
		{"POST", "/v1/count", `{"graph":"karate","pattern":"clique(6)"}`, nil, 413, "too_large"},
		{"POST", "/v1/count", `{"graph":"karate","query":"` + strings.Repeat("x", 201) + `"}`, nil, 413, "too_large"},
		{"POST", "/v1/count", `{"graph":"karate","query":"` + strings.Repeat("x", 1001) + `"}`, nil, 413, "too_large"},
		{"POST", "/v1/count", `{"graph":"karate","pattern":"triangle","colour":1}`, nil, 400, "bad_request"},
		{"POST", "/v1/exists", `{"graph":"karate","pattern":"triangle","limit":1}`, nil, 400, "bad_request"},
		{"POST", "/v1/count", `{"graph":"karate","pattern":"triangle","format":"csv"}`, nil, 400, "bad_request"},
		{"POST", "/v1/count", `{"graph":"karate","pattern":"triangle","kind":"match"}`, nil, 400, "bad_request"},
		{"POST", "/v1/count", `{"graph":"karate","pattern":"triangle","params":{"x":{}}}`, nil, 400, "bad_request"},
		{"POST", "/v1/count", `{"graph":`, nil, 400, "bad_request"},
		{"POST", "/v1/count", `{} {}`, nil, 400, "bad_request"},
		{"POST", "/v1/count", `[]`, nil, 400, "bad_request"},
		{"POST", "/v1/count", `{"graph":"karate","pattern":"triangle","engine":"warp"}`, nil, 400, "usage"},
		{"POST", "/v1/count", `{"graph":"karate","pattern":"triangle"}`, []string{"Content-Type", "text/plain"}, 415, "media_type"},
		{"POST", "/v1/count", `{"graph":"karate","query":"MATCH (a)--(b) WHERE a.x = $y"}`, nil, 422, "query"},
		{"POST", "/v1/motifs", `{"graph":"karate","k":9}`, nil, 400, "bad_request"},
		{"POST", "/v1/jobs", `{"graph":"karate","pattern":"triangle"}`, nil, 400, "bad_request"},
		{"POST", "/v1/jobs", `{"kind":"match","format":"xml","graph":"karate","pattern":"triangle"}`, nil, 400, "bad_request"},
		{"GET", "/v1/jobs/7000", "", nil, 404, "unknown_run"},
		{"GET", "/v1/jobs/x", "", nil, 404, "unknown_run"},
		{"GET", "/v1/count", "", nil, 405, "method"},
		{"GET", "/v2", "", nil, 404, "unknown_path"},
		{"GET", "/v1/graphs", "", []string{"Host", "evil.example"}, 421, "host"},
		{"GET", "/v1/graphs", "", []string{"Origin", "http://evil.example"}, 403, "origin"},
		{"GET", "/v1/graphs", "", []string{"Origin", "null"}, 403, "origin"},
		{"POST", "/v1/count", `{"graph":"karate","pattern":"triangle"}`, []string{"Sec-Fetch-Site", "cross-site"}, 403, "origin"},
		{"PUT", "/v1/graphs/karate", "", nil, 409, "conflict"},
		{"PUT", "/v1/graphs/none", "", nil, 404, "unknown_graph"},
		{"PUT", "/v1/graphs/..%2Fkarate", "", nil, 400, "bad_request"},
	} {
		a := s.do(test.method, test.path, test.body, test.headers...)
		if a.status != test.status || a.at("kind") != test.kind || a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s %s: %d %s; want %d %s", test.method, test.path, test.body, a.status, a.body, test.status, test.kind)
		}
	}
	a := s.do("POST", "/v1/count", `{"graph":"karate","query":"MATCH (a)--(b)\nWHER a.x = 1"}`)
	if a.status != 422 || a.at("line") != 2.0 || a.at("column") != 1.0 || !strings.Contains(a.at("caret").(string), "^") {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = s.do("POST", "/v1/count", `{"graph":"karate","query":"MATCH (a)--(b) WHERE a.x = $y"}`)
	if a.at("line") != 1.0 || a.at("column") != 28.0 || a.at("offset") != 27.0 || a.at("length") != 2.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, path := range []string{"/v1/match", "/v1/jobs"} {
		a = s.do("POST", path, `{"kind":"match","graph":"karate",`+"\n"+`"params":{"x":1,"x":2}}`)
		if a.status != 400 || a.at("field") != "params.x" || a.at("body", "line") != 2.0 || a.at("body", "column") != 17.0 || a.at("line") != nil {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	for _, scheme := range []string{"http://", "https://"} { // with a proxy that has TLS
		if a := s.do("GET", "/v1/graphs", "", "Origin", scheme+strings.TrimPrefix(s.url, "http://")); a.status != 200 {
			t.Errorf("a page of this server by %s: %d", scheme, a.status)
		}
	}
	for _, host := range []string{"localhost", "localhost:80", "127.0.0.1:1", "[::1]:2"} {
		if a := s.do("GET", "/healthz", "", "Host", host); a.status != 200 {
			t.Errorf("host %s: %d", host, a.status)
		}
	}
}

func TestGraphs(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	if a := s.do("GET", "/v1/graphs", ""); !strings.Contains(a.body, `"transfers"`) {
		t.Errorf("the folder has transfers: %s", a.body)
	}
	if a := s.do("PUT", "/v1/graphs/transfers", ""); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
	before := s.do("GET", "/v1/graphs/transfers", "")
	if a := s.do("POST", "/v1/graphs/transfers/reload", ""); a.status != 200 || a.at("version") == before.at("version") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do("DELETE", "/v1/graphs/transfers", ""); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do("DELETE", "/v1/graphs/transfers", ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestUsers(t *testing.T) {
	account := func(name string, r serve.Rights) serve.Account {
		return serve.Account{User: name, Hash: serve.HashSecret("password of " + name), Rights: r}
	}
	token, ci := serve.NewToken("ci", serve.Rights{Graphs: []string{"dense"}, Metrics: true}, serve.Quota{})
	s := newSite(t, serve.Limits{}, Options{}, account("ana", serve.Rights{Graphs: []string{"karate"}}), account("root", serve.Rights{Graphs: []string{"*"}, Admin: true}), ci)
	basic := func(user, password string) []string {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, password)
		return []string{"Authorization", r.Header.Get("Authorization")}
	}
	ana, root, bearer := basic("ana", "password of ana"), basic("root", "password of root"), []string{"Authorization", "Bearer " + token}
	for _, test := range []struct {
		method, path string
		headers      []string
		status       int
	}{
		{"GET", "/v1/graphs", nil, 401},
		{"GET", "/healthz", nil, 200},
		{"GET", "/v1/graphs/karate", ana, 200},
		{"GET", "/v1/graphs/dense", ana, 404},
		{"GET", "/v1/graphs/dense", bearer, 200},
		{"GET", "/metrics", ana, 403},
		{"GET", "/metrics", bearer, 200},
		{"POST", "/v1/graphs/karate/reload", ana, 403},
		{"DELETE", "/v1/graphs/karate", bearer, 403},
		{"POST", "/v1/graphs/karate/reload", root, 200},
		{"GET", "/v1/graphs", basic("ana", "guess"), 401},
		{"GET", "/v1/graphs", basic("nobody", "guess"), 401},
		{"GET", "/v1/graphs", []string{"Authorization", "Bearer " + token[:len(token)-1] + "x"}, 401},
		{"GET", "/v1/graphs", []string{"Authorization", "Bearer nonsense"}, 401},
	} {
		a := s.do(test.method, test.path, "", test.headers...)
		if a.status != test.status || a.status == 401 && a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s %s as %v: %d %s; want %d", test.method, test.path, test.headers, a.status, a.body, test.status)
		}
	}
	// After too many wrong attempts none is checked. Those who were right before still are.
	limited := false
	for range 10 {
		a := s.do("GET", "/v1/graphs", "", basic("ana", "guess")...)
		limited = limited || a.status == 429 && a.header.Get("Retry-After") != ""
	}
	if !limited {
		t.Error("attempts are not limited")
	}
	if a := s.do("GET", "/v1/graphs", "", ana...); a.status != 200 {
		t.Errorf("a user who was right before: %d", a.status)
	}
}

func TestJobs(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	a := s.do("POST", "/v1/jobs", `{"kind":"match","graph":"karate","pattern":"triangle","format":"csv"}`)
	at := a.header.Get("Location")
	if a.status != 202 || at == "" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	events := s.events(at + "/events")
	if last := events[len(events)-1]; !strings.HasPrefix(last, "done ") || !strings.Contains(last, `"complete":true`) {
		t.Errorf("the last event is %s", last)
	}
	if a = s.do("GET", at, ""); a.at("state") != "done" || a.at("run", "rows") != 45.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("GET", at+"/answer", ""); a.status != 200 || strings.Count(a.body, "\n") != 46 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	if a = s.do("DELETE", at, ""); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("GET", at, ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
	at = s.do("POST", "/v1/jobs", `{"kind":"count","graph":"dense","query":"`+servetest.Long+`","engine":"host"}`).header.Get("Location")
	if a = s.do("GET", at+"/answer", ""); a.status != 409 {
		t.Errorf("%d %s", a.status, a.body)
	}
	time.AfterFunc(300*time.Millisecond, func() {
		if a := s.do("GET", "/v1/running", ""); a.at("running", 0, "state") != "running" {
			t.Errorf("%d %s", a.status, a.body)
		}
		s.do("DELETE", at, "")
	})
	start := time.Now()
	events = s.events(at + "/events")
	if last := events[len(events)-1]; !strings.Contains(last, `"cut":"cancel"`) || len(events) < 2 || time.Since(start) > 5*time.Second {
		t.Errorf("%v after %v", events, time.Since(start))
	}
	if a = s.do("GET", at+"/answer", ""); a.status != 200 || a.at("run", "cut") != "cancel" || a.at("result", "complete") != false {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestEnded: after the end of an answer in CSV, its run is told for a while to the user who asked, and to nobody else.
func TestEnded(t *testing.T) {
	account := func(name string) serve.Account {
		return serve.Account{User: name, Hash: serve.HashSecret(name), Rights: serve.Rights{Graphs: []string{"karate"}}}
	}
	s := newSite(t, serve.Limits{}, Options{}, account("ana"), account("bob"))
	as := func(user string) []string {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, user)
		return []string{"Authorization", r.Header.Get("Authorization"), "Accept", "text/csv"}
	}
	a := s.do("POST", "/v1/match", `{"graph":"karate","pattern":"triangle","limit":7}`, as("ana")...)
	at := "/v1/jobs/" + a.header.Get("Weft-Run")
	a = s.do("GET", at, "", as("ana")...)
	if a.at("state") != "done" || a.at("run", "complete") != false || a.at("run", "cut") != "limit" || a.at("run", "rows") != 7.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("GET", at, "", as("bob")...); a.status != 404 {
		t.Errorf("another user: %d %s", a.status, a.body)
	}
	if a = s.do("GET", "/v1/graphs", "", as("bob")...); a.at("user") != "bob" {
		t.Errorf("%d %s", a.status, a.body)
	}
	s.h.Keep = time.Nanosecond
	a = s.do("POST", "/v1/match", `{"graph":"karate","pattern":"triangle"}`, as("ana")...)
	if a = s.do("GET", "/v1/jobs/"+a.header.Get("Weft-Run"), "", as("ana")...); a.status != 404 {
		t.Errorf("after the time: %d %s", a.status, a.body)
	}
}

// TestJobEndsBeforeDelete: a client that cancels a job at the moment of its end finds the answer still there, and another DELETE forgets it.
func TestJobEndsBeforeDelete(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	at := s.do("POST", "/v1/jobs", `{"kind":"count","graph":"karate","pattern":"triangle"}`).header.Get("Location")
	s.h.jobs.running.Wait() // no client knows that it has ended
	a := s.do("DELETE", at, "")
	if a.status != 200 || a.at("state") != "done" || a.at("run", "complete") != true {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("GET", a.at("answer").(string), ""); a.status != 200 || a.at("result", "subgraphs") != 45.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("DELETE", at, ""); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("GET", at, ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestJobsAreForgotten: the oldest answers go when there are too many bytes of them, and an answer that is too long is cut short.
func TestJobsAreForgotten(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	var at []string
	for range 3 {
		at = append(at, s.do("POST", "/v1/jobs", `{"kind":"match","graph":"karate","pattern":"triangle"}`).header.Get("Location"))
		s.events(at[len(at)-1] + "/events")
	}
	size := len(s.do("GET", at[2]+"/answer", "").body)
	s.h.jobs.mu.Lock()
	for _, j := range s.h.jobs.of {
		j.user = "ana"
	}
	s.h.jobs.mu.Unlock()
	s.h.jobs.forget("bob", 0)
	s.h.jobs.forget("ana", 2*size+20)
	for i, want := range []int{404, 200, 200} {
		if a := s.do("GET", at[i], ""); a.status != want {
			t.Errorf("job %d: %d, want %d", i, a.status, want)
		}
	}
	s.h.jobs.forget("", 0)
	s.h.Keep = 50 * time.Millisecond
	brief := s.do("POST", "/v1/jobs", `{"kind":"count","graph":"karate","pattern":"triangle"}`).header.Get("Location")
	for start := time.Now(); s.do("GET", brief, "").status != 404; time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatal("a job does not expire by itself")
		}
	}
	s.h.Keep = time.Minute
	for _, format := range []string{"ndjson", "json"} {
		large := s.do("POST", "/v1/jobs", `{"kind":"match","graph":"dense","query":"MATCH (a)--(b)--(c)","format":"`+format+`"}`).header.Get("Location")
		events := s.events(large + "/events")
		if last := events[len(events)-1]; !strings.Contains(last, `"cut":"size"`) || strings.Contains(last, `"error"`) {
			t.Error(last)
		}
		a := s.do("GET", large+"/answer", "")
		if len(a.body) > mostAnswer || len(a.body) < mostAnswer/2 {
			t.Errorf("%d bytes", len(a.body))
		}
		if format == "json" {
			var whole struct {
				Rows []json.RawMessage
				Run  struct {
					Cut  string
					Rows int
				}
			}
			if err := json.Unmarshal([]byte(a.body), &whole); err != nil || whole.Run.Cut != "size" || whole.Run.Rows != len(whole.Rows) {
				t.Errorf("%v, %+v, %d rows", err, whole.Run, len(whole.Rows))
			}
		}
	}
}

// events reads server-sent events to their end.
func (s *site) events(path string) (out []string) {
	s.t.Helper()
	resp, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	event := ""
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			event = name
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(data))
			if err != nil {
				s.t.Fatal(err)
			}
			if err := s.schema("/components/schemas/Job").Validate(value); err != nil {
				s.t.Error(err)
			}
			out = append(out, event+" "+data)
		}
	}
	return out
}

// TestClientGoes: the search of a client that disconnects ends within 100 ms, and more under a loaded machine.
func TestClientGoes(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	for _, path := range []string{"/v1/count", "/v1/match"} {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "POST", s.url+path, strings.NewReader(`{"graph":"dense","query":"`+servetest.Long+`","engine":"host"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		done := make(chan struct{})
		go func() {
			defer close(done)
			if resp, err := http.DefaultClient.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}()
		running := func() bool {
			all := s.server.Running(serve.Anyone())
			return len(all) > 0 && all[0].State == "running"
		}
		for !running() {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		start := time.Now()
		cancel()
		for len(s.server.Running(serve.Anyone())) > 0 {
			time.Sleep(time.Millisecond)
		}
		took := time.Since(start)
		t.Logf("%s: the search ended after %v", path, took)
		if took > 2*time.Second {
			t.Errorf("%s: the search ended after %v", path, took)
		}
		<-done
	}
}

// TestSlowReader: a client that stops reading loses its connection after a while, and its search ends.
func TestSlowReader(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{Patient: 300 * time.Millisecond})
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"graph":"dense","query":"MATCH (a)--(b)--(c)"}`
	fmt.Fprintf(c, "POST /v1/match HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	time.Sleep(100 * time.Millisecond)
	for start := time.Now(); len(s.server.Running(serve.Anyone())) > 0; {
		if time.Since(start) > 20*time.Second {
			t.Fatal("the search of a client that does not read goes on")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestAnswersOfOthers: an administrator reads answers about the graphs that it may read.
func TestAnswersOfOthers(t *testing.T) {
	account := func(name string, r serve.Rights) serve.Account {
		return serve.Account{User: name, Hash: serve.HashSecret("password"), Rights: r}
	}
	token, few := serve.NewToken("ana", serve.Rights{Graphs: []string{"dense"}}, serve.Quota{})
	s := newSite(t, serve.Limits{}, Options{}, account("ana", serve.Rights{Graphs: []string{"karate"}}), few,
		account("keeper", serve.Rights{Admin: true}), account("root", serve.Rights{Graphs: []string{"*"}, Admin: true}))
	as := func(user string) []string {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, "password")
		return []string{"Authorization", r.Header.Get("Authorization")}
	}
	path := fmt.Sprintf("/v1/jobs/%v", s.do("POST", "/v1/jobs", `{"kind":"count","graph":"karate","pattern":"triangle"}`, as("ana")...).at("id"))
	for s.do("GET", path, "", as("keeper")...).at("state") != "done" {
		time.Sleep(time.Millisecond)
	}
	for _, test := range []struct {
		headers []string
		want    int
	}{{as("ana"), 200}, {as("root"), 200}, {as("keeper"), 403}, {[]string{"Authorization", "Bearer " + token}, 403}} {
		if a := s.do("GET", path+"/answer", "", test.headers...); a.status != test.want {
			t.Errorf("%v: %d %s; want %d", test.headers, a.status, a.body, test.want)
		}
	}
}

// TestMemoryOfUser: the answers of a user's jobs take as many bytes as the user may have, each and together. Other users have more.
func TestMemoryOfUser(t *testing.T) {
	const most = 1 << 20
	account := func(name string, q serve.Quota) serve.Account {
		return serve.Account{User: name, Hash: serve.HashSecret("password"), Rights: serve.Rights{Graphs: []string{"dense"}}, Quota: q}
	}
	s := newSite(t, serve.Limits{}, Options{}, account("few", serve.Quota{Memory: most}), account("much", serve.Quota{}))
	for _, test := range []struct {
		user        string
		least, most int // bytes of an answer
		kept        int // of three
	}{{"few", most / 2, most, 1}, {"much", 2 * most, mostAnswer, 3}} {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(test.user, "password")
		as := []string{"Authorization", r.Header.Get("Authorization")}
		kept := 0
		var paths []string
		for range 3 {
			path := fmt.Sprintf("/v1/jobs/%v", s.do("POST", "/v1/jobs", `{"kind":"match","graph":"dense","query":"MATCH (a)--(b)--(c)","limit":400000,"format":"csv"}`, as...).at("id"))
			for s.do("GET", path, "", as...).at("state") != "done" {
				time.Sleep(time.Millisecond)
			}
			a := s.do("GET", path+"/answer", "", as...)
			if n := len(a.body); n < test.least || n > test.most {
				t.Errorf("%s: %d bytes", test.user, n)
			}
			paths = append(paths, path)
		}
		for _, path := range paths {
			if s.do("GET", path, "", as...).status == 200 {
				kept++
			}
		}
		if kept != test.kept {
			t.Errorf("%s: %d answers are kept", test.user, kept)
		}
	}
}

// deaf is a client that takes a number of bytes.
type deaf struct {
	*httptest.ResponseRecorder
	left int
}

func (d *deaf) Write(b []byte) (int, error) {
	if d.left -= len(b); d.left < 0 {
		return 0, errors.New("the client takes no more")
	}
	return d.ResponseRecorder.Write(b)
}

func (d *deaf) FlushError() error { return nil }

// TestBrokenOff: an answer that fails after its first bytes does not look complete.
func TestBrokenOff(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	begin := func(q serve.Request) *serve.Run {
		run, err := s.server.Begin(t.Context(), serve.Anyone(), q)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(run.Close)
		return run
	}
	breaks := func(f func()) (broken bool) {
		defer func() {
			x := recover()
			if broken = x != nil; broken && x != http.ErrAbortHandler {
				panic(x)
			}
		}()
		f()
		return false
	}
	for _, kind := range []serve.Kind{serve.Match, serve.Participation} {
		for _, format := range []string{"json", "ndjson", "csv", "arrow"} {
			run := begin(serve.Request{Kind: kind, Graph: "dense", Query: "MATCH (a)--(b)", Vertex: map[serve.Kind]string{serve.Participation: "a"}[kind]})
			if !breaks(func() { _ = s.h.answer(&deaf{httptest.NewRecorder(), 10}, run, format) }) {
				t.Errorf("%s as %s: the answer is not broken off", kind, format)
			}
			if sum := run.Summary(); sum.Complete || sum.Cut != serve.CutClient {
				t.Errorf("%s as %s: %+v", kind, format, sum)
			}
		}
	}
	for format, want := range map[string]bool{"json": false, "ndjson": false, "csv": true, "arrow": true} {
		out := s.h.rows(httptest.NewRecorder(), begin(serve.Request{Kind: serve.Match, Graph: "karate", Pattern: "triangle"}), format)
		if _, err := out.Write([]byte("a row\n")); err != nil {
			t.Fatal(err)
		}
		if breaks(func() { _ = out.end(errors.New("in the middle")) }) != want {
			t.Errorf("%s: broken off: %v", format, !want)
		}
	}
}

// TestOldProtocol: HTTP/1.0 has no trailers, so only JSON is written there.
func TestOldProtocol(t *testing.T) {
	s := newSite(t, serve.Limits{Rows: 10}, Options{})
	for accept, want := range map[string]string{"text/csv": "505", "application/x-ndjson": "505", "application/json": "200"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		body := `{"graph":"karate","pattern":"triangle"}`
		fmt.Fprintf(c, "POST /v1/match HTTP/1.0\r\nHost: localhost\r\nAccept: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", accept, len(body), body)
		text, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(text), "HTTP/1.0 "+want) || want == "200" && !strings.Contains(string(text), `"cut":"rows"`) {
			t.Errorf("%s: %v %s", accept, err, text)
		}
	}
	a := s.do("POST", "/v1/participation", `{"graph":"karate","pattern":"triangle","vertex":"v0"}`, "Accept", "text/csv")
	if a.header.Get("Weft-Limit") != "10" || a.trailer.Get("Weft-Complete") != "false" || a.trailer.Get("Weft-Cut") != "rows" || a.trailer.Get("Weft-Rows") != "10" || strings.Count(a.body, "\n") != 11 {
		t.Errorf("participation: %v %v %s", a.header, a.trailer, a.body)
	}
}

// TestNoPaths: no answer has the path of a file.
func TestNoPaths(t *testing.T) {
	var log bytes.Buffer
	s := newSite(t, serve.Limits{}, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	for kind, body := range map[string]string{
		"count": "", "match": "", "exists": "", "explain": `,"profile":true`, "participation": `,"vertex":"a"`,
	} {
		a := s.do("POST", "/v1/"+kind, `{"graph":"karate","query":"MATCH (a)--(b)--(c)--(a)"`+body+`}`)
		if a.status != 200 || strings.Contains(a.body, "karate.txt") {
			t.Errorf("%s: %d %s", kind, a.status, a.body)
		}
	}
	if a := s.do("POST", "/v1/info", `{"graph":"karate"}`); a.status != 200 || strings.Contains(a.body, "karate.txt") {
		t.Errorf("info: %d %s", a.status, a.body)
	}
	path := filepath.Join(t.TempDir(), "secret.weft")
	g, err := s.server.Catalog.Acquire("karate")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Release()
	if err := g.Graph.Write(t.Context(), path, weft.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.server.Catalog.Open(t.Context(), serve.Source{Name: "bad", Path: path}); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []func() error{
		func() error { return os.Rename(path, path+".gone") },
		func() error { return os.WriteFile(path, []byte("WEFT nothing\x00\x01,"), 0o600) },
	} {
		if err := wrong(); err != nil {
			t.Fatal(err)
		}
		log.Reset()
		a := s.do("POST", "/v1/graphs/bad/reload", "")
		if a.status != 500 || a.at("kind") != "input" || strings.Contains(a.body, "secret") || !strings.Contains(log.String(), "secret.weft") {
			t.Errorf("%d %s\n%s", a.status, a.body, log.String())
		}
	}
	p := problemOf(fmt.Errorf("a bug: %w", &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}))
	if strings.Contains(p.Detail, "secret") || p.Status != 500 || p.Kind != "internal" {
		t.Errorf("%+v", p)
	}
}

// TestStuckClients: clients that send no body, or read no answer, lose their connections.
func TestStuckClients(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{Patient: 300 * time.Millisecond}, serve.Account{User: "ana", Hash: serve.HashSecret("secret")})
	s.h.body = 300 * time.Millisecond
	dial := func() net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		return c
	}
	for _, path := range []string{"/v1/count", "/healthz", "/nowhere"} {
		for _, headers := range []string{"", "Authorization: Basic YW5hOnNlY3JldA==\r\n", "Expect: 100-continue\r\n"} {
			c := dial()
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: application/json\r\nContent-Length: 100\r\n\r\n", path, headers)
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("%s %q: the connection stays open: %v", path, headers, err)
			}
		}
	}
	c := dial()
	failed := make(chan bool, 1)
	go func() { // the server reads as long as its answers are taken
		for range 100000 {
			if _, err := io.WriteString(c, "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
				failed <- !strings.Contains(err.Error(), "timeout")
				return
			}
		}
		failed <- false
	}()
	if !<-failed {
		t.Error("a client that does not read keeps its connection")
	}
}

// TestPatientWaits: a query may take longer than its client may take to read.
func TestPatientWaits(t *testing.T) {
	s := newSite(t, serve.Limits{Running: 1}, Options{Patient: 200 * time.Millisecond})
	s.h.body = 200 * time.Millisecond
	for _, secure := range []bool{false, true} {
		web := httptest.NewUnstartedServer(s.h)
		web.EnableHTTP2 = secure
		if secure {
			web.StartTLS()
		} else {
			web.Start()
		}
		t.Cleanup(web.Close)
		resp, err := web.Client().Post(web.URL+"/v1/count", "application/json", strings.NewReader(`{"graph":"dense","seconds":0.7,"query":"`+servetest.Long+`","engine":"host"}`))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || !strings.Contains(string(text), `"cut":"time"`) || secure && resp.ProtoMajor != 2 {
			t.Errorf("HTTP/%d: %d %v %s", resp.ProtoMajor, resp.StatusCode, err, text)
		}
		// Nothing changes while a job waits for its turn.
		first := s.do("POST", "/v1/jobs", `{"kind":"count","graph":"dense","seconds":1,"query":"`+servetest.Long+`","engine":"host"}`)
		second := s.do("POST", "/v1/jobs", `{"kind":"count","graph":"karate","pattern":"triangle"}`)
		if resp, err = web.Client().Get(fmt.Sprintf("%s/v1/jobs/%v/events", web.URL, second.at("id"))); err != nil {
			t.Fatal(err)
		}
		text, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(text), "event: done") {
			t.Errorf("HTTP/%d: the events of a job after %v: %v %s", resp.ProtoMajor, first.at("id"), err, text)
		}
	}
}
