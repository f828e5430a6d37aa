package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

func TestMeasure(t *testing.T) {
	n := 0
	rows := Measure(context.Background(), []Contestant{
		{"first", func(context.Context) (Sample, error) {
			n++
			return Sample{time.Duration(n) * time.Second, time.Duration(10-n) * time.Second, 0, "7", 0, 0, ""}, nil
		}},
		{"double", func(context.Context) (Sample, error) { return Sample{Took: 6 * time.Second, Answer: "8"}, nil }},
		{"broken", func(context.Context) (Sample, error) { return Sample{}, errors.New("no") }},
	}, 1, 3)
	if r := rows[0]; r.Median != 3*time.Second || r.Least != 2*time.Second || r.Most != 4*time.Second || r.Runs != 3 || !r.Agrees || r.Ratio != 1 || r.Plan != 7*time.Second {
		t.Errorf("%+v", r)
	}
	if r := rows[1]; r.Ratio != 2 || r.Agrees {
		t.Errorf("%+v", r)
	}
	if rows[2].Err == nil || rows[2].Runs != 0 {
		t.Errorf("%+v", rows[2])
	}
}

// TestMeasureFirstFails: who comes after a contestant that failed is compared with the
// first that has an answer.
func TestMeasureFirstFails(t *testing.T) {
	of := func(answer string, err error) func(context.Context) (Sample, error) {
		return func(context.Context) (Sample, error) { return Sample{Took: time.Second, Answer: answer}, err }
	}
	rows := Measure(context.Background(), []Contestant{
		{"late", of("3", errors.New("timeout"))}, {"one", of("7", nil)}, {"same", of("7", nil)}, {"other", of("8", nil)},
	}, 0, 1)
	for i, want := range []bool{false, true, true, false} {
		if rows[i].Agrees != want {
			t.Errorf("%s: agrees %v", rows[i].Name, rows[i].Agrees)
		}
	}
}

func TestPeer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peers.json")
	text := `[{"name": "echo", "patterns": ["triangle"], "command": ["echo", "{graph} has 12 of {pattern} in 250 ms"],
		"seconds": "in ([0-9.]+) ms", "scale": 0.001, "count": "has ([0-9]+)"}]`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	peers, err := ReadPeers(vfs.OS{}, path)
	if err != nil {
		t.Fatal(err)
	}
	if !peers[0].Plays("triangle") || peers[0].Plays("wedge") {
		t.Errorf("%+v", peers[0])
	}
	s, err := peers[0].Contestant("g", "triangle", "").Run(context.Background())
	if s != (Sample{Took: 250 * time.Millisecond, Answer: "12"}) || err != nil {
		t.Errorf("%+v %v", s, err)
	}
}

// TestPeersFaults: whichever operation on the file of peers fails, there is an error that gives the cause and names the file.
func TestPeersFaults(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "peers.json")
	if err := os.WriteFile(path, []byte(`[{"name": "a", "command": ["b"]}, {"name": "c", "command": ["d"]}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := ReadPeers(vfs.OS{}, path)
	if err != nil || len(want) != 2 {
		t.Fatal(want, err)
	}
	for _, fault := range []errorfs.Fault{
		{Kinds: errorfs.Open | errorfs.Read, Err: syscall.EIO},
		{Kinds: errorfs.Read, Err: syscall.EIO, Way: errorfs.Half},
		{Kinds: errorfs.Read, Way: errorfs.Short, Stays: true},
		{Kinds: errorfs.Read, Way: errorfs.Ends},
	} {
		n := errorfs.Each(t, fault, []string{dir}, func(fsys *errorfs.FS) {
			peers, err := ReadPeers(fsys, path)
			op, fired := fsys.Fired()
			switch {
			case err == nil && (!fired || fault.Err == nil):
				if !reflect.DeepEqual(peers, want) {
					t.Errorf("%v: %v", op, peers)
				}
			case !fired || fault.Way == errorfs.Short || fault.Err != nil && !errors.Is(err, fault.Err) || err == nil || !strings.Contains(err.Error(), path):
				t.Errorf("%v: %v, %v", op, peers, err)
			}
		})
		if n == 0 {
			t.Errorf("%+v: nothing failed", fault)
		}
	}
}
