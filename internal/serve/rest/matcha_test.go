package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/serve"
)

// triangles counts triangles in Matcha.
const triangles = `input G: Graph
def third(e):
    let common = intersect(neighbor(G, get(e, 0)), neighbor(G, get(e, 1)))
    return size(apply(lambda w: w, lambda w: w > get(e, 1), common))
return sum(apply(third, lambda e: get(e, 0) < get(e, 1), edges(G)))
`

// spout emits n times a million rows.
const spout = `input n: int in 0..1000000
def row(i):
    emit(mk_tuple(val=[i, i * 2]))
    return 1
return sum(apply(lambda i: sum(apply(row, None, range(1000000))), None, range(n)))
`

func quoted(text string) string { b, _ := json.Marshal(text); return string(b) }

// matchaSite is a site that takes programs.
func matchaSite(t *testing.T, l serve.Limits, accounts ...serve.Account) *site {
	s := newSite(t, l, Options{}, accounts...)
	s.server.Programs = []string{"interp"}
	return s
}

func TestMatcha(t *testing.T) {
	s := matchaSite(t, serve.Limits{})
	a := s.do("POST", "/v1/matcha", `{"graph":"karate","program":`+quoted(triangles)+`}`)
	if a.status != 200 || a.at("rows", 0, "result") != 45.0 || a.at("result", 0) != 45.0 || a.at("run", "complete") != true || a.trailer.Get(trailerResult) != "[45]" {
		t.Errorf("%d %s %v", a.status, a.body, a.trailer)
	}
	a = s.do("POST", "/v1/matcha", `{"program":"input l: List[Tuple[int, 2]]\ninput x: float\nreturn mk_tuple(val=[sum(apply(lambda p: get(p, 1), None, l)), 9007199254740993])","inputs":{"l":[[1,2],[3,4]],"x":2}}`)
	if a.at("result", 0) != 6.0 || a.at("result", 1) != "9007199254740993" || a.at("rows", 0, "result1") != "9007199254740993" {
		t.Errorf("%d %s", a.status, a.body)
	}
	emits := `{"inputs":{"n":1000},"limit":5,"program":` + quoted(spout) + `}`
	for _, f := range formats {
		a := s.do("POST", "/v1/matcha", emits, "Accept", f.media)
		if a.status != 200 || a.trailer.Get(trailerComplete) != "false" || a.trailer.Get(trailerCut) != "limit" || a.trailer.Get(trailerRows) != "5" || a.trailer.Get(trailerResult) != "" {
			t.Errorf("%s: %d, trailers %v\n%s", f.name, a.status, a.trailer, a.body)
		}
		if f.name == "csv" && a.body != "v0,v1\n0,0\n1,2\n2,4\n3,6\n4,8\n" {
			t.Error(a.body)
		}
	}
	a = s.do("POST", "/v1/jobs", `{"kind":"matcha","format":"csv","graph":"karate","program":`+quoted(triangles)+`}`)
	if a.status != 202 || !strings.Contains(a.at("query").(string), "def third") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	at := a.header.Get("Location")
	s.events(at + "/events")
	if a := s.do("POST", "/v1/matcha", `{"graph":"karate","name":"triangles"}`); a.status != 200 || a.at("result", 0) != 45.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do("POST", "/v1/jobs", `{"kind":"matcha","graph":"karate","name":"motifs4"}`); a.status != 202 || a.at("query") != "motifs4" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = s.do("GET", at+"/answer", ""); a.status != 200 || a.body != "result\n45\n" || a.header.Get(trailerResult) != "[45]" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
}

func TestMatchaProblems(t *testing.T) {
	s := matchaSite(t, serve.Limits{Time: 300 * time.Millisecond, ProgramMemory: 1 << 20})
	for _, test := range []struct {
		body         string
		status       int
		kind         string
		line, column any
	}{
		{`{"program":"let x = 1\nreturn y"}`, 422, "query", 2.0, 8.0},
		{`{"program":"let x = size(range(3))\nreturn 1 / (x - 3)"}`, 422, "query", 2.0, 10.0},
		{`{"program":"return 1","target":"c"}`, 403, "programs_off", nil, nil},
		{`{"name":"triangles","program":"return 1"}`, 400, "bad_request", nil, nil},
		{`{"name":"triangle"}`, 400, "bad_request", nil, nil},
		{`{"graph":"karate"}`, 400, "bad_request", nil, nil},
		{`{"program":"return 1","target":"go"}`, 400, "bad_request", nil, nil},
		{`{"program":"return 1","schedule":"colour=red"}`, 400, "usage", nil, nil},
		{`{"program":"return 1","query":"MATCH (a)--(b)"}`, 400, "bad_request", nil, nil},
		{`{"program":"input G: Graph\nreturn 1","inputs":{"G":"/etc/passwd"}}`, 404, "unknown_graph", nil, nil},
		{`{"program":"input l: List[int]\nreturn 1","inputs":{"l":"/etc/passwd"}}`, 400, "bad_request", nil, nil},
		{`{"program":"return size(range(10000000))"}`, 413, "too_large", nil, nil},
		{`{"program":"return sum(apply(lambda i: sum(apply(lambda j: i * j, None, range(20000))), None, range(20000)))"}`, 422, "time", nil, nil},
	} {
		a := s.do("POST", "/v1/matcha", test.body)
		if a.status != test.status || a.at("kind") != test.kind || a.at("line") != test.line || a.at("column") != test.column {
			t.Errorf("%s: %d %s", test.body, a.status, a.body)
		}
	}
	if a := s.do("POST", "/v1/matcha", `{"name":"triangle"}`); !strings.Contains(a.at("detail").(string), "triangles, wedges") {
		t.Error(a.body)
	}
	s.server.Programs = nil
	if a := s.do("POST", "/v1/matcha", `{"graph":"karate","name":"triangles"}`); a.status != 403 || a.at("kind") != "programs_off" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do("POST", "/v1/matcha", `{"program":"return 1"}`); a.status != 403 || a.at("kind") != "programs_off" || !strings.Contains(a.at("detail").(string), "--allow-programs") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestMatchaUsers: the right to read a graph is that to run programs on it.
func TestMatchaUsers(t *testing.T) {
	s := matchaSite(t, serve.Limits{}, serve.Account{User: "ana", Hash: serve.HashSecret("secret"), Rights: serve.Rights{Graphs: []string{"karate"}}})
	ana := []string{"Authorization", "Basic YW5hOnNlY3JldA=="}
	if a := s.do("POST", "/v1/matcha", `{"program":`+quoted(triangles)+`}`, ana...); a.status != 200 || a.at("result", 0) != 45.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do("POST", "/v1/matcha", `{"graph":"dense","program":`+quoted(triangles)+`}`, ana...); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do("POST", "/v1/matcha", `{"program":"return 1"}`); a.status != 401 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestMatchaClientGoes: a program without an end is ended by the end of its client's connection, whether it emits or not.
func TestMatchaClientGoes(t *testing.T) {
	s := matchaSite(t, serve.Limits{})
	for _, body := range []string{
		`{"program":"return sum(apply(lambda i: sum(apply(lambda j: i * 0 + j * 0, None, range(1000000))), None, range(1000000)))"}`,
		`{"inputs":{"n":1000000},"program":` + quoted(spout) + `}`,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "POST", s.url+"/v1/matcha", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		done := make(chan struct{})
		go func() {
			defer close(done)
			if resp, err := http.DefaultClient.Do(r); err == nil {
				<-ctx.Done()
				resp.Body.Close()
			}
		}()
		list := func(n int) bool { l, _ := s.do("GET", "/v1/running", "").at("running").([]any); return len(l) == n }
		for !list(1) {
			time.Sleep(time.Millisecond)
		}
		cancel()
		<-done
		start := time.Now()
		for !list(0) {
			if time.Since(start) > 5*time.Second {
				t.Fatal("the program goes on")
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}
