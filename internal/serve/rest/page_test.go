package rest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/page"
)

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
