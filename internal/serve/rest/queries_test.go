package rest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/servetest"
)

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
