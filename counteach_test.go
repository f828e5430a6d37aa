package weft_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// compiling is an emulated device that watches its compiler.
type compiling struct {
	cuda.Backend
	mu     sync.Mutex
	times  map[string]int // by name, text and plan
	inside int
	most   int
	both   chan struct{} // closed when two programs are compiled at the same time
	hold   <-chan struct{}
	wrong  bool // nothing compiles any more
	rt     *weft.Runtime
}

func (b *compiling) Compile(src cuda.Source) ([]byte, error) {
	if src.Name == "prepare.cu" { // the session's tools, besides the kernels
		return b.Backend.Compile(src)
	}
	b.mu.Lock()
	b.times[src.Name+": "+src.Text+src.Includes["plan.cuh"]]++
	if b.inside++; b.inside == 2 && b.most < 2 {
		close(b.both)
	}
	b.most = max(b.most, b.inside)
	hold, wrong := b.hold, b.wrong
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.inside--
		b.mu.Unlock()
	}()
	if wrong {
		return nil, &cuda.Error{Op: "compile", Text: "it is wrong", Kind: cuda.ErrCompile}
	}
	select {
	case <-hold:
	case <-time.After(3 * time.Minute):
	}
	return b.Backend.Compile(src)
}

// onEmulated opens a small graph in a runtime whose gpu:0 is an emulated device, without kernels of other
// tests.
func onEmulated(t *testing.T) (*weft.Graph, *compiling) {
	t.Helper()
	device.Emulated(t, emu.Options{}) // whose run-time system may be kept: kernels may not
	b := &compiling{Backend: device.Backend(t, emu.Options{Optimize: "-O0"}), times: map[string]int{}, both: make(chan struct{})}
	b.hold = b.both
	d, err := cuda.New(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := weft.RuntimeOver(weft.RuntimeOptions{CacheDir: "off"}, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	if rt.Compilers() < 2 {
		released := make(chan struct{})
		close(released)
		b.hold = released
	}
	b.rt = rt
	g, err := rt.Open(t.Context(), filepath.Join("testdata", "graphs", "karate.txt"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g, b
}

// apart are options for a GPU by which each motif is counted alone.
func apart(engine string) []weft.Option {
	o := []weft.Option{weft.WithDevice("gpu:0"), weft.WithThreads(4), weft.WithEngine(engine)}
	if engine == "codegen" {
		o = append(o, weft.WithEngineOption("codegen.local", "on")) // else one program counts all
	}
	return o
}

// TestCompiledAhead: kernels of several motifs are compiled at the same time, each once, and their counts equal
// the processor's.
func TestCompiledAhead(t *testing.T) {
	for engine, k := range map[string]int{"codegen": 4, "stack": 3, "fine": 3} {
		t.Run(engine, func(t *testing.T) {
			if !long.Asked() && engine != "codegen" {
				t.Skip("without WEFT_LONG: one engine has to do")
			}
			g, b := onEmulated(t)
			want, err := g.Motifs(t.Context(), k)
			if err != nil {
				t.Fatal(err)
			}
			got, err := g.Motifs(t.Context(), k, apart(engine)...)
			if err != nil || len(got) != len(want) {
				t.Fatalf("%d motifs, not %d, %v", len(got), len(want), err)
			}
			for i, r := range got {
				if r.Subgraphs.Cmp(want[i].Subgraphs) != 0 || r.Query != want[i].Query || r.Engine != engine || !r.Complete {
					t.Errorf("%s by %s: %v, not %v", r.Query, r.Engine, r.Subgraphs, want[i].Subgraphs)
				}
			}
			if b.most < min(2, b.rt.Compilers()) || len(b.times) != len(got) {
				t.Errorf("of %d programs %d were compiled at once", len(b.times), b.most)
			}
			for text, n := range b.times {
				if n != 1 {
					t.Errorf("compiled %d times: %s", n, text)
				}
			}
		})
	}
}

// TestCompiledAheadFails: the error of a motif's kernel comes in the motif's turn, after the counts before it.
// Later motifs are not counted. A query without possible matches has no kernel to compile.
func TestCompiledAheadFails(t *testing.T) {
	g, b := onEmulated(t)
	closed := make(chan struct{})
	close(closed)
	b.hold = closed
	motifs, err := weft.PatternsByName("motifs(3)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Count(t.Context(), motifs[0], apart("codegen")...); err != nil {
		t.Fatal(err)
	}
	nothing, err := weft.Parse("MATCH (a:Nobody)--(b)")
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	b.wrong = true
	clear(b.times)
	b.mu.Unlock()
	qs := []*weft.Query{motifs[0], nothing, motifs[1], motifs[0]}
	var results []weft.Result
	var errs []error
	for r, err := range g.CountEach(t.Context(), qs, apart("codegen")...) {
		results, errs = append(results, r), append(errs, err)
	}
	if len(errs) != 4 || errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], weft.ErrDevice) || errs[3] != nil {
		t.Fatalf("errors %v", errs)
	}
	if !results[0].Complete || results[0].Embeddings.Cmp(results[3].Embeddings) != 0 || !results[1].Complete || results[1].Embeddings.Sign() != 0 {
		t.Errorf("results %+v", results)
	}
	if len(b.times) != 1 {
		t.Errorf("%d programs were compiled, not that of the triangle alone", len(b.times))
	}
	some, err := g.Motifs(t.Context(), 3, append(apart("codegen"), weft.WithInduced(false))...)
	if !errors.Is(err, weft.ErrDevice) || len(some) != 2 || some[1].Complete {
		t.Errorf("%d motifs, %v", len(some), err)
	}
}

// TestCompiledAheadEnds: a call that waits for kernels returns when its context ends. Kernels that wait for a
// compiler are then not compiled.
func TestCompiledAheadEnds(t *testing.T) {
	g, b := onEmulated(t)
	hold := make(chan struct{})
	b.hold, b.wrong = hold, false
	defer func() { // compilers end before the test
		close(hold)
		for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			b.mu.Lock()
			inside := b.inside
			b.mu.Unlock()
			if inside == 0 {
				return
			}
		}
		t.Error("what began to be compiled did not end")
	}()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-b.both
		cancel()
	}()
	if b.rt.Compilers() < 2 {
		time.AfterFunc(time.Second, cancel)
	}
	got, err := g.Motifs(ctx, 5, apart("codegen")...)
	if !errors.Is(err, context.Canceled) || len(got) != 1 || got[0].Complete {
		t.Errorf("%d motifs, %v", len(got), err)
	}
	b.mu.Lock()
	began := len(b.times)
	b.mu.Unlock()
	if began > b.rt.Compilers() {
		t.Errorf("%d programs began to be compiled", began)
	}
}

// TestCountEachOtherDevices: if a query's GPUs are closed when its turn comes, it is planned again for the GPUs
// that are open.
func TestCountEachOtherDevices(t *testing.T) {
	g, b := onEmulated(t)
	closed := make(chan struct{})
	close(closed)
	b.hold = closed
	motifs, err := weft.PatternsByName("motifs(3)")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for r, err := range g.CountEach(t.Context(), motifs, apart("stack")...) {
		if err != nil || !r.Complete {
			t.Fatalf("query %d: complete %v, %v", n, r.Complete, err)
		}
		want, err := g.Count(t.Context(), motifs[n])
		if err != nil || r.Subgraphs.Cmp(want.Subgraphs) != 0 {
			t.Errorf("query %d: %v, want %v, %v", n, r.Subgraphs, want.Subgraphs, err)
		}
		n++
		if err := b.rt.Instead(device.Emulated(t, emu.Options{})); err != nil {
			t.Fatal(err)
		}
	}
	if n != len(motifs) {
		t.Errorf("%d of %d queries", n, len(motifs))
	}
}

// TestCountWhileOthersOpen: a query waits for GPUs, which another query uses. Then they are closed for other
// GPUs. The query is counted on GPUs that are opened again.
func TestCountWhileOthersOpen(t *testing.T) {
	g, b := onEmulated(t)
	held := make(chan struct{})
	b.hold = held
	qs, err := weft.PatternsByName("motifs(3)")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	count := func(q *weft.Query) {
		got, err := g.Count(t.Context(), q, apart("stack")...)
		want, onHost := g.Count(t.Context(), q)
		if err != nil || onHost != nil || !got.Complete || got.Subgraphs.Cmp(want.Subgraphs) != 0 {
			t.Errorf("%s: %v, %v; want %v, %v", q.Name(), got.Subgraphs, err, want.Subgraphs, onHost)
		}
	}
	wg.Go(func() { count(qs[0]) })
	began := time.Now()
	for inside := 0; inside == 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > 3*time.Minute {
			t.Fatal("nothing is compiled")
		}
		b.mu.Lock()
		inside = b.inside
		b.mu.Unlock()
	}
	wg.Go(func() { count(qs[1]) })
	time.Sleep(100 * time.Millisecond) // until it waits for the first, or it is planned too late to
	wg.Go(func() {
		if err := b.rt.Instead(device.Emulated(t, emu.Options{})); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(100 * time.Millisecond) // until it waits for the first, too
	close(held)
	wg.Wait()
}

// TestCountEach: the counts of several queries in turn equal those of each query alone. Each query has its own
// timeout.
func TestCountEach(t *testing.T) {
	g, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", "karate.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	qs, err := weft.PatternsByName("motifs(4)")
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for r, err := range g.CountEach(t.Context(), qs, weft.WithTimeout(time.Minute)) {
		want, alone := g.Count(t.Context(), qs[i])
		if err != nil || alone != nil || r.Query != want.Query || r.Embeddings.Cmp(want.Embeddings) != 0 || !r.Complete {
			t.Errorf("%s: %v, %v; alone %v, %v", r.Query, r.Embeddings, err, want.Embeddings, alone)
		}
		i++
	}
	if i != len(qs) {
		t.Errorf("%d of %d", i, len(qs))
	}
	slow, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", "ego-facebook.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	const most = 20 * time.Millisecond
	i = 0
	begin := time.Now()
	for r, err := range slow.CountEach(t.Context(), qs[:3], weft.WithTimeout(most), weft.WithEngine("oracle")) {
		if i++; !errors.Is(err, context.DeadlineExceeded) || r.Complete || time.Since(begin) < time.Duration(i)*most {
			t.Errorf("%s: complete %v, %v", r.Query, r.Complete, err)
		}
	}
	if i != 3 {
		t.Errorf("%d of 3 after their time", i)
	}
}
