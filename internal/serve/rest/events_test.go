package rest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/servetest"
)

// TestLastEvent: the last event of a query whose client waits has its run, with what ended it. So it is after the end, for all kinds of answers.
func TestLastEvent(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	long := func(kind, more string) string {
		return fmt.Sprintf(`{"graph":"dense","query":"%s","engine":"host"%s}`, servetest.Long, more)
	}
	for _, test := range []struct{ kind, body, want string }{
		{"count", long("count", ""), `"complete":false,"cut":"cancel"`},
		{"exists", `{"graph":"karate","pattern":"clique(6)"}`, `"complete":true`},
		{"match", `{"graph":"karate","pattern":"triangle","limit":7}`, `"complete":false,"cut":"limit","rows":7`},
		{"count", long("count", `,"seconds":0.3`), `"complete":false,"cut":"time"`},
		{"count", `{"graph":"dense","query":"MATCH (a)--(b) WHERE a.x = $y"}`, `"kind":"query"`},
	} {
		ended := make(chan answer, 1)
		go func() { ended <- s.do("POST", "/v1/"+test.kind, test.body) }()
		at, last := "", ""
		if strings.Contains(test.want, "cancel") {
			for at == "" {
				if all := s.server.Running(serve.Anyone()); len(all) == 1 && all[0].State == "running" {
					at = fmt.Sprintf("/v1/jobs/%d", all[0].ID)
				}
			}
			told := make(chan []string, 1)
			go func() { told <- s.events(at + "/events") }()
			s.do("DELETE", at, "")
			events := <-told
			last = events[len(events)-1]
			<-ended
		} else {
			at = "/v1/jobs/" + (<-ended).header.Get("Weft-Run")
		}
		events := s.events(at + "/events")
		if n := len(events); n != 1 || !strings.HasPrefix(events[0], "done ") || !strings.Contains(events[0], test.want) || strings.Contains(events[0], test.body) {
			t.Errorf("%s %s: events after the end: %v", test.kind, test.body, events)
		}
		if last != "" && (!strings.HasPrefix(last, "done ") || !strings.Contains(last, test.want)) {
			t.Errorf("%s %s: the last event is %s", test.kind, test.body, last)
		}
		if a := s.do("GET", at, ""); !strings.Contains(a.body, test.want) {
			t.Errorf("%s %s: %d %s", test.kind, test.body, a.status, a.body)
		}
	}
}

// TestErrorAfterRows: an answer that an error ends after its first rows has the cut error, wherever its run is told.
func TestErrorAfterRows(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	const edges = 400000
	if err := s.server.Catalog.Open(t.Context(), serve.Source{Name: "chain", Path: servetest.Chain(t, edges), Options: []weft.Option{weft.WithDirected(true)}}); err != nil {
		t.Fatal(err)
	}
	const asks = `{"graph":"chain","query":"MATCH (a)-[e]->(b) RETURN e.w + e.w AS twice","threads":1`
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/v1/match", strings.NewReader(asks+"}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", mediaOf("arrow"))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err == nil || resp.StatusCode != 200 {
		t.Errorf("%d %v", resp.StatusCode, err)
	}
	waited := "/v1/jobs/" + resp.Header.Get("Weft-Run")
	job := s.do("POST", "/v1/jobs", strings.Replace(asks, "{", `{"kind":"match","format":"arrow",`, 1)+"}").header.Get("Location")
	for _, at := range []string{waited, job} {
		events := s.events(at + "/events")
		last := events[len(events)-1]
		a := s.do("GET", at, "")
		rows, _ := a.at("run", "rows").(float64)
		if a.at("run", "cut") != "error" || a.at("run", "complete") != false || rows == 0 || rows >= edges || a.at("run", "error", "detail") == nil || !strings.Contains(last, `"cut":"error"`) {
			t.Errorf("%s: %s\n%s", at, a.body, last)
		}
	}
	if a := s.do("GET", job+"/answer", ""); a.header.Get(trailerCut) != "error" {
		t.Errorf("%v", a.header)
	}
}
