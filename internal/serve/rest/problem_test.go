package rest

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
)

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

// TestProblemFields: a mistake that the server finds in a body has its field and its place there.
func TestProblemFields(t *testing.T) {
	s := newSite(t, serve.Limits{Text: 200, Vertices: 5}, Options{})
	s.server.Programs = []string{"interp"}
	for _, test := range []struct {
		kind, body string
		status     int
		field, at  string // at is the text that begins at the place
	}{
		{"count", `{"graph":"karate","pattern":"triangle","limit": -1}`, 400, "limit", `-1}`},
		{"count", `{"graph":"karate","pattern":"triangle","threads": -2}`, 400, "threads", `-2}`},
		{"count", `{"graph":"karate","tag": "a\u0001","pattern":"triangle"}`, 400, "tag", `"a\u0001"`},
		{"count", `{"graph":"karate","tag":"` + strings.Repeat("x", 65) + `","pattern":"triangle"}`, 400, "tag", `"xxx`},
		{"count", `{"graph":"karate","query":"MATCH (a)--(b) WHERE id(a) = $x","params":{"x":1,"a.b": 2}}`, 400, "params.a.b", `2}}`},
		{"match", `{"graph":"karate","query":"MATCH (a)--(b)","list": "all"}`, 400, "list", `"all"`},
		{"motifs", `{"graph":"karate", "k": 9}`, 400, "k", `9}`},
		{"motifs", ` {"graph":"karate"}`, 400, "k", `{"graph"`},
		{"orbits", `{"graph":"karate", "k": 9}`, 400, "k", `9}`},
		{"count", `{"graph":"karate","query":"MATCH (a)--(b)","pattern": "triangle"}`, 400, "pattern", `"triangle"`},
		{"count", `{"graph":"karate","query": " "}`, 400, "query", `" "`},
		{"count", `{"graph":"karate","query": "` + strings.Repeat("x", 201) + `"}`, 413, "query", `"xxx`},
		{"count", `{"graph":"karate","pattern": "clique(6)"}`, 413, "pattern", `"clique(6)"`},
		{"count", `{"graph":"karate","query": "MATCH (a)--(b)--(c)--(d)--(e)--(f)"}`, 413, "query", `"MATCH`},
		{"exists", `{"graph":"karate","query": "MATCH (a)--(b) RETURN participation(a)"}`, 400, "query", `"MATCH`},
		{"participation", `{"graph":"karate","query":"MATCH (a)--(b)"}`, 400, "vertex", `{"graph"`},
		{"count", `{"graph": "nobody","pattern":"triangle"}`, 404, "graph", `"nobody"`},
		{"matcha", `{"program": " "}`, 400, "program", `" "`},
		{"matcha", `{"name": "nothing"}`, 400, "name", `"nothing"`},
		{"matcha", `{"program":"return 1","target": "abacus"}`, 400, "target", `"abacus"`},
		{"matcha", `{"program":"return 1","target": "c"}`, 403, "target", `"c"`},
		{"matcha", `{"program":"return 1","seconds":1,"limit": -1}`, 400, "limit", `-1`},
		{"matcha", `{"program":"return 1","graph": "karate"}`, 400, "graph", `"karate"`},
		{"matcha", `{"program":"return 1","inputs":{"x": 1}}`, 400, "inputs.x", `1}}`},
		{"matcha", `{"program":"input n: int\nreturn n","inputs":{"n": "a"}}`, 400, "inputs.n", `"a"`},
		{"matcha", `{"program":"input n: int\nreturn n","inputs": {}}`, 400, "inputs.n", `{}`},
		{"matcha", `{"program":"input G: Graph\nreturn 1","inputs":{"G": 1}}`, 400, "inputs.G", `1}}`},
		{"matcha", `{"program":"input G: Graph\nreturn 1","inputs":{"G": "nobody"}}`, 404, "inputs.G", `"nobody"`},
		{"matcha", `{"program":"input G: Graph\nreturn 1","graph": "nobody"}`, 404, "graph", `"nobody"`},
	} {
		for _, job := range []bool{false, true} {
			path, body := "/v1/"+test.kind, test.body
			if job {
				path, body = "/v1/jobs", strings.TrimSuffix(body, "}")+`,"kind":"`+test.kind+`"}`
			}
			at := strings.Index(test.body, " "+test.at) + 1
			if at == 0 {
				at = strings.Index(test.body, test.at)
			}
			a := s.do("POST", path, body)
			if a.status != test.status || a.at("field") != test.field || a.at("body", "line") != 1.0 || a.at("body", "column") != float64(at+1) || a.at("body", "offset") != float64(at) {
				t.Errorf("%s %s: %d %s; want %d, the field %s and the offset %d", path, body, a.status, a.body, test.status, test.field, at)
			}
		}
	}
	for path, body := range map[string]string{"/v1/jobs": `{"kind":"match","graph":"karate","pattern":"triangle","format":"xml"}`, "/v1/parse": `{"query":""}`} {
		if a := s.do("POST", path, body); a.status != 400 || a.at("field") == nil || a.at("body", "line") != 1.0 {
			t.Errorf("%s %s: %d %s", path, body, a.status, a.body)
		}
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
