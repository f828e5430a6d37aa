package weft

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

const timedEdges = "src,dst,ts,amount\n1,2,1710000000000,5\n2,3,1710003600500,NA\n3,1,1710090000000,7\n1,3,1710176400000,1\n"

// TestTimeConditions counts by literals of time in a file of Unix times in milliseconds.
func TestTimeConditions(t *testing.T) {
	g := opened(t, timedEdges, "", WithDirected(true))
	at := time.Date(2024, 3, 10, 0, 0, 0, 0, time.UTC)
	for where, want := range map[string]int64{
		"e.ts >= timestamp '2024-03-10'":                   2,
		"e.ts >= date '2024-03-10'":                        2,
		"e.ts >= $at":                                      2,
		"e.ts < timestamp '2024-03-09T17:00:00.5Z'":        1,
		"e.ts <= timestamp '2024-03-09T17:00:00.5Z'":       2,
		"e.ts = timestamp '2024-03-09T18:00:00.5+01:00'":   1,
		"e.ts = timestamp '2024-03-09T17:00:00.5000001Z'":  0,
		"e.ts <> timestamp '2024-03-09T17:00:00.5000001Z'": 4,
		"e.ts > timestamp '2024-03-10' - 1d AND NOT e.ts > timestamp '2024-03-10' + duration 'PT17H'":      3,
		"e.ts IN [timestamp '2024-03-09T16:00:00Z', timestamp '2024-03-09T16:00:00.0001Z', 1710176400000]": 2,
		"e.ts >= 1710003600500":           3,
		"e.ts % 1000 = 500":               1,
		"e.amount > 1":                    2,
		"e.nope > timestamp '2024-03-10'": 0,
		"EXISTS { (b)-[f]->(c) WHERE f.ts - timestamp '2024-03-09T17:00:00Z' < duration 'PT1S' AND f.ts > timestamp '2024-03-09T16:30:00Z' }": 1,
	} {
		q, err := Parse("MATCH (a)-[e]->(b) WHERE " + where + " RETURN count(*)")
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		r, err := g.Count(t.Context(), q, WithParam("at", at))
		if err != nil || r.Embeddings.Int64() != want {
			t.Errorf("%s: %v, %v; want %d", where, r.Embeddings, err, want)
		}
	}
	q, err := Parse("MATCH (a)-[e]->(b)-[f]->(c) WHERE f.ts - e.ts <= 24h AND f.ts > e.ts RETURN a, e.ts, f.ts - e.ts AS gap")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := g.List(t.Context(), q, &out, "csv"); err != nil {
		t.Fatal(err)
	}
	if want := "a,e.ts,gap\n1,2024-03-09T16:00:00Z,PT1H0.5S\n2,2024-03-09T17:00:00.5Z,PT23H59M59.5S\n"; out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	for m, err := range g.Match(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := m.At(1).(time.Time); !ok {
			t.Errorf("e.ts is a %T", m.At(1))
		}
		if d, ok := m.At(2).(time.Duration); !ok || d > 24*time.Hour {
			t.Errorf("the gap is %v, a %T", m.At(2), m.At(2))
		}
	}
}

// TestTimeMistakes: an error about times shows its place.
func TestTimeMistakes(t *testing.T) {
	g := opened(t, timedEdges, "", WithDirected(true))
	for text, want := range map[string]string{
		"MATCH (a)-[e]->(b) WHERE e.ts > '2024-03-10' RETURN a":                "line 1, column 33: a timestamp is compared with a text",
		"MATCH (a)-[e]->(b)\nWHERE e.amount > timestamp '2024-03-10' RETURN a": "line 2, column 18: a timestamp is combined with the property amount, which is not a time",
		"MATCH (a)-[e]->(b) WHERE e.ts > 24h RETURN a":                         "line 1, column 33: a timestamp and a duration are compared",
		"MATCH (a)-[e]->(b) RETURN e.amount - timestamp '2024-03-10'":          "line 1, column 38: a timestamp is combined with the property amount, which is not a time",
		"MATCH (a)-[e]->(b) WHERE EXISTS { (b)-[f]->() WHERE f.ts < 1d }":      "line 1, column 60: a timestamp and a duration are compared",
	} {
		q, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		_, err = g.List(t.Context(), q, &bytes.Buffer{}, "csv")
		if !errors.Is(err, ErrQuery) || !strings.HasPrefix(err.Error(), want+"\n") || !strings.Contains(err.Error(), "^") {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}
