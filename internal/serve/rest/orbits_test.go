package rest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
)

// TestOrbits: rows are those that the library writes, which weft motifs --orbits shows, in all formats; answers are cut short, refused and kept
// as those of other kinds.
func TestOrbits(t *testing.T) {
	s := newSite(t, serve.Limits{}, Options{})
	lease, err := s.server.Catalog.Acquire("karate")
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	for k := 3; k <= 5; k++ {
		for _, induced := range []bool{true, false} {
			o, err := lease.Graph.Orbits(t.Context(), k, weft.WithInduced(induced))
			if err != nil {
				t.Fatal(err)
			}
			body := fmt.Sprintf(`{"graph":"karate","k":%d,"induced":%t}`, k, induced)
			for format, media := range map[string]string{"json": "", "ndjson": "application/x-ndjson", "csv": "text/csv"} {
				var want strings.Builder
				if err := o.Write(&want, format); err != nil {
					t.Fatal(err)
				}
				a := s.do("POST", "/v1/orbits", body, "Accept", media)
				got := a.body
				if format == "json" {
					var answer struct{ Rows json.RawMessage }
					if err := json.Unmarshal([]byte(a.body), &answer); err != nil {
						t.Fatal(err)
					}
					got = string(answer.Rows)
				}
				if a.status != 200 || strings.TrimSpace(got) != strings.TrimSpace(want.String()) {
					t.Errorf("%s as %s: %d %.300s, want %.300s", body, format, a.status, a.body, want.String())
				}
			}
		}
	}
	if a := s.do("POST", "/v1/orbits", `{"graph":"karate","k":3}`); a.at("rows", 1, "orbit_3") != 18.0 || a.at("run", "complete") != true || a.at("run", "rows") != 34.0 {
		t.Errorf("%s", a.body) // vertex 1 is in 18 of the 45 triangles
	}
	for body, want := range map[string]string{
		`{"graph":"karate","k":6}`: "k", `{"graph":"karate"}`: "k", `{"graph":"karate","k":3,"engine":"host"}`: "engine", `{"graph":"karate","k":3,"limit":4}`: "limit",
		`{"graph":"karate","k":3,"query":"MATCH (a)--(b)"}`: "query",
	} {
		if a := s.do("POST", "/v1/orbits", body); a.status != 400 || a.at("field") != want {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	a := s.do("POST", "/v1/jobs", `{"kind":"orbits","graph":"karate","k":4,"format":"csv"}`)
	id, _ := a.at("id").(float64)
	for range 500 {
		if a = s.do("GET", fmt.Sprintf("/v1/jobs/%.0f/answer", id), ""); a.status == 200 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if strings.Count(a.body, "\n") != 35 || !strings.HasPrefix(a.body, "vertex,orbit_0,") {
		t.Errorf("a job: %d %s", a.status, a.body)
	}
}

// TestOrbitsLimits: rows, time and directions.
func TestOrbitsLimits(t *testing.T) {
	s := newSite(t, serve.Limits{Rows: 10}, Options{})
	a := s.do("POST", "/v1/orbits", `{"graph":"karate","k":3}`, "Accept", "text/csv")
	if a.header.Get("Weft-Limit") != "10" || a.trailer.Get("Weft-Complete") != "false" || a.trailer.Get("Weft-Cut") != "rows" || a.trailer.Get("Weft-Rows") != "10" || strings.Count(a.body, "\n") != 11 {
		t.Errorf("rows: %v %v %s", a.header, a.trailer, a.body)
	}
	if a = s.do("POST", "/v1/orbits", `{"graph":"dense","k":5,"seconds":0.000001}`); a.status/100 == 2 || a.at("kind") != "time" {
		t.Errorf("time: %d %s", a.status, a.body)
	}
	g, err := weft.FromEdges(t.Context(), weft.Edges(weft.Edge{Src: "a", Dst: "b"}, weft.Edge{Src: "b", Dst: "c"}, weft.Edge{Src: "c", Dst: "a"}), weft.WithDirected(true))
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/directed.weft"
	if err := g.Write(t.Context(), path, weft.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	_ = g.Close()
	if err := s.server.Catalog.Open(t.Context(), serve.Source{Name: "directed", Path: path}); err != nil {
		t.Fatal(err)
	}
	if a = s.do("POST", "/v1/orbits", `{"graph":"directed","k":3}`); a.status != 400 || a.at("kind") != "usage" {
		t.Errorf("directions: %d %s", a.status, a.body)
	}
	if a = s.do("POST", "/v1/orbits", `{"graph":"directed","k":3,"directions":false}`); a.at("rows", 0, "orbit_3") != 1.0 {
		t.Errorf("without directions: %d %s", a.status, a.body)
	}
}
