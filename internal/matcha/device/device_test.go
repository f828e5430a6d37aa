package device

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/irgen"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/matcharun"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// on runs f with a session on each device.
func on(t *testing.T, f func(t *testing.T, s *session.Session)) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Ring: 1 << 14})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		f(t, s)
	})
}

// program is one to compare with the interpreter.
type program struct{ name, text string }

// programs are those of the library, and of matchatest.
func programs() (out []program) {
	for _, e := range library.Entries() {
		out = append(out, program{e.Name, e.Text})
	}
	var names []string
	for name := range matchatest.Programs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, program{name, matchatest.Programs[name]})
	}
	return out
}

// choices are passes and schedules. Blocks are small, so that several of them and
// several groups of each have work in a small graph.
var choices = []struct{ passes, schedule string }{
	{"all", "group=4,threads=64,block=32"},
	{"none", "group=32,threads=128,block=64"},
	{"all", "group=1,steal=off,threads=64,block=64"},
	{"-fuse-sum,-slice-set", "group=8,threads=64,block=64,loop=static"},
	{"-motion,-fuse-size", "group=16,steal=off,loop=static,threads=64,block=32"},
	{"all", "group=2,threads=32,block=32,loop=static"},
	{"none", "group=1,threads=64,block=32"},
	{"-share,-dead", "group=32,steal=off,threads=64,block=32"},
	{"-parallel", "group=8,threads=32,block=32"},
}

// same runs a program on inputs that are drawn, on a device and in the
// interpreter.
func same(t *testing.T, s *session.Session, pr program, choice, seed int) {
	t.Helper()
	ch := choices[choice%len(choices)]
	o, err := schedule.Parse(schedule.CUDA, ch.schedule)
	if err != nil {
		t.Fatal(err)
	}
	off, err := passes.Choose(ch.passes)
	if err != nil {
		t.Fatal(err)
	}
	in := rapid.Custom(func(t *rapid.T) map[string]data.Input { return matchatest.Inputs(t, pr.text) }).Example(seed)
	p := matchatest.Build(t, pr.text)
	set, err := data.Bind(p, in)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	r, failed := interp.Run(t.Context(), p, set, interp.Options{Emit: func(row []types.Word) bool {
		rows = append(rows, fmt.Sprint(row))
		return true
	}})
	slices.Sort(rows)
	want := fmt.Sprint(rows, r.Words)
	passes.Optimize(p, off...)
	if set, err = data.Bind(p, in); err != nil {
		t.Fatal(err)
	}
	lower, debug := irgen.Lower, choice%3 == 0
	if debug || matchatest.Mistakes[pr.name] { // numbers that do not fit are among them
		lower = irgen.LowerDebug
	}
	c, err := lower(t.Context(), p, set)
	if err == nil {
		rows = nil
		var got Result
		got, err = Run(t.Context(), s, p, set, c, Options{Schedule: o, Stats: seed%2 == 0, Debug: debug, Off: off, Emit: func(row []types.Word) bool {
			rows = append(rows, fmt.Sprint(row))
			return true
		}})
		slices.Sort(rows)
		if text := fmt.Sprint(rows, got.Words); err == nil && failed == nil && (text != want || got.Emitted != uint64(len(rows))) {
			t.Errorf("%s, passes %s, %s, seed %d: %s (%d rows), want %s", pr.name, ch.passes, o, seed, text, got.Emitted, want)
		}
	}
	if (failed == nil) != (err == nil) {
		t.Errorf("%s, passes %s, %s, seed %d: %v, want %v", pr.name, ch.passes, o, seed, err, failed)
	}
}

// TestSame compares each program with the interpreter, under different passes and schedules. On
// a GPU that is required, each program runs under two of them, or as many as WEFT_SCHEDULES
// says. Without one, programs of the library and some others run on one of the emulated
// devices, each under one.
func TestSame(t *testing.T) {
	on(t, func(t *testing.T, s *session.Session) {
		shuffled := strings.HasSuffix(t.Name(), "shuffled")
		if !device.Required() {
			t.Log("a part of the programs, each on one of the emulated devices; all are for a GPU that is required")
		}
		for i, pr := range programs() {
			n := 1
			switch {
			case device.Required():
				n = 2
				if more, err := strconv.Atoi(os.Getenv("WEFT_SCHEDULES")); err == nil {
					n = more
				}
			case i%2 == 0 == shuffled || !long.Asked() && i%6 != 1 || i >= len(library.Entries()) && i%12 > 1 && !strings.HasPrefix(pr.name, "data edges") && pr.name != "edges of a subgraph":
				continue
			}
			t.Run(pr.name, func(t *testing.T) {
				for k := range n {
					same(t, s, pr, i+k, 17*i+k+int(device.Seed()%1000))
				}
			})
		}
	})
}

// TestMadeOnDevice compares programs whose graphs are made, cut or gone over by all groups.
func TestMadeOnDevice(t *testing.T) {
	on(t, func(t *testing.T, s *session.Session) {
		for i, name := range []string{"relations", "semi-joins", "windows", "windows of an input", "windows of graphs that run", "lists side by side",
			"graphs of any list", "information on any list", "labels of any list", "equal information"} {
			t.Run(name, func(t *testing.T) {
				same(t, s, program{name, matchatest.Programs[name]}, i, 5*i+int(device.Seed()%1000))
			})
		}
	})
}

// TestBuckets: groups make graphs of lists together, in which many edges begin at few vertices.
func TestBuckets(t *testing.T) {
	on(t, func(t *testing.T, s *session.Session) {
		for i, b := range matchatest.Buckets {
			in := matchatest.BucketInputs(b.Text, 1200)
			want, err := matcharun.Interpreted(t, b.Text, in)
			if err != nil {
				t.Fatal(err)
			}
			o, err := schedule.Parse(schedule.CUDA, choices[i].schedule)
			if err != nil {
				t.Fatal(err)
			}
			p, set, c := matcharun.Lowered(t, b.Text, in)
			got, err := Run(t.Context(), s, p, set, c, Options{Schedule: o})
			if text := fmt.Sprint([]string(nil), got.Words); err != nil || text != want {
				t.Errorf("%s: %s, %v, want %s:\n%s", o, text, err, want, b.Text)
			}
		}
	})
}

// ready lowers a program for a graph.
func ready(t *testing.T, text string, g *graph.Graph) (*asg.Program, *data.Set, *irgen.Code) {
	t.Helper()
	return matcharun.Lowered(t, text, map[string]data.Input{"G": {Graph: g}})
}

func named(t *testing.T, name string) string {
	t.Helper()
	for _, e := range library.Entries() {
		if e.Name == name {
			return e.Text
		}
	}
	t.Fatalf("no program %s", name)
	return ""
}

func cliques(t *testing.T, k uint64) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "cliques", N: 1, K: k}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestSteal counts cliques of five in a complete graph, whose first items have most of the
// work. The iterators and a list are in shared memory. Groups steal, and every clique is
// counted once.
func TestSteal(t *testing.T) {
	on(t, func(t *testing.T, s *session.Session) {
		for _, text := range []string{
			"group=8,threads=64,block=64,loop=static", "group=32,threads=128,block=128,shared=c2+c3", "group=1,threads=32,block=32",
		} {
			o, err := schedule.Parse(schedule.CUDA, text)
			if err != nil {
				t.Fatal(err)
			}
			p, set, c := ready(t, named(t, "clique5"), cliques(t, 17))
			r, err := Run(t.Context(), s, p, set, c, Options{Schedule: o, Stats: true})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Words) != 1 || r.Words[0] != 6188 { // 17 over 5
				t.Errorf("%s: %v", o, r.Words)
			}
			if r.Steals == 0 {
				t.Errorf("%s: nothing was stolen", o)
			}
			if r.Utilisation <= 0 || r.Utilisation > 1 {
				t.Errorf("%s: utilisation %f", o, r.Utilisation)
			}
			t.Logf("%s: %d steals, utilisation %.2f", o, r.Steals, r.Utilisation)
		}
	})
}

// TestStealOnce: what is done around a stolen loop is done once, at each level.
func TestStealOnce(t *testing.T) {
	text := `input G: Graph
def f(e):
    let c = intersect(neighbor(G, get(e, 0)), neighbor(G, get(e, 1)))
    emit(mk_tuple(val=[size(c), 0]))
    def g(v):
        let d = intersect(c, neighbor(G, v))
        emit(mk_tuple(val=[v, size(d)]))
        apply(lambda w: emit(mk_tuple(val=[v, w + size(intersect(d, neighbor(G, w)))])), lambda w: w > v, d)
        return size(d)
    return sum(apply(g, lambda v: v != 3, c))
return sum(apply(f, None, edges(G)))
`
	on(t, func(t *testing.T, s *session.Session) {
		for _, knobs := range []string{"group=4,threads=32,block=32,loop=static", "group=16,threads=128,block=64"} {
			o, err := schedule.Parse(schedule.CUDA, knobs)
			if err != nil {
				t.Fatal(err)
			}
			p, set, c := ready(t, text, cliques(t, 9))
			var want, rows []string
			oracle, err := interp.Run(t.Context(), p, set, interp.Options{Emit: func(row []types.Word) bool {
				want = append(want, fmt.Sprint(row))
				return true
			}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), s, p, set, c, Options{Schedule: o, Emit: func(row []types.Word) bool {
				rows = append(rows, fmt.Sprint(row))
				return true
			}})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(want)
			slices.Sort(rows)
			if !slices.Equal(rows, want) || !slices.Equal(r.Words, oracle.Words) {
				t.Errorf("%s: %d rows, %v; want %d, %v", o, len(rows), r.Words, len(want), oracle.Words)
			}
			if r.Steals == 0 {
				t.Errorf("%s: nothing was stolen", o)
			}
		}
	})
}

// TestEnough: a run whose rows nobody wants any more ends.
func TestEnough(t *testing.T) {
	on(t, func(t *testing.T, s *session.Session) {
		p, set, c := ready(t, "input G: Graph\napply(lambda e: apply(lambda w: emit(mk_tuple(val=[get(e, 0), w])), None, neighbor(G, get(e, 1))), None, edges(G))\nreturn 1\n", cliques(t, 40))
		n := 0
		r, err := Run(t.Context(), s, p, set, c, Options{Schedule: schedule.Default(schedule.CUDA), Emit: func([]types.Word) bool {
			n++
			return n < 3
		}})
		if err != nil || !r.Stopped || n != 3 || r.Words != nil {
			t.Errorf("%d rows, %+v, %v", n, r, err)
		}
	})
}

// TestRefused: what a device has no memory for is refused before it runs, and the
// list named; so are lists that are not there.
func TestRefused(t *testing.T) {
	text := "input G: Graph\ndef f(v):\n    let big = intersect(neighbor(G, v), neighbor(G, v + 1))\n    return size(big) + sum(big)\n" +
		"return sum(apply(f, None, vertices(G)))\n"
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "star", N: 600_000}, 1)
	if err != nil {
		t.Fatal(err)
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 64 << 20, Ring: 1 << 14})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		for _, c := range []struct{ schedule, want string }{
			{"group=8", "big may take 2400000 bytes"},
			{"shared=wide", "no list wide that a worker stores: there are big"},
			{"group=8,shared=big", "big may take 2400000 bytes: 32 groups of a block need"},
			{"group=8,threads=2048", "those of 256 groups"},
		} {
			o, err := schedule.Parse(schedule.CUDA, c.schedule)
			if err != nil {
				t.Fatal(err)
			}
			p, set, code := ready(t, text, g)
			if _, err = Run(t.Context(), s, p, set, code, Options{Schedule: o}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.schedule, err, c.want)
			}
		}
	})
}
