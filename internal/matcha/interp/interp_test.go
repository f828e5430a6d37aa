package interp

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// TestGolden runs programs. Inputs are given as name=(values): a graph by edges
// such as 0-1, with labels such as 0:a; a list by its numbers.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p := matchatest.Build(t, d.Input)
			in := map[string]data.Input{}
			o := Options{}
			for _, a := range d.CmdArgs {
				switch a.Key {
				case "memory":
					o.Memory, _ = strconv.ParseInt(a.Vals[0], 10, 64)
				default:
					in[a.Key] = parse(t, a.Vals)
				}
			}
			return run(p, in, o)
		})
	})
}

func run(p *asg.Program, in map[string]data.Input, o Options) string {
	set, err := data.Bind(p, in)
	if err != nil {
		return "before: " + err.Error()
	}
	var b []byte
	o.Emit = func(row []types.Word) bool {
		for i, x := range row {
			b = append(set.Append(b, p.Row.Part(i), x), ' ')
		}
		b[len(b)-1] = '\n'
		return true
	}
	r, err := Run(context.Background(), p, set, o)
	if err != nil {
		return string(b) + err.Error()
	}
	for i, x := range r.Words {
		b = append(set.Append(append(b, "= "...), p.Main.Result.Type.Part(i), x), '\n')
	}
	return string(b)
}

func parse(t *testing.T, vals []string) data.Input {
	var pairs [][2]uint32
	var labels graph.VertexChunk
	var out data.Input
	for _, v := range vals {
		a, b, isEdge := strings.Cut(v, "-")
		id, label, isLabel := strings.Cut(v, ":")
		switch {
		case isEdge && a != "":
			x, _ := strconv.ParseUint(a, 10, 32)
			y, err := strconv.ParseUint(b, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, [2]uint32{uint32(x), uint32(y)})
		case isLabel:
			x, _ := strconv.ParseUint(id, 10, 32)
			labels.ID = append(labels.ID, x)
			labels.Labels = append(labels.Labels, strings.Split(label, "+"))
		case strings.Contains(v, "."):
			x, err := strconv.ParseFloat(v, 64)
			if err != nil {
				t.Fatal(err)
			}
			out.Items = append(out.Items, types.FromFloat(x))
		default:
			x, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			out.Items = append(out.Items, types.Word(x))
		}
	}
	if len(out.Items) == 1 {
		out.Var = out.Items[0]
	}
	if len(pairs) > 0 {
		out.Graph = labelled(t, pairs, &labels)
	}
	return out
}

func labelled(t *testing.T, pairs [][2]uint32, labels *graph.VertexChunk) *graph.Graph {
	b := graph.NewBuilder(graph.BuildOptions{})
	c := &graph.EdgeChunk{}
	for _, p := range pairs {
		c.Src, c.Dst = append(c.Src, uint64(p[0])), append(c.Dst, uint64(p[1]))
	}
	if err := b.AddEdges(c); err != nil {
		t.Fatal(err)
	}
	if err := b.AddVertices(labels); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestCancel: a run ends soon after its context.
func TestCancel(t *testing.T) {
	p := matchatest.Build(t, "def f(x):\n    return sum(range(x))\nreturn sum(apply(f, None, range(200000)))")
	set, err := data.Bind(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = Run(ctx, p, set, Options{})
	if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 3*time.Minute {
		t.Errorf("%v after %v", err, took)
	}
}

func TestStop(t *testing.T) {
	p := matchatest.Build(t, "apply(lambda x: emit(x), None, range(100))\nreturn 5")
	set, err := data.Bind(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []types.Word
	r, err := Run(context.Background(), p, set, Options{Emit: func(row []types.Word) bool {
		got = append(got, row[0])
		return len(got) < 3
	}})
	if err != nil || !r.Stopped || r.Words != nil || r.Emitted != 3 || got[2] != 2 {
		t.Errorf("%+v, %v, %v", r, err, got)
	}
	if r, err = Run(context.Background(), p, set, Options{}); err != nil || r.Stopped || r.Emitted != 100 || r.Words[0] != 5 {
		t.Errorf("%+v, %v", r, err)
	}
}
