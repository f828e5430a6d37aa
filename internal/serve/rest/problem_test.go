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
