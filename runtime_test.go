package weft_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

var karate = filepath.Join("testdata", "graphs", "karate.txt")

// runtimeOver is a runtime over an emulated device of its own, with a graph.
func runtimeOver(t *testing.T, cache string) (*weft.Runtime, *weft.Graph) {
	t.Helper()
	rt, err := weft.RuntimeOver(weft.RuntimeOptions{CacheDir: cache, Device: "gpu:0"}, device.Emulated(t, emu.Options{Optimize: "-O0"}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	g, err := rt.Open(t.Context(), karate)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return rt, g
}

// TestRuntimesApart: two runtimes count at the same time, each with its own device and folder. One continues when
// the other is closed.
func TestRuntimesApart(t *testing.T) {
	a, ga := runtimeOver(t, t.TempDir())
	_, gb := runtimeOver(t, t.TempDir())
	q, err := weft.PatternByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	count := func(g *weft.Graph) error {
		r, err := g.Count(t.Context(), q, weft.WithEngine("stack"))
		if err == nil && (r.Subgraphs.Int64() != 45 || r.Device == "cpu") {
			t.Errorf("%v triangles on %s", r.Subgraphs, r.Device)
		}
		return err
	}
	var wg sync.WaitGroup
	for _, g := range []*weft.Graph{ga, gb} {
		wg.Go(func() {
			if err := count(g); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	began, closed := make(chan bool), make(chan bool)
	wg.Go(func() { // one of b is under way while a is closed
		for n, err := range gb.CountEach(t.Context(), []*weft.Query{q, q, q}, weft.WithEngine("stack")) {
			if err != nil || n.Subgraphs.Int64() != 45 {
				t.Errorf("%v triangles next to a runtime that was closed, %v", n.Subgraphs, err)
			}
			select {
			case <-began:
			default:
				close(began)
				<-closed
			}
		}
	})
	<-began
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	close(closed)
	wg.Wait()
	if err := count(ga); !errors.Is(err, weft.ErrClosed) || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a count in a graph of a closed runtime: %v", err)
	}
	if _, err := a.Open(t.Context(), karate); !errors.Is(err, weft.ErrClosed) {
		t.Errorf("Open of a closed runtime: %v", err)
	}
	if n := ga.NumVertices(); n != 34 {
		t.Errorf("a graph of a closed runtime has %d vertices", n)
	}
	if err := count(gb); err != nil {
		t.Error(err)
	}
	m, err := weft.ParseMatcha("", "input G: Graph\ninput H: Graph\nreturn size(vertices(G)) + size(vertices(H))\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context(), map[string]any{"G": ga, "H": gb}, nil); !errors.Is(err, weft.ErrUsage) {
		t.Errorf("a program over graphs of two runtimes: %v", err)
	}
}

// TestRuntimeCaches: each runtime keeps its compiled code in its own memory and folder, and not in those of
// another.
func TestRuntimeCaches(t *testing.T) {
	q, err := weft.Parse("MATCH (a)--(b)--(c)--(a)")
	if err != nil {
		t.Fatal(err)
	}
	kernels := func(dir string) int {
		found, err := filepath.Glob(filepath.Join(dir, "kernels", "*.kernel"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	t.Setenv("WEFT_CACHE", filepath.Join(t.TempDir(), "unused"))
	for range 2 {
		dir := t.TempDir()
		rt := weft.NewRuntime(weft.RuntimeOptions{CacheDir: dir, Device: "cpu"})
		defer rt.Close()
		g, err := rt.Open(t.Context(), karate)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		for range 2 {
			r, err := g.Count(t.Context(), q, weft.WithEngine("codegen"))
			if errors.Is(err, weft.ErrDevice) {
				t.Skip(err)
			}
			if err != nil || r.Subgraphs.Int64() != 45 {
				t.Fatalf("%v, %v", r.Subgraphs, err)
			}
			if n := kernels(dir); n != 1 {
				t.Errorf("%d images of one text", n)
			}
		}
	}
	if _, err := os.Stat(os.Getenv("WEFT_CACHE")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the environment was used: %v", err)
	}
}

// TestRuntimeDefaults: a runtime's options hold for calls without these options.
func TestRuntimeDefaults(t *testing.T) {
	rt := weft.NewRuntime(weft.RuntimeOptions{Device: "gpu:x"})
	defer rt.Close()
	if err := rt.Check(t.Context()); !errors.Is(err, weft.ErrUsage) {
		t.Errorf("a device that does not exist: %v", err)
	}
	if err := rt.Check(t.Context(), weft.WithDevice("cpu"), weft.WithEngine("host")); err != nil {
		t.Error(err)
	}
	if err := rt.Check(t.Context(), weft.WithLimit(1)); !errors.Is(err, weft.ErrUsage) {
		t.Errorf("an option that does not concern Check: %v", err)
	}
	g, err := rt.FromEdges(t.Context(), weft.Edges(weft.Edge{Src: 1, Dst: 2}), weft.WithDevice("cpu"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	q, err := weft.Parse("MATCH (a)--(b)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Count(t.Context(), q); !errors.Is(err, weft.ErrUsage) {
		t.Errorf("a count on a device that does not exist: %v", err)
	}
	if r, err := g.Count(t.Context(), q, weft.WithDevice("cpu")); err != nil || r.Subgraphs.Int64() != 1 {
		t.Errorf("%v, %v", r.Subgraphs, err)
	}
	small := weft.NewRuntime(weft.RuntimeOptions{Memory: 1 << 10})
	defer small.Close()
	if _, err := small.Open(t.Context(), karate); !errors.Is(err, weft.ErrMemory) {
		t.Errorf("a graph with 1 KiB: %v", err)
	}
}

// TestRuntimeClosedInside: a loop over matches continues when its runtime is closed. The last call gives back the
// GPUs.
func TestRuntimeClosedInside(t *testing.T) {
	rt := weft.NewRuntime(weft.RuntimeOptions{})
	g, err := rt.Open(t.Context(), karate)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	q, err := weft.PatternByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for m, err := range g.Match(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 1 {
			if err := errors.Join(rt.Close(), rt.Close()); err != nil {
				t.Error(err)
			}
		}
		_ = m
	}
	if n != 45 {
		t.Errorf("%d matches", n)
	}
	if _, err := g.Count(context.Background(), q); !errors.Is(err, weft.ErrClosed) {
		t.Errorf("a count after Close: %v", err)
	}
	m, err := rt.ParseMatcha("", "return 1 + 1\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context(), nil, nil); !errors.Is(err, weft.ErrClosed) {
		t.Errorf("a program after Close: %v", err)
	}
}

// TestMatchaSchedulesOnDevice: all schedules give the same result on the emulated device, and each reports its
// lanes.
func TestMatchaSchedulesOnDevice(t *testing.T) {
	long.Only(t, "kernels take seconds to compile")
	rt, g := runtimeOver(t, "")
	all := library.Entries()
	i := slices.IndexFunc(all, func(e library.Entry) bool { return e.Name == "triangles" })
	m, err := rt.ParseMatcha("triangles", all[i].Text)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"4", "32"} {
		r, err := m.Run(t.Context(), map[string]any{m.Inputs()[0].Name: g}, nil,
			weft.WithTarget("cuda"), weft.WithSchedule("group="+group+",block=32,threads=64"), weft.WithStats(true))
		if err != nil || len(r.Values) != 1 || r.Values[0] != int64(45) || r.Use.Utilisation == 0 {
			t.Errorf("group %s: %+v, %v", group, r, err)
		}
	}
}
