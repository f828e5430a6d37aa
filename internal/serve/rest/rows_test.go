package rest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weftgraph/weft/internal/serve"
)

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
	if a := s.do("POST", "/v1/match", all); a.trailer.Get(trailerRows) != "15" || a.trailer.Get(trailerCut) != "limit" {
		t.Errorf("%v %s", a.trailer, a.body)
	}
	if a := s.do("POST", "/v1/match", all, "Accept", "text/html, text/csv;q=0.5, */*;q=0.1"); !strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") {
		t.Errorf("%v", a.header)
	}
	if a := s.do("POST", "/v1/match", all, "Accept", "image/png"); a.status != http.StatusNotAcceptable {
		t.Errorf("%d %s", a.status, a.body)
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
	requests := []serve.Request{
		{Kind: serve.Match, Graph: "dense", Query: "MATCH (a)--(b)"}, {Kind: serve.Participation, Graph: "dense", Query: "MATCH (a)--(b)", Vertex: "a"},
		{Kind: serve.Orbits, Graph: "dense", K: 3},
	}
	for _, q := range requests {
		kind := q.Kind
		for _, format := range []string{"json", "ndjson", "csv", "arrow"} {
			run := begin(q)
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
