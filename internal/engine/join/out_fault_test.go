package join_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/vfs"
)

// onSmall runs a plan out of core on an emulated device with little memory, with as little host memory as makes all columns go to
// files in a folder. Options are name=value. It fails the test if anything is left in the folder, or on the device.
func onSmall(t *testing.T, ctx context.Context, b cuda.Backend, g *graph.Graph, p *plan.Plan, goal engine.Goal, folder string, options ...string) (engine.Result, error) {
	t.Helper()
	d, err := cuda.New(b, device.Objects().Images)
	if err != nil {
		return engine.Result{}, err
	}
	s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 64 << 10, Ring: 1 << 12})
	if err != nil {
		return engine.Result{}, errors.Join(err, d.Close())
	}
	o := engine.Options{Memory: 1, Spill: folder, Opt: map[string]string{"join.segments": "3", "join.batch": "40", "join.filter": "off"}}
	for _, text := range options {
		name, value, _ := strings.Cut(text, "=")
		o.Opt[name] = value
	}
	res, err := engine.Once(ctx, join.NewGPU(s), g, p, o, goal)
	closed := s.Close()
	if n := d.InUse(); n != 0 && !errors.Is(err, cuda.ErrLost) && !errors.Is(err, cuda.ErrLaunch) {
		t.Errorf("%d bytes are in use after %v", n, err)
	}
	_ = errors.Join(closed, d.Close()) // of a device that is lost
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("%d files are left, %s among them, after %v", len(left), left[0].Name(), err)
	}
	return res, err
}

// small is a plan over a graph for which a run takes a moment, and its matches.
func small(t *testing.T, listing bool) (*graph.Graph, *plan.Plan, engine.Uint128) {
	t.Helper()
	g := skewed(t)
	p := planned(t, g, "triangle", plan.Options{Order: "gsi", NoTail: true, Listing: listing})
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{Listing: listing}, map[bool]engine.Goal{true: {Sink: sinkFunc(func(*engine.Batch) {})}}[listing])
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	return g, p, want.Matches
}

// TestOutOfCoreSpills: columns that exceed the memory go to a file, from which they come back, in counts and listings.
func TestOutOfCoreSpills(t *testing.T) {
	for _, listing := range []bool{false, true} {
		g, p, want := small(t, listing)
		var goal engine.Goal
		var rows atomic.Int64
		if listing {
			goal.Sink = sinkFunc(func(b *engine.Batch) { rows.Add(int64(b.Rows)) })
		}
		got, err := onSmall(t, t.Context(), device.Backend(t, emu.Options{Seed: device.Seed()}), g, p, goal, t.TempDir())
		if err != nil || got.Matches != want || !got.Complete || listing && engine.U64(uint64(rows.Load())) != want {
			t.Errorf("listing %v: %v, %d rows, complete %v, %v; want %v", listing, got.Matches, rows.Load(), got.Complete, err, want)
		}
		if !strings.Contains(strings.Join(got.Stats, "\n"), "columns were written to a file in ") {
			t.Errorf("nothing was written: %v", got.Stats)
		}
	}
}

// TestOutOfCoreDiskFaults: each operation on files of columns fails once. Either the count is right, or an error names the folder and
// the cause; and nothing is left.
func TestOutOfCoreDiskFaults(t *testing.T) {
	g, p, want := small(t, false)
	folder := t.TempDir()
	failed := 0
	for n := 1; ; n += 1 + n/2 {
		fsys := errorfs.New(vfs.OS{}, errorfs.Fault{Kinds: errorfs.Create | errorfs.Open | errorfs.Write | errorfs.ReadAt, N: n, Err: syscall.ENOSPC})
		got, err := onSmall(t, vfs.With(t.Context(), fsys), device.Backend(t, emu.Options{}), g, p, engine.Goal{}, folder)
		if err == nil && got.Matches != want {
			t.Errorf("fault %d: %v matches, want %v", n, got.Matches, want)
		}
		if err != nil {
			failed++
			if text := err.Error(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(text, folder) || !strings.Contains(text, "--spill") {
				t.Errorf("fault %d: %v", n, err)
			}
		}
		if _, fired := fsys.Fired(); !fired {
			break
		}
	}
	if failed == 0 {
		t.Error("no fault was noticed")
	}
}

// TestOutOfCoreReadOnly: a plan that is out of core is not prepared with a folder in which no file can be made, before
// anything is spilled; one that is in core is.
func TestOutOfCoreReadOnly(t *testing.T) {
	g, p, want := small(t, false)
	folder := t.TempDir()
	d, err := cuda.New(device.Backend(t, emu.Options{}), device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	engines.WithSession(t, session.Options{Memory: 16 << 20, Ring: 1 << 12}, func(s *session.Session) {
		// The kernels are compiled first: their cache has files too.
		x, err := join.NewGPU(s).Prepare(t.Context(), g, p, engine.Options{Opt: map[string]string{"join.segments": "0"}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := x.Run(t.Context(), engine.Goal{}); err != nil || got.Matches != want {
			t.Fatal(got.Matches, err)
		}
		for _, segments := range []string{"0", "3"} {
			fsys := errorfs.New(vfs.OS{}, errorfs.Fault{Kinds: errorfs.Create, N: 1, Err: syscall.EROFS, Stays: true})
			ctx := vfs.With(t.Context(), fsys)
			o := engine.Options{Spill: folder, Opt: map[string]string{"join.segments": segments}}
			x, err := join.NewGPU(s).Prepare(ctx, g, p, o)
			if segments == "0" {
				if err != nil {
					t.Fatal(err)
				}
				if got, err := x.Run(ctx, engine.Goal{}); err != nil || got.Matches != want || fsys.Seen() > 0 {
					t.Errorf("in core: %v, %v, %d files; want %v", got.Matches, err, fsys.Seen(), want)
				}
				continue
			}
			if spill := new(join.SpillError); !errors.As(err, &spill) || spill.Folder != folder || !errors.Is(err, syscall.EROFS) || strings.Contains(err.Error(), ".weft-tmp") {
				t.Errorf("out of core: %v", err)
			}
		}
	}, d)
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("%d files are left", len(left))
	}
}

// outPlans are plans that take all ways of a run: a last vertex that is counted, one that is listed, and a tail by arithmetic.
func outPlans(t *testing.T, f func(g *graph.Graph, p *plan.Plan, goal engine.Goal, want engine.Uint128)) {
	g, p, want := small(t, false)
	f(g, p, engine.Goal{}, want)
	q := planned(t, g, "diamond", plan.Options{Order: "gsi"})
	tail, err := engine.Once(t.Context(), host.New(), g, q, engine.Options{}, engine.Goal{})
	if err != nil || tail.Matches.IsZero() || q.Tail.K < 2 {
		t.Fatal(tail.Matches, q.Tail.K, err)
	}
	f(g, q, engine.Goal{}, tail.Matches)
	g, p, want = small(t, true)
	f(g, p, engine.Goal{Sink: sinkFunc(func(*engine.Batch) {})}, want)
}

// TestOutOfCoreDeviceFaults: a copy, a launch or an allocation fails, or the device is lost half-way: an error or the right count,
// and nothing is left. Some segments stay on the device, and others go.
func TestOutOfCoreDeviceFaults(t *testing.T) {
	outPlans(t, func(g *graph.Graph, p *plan.Plan, goal engine.Goal, want engine.Uint128) {
		run := func(b cuda.Backend) (engine.Result, error) {
			return onSmall(t, t.Context(), b, g, p, goal, t.TempDir(), "join.segments=4", "join.held=3")
		}
		whole := &cuda.Faults{Backend: device.Backend(t, emu.Options{})}
		if got, err := run(whole); err != nil || got.Matches != want {
			t.Fatal(got.Matches, err)
		}
		calls := whole.Calls()
		parts := []float64{0.1, 0.6}
		if long.Asked() {
			parts = []float64{0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.6, 0.8, 0.95}
		}
		for _, part := range parts {
			n := max(int(part*float64(calls)), 1)
			for name, f := range map[string]*cuda.Faults{
				"lost": {LoseAfter: n}, "copy": {FailCopy: max(n/12, 1)}, "launch": {FailLaunch: max(n/20, 1)}, "alloc": {FailAlloc: int(10 * part)},
				"work": {FailWork: max(n/40, 1)}, "skipped": {SkipOne: max(n/20, 1)},
			} {
				f.Backend = device.Backend(t, emu.Options{})
				got, err := run(f)
				if err == nil && got.Matches != want {
					t.Errorf("%s at %v: %v matches, want %v", name, part, got.Matches, want)
				}
				if err == nil && name == "lost" {
					t.Errorf("%s at %v: no error", name, part)
				}
			}
		}
	})
}

// TestOutOfCoreStops: a run whose context ends, in any of its phases, leaves no file.
func TestOutOfCoreStops(t *testing.T) {
	g, p, want := small(t, false)
	folder := t.TempDir()
	for n := 1; ; n += 1 + n/2 {
		ctx, cancel := context.WithCancel(t.Context())
		fsys := &watched{FS: vfs.OS{}, left: n, stop: cancel}
		got, err := onSmall(t, vfs.With(ctx, fsys), device.Backend(t, emu.Options{}), g, p, engine.Goal{}, folder)
		cancel()
		if err == nil && got.Matches == want {
			break
		}
		if !errors.Is(err, context.Canceled) || got.Complete {
			t.Fatalf("stopped at operation %d: %v, complete %v, %v", n, got.Matches, got.Complete, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); left != nil {
		t.Error(left)
	}
}

// ending calls stop at the left-th launch.
type ending struct {
	cuda.Backend
	left atomic.Int64
	stop func()
}

func (e *ending) Launch(f cuda.Handle, blocks, threads, shared int, stream cuda.Handle, params unsafe.Pointer, bytes int) error {
	if e.left.Add(-1) == 0 {
		e.stop()
	}
	return e.Backend.Launch(f, blocks, threads, shared, stream, params, bytes)
}

// TestOutOfCoreEnds: a run whose context ends at a launch, in any of its phases, gives no more than there is, does not call it complete,
// and leaves nothing.
func TestOutOfCoreEnds(t *testing.T) {
	outPlans(t, func(g *graph.Graph, p *plan.Plan, goal engine.Goal, want engine.Uint128) {
		ended := 0
		for n := int64(1); ; n += 1 + n/2 {
			ctx, cancel := context.WithCancel(t.Context())
			b := &ending{Backend: device.Backend(t, emu.Options{}), stop: cancel}
			b.left.Store(n)
			got, err := onSmall(t, ctx, b, g, p, goal, t.TempDir(), "join.segments=4", "join.held=3")
			cancel()
			if b.left.Load() > 0 { // all launches
				if err != nil || got.Matches != want {
					t.Errorf("%v, %v; want %v", got.Matches, err, want)
				}
				break
			}
			if err == nil && got.Matches == want && got.Complete {
				continue // it was done
			}
			ended++
			if !errors.Is(err, context.Canceled) || got.Complete || got.Matches.Cmp(want) > 0 {
				t.Fatalf("ended at launch %d: %v, complete %v, %v", n, got.Matches, got.Complete, err)
			}
		}
		if ended < 3 {
			t.Errorf("%d runs ended early", ended)
		}
	})
}

// TestOutOfCoreFiles: hundreds of blocks that are on the disk at once are in one open file, which is not longer than they need.
func TestOutOfCoreFiles(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "star", N: 900}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := planned(t, g, "path(3)", plan.Options{Order: "gsi", NoTail: true})
	fsys := &watched{FS: vfs.OS{}}
	got, err := onSmall(t, vfs.With(t.Context(), fsys), device.Backend(t, emu.Options{}), g, p, engine.Goal{}, t.TempDir(), "join.batch=3")
	if want := engine.U64(900 * 899 / 2); err != nil || got.Matches != want {
		t.Errorf("%v, %v; want %v", got.Matches, err, want)
	}
	if fsys.mostColumns < 500 {
		t.Errorf("at most %d columns were on the disk", fsys.mostColumns)
	}
	if fsys.mostOpen > 2 { // a folder is open while it is swept
		t.Errorf("%d files were open at once", fsys.mostOpen)
	}
	if fsys.end > 2*fsys.mostBytes {
		t.Errorf("a file of %d bytes for %d", fsys.end, fsys.mostBytes)
	}
}

// watched counts the files that are open, and the columns that are written to them and not read yet. It calls stop at the left-th
// operation.
type watched struct {
	vfs.FS
	mu   sync.Mutex
	left int
	stop func()

	open, mostOpen       int
	columns, mostColumns int
	bytes, mostBytes     int64
	end                  int64 // of what was written
}

// did counts an operation: files and columns that there are more then.
func (w *watched) did(files, columns int, bytes, end int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open, w.columns, w.bytes = w.open+files, w.columns+columns, w.bytes+bytes
	w.mostOpen, w.mostColumns, w.mostBytes = max(w.mostOpen, w.open), max(w.mostColumns, w.columns), max(w.mostBytes, w.bytes)
	w.end = max(w.end, end)
	if w.left--; w.left == 0 && w.stop != nil {
		w.stop()
	}
}

func (w *watched) OpenFile(name string, flag int, perm os.FileMode) (vfs.File, error) {
	f, err := w.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	w.did(1, 0, 0, 0)
	return watchedFile{f, w}, nil
}

type watchedFile struct {
	vfs.File
	by *watched
}

func (f watchedFile) WriteAt(b []byte, at int64) (int, error) {
	f.by.did(0, 1, int64(len(b)), at+int64(len(b)))
	return f.File.WriteAt(b, at)
}

func (f watchedFile) ReadAt(b []byte, at int64) (int, error) {
	f.by.did(0, -1, -int64(len(b)), 0)
	return f.File.ReadAt(b, at)
}

func (f watchedFile) Close() error {
	f.by.did(-1, 0, 0, 0)
	return f.File.Close()
}
