package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestMeasure(t *testing.T) {
	n := 0
	rows := Measure(context.Background(), []Contestant{
		{"first", func(context.Context) (time.Duration, string, error) {
			n++
			return time.Duration(n) * time.Second, "7", nil
		}},
		{"double", func(context.Context) (time.Duration, string, error) { return 6 * time.Second, "8", nil }},
		{"broken", func(context.Context) (time.Duration, string, error) { return 0, "", errors.New("no") }},
	}, 1, 3)
	if r := rows[0]; r.Median != 3*time.Second || r.Least != 2*time.Second || r.Most != 4*time.Second || r.Runs != 3 || !r.Agrees || r.Ratio != 1 {
		t.Errorf("%+v", r)
	}
	if r := rows[1]; r.Ratio != 2 || r.Agrees {
		t.Errorf("%+v", r)
	}
	if rows[2].Err == nil || rows[2].Runs != 0 {
		t.Errorf("%+v", rows[2])
	}
}

func TestPeer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peers.json")
	text := `[{"name": "echo", "patterns": ["triangle"], "command": ["echo", "{graph} has 12 of {pattern} in 250 ms"],
		"seconds": "in ([0-9.]+) ms", "scale": 0.001, "count": "has ([0-9]+)"}]`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	peers, err := ReadPeers(path)
	if err != nil {
		t.Fatal(err)
	}
	if !peers[0].Plays("triangle") || peers[0].Plays("wedge") {
		t.Errorf("%+v", peers[0])
	}
	took, answer, err := peers[0].Contestant("g", "triangle").Run(context.Background())
	if took != 250*time.Millisecond || answer != "12" || err != nil {
		t.Errorf("%v %q %v", took, answer, err)
	}
}
