package rest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
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
