package cpu_test

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/matcha/cpu"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/irgen"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/runtime/code"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/matcharun"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// needC skips the test where there is no C compiler.
func needC(t *testing.T) {
	t.Helper()
	if _, err := native.C(); errors.Is(err, native.ErrNoCompiler) {
		t.Skip(err)
	}
}

var schedules = []string{"threads=1", "threads=3", "threads=3,loop=static", "threads=2,steal=off", "threads=3,loop=static,steal=off", "threads=8"}

// TestLibrary runs every program of the library, with passes and without, by all
// schedules, and compares what it gives and emits with the interpreter.
func TestLibrary(t *testing.T) {
	needC(t)
	for at, e := range library.Entries() {
		t.Run(e.Name, func(t *testing.T) {
			choices(t, at, e.Text, false)
			if !long.Asked() {
				t.Log("without WEFT_LONG: one choice of passes and schedules instead of two")
				return
			}
			choices(t, at+1, e.Text, false)
		})
	}
}

// TestReal is TestLibrary for programs of one graph, on a real one, where workers
// take work from each other.
func TestReal(t *testing.T) {
	needC(t)
	path := filepath.Join("..", "..", "..", "testdata", "graphs", "ca-grqc-cut.csv")
	g, err := format.Read(t.Context(), path, format.ReadOptions{Direction: format.Undirected}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range library.Entries() {
		if strings.Count(e.Text, "\ninput ") > 1 || strings.Contains(e.Text, "input E:") {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			switch {
			case e.Name == "motifs5" || strings.Contains(e.Text, "emit("):
				t.Skip("the interpreter, or sorting what is listed, takes seconds")
			case !long.Asked() && e.Name != "clique4":
				t.Skip("without WEFT_LONG: each program is compiled and interpreted")
			}
			same(t, e.Text, "all", map[string]data.Input{"G": {Graph: g}}, false)
		})
	}
}

// TestPrograms is TestLibrary for programs that use all of the language.
func TestPrograms(t *testing.T) {
	needC(t)
	for at, name := range slices.Sorted(maps.Keys(matchatest.Programs)) {
		t.Run(name, func(t *testing.T) {
			if !long.Asked() && at%2 == 0 {
				t.Skip("without WEFT_LONG: every other program is compiled")
			}
			choices(t, at, matchatest.Programs[name], matchatest.Mistakes[name])
		})
	}
}

// TestBuckets: threads make graphs of lists together, in which many edges begin at few vertices.
func TestBuckets(t *testing.T) {
	needC(t)
	for i, b := range matchatest.Buckets {
		if i%2 > 0 && !long.Asked() {
			t.Log("without WEFT_LONG: every other program is compiled")
			continue
		}
		same(t, b.Text, "all", matchatest.BucketInputs(b.Text, 30_000), false)
	}
}

// choices runs a program with one choice of passes: it is compiled. debug builds
// also fail where numbers are too large.
func choices(t *testing.T, at int, text string, debug bool) {
	choice := []string{"all", "none", "-parallel", "-fuse-sum,-motion"}[at%4]
	in := rapid.Custom(func(t *rapid.T) map[string]data.Input { return matchatest.Inputs(t, text) }).Example(at)
	same(t, text, choice, in, debug || at%3 == 0)
}

// same compares the program's C, by all schedules, with the interpreter.
func same(t *testing.T, text, choice string, in map[string]data.Input, debug bool) {
	t.Helper()
	want, wantErr := matcharun.Interpreted(t, text, in)
	p := matchatest.Build(t, text)
	off, err := passes.Choose(choice)
	if err != nil {
		t.Fatal(err)
	}
	passes.Optimize(p, off...)
	set, err := data.Bind(p, in)
	if err != nil {
		t.Fatal(err)
	}
	lower := irgen.Lower
	if debug {
		lower = irgen.LowerDebug
	}
	code, err := lower(t.Context(), p, set)
	if err != nil {
		t.Fatal(err)
	}
	compiled := cpu.NewCode(p.Name, code, off, debug)
	for k, text := range schedules {
		s, err := schedule.Parse(schedule.C, text)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		o := cpu.Options{Objects: device.Objects(), Schedule: s, Classes: classes(in)}
		if k%2 == 0 {
			o.Emit = func(row []types.Word) bool {
				rows = append(rows, fmt.Sprint(row))
				return true
			}
		} else if p.Row != nil {
			o.Rows = inBatches(&rows, p.Row.Words())
		}
		got, err := compiled.Run(t.Context(), o)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%s, passes %s: %v, the interpreter %v", text, choice, err, wantErr)
		}
		slices.Sort(rows)
		if text := fmt.Sprint(rows, got.Words); err == nil && text != want {
			t.Fatalf("%s, passes %s: %.500s, want %.500s", s, choice, text, want)
		}
	}
}

// inBatches is a function that takes batches of rows and keeps them as text.
func inBatches(rows *[]string, width int) func(int, []types.Word) (int, bool) {
	var mu sync.Mutex
	return func(_ int, words []types.Word) (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		for row := range slices.Chunk(words, width) {
			*rows = append(*rows, fmt.Sprint(row))
		}
		return len(words) / width, true
	}
}

// TestOverflow: what passes 64 bits fails with the place, without a debug build too,
// and what just fits is right.
func TestOverflow(t *testing.T) {
	needC(t)
	for _, o := range matchatest.Overflows {
		t.Run(o.Name, func(t *testing.T) {
			p, _, code := matcharun.Lowered(t, o.Text, map[string]data.Input{"G": {Graph: matchatest.Star(t, o.Leaves)}})
			got, err := cpu.NewCode(p.Name, code, nil, false).Run(t.Context(), cpu.Options{Objects: device.Objects(), Schedule: schedule.Default(schedule.C)})
			switch text := fmt.Sprint(got.Words); {
			case o.Fails == "" && (err != nil || text != o.Want):
				t.Errorf("%s, %v, want %s", text, err, o.Want)
			case o.Fails != "" && (err == nil || !strings.HasPrefix(err.Error(), o.Fails)):
				t.Errorf("%s, %v, want %s", text, err, o.Fails)
			}
		})
	}
}

// TestLend: threads lend turns of the loops of items, at both levels and of several
// loops, and what is around them happens once. Two items have all the work.
func TestLend(t *testing.T) {
	needC(t)
	text := `input G: Graph
def f(u):
    let c = neighbor(G, u)
    emit(mk_tuple(val=[u, 0]))
    def g(v):
        let d = intersect(c, neighbor(G, v))
        emit(mk_tuple(val=[v, size(d)]))
        def h(w):
            let e = intersect(d, neighbor(G, w))
            emit(mk_tuple(val=[v + w, size(e)]))
            return sum(apply(lambda x: size(intersect(e, neighbor(G, x))), None, e))
        return sum(apply(h, lambda w: w > v, d))
    def k(v):
        let d = diff(c, neighbor(G, v))
        return sum(apply(lambda w: size(intersect(d, neighbor(G, w))), None, c))
    return mk_tuple(val=[sum(apply(g, lambda v: v != 3, c)), sum(apply(k, None, c)), size(c)])
return sum(apply(f, lambda u: u < 2, vertices(G)))
`
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "cliques", N: 1, K: 48}, 1)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]data.Input{"G": {Graph: g}}
	want, err := matcharun.Interpreted(t, text, in)
	if err != nil {
		t.Fatal(err)
	}
	p, _, code := matcharun.Lowered(t, text, in)
	compiled := cpu.NewCode(p.Name, code, nil, false)
	lent := map[string]uint64{}
	for _, text := range []string{"threads=8", "threads=5,loop=static", "threads=3,steal=off"} {
		s, err := schedule.Parse(schedule.C, text)
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			var rows []string
			got, err := compiled.Run(t.Context(), cpu.Options{Objects: device.Objects(), Schedule: s, Emit: func(row []types.Word) bool {
				rows = append(rows, fmt.Sprint(row))
				return true
			}})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(rows)
			if text := fmt.Sprint(rows, got.Words); text != want {
				t.Fatalf("%s: %d rows, %v; the interpreter gives other ones: %.300s", s, len(rows), got.Words, want)
			}
			lent[text] += got.Lent
		}
	}
	if lent["threads=8"] == 0 || lent["threads=5,loop=static"] == 0 || lent["threads=3,steal=off"] != 0 {
		t.Errorf("lent: %v", lent)
	}
	t.Log("lent:", lent)
	// A consumer that wants no more ends those who wait as well.
	s := schedule.Default(schedule.C)
	s.Threads = 8
	n := 0
	got, err := compiled.Run(t.Context(), cpu.Options{Objects: device.Objects(), Schedule: s, Emit: func([]types.Word) bool {
		n++
		return n < 1000
	}})
	if err != nil || !got.Stopped || n != 1000 {
		t.Errorf("%d rows, stopped %v, %v", n, got.Stopped, err)
	}
	// And so does one of batches, who takes a part of one.
	var left atomic.Int64
	left.Store(1000)
	got, err = compiled.Run(t.Context(), cpu.Options{Objects: device.Objects(), Schedule: s, Rows: func(_ int, words []types.Word) (int, bool) {
		size := int64(len(words) / 2)
		after := left.Add(-size)
		return int(max(size+min(after, 0), 0)), after > 0
	}})
	if err != nil || !got.Stopped || got.Emitted != 1000 {
		t.Errorf("%d rows, stopped %v, %v", got.Emitted, got.Stopped, err)
	}
}

// TestCompiledOnce: a program that was compiled for one graph is not compiled for another, with other sizes
// and labels.
func TestCompiledOnce(t *testing.T) {
	needC(t)
	objects := native.NewCache(code.New(t.TempDir()))
	programs := []string{"clique4", "decompose", "temporal_tail"}
	for seed := range 3 {
		for _, e := range library.Entries() {
			if !slices.Contains(programs, e.Name) {
				continue
			}
			in := rapid.Custom(func(t *rapid.T) map[string]data.Input { return matchatest.Inputs(t, e.Text) }).Example(seed)
			want, err := matcharun.Interpreted(t, e.Text, in)
			if err != nil {
				t.Fatal(err)
			}
			p, _, lowered := matcharun.Lowered(t, e.Text, in)
			var rows []string
			o := cpu.Options{Objects: objects, Schedule: schedule.Default(schedule.C), Classes: classes(in), Emit: func(row []types.Word) bool {
				rows = append(rows, fmt.Sprint(row))
				return true
			}}
			got, err := cpu.NewCode(p.Name, lowered, nil, false).Run(t.Context(), o)
			slices.Sort(rows)
			if text := fmt.Sprint(rows, got.Words); err != nil || text != want {
				t.Fatalf("%s: %.300s, %v, want %.300s", e.Name, text, err, want)
			}
		}
		if n, _ := objects.Images.Count(); n != len(programs) {
			t.Errorf("after %d graphs: %d compilations, want %d", seed+1, n, len(programs))
		}
	}
}

func classes(in map[string]data.Input) []c.Range {
	for _, i := range in {
		if i.Graph != nil {
			return []c.Range{{First: 0, End: uint32(i.Graph.NumVertices())}}
		}
	}
	return nil
}
